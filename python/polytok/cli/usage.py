"""How the command shows whether texts are one token (`polytok.reach`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..reach import Usage
from ..spec import Longest, Spec
from .style import escape_line_breaks, piece_to_json

_VARIANT_ADVICE = (
    "add the texts with `polytok edit --add-symbols FILE`, which also adds the variants with white space before them "
    "that are used after white space"
)
_WINNER_ADVICE = (
    "longest match takes a longer entry that begins before the text; only the removal of such entries changes this"
)
_OTHER_ADVICE = (
    "to be one token everywhere, a text that the normalizer or the split pattern changes must be in added_tokens of "
    "tokenizer.json, or a user-defined symbol of a SentencePiece model: polytok train --user-defined-symbols TEXT"
)


def advice_lines(spec: Spec, usage_in_contexts: Sequence[Usage]) -> Iterator[str]:
    """Yields what to do about texts that are not one token."""
    contexts = {usage.context for usage in usage_in_contexts if usage.unused}
    if isinstance(spec.model, Longest):
        if contexts - {"after a letter"}:
            yield _VARIANT_ADVICE
        elif contexts:
            yield _WINNER_ADVICE
    elif contexts:
        if contexts - {"after a letter"}:
            yield _VARIANT_ADVICE
        yield _OTHER_ADVICE


def one_token_lines(spec: Spec, usage_in_contexts: Sequence[Usage]) -> Iterator[str]:
    """Yields, for each context, the number of texts that are one token, and each of the other texts with its tokens."""
    for usage in usage_in_contexts:
        yield usage.summary
        yield from (f"  {escape_line_breaks(str(unused))}" for unused in usage.unused)
    yield from advice_lines(spec, usage_in_contexts)


def usage_to_json(usage: Usage) -> dict[str, Any]:
    """Returns the usage of texts in a context as a JSON value."""
    unused = [
        {
            "text": piece_to_json(unused.entry),
            "before": piece_to_json(unused.before),
            "pieces": list(map(piece_to_json, unused.pieces)),
        }
        for unused in usage.unused
    ]
    return {"context": usage.context, "examined": usage.examined, "unused": unused}
