"""Encodes texts that grow or change, without encoding everything again."""

from __future__ import annotations

from _thread import RLock  # importing the module threading takes longer
from bisect import bisect_right
from typing import Any, NamedTuple

from . import _core, checks
from .parts import Parts, parts_of_runs, text_or_parts
from .values import Text


class Change(NamedTuple):
    """The difference between the ids of a text before and after a change.

    The ids after the change are the first ``kept`` ids from before, followed by ``ids``.

    >>> import polytok
    >>> text = polytok.load("default").incremental("one")
    >>> before = text.ids
    >>> change = text.append(" two")
    >>> before[:change.kept] + change.ids == text.ids
    True
    """

    kept: int
    ids: list[int]


class StreamEncoder:
    """Encodes a text that arrives in chunks, and returns each id as soon as no later text can change it.

    All ids that `push` and `finish` return, joined, are the ids that `Tokenizer.encode` returns for the whole text, for
    every division into chunks: a chunk of ``bytes`` can end inside a character, and a ``str`` between two surrogates.
    The memory is that of the text whose ids are not final.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> encoder = tokenizer.encoder()
    >>> ids = [*encoder.push("A text in "), *encoder.push("two chunks."), *encoder.finish()]
    >>> ids == tokenizer.encode("A text in two chunks.")
    True
    """

    __slots__ = ("_core", "_lock", "_surrogate")

    _surrogate: str | Parts

    def __init__(self, core: _core.ChunkEncoder) -> None:
        self._core = core
        self._lock = RLock()  # the surrogate is the one that the engine's text ends with
        self._surrogate = ""  # the first half of a pair at the end of a chunk, with its trust if the text is in parts

    def push(self, text: Text | Parts) -> list[int]:
        """Encodes a chunk of the text, and returns the ids that are final now, which can be none.

        If the first chunk is `Parts`, all must be, and a special token can begin in one chunk and end in the next.
        Raises the errors of `Tokenizer.encode`; afterwards, start a new encoder.
        """
        text_or_parts("text", text)
        with self._lock:
            if isinstance(text, bytes) or isinstance(text, Parts) != isinstance(self._surrogate, Parts):
                ids = self._push_surrogate()
            else:
                ids = []
                text, self._surrogate = _joined(self._surrogate, text), ""
            if not isinstance(text, bytes) and _ends_in_half(text):
                text, self._surrogate = text[:-1], text[-1:]
            return [*ids, *self._core.push(text)]

    def finish(self) -> list[int]:
        """Returns the remaining ids, and resets the encoder for another text."""
        with self._lock:
            return [*self._push_surrogate(), *self._core.finish()]

    @property
    def pending_bytes(self) -> int:
        """The number of bytes of text, in UTF-8, whose ids are not final."""
        with self._lock:
            return self._core.pending_bytes + 3 * bool(self._surrogate)  # half of a pair is three bytes, as U+FFFD

    def _push_surrogate(self) -> list[int]:
        surrogate, self._surrogate = self._surrogate, ""
        return self._core.push(surrogate) if surrogate else []


class IncrementalText:
    """A text with its ids, of which a change encodes only the part that it affects.

    The ids are always those that `Tokenizer.encode` returns for the current text, which can be `Parts`, such as a
    conversation of `Tokenizer.render_chat`. `append`, `set_text` and `truncate` return a `Change`. If encoding fails,
    they raise the errors of `Tokenizer.encode` and change nothing.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> prompt = tokenizer.incremental("You are a helpful assistant.")
    >>> change = prompt.append(" Answer briefly.")
    >>> prompt.ids == tokenizer.encode("You are a helpful assistant. Answer briefly.")
    True
    """

    __slots__ = ("_core", "_has_bytes", "_lock", "_surrogate")

    _surrogate: str | Parts

    def __init__(self, core: _core.IncrementalText) -> None:
        self._core = core
        self._lock = RLock()  # the other fields are those of the engine's text
        self._surrogate = ""  # the first half of a pair at the end of the text, with its trust if the text is in parts
        self._has_bytes = False  # a part of the text was given as bytes, which can be other than UTF-8

    def append(self, text: Text | Parts) -> Change:
        """Appends text.

        To a text in parts only `Parts` can be appended, and no Parts to another text: raises `ArgumentError`. An empty
        text is neither.
        """
        text_or_parts("text", text)
        with self._lock:
            removed_bytes = 0
            if self._completes_pair(text):
                # The lone first half was replaced by U+FFFD.
                text, removed_bytes = _joined(self._surrogate, text), 3
            change = Change(*self._core.append(text, removed_bytes))
            if isinstance(text, bytes):
                self._surrogate = "" if text else self._surrogate
                self._has_bytes = True
            elif _str_of(text):
                self._surrogate = text[-1:] if _ends_in_half(text) else ""
                self._has_bytes &= isinstance(text, str)  # Parts are only appended to Parts and to an empty text
            return change

    def set_text(self, text: Text | Parts) -> Change:
        """Replaces the whole text. Only the text after the common start of both texts is encoded.

        The common start of `Parts` ends where the trust of a character changes. The new text can be Parts also if the
        old text is not, and the reverse.
        """
        text_or_parts("text", text)
        with self._lock:
            change = Change(*self._core.set_text(text))
            self._has_bytes = isinstance(text, bytes)
            self._surrogate = text[-1:] if not isinstance(text, bytes) and _ends_in_half(text) else ""
            return change

    def truncate(self, characters: int) -> Change:
        """Keeps only the first ``characters`` characters of `text`; a shorter text is not changed."""
        checks.number("characters", characters, least=0)
        with self._lock:
            if self._has_bytes:
                # The engine counts characters by their first bytes, which is wrong for bytes that are not UTF-8.
                change = Change(*self._core.append("", self._bytes_after(characters)))
            else:
                change = Change(*self._core.truncate(characters))
            self._surrogate = ""
            return change

    def _bytes_after(self, characters: int) -> int:
        """Returns the number of bytes of the text after its first ``characters`` characters."""
        data = self._core.text()
        lengths = range(len(data) + 1)
        return len(data) + 1 - bisect_right(lengths, characters, key=lambda n: len(data[:n].decode("utf-8", "replace")))

    @property
    def ids(self) -> list[int]:
        """The ids of the text."""
        return self._core.ids()

    @property
    def text(self) -> str:
        """The text. Bytes that are not UTF-8, and lone surrogates, are U+FFFD."""
        return self._core.text().decode("utf-8", "replace")

    @property
    def parts(self) -> Parts | None:
        """The text in parts, of which no two that are adjacent are equally trusted; None if the text is not in parts.

        >>> import polytok
        >>> prompt = polytok.load("default").incremental(polytok.Parts([("User: ", True), ("Hel", False)]))
        >>> change = prompt.append(polytok.Parts([("lo", False)]))
        >>> prompt.parts
        Parts([('User: ', True), ('Hello', False)])
        """
        text_with_runs = self._core.text_with_runs()
        return None if text_with_runs is None else parts_of_runs(*text_with_runs)

    def _completes_pair(self, text: Text | Parts) -> bool:
        """Reports whether a text begins with the second half of the pair whose first half ends the current text."""
        if not self._surrogate or isinstance(text, bytes):
            return False
        is_same_type = isinstance(text, Parts) == isinstance(self._surrogate, Parts)
        return is_same_type and "\udc00" <= _str_of(text)[:1] <= "\udfff"

    def copy(self) -> IncrementalText:
        """Returns a copy that changes independently. Both share the memory of the common start.

        >>> import polytok
        >>> prompt = polytok.load("default").incremental("Translate: ")
        >>> one, other = prompt.copy(), prompt.copy()
        >>> change, other_change = one.append("cat"), other.append("dog")
        >>> prompt.text, one.text, other.text
        ('Translate: ', 'Translate: cat', 'Translate: dog')
        """
        with self._lock:
            copy = IncrementalText(self._core.copy())
            copy._surrogate = self._surrogate
            copy._has_bytes = self._has_bytes
            return copy

    def __repr__(self) -> str:
        return f"IncrementalText({checks.shown(self.text)})"


def stable_prefix(core: _core.Tokenizer, ids: list[int], special: _core.ResolvedOptions | None) -> int:
    """Returns the number of leading ids that no later text changes; ``special`` recognizes all special tokens."""
    prefix, _ = core.template_ids() or ([], [])
    prefix = prefix if prefix and ids[: len(prefix)] == prefix else []
    text = _core.IncrementalText(core, special)
    text.append(core.decode_bytes(ids[len(prefix) :], False), 0)
    stable_ids = [*prefix, *text.ids()[: text.settled_count()]]
    count = 0
    while count < min(len(ids), len(stable_ids)) and ids[count] == stable_ids[count]:
        count += 1
    return count


def _str_of(text: str | Parts) -> str:
    return text.text if isinstance(text, Parts) else text


def _ends_in_half(text: str | Parts) -> bool:
    """Reports whether the last character of a text is the first half of a pair of surrogates."""
    return "\ud800" <= _str_of(text)[-1:] <= "\udbff"


def _joined(start: Any, end: Any) -> Any:
    """Joins two texts of the same type: `str` or Parts."""
    return start + end
