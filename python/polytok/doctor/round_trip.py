"""Texts that change when they are encoded and decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import PolytokError
from ..tokenizer import Tokenizer
from ..values import Text
from .finding import Finding, Severity, shown


def round_trips(tokenizer: Tokenizer, texts: Iterable[Text]) -> Iterator[Finding]:
    """One finding for each text that changes or is rejected."""
    for text in texts:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        try:
            again = tokenizer.decode_bytes(tokenizer.encode(data))
        except PolytokError as error:
            advice = "text that the vocabulary does not have needs byte pieces or an unknown piece"
            yield Finding("text-refused", Severity.WARNING, f"{shown(data)!r:.60} is refused: {error}", advice)
            continue
        if again != data:
            reasons = "; ".join(map(str, tokenizer.lossless.reasons)) or "no known reason"
            message = f"{shown(data)!r:.60} comes back as {shown(again)!r:.60}"
            yield Finding("not-lossless", Severity.NOTE, message, f"why texts may change: {reasons}")
