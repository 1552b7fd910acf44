"""Converts inputs to a tokenizer, or to counts."""

from __future__ import annotations

import inspect
import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from ..errors import ArgumentError
from ..progress import ProgressBar, Report
from ..reading import Reading
from ..resources import checked_memory
from ..spec import Spec
from ..tokenizer import Tokenizer
from .base import kind_named
from .counting import Counts, is_counts
from .feeding import TrainingWarning, feed
from .inputs import Inputs, TrainingReport, paths_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import CountingKeywords, SizedKeywords, TrainingKeywords

# Counts are the same for every size.
_ANY_SIZE = 2**16


def train(
    inputs: Inputs | Counts,
    kind: str = "bpe",
    *,
    vocab_size: int,
    reading: Reading | None = None,
    max_memory: int | str | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
    report: TrainingReport | None = None,
    **options: Unpack[TrainingKeywords],
) -> Tokenizer:
    """Train a tokenizer.

    ``inputs`` is a path or a pattern of paths (``"corpus/*.jsonl.zst"``), or any iterable, which is read once, of texts
    (str or bytes), `pathlib.Path`, open files, records with a field, and lists of all these; or `Counts`. ``reading``
    has the options for reading files, ``options`` are those of the kind's trainer (docs/training.md).

    With ``max_memory`` (bytes, or a text like "512M") counts that need more go to disk. The result is the same, and it
    is the same for any number of ``threads``. ``progress`` is True for a bar on standard error, or a function that
    receives (stage, done, of). The ``report`` lists skipped texts and a vocabulary smaller than requested; without a
    report, these become a `TrainingWarning`.

    >>> import polytok
    >>> tokenizer = polytok.train(["low lower lowest", "new newer newest"], kind="bpe", vocab_size=265)
    >>> [token.piece.decode() for token in tokenizer.tokens("lower")]
    ['lo', 'wer']
    """
    trained = specs(
        inputs,
        kind,
        vocab_size=vocab_size,
        reading=reading,
        max_memory=max_memory,
        threads=threads,
        progress=progress,
        report=report,
        **options,
    )
    if len(trained) != 1:
        raise ArgumentError("several sizes are several tokenizers: polytok.training.specs gives them all")
    return Tokenizer(trained[0])


def specs(
    inputs: Inputs | Counts,
    kind: str = "bpe",
    *,
    reading: Reading | None = None,
    max_memory: int | str | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
    report: TrainingReport | None = None,
    **options: Unpack[SizedKeywords],
) -> list[Spec]:
    """As `train`, but returns the Specs of all sizes, for kinds that accept several."""
    chosen = kind_named(kind)
    resources: dict[str, Any] = {"max_memory": checked_memory(max_memory), "threads": threads}
    counts = _counts(inputs, resources)
    if counts is not None:
        if reading is not None:
            raise ArgumentError("reading says how texts are read, and counts are no texts: leave it out")
        resources["counts"] = counts
    trainer = chosen.make(cast("dict[str, Any]", options), resources)
    with _shown(progress) as told:
        if not isinstance(inputs, Counts) and counts is None:
            feed(trainer, inputs, reading, report, told, resources["max_memory"])
        found = trainer.finish(told)
    _note(getattr(trainer, "notes", []), report)
    return found if isinstance(found, list) else [found]


def count_words(
    inputs: Inputs,
    kind: str | None = None,
    *,
    reading: Reading | None = None,
    max_memory: int | str | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
    report: TrainingReport | None = None,
    **options: Unpack[CountingKeywords],
) -> Counts:
    """Count the words of texts. The counts can be saved, merged with other counts, and trained from.

    With a ``kind``, words are those that its trainer would count with these ``options``, which must be the ones of its
    options that define the words. Without a kind, the options are those of `Counts`.

    >>> import polytok
    >>> counts = polytok.count_words(["to be", "or not to be"], split=r"\\w+")
    >>> counts.words("most_frequent").to_list()
    [(b'be', 2), (b'to', 2), (b'not', 1), (b'or', 1)]
    """
    resources: dict[str, Any] = {"max_memory": checked_memory(max_memory), "threads": threads}
    trainer, counts = counting(kind, cast("dict[str, Any]", options), resources)
    with _shown(progress) as told:
        feed(trainer, inputs, reading, report, told, resources["max_memory"])
    return counts


def counting(kind: str | None, options: dict[str, Any], resources: dict[str, Any]) -> tuple[Any, Counts]:
    """The object that receives the texts, and the one that counts them."""
    if kind is None:
        known = inspect.signature(Counts).parameters.keys() - resources.keys()
        if others := sorted(options.keys() - known):
            raise ArgumentError(
                f"{', '.join(others)}: without a kind what is counted is said by {', '.join(sorted(known))}"
            )
        counts = Counts(**options, **resources)
        return counts, counts
    chosen = kind_named(kind)
    counted = chosen.counted()
    if others := sorted(options.keys() - counted):
        raise ArgumentError(f"{', '.join(others)}: what is counted is said by {', '.join(sorted(counted))} alone")
    trainer: Any = chosen.make({"vocab_size": _ANY_SIZE, **options}, resources)
    return trainer, trainer.counts


def _counts(inputs: Inputs | Counts, resources: dict[str, Any]) -> Counts | None:
    """Counts, given directly or as files."""
    if isinstance(inputs, Counts):
        return inputs
    paths = paths_of(inputs) or []
    are_counts = [is_counts(path) for path in paths]
    if not any(are_counts):
        return None
    if not all(are_counts):
        raise ArgumentError("files of counts and texts do not go together: count the texts first")
    return Counts.load(*paths, **resources)


def _note(notes: list[str], report: TrainingReport | None) -> None:
    """Report what a trainer noted."""
    if report is not None:
        report.notes += notes
        return
    for note in notes:
        warnings.warn(note, TrainingWarning, stacklevel=4)


def _shown(progress: bool | Report) -> AbstractContextManager[Report | None]:
    if progress is True:
        return ProgressBar()
    return nullcontext(progress or None)
