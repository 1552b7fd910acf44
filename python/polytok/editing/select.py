"""Selects entries to remove: by a pattern, by script, or by frequency in texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from .. import _core
from ..errors import ArgumentError, SpecError
from ..id_counts import count_ids
from ..loading import AnyTokenizer, as_tokenizer
from ..spec import Longest, Spec
from ..tokenizer import Tokenizer
from ..values import Text
from .families import family_of
from .rows import Rows

Selector: TypeAlias = Callable[[Sequence[bytes]], Sequence[bool]]
"""A function that returns a boolean for each entry: whether the entry is selected."""


def matching(pattern: str) -> Selector:
    """Returns a selector of the entries that a pattern matches anywhere.

    The pattern has the syntax of split patterns, with ``\\p{…}`` and look-around. An entry that is not UTF-8 never
    matches. Raises `ArgumentError` for an invalid pattern.

    >>> matching(r"^\\p{Lu}+$")([b"ABC", b"aBC", b"\\xff"])
    [True, False, False]
    """

    try:
        _core.pattern_matches(pattern, [])
    except SpecError as error:
        reason = re.sub(r".*?cannot be compiled: (.*?)(; write it.*)?$", r"\1", str(error), flags=re.DOTALL)
        raise ArgumentError(f"{pattern!r} is not a valid regex: {reason}") from error
    return _create_selector(pattern)


def _create_selector(pattern: str) -> Selector:
    return lambda entries: _core.pattern_matches(pattern, list(entries))


def script(name: str) -> Selector:
    """Returns a selector of the entries that have letters and whose letters all belong to one script.

    ``name`` is the Unicode name of the script, such as Latin, Cyrillic, Han or Hangul. Raises `ArgumentError` for an
    unknown name.

    >>> script("Latin")([b" the", "日本".encode(), b"42", "aя".encode()])
    [True, False, False, False]
    """
    script_class = rf"\p{{Script={name}}}"
    try:
        _core.pattern_matches(script_class, [])
    except SpecError:
        raise ArgumentError(
            f"{name!r} is not the Unicode name of a script, such as Latin, Cyrillic, Han or Hangul"
        ) from None
    return matching(rf"\A[{script_class}\P{{L}}]*[{script_class}&&\p{{L}}][{script_class}\P{{L}}]*\z")


def other_scripts(*names: str) -> Selector:
    """Returns a selector of the entries that have a letter or mark of any script except these.

    ``names`` are Unicode names of scripts. Characters of several scripts, such as digits, punctuation and most accents,
    belong to none of them. Raises `ArgumentError` without names, and for an unknown name.

    >>> other_scripts("Latin", "Greek")([b" the", "αβ".encode(), "日本".encode(), b"42", "aя".encode()])
    [False, False, True, False, True]
    """
    if not names:
        raise ArgumentError("other_scripts() needs the name of at least one script, such as Latin")
    for name in names:
        script(name)
    kept_scripts = "".join(rf"\p{{Script={name}}}" for name in (*names, "Common", "Inherited"))
    return matching(rf"[\p{{L}}\p{{M}}--[{kept_scripts}]]")


class Among:
    """A selector of the entries in a list."""

    def __init__(self, entries: Iterable[str | bytes]) -> None:
        self.entries = frozenset(entry.encode() if isinstance(entry, str) else entry for entry in entries)

    def __call__(self, entries: Sequence[bytes]) -> Sequence[bool]:
        return [entry in self.entries for entry in entries]


def among(entries: Iterable[str | bytes]) -> Among:
    """Returns a selector of the entries in a list, such as the result of `least_used` or `unused`.

    Unlike listed entries, selected ones stay if merges of other entries need them. Entries are written as in the
    vocabulary.

    >>> among(["a", b"b"])([b"a", b"b", b"c"])
    [True, True, False]
    """
    return Among(entries)


ENGLISH: Final = _create_selector(r"\A[ \n\t]?[A-Za-z][A-Za-z'’]*[A-Za-z]\.?\z")
"""Selects entries of two or more ASCII letters: English words and their parts, and similar words of other languages."""

CODE: Final = _create_selector(
    r"\A(?=[\x00-\x7F]{2,}\z)"
    r"(?s:.*[{}\[\]\\<>=_;|&$#@~^`]|.*[!-/:-@\[-`{-~].*[!-/:-@\[-`{-~]|.*[a-z][A-Z]|.*[\t ]{2}|.*\n[\t ])"
)
"""Selects ASCII entries typical of program code.

Such entries have two punctuation characters, a character that prose does not use, camelCase, or indentation.
"""


def least_used(tokenizer: AnyTokenizer, texts: Iterable[Text], count: int) -> list[bytes]:
    """Returns the ``count`` entries that occur least often in the encoded texts, the rarest first.

    ``tokenizer`` is a `polytok.Tokenizer`, or what `polytok.load` accepts. Special tokens are excluded, and so are
    entries without which a byte or character would be unknown. Among entries with equal counts, longer entries come
    first. The entries are written as in the vocabulary.

    >>> import polytok
    >>> from polytok.spec import Longest, Spec, Vocab
    >>> rows = [(piece, id, 0.0, 1) for id, piece in enumerate([b"a", b"b", b"ab", b"aa"])]
    >>> spec = Spec(Vocab.from_rows(rows), Longest())
    >>> least_used(polytok.Tokenizer(spec), ["aaab"], 1)
    [b'aa']
    """
    return [entry for entry, _ in _counted_entries(as_tokenizer(tokenizer), texts)[:count]]


def unused(tokenizer: AnyTokenizer, texts: Iterable[Text]) -> list[bytes]:
    """Returns the entries that never occur in the encoded texts, the longest first.

    ``tokenizer`` and the entries are as for `least_used`.

    >>> import polytok
    >>> old = polytok.train(["to be or not to be"], kind="longest-match", vocab_size=259, min_count=2)
    >>> unused(old, ["to"])
    [b' be']
    """
    return [entry for entry, count in _counted_entries(as_tokenizer(tokenizer), texts) if not count]


def _counted_entries(tokenizer: Tokenizer, texts: Iterable[Text]) -> list[tuple[bytes, int]]:
    """Returns the entries that can be removed with their counts in texts, the rarest and longest first."""
    use_counts = count_ids(tokenizer, texts).tolist()
    counted = [(entry, use_counts[id]) for entry, id in _removable_entries(tokenizer.spec).items()]
    return sorted(counted, key=lambda pair: (pair[1], -len(pair[0]), pair[0]))


def _removable_entries(spec: Spec) -> dict[bytes, int]:
    """Returns the entries that can be removed, with their ids."""
    rows = Rows(spec)
    if isinstance(spec.model, Longest):
        return {entry: id for entry, id in rows.entries.items() if len(entry) > 1}
    family = family_of(rows)
    entries = rows.entries.items()
    return {piece: id for piece, id in entries if not family.covers_a_character(piece)}


def rarest_first(tokenizer: Tokenizer, texts: Iterable[Text], entries: Iterable[bytes]) -> list[bytes]:
    """Returns the entries of two or more bytes, ordered by how often they occur in the encoded texts, then by length:
    the rarest and longest first."""
    use_counts = count_ids(tokenizer, texts)
    long_entries = [entry for entry in entries if len(entry) > 1]
    return sorted(long_entries, key=lambda entry: (int(use_counts[tokenizer.piece_to_id(entry)]), -len(entry), entry))
