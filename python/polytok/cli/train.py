"""``polytok train``: trains a vocabulary of any kind, from texts or from counts."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..conversion import write
from ..errors import ArgumentError
from ..files import save_all
from ..formats import all_formats
from ..spec import Spec
from ..tokenizer import Tokenizer
from ..training import KINDS, TrainingReport, kind_named, specs
from . import kind_options, targets, training
from .options import add_plain_verb

_EXAMPLES = """\
  polytok train corpus/*.txt --vocab-size 8000 -o tokenizer.json
  polytok train corpus.jsonl.gz --field content --kind sentencepiece-unigram --vocab-size 32000 -o my.model
  polytok train counts --vocab-size 8000,16000 -o 'vocabulary-{size}.tiktoken'
  polytok train --kind bpe --help
"""


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = add_plain_verb(verbs, "train", "make a vocabulary of texts, or of counted words", _EXAMPLES)
    training.add_reading(parser)
    parser.add_argument(
        "--kind",
        choices=[kind.name for kind in KINDS],
        default="bpe",
        help="by default bpe; each has options of its own",
    )
    parser.add_argument(
        "--vocab-size", type=_sizes, metavar="N", help="how many entries; N,M for several sizes at once"
    )
    parser.add_argument(
        "-o", "--out", action="append", required=True, metavar="OUT", help="the file to write, which is replaced"
    )
    parser.add_argument(
        "--to",
        action="append",
        choices=[known.name for known in all_formats() if known.name != "bpe_files"],
        help="its format, if the name of OUT does not tell; one for each OUT, or for all",
    )
    parser.add_argument("--strict", action="store_true", help="fail if a format cannot carry all of it")
    parser.add_argument("--verbose", action="store_true", help="show each step, as minbpe does")
    parser.set_defaults(run=run, prepare=kind_options.add_asked)


def run(arguments: argparse.Namespace) -> int:
    """Train, then write."""
    options = _options(arguments)
    wanted = _targets(arguments, options)
    report = TrainingReport()
    with training.bar(arguments) or nullcontext() as progress:
        trained = specs(
            training.inputs(arguments),
            arguments.kind,
            reading=training.reading(arguments),
            max_memory=arguments.max_memory,
            threads=arguments.threads,
            progress=progress or False,
            report=report,
            **options,
        )
    training.tell(report)
    _write(wanted, trained, strict=arguments.strict)
    return 0


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    options = kind_options.chosen(arguments)
    known = {parameter.name for parameter in kind_named(arguments.kind).options()}
    if arguments.vocab_size is not None:
        options["vocab_size"] = arguments.vocab_size
    if arguments.verbose:
        if "verbose" not in known:
            raise ArgumentError(f"kind {arguments.kind} has no steps to show: leave --verbose out")
        options["verbose"] = print
    return options


def _targets(arguments: argparse.Namespace, options: dict[str, Any]) -> list[tuple[str, str]]:
    """Each output with its format; checked before training begins."""
    if isinstance(arguments.vocab_size, list) and not all("{size}" in name for name in arguments.out):
        raise ArgumentError("several sizes need {size} in the name of OUT")
    formats = targets.formats(arguments.out, arguments.to or (), arguments.kind, options)
    return list(zip(arguments.out, formats, strict=True))


def _write(wanted: list[tuple[str, str]], trained: list[Spec], *, strict: bool) -> None:
    """Write all files, or none if one of them cannot be written."""
    files = []
    for tokenizer in map(Tokenizer, trained):
        for name, format in wanted:
            path = Path(name.replace("{size}", str(tokenizer.vocab_size)))
            files.append((path, tokenizer.vocab_size, write(tokenizer.spec, format, strict=strict)))
    for path, size, written in files:
        save_all(path, written.data, written.companions)
        print(f"{path}: {size} entries")
        for loss in written.losses:
            print(f"  not in the file: {loss}")


def _sizes(text: str) -> int | list[int]:
    try:
        sizes = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write 32000, or 16000,32000 for several") from error
    return sizes[0] if len(sizes) == 1 else sizes
