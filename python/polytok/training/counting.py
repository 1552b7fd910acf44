"""Counted words: most trainers work on them, and many machines can share the counting."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from .. import _core
from ..checks import number
from ..errors import ArgumentError, FileError, FormatError, SpecError
from ..files import open_replacement
from ..plain import from_plain, to_plain
from ..progress import Report
from ..resources import processors, room
from ..spec import NormalizeStep, PatternSplit, SplitStep
from .options import steps

Order = Literal["first_seen", "most_frequent", "bytes"]

# Counts get half of the memory; texts, the ordered words, and Python itself share the other half.
_SHARE = 2

COUNTS = b"polytok counts "
"""The first bytes of a file of counts."""


class Counts:
    """The distinct words of texts and how often each occurs.

    A word is a piece of a normalized text, as the steps of a `polytok.Spec` give it: ``split`` is a regular expression
    whose matches are the words, or a sequence of steps; without it each text is one word. ``special_tokens`` are
    removed first and not counted. Bytes that are not UTF-8 are words of their own.

    With ``max_memory``, in bytes, counts that do not fit go to files in a temporary folder; the result is the same. It
    does not depend on ``threads`` either, by default one for each processor that the process can use.

    >>> counts = Counts(split=r"\\w+")
    >>> counts.push([b"to be or not to be"])
    >>> counts.words().to_list()
    [(b'to', 2), (b'be', 2), (b'or', 1), (b'not', 1)]
    """

    takes_parts: ClassVar[bool] = True

    def __init__(
        self,
        *,
        split: str | Sequence[SplitStep] | None = None,
        normalize: Sequence[NormalizeStep] = (),
        special_tokens: Sequence[str | bytes] = (),
        max_memory: int | None = None,
        threads: int | None = None,
    ) -> None:
        """Begin without counts. Raises `SpecError` if a step cannot be compiled."""
        self.split: tuple[SplitStep, ...] = (
            (PatternSplit(split),) if isinstance(split, str) else steps("split", split or ())
        )
        self.normalize = steps("normalize", normalize)
        if isinstance(special_tokens, (str, bytes)) or not isinstance(special_tokens, Iterable):
            raise ArgumentError(f"special_tokens={special_tokens!r} is not a list of texts")
        self.special_tokens = tuple(
            sorted(token.encode() if isinstance(token, str) else token for token in special_tokens)
        )
        self._max_memory = max_memory
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._threads = threads
        self._counter: _core.TextCounter | None = None
        self._counted: _core.WordCounter | None = None
        self._start()

    def use(self, *, max_memory: int | None, threads: int | None) -> None:
        """Set the resources of counting. Must be called before anything is counted."""
        self._max_memory, self._threads = max_memory, threads
        self._start()

    def _start(self) -> None:
        special = list(self.special_tokens)
        threads = processors() if self._threads is None else number("threads", self._threads, least=1, most=1024)
        self._counter = _core.TextCounter(self.normalize, self.split, special, threads, self._limit())

    def _limit(self) -> tuple[int, str] | None:
        if self._max_memory is None:
            return None
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="polytok-", ignore_cleanup_errors=True)
        return self._max_memory // _SHARE, self._folder.name

    def push(self, texts: Sequence[bytes]) -> None:
        """Count texts, after all earlier ones."""
        self._open().push(list(texts))

    def push_part(self, part: bytes, *, is_last: bool) -> None:
        """Count a part of a text that is too long for memory; its next parts must follow, up to the last one."""
        self._open().push_part(part, is_last)

    def add(self, words: Iterable[tuple[bytes, int]]) -> None:
        """Count words directly, each with its count; no step is applied to them. After that, no more texts can be
        counted.

        >>> counts = Counts()
        >>> counts.add([(b"to", 2), (b"be", 3_000_000_000), (b"to", 1)])
        >>> counts.words().to_list()
        [(b'to', 3), (b'be', 3000000000)]
        """
        self._finished().add(list(words))

    def _open(self) -> _core.TextCounter:
        if self._counter is None:
            raise ArgumentError("these counts are finished: count other texts apart, and merge the two")
        return self._counter

    def _finished(self) -> _core.WordCounter:
        if self._counted is None:
            self._counted = self._open().finish()
            self._counter = None
        return self._counted

    def counter(self) -> _core.WordCounter:
        """The engine's counts, to learn from. After that, no more texts can be counted."""
        return self._finished()

    @property
    def room(self) -> int | None:
        """The number of bytes that learning from the counts can use; None without a limit."""
        return room(self._max_memory)

    def words(self, order: Order = "first_seen", progress: Report | None = None) -> _core.Words:
        """The words in an order: by first occurrence, by frequency (ties by bytes), or by their bytes.

        After that, no more texts can be counted.
        """
        return self._finished().words(order, progress)

    @property
    def kind(self) -> str:
        """The kinds that can be trained from them."""
        return "bpe, wordpiece or longest-match"

    @property
    def description(self) -> dict[str, Any]:
        """What is counted, as a JSON value."""
        steps = {
            "normalize": self.normalize,
            "split": self.split,
            "special_tokens": tuple(token.decode("latin-1") for token in self.special_tokens),
        }
        return {name: to_plain(list(value), bytes.hex) for name, value in steps.items()}

    def save(self, path: str | os.PathLike[str], *, progress: Report | None = None) -> None:
        """Write a file of the counts, completely or not at all.

        >>> import tempfile
        >>> counts = Counts(split=r"\\w+")
        >>> counts.push([b"to be"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     counts.save(f"{folder}/counts")
        ...     Counts.load(f"{folder}/counts").words().to_list()
        [(b'to', 1), (b'be', 1)]
        """
        with open_replacement(Path(path)) as file:
            self._finished().write(json.dumps(self.description, sort_keys=True), file, progress)

    @classmethod
    def load(
        cls,
        *paths: str | os.PathLike[str],
        max_memory: int | None = None,
        threads: int | None = None,
        progress: Report | None = None,
    ) -> Counts:
        """Read and add up files of counts of the same kind, as if their texts had been counted in turn.

        Raises `FormatError` if one is damaged, `ArgumentError` if they do not count the same thing.
        """
        if not paths:
            raise ArgumentError("name a file of counts")
        counts = _like(Path(paths[0]), max_memory, threads)
        for path in paths:
            counts.add_file(path, progress=progress)
        return counts

    def add_file(self, path: str | os.PathLike[str], *, progress: Report | None = None) -> None:
        """Add the counts of a file, after all earlier ones."""
        self._check(_description(Path(path)), f"{path} counts other words")
        counted = self._finished()
        with _opened(Path(path)) as file:
            _named(path, lambda: counted.read(file, progress))

    def _check(self, there: Any, said: str) -> None:
        here = self.description
        if there == here:
            return
        plain = there if isinstance(there, dict) else {}
        differing = sorted(name for name in here.keys() | plain.keys() if here.get(name) != plain.get(name))
        raise ArgumentError(f"{said}: {', '.join(differing)} {'is' if len(differing) == 1 else 'are'} not the same")

    def merge(self, other: Counts, *, progress: Report | None = None) -> None:
        """Add the counts of another object, after all earlier ones."""
        self._check(other.description, "the two count other words")
        with tempfile.TemporaryFile() as file:
            other._finished().write("", file, progress)
            file.seek(0)
            self._finished().read(file, progress)


def is_counts(path: os.PathLike[str]) -> bool:
    """Whether a file begins like a file of counts."""
    if not os.path.isfile(path):  # a pipe cannot be read twice
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(COUNTS)) == COUNTS
    except OSError:
        return False


def _opened(path: Path) -> Any:
    try:
        return open(path, "rb")
    except OSError as error:
        raise FileError(error.errno, f"cannot read the counts: {error.strerror}", str(path)) from error


def _named(path: str | os.PathLike[str], read: Callable[[], str]) -> str:
    try:
        return read()
    except FormatError as error:
        raise FormatError(f"{os.fspath(path)}: {error}") from error


def _description(path: Path) -> Any:
    """The description in a file's header."""
    with _opened(path) as file:
        text = _named(path, lambda: _core.counts_description(file))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: its description is no JSON that can be read: {error}") from error


def _like(path: Path, max_memory: int | None, threads: int | None) -> Counts:
    """Empty counts of what a file counts."""
    plain = _description(path)
    if isinstance(plain, dict) and "model" in plain:
        from .sentencepiece.counts import SentenceCounts

        try:
            return SentenceCounts(plain["model"], plain, max_memory=max_memory, threads=threads)
        except (ArgumentError, TypeError) as error:
            raise FormatError(f"{path}: its description is none of counted words: {error}") from error
    described = _described(path, plain)
    try:
        counts = Counts(**described, max_memory=max_memory, threads=threads)
        counts.description  # noqa: B018 - an invalid step is detected here at the latest
    except (ArgumentError, SpecError, AttributeError, TypeError, RecursionError) as error:
        raise FormatError(f"{path}: its description is none of counted words: {error}") from error
    return counts


def _described(path: Path, plain: Any) -> dict[str, Any]:
    """The arguments of `Counts` in a file's description."""
    try:
        described = {name: from_plain(plain[name], bytes.fromhex) for name in ("normalize", "split", "special_tokens")}
        described["special_tokens"] = [token.encode("latin-1") for token in described["special_tokens"]]
    except (FormatError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(f"{path}: its description is none of counted words: {error}") from error
    return described
