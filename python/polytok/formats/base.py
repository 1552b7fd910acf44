"""What every format has in common: its interface, its options, and the report of what a file cannot carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import ArgumentError, FormatError
from ..spec import Line, Spec, SpecialToken, Vocab

MAX_ID = 2**32 - 2


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a caller may say about a file that the file does not say itself; None where nothing was said.
    ``siblings`` are the files beside it, by name."""

    pattern: str | None = None
    special_tokens: Mapping[str, int] | None = None
    line: Line | None = None
    name: str | None = None
    siblings: Mapping[str, bytes] = field(default_factory=dict)
    pre_tokenizer: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A file's bytes, what of the Spec they do not carry, and files that belong beside it, by suffix.

    ``losses`` concern valid UTF-8: its ids, or the text that they decode to; ``notes`` tell of all else.
    """

    data: bytes
    losses: tuple[str, ...] = ()
    companions: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Format(Protocol):
    """A format is a module with these names."""

    @property
    def name(self) -> str:
        """What the format is called: ``format=`` and ``Spec.origin.format``."""

    @property
    def options(self) -> frozenset[str]:
        """The fields of `ReadOptions` that mean something to it; ``name`` always does."""

    def refusal(self, data: bytes) -> str | None:
        """Why these bytes are not of this format, by magic and structure; None if they are."""

    def read(self, data: bytes, options: ReadOptions) -> Spec:
        """The file as a Spec, or FormatError."""

    def write(self, spec: Spec) -> Written:
        """The Spec as a file, or FormatError where the format cannot express the model at all."""


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can spell a text: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def special_tokens_of(mapping: Mapping[str, int]) -> tuple[SpecialToken, ...]:
    """The caller's special tokens, checked."""
    for text, number in mapping.items():
        if not isinstance(text, str) or not text:
            raise ArgumentError(f"special_tokens: {text!r} is not a text")
        if not is_utf8(text):
            raise ArgumentError(f"special_tokens: {text!r} has half of a surrogate pair, which UTF-8 cannot spell")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MAX_ID:
            raise ArgumentError(f"special_tokens: the id of {text!r} is {number!r}, not a number from 0 to {MAX_ID}")
    return tuple(SpecialToken(text, number) for text, number in mapping.items())


def require_ids_in_row_order(vocab: Vocab, format_name: str) -> None:
    """Refuse a vocabulary that a format without ids in its file would renumber."""
    import numpy as np

    wrong = np.flatnonzero(vocab.ids != np.arange(len(vocab), dtype=np.uint32))
    if len(wrong):
        row = int(wrong[0])
        raise FormatError(
            f"{format_name} numbers its tokens from 0 in file order, but row {row} has the id {vocab.ids[row]}"
        )


def written(
    spec: Spec,
    data: bytes,
    read_back: Spec,
    *,
    companions: Mapping[str, bytes] | None = None,
    hints: Mapping[str, str] | None = None,
) -> Written:
    """The result of a write. What the file cannot carry is found by reading it back, so that nothing can be forgotten.

    ``hints`` are added to the losses of the fields that they name.
    """
    hints = hints or {}
    losses = [
        f"{name}: {what}" + (f" ({hints[name]})" if name in hints else "")
        for name, what in _differences(spec, read_back)
    ]
    return Written(data, tuple(losses), dict(companions or {}))


def _differences(spec: Spec, again: Spec) -> Iterator[tuple[str, str]]:
    for what in _vocab_differences(spec.vocab, again.vocab):
        yield "vocab", what
    for name in ("model", "special", "normalize", "split", "unknown", "post", "decode"):
        before, after = getattr(spec, name), getattr(again, name)
        if before != after:
            yield name, f"{_brief(before)} becomes {_brief(after)}"
    for name, keys in (("names", {*spec.names, *again.names}), ("extra", set(spec.extra))):
        before, after = getattr(spec, name), getattr(again, name)
        for key in sorted(keys):
            if before.get(key) != after.get(key):
                yield name, f"{key} = {_brief(before.get(key))} becomes {_brief(after.get(key))}"


def _vocab_differences(before: Vocab, after: Vocab) -> Iterator[str]:
    import numpy as np

    if before.active_kinds is not None:
        yield "the restriction to a part of the vocabulary is not kept"
    if len(before) != len(after):
        yield f"{len(before)} rows become {len(after)}"
        return
    texts = before.pieces(), after.pieces()
    changed = [row for row, (old, new) in enumerate(zip(*texts, strict=True)) if old != new]
    if changed:
        row = changed[0]
        old, new = _brief(texts[0][row]), _brief(texts[1][row])
        yield f"{len(changed)} texts change, the first in row {row}: {old} becomes {new}"
    for name in ("ids", "scores", "kinds"):
        old, new = getattr(before, name), getattr(after, name)
        rows = np.flatnonzero((old != new) & ~(np.isnan(old) & np.isnan(new)))
        if len(rows):
            yield f"{len(rows)} {name} change, the first in row {rows[0]}: {old[rows[0]]} becomes {new[rows[0]]}"


def _brief(value: Any, length: int = 100) -> str:
    text = repr(dict(value)) if isinstance(value, Mapping) else repr(value)
    return text if len(text) <= length else text[: length - 1] + "…"
