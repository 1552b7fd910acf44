"""`Parts`: a text in parts, each with a flag that says whether it is trusted."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core, checks
from .checks import iterable, shown
from .errors import ArgumentError
from .utf8 import repaired

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from .values import Spans, Text


class Parts(_core.Parts):
    """A text in parts, each trusted or not. Special tokens are recognized only in trusted text.

    ``parts`` has a pair (text, trusted) for each part: a ``str``, and True if the text is trusted. The text of the
    program itself, such as a chat template, is trusted, and text from outside is not. All methods of `Tokenizer` that
    encode accept Parts instead of a text.

    The parts are joined and encoded as one text. A special token is recognized if all of its characters are trusted;
    the white space that it can take on both sides need not be trusted. All other text is plain text, from which no
    special or added token is formed, even if the token is recognized in every ordinary text. Only tokens that mark
    nothing, such as runs of spaces, are recognized everywhere (docs/trust.md).

    Raises `TypeError` if ``parts`` is not a list of such pairs, and `ArgumentError` for a flag that is not a bool.

    >>> import polytok
    >>> parts = polytok.Parts([("Hi <|endoftext|>", False), ("<|endoftext|>", True)])
    >>> parts.text
    'Hi <|endoftext|><|endoftext|>'
    >>> polytok.load("default").encode(parts).count(32767)
    1
    >>> list(parts + polytok.Parts([("!", True)]))
    [('Hi <|endoftext|>', False), ('<|endoftext|>', True), ('!', True)]
    """

    __slots__ = ("_bounds", "_pairs", "_text")

    _pairs: tuple[tuple[str, bool], ...]
    _text: str
    _bounds: tuple[int, ...]  # the start of each part and the end of the text, in characters of the repaired text

    def __new__(cls, parts: Iterable[tuple[str, bool]]) -> Self:
        if isinstance(parts, (str, bytes)):
            pair = f"({shown(parts)}, False)"
            raise TypeError(f"parts={shown(parts)} is a single text: pass pairs of text and trust, such as [{pair}]")
        pairs = [_checked_pair(index, pair) for index, pair in enumerate(iterable("parts", parts, "pairs"))]
        return cls._of_pairs(tuple(pairs))

    @classmethod
    def _of_pairs(cls, pairs: tuple[tuple[str, bool], ...]) -> Self:
        text = "".join([text for text, _ in pairs])
        if text.isascii():  # each character is a byte
            data, bounds = text.encode(), tuple(itertools.accumulate([len(text) for text, _ in pairs], initial=0))
            trusted_runs = _joined_runs([bounds[at : at + 2] for at, (_, trusted) in enumerate(pairs) if trusted])
        else:
            runs = _repaired_runs(pairs)
            encoded_texts = [run.text.encode() for run in runs]
            data, bounds = b"".join(encoded_texts), _bounds(runs, len(pairs))
            trusted_runs = _trusted_runs(runs, encoded_texts)
        parts = super().__new__(cls, data, trusted_runs)
        object.__setattr__(parts, "_pairs", pairs)
        object.__setattr__(parts, "_text", text)
        object.__setattr__(parts, "_bounds", bounds)
        return parts

    @property
    def text(self) -> str:
        """The text of all parts."""
        return self._text

    def index(self, spans: Spans) -> npt.NDArray[np.int64]:
        """Returns the index of each token's part, as an int64 array of shape (tokens,).

        ``spans`` has the tokens of this text: the result of `Tokenizer.spans`, or any object with the columns
        ``starts`` and ``ends``, in characters. A token that covers several parts belongs to the part of its first
        character. The index of a token that covers no character, such as BOS, is -1.

        Raises `TypeError` for an object without these columns, and `ArgumentError` for a span beyond the text.

        >>> import polytok
        >>> parts = polytok.Parts([("ab", False), ("<|endoftext|>", True), ("", False), ("c", False)])
        >>> parts.index(polytok.load("default").spans("ab<|endoftext|>c", special="all")).tolist()
        [0, 1, 3]
        """
        import numpy as np  # programs that only encode do not need numpy here

        try:
            starts, ends = np.asarray(spans.starts, np.int64), np.asarray(spans.ends, np.int64)
        except (AttributeError, TypeError, ValueError):
            raise TypeError(
                f"spans={shown(spans)} has no columns starts and ends; pass the result of Tokenizer.spans"
            ) from None
        bounds = self._bounds
        if len(ends) and not 0 <= starts.min() <= ends.max() <= bounds[-1]:
            raise ArgumentError(
                f"the spans reach from {starts.min()} to {ends.max()}, but the text has {bounds[-1]} characters; pass "
                "the spans of the same parts"
            )
        part_of_token = np.searchsorted(np.asarray(bounds[:-1], np.int64), starts, side="right") - 1
        return np.where(starts < ends, part_of_token, -1)

    def __getitem__(self, characters: slice) -> Parts:
        """Returns the parts of ``text[start:stop]``, each as trusted as before.

        A part without a character there is left out.

        >>> import polytok
        >>> polytok.Parts([("User: ", True), ("hello", False)])[4:8]
        Parts([(': ', True), ('he', False)])
        """
        if not isinstance(characters, slice) or characters.step not in (None, 1):
            raise TypeError(
                f"{shown(characters)} is not a range of characters: parts[start:stop] has the parts of "
                "parts.text[start:stop], and list(parts)[i] is one part"
            )
        start, stop, _ = characters.indices(len(self._text))
        pairs, at = [], 0
        for text, trusted in self._pairs:
            if piece := text[max(start - at, 0) : max(stop - at, 0)]:
                pairs.append((piece, trusted))
            at += len(text)
        return self._of_pairs(tuple(pairs))

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[tuple[str, bool]]:
        return iter(self._pairs)

    def __add__(self, other: Parts) -> Parts:
        if not isinstance(other, Parts):
            return NotImplemented
        return self._of_pairs(self._pairs + other._pairs)

    def __eq__(self, other: object) -> bool:
        return self._pairs == other._pairs if isinstance(other, Parts) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._pairs)

    def __repr__(self) -> str:
        return f"Parts({list(self._pairs)!r})"

    def __reduce__(self) -> tuple[type[Parts], tuple[list[tuple[str, bool]]]]:
        return Parts, (list(self._pairs),)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Parts are immutable; create others instead of setting {name!r}")


def text_or_parts(name: str, value: Any) -> Text | Parts:
    """Checks that a value is a text or Parts, and returns the value."""
    return value if isinstance(value, Parts) else checks.text(name, value)


def repaired_parts(parts: Parts) -> Parts:
    """Returns parts with a text without surrogates, as it is encoded: pairs are joined, and lone ones are replaced."""
    try:
        parts.text.encode()
    except UnicodeEncodeError:
        return Parts((run.text, run.trusted) for run in _repaired_runs(parts))
    return parts


def parts_of_runs(encoded_text: bytes, runs: Iterable[tuple[int, int]]) -> Parts:
    """Returns the parts of a text whose trusted runs are these, in bytes of UTF-8."""
    pairs, at = [], 0
    for start, end in runs:
        pairs += [(encoded_text[at:start].decode(), False), (encoded_text[start:end].decode(), True)]
        at = end
    pairs.append((encoded_text[at:].decode(), False))
    return Parts([pair for pair in pairs if pair[0]])


class _Run(NamedTuple):
    """Repaired text within one part."""

    text: str
    trusted: bool
    part: int


# The first high surrogate, the first low surrogate, and the first character after the surrogates.
_HIGH, _LOW, _END = "\ud800", "\udc00", "\ue000"


def _repaired_runs(pairs: Iterable[tuple[str, bool]]) -> list[_Run]:
    """Returns the text with surrogates repaired as in every other text: pairs are joined, and lone surrogates are
    replaced with U+FFFD. A pair in two parts belongs to the first part, and is trusted if both parts are."""
    runs: list[_Run] = []
    for index, (text, trusted) in enumerate(pairs):
        if runs and _HIGH <= (high := runs[-1].text[-1]) < _LOW <= text[:1] < _END:
            last = runs.pop()
            runs.append(last._replace(text=last.text[:-1]))
            runs.append(_Run(high + text[0], last.trusted and trusted, last.part))
            text = text[1:]
        if text:
            runs.append(_Run(text, trusted, index))
    return [run._replace(text=repaired(run.text)) for run in runs]


def _trusted_runs(runs: Iterable[_Run], encoded_texts: Iterable[bytes]) -> list[tuple[int, int]]:
    """Returns the start and the end of each trusted run of the text in bytes; adjacent runs are joined."""
    trusted_runs: list[tuple[int, int]] = []
    at = 0
    for run, encoded_text in zip(runs, encoded_texts, strict=True):
        start, at = at, at + len(encoded_text)
        if run.trusted:
            trusted_runs.append((start, at))
    return _joined_runs(trusted_runs)


def _joined_runs(runs: Iterable[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Returns the runs that are not empty, in order; adjacent runs are joined."""
    joined: list[tuple[int, int]] = []
    for start, end in runs:
        if start < end:
            is_adjacent = joined and joined[-1][1] == start
            joined.append((joined.pop()[0] if is_adjacent else start, end))
    return joined


def _bounds(runs: Iterable[_Run], part_count: int) -> tuple[int, ...]:
    """Returns the start of each part and the end of the text, in characters of the repaired text."""
    lengths = [0] * part_count
    for run in runs:
        lengths[run.part] += len(run.text)
    return tuple(itertools.accumulate(lengths, initial=0))


def _checked_pair(index: int, pair: Any) -> tuple[str, bool]:
    """Returns a part as a pair of a str and a bool."""
    if isinstance(pair, (str, bytes)) or not isinstance(pair, Iterable) or len(values := tuple(pair)) != 2:
        raise TypeError(f"parts[{index}]={shown(pair)} is not a pair of a text and True or False")
    text, trusted = values
    if not isinstance(text, str):
        raise TypeError(f"parts[{index}] has the text {shown(text)}, which is not a str; decode bytes first")
    if not isinstance(trusted, bool):
        raise ArgumentError(f"parts[{index}] has the trust {shown(trusted)}, which is neither True nor False")
    return text, trusted
