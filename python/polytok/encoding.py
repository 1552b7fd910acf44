"""Encodings with masks, word numbers, windows and padding, like Hugging Face's ``Encoding``.

An `Encoding` consists of parts in order: tokens of texts, ids of the template, and pads. All windows of a text share
the text's columns, and a list of an encoding is built only when a caller reads it. Truncation, overflowing windows and
padding follow the rules of tokenizers 0.23.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, TypeVar

from . import _core
from .checked import checked
from .checks import instance, shown
from .errors import ArgumentError, EncodeError, TokenIdError
from .lengths import USUAL_PADS, Padding, Strategy, Truncation, padding_of, truncation_of
from .names import TokenTexts
from .spec import Insert, Slot, Spec, TemplatePart
from .special_list import sorted_for_role, special_tokens_text

Text: TypeAlias = str | bytes | _core.Parts
Words: TypeAlias = Sequence[Text]

Item = TypeVar("Item")

_DEFAULT_PAD_TEXT = "[PAD]"
_TEXT_NAMES = ("text", "pair")


class _TokenRun(Protocol):
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
class _TextTokens:
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
class _TextlessTokens:
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

    _parts: tuple[_TokenRun, ...]
    overflowing: tuple[Encoding, ...] = ()
    """The windows that truncation removed; for a pair, all combinations of windows."""

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __repr__(self) -> str:
        return f"<polytok.Encoding of {len(self)} tokens>"

    def _repr_html_(self) -> str:
        """Returns the tokens as HTML, which notebooks show."""
        from .notebook import pieces_html

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
            if isinstance(part, _TextTokens):
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
        pads = _TextlessTokens((padding.id,) * pad_count, (token,) * pad_count, padding.type_id, (0, 1))
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


_Template: TypeAlias = tuple[_TextlessTokens | Slot, ...]


class Encoder:
    """Builds encodings from the columns that the engine returns, for one Spec."""

    __slots__ = ("_core", "_has_one_type", "_has_simple_templates", "_names", "_spec", "_templates")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._spec = spec
        self._core = core
        self._names = TokenTexts(spec, core)
        templates = [self._template_parts(spec.post.single), self._template_parts(spec.post.pair)]
        slots = [tuple(part for part in template if isinstance(part, Slot)) for template in templates]
        # The first index is whether special tokens are added, the second is whether there is a second text.
        self._templates: Sequence[Sequence[_Template]] = (slots, templates)
        # Whether the template for a single text contains no second text.
        self._has_simple_templates = all(part.text == 0 for part in slots[0])
        processor: Mapping[str, Any] = self._setting_of_file("post_processor") or {}
        processors = processor.get("processors", [processor])
        self._has_one_type = any(part.get("type") == "RobertaProcessing" for part in processors)

    def encode(
        self,
        text: Text | Words,
        pair: Text | Words | None,
        options: _core.ResolvedOptions | None,
        truncation: Truncation | None,
        words: bool,
    ) -> Encoding:
        """Returns the encoding of a text or of a pair; with ``words`` the inputs are lists of words."""
        texts = (text,) if pair is None else (text, pair)
        to_columns = self._columns_of_words if words else self._columns_of_text
        columns = [to_columns(name, one_text, options) for name, one_text in zip(_TEXT_NAMES, texts, strict=False)]
        adds = options is not None and options.add_special
        template = self._templates[adds][pair is not None]
        if truncation is None:
            return Encoding(tuple([self._whole_part(part, columns) for part in template]))
        template_length = sum(len(part) for part in template if not isinstance(part, Slot))
        windows = _windows_of_texts([len(text) for text in columns], truncation, template_length)
        encoding = Encoding(())
        for part in template:
            encoding = encoding.merged(self._part_in_windows(part, columns, windows, self._has_one_type and adds))
        return encoding

    def encode_text(self, text: Any, options: _core.ResolvedOptions | None) -> Encoding:
        """Returns the encoding of a single text that is not truncated. It is that of `encode`, in half of the time."""
        is_str = text.__class__ is str
        columns = self._core.token_columns(text, options) if is_str else self._columns_of_text("text", text, options)
        template = self._templates[options is not None and options.add_special][0]
        if not self._has_simple_templates:
            return Encoding(tuple([self._whole_part(part, (columns,)) for part in template]))
        names, length = self._names, len(columns)
        parts = [
            part if part.__class__ is _TextlessTokens else _TextTokens(columns, names, 0, length, 0, part.type_id)
            for part in template
        ]
        return Encoding(tuple(parts))

    def _whole_part(self, part: _TextlessTokens | Slot, columns: Sequence[_core.TokenColumns]) -> _TokenRun:
        """Returns the tokens of a part of a template; in a slot, the tokens of the whole text."""
        if not isinstance(part, Slot):
            return part
        text = _text_of_slot(part, columns)
        return _TextTokens(text, self._names, 0, len(text), part.text, part.type_id)

    def _part_in_windows(
        self,
        part: _TextlessTokens | Slot,
        columns: Sequence[_core.TokenColumns],
        windows: Sequence[Sequence[tuple[int, int]]],
        has_one_type: bool,
    ) -> Encoding:
        """Returns an encoding with the tokens of a part of a template; in a slot, with the first window of the text.

        The other windows overflow; their type ids are the indices of the texts, or 0 in the
        template of RobertaProcessing.
        """
        if not isinstance(part, Slot):
            return Encoding((part,))
        text = _text_of_slot(part, columns)
        type_id = 0 if has_one_type else part.text
        first_window, *overflowing = (
            _TextTokens(text, self._names, *span, part.text, type_id) for span in windows[part.text]
        )
        first_window.type_id = part.type_id
        return Encoding((first_window,), tuple(Encoding((window,)) for window in overflowing))

    def truncation(self, requested: Truncation | int | bool | str | None) -> Truncation | None:
        """Returns the caller's truncation; True selects the truncation in the tokenizer's file."""
        truncation = truncation_of(requested)
        if truncation is not True:
            return truncation
        if (fields := self._setting_of_file("truncation")) is None:
            raise ArgumentError(
                "truncation=True uses the setting of the tokenizer's file, which has none; pass a length"
            )
        return Truncation.from_json(fields)

    def padding(self, requested: Padding | int | bool | str | None) -> Padding | None:
        """Returns the caller's padding with an id. True selects the padding in the tokenizer's file, if it has one.

        Raises `ArgumentError` if neither the caller, the vocabulary nor the file's settings have an id for pads.
        """
        padding = padding_of(requested)
        if padding is True:
            fields = self._setting_of_file("padding")
            return self._with_pad(Padding()) if fields is None else Padding.from_json(fields)
        return None if padding is None else self._with_pad(padding)

    def _with_pad(self, padding: Padding) -> Padding:
        """Returns the padding with the id and the text of pads."""
        if isinstance(padding.id, int):
            self._check_pad_id(padding.id)
            return padding
        if padding.id not in ("auto", None):
            return replace(padding, id=self._pad_id_of("id", padding.id), token=padding.token or padding.id)
        if padding.token is not None:
            return replace(padding, id=self._pad_id_of("token", padding.token))
        if (id := self._spec.names.get("pad")) is not None:
            return replace(padding, id=id, token=self._names.text_of_id(id))
        if (fields := self._setting_of_file("padding")) is not None:
            return replace(padding, id=fields["pad_id"], token=fields["pad_token"])
        if (token := self._usual_pad()) is not None:
            return replace(padding, id=token[1], token=token[0])
        raise ArgumentError(self._no_pad_message(padding))

    def _no_pad_message(self, padding: Padding) -> str:
        tokens = self._special_tokens()
        likely_token = sorted_for_role(tokens, "pad")[0] if tokens else 0
        problem = "padding= needs an id for pads, because the vocabulary names no pad token"
        if padding.id is None:
            problem = "Padding(id=None) has no id: pad_id and eos_id are None if the vocabulary names no such token"
        return f"{problem}; pass Padding(id={likely_token!r}), or train with pad=; {special_tokens_text(tokens, 'pad')}"

    def _usual_pad(self) -> tuple[str, int] | None:
        """Returns the special token with a usual text of pads and its id; None unless exactly one token has such a
        text."""
        tokens = [token for token in self._special_tokens().items() if token[0] in USUAL_PADS]
        return tokens[0] if len(tokens) == 1 else None

    def _check_pad_id(self, id: int) -> None:
        try:
            self._core.token_bytes(id)
        except TokenIdError:
            raise ArgumentError(
                f"Padding(id={id}) is not an id of the vocabulary; {special_tokens_text(self._special_tokens(), 'pad')}"
            ) from None

    def _pad_id_of(self, field: str, piece: str) -> int:
        id = self._core.id_of(piece.encode(errors="surrogateescape"))
        if id is None:
            raise ArgumentError(
                f"Padding({field}={piece!r}) is not in the vocabulary: name another token, or its id; "
                f"{special_tokens_text(self._special_tokens(), 'pad')}"
            )
        return id

    def _special_tokens(self) -> dict[str, int]:
        return {text.decode(errors="replace"): id for text, id in self._core.special_tokens()}

    @staticmethod
    def pad(encodings: list[Encoding], padding: Padding) -> list[Encoding]:
        """Pads all encodings to the same length."""
        length = padding.target(encodings)
        return [encoding.padded(length, padding) for encoding in encodings]

    def _setting_of_file(self, name: str) -> Mapping[str, Any] | None:
        """Returns the setting in the tokenizer.json that the tokenizer was read from, or None."""
        document: Mapping[str, Any] = self._spec.extra.get("huggingface", {}).get("document", {})
        setting: Mapping[str, Any] | None = document.get(name)
        return setting

    def _template_parts(self, parts: Sequence[TemplatePart]) -> _Template:
        def to_tokens(part: Insert) -> _TextlessTokens:
            return _TextlessTokens(part.ids, tuple(map(self._names.text_of_id, part.ids)), part.type_id, (1, 1))

        return tuple(to_tokens(part) if isinstance(part, Insert) else part for part in parts)

    def _columns_of_text(self, name: str, text: object, options: _core.ResolvedOptions | None) -> _core.TokenColumns:
        if not isinstance(text, (str, bytes, _core.Parts)):
            advice = "for a list of words pass pretokenized=True" if isinstance(text, Sequence) else "pass str or bytes"
            raise TypeError(f"{name}={shown(text)} is not a text: {advice}")
        return self._core.token_columns(text, options)

    def _columns_of_words(self, name: str, words: object, options: _core.ResolvedOptions | None) -> _core.TokenColumns:
        if isinstance(words, (str, bytes, _core.Parts)) or not isinstance(words, Iterable):
            raise TypeError(f"{name}={shown(words)} is not a list of words, which pretokenized=True needs")
        return self._core.token_columns_of_words([*words], options)


def _text_of_slot(slot: Slot, columns: Sequence[_core.TokenColumns]) -> _core.TokenColumns:
    if slot.text >= len(columns):
        raise EncodeError("the template for a single text contains a second text; pass a pair")
    return columns[slot.text]


def _windows_of_texts(
    lengths: Sequence[int], truncation: Truncation, template_length: int
) -> list[list[tuple[int, int]]]:
    """Returns the windows of each text as ranges of tokens. The first window is kept, and the others overflow."""
    available_length = truncation.max_length - template_length
    if available_length < 0:
        raise ArgumentError(
            f"max_length={truncation.max_length} is too small: the template alone has {template_length} tokens"
        )
    return [
        list(_windows_of_text(length, kept_length, truncation))
        for length, kept_length in zip(
            lengths, tokens_to_keep(lengths, available_length, truncation.strategy), strict=True
        )
    ]


def tokens_to_keep(lengths: Sequence[int], available_length: int, strategy: Strategy) -> list[int]:
    """Returns the number of tokens to keep of each text."""
    excess_tokens = sum(lengths) - available_length
    if available_length == 0:
        return [0] * len(lengths)
    if excess_tokens <= 0:
        return list(lengths)
    if strategy == "longest_first":
        return [available_length] if len(lengths) == 1 else _balanced_lengths(lengths[0], lengths[1], available_length)
    if strategy == "only_second" and len(lengths) == 1:
        raise EncodeError("Truncation error: Second sequence not provided")
    shortened_index = int(strategy == "only_second")
    if lengths[shortened_index] <= excess_tokens:
        raise EncodeError("Truncation error: Sequence to truncate too short to respect the provided max_length")
    return [length - excess_tokens if i == shortened_index else length for i, length in enumerate(lengths)]


def _balanced_lengths(first: int, second: int, available_length: int) -> list[int]:
    """Returns the lengths to which two texts are shortened. At first only the longer text is shortened, at most to the
    length of the shorter text. If both together are still too long, each gets half of the available length.
    """
    shorter_length = min(first, second)
    longer_length = (
        shorter_length if shorter_length > available_length else max(shorter_length, available_length - shorter_length)
    )
    if shorter_length + longer_length > available_length:
        shorter_length, longer_length = available_length // 2, available_length // 2 + available_length % 2
    return [longer_length, shorter_length] if first > second else [shorter_length, longer_length]


def _windows_of_text(length: int, kept_length: int, truncation: Truncation) -> Iterator[tuple[int, int]]:
    """Yields the windows of a text, which have ``kept_length`` tokens; adjacent windows share ``stride`` tokens."""
    if kept_length >= length:
        yield 0, length
        return
    if kept_length == 0:
        yield 0, 0
        yield 0, length
        return
    if truncation.stride >= kept_length:
        raise ArgumentError(
            f"stride is {truncation.stride}, but must be less than {kept_length}, the number of tokens that a "
            "text keeps"
        )
    step = kept_length - truncation.stride
    for at in range(0, length, step):
        start, stop = at, min(at + kept_length, length)
        yield (start, stop) if truncation.direction == "right" else (length - stop, length - start)
        if stop == length:
            return
