"""The functions that train a tokenizer or count words, from any inputs."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ..checked import checked
from ..errors import ArgumentError
from ..keywords import keyword
from ..progress import ReportProgress, progress_function
from ..reading import InputOptions, split_keywords
from ..resources import checked_memory
from ..spec import Spec
from ..suggestions import did_you_mean
from ..tokenizer import Tokenizer
from .base import KindName, kind_named
from .counting import Counts, is_counts
from .feeding import TrainingWarning, feed
from .inputs import Inputs, TrainingReport, paths_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keywords import CountingKeywords, SizedKeywords, TrainingKeywords

# A vocabulary size for trainers that only count words. The size does not affect the counts.
_PLACEHOLDER_SIZE = 2**16


@checked(report=TrainingReport)
def train(
    inputs: Inputs | Counts,
    kind: KindName = "bpe",
    *,
    vocab_size: int,
    input_options: InputOptions | None = None,
    max_memory: int | str | None = None,
    threads: int | None = None,
    progress: bool | ReportProgress = False,
    report: TrainingReport | None = None,
    **options: Unpack[TrainingKeywords],
) -> Tokenizer:
    """Trains a tokenizer.

    ``inputs`` is a path, a pattern of paths (``"corpus/*.jsonl.zst"``), `Counts`, or an iterable. The items of an
    iterable are texts (str or bytes), `pathlib.Path`, open files, records with a field, or lists of such items. An
    iterable is read only once. ``options`` are the fields of
    `InputOptions`, which can also be passed together as ``input_options``, and the options of the kind's trainer
    (docs/training.md).

    ``max_memory`` limits the memory for counts, in bytes or as a text such as "512M"; counts that exceed the limit are
    stored in files. The result depends neither on ``max_memory`` nor on ``threads``. ``progress`` is True for a bar on
    standard error, or a function that is called with the stage, the amount done and the total. ``report`` receives the
    skipped texts, and a note if the vocabulary is smaller than requested; without a report, each of these causes a
    `TrainingWarning`.

    Raises `ArgumentError` for invalid options and for texts that do not allow the requested size, `FileError` for files
    that cannot be read, and `FormatError` or `EncodeError` for texts that the options of reading do not allow.

    >>> import polytok
    >>> tokenizer = polytok.train(["low lower lowest", "new newer newest"], kind="bpe", vocab_size=265)
    >>> [token.piece.decode() for token in tokenizer.tokens("lower")]
    ['lo', 'wer']
    """
    trained_specs = specs(
        inputs,
        kind,
        vocab_size=vocab_size,
        input_options=input_options,
        max_memory=max_memory,
        threads=threads,
        progress=progress,
        report=report,
        **options,
    )
    if len(trained_specs) != 1:
        raise ArgumentError("train returns one tokenizer: for several sizes, use polytok.training.specs")
    return Tokenizer(trained_specs[0])


@checked(report=TrainingReport)
def specs(
    inputs: Inputs | Counts,
    kind: KindName = "bpe",
    *,
    input_options: InputOptions | None = None,
    max_memory: int | str | None = None,
    threads: int | None = None,
    progress: bool | ReportProgress = False,
    report: TrainingReport | None = None,
    **options: Unpack[SizedKeywords],
) -> list[Spec]:
    """Trains vocabularies as `train` does, and returns the Specs of all sizes in ``vocab_size``."""
    selected_kind = kind_named(kind)
    resources: dict[str, Any] = {"max_memory": checked_memory(max_memory), "threads": threads}
    counts = _load_counts(inputs, resources)
    read_options, trainer_options = split_keywords(input_options, options)
    if counts is not None:
        _check_no_input_options(read_options)
        resources["counts"] = counts
    read_options = options_of_reading(kind, read_options, trainer_options)
    trainer = selected_kind.create_trainer(trainer_options, resources)
    with progress_function(progress) as report_progress:
        if not isinstance(inputs, Counts) and counts is None:
            feed(trainer, inputs, read_options, report, report_progress, resources["max_memory"])
        result = trainer.finish(report_progress)
    _report_notes(getattr(trainer, "notes", []), report)
    return result if isinstance(result, list) else [result]


@checked(report=TrainingReport)
def count_words(
    inputs: Inputs,
    kind: KindName | None = None,
    *,
    input_options: InputOptions | None = None,
    max_memory: int | str | None = None,
    threads: int | None = None,
    progress: bool | ReportProgress = False,
    report: TrainingReport | None = None,
    **options: Unpack[CountingKeywords],
) -> Counts:
    """Counts the words of texts. The counts can be saved, merged with other counts, and used for training.

    With a ``kind``, ``options`` are those options of the kind that define its words. Without a kind, ``options`` are
    the options of `Counts`. The fields of `InputOptions` are options, too. The other arguments are as in `train`.

    Raises `ArgumentError` for invalid options, `FileError` for files that cannot be read, and `FormatError` or
    `EncodeError` for texts that the options of reading do not allow.

    >>> import polytok
    >>> counts = polytok.count_words(["to be", "or not to be"], split=r"\\w+")
    >>> counts.words("most_frequent").to_list()
    [(b'be', 2), (b'to', 2), (b'not', 1), (b'or', 1)]
    """
    resources: dict[str, Any] = {"max_memory": checked_memory(max_memory), "threads": threads}
    read_options, counting_options = split_keywords(input_options, options)
    read_options = options_of_reading(kind, read_options, counting_options)
    trainer, counts = create_text_receiver(kind, counting_options, resources)
    with progress_function(progress) as report_progress:
        feed(trainer, inputs, read_options, report, report_progress, resources["max_memory"])
    return counts


def options_of_reading(kind: str | None, input_options: InputOptions, options: Mapping[str, Any]) -> InputOptions:
    """Returns the options of reading with the default of the kind: for Unigram, each line of a text file is a text.

    SentencePiece reads lines. A whole file without spaces would be a word that is too long for Unigram's sums.
    """
    if kind == "unigram" and input_options.is_whole_file and "sentences" not in options:
        return replace(input_options, lines=True)
    return input_options


def create_text_receiver(kind: str | None, options: dict[str, Any], resources: dict[str, Any]) -> tuple[Any, Counts]:
    """Returns the object that receives texts, and its counts. The object is a trainer, or the counts themselves.

    Raises `ArgumentError` for an option that does not define the counted words.
    """
    if kind is None:
        option_names = frozenset(inspect.signature(Counts).parameters.keys() - resources.keys())
        _refuse_other_options("counting without a kind", options, option_names)
        counts = Counts(**options, **resources)
        return counts, counts
    selected_kind = kind_named(kind)
    option_names = selected_kind.counted()
    training_options = {parameter.name for parameter in selected_kind.options()}
    _refuse_other_options(f"counting words for {keyword('kind', kind)}", options, option_names, training_options)
    trainer: Any = selected_kind.create_trainer({"vocab_size": _PLACEHOLDER_SIZE, **options}, resources)
    return trainer, trainer.counts


def _refuse_other_options(
    action: str, options: Mapping[str, Any], option_names: Collection[str], training_options: Collection[str] = ()
) -> None:
    """Raises `ArgumentError` if there are options that an action does not have.

    An option of ``training_options`` is not misspelt, so nothing is suggested for it.
    """
    if unknown_names := sorted(options.keys() - option_names):
        name = unknown_names[0]
        suggestion = "" if name in training_options else did_you_mean(name, option_names)
        advice = suggestion or f"; the options are {', '.join(map(keyword, sorted(option_names)))}"
        raise ArgumentError(f"{action} has no option {', '.join(map(keyword, unknown_names))}{advice}")


def _load_counts(inputs: Inputs | Counts, resources: dict[str, Any]) -> Counts | None:
    """Returns the counts if the inputs are `Counts` or files of counts, else None.

    Raises `ArgumentError` for files of counts together with files of texts.
    """
    if isinstance(inputs, Counts):
        return inputs
    paths = paths_of(inputs) or []
    is_counts_file = [is_counts(path) for path in paths]
    if not any(is_counts_file):
        return None
    if not all(is_counts_file):
        raise ArgumentError("the inputs mix files of counts and files of texts: count the words of the texts first")
    return Counts.load(*paths, **resources)


def _check_no_input_options(input_options: InputOptions) -> None:
    for name, default in asdict(InputOptions()).items():
        if getattr(input_options, name) != default:
            raise ArgumentError(
                f"{keyword(f'{name}=')} has an effect only on texts, but the inputs are counts: remove {name}"
            )


def _report_notes(notes: list[str], report: TrainingReport | None) -> None:
    """Adds the notes of a trainer to the report; without a report, each note causes a `TrainingWarning`."""
    if report is not None:
        report.notes += notes
        return
    for note in notes:
        warnings.warn(note, TrainingWarning, stacklevel=4)
