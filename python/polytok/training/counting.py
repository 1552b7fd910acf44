"""Counts words, from which most trainers learn. Counts of several machines can be added up."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from .. import _core
from ..checked import checked_fields
from ..checks import number
from ..errors import ArgumentError, FileError, FormatError, SpecError
from ..files import open_replacement
from ..keywords import keyword
from ..plain import from_plain, to_plain
from ..progress import ReportProgress
from ..resources import processors, room
from ..spec import NormalizeStep, PatternSplit, SplitStep
from .options import check_steps

Order = Literal["first_seen", "most_frequent", "bytes"]

# Counts use at most half of the memory limit. Texts, the ordered words, and Python itself share the other half.
_MEMORY_DIVISOR = 2

COUNTS_MAGIC = b"polytok counts "
"""The first bytes of a file of counts."""


@checked_fields
class Counts:
    """The distinct words of texts, with the number of occurrences of each word.

    A text is normalized and then split into words. ``normalize`` has normalizer steps of a `polytok.Spec`. ``split`` is
    a regular expression whose matches are the words, or a sequence of split steps of a Spec; without it, each text is
    one word. ``special_tokens`` are removed from the texts first and not counted. Each run of bytes that is not UTF-8
    is a word too.

    With ``max_memory``, in bytes, counts that exceed the limit are stored in files in a temporary folder. ``threads``
    is the number of threads, by default one for each processor that the process can use. Neither changes the result.

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
        """Creates empty counts. Raises `SpecError` if a step cannot be compiled, `ArgumentError` for other values."""
        self.split: tuple[SplitStep, ...] = (
            (PatternSplit(split),) if isinstance(split, str) else check_steps("split", split or ())
        )
        self.normalize = check_steps("normalize", normalize)
        if isinstance(special_tokens, (str, bytes)) or not isinstance(special_tokens, Iterable):
            raise ArgumentError(f"{keyword('special_tokens', special_tokens)} is not a list of texts")
        self.special_tokens = tuple(
            sorted(token.encode() if isinstance(token, str) else token for token in special_tokens)
        )
        self._max_memory = max_memory
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._threads = threads
        self._text_counter: _core.TextCounter | None = None
        self._word_counter: _core.WordCounter | None = None
        self._create_counter()

    def use(self, *, max_memory: int | None, threads: int | None) -> None:
        """Sets the limits of memory and threads. Must be called before the first text is counted."""
        self._max_memory, self._threads = max_memory, threads
        self._create_counter()

    def _create_counter(self) -> None:
        special = list(self.special_tokens)
        threads = processors() if self._threads is None else number("threads", self._threads, least=1, most=1024)
        self._text_counter = _core.TextCounter(self.normalize, self.split, special, threads, self._memory_limit())

    def _memory_limit(self) -> tuple[int, str] | None:
        if self._max_memory is None:
            return None
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="polytok-", ignore_cleanup_errors=True)
        return self._max_memory // _MEMORY_DIVISOR, self._folder.name

    def push(self, texts: Sequence[bytes]) -> None:
        """Counts the words of further texts."""
        self._open_counter().push(list(texts))

    def push_part(self, part: bytes, *, is_last: bool) -> None:
        """Counts a part of a long text. The next calls must pass the remaining parts of the same text."""
        self._open_counter().push_part(part, is_last)

    @property
    def open_bytes(self) -> int:
        """The number of bytes of a text in parts that are not counted yet, because a later part can change them."""
        return self._open_counter().open_bytes

    def add(self, words: Iterable[tuple[bytes, int]]) -> None:
        """Adds words with their counts, without normalizing or splitting them. No texts can be counted afterwards.

        >>> counts = Counts()
        >>> counts.add([(b"to", 2), (b"be", 3_000_000_000), (b"to", 1)])
        >>> counts.words().to_list()
        [(b'to', 3), (b'be', 3000000000)]
        """
        self._finish_counting().add(list(words))

    def _open_counter(self) -> _core.TextCounter:
        if self._text_counter is None:
            raise ArgumentError(
                "these counts are finished and accept no more texts: count the texts with new counts, and merge both"
            )
        return self._text_counter

    def _finish_counting(self) -> _core.WordCounter:
        if self._word_counter is None:
            self._word_counter = self._open_counter().finish()
            self._text_counter = None
        return self._word_counter

    def counter(self) -> _core.WordCounter:
        """Returns the engine's counts. No texts can be counted afterwards."""
        return self._finish_counting()

    @property
    def room(self) -> int | None:
        """The number of bytes of memory that learning from the counts can use; None without a limit."""
        return room(self._max_memory)

    def words(self, order: Order = "first_seen", progress: ReportProgress | None = None) -> _core.Words:
        """Returns the words in an order: by first occurrence, by decreasing frequency, or by their bytes.

        Words of equal frequency are ordered by bytes. ``progress`` is called with the stage, the count of processed
        words and the total. No texts can be counted afterwards.
        """
        return self._finish_counting().words(order, progress)

    @property
    def kind(self) -> str:
        """The kinds of vocabularies that can be trained from the counts, for error messages."""
        return "bpe, wordpiece or longest-match"

    @property
    def description(self) -> dict[str, Any]:
        """The steps and special tokens that define the counted words, as a JSON value."""
        defining_values = {
            "normalize": self.normalize,
            "split": self.split,
            "special_tokens": tuple(token.decode("latin-1") for token in self.special_tokens),
        }
        return {name: to_plain(list(value), bytes.hex) for name, value in defining_values.items()}

    def save(self, path: str | os.PathLike[str], *, progress: ReportProgress | None = None) -> None:
        """Writes the counts to a file, completely or not at all. Raises `FileError` if it cannot be written.

        >>> import tempfile
        >>> counts = Counts(split=r"\\w+")
        >>> counts.push([b"to be"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     counts.save(f"{folder}/counts")
        ...     Counts.load(f"{folder}/counts").words().to_list()
        [(b'to', 1), (b'be', 1)]
        """
        with open_replacement(Path(path)) as file:
            self._finish_counting().write(json.dumps(self.description, sort_keys=True), file, progress)

    @classmethod
    def load(
        cls,
        *paths: str | os.PathLike[str],
        max_memory: int | None = None,
        threads: int | None = None,
        progress: ReportProgress | None = None,
    ) -> Counts:
        """Reads files of counts and adds them up.

        The result is the same as if all texts had been counted in the order of the files. Raises `FileError` if a file
        cannot be read, `FormatError` if a file is damaged, and `ArgumentError` if the files count different words.
        """
        if not paths:
            raise ArgumentError("no files to load: name at least one file of counts")
        counts = _empty_counts(Path(paths[0]), max_memory, threads)
        for path in paths:
            counts.add_file(path, progress=progress)
        return counts

    def add_file(self, path: str | os.PathLike[str], *, progress: ReportProgress | None = None) -> None:
        """Adds the counts in a file, after all words counted so far. Raises the same errors as `load`."""
        self._check_description(_read_description(Path(path)), f"{path} counts other words")
        counter = self._finish_counting()
        with _open_counts(Path(path)) as file:
            _read_with_path(path, lambda: counter.read(file, progress))

    def _check_description(self, other_description: Any, message: str) -> None:
        """Raises `ArgumentError` with ``message`` unless ``other_description`` is the description of these counts."""
        own_description = self.description
        if other_description == own_description:
            return
        other_description = other_description if isinstance(other_description, dict) else {}
        names = sorted(
            name
            for name in own_description.keys() | other_description.keys()
            if own_description.get(name) != other_description.get(name)
        )
        raise ArgumentError(f"{message}: {', '.join(names)} {'is' if len(names) == 1 else 'are'} not the same")

    def merge(self, other: Counts, *, progress: ReportProgress | None = None) -> None:
        """Adds the words of other counts, after all words counted so far.

        Raises `ArgumentError` if the other counts do not count the same words.
        """
        self._check_description(other.description, "the two objects count different words")
        with tempfile.TemporaryFile() as file:
            other._finish_counting().write("", file, progress)
            file.seek(0)
            self._finish_counting().read(file, progress)


def is_counts(path: os.PathLike[str]) -> bool:
    """Reports whether a file begins like a file of counts."""
    if not os.path.isfile(path):  # reading the first bytes of a pipe would lose them
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(COUNTS_MAGIC)) == COUNTS_MAGIC
    except OSError:
        return False


def _open_counts(path: Path) -> Any:
    try:
        return open(path, "rb")
    except OSError as error:
        raise FileError(error.errno, f"cannot read the counts: {error.strerror}", str(path)) from error


def _read_with_path(path: str | os.PathLike[str], read_counts: Callable[[], str]) -> str:
    try:
        return read_counts()
    except FormatError as error:
        raise FormatError(f"{os.fspath(path)}: {error}") from error


def _read_description(path: Path) -> Any:
    """Reads the description of the counted words in the header of a file."""
    with _open_counts(path) as file:
        text = _read_with_path(path, lambda: _core.counts_description(file))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: the description of the counted words is not valid JSON: {error}") from error


def _empty_counts(path: Path, max_memory: int | None, threads: int | None) -> Counts:
    """Returns empty counts for the words that a file counts."""
    description = _read_description(path)
    if isinstance(description, dict) and "model" in description:
        from .sentencepiece.counts import SentenceCounts

        try:
            return SentenceCounts(description["model"], description, max_memory=max_memory, threads=threads)
        except (ArgumentError, TypeError) as error:
            raise FormatError(f"{path}: invalid description of the counted words: {error}") from error
    arguments = _parse_counts_arguments(path, description)
    try:
        counts = Counts(**arguments, max_memory=max_memory, threads=threads)
        counts.description  # noqa: B018 - raises an error for an invalid step that was not detected before
    except (ArgumentError, SpecError, AttributeError, TypeError, RecursionError) as error:
        raise FormatError(f"{path}: invalid description of the counted words: {error}") from error
    return counts


def _parse_counts_arguments(path: Path, description: Any) -> dict[str, Any]:
    """Returns the keyword arguments of `Counts` for a description."""
    try:
        arguments = {
            name: from_plain(description[name], bytes.fromhex) for name in ("normalize", "split", "special_tokens")
        }
        arguments["special_tokens"] = [token.encode("latin-1") for token in arguments["special_tokens"]]
    except (FormatError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(f"{path}: invalid description of the counted words: {error}") from error
    return arguments
