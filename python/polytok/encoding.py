"""Encodings with masks, word numbers, windows and padding, like Hugging Face's ``Encoding``.

An `Encoding` is a sequence of parts: tokens of a text, ids of the template, pads. The windows of a text share the
columns of the text. A list is built only when a caller reads the list. The rules of truncation, of overflowing windows,
and of padding are those of tokenizers 0.23.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from . import _core
from .errors import ArgumentError, EncodeError
from .names import TokenTexts
from .spec import Insert, Slot, Spec, TemplatePart

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Text: TypeAlias = str | bytes
Words: TypeAlias = Sequence[Text]
Strategy: TypeAlias = Literal["longest_first", "only_first", "only_second"]
Direction: TypeAlias = Literal["left", "right"]

_DIRECTIONS = ("left", "right")
_STRATEGIES = ("longest_first", "only_first", "only_second")


@dataclass(frozen=True, slots=True)
class Truncation:
    """Truncates to ``max_length`` tokens, special tokens included; the remaining tokens are in overflowing windows.

    Adjacent windows share ``stride`` tokens. For a pair, ``longest_first`` shortens the longer text until both texts
    have the same length, and then both texts; the other strategies shorten only one text. ``direction`` is the side
    from which tokens are removed. Raises `ArgumentError` for values out of range.

    >>> import polytok
    >>> cut = polytok.load("default").encoding("a b c", truncation=Truncation(2, stride=1))
    >>> cut.tokens, [window.tokens for window in cut.overflowing]
    (['a', 'Ġb'], [['Ġb', 'Ġc']])
    """

    max_length: int
    stride: int = 0
    strategy: Strategy = "longest_first"
    direction: Direction = "right"

    def __post_init__(self) -> None:
        if self.strategy not in _STRATEGIES:
            raise ArgumentError(f"strategy is {self.strategy!r}, not one of {', '.join(_STRATEGIES)}")
        _check_fields(direction=self.direction, max_length=self.max_length, stride=self.stride)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Truncation:
        """Returns the truncation in the member ``truncation`` of a tokenizer.json."""
        strategies: dict[str, Strategy] = {
            "LongestFirst": "longest_first",
            "OnlyFirst": "only_first",
            "OnlySecond": "only_second",
        }
        strategy = strategies[fields["strategy"]]
        return cls(fields["max_length"], fields["stride"], strategy, _direction_named(fields.get("direction", "Right")))


@dataclass(frozen=True, slots=True)
class Padding:
    """Pads to ``length``, or without a length to the longest encoding of the batch.

    The length is rounded up to a multiple of ``to_multiple_of``.

    ``id``, ``token`` and ``type_id`` are the values of pads in the lists; ``direction`` is the side to which pads are
    added. Raises `ArgumentError` for values out of range.

    >>> import polytok
    >>> polytok.load("default").encoding("a b c", padding=Padding(to_multiple_of=4, id=7)).ids[3:]
    [7]
    """

    length: int | None = None
    to_multiple_of: int | None = None
    id: int = 0
    type_id: int = 0
    token: str = "[PAD]"
    direction: Direction = "right"

    def __post_init__(self) -> None:
        counts = {"length": self.length, "to_multiple_of": self.to_multiple_of, "id": self.id, "type_id": self.type_id}
        _check_fields(direction=self.direction, **{name: count for name, count in counts.items() if count is not None})

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Padding:
        """Returns the padding in the member ``padding`` of a tokenizer.json."""
        strategy = fields["strategy"]
        return cls(
            length=strategy["Fixed"] if isinstance(strategy, Mapping) else None,
            to_multiple_of=fields.get("pad_to_multiple_of"),
            id=fields["pad_id"],
            type_id=fields["pad_type_id"],
            token=fields["pad_token"],
            direction=_direction_named(fields["direction"]),
        )

    def target(self, encodings: Iterable[Encoding]) -> int:
        """Returns the length that these encodings are padded to."""
        length = max(map(len, encodings), default=0) if self.length is None else self.length
        return length + -length % self.to_multiple_of if self.to_multiple_of else length


def _check_fields(*, direction: str, **counts: int) -> None:
    if direction not in _DIRECTIONS:
        raise ArgumentError(f'direction is {direction!r}, not "left" or "right"')
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ArgumentError(f"{name} is {count!r}, not a whole number from 0 on")


def _direction_named(name: str) -> Direction:
    return "left" if name == "Left" else "right"


class EncodingColumns(NamedTuple):
    """The tokens of one text or of a list of words, without a template, as columns with a row for each token."""

    ids: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.uint32]
    first_starts: npt.NDArray[np.uint32]
    """The starts of tokens that are the first of a window; such a token can keep the space before it."""
    first_ends: npt.NDArray[np.uint32]
    words: npt.NDArray[np.int32]
    known_texts: dict[int, bytes]
    """The texts of special and unknown tokens, by row."""
    names: TokenTexts

    def tokens(self, start: int, stop: int) -> list[str]:
        """Returns the texts of the tokens from ``start`` to ``stop``."""
        ids: list[int] = self.ids[start:stop].tolist()
        return [self.names.text_of_token(id, self.known_texts.get(at)) for at, id in enumerate(ids, start)]


class _TokenRun(Protocol):
    """The interface of a run of tokens of one kind."""

    @property
    def type_id(self) -> int: ...
    @property
    def mask(self) -> tuple[int, int]:
        """The bits of the tokens in the attention mask and in the special tokens mask."""

    def __len__(self) -> int: ...
    def ids(self) -> list[int]: ...
    def tokens(self) -> list[str]: ...
    def offsets(self) -> list[tuple[int, int]]: ...
    def words(self) -> list[int | None]: ...


@dataclass(frozen=True, slots=True)
class _TextTokens:
    """A run of tokens of one text."""

    columns: EncodingColumns
    start: int
    stop: int
    sequence: int
    type_id: int
    mask = (1, 0)

    def __len__(self) -> int:
        return self.stop - self.start

    def ids(self) -> list[int]:
        ids: list[int] = self.columns.ids[self.start : self.stop].tolist()
        return ids

    def tokens(self) -> list[str]:
        return self.columns.tokens(self.start, self.stop)

    def offsets(self) -> list[tuple[int, int]]:
        columns, rows = self.columns, slice(self.start, self.stop)
        spans = list(zip(columns.starts[rows].tolist(), columns.ends[rows].tolist(), strict=True))
        if spans:
            spans[0] = (int(columns.first_starts[self.start]), int(columns.first_ends[self.start]))
        return spans

    def words(self) -> list[int | None]:
        words: list[int | None] = self.columns.words[self.start : self.stop].tolist()
        return words


@dataclass(frozen=True, slots=True)
class _OtherTokens:
    """A run of tokens that belong to no text: tokens of the template, or pads."""

    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    type_id: int
    mask: tuple[int, int]

    def __len__(self) -> int:
        return len(self.numbers)

    def ids(self) -> list[int]:
        return list(self.numbers)

    def tokens(self) -> list[str]:
        return list(self.texts)

    def offsets(self) -> list[tuple[int, int]]:
        return [(0, 0)] * len(self.numbers)

    def words(self) -> list[int | None]:
        return [None] * len(self.numbers)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Encoding:
    """The tokens of a text or of a pair, with the inputs that a model needs. Each list has one value for each token.

    The methods accept and return indices of tokens, characters and words. ``sequence`` is 0 for the first text and 1
    for the second. The methods return None if there is no result.
    """

    _parts: tuple[_TokenRun, ...]
    overflowing: tuple[Encoding, ...] = ()
    """The windows that truncation removed; for a pair, all combinations of windows."""

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __repr__(self) -> str:
        return f"<polytok.Encoding of {len(self)} tokens>"

    @property
    def ids(self) -> list[int]:
        """The id of each token."""
        return [id for part in self._parts for id in part.ids()]

    @property
    def tokens(self) -> list[str]:
        """The text of each token, as in a tokenizer.json."""
        return [token for part in self._parts for token in part.tokens()]

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and the end of each token, in characters of the text, or of the word if the input is words."""
        return [span for part in self._parts for span in part.offsets()]

    @property
    def word_ids(self) -> list[int | None]:
        """The index of each token's word in the text or list of words; None for tokens that belong to no text."""
        return [word for part in self._parts for word in part.words()]

    @property
    def type_ids(self) -> list[int]:
        """The type id of each token, from the template."""
        return [id for part in self._parts for id in [part.type_id] * len(part)]

    @property
    def attention_mask(self) -> list[int]:
        """The attention mask: 0 for pads, 1 for other tokens."""
        return [bit for part in self._parts for bit in part.mask[:1] * len(part)]

    @property
    def special_tokens_mask(self) -> list[int]:
        """The special tokens mask: 1 for tokens that belong to no text, 0 for other tokens."""
        return [bit for part in self._parts for bit in part.mask[1:] * len(part)]

    @property
    def sequence_ids(self) -> list[int | None]:
        """The index of each token's text; None for tokens that belong to no text."""
        sequences: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            token_range = self._range_of_text(sequence)
            sequences[token_range.start : token_range.stop] = [sequence] * len(token_range)
        return sequences

    @property
    def n_sequences(self) -> int:
        """The number of texts."""
        return len(self._token_ranges()) or 1

    def _token_ranges(self) -> dict[int, range]:
        """Returns the range of each text's tokens; if a text occurs twice, the range of its last occurrence."""
        ranges = {}
        at = 0
        for part in self._parts:
            if isinstance(part, _TextTokens):
                ranges[part.sequence] = range(at, at + len(part))
            at += len(part)
        return ranges

    def _range_of_text(self, sequence: int) -> range:
        return self._token_ranges().get(sequence, range(len(self)))

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Returns the range of a word's tokens: the index of the first token, and the index after the last token."""
        words, token_range = self.word_ids, self._range_of_text(sequence)
        candidates = itertools.takewhile(lambda at: (number := words[at]) is None or number <= word, token_range)
        positions = [at for at in candidates if words[at] == word]
        return (positions[0], positions[-1] + 1) if positions else None

    def word_to_chars(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Returns the range of a word's characters: the index of the first, and the index after the last character."""
        token_range = self.word_to_tokens(word, sequence)
        if token_range is None:
            return None
        offsets = self.offsets
        return offsets[token_range[0]][0], offsets[token_range[1] - 1][1]

    def token_to_sequence(self, token: int) -> int | None:
        """Returns the index of the text that a token belongs to."""
        if not 0 <= token <= len(self):
            return None
        ranges = self._token_ranges()
        return next((number for number, token_range in ranges.items() if token in token_range), None) if ranges else 0

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """Returns the range of a token's characters: the index of the first, and the index after the last character."""
        return self.offsets[token] if self.token_to_sequence(token) is not None and token < len(self) else None

    def token_to_word(self, token: int) -> int | None:
        """Returns the index of the word that a token belongs to."""
        return self.word_ids[token] if self.token_to_sequence(token) is not None and token < len(self) else None

    def char_to_token(self, char: int, sequence: int = 0) -> int | None:
        """Returns the index of the first token that contains a character."""
        offsets = self.offsets
        return next((at for at in self._range_of_text(sequence) if offsets[at][0] <= char < offsets[at][1]), None)

    def char_to_word(self, char: int, sequence: int = 0) -> int | None:
        """Returns the index of the word that contains a character."""
        token = self.char_to_token(char, sequence)
        return None if token is None else self.token_to_word(token)

    def padded(self, length: int, padding: Padding) -> Encoding:
        """Returns the encoding and its windows, padded to a length; a longer encoding is not truncated."""
        overflowing = tuple(window.padded(length, padding) for window in self.overflowing)
        pad_count = length - len(self)
        if pad_count <= 0:
            return Encoding(self._parts, overflowing)
        pads = _OtherTokens((padding.id,) * pad_count, (padding.token,) * pad_count, padding.type_id, (0, 1))
        parts = (*self._parts, pads) if padding.direction == "right" else (pads, *self._parts)
        return Encoding(parts, overflowing)

    def merged(self, other: Encoding) -> Encoding:
        """Concatenates this and another encoding, and all combinations of their windows in the reference's order."""
        if not self.overflowing and not other.overflowing:
            return Encoding(self._parts + other._parts)
        window_pairs = [
            window.merged(candidate) for window in self.overflowing for candidate in (other, *other.overflowing)
        ]
        own_pairs = [self.merged(candidate) for candidate in other.overflowing]
        return Encoding(self._parts + other._parts, (*window_pairs, *own_pairs))


class Encoder:
    """Builds encodings from the columns that the engine returns, for one Spec."""

    __slots__ = ("_core", "_names", "_spec", "_templates")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._spec = spec
        self._core = core
        self._names = TokenTexts(spec, core)
        self._templates = [self._template(spec.post.single), self._template(spec.post.pair)]

    def encode(
        self,
        text: Text | Words,
        pair: Text | Words | None,
        options: _core.ResolvedOptions | None,
        truncation: Truncation | None,
        words: bool,
    ) -> Encoding:
        """Returns the encoding of a text or of a pair; with ``words`` the inputs are lists of words."""
        add_special = options is not None and options.add_special
        texts = [text] if pair is None else [text, pair]
        columns = [
            self._word_columns(one_text, options) if words else self._text_columns(one_text, options)
            for one_text in texts
        ]
        template = self._templates[len(columns) - 1]
        windows = [[(0, len(text_columns.ids))] for text_columns in columns]
        if truncation is not None:
            template_length = sum(len(part) for part in template if not isinstance(part, Slot)) if add_special else 0
            windows = _truncation_windows(
                [len(text_columns.ids) for text_columns in columns], truncation, template_length
            )
        return _fill_template(template, columns, windows, add_special)

    def truncation(self, requested: Truncation | bool | None) -> Truncation | None:
        """Returns the caller's truncation; True selects the truncation in the tokenizer's file."""
        if requested is True:
            return Truncation.from_json(self._setting_of_file("truncation"))
        return requested or None

    def padding(self, requested: Padding | bool | None) -> Padding | None:
        """Returns the caller's padding; True selects the padding in the tokenizer's file."""
        if requested is True:
            return Padding.from_json(self._setting_of_file("padding"))
        return requested or None

    def _setting_of_file(self, name: str) -> Mapping[str, Any]:
        fields = self._spec.extra.get("huggingface", {}).get("document", {}).get(name)
        if fields is None:
            raise ArgumentError(
                f"{name}=True uses the setting of the tokenizer's file, which has none; pass a {name.title()}"
            )
        setting: Mapping[str, Any] = fields
        return setting

    def _template(self, parts: Sequence[TemplatePart]) -> tuple[_OtherTokens | Slot, ...]:
        def to_tokens(part: Insert) -> _OtherTokens:
            return _OtherTokens(part.ids, tuple(map(self._names.text_of_id, part.ids)), part.type_id, (1, 1))

        return tuple(to_tokens(part) if isinstance(part, Insert) else part for part in parts)

    def _text_columns(self, text: object, options: _core.ResolvedOptions | None) -> EncodingColumns:
        if not isinstance(text, (str, bytes)):
            raise TypeError("a text is a str or bytes; for lists of words pass pretokenized=True")
        columns = self._core.token_columns(text, options)
        spans = (columns.starts, columns.ends, columns.first_starts, columns.first_ends)
        return EncodingColumns(columns.ids, *spans, columns.words, dict(columns.token_texts), self._names)

    def _word_columns(self, words: object, options: _core.ResolvedOptions | None) -> EncodingColumns:
        if isinstance(words, (str, bytes)) or not isinstance(words, Iterable):
            raise TypeError("pretokenized=True needs lists of words")
        columns = [self._text_columns(word, options) for word in words]
        if not columns:
            return self._text_columns("", options)
        import numpy as np

        numbers = np.repeat(np.arange(len(columns), dtype=np.int32), [len(word.ids) for word in columns])
        rows = zip(
            *((word.ids, word.starts, word.ends, word.first_starts, word.first_ends) for word in columns),
            strict=True,
        )
        ids, starts, ends, first_starts, first_ends = (np.concatenate(row) for row in rows)
        first_rows = itertools.accumulate((len(word.ids) for word in columns), initial=0)
        known_texts = {
            at + i: text for at, word in zip(first_rows, columns, strict=False) for i, text in word.known_texts.items()
        }
        return EncodingColumns(ids, starts, ends, first_starts, first_ends, numbers, known_texts, self._names)


def pad_encodings(encodings: list[Encoding], padding: Padding) -> list[Encoding]:
    """Returns all encodings, padded to the same length."""
    target = padding.target(encodings)
    return [encoding.padded(target, padding) for encoding in encodings]


def _fill_template(
    template: Sequence[_OtherTokens | Slot],
    columns: Sequence[EncodingColumns],
    windows: Sequence[Sequence[tuple[int, int]]],
    add_special: bool,
) -> Encoding:
    """Returns the template, filled with the first window of each text.

    The other windows overflow; their type ids are the indices of the texts, as without a template.
    """
    runs: list[Encoding] = []
    for part in template:
        if isinstance(part, Slot):
            if part.text >= len(columns):
                raise EncodeError("the template for a single text contains a second text; pass a pair")
            text, spans = columns[part.text], windows[part.text]
            other_windows = (Encoding((_TextTokens(text, *span, part.text, part.text),)) for span in spans[1:])
            runs.append(Encoding((_TextTokens(text, *spans[0], part.text, part.type_id),), tuple(other_windows)))
        elif add_special:
            runs.append(Encoding((part,)))
    if all(not encoding.overflowing for encoding in runs):
        return Encoding(tuple(itertools.chain.from_iterable(encoding._parts for encoding in runs)))
    merged_encoding = Encoding(())
    for encoding in runs:
        merged_encoding = merged_encoding.merged(encoding)
    return merged_encoding


def _truncation_windows(
    lengths: Sequence[int], truncation: Truncation, template_length: int
) -> list[list[tuple[int, int]]]:
    """Returns the windows of each text; the first window is kept, and the other windows overflow."""
    room = truncation.max_length - template_length
    if room < 0:
        raise ArgumentError(
            f"max_length is {truncation.max_length}, but the template alone has {template_length} tokens"
        )
    return [
        list(_windows(length, kept_tokens, truncation))
        for length, kept_tokens in zip(lengths, _tokens_to_keep(lengths, room, truncation.strategy), strict=True)
    ]


def _tokens_to_keep(lengths: Sequence[int], room: int, strategy: Strategy) -> list[int]:
    """Returns the number of tokens to keep of each text."""
    excess = sum(lengths) - room
    if room == 0:
        return [0] * len(lengths)
    if excess <= 0:
        return list(lengths)
    if strategy == "longest_first":
        return [room] if len(lengths) == 1 else _balanced_lengths(lengths[0], lengths[1], room)
    if strategy == "only_second" and len(lengths) == 1:
        raise EncodeError("Truncation error: Second sequence not provided")
    shortened_text = int(strategy == "only_second")
    if lengths[shortened_text] <= excess:
        raise EncodeError("Truncation error: Sequence to truncate too short to respect the provided max_length")
    return [length - excess if i == shortened_text else length for i, length in enumerate(lengths)]


def _balanced_lengths(first: int, second: int, room: int) -> list[int]:
    """Returns the lengths to which two texts are shortened. The longer text is shortened at most to the length of the
    shorter text; if the texts are then still too long, each text gets half of the room.
    """
    shorter_length = min(first, second)
    longer_length = shorter_length if shorter_length > room else max(shorter_length, room - shorter_length)
    if shorter_length + longer_length > room:
        shorter_length, longer_length = room // 2, room // 2 + room % 2
    return [longer_length, shorter_length] if first > second else [shorter_length, longer_length]


def _windows(length: int, kept_tokens: int, truncation: Truncation) -> Iterator[tuple[int, int]]:
    """Yields windows of ``kept_tokens`` tokens; adjacent windows share ``stride`` tokens."""
    if kept_tokens >= length:
        yield 0, length
        return
    if kept_tokens == 0:
        yield 0, 0
        yield 0, length
        return
    if truncation.stride >= kept_tokens:
        raise ArgumentError(
            f"stride is {truncation.stride}, but must be less than {kept_tokens}, the number of tokens that a "
            "text keeps"
        )
    step = kept_tokens - truncation.stride
    for at in range(0, length, step):
        start, stop = at, min(at + kept_tokens, length)
        yield (start, stop) if truncation.direction == "right" else (length - stop, length - start)
        if stop == length:
            return
