"""Finds texts that change when they are encoded and decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import PolytokError
from ..tokenizer import Tokenizer
from ..utf8 import bytes_with_surrogates, text_or_bytes
from ..values import Text
from .finding import Finding, Severity


def find_round_trip_errors(tokenizer: Tokenizer, texts: Iterable[Text]) -> Iterator[Finding]:
    """Yields a finding for each text that changes or is refused."""
    for index, text in enumerate(texts):
        data = bytes_with_surrogates(text)
        try:
            decoded_bytes = tokenizer.decode_bytes(tokenizer.encode(data))
        except PolytokError as error:
            advice = "text outside the vocabulary needs byte pieces or an unknown piece"
            message = f"{text_or_bytes(data)!r:.60} is refused: {error}"
            yield Finding("text-refused", Severity.WARNING, message, advice, index)
            continue
        if decoded_bytes != data:
            reasons = "; ".join(map(str, tokenizer.lossless.reasons)) or "no known reason"
            message = f"{text_or_bytes(data)!r:.60} is decoded as {text_or_bytes(decoded_bytes)!r:.60}"
            advice = f"reasons for which texts can change: {reasons}"
            yield Finding("not-lossless", Severity.NOTE, message, advice, index)
