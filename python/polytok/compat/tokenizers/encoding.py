"""`Encoding` of tokenizers 0.23: it reads from polytok's encoding, and has lists of its own once it is changed."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from ... import encoding as polytok
from .arguments import boolean, text, unsigned, warn_unknown

_Item = TypeVar("_Item")


class Columns:
    """The lists of an encoding, which can be changed. ``ranges`` has the range of each text's tokens."""

    __slots__ = ("attention", "ids", "offsets", "overflowing", "ranges", "special", "tokens", "types", "words")

    def __init__(self, source: polytok.Encoding | None = None) -> None:
        self.ids: list[int] = [] if source is None else source.ids
        self.types: list[int] = [] if source is None else source.type_ids
        self.tokens: list[str] = [] if source is None else source.tokens
        self.words: list[int | None] = [] if source is None else source.word_ids
        self.offsets: list[tuple[int, int]] = [] if source is None else source.offsets
        self.special: list[int] = [] if source is None else source.special_tokens_mask
        self.attention: list[int] = [] if source is None else source.attention_mask
        self.ranges: dict[int, range] = {} if source is None else source.sequence_ranges
        self.overflowing: list[Columns] = [] if source is None else list(map(Columns, source.overflowing))

    def lists(self) -> tuple[list[Any], ...]:
        """Returns the lists that have one value for each token."""
        return self.ids, self.types, self.tokens, self.words, self.offsets, self.special, self.attention

    def copy(self) -> Columns:
        """Returns an independent copy."""
        copy = self.part(0, len(self.ids))
        copy.ranges = dict(self.ranges)
        copy.overflowing = [window.copy() for window in self.overflowing]
        return copy

    def part(self, start: int, stop: int) -> Columns:
        """Returns the tokens of a range, without windows and texts."""
        part = Columns()
        for target, values in zip(part.lists(), self.lists(), strict=True):
            target += values[start:stop]
        return part

    def range_of(self, sequence: int) -> range:
        """Returns the range of a text's tokens."""
        return self.ranges.get(sequence, range(len(self.ids)))

    def pad(self, length: int, pad: tuple[int | str, int, str | None], is_left: bool) -> None:
        """Adds pads (id, type id, text) to this encoding and its windows."""
        for window in self.overflowing:
            window.pad(length, pad, is_left)
        count = length - len(self.ids)
        if count <= 0:
            return
        id, type_id, token = pad
        for values, value in zip(self.lists(), (id, type_id, token, None, (0, 0), 1, 0), strict=True):
            if is_left:
                values[:0] = [value] * count
            else:
                values += [value] * count
        if is_left:
            self.ranges = {text: range(span.start + count, span.stop + count) for text, span in self.ranges.items()}

    def truncated(self, length: int, stride: int, is_left: bool) -> Columns:
        """Returns the first window of ``length`` tokens; the others overflow."""
        count = len(self.ids)
        if length >= count:
            return self
        if length == 0:
            empty = Columns()
            empty.overflowing = [self]
            return empty
        if stride >= length:
            raise ValueError(f"stride is {stride}, but must be less than max_length, which is {length}")
        first, *others = (self.part(start, stop) for start, stop in _windows(count, length, length - stride, is_left))
        first.overflowing = others
        return first

    def merge(self, other: Columns, growing_offsets: bool) -> None:
        """Appends another encoding, with all combinations of both encodings' windows."""
        windows = [
            window.merged(other_window, growing_offsets)
            for window in self.overflowing
            for other_window in (other, *other.overflowing)
        ]
        windows += [self.merged(other_window, growing_offsets) for other_window in other.overflowing]
        count = len(self.ids)
        shift = self.offsets[-1][1] if growing_offsets and self.offsets else 0
        for target, values in zip(self.lists(), other.lists(), strict=True):
            target += [(start + shift, stop + shift) for start, stop in values] if values is other.offsets else values
        self.ranges.update({text: range(span.start + count, span.stop + count) for text, span in other.ranges.items()})
        self.overflowing = windows

    def merged(self, other: Columns, growing_offsets: bool) -> Columns:
        """Returns `merge` of a copy."""
        copy = self.copy()
        copy.merge(other, growing_offsets)
        return copy

    def state(self) -> dict[str, Any]:
        """Returns the JSON of the original's pickles."""
        return {
            "ids": self.ids,
            "type_ids": self.types,
            "tokens": self.tokens,
            "words": self.words,
            "offsets": self.offsets,
            "special_tokens_mask": self.special,
            "attention_mask": self.attention,
            "overflowing": [window.state() for window in self.overflowing],
            "sequence_ranges": {str(text): {"start": s.start, "end": s.stop} for text, s in self.ranges.items()},
        }

    @staticmethod
    def of_state(state: dict[str, Any]) -> Columns:
        """Returns the opposite of `state`."""
        columns = Columns()
        names = ("ids", "type_ids", "tokens", "words", "offsets", "special_tokens_mask", "attention_mask")
        for target, name in zip(columns.lists(), names, strict=True):
            target += map(tuple, state[name]) if name == "offsets" else state[name]
        columns.overflowing = [Columns.of_state(window) for window in state["overflowing"]]
        columns.ranges = {int(text): range(s["start"], s["end"]) for text, s in state["sequence_ranges"].items()}
        return columns


def _windows(count: int, length: int, step: int, is_left: bool) -> Iterator[tuple[int, int]]:
    for at in range(0, count, step):
        start, stop = at, min(at + length, count)
        yield (count - stop, count - start) if is_left else (start, stop)
        if stop == count:
            return


class Encoding:
    """The result of encoding: tokenizers.Encoding. A list is built when it is read."""

    __slots__ = ("_own", "_source")

    def __init__(self) -> None:
        self._source: polytok.Encoding | None = None
        self._own: Columns | None = Columns()

    def columns(self) -> Columns:
        """Returns the lists; from now on, they are this encoding's own."""
        if self._own is None:
            self._own = Columns(self._source)
            self._source = None
        return self._own

    def __len__(self) -> int:
        return len(self.columns().ids) if (source := self._source) is None else len(source)

    def __repr__(self) -> str:
        names = "ids, type_ids, tokens, offsets, attention_mask, special_tokens_mask, overflowing"
        return f"Encoding(num_tokens={len(self)}, attributes=[{names}])"

    @property
    def ids(self) -> list[int]:
        return list(self.columns().ids) if (source := self._source) is None else source.ids

    @property
    def type_ids(self) -> list[int]:
        return list(self.columns().types) if (source := self._source) is None else source.type_ids

    @property
    def tokens(self) -> list[str]:
        return list(self.columns().tokens) if (source := self._source) is None else source.tokens

    @property
    def offsets(self) -> list[tuple[int, int]]:
        return list(self.columns().offsets) if (source := self._source) is None else source.offsets

    @property
    def attention_mask(self) -> list[int]:
        return list(self.columns().attention) if (source := self._source) is None else source.attention_mask

    @property
    def special_tokens_mask(self) -> list[int]:
        return list(self.columns().special) if (source := self._source) is None else source.special_tokens_mask

    @property
    def word_ids(self) -> list[int | None]:
        return list(self.columns().words) if (source := self._source) is None else source.word_ids

    @property
    def words(self) -> list[int | None]:
        message = "Deprecated in 0.9.4: Encoding.words is deprecated, please use Encoding.word_ids instead."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.word_ids

    @property
    def sequence_ids(self) -> list[int | None]:
        if (source := self._source) is not None:
            return source.sequence_ids
        columns = self.columns()
        sequences: list[int | None] = [None] * len(columns.ids)
        for sequence in range(self.n_sequences):
            for token in columns.range_of(sequence):
                sequences[token] = sequence
        return sequences

    @property
    def n_sequences(self) -> int:
        return len(self.columns().ranges) or 1 if (source := self._source) is None else source.n_sequences

    @property
    def overflowing(self) -> list[Encoding]:
        if (source := self._source) is not None:
            return [encoding_of(window) for window in source.overflowing]
        return [encoding_of_columns(window.copy()) for window in self.columns().overflowing]

    def set_sequence_id(self, sequence_id: int) -> None:
        columns = self.columns()
        columns.ranges[unsigned(sequence_id)] = range(len(columns.ids))

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        word, columns = unsigned(word_index), self.columns()
        tokens = itertools.takewhile(
            lambda at: (number := columns.words[at]) is None or number <= word,
            columns.range_of(unsigned(sequence_index)),
        )
        indices = [at for at in tokens if columns.words[at] == word]
        return (indices[0], indices[-1] + 1) if indices else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        tokens = self.word_to_tokens(word_index, sequence_index)
        if tokens is None:
            return None
        offsets = self.columns().offsets
        return offsets[tokens[0]][0], offsets[tokens[1] - 1][1]

    def token_to_sequence(self, token_index: int) -> int | None:
        token, columns = unsigned(token_index), self.columns()
        if token > len(columns.ids):
            return None
        if not columns.ranges:
            return 0
        return next((text for text, span in columns.ranges.items() if token in span), None)

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        is_of_text = self.token_to_sequence(token_index) is not None and token_index < len(self)
        return self.columns().offsets[token_index] if is_of_text else None

    def token_to_word(self, token_index: int) -> int | None:
        is_of_text = self.token_to_sequence(token_index) is not None and token_index < len(self)
        return self.columns().words[token_index] if is_of_text else None

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        char, columns = unsigned(char_pos), self.columns()
        offsets = columns.offsets
        tokens = columns.range_of(unsigned(sequence_index))
        return next((at for at in tokens if offsets[at][0] <= char < offsets[at][1]), None)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    def pad(self, length: int, **kwargs: Any) -> None:
        warn_unknown(kwargs, ("direction", "pad_id", "pad_type_id", "pad_token"))
        pad = (
            unsigned(kwargs.get("pad_id", 0)),
            unsigned(kwargs.get("pad_type_id", 0)),
            kwargs.get("pad_token", "[PAD]"),
        )
        self.columns().pad(unsigned(length), pad, is_left(kwargs.get("direction", "right")))

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        if text(direction) not in ("left", "right"):
            raise ValueError(f"Invalid truncation direction value : {direction}")
        self._own = self.columns().truncated(unsigned(max_length), unsigned(stride), direction == "left")

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        merged = Columns()
        for encoding in encodings:
            merged.merge(encoding.columns(), boolean(growing_offsets))
        return encoding_of_columns(merged)

    def __getstate__(self) -> bytes:
        return json.dumps(self.columns().state(), ensure_ascii=False, separators=(",", ":")).encode()

    def __setstate__(self, state: bytes) -> None:
        self._source = None
        self._own = Columns.of_state(json.loads(state))

    def __copy__(self) -> Encoding:
        return encoding_of_columns(self.columns().copy())

    def __deepcopy__(self, memo: dict[int, Any]) -> Encoding:
        return self.__copy__()


def encoding_of(source: polytok.Encoding) -> Encoding:
    """Returns the face of polytok's encoding."""
    encoding = Encoding.__new__(Encoding)
    encoding._source = source
    encoding._own = None
    return encoding


def encoding_of_columns(columns: Columns) -> Encoding:
    """Returns an encoding with these lists."""
    encoding = Encoding.__new__(Encoding)
    encoding._source = None
    encoding._own = columns
    return encoding


def is_left(direction: object) -> bool:
    """Reports whether a direction is left; raises ValueError if it is not a direction."""
    if text(direction) not in ("left", "right"):
        raise ValueError(f"Unknown `direction`: `{direction}`. Use one of `left` or `right`")
    return direction == "left"
