"""``polytok count-words``: counts the words of texts once; the counts can be added up and trained from."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from .. import corpus
from ..corpus.run import RUNNERS
from ..errors import ArgumentError
from ..progress import ProgressBar
from ..training import KINDS, Counts, TrainingReport, count_words
from . import kind_options, training
from . import reading as reading_options
from .options import add_plain_verb

_EXAMPLES = """\
  polytok count-words part1/*.jsonl.zst --kind bpe --pattern cl100k -o counts1
  polytok count-words corpus/*.jsonl --kind wordpiece --workers 8 -o counts
  polytok count-words --merge counts1 counts2 -o counts
  polytok train counts --vocab-size 32000 -o tokenizer.json
"""


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = add_plain_verb(verbs, "count-words", "count the words of texts, to train from them", _EXAMPLES)
    training.add_reading(parser)
    parser.add_argument(
        "--kind", choices=[kind.name for kind in KINDS], default="bpe", help="what is to be trained; by default bpe"
    )
    group = parser.add_argument_group("many processes")
    group.add_argument(
        "--workers", type=int, metavar="N", help="count in so many processes, which goes on if interrupted"
    )
    group.add_argument("--runner", choices=list(RUNNERS), help="who does it: processes of this machine, or Ray")
    group.add_argument("--overwrite", action="store_true", help="throw away what an interrupted count has left")
    parser.add_argument("--merge", action="store_true", help="the inputs are files of counts: add them up")
    parser.add_argument("-o", "--out", required=True, metavar="COUNTS", help="the file to write, which is replaced")
    parser.set_defaults(run=run, prepare=kind_options.add_counted)


def run(arguments: argparse.Namespace) -> int:
    """Count or add up, then write."""
    if arguments.workers is not None or arguments.runner is not None:
        return _counted_in_tasks(arguments)
    with training.bar(arguments) or nullcontext() as progress:
        counts = _merged(arguments, progress) if arguments.merge else _counted(arguments, progress)
        counts.save(arguments.out, progress=progress)
    return 0


def _counted_in_tasks(arguments: argparse.Namespace) -> int:
    if arguments.merge:
        raise ArgumentError("--merge adds up what was counted, in one process: leave --workers and --runner out")
    if arguments.threads is not None:
        raise ArgumentError("processes have a thread each: leave --threads out")
    report = corpus.count_words(
        reading_options.names(arguments),
        arguments.kind,
        arguments.out,
        reading=training.reading(arguments),
        workers=arguments.workers,
        runner=arguments.runner or "local",
        max_memory=arguments.max_memory,
        overwrite=arguments.overwrite,
        progress=sys.stderr.isatty() and not arguments.quiet,
        **kind_options.chosen(arguments),
    )
    training.tell(report)
    return 0


def _merged(arguments: argparse.Namespace, progress: ProgressBar | None) -> Counts:
    if options := kind_options.chosen(arguments):
        raise ArgumentError(f"--merge adds up what was counted: leave {', '.join(options)} out")
    if training.reading(arguments) is not None:
        raise ArgumentError("--merge adds up what was counted, and reads no texts: leave the options of reading out")
    paths = [Path(name) for name in arguments.inputs]
    return Counts.load(*paths, max_memory=arguments.max_memory, threads=arguments.threads, progress=progress)


def _counted(arguments: argparse.Namespace, progress: ProgressBar | None) -> Counts:
    report = TrainingReport()
    counts = count_words(
        training.inputs(arguments),
        arguments.kind,
        reading=training.reading(arguments),
        progress=progress or False,
        report=report,
        max_memory=arguments.max_memory,
        threads=arguments.threads,
        **kind_options.chosen(arguments),
    )
    training.tell(report)
    return counts
