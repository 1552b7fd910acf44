"""``polytok train``: trains a vocabulary of any kind, from texts or from counted words."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ..convert import convert
from ..errors import ArgumentError, LossError
from ..spec import Spec
from ..tokenizer import Tokenizer
from ..training import KINDS, TrainingReport, kind_named, specs
from ..values import FormatName
from . import kind_options, targets, training
from .inputs import parse_input_options
from .json_output import add_json_option, print_json
from .options import add_verb_parser, shows_progress
from .outputs import OUTPUT_HELP, NewFile, add_overwrite_option, check_outputs, format_names, save_files
from .trained_file import TrainedFile

_EXAMPLES = """\
  polytok train corpus/*.txt --vocab-size 8000 -o tokenizer.json
  polytok train corpus.jsonl.gz --field content --kind unigram --vocab-size 8000 -o my.model
  polytok train counts --vocab-size 8000,16000 -o 'vocabulary-{size}.tiktoken'
  polytok train --kind bpe --help
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``train`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "train", "train a vocabulary from texts or from counted words", _EXAMPLES)
    training.add_input_options(parser)
    parser.add_argument(
        "--kind",
        choices=[kind.name for kind in KINDS],
        default="bpe",
        help="the kind of vocabulary, by default bpe; `--kind KIND --help` lists the options of a kind",
    )
    parser.add_argument(
        "--vocab-size", type=_parse_sizes, metavar="N", help="the number of entries; N,M trains several sizes together"
    )
    parser.add_argument(
        "-o",
        "--out",
        action="append",
        required=True,
        metavar="OUT",
        help=f"{OUTPUT_HELP} (can be repeated)",
    )
    add_overwrite_option(parser)
    parser.add_argument(
        "--to",
        action="append",
        choices=format_names(),
        help="the format of OUT, by default chosen by its name; one format for each OUT, or one for all",
    )
    parser.add_argument(
        "--strict", action="store_true", help="write nothing if a format loses data or any text gets different ids"
    )
    parser.add_argument("--verbose", action="store_true", help="with --kind bpe, print each merge, as minbpe does")
    add_json_option(parser)
    parser.set_defaults(run=run, add_dependent_options=kind_options.add_training_options)


def run(arguments: argparse.Namespace) -> int:
    """Trains, writes the files, and compares them with what was trained.

    Returns exit code 1 if a text gets different ids in a file or ``--strict`` prevented writing, else 0.
    """
    options = _training_options(arguments)
    outputs = _output_formats(arguments, options)
    check_outputs(arguments, _output_names(arguments))
    report = TrainingReport()
    trained_specs = specs(
        training.open_inputs(arguments),
        arguments.kind,
        input_options=parse_input_options(arguments),
        max_memory=arguments.max_memory,
        threads=arguments.threads,
        progress=shows_progress(arguments),
        report=report,
        **options,
    )
    training.print_report(report)
    # With --json, a refusal is a report too; otherwise it is an error with the losses.
    files = _convert_all(outputs, trained_specs, strict=arguments.strict and not arguments.json)
    is_write_refused = arguments.strict and not all(file.conversion.keeps_everything for file in files)
    if not is_write_refused:
        save_files(arguments, [NewFile(file.path, file.conversion.data, file.conversion.companions) for file in files])
    if arguments.json:
        print_json({"files": [{**file.to_json(), "written": not is_write_refused} for file in files]})
    else:
        print("\n".join(line for file in files for line in file.lines()))
    return 1 if is_write_refused or not all(file.has_same_ids for file in files) else 0


def _training_options(arguments: argparse.Namespace) -> dict[str, Any]:
    options = kind_options.chosen_options(arguments)
    option_names = {parameter.name for parameter in kind_named(arguments.kind).options()}
    if arguments.vocab_size is not None:
        options["vocab_size"] = arguments.vocab_size
    if arguments.verbose:
        if "verbose" not in option_names:
            raise ArgumentError(f"kind {arguments.kind} has no steps to print: remove --verbose")
        if arguments.json:
            raise ArgumentError("--verbose and --json print two reports: remove one of them")
        options["verbose"] = print
    return options


def _output_formats(arguments: argparse.Namespace, options: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns pairs of the name and format of each output. Raises `ArgumentError` for an impossible output."""
    if isinstance(arguments.vocab_size, list) and not all("{size}" in name for name in arguments.out):
        raise ArgumentError("several sizes need {size} in the name of OUT")
    formats = targets.choose_formats(arguments.out, arguments.to or (), arguments.kind, options)
    return list(zip(arguments.out, formats, strict=True))


def _output_names(arguments: argparse.Namespace) -> Iterator[str]:
    """Yields the names of all files to write, as far as the sizes in the names are known before training."""
    sizes = arguments.vocab_size if isinstance(arguments.vocab_size, list) else [arguments.vocab_size]
    for name in arguments.out:
        yield from (name.replace("{size}", str(size)) for size in (sizes if "{size}" in name else sizes[:1]))


def _convert_all(outputs: list[tuple[str, str]], trained_specs: list[Spec], *, strict: bool) -> list[TrainedFile]:
    """Converts all Specs to the formats; with ``strict``, raises `LossError` for any loss."""
    return [
        _convert(tokenizer, format, Path(name.replace("{size}", str(tokenizer.vocab_size))), strict=strict)
        for tokenizer in map(Tokenizer, trained_specs)
        for name, format in outputs
    ]


def _convert(tokenizer: Tokenizer, format: str, path: Path, *, strict: bool) -> TrainedFile:
    file = TrainedFile(path, tokenizer, convert(tokenizer, cast("FormatName", format), strict=strict, path=path))
    if strict and not file.conversion.keeps_everything:
        raise LossError("\n".join(file.lines()))
    return file


def _parse_sizes(text: str) -> int | list[int]:
    try:
        sizes = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write 32000, or 16000,32000 for several") from error
    return sizes[0] if len(sizes) == 1 else sizes
