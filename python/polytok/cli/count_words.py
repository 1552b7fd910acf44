"""``polytok count-words``: counts the words of texts, so that several trainings can use the counts."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from .. import corpus
from ..corpus.run import RUNNERS
from ..errors import ArgumentError
from ..progress import ReportProgress, progress_function
from ..reading import InputOptions
from ..training import KINDS, Counts, TrainingReport, count_words
from . import inputs, kind_options, training
from .json_output import add_json_option, print_json
from .options import add_verb_parser, shows_progress
from .outputs import OUTPUT_HELP, check_outputs

_EXAMPLES = """\
  polytok count-words part1/*.jsonl.zst --kind bpe --pattern cl100k -o counts1
  polytok count-words corpus/*.jsonl --kind wordpiece --workers 8 -o counts
  polytok count-words --merge counts1 counts2 -o counts
  polytok train counts --vocab-size 8000 -o tokenizer.json
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``count-words`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "count-words", "count the words of texts, to train from the counts", _EXAMPLES)
    training.add_input_options(parser)
    parser.add_argument(
        "--kind",
        choices=[kind.name for kind in KINDS],
        default="bpe",
        help="the kind of vocabulary to train; by default bpe",
    )
    group = parser.add_argument_group("many processes")
    group.add_argument(
        "--workers", type=int, metavar="N", help="count in N processes; if interrupted, the same command continues"
    )
    group.add_argument("--runner", choices=list(RUNNERS), help="run in processes of this machine, or on Ray")
    group.add_argument(
        "--overwrite",
        action="store_true",
        help="replace an existing file, and delete the files of an interrupted count",
    )
    parser.add_argument("--merge", action="store_true", help="the inputs are files of counts: add the counts up")
    parser.add_argument("-o", "--out", required=True, metavar="COUNTS", help=OUTPUT_HELP)
    add_json_option(parser)
    parser.set_defaults(run=run, add_dependent_options=kind_options.add_counting_options)


def run(arguments: argparse.Namespace) -> int:
    """Counts words or adds up files of counts, then writes the result. Returns exit code 0."""
    if not os.path.exists(f"{arguments.out}.parts"):  # an interrupted count was checked when it began
        check_outputs(arguments, [arguments.out])
    if arguments.workers is not None or arguments.runner is not None:
        report = _count_in_tasks(arguments)
    else:
        report = _count_here(arguments)
    if arguments.json:
        print_json({"path": arguments.out, **training.report_to_json(report)})
    else:
        training.print_report(report)
    return 0


def _count_here(arguments: argparse.Namespace) -> TrainingReport:
    """Writes the counts in this process, and returns the report of the texts that were read."""
    report = TrainingReport()
    with progress_function(shows_progress(arguments)) as progress:
        counts = _merge_counts(arguments, progress) if arguments.merge else _count_texts(arguments, progress, report)
        counts.save(arguments.out, progress=progress)
    return report


def _count_in_tasks(arguments: argparse.Namespace) -> TrainingReport:
    if arguments.merge:
        raise ArgumentError("--merge adds up files of counts in one process; remove --workers and --runner")
    if arguments.text:
        raise ArgumentError("an interrupted count reads its inputs again; remove --text or --workers")
    if arguments.threads is not None:
        raise ArgumentError("each process of --workers has one thread; remove --threads")
    return corpus.count_words(
        inputs.required_input_names(arguments),
        arguments.kind,
        arguments.out,
        input_options=inputs.parse_input_options(arguments),
        workers=arguments.workers,
        runner=arguments.runner or "local",
        max_memory=arguments.max_memory,
        overwrite=arguments.overwrite,
        progress=shows_progress(arguments),
        **kind_options.chosen_options(arguments),
    )


def _merge_counts(arguments: argparse.Namespace, progress: ReportProgress | None) -> Counts:
    if options := kind_options.chosen_options(arguments):
        raise ArgumentError(
            f"--merge adds up files of counts and accepts no options of counting; remove {', '.join(options)}"
        )
    if inputs.parse_input_options(arguments) != InputOptions() or arguments.text:
        raise ArgumentError("--merge adds up files of counts and reads no texts; remove the options of reading")
    paths = [Path(name) for name in arguments.inputs]
    return Counts.load(*paths, max_memory=arguments.max_memory, threads=arguments.threads, progress=progress)


def _count_texts(arguments: argparse.Namespace, progress: ReportProgress | None, report: TrainingReport) -> Counts:
    return count_words(
        training.open_inputs(arguments),
        arguments.kind,
        input_options=inputs.parse_input_options(arguments),
        progress=progress or False,
        report=report,
        max_memory=arguments.max_memory,
        threads=arguments.threads,
        **kind_options.chosen_options(arguments),
    )
