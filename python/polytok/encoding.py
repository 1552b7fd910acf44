"""Encodings with masks, word numbers, windows and padding, as Hugging Face's ``Encoding``.

An `Encoding` is a row of parts: tokens of a text, ids of the template, pads. Windows of one text share its columns, and
lists are built when they are requested, so an encoding costs only what is read of it. The rules of truncation, of
overflowing windows, and of padding are those of tokenizers 0.23.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from . import _core
from .errors import ArgumentError, EncodeError
from .names import Names
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
    """At most ``max_length`` tokens, including special ones; the remainder goes into windows that overlap by ``stride``
    tokens.

    For a pair, ``longest_first`` shortens the longer text, then both; the other strategies shorten only one of them.
    ``direction`` is the side to remove tokens from. `ArgumentError` for values out of range.

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
            raise ArgumentError(f"strategy is {self.strategy!r}, and not one of {', '.join(_STRATEGIES)}")
        _check(direction=self.direction, max_length=self.max_length, stride=self.stride)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Truncation:
        """From tokenizer.json's ``truncation``."""
        strategies: dict[str, Strategy] = {
            "LongestFirst": "longest_first",
            "OnlyFirst": "only_first",
            "OnlySecond": "only_second",
        }
        strategy = strategies[fields["strategy"]]
        return cls(fields["max_length"], fields["stride"], strategy, _side(fields.get("direction", "Right")))


@dataclass(frozen=True, slots=True)
class Padding:
    """Pads to ``length``, or else to the longest of the batch, rounded up to a multiple of ``to_multiple_of``.

    ``id``, ``token`` and ``type_id`` are the values of pads in the lists, ``direction`` is the side to add them to.
    `ArgumentError` for values out of range.

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
        _check(direction=self.direction, **{name: count for name, count in counts.items() if count is not None})

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Padding:
        """From tokenizer.json's ``padding``."""
        strategy = fields["strategy"]
        return cls(
            length=strategy["Fixed"] if isinstance(strategy, Mapping) else None,
            to_multiple_of=fields.get("pad_to_multiple_of"),
            id=fields["pad_id"],
            type_id=fields["pad_type_id"],
            token=fields["pad_token"],
            direction=_side(fields["direction"]),
        )

    def target(self, encodings: Iterable[Encoding]) -> int:
        """The length that these encodings are padded to."""
        length = max(map(len, encodings), default=0) if self.length is None else self.length
        return length + -length % self.to_multiple_of if self.to_multiple_of else length


def _check(*, direction: str, **counts: int) -> None:
    if direction not in _DIRECTIONS:
        raise ArgumentError(f'direction is {direction!r}, and neither "left" nor "right"')
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ArgumentError(f"{name} is {count!r}, and not a number from 0 up")


def _side(name: str) -> Direction:
    return "left" if name == "Left" else "right"


class Columns(NamedTuple):
    """The tokens of one text, or of several words, without a template."""

    ids: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.uint32]
    first_starts: npt.NDArray[np.uint32]
    """The same for a token that is the first of a window: a space before it can stay."""
    first_ends: npt.NDArray[np.uint32]
    words: npt.NDArray[np.int32]
    said: dict[int, bytes]
    """The texts of tokens that are special or unknown."""
    names: Names

    def tokens(self, start: int, stop: int) -> list[str]:
        """The texts of these tokens."""
        ids: list[int] = self.ids[start:stop].tolist()
        return [self.names.of(id, self.said.get(at)) for at, id in enumerate(ids, start)]


class _Part(Protocol):
    """A row of tokens."""

    @property
    def type_id(self) -> int: ...
    @property
    def mask(self) -> tuple[int, int]:
        """Whether the attention mask includes its tokens, and whether they are special."""

    def __len__(self) -> int: ...
    def ids(self) -> list[int]: ...
    def tokens(self) -> list[str]: ...
    def offsets(self) -> list[tuple[int, int]]: ...
    def words(self) -> list[int | None]: ...


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Tokens of a text."""

    columns: Columns
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
        columns, here = self.columns, slice(self.start, self.stop)
        spans = list(zip(columns.starts[here].tolist(), columns.ends[here].tolist(), strict=True))
        if spans:
            spans[0] = (int(columns.first_starts[self.start]), int(columns.first_ends[self.start]))
        return spans

    def words(self) -> list[int | None]:
        words: list[int | None] = self.columns.words[self.start : self.stop].tolist()
        return words


@dataclass(frozen=True, slots=True)
class _Outside:
    """Tokens outside of all texts: of the template, or pads."""

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
    """The tokens of a text or of a pair, with the inputs that a model needs; each list has a value for each token.

    The methods take and return numbers of tokens, of characters and of words; ``sequence`` is 0 for the first text and
    1 for the second. They return None if there is no result.
    """

    _parts: tuple[_Part, ...]
    overflowing: tuple[Encoding, ...] = ()
    """The windows that truncation removed, and for a pair all combinations of windows."""

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __repr__(self) -> str:
        return f"<polytok.Encoding of {len(self)} tokens>"

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return [id for part in self._parts for id in part.ids()]

    @property
    def tokens(self) -> list[str]:
        """The texts of the ids, as a tokenizer.json has them."""
        return [token for part in self._parts for token in part.tokens()]

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in characters of the text, or of the word if words were given."""
        return [span for part in self._parts for span in part.offsets()]

    @property
    def word_ids(self) -> list[int | None]:
        """The number of the word in its text, or in the list of words; None outside of texts."""
        return [word for part in self._parts for word in part.words()]

    @property
    def type_ids(self) -> list[int]:
        """The type ids of the template."""
        return [id for part in self._parts for id in [part.type_id] * len(part)]

    @property
    def attention_mask(self) -> list[int]:
        """0 for pads."""
        return [bit for part in self._parts for bit in part.mask[:1] * len(part)]

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens outside of all texts."""
        return [bit for part in self._parts for bit in part.mask[1:] * len(part)]

    @property
    def sequence_ids(self) -> list[int | None]:
        """The number of the text; None outside of texts."""
        sequences: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            found = self._range(sequence)
            sequences[found.start : found.stop] = [sequence] * len(found)
        return sequences

    @property
    def n_sequences(self) -> int:
        """The number of texts."""
        return len(self._ranges()) or 1

    def _ranges(self) -> dict[int, range]:
        """The tokens of each text; if a text occurs twice, its last occurrence."""
        ranges = {}
        at = 0
        for part in self._parts:
            if isinstance(part, _Stretch):
                ranges[part.sequence] = range(at, at + len(part))
            at += len(part)
        return ranges

    def _range(self, sequence: int) -> range:
        return self._ranges().get(sequence, range(len(self)))

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """The range of a word's tokens: the first, and one past the last."""
        words, within = self.word_ids, self._range(sequence)
        before = itertools.takewhile(lambda at: (number := words[at]) is None or number <= word, within)
        found = [at for at in before if words[at] == word]
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """The range of a word's characters: the first, and one past the last."""
        found = self.word_to_tokens(word, sequence)
        if found is None:
            return None
        offsets = self.offsets
        return offsets[found[0]][0], offsets[found[1] - 1][1]

    def token_to_sequence(self, token: int) -> int | None:
        """The text that a token belongs to."""
        if not 0 <= token <= len(self):
            return None
        ranges = self._ranges()
        return next((number for number, found in ranges.items() if token in found), None) if ranges else 0

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """The range of a token's characters: the first, and one past the last."""
        return self.offsets[token] if self.token_to_sequence(token) is not None and token < len(self) else None

    def token_to_word(self, token: int) -> int | None:
        """The word that a token belongs to."""
        return self.word_ids[token] if self.token_to_sequence(token) is not None and token < len(self) else None

    def char_to_token(self, char: int, sequence: int = 0) -> int | None:
        """The first token that contains a character."""
        offsets = self.offsets
        return next((at for at in self._range(sequence) if offsets[at][0] <= char < offsets[at][1]), None)

    def char_to_word(self, char: int, sequence: int = 0) -> int | None:
        """The word that contains a character."""
        token = self.char_to_token(char, sequence)
        return None if token is None else self.token_to_word(token)

    def padded(self, length: int, padding: Padding) -> Encoding:
        """Pad to a length, the windows too; nothing is ever truncated."""
        overflowing = tuple(window.padded(length, padding) for window in self.overflowing)
        missing = length - len(self)
        if missing <= 0:
            return Encoding(self._parts, overflowing)
        pads = _Outside((padding.id,) * missing, (padding.token,) * missing, padding.type_id, (0, 1))
        parts = (*self._parts, pads) if padding.direction == "right" else (pads, *self._parts)
        return Encoding(parts, overflowing)

    def merged(self, other: Encoding) -> Encoding:
        """Append another encoding; of windows, all combinations, in the order of the reference."""
        if not self.overflowing and not other.overflowing:
            return Encoding(self._parts + other._parts)
        both = [window.merged(one) for window in self.overflowing for one in (other, *other.overflowing)]
        mine = [self.merged(one) for one in other.overflowing]
        return Encoding(self._parts + other._parts, (*both, *mine))


class Encoder:
    """Builds encodings from the columns that an engine returns, for one Spec."""

    __slots__ = ("_core", "_names", "_spec", "_templates")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._spec = spec
        self._core = core
        self._names = Names(spec, core)
        self._templates = [self._template(spec.post.single), self._template(spec.post.pair)]

    def encode(
        self,
        text: Text | Words,
        pair: Text | Words | None,
        options: _core.ResolvedOptions | None,
        truncation: Truncation | None,
        words: bool,
    ) -> Encoding:
        """The encoding of a text or of a pair; of lists if ``words``."""
        add_special = options is not None and options.add_special
        texts = [text] if pair is None else [text, pair]
        columns = [self._words(one, options) if words else self._text(one, options) for one in texts]
        template = self._templates[len(columns) - 1]
        windows = [[(0, len(one.ids))] for one in columns]
        if truncation is not None:
            added = sum(len(part) for part in template if not isinstance(part, Slot)) if add_special else 0
            windows = _truncated([len(one.ids) for one in columns], truncation, added)
        return _filled(template, columns, windows, add_special)

    def truncation(self, asked: Truncation | bool | None) -> Truncation | None:
        """The caller's truncation; True means the one of the file."""
        if asked is True:
            return Truncation.from_json(self._of_file("truncation"))
        return asked or None

    def padding(self, asked: Padding | bool | None) -> Padding | None:
        """The caller's padding; True means the one of the file."""
        if asked is True:
            return Padding.from_json(self._of_file("padding"))
        return asked or None

    def _of_file(self, name: str) -> Mapping[str, Any]:
        fields = self._spec.extra.get("huggingface", {}).get("document", {}).get(name)
        if fields is None:
            raise ArgumentError(f"{name}=True takes what the file says, and it says nothing; pass a {name.title()}")
        found: Mapping[str, Any] = fields
        return found

    def _template(self, parts: Sequence[TemplatePart]) -> tuple[_Outside | Slot, ...]:
        def compiled(part: Insert) -> _Outside:
            return _Outside(part.ids, tuple(map(self._names.of_id, part.ids)), part.type_id, (1, 1))

        return tuple(compiled(part) if isinstance(part, Insert) else part for part in parts)

    def _text(self, text: object, options: _core.ResolvedOptions | None) -> Columns:
        if not isinstance(text, (str, bytes)):
            raise TypeError("a text is a str or bytes; for lists of words say pretokenized=True")
        found = self._core.token_columns(text, options)
        spans = (found.starts, found.ends, found.first_starts, found.first_ends)
        return Columns(found.ids, *spans, found.words, dict(found.said), self._names)

    def _words(self, words: object, options: _core.ResolvedOptions | None) -> Columns:
        if isinstance(words, (str, bytes)) or not isinstance(words, Iterable):
            raise TypeError("pretokenized=True takes lists of words")
        columns = [self._text(word, options) for word in words]
        if not columns:
            return self._text("", options)
        import numpy as np

        numbers = np.repeat(np.arange(len(columns), dtype=np.int32), [len(one.ids) for one in columns])
        rows = zip(*((one.ids, one.starts, one.ends, one.first_starts, one.first_ends) for one in columns), strict=True)
        ids, starts, ends, first_starts, first_ends = (np.concatenate(row) for row in rows)
        before = itertools.accumulate((len(one.ids) for one in columns), initial=0)
        said = {at + i: text for at, one in zip(before, columns, strict=False) for i, text in one.said.items()}
        return Columns(ids, starts, ends, first_starts, first_ends, numbers, said, self._names)


def padded(encodings: list[Encoding], padding: Padding) -> list[Encoding]:
    """Pad all encodings to the same length."""
    target = padding.target(encodings)
    return [encoding.padded(target, padding) for encoding in encodings]


def _filled(
    template: Sequence[_Outside | Slot],
    columns: Sequence[Columns],
    windows: Sequence[Sequence[tuple[int, int]]],
    add_special: bool,
) -> Encoding:
    """The template around the first windows; the others overflow, with the type ids they have without a template."""
    filled: list[Encoding] = []
    for part in template:
        if isinstance(part, Slot):
            if part.text >= len(columns):
                raise EncodeError("the template for a single text has a place for a second one; pass a pair")
            text, spans = columns[part.text], windows[part.text]
            others = (Encoding((_Stretch(text, *span, part.text, part.text),)) for span in spans[1:])
            filled.append(Encoding((_Stretch(text, *spans[0], part.text, part.type_id),), tuple(others)))
        elif add_special:
            filled.append(Encoding((part,)))
    if all(not encoding.overflowing for encoding in filled):
        return Encoding(tuple(itertools.chain.from_iterable(encoding._parts for encoding in filled)))
    merged = Encoding(())
    for encoding in filled:
        merged = merged.merged(encoding)
    return merged


def _truncated(lengths: Sequence[int], truncation: Truncation, added: int) -> list[list[tuple[int, int]]]:
    """The windows of each text, beginning with the one that is kept."""
    room = truncation.max_length - added
    if room < 0:
        raise ArgumentError(f"max_length is {truncation.max_length}, and the template alone has {added} tokens")
    return [
        list(_windows(length, kept, truncation))
        for length, kept in zip(lengths, _kept(lengths, room, truncation.strategy), strict=True)
    ]


def _kept(lengths: Sequence[int], room: int, strategy: Strategy) -> list[int]:
    """The number of tokens to keep of each text."""
    excess = sum(lengths) - room
    if room == 0:
        return [0] * len(lengths)
    if excess <= 0:
        return list(lengths)
    if strategy == "longest_first":
        return [room] if len(lengths) == 1 else _balanced(lengths[0], lengths[1], room)
    if strategy == "only_second" and len(lengths) == 1:
        raise EncodeError("Truncation error: Second sequence not provided")
    chosen = int(strategy == "only_second")
    if lengths[chosen] <= excess:
        raise EncodeError("Truncation error: Sequence to truncate too short to respect the provided max_length")
    return [length - excess if i == chosen else length for i, length in enumerate(lengths)]


def _balanced(first: int, second: int, room: int) -> list[int]:
    """Shorten the longer of two texts, but not below the other; then give each of them half."""
    short = min(first, second)
    long = short if short > room else max(short, room - short)
    if short + long > room:
        short, long = room // 2, room // 2 + room % 2
    return [long, short] if first > second else [short, long]


def _windows(length: int, kept: int, truncation: Truncation) -> Iterator[tuple[int, int]]:
    """Windows of ``kept`` tokens; adjacent windows share ``stride`` tokens."""
    if kept >= length:
        yield 0, length
        return
    if kept == 0:
        yield 0, 0
        yield 0, length
        return
    if truncation.stride >= kept:
        raise ArgumentError(
            f"stride is {truncation.stride}, and must be less than the {kept} tokens that stay of a text"
        )
    step = kept - truncation.stride
    for at in range(0, length, step):
        start, stop = at, min(at + kept, length)
        yield (start, stop) if truncation.direction == "right" else (length - stop, length - start)
        if stop == length:
            return
