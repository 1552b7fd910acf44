"""Reports after which texts entries are not one token, and which variants with white space would be.

Longest match chooses an entry only where the previous token ends. The entry ``(^_^)`` is not used after a space if the
vocabulary has the entry `` (``: longest match chooses this entry at the space, and ``^_^)`` remains. All results come
from encoding the entries after such texts, so they are correct for every model.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from .checked import checked
from .columns import has_kind
from .errors import PolytokError
from .lists import Entry, collect_entries
from .loading import AnyTokenizer, as_tokenizer
from .records import dataclass
from .spec import Kind
from .tokenizer import Tokenizer

_START = "at the start of a text"
_LETTER = "after a letter"
_SPACE = "after a space"
_LETTERS = [letter.encode() for letter in (*string.ascii_letters, *"éяのカ日한")]
_WHITE_SPACE = (b" ", b"\n")
_TEXTS_BEFORE: Mapping[str, Sequence[bytes]] = {
    _START: [b""],
    _LETTER: _LETTERS,
    _SPACE: [b" ", b"a "],
    "after a line feed": [b"\n", b"a\n"],
}
_MAX_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class UnusedEntry:
    """An entry that is not one token after the text ``before``, and the tokens of both together."""

    entry: bytes
    before: bytes
    pieces: tuple[bytes, ...]

    def __str__(self) -> str:
        context = f" after {_quoted(self.before)}" if self.before else ""
        return f"{_quoted(self.entry)}{context} gives {', '.join(map(_quoted, self.pieces)) or 'no tokens'}"


@dataclass(frozen=True, slots=True)
class Usage:
    """How entries are used in a context, such as ``after a space``.

    ``examined`` is the number of entries that were examined, and ``unused`` has those that are not one token after one
    of the texts of the context.
    """

    context: str
    examined: int
    unused: tuple[UnusedEntry, ...]

    @property
    def summary(self) -> str:
        """A line with the number of entries that are one token."""
        used_count = self.examined - len(self.unused)
        return f"{self.context}, {used_count} of {self.examined} {'is' if used_count == 1 else 'are'} one token"

    def __str__(self) -> str:
        if not self.unused:
            return self.summary
        examples = "; ".join(map(str, self.unused[:_MAX_EXAMPLES])) + ("; ..." * (len(self.unused) > _MAX_EXAMPLES))
        return f"{self.summary}: {examples}"


@checked()
def usages(
    tokenizer: AnyTokenizer, entries: Entry | Iterable[Entry], *, words: Collection[bytes] = ()
) -> tuple[Usage, ...]:
    """Returns whether texts are one token at the start of a text, after a letter, after a space and after a line feed.

    ``tokenizer`` is a `polytok.Tokenizer`, or what `polytok.load` accepts. ``entries`` are texts, or paths of files
    with a text on each line. A text is one token if one token covers it; this token can begin before the text, as the
    variant with a space does. The letters are those of ASCII and six of other scripts; a text that is not one token
    after one of them is reported. ``words``, which are some of the entries, are not examined after a letter, where they
    would be a part of a word, and entries that begin with white space are not examined after white space.

    >>> import polytok
    >>> from polytok.reach import usages
    >>> old = polytok.train(["a (b) (c) (d)"], "longest-match", vocab_size=258, min_count=3)
    >>> new = polytok.edit(old, add=["(^_^)"]).tokenizer
    >>> print(*usages(new, ["(^_^)"]), sep="\\n")
    at the start of a text, 1 of 1 is one token
    after a letter, 1 of 1 is one token
    after a space, 0 of 1 are one token: "(^_^)" after " " gives " (", "^", "_", "^", ")"
    after a line feed, 1 of 1 is one token
    """
    tests = _OneToken(as_tokenizer(tokenizer))
    all_entries = collect_entries(entries)
    results: list[Usage] = []
    for context, texts_before in _TEXTS_BEFORE.items():
        examined_entries = [entry for entry in all_entries if _is_examined(entry, context, words)]
        unused_by_entry: dict[bytes, UnusedEntry] = {}
        for before in texts_before:
            undecided_entries = [entry for entry in examined_entries if entry not in unused_by_entry]
            unused_by_entry |= {unused.entry: unused for unused in tests.unused(undecided_entries, before)}
        unused_entries = tuple(unused_by_entry[entry] for entry in examined_entries if entry in unused_by_entry)
        results.append(Usage(context, len(examined_entries), unused_entries))
    return tuple(results)


def unused_after_space(tokenizer: Tokenizer, entries: Sequence[bytes]) -> Usage:
    """Returns the usage of entries after a space alone, which takes less time than `usages`."""
    return Usage(_SPACE, len(entries), tuple(_OneToken(tokenizer).unused(entries, b" ")))


def needed_variants(tokenizer: Tokenizer, entries: Sequence[bytes]) -> set[bytes]:
    """Returns the entries with a space or a line feed before them, if only these variants would be used there."""
    tests = _OneToken(tokenizer)
    not_spaces = [entry for entry in entries if not entry[:1].isspace()]
    return {before + unused.entry for before in _WHITE_SPACE for unused in tests.unused(not_spaces, before)}


def words_of(entries: Iterable[bytes]) -> set[bytes]:
    """Returns the entries that begin with a letter or a digit."""
    return {entry for entry in entries if entry.decode(errors="replace")[:1].isalnum()}


def _is_examined(entry: bytes, context: str, words: Collection[bytes]) -> bool:
    if context == _LETTER:
        return entry not in words
    return context == _START or not entry[:1].isspace()


class _OneToken:
    """Tests whether texts are one token after other texts.

    Most entries are decided by the text of the last token alone, because encoding a batch is fast. The spans of the
    tokens decide the others: a normalizer can change the text of a token.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._text_of_id: dict[int, bytes] = {}
        self._letter_ids = ids_or_nothing(tokenizer, b"a")[-1:]
        vocab = tokenizer.spec.vocab
        is_no_text = has_kind(vocab.kinds, Kind.BYTE, Kind.UNKNOWN)
        self._ids_of_no_text = {*vocab.ids[is_no_text].tolist(), tokenizer.unk_id}

    def unused(self, entries: Sequence[bytes], before: bytes) -> Iterator[UnusedEntry]:
        """Yields the entries that are not one token after a text."""
        texts = [before + entry for entry in entries]
        for entry, text, ids in zip(entries, texts, _encoded_texts(self._tokenizer, texts), strict=True):
            if not (ids and self._text(ids[-1]).endswith(entry)) and not self._has_one_span(text, len(before)):
                yield UnusedEntry(entry, before, tuple(self._tokenizer.ids_to_pieces(ids)))

    def _text(self, id: int) -> bytes:
        """Returns the text that decoding adds for an id after the id of a letter."""
        if id not in self._text_of_id:
            decode = self._tokenizer.decode_bytes
            self._text_of_id[id] = decode([*self._letter_ids, id])[len(decode(self._letter_ids)) :]
        return self._text_of_id[id]

    def _has_one_span(self, text: bytes, position: int) -> bool:
        """Reports whether a single token covers the text from a position on."""
        try:
            spans = self._tokenizer.spans(text)
        except PolytokError:
            return False
        ends_after = (spans.byte_ends > position) & (spans.byte_ends > spans.byte_starts)
        ids = spans.ids[ends_after].tolist()
        return len(ids) == 1 and ids[0] not in self._ids_of_no_text


def _encoded_texts(tokenizer: Tokenizer, texts: Sequence[bytes]) -> list[list[int]]:
    """Returns the ids of each text; no ids for texts that the vocabulary cannot cover."""
    try:
        return tokenizer.encode_batch(texts, threads=1).to_list()
    except PolytokError:
        return [ids_or_nothing(tokenizer, text) for text in texts]


def ids_or_nothing(tokenizer: Tokenizer, text: bytes) -> list[int]:
    """Returns the ids of a text; no ids if the vocabulary cannot cover the text."""
    try:
        return tokenizer.encode(text)
    except PolytokError:
        return []


def _quoted(piece: bytes) -> str:
    return f'"{piece.decode(errors="backslashreplace")}"'
