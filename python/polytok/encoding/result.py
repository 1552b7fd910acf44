"""The result `Encoding`, and the runs of tokens that it consists of."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from .. import _core
from ..checked import checked
from ..checks import instance
from ..errors import ArgumentError
from ..lengths import Padding
from ..names import TokenTexts

Item = TypeVar("Item")

_DEFAULT_PAD_TEXT = "[PAD]"


class TokenRun(Protocol):
    """The interface of a run of tokens of one kind."""

    @property
    def type_id(self) -> int: ...
    @property
    def mask(self) -> tuple[int, int]:
        """The values of the tokens in the attention mask and in the special tokens mask."""

    def __len__(self) -> int: ...
    def ids(self) -> list[int]: ...
    def tokens(self) -> list[str]: ...
    def offsets(self) -> list[tuple[int, int]]: ...
    def words(self) -> list[int | None]: ...


@dataclass(slots=True)
class TextTokens:
    """A run of tokens of one text. The class is not frozen, because creating a frozen object takes twice the time."""

    columns: _core.TokenColumns
    names: TokenTexts
    start: int
    stop: int
    sequence: int
    type_id: int
    mask = (1, 0)

    def __len__(self) -> int:
        return self.stop - self.start

    def ids(self) -> list[int]:
        return self.columns.ids(self.start, self.stop)

    def tokens(self) -> list[str]:
        return self.names.texts_of_tokens(self.ids(), self.columns.own_texts(self.start, self.stop))

    def offsets(self) -> list[tuple[int, int]]:
        return self.columns.offsets(self.start, self.stop)

    def words(self) -> list[int | None]:
        words: list[Any] = self.columns.words(self.start, self.stop)
        return words


@dataclass(frozen=True, slots=True)
class TextlessTokens:
    """A run of tokens that come from no text: tokens of the template, or pads."""

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

    The methods convert between indices of tokens, characters and words, and return None if nothing has the index.
    ``sequence`` is 0 for the first text and 1 for the second.
    """

    _parts: tuple[TokenRun, ...]
    overflowing: tuple[Encoding, ...] = ()
    """The windows that truncation removed; for a pair, all combinations of windows."""

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __repr__(self) -> str:
        return f"<polytok.Encoding of {len(self)} tokens>"

    def _repr_html_(self) -> str:
        """Returns the tokens as HTML, which notebooks show."""
        from ..notebook import pieces_html

        rows = zip(self.tokens, self.ids, self.special_tokens_mask, strict=True)
        heading = f"polytok.Encoding of {len(self):,} tokens"
        return pieces_html(
            heading, ((text.encode("utf-8", "surrogatepass"), id, bool(mask)) for text, id, mask in rows)
        )

    @property
    def ids(self) -> list[int]:
        """The id of each token."""
        parts = self._parts
        return parts[0].ids() if len(parts) == 1 else _joined([part.ids() for part in parts])

    @property
    def tokens(self) -> list[str]:
        """The text of each token, as in a tokenizer.json."""
        return _joined([part.tokens() for part in self._parts])

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and the end of each token, in characters of its text, or of its word if the input is a list of
        words."""
        return _joined([part.offsets() for part in self._parts])

    @property
    def word_ids(self) -> list[int | None]:
        """The index of each token's word in the text or list of words; None for tokens that come from no text."""
        return _joined([part.words() for part in self._parts])

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
        """The special tokens mask: 1 for tokens that come from no text, 0 for tokens of a text."""
        return [bit for part in self._parts for bit in part.mask[1:] * len(part)]

    @property
    def sequence_ids(self) -> list[int | None]:
        """The index of each token's text; None for tokens that come from no text."""
        sequences: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            token_range = self._range_of_text(sequence)
            sequences[token_range.start : token_range.stop] = [sequence] * len(token_range)
        return sequences

    @property
    def n_sequences(self) -> int:
        """The number of texts."""
        return len(self._token_ranges()) or 1

    @property
    def sequence_ranges(self) -> dict[int, range]:
        """The range of the tokens of each text, by the index of the text."""
        return self._token_ranges()

    def _token_ranges(self) -> dict[int, range]:
        """Maps each text's index to the range of its tokens, or of its last tokens if the template contains it
        twice."""
        ranges = {}
        at = 0
        for part in self._parts:
            if isinstance(part, TextTokens):
                ranges[part.sequence] = range(at, at + len(part))
            at += len(part)
        return ranges

    def _range_of_text(self, sequence: int) -> range:
        return self._token_ranges().get(sequence, range(len(self)))

    @checked()
    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Returns the range of a word's tokens: the index of the first token, and the index after the last token."""
        words, token_range = self.word_ids, self._range_of_text(sequence)
        candidates = itertools.takewhile(lambda at: (number := words[at]) is None or number <= word, token_range)
        token_indices = [at for at in candidates if words[at] == word]
        return (token_indices[0], token_indices[-1] + 1) if token_indices else None

    @checked()
    def word_to_chars(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Returns the range of a word's characters: the index of the first, and the index after the last character."""
        token_range = self.word_to_tokens(word, sequence)
        if token_range is None:
            return None
        offsets = self.offsets
        return offsets[token_range[0]][0], offsets[token_range[1] - 1][1]

    @checked()
    def token_to_sequence(self, token: int) -> int | None:
        """Returns the index of the text that a token belongs to."""
        if not 0 <= token <= len(self):
            return None
        ranges = self._token_ranges()
        return next((number for number, token_range in ranges.items() if token in token_range), None) if ranges else 0

    @checked()
    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """Returns the range of a token's characters: the index of the first, and the index after the last character."""
        return self.offsets[token] if self.token_to_sequence(token) is not None and token < len(self) else None

    @checked()
    def token_to_word(self, token: int) -> int | None:
        """Returns the index of the word that a token belongs to."""
        return self.word_ids[token] if self.token_to_sequence(token) is not None and token < len(self) else None

    @checked()
    def char_to_token(self, char: int, sequence: int = 0) -> int | None:
        """Returns the index of the first token that contains a character."""
        offsets = self.offsets
        return next((at for at in self._range_of_text(sequence) if offsets[at][0] <= char < offsets[at][1]), None)

    @checked()
    def char_to_word(self, char: int, sequence: int = 0) -> int | None:
        """Returns the index of the word that contains a character."""
        token = self.char_to_token(char, sequence)
        return None if token is None else self.token_to_word(token)

    @checked(padding=Padding)
    def padded(self, length: int, padding: Padding) -> Encoding:
        """Returns the encoding padded to a length, with its windows padded too; a longer encoding stays unchanged."""
        overflowing = tuple(window.padded(length, padding) for window in self.overflowing)
        pad_count = length - len(self)
        if pad_count <= 0:
            return Encoding(self._parts, overflowing)
        if not isinstance(padding.id, int):
            raise ArgumentError("padding= has no number for pads: pass a Padding(id=...) with an int")
        token = _DEFAULT_PAD_TEXT if padding.token is None else padding.token
        pads = TextlessTokens((padding.id,) * pad_count, (token,) * pad_count, padding.type_id, (0, 1))
        parts = (*self._parts, pads) if padding.direction == "right" else (pads, *self._parts)
        return Encoding(parts, overflowing)

    def merged(self, other: Encoding) -> Encoding:
        """Concatenates two encodings, and all combinations of their windows, in the order of the reference."""
        instance("other", other, Encoding, "polytok.Encoding")
        if not self.overflowing and not other.overflowing:
            return Encoding(self._parts + other._parts)
        merged_windows = [
            window.merged(other_window) for window in self.overflowing for other_window in (other, *other.overflowing)
        ]
        merged_overflow = [self.merged(other_window) for other_window in other.overflowing]
        return Encoding(self._parts + other._parts, (*merged_windows, *merged_overflow))


def _joined(lists: list[list[Item]]) -> list[Item]:
    """Returns the items of several new lists in one list; the only list is not copied."""
    if len(lists) == 1:
        return lists[0]
    joined: list[Item] = []
    for items in lists:
        joined += items
    return joined
