r"""The places in a text where a word, a line or a sentence ends.

The white space after a word or a sentence, and the line break after a line, belong to it, so the next one begins with
its first character. The rules are simple ones for cutting texts into chunks; they use no dictionary:

* A word ends after white space.
* A line ends after a line break: ``\n``, ``\r\n``, ``\r``, or one of the others of `str.splitlines` that Unicode calls
  mandatory (UAX #14: VT, FF, NEL, LS, PS).
* A sentence ends after a terminator, the closing quotes and brackets that follow, and white space. After terminators of
  scripts that are written without spaces, such as ``。``, no white space is needed. After a full stop the sentence goes
  on if the next character is a lowercase letter (UAX #29, rule SB8). A sentence also ends before a paragraph: after a
  line break that an empty line follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

PLACES = ("sentence", "line", "word")
"""The names of the places, from the coarsest to the finest."""

# Of Unicode's property Sentence_Terminal the terminators that are in use; those of scripts without spaces are separate.
_FULL_STOPS = ".\u2024\ufe52\uff0e"
_TERMINATORS = "!?\u2026\u203c\u203d\u2047-\u2049\u0589\u061f\u06d4\u0964\u0965\u1362\u1367\u1368"
_TERMINATORS_WITHOUT_SPACE = "\u3002\uff01\uff1f\uff61\u104a\u104b\u17d4\u17d5"
_CLOSING = "\"'”’»›)\\]}」』）】》〉］｝"

_WORD = re.compile(r"\s+")
_LINE = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
# The first character selects the rule: `re` finds one of a set of characters much faster than one of several rules.
_SENTENCE = re.compile(
    rf"[{_TERMINATORS_WITHOUT_SPACE}{_TERMINATORS}{_FULL_STOPS}\n](?:"
    rf"(?<=[{_TERMINATORS}{_FULL_STOPS}])[{_TERMINATORS}{_FULL_STOPS}]*[{_CLOSING}]*\s+"
    rf"|(?<=[{_TERMINATORS_WITHOUT_SPACE}])"
    rf"[{_TERMINATORS_WITHOUT_SPACE}{_TERMINATORS}{_FULL_STOPS}]*[{_CLOSING}]*\s*"
    r"|(?<=\n)[^\S\n]*\n\s*)"
)


def places(kind: str, text: str, start: int, before: int) -> Iterator[int]:
    """Yields the places of a kind in ``text[start:]`` that stand before ``before``, from left to right.

    The text before ``start`` has no influence, and the end of the text is not a place.

    >>> list(places("word", "one two  three", 0, 99)), list(places("line", "a\\nb\\r\\nc", 0, 99))
    ([4, 9], [2, 5])
    >>> [*places("sentence", 'Is it 3.5? "Yes." It is, e.g. here.  So。否', 0, 99)]
    [11, 18, 37, 40]
    """
    ends = _ENDS[kind](text, start)
    return takewhile(lambda end: end < before, (end for end in ends if end < len(text)))


def _word_ends(text: str, start: int) -> Iterator[int]:
    return (match.end() for match in _WORD.finditer(text, start))


def _line_ends(text: str, start: int) -> Iterator[int]:
    return (match.end() for match in _LINE.finditer(text, start))


def _sentence_ends(text: str, start: int) -> Iterator[int]:
    for match in _SENTENCE.finditer(text, start):
        end = match.end()
        goes_on = text[match.start()] in _FULL_STOPS and text[end : end + 1].islower()
        if not goes_on:
            yield end


_ENDS = {"word": _word_ends, "line": _line_ends, "sentence": _sentence_ends}
