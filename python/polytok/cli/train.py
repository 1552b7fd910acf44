"""``polytok train``: a vocabulary of every kind, from texts or from counts."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..formats import FORMATS
from ..spec import Spec
from ..tokenizer import Tokenizer
from ..train import KINDS, TrainingReport, kind_named, specs
from . import kind_options, training

_EXAMPLES = """\
  polytok train corpus/*.txt --vocab-size 8000 -o tokenizer.json
  polytok train corpus.jsonl.gz --field content --kind sentencepiece-unigram --vocab-size 32000 -o my.model
  polytok train counts --vocab-size 8000,16000 -o 'vocabulary-{size}.tiktoken'
  polytok train --kind bpe --help
"""


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = training.add_verb(verbs, "train", "make a vocabulary of texts, or of counted words", _EXAMPLES)
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
        choices=[known.name for known in FORMATS if known.name != "bpe_files"],
        help="its format, if the name of OUT does not tell; one for each OUT, or for all",
    )
    parser.add_argument("--strict", action="store_true", help="fail if a format cannot carry all of it")
    parser.add_argument("--verbose", action="store_true", help="show each step, as minbpe does")
    parser.set_defaults(run=run, prepare=kind_options.add_asked)


def run(arguments: argparse.Namespace) -> int:
    """Train, then write."""
    formats = _formats(arguments)
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
            **_options(arguments),
        )
    training.tell(report)
    for spec in trained:
        _write(arguments, spec, formats, several=len(trained) > 1)
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


def _formats(arguments: argparse.Namespace) -> list[str | None]:
    """The format of each output, where it was said; checked before the work."""
    formats: list[str | None] = arguments.to or [None]
    if len(formats) == 1:
        formats = formats * len(arguments.out)
    if len(formats) != len(arguments.out):
        raise ArgumentError(
            f"{len(arguments.out)} outputs and {len(formats)} formats: give one format for each, or one"
        )
    if isinstance(arguments.vocab_size, list) and not all("{size}" in name for name in arguments.out):
        raise ArgumentError("several sizes need {size} in the name of OUT")
    for name in arguments.out:
        folder = Path(name).parent
        if not folder.is_dir():
            raise ArgumentError(f"{name}: there is no folder {folder}")
    return formats


def _write(arguments: argparse.Namespace, spec: Spec, formats: list[str | None], *, several: bool) -> None:
    tokenizer = Tokenizer(spec)
    for name, format in zip(arguments.out, formats, strict=True):
        path = name.replace("{size}", str(tokenizer.vocab_size)) if several or "{size}" in name else name
        losses = tokenizer.save(path, format, strict=arguments.strict)
        print(f"{path}: {tokenizer.vocab_size} entries")
        for loss in losses:
            print(f"  not in the file: {loss}")


def _sizes(text: str) -> int | list[int]:
    sizes = [int(part) for part in text.split(",")]
    return sizes[0] if len(sizes) == 1 else sizes
