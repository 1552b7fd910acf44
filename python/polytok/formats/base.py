"""The interface of formats, their options for reading, and the losses of a written file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from ..columns import buffer
from ..errors import ArgumentError, FormatError
from ..keywords import keyword
from ..records import dataclass, field, is_record
from ..spec import Kind, PatternSplit, SentencePieceVersion, Spec, SpecialToken, Vocab
from ..utf8 import has_surrogate

MAX_ID = 2**32 - 2
_MAX_VALUE_LENGTH = 100

SpecialTokens = Mapping[str, int] | Sequence[str]
"""The caller's special tokens: texts with ids, or texts that get the ids after the largest id of the vocabulary."""

Pattern = str | tuple[PatternSplit, ...]
"""The caller's split pattern: a regular expression whose matches are the pieces, or split steps."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Facts about a file that the file does not contain; a fact that the caller does not give is None.

    ``siblings`` are the files in the same folder, by name.
    """

    pattern: Pattern | None = None
    special_tokens: SpecialTokens | None = None
    sentencepiece_version: SentencePieceVersion | None = None
    name: str | None = None
    siblings: Mapping[str, bytes] = field(default_factory=dict)
    pre_tokenizer: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A written file: its bytes, its losses compared with the Spec, and additional files by suffix or by name.

    ``losses`` are differences in the ids of valid UTF-8, or in the text of ids; ``notes`` are all other differences.
    """

    data: bytes
    losses: tuple[str, ...] = ()
    companions: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Format(Protocol):
    """The interface of a format: a module with these names."""

    @property
    def name(self) -> str:
        """The format's name, as in ``format=`` and ``Spec.origin.format``."""

    @property
    def options(self) -> frozenset[str]:
        """The fields of `ReadOptions` that the format uses besides ``name``, which every format uses."""

    def refusal(self, data: bytes) -> str | None:
        """Checks the magic and the structure; returns the reason why the bytes are not in this format, or None."""

    def read(self, data: bytes, options: ReadOptions) -> Spec:
        """Reads a file as a Spec; raises FormatError if the file is not valid."""

    def write(self, spec: Spec) -> Written:
        """Writes a Spec as a file; raises FormatError if the format cannot express the model."""


def with_ids(special_tokens: SpecialTokens, vocab: Vocab) -> Mapping[str, int]:
    """Returns special tokens with their ids. Tokens without ids get the ids after the largest id of the vocabulary."""
    if isinstance(special_tokens, Mapping):
        return special_tokens
    if isinstance(special_tokens, (str, bytes)):
        raise ArgumentError(
            f"{keyword('special_tokens', special_tokens)} is a single text: give a list of texts, or a mapping of "
            "texts to ids"
        )
    first_id = max(buffer(vocab, "ids").tolist(), default=-1) + 1
    return {text: id for id, text in enumerate(dict.fromkeys(special_tokens), start=first_id)}


def special_tokens_of(mapping: Mapping[str, int]) -> tuple[SpecialToken, ...]:
    """Checks the caller's special tokens, and converts them to special tokens of a Spec."""
    for text, number in mapping.items():
        if not isinstance(text, str) or not text:
            raise ArgumentError(f"{keyword('special_tokens')}: {text!r} is not a text")
        if has_surrogate(text):
            raise ArgumentError(
                f"{keyword('special_tokens')}: {text!r} has half of a surrogate pair, which UTF-8 cannot encode"
            )
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MAX_ID:
            raise ArgumentError(
                f"{keyword('special_tokens')}: the id of {text!r} is {number!r}, not a number from 0 to {MAX_ID}"
            )
    return tuple(SpecialToken(text, number) for text, number in mapping.items())


def require_ids_in_row_order(vocab: Vocab, format_name: str) -> None:
    """Raises FormatError if an id differs from its row number, which would be the id in a file that stores no ids."""
    import numpy as np

    wrong_rows = np.flatnonzero(vocab.ids != np.arange(len(vocab), dtype=np.uint32))
    if len(wrong_rows):
        row = int(wrong_rows[0])
        raise FormatError(
            f"{format_name} numbers its tokens from 0 in file order, but row {row} has the id {vocab.ids[row]}"
        )


def with_losses(
    spec: Spec,
    data: bytes,
    reread_spec: Spec,
    *,
    companions: Mapping[str, bytes] | None = None,
    hints: Mapping[str, str] | None = None,
) -> Written:
    """Returns a written file with its losses: the differences between the Spec and the Spec read from the file.

    ``hints`` maps the name of a field to an explanation that is added to the losses of the field.
    """
    hints = hints or {}
    losses = [
        f"{name}: {difference}" + (f" ({hints[name]})" if name in hints else "")
        for name, difference in _differences(spec, reread_spec)
    ]
    return Written(data, tuple(losses), dict(companions or {}))


def _differences(spec: Spec, reread_spec: Spec) -> Iterator[tuple[str, str]]:
    for difference in _vocab_differences(spec.vocab, reread_spec.vocab):
        yield "vocab", difference
    for name in ("model", "special", "normalize", "split", "unknown", "post", "decode"):
        old_value, new_value = getattr(spec, name), getattr(reread_spec, name)
        if old_value != new_value:
            yield name, f"{_shorten(old_value)} becomes {_shorten(new_value)}"
    for name, keys in (("names", {*spec.names, *reread_spec.names}), ("extra", set(spec.extra))):
        old_value, new_value = getattr(spec, name), getattr(reread_spec, name)
        for key in sorted(keys):
            if old_value.get(key) != new_value.get(key):
                yield name, f"{key} = {_shorten(old_value.get(key))} becomes {_shorten(new_value.get(key))}"


def _vocab_differences(old_vocab: Vocab, new_vocab: Vocab) -> Iterator[str]:
    import numpy as np

    if old_vocab.active_kinds is not None:
        yield "the restriction to a part of the vocabulary is not kept"
    if len(old_vocab) != len(new_vocab):
        yield f"{len(old_vocab)} rows become {len(new_vocab)}"
        return
    texts = old_vocab.pieces(), new_vocab.pieces()
    rows_with_other_texts = [
        row for row, (old_value, new_value) in enumerate(zip(*texts, strict=True)) if old_value != new_value
    ]
    if rows_with_other_texts:
        row = rows_with_other_texts[0]
        old_value, new_value = _shorten(texts[0][row]), _shorten(texts[1][row])
        count = len(rows_with_other_texts)
        yield f"{_changes(count, 'texts', row)}: {old_value} becomes {new_value}"
    for name in ("ids", "scores", "kinds"):
        old_value, new_value = getattr(old_vocab, name), getattr(new_vocab, name)
        rows = np.flatnonzero((old_value != new_value) & ~(np.isnan(old_value) & np.isnan(new_value)))
        if len(rows):
            row = int(rows[0])
            old_text, new_text = (_value_text(name, values[row]) for values in (old_value, new_value))
            yield f"{_changes(len(rows), name, row)}: {old_text} becomes {new_text}"


def _changes(count: int, name: str, row: int) -> str:
    """Returns the start of a message about the changed rows of a column, whose name is a plural."""
    return f"1 {name[:-1]} changes, in row {row}" if count == 1 else f"{count} {name} change, the first in row {row}"


def _value_text(name: str, value: Any) -> str:
    """Returns a value of a column; a kind as its name."""
    return Kind(int(value)).name.lower() if name == "kinds" else str(value)


def _shorten(value: Any) -> str:
    text = describe(value)
    return text if len(text) <= _MAX_VALUE_LENGTH else text[: _MAX_VALUE_LENGTH - 1] + "…"


def describe(value: Any) -> str:
    """Returns a field of a Spec in words: a step with its kind, and with the fields that differ from their defaults.

    >>> from polytok.spec import PatternSplit
    >>> describe(()), describe((SpecialToken("<x>", 7, lstrip=True), PatternSplit("a")))
    ('nothing', "special token (text '<x>', id 7, lstrip); pattern (pattern 'a')")
    """
    if value is None or (isinstance(value, (tuple, list, Mapping)) and not value):
        return "nothing"
    if isinstance(value, (tuple, list)):
        return "; ".join(map(describe, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {describe(item)}" for key, item in value.items())
    if isinstance(value, bytes):
        return repr(value.decode(errors="backslashreplace"))
    if is_record(type(value)):
        return _describe_record(value)
    return f"{len(value)} rows" if hasattr(value, "dtype") and hasattr(value, "__len__") else repr(value)


def _describe_record(record: Any) -> str:
    from dataclasses import fields  # only reports need it

    pairs = [(field, getattr(record, field.name)) for field in fields(record)]
    facts = [_describe_field(field.name, value) for field, value in pairs if not _is_default(value, field.default)]
    kind = getattr(record, "kind", "").replace("_", " ") or _words_of(type(record).__name__)
    return f"{kind} ({', '.join(facts)})" if facts else kind


def _words_of(class_name: str) -> str:
    """Returns the words of a class name: ``special token`` for ``SpecialToken``."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in class_name).strip()


def _describe_field(name: str, value: Any) -> str:
    name = name.replace("_", " ")
    return f"{'' if value else 'not '}{name}" if isinstance(value, bool) else f"{name} {describe(value)}"


def _is_default(value: Any, default: Any) -> bool:
    """Reports whether a field has its default value. Arrays are compared by identity."""
    return value is default or (isinstance(value, (str, int, float, tuple)) and value == default)


def parse_sibling(siblings: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """Returns the JSON object in a file of the same folder; an empty one if the file is missing."""
    if name not in siblings:
        return {}
    import json  # most rank files are known by their hash and need no JSON

    try:
        value = json.loads(siblings[name].decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} in the same folder cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise FormatError(f"{name} in the same folder is not a JSON object")
    return value
