"""Texts whose characters know who wrote them: the template, a message, or another input.

A `Text` is a ``str`` with runs of origins. Its operators and methods keep the origins; a method that is not here, and
any function of Python that returns a new ``str``, loses them, and text without origins counts as input, which is never
trusted. So a mistake in this file, or a new method of Python, can only make trusted text untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, SupportsIndex

from .budget import STEPS_OF_TEXT, spend_characters, spend_steps

TEMPLATE = -1
"""The origin of text that the template wrote."""
INPUT = -2
"""The origin of text from tools, documents and variables, and of text whose origin was lost. Origins from 0 on are the
indices of messages."""


_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"}


class Run(NamedTuple):
    """Characters in sequence that have the same origin."""

    length: int
    origin: int
    generated: bool
    """Whether the characters are in a block ``{% generation %}``."""


class Text(str):
    """A ``str`` that knows the origin of each character. Without ``runs``, all characters are `INPUT`."""

    __slots__ = ("_runs",)

    _runs: tuple[Run, ...]

    def __new__(cls, content: str = "", runs: Iterable[Run] | None = None) -> Text:
        text = str.__new__(cls, content)
        text._runs = runs_of(content) if runs is None else tuple(runs)
        return text

    def __str__(self) -> Text:
        return self

    def _operand(self, value: Any) -> Any:
        """Returns the other operand of an operator as this class of texts combines it."""
        return value

    def _new(self, text: Text) -> Text:
        """Returns a text with the class of this one."""
        return text if type(self) is Text else type(self)(str.__str__(text), text._runs)

    def _slice(self, start: int, stop: int) -> Text:
        """Returns the characters from ``start`` to ``stop``, for ``0 <= start <= stop <= len(self)``."""
        length = len(self)
        if stop - start == length:
            return self
        content = str.__getitem__(self, slice(start, stop))
        if len(content) > 64:
            spend_characters(len(content))
        runs = self._runs
        if len(runs) == 1:
            return type(self)(content, (Run(stop - start, *runs[0][1:]),) if content else ())
        return type(self)(content, _slice_runs(runs, length, start, stop))

    def _replaced(self, content: str) -> Text:
        """Returns another content of the origin of this character."""
        return Text(content, (Run(len(content), *self._runs[0][1:]),))

    def _slices(self, places: Iterable[tuple[int, int]]) -> Iterator[Text]:
        """Yields the characters from each start to its stop. The places are in order, and do not overlap."""
        runs, kind = self._runs, type(self)
        if len(runs) <= 1:
            yield from (self._slice(start, stop) for start, stop in places)
            return
        row, run_stop = 0, runs[0].length
        for start, stop in places:
            kept: list[Run] = []
            at = start
            while at < stop:
                while run_stop <= at:
                    row += 1
                    run_stop += runs[row].length
                end = min(run_stop, stop)
                kept.append(runs[row] if end - at == runs[row].length else Run(end - at, *runs[row][1:]))
                at = end
            yield kind(str.__getitem__(self, slice(start, stop)), kept)

    # Operators

    def __add__(self, other: Any) -> Any:
        if isinstance(other, SafeText) and not isinstance(self, SafeText):
            return other.__radd__(self)
        other = self._operand(other)
        return self._new(joined((self, other))) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        other = self._operand(other)
        return self._new(joined((other, self))) if isinstance(other, str) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> Text:
        copies = max(count.__index__(), 0) if self else 0
        spend_characters(len(self) * copies)
        return type(self)(str.__mul__(self, copies), _repeated_runs(self._runs, copies))

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> Text:
        from .formatting import percent

        return percent(self, values)

    def __getitem__(self, key: Any) -> Text:
        if not isinstance(key, slice):
            index = range(len(self))[key]  # raises the errors of a sequence
            return self._slice(index, index + 1)
        start, stop, step = key.indices(len(self))
        if step == 1:
            return self._slice(start, max(start, stop))
        characters = list(self)
        return self._new(joined([characters[index] for index in range(start, stop, step)]))

    def __iter__(self) -> Iterator[Text]:
        characters = self._slices((index, index + 1) for index in range(len(self)))
        for index, character in enumerate(characters):
            if index % 64 == 0:
                spend_steps(STEPS_OF_TEXT * min(64, len(self) - index))
            yield character

    # Methods that remove characters

    def lstrip(self, chars: str | None = None, /) -> Text:
        return self._slice(len(self) - len(super().lstrip(chars)), len(self))

    def rstrip(self, chars: str | None = None, /) -> Text:
        return self._slice(0, len(super().rstrip(chars)))

    def strip(self, chars: str | None = None, /) -> Text:
        end = len(super().rstrip(chars))
        return self._slice(min(len(self) - len(super().lstrip(chars)), end), end)

    def removeprefix(self, prefix: str, /) -> Text:
        return self._slice(len(self) - len(super().removeprefix(prefix)), len(self))

    def removesuffix(self, suffix: str, /) -> Text:
        return self._slice(0, len(super().removesuffix(suffix)))

    # Methods that split

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[Text]:  # type: ignore[override]
        self._spend_pieces(sep)
        return self._located(super().split(sep, maxsplit), None if sep is None else len(sep))

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[Text]:  # type: ignore[override]
        self._spend_pieces(sep)
        return self._located(super().rsplit(sep, maxsplit), None if sep is None else len(sep))

    def _spend_pieces(self, sep: str | None) -> None:
        """Counts the pieces before they are built; for white space, the characters at which a piece can end."""
        separators = sum(map(str.isspace, str.__str__(self))) if sep is None else self.count(sep) if sep else 0
        spend_steps(STEPS_OF_TEXT * (separators + 1) + len(self) // 16)

    def splitlines(self, keepends: bool = False) -> list[Text]:  # type: ignore[override]
        spend_steps(STEPS_OF_TEXT * (1 + sum(map(self.count, _LINE_ENDS))))
        lines = self._located(super().splitlines(True), 0)
        return lines if keepends else [line._slice(0, len(str.splitlines(line)[0])) for line in lines]

    def partition(self, sep: str, /) -> tuple[Text, Text, Text]:
        before, middle, after = self._located(super().partition(sep), 0)
        return before, middle, after

    def rpartition(self, sep: str, /) -> tuple[Text, Text, Text]:
        before, middle, after = self._located(super().rpartition(sep), 0)
        return before, middle, after

    def _located(self, pieces: Iterable[str], gap: int | None = None) -> list[Text]:
        """Returns the pieces of this text, which are in order with ``gap`` characters between them.

        Without a gap, white space is between them, and a piece is its first occurrence after the piece before it.
        """
        places: list[tuple[int, int]] = []
        end = 0
        for piece in pieces:
            start = self.find(piece, end) if gap is None else end + (gap if places else 0)
            end = start + len(piece)
            places.append((start, end))
        return list(self._slices(places))

    # Methods that combine texts

    def join(self, texts: Iterable[str], /) -> Text:
        operands = [self._operand(text) for text in texts]
        if any(not isinstance(text, str) for text in operands):
            return Text(str.join(self, operands))  # raises the error of str
        parts: list[str] = [self] * max(2 * len(operands) - 1, 0)
        parts[::2] = operands
        return self._new(joined(parts))

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> Text:
        limit = count.__index__()
        new = self._operand(new)
        if not isinstance(old, str) or not isinstance(new, str):
            return Text(str.replace(self, old, new, limit))  # raises the error of str
        places = _places(self, old, limit)
        starts = [0, *(place + len(old) for place in places)]
        parts: list[str] = [new] * (2 * len(places) + 1)
        parts[::2] = self._slices(zip(starts, [*places, len(self)], strict=True))
        return self._new(joined(parts))

    # Methods that change the case of letters

    def lower(self) -> Text:
        return self._changed(str.lower)

    def upper(self) -> Text:
        return self._changed(str.upper)

    def casefold(self) -> Text:
        return self._changed(str.casefold)

    def swapcase(self) -> Text:
        return self._changed(str.swapcase)

    def title(self) -> Text:
        return self._changed(str.title)

    def capitalize(self) -> Text:
        return self._changed(str.capitalize)

    def _changed(self, change: Callable[[str], str]) -> Text:
        """Applies a change of case. If it changes lengths within runs, the result has only one origin."""
        spend_characters(len(self))
        content = change(str.__str__(self))
        if len(content) == len(self):  # no character becomes empty, so each becomes one character
            runs = self._runs
        elif len(self._runs) == 1:
            runs = (self._runs[0]._replace(length=len(content)),)
        else:
            runs = runs_of(content)
        return type(self)(content, runs)

    # Methods that pad; the fill is input

    def center(self, width: SupportsIndex, fillchar: str = " ", /) -> Text:
        return self._padded(width, str.center(self, self._allowed(width), fillchar))

    def ljust(self, width: SupportsIndex, fillchar: str = " ", /) -> Text:
        return self._padded(width, str.ljust(self, self._allowed(width), fillchar))

    def rjust(self, width: SupportsIndex, fillchar: str = " ", /) -> Text:
        return self._padded(width, str.rjust(self, self._allowed(width), fillchar))

    def zfill(self, width: SupportsIndex, /) -> Text:
        return Text(str.zfill(self, self._allowed(width)))

    def expandtabs(self, tabsize: SupportsIndex = 8) -> Text:
        spend_characters(str.count(self, "\t") * max(tabsize.__index__(), 0))
        return Text(str.expandtabs(self, tabsize))

    def translate(self, table: Any, /) -> Text:
        values = table.values() if isinstance(table, Mapping) else table
        spend_characters(len(self) * max([1, *(len(value) for value in values if isinstance(value, str))]))
        return Text(str.translate(self, table))

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        spend_characters(4 * len(self))
        return str.encode(self, encoding, errors)

    def _padded(self, width: SupportsIndex, content: str) -> Text:
        return self if len(content) == len(self) else Text(content)

    def _allowed(self, width: SupportsIndex) -> int:
        spend_characters(max(width.__index__(), 0))
        return width.__index__()


class SafeText(Text):
    """The result of the filter ``safe``: a text that replaces the HTML characters of texts that are added to it, like
    Markup of the package markupsafe."""

    __slots__ = ()

    def __html__(self) -> SafeText:
        return self

    def __str__(self) -> Text:
        return Text(str.__str__(self), self._runs)

    def _operand(self, value: Any) -> Any:
        return escaped(value) if isinstance(value, str) or hasattr(value, "__html__") else value


def _run(length: int, origin: int, generated: bool) -> Run:
    """Creates a Run in half of the time of its class."""
    return tuple.__new__(Run, (length, origin, generated))


def literal(content: str) -> Text:
    """Returns a text that the template wrote."""
    return from_message(content, TEMPLATE)


def from_message(content: str, origin: int) -> Text:
    """Returns a text of the message with this index, or of another input."""
    return Text(content, (_run(len(content), origin, False),) if content else ())


def generated(text: str) -> Text:
    """Returns a text whose characters are all in a block ``{% generation %}``."""
    return Text(str.__str__(text), tuple(run._replace(generated=True) for run in runs_of(text)))


def runs_of(text: str) -> tuple[Run, ...]:
    """Returns the runs of a text: those of a `Text`, and one run of input for any other text."""
    if isinstance(text, Text):
        return text._runs
    return (Run(len(text), INPUT, False),) if text else ()


def joined(texts: Iterable[str]) -> Text:
    """Returns the texts one after another."""
    texts = texts if isinstance(texts, (list, tuple)) else list(texts)
    spend_characters(sum(map(len, texts)))
    if len(texts) > 64:
        spend_steps(len(texts))
    runs: list[Run] = []
    for text in texts:
        added = text._runs if text.__class__ is Text else runs_of(text)
        if runs and added:
            last, first = runs[-1], added[0]
            if last[1] == first[1] and last[2] == first[2]:
                runs[-1] = _run(last[0] + first[0], first[1], first[2])
                added = added[1:]
        runs += added
    return Text("".join(texts), runs)


def escaped(value: Any) -> SafeText:
    """Replaces the HTML characters of a text, like ``markupsafe.escape``."""
    if isinstance(value, SafeText):
        return value
    if hasattr(value, "__html__"):
        return SafeText(value.__html__())
    text = value if isinstance(value, Text) else Text(str(value))
    spend_steps(2 * STEPS_OF_TEXT * sum(map(text.count, _ESCAPES)))
    places: list[tuple[int, int]] = []
    start = 0
    for match in re.finditer(r"[&<>'\"]", text):
        places += ((start, match.start()), match.span())
        start = match.end()
    places.append((start, len(text)))
    parts = [
        part._replaced(_ESCAPES[str.__str__(part)]) if row % 2 else part
        for row, part in enumerate(text._slices(places))
    ]
    whole = joined(parts)
    return SafeText(str.__str__(whole), whole._runs)


def single_origin(texts: Iterable[str]) -> int:
    """Returns the message that all texts come from; `INPUT` if they come from several, or from elsewhere."""
    origins = {run.origin for text in texts for run in runs_of(text)} - {TEMPLATE}
    return origins.pop() if len(origins) == 1 else INPUT


def is_from_template(text: str) -> bool:
    """Reports whether the template wrote every character of a text."""
    return all(run.origin == TEMPLATE for run in runs_of(text))


def _slice_runs(runs: tuple[Run, ...], length: int, start: int, stop: int) -> tuple[Run, ...]:
    """Returns the runs between two positions of a text with this length."""
    if start >= stop:
        return ()
    first, last = 0, len(runs) - 1
    while start >= runs[first].length:
        start -= runs[first].length
        stop -= runs[first].length
        length -= runs[first].length
        first += 1
    while length - runs[last].length >= stop:
        length -= runs[last].length
        last -= 1
    spend_steps(2 * (first + len(runs) - last))
    if first == last:
        return (Run(stop - start, *runs[first][1:]),)
    return (
        Run(runs[first].length - start, *runs[first][1:]),
        *runs[first + 1 : last],
        Run(runs[last].length - (length - stop), *runs[last][1:]),
    )


def _repeated_runs(runs: tuple[Run, ...], copies: int) -> tuple[Run, ...]:
    """Returns the runs of a text that is repeated."""
    if not copies or not runs:
        return ()
    first, last = runs[0], runs[-1]
    if first[1:] != last[1:]:
        return runs * copies
    if len(runs) == 1:
        return (Run(first.length * copies, *first[1:]),)
    seam = Run(last.length + first.length, *first[1:])
    return (*runs[:-1], *((seam, *runs[1:-1]) * (copies - 1)), last)


def _places(text: str, part: str, limit: int) -> list[int]:
    """Returns where ``str.replace`` replaces a part of a text, at most ``limit`` times if it is not negative."""
    spend_steps(STEPS_OF_TEXT * text.count(part) + len(text) // 64)
    places: list[int] = []
    position = text.find(part)
    while position >= 0 and len(places) != limit:
        places.append(position)
        position = text.find(part, position + (len(part) or 1))
    return places
