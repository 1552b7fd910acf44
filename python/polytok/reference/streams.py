"""Ids that arrive one by one: the definitions, which decode all ids again after each id.

The functions need only `Decode`, a function that decodes ids to bytes, so they also check tokenizers that have no twin.
They describe decoders that only append: each id leaves the bytes of the ids before it as they are. For the others, the
whole text is the same, but it is returned later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

Decode: TypeAlias = Callable[[Sequence[int]], bytes]
"""Returns the bytes of ids."""

RESTS = [byte * count for byte in (b"\x80", b"\xbf") for count in (1, 2, 3)]
"""Bytes that complete a character; if none of these does, no bytes do."""


class Stream(NamedTuple):
    """What a decoder has returned: the text of each id, the rest at the end, the stop text, and the ids up to it."""

    texts: list[str]
    rest: str
    stopped: str | None
    consumed: int


class Offsets(NamedTuple):
    """A decoded text, and the piece, the first character and the end of each id."""

    text: str
    pieces: list[str]
    starts: list[int]
    ends: list[int]


def stream(ids: Sequence[int], decode: Decode, stop: Sequence[str] = ()) -> Stream:
    """Decodes ids one by one, up to the first stop text.

    Each id returns the characters whose bytes are complete, without an end that can be the start of a stop text.

    >>> stream(b"a. EN END b", bytes, ["END"])
    Stream(texts=['a', '.', ' ', '', '', 'EN ', '', '', '', '', ''], rest='', stopped='END', consumed=9)
    """
    texts: list[str] = []
    for count in range(1, len(ids) + 1):
        text, stopped = before_stop(complete_characters(decode(ids[:count])), stop)
        if stopped is not None:
            texts.append(text[len("".join(texts)) :])
            return Stream(texts + [""] * (len(ids) - count), "", stopped, count)
        texts.append(text[len("".join(texts)) : len(text) - held_back(text, stop)])
    text, stopped = before_stop(decode(ids).decode(errors="replace"), stop)
    return Stream(texts, text[len("".join(texts)) :], stopped, len(ids))


def complete_characters(data: bytes) -> str:
    """Returns the text of bytes without a last character whose bytes are not complete.

    >>> complete_characters("é世".encode()[:4])
    'é'
    """
    for length in (1, 2, 3):
        if data[-length:] and any(is_character(data[-length:] + rest) for rest in RESTS):
            return data[:-length].decode(errors="replace")
    return data.decode(errors="replace")


def is_character(data: bytes) -> bool:
    """Reports whether bytes are one character.

    >>> is_character("世".encode()), is_character(b"ab"), is_character(b"\\xed\\xa0\\x80")
    (True, False, False)
    """
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


def before_stop(text: str, stop: Sequence[str]) -> tuple[str, str | None]:
    """Returns the text before the stop text that is complete first, and this stop text; the longest of several.

    >>> before_stop("a END", ["END", "ND", "D."])
    ('a ', 'END')
    """
    for end in range(1, len(text) + 1):
        if found := [stop_text for stop_text in stop if text.endswith(stop_text, 0, end)]:
            longest = max(found, key=len)
            return text[: end - len(longest)], longest
    return text, None


def held_back(text: str, stop: Sequence[str]) -> int:
    """Returns the length of the longest end of a text that is the start of a stop text.

    >>> held_back("a EN", ["END"])
    2
    """
    starts = (stop_text[:length] for stop_text in stop for length in range(len(stop_text)))
    return max((len(start) for start in starts if text.endswith(start)), default=0)


def known_ids(ids: Sequence[int], vocab_ids: Collection[int]) -> list[int]:
    """Returns the ids that a decoder with ``unknown="skip"`` decodes.

    >>> known_ids([97, -1, 98, 10**6], range(256))
    [97, 98]
    """
    return [id for id in ids if id in vocab_ids]


def decode_with_offsets(ids: Sequence[int], decode: Decode) -> Offsets:
    """Decodes ids, and returns the characters of each id: those of which it has bytes.

    A character is in the piece of the id that has its last byte. An id without bytes has an empty span after the last
    id's.

    >>> decode_with_offsets([97, *"é".encode()], bytes)
    Offsets(text='aé', pieces=['a', '', 'é'], starts=[0, 1, 1], ends=[1, 2, 2])
    """
    data = decode(ids)
    text = data.decode(errors="replace")
    characters = [len(data[: end + 1].decode(errors="replace")) - 1 for end in range(len(data))]  # of each byte
    characters.append(len(text))
    pieces, starts, ends = list[str](), list[int](), list[int]()
    for first, end in pairwise(len(decode(ids[:count])) for count in range(len(ids) + 1)):
        pieces.append(text[characters[first] : characters[end]])
        starts.append(characters[first] if first < end else max(ends, default=0))
        ends.append(characters[end - 1] + 1 if first < end else starts[-1])
    return Offsets(text, pieces, starts, ends)
