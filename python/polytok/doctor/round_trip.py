"""Finds texts that change when they are encoded and decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import PolytokError
from ..tokenizer import Tokenizer
from ..values import Text
from .finding import Finding, Severity, readable_piece


def find_round_trip_errors(tokenizer: Tokenizer, texts: Iterable[Text]) -> Iterator[Finding]:
    """Yields a finding for each text that changes or is refused."""
    for index, text in enumerate(texts):
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        try:
            decoded_bytes = tokenizer.decode_bytes(tokenizer.encode(data))
        except PolytokError as error:
            advice = "text outside the vocabulary needs byte pieces or an unknown piece"
            message = f"{readable_piece(data)!r:.60} is refused: {error}"
            yield Finding("text-refused", Severity.WARNING, message, advice, index)
            continue
        if decoded_bytes != data:
            reasons = "; ".join(map(str, tokenizer.lossless.reasons)) or "no known reason"
            message = f"{readable_piece(data)!r:.60} is decoded as {readable_piece(decoded_bytes)!r:.60}"
            advice = f"reasons for which texts can change: {reasons}"
            yield Finding("not-lossless", Severity.NOTE, message, advice, index)
