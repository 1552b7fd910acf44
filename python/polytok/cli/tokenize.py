"""``polytok tokenize``: encodes files of text and writes the ids to the shards of a dataset folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from ..corpus import Report, tokenize
from ..corpus.options import DocumentOptions
from ..corpus.run import RUNNERS
from ..corpus.write import WRITERS
from ..errors import ArgumentError
from ..files import created_folder, write_error
from .inputs import add_input_options, parse_input_options, required_input_names
from .json_output import add_json_option, print_json
from .models import add_model_options, load_tokenizer, refuse_tokenizers_as_texts, take_model_of_inputs
from .options import (
    add_quiet_option,
    add_special_token_options,
    add_verb_parser,
    encode_options,
    parse_size,
    print_already_finished,
    shows_progress,
)
from .outputs import refuse_input
from .style import print_line

_JOB_OPTIONS = (
    *("bos", "eos", "min_tokens", "max_tokens", "long_documents", "shuffle", "seed"),
    *("to", "dtype", "shard_size", "documents"),
)
_EXAMPLES = """\
  polytok tokenize 'corpus/*.jsonl.zst' -m llama.model --eos -o tokens
  polytok tokenize corpus/*.txt --lines --eos '<|endoftext|>' --shuffle 10000 -o tokens
  polytok tokenize s3://bucket/*.parquet --field content --columns url --to parquet -o tokens
  polytok tokenize --files-from list.txt --workers 64 --json-log log.jsonl -o tokens

If the command is interrupted, the same command continues the work.
"""
_DEFAULT_OPTIONS = DocumentOptions()


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``tokenize`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "tokenize", "tokenize files of any size to a dataset folder", _EXAMPLES)
    add_model_options(parser)
    add_input_options(parser, ["error", "replace", "skip"], "by default an error", has_text=False)
    _add_document_options(parser)
    _add_output_options(parser)
    _add_running_options(parser)
    parser.set_defaults(run=run)


def _add_document_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("documents")
    for name, verb in (("bos", "begins"), ("eos", "ends")):
        help = f"the piece or id that {verb} each document; without PIECE, the one that the tokenizer defines"
        group.add_argument(f"--{name}", nargs="?", const="auto", type=_parse_piece, metavar="PIECE", help=help)
    add_special_token_options(group, "document")
    group.add_argument("--min-tokens", type=int, default=0, metavar="N", help="skip documents of fewer than N tokens")
    group.add_argument(
        "--max-tokens", type=int, metavar="N", help="the maximum length of a document; see --long-documents"
    )
    group.add_argument(
        "--long-documents",
        choices=["truncate", "skip", "split"],
        default=_DEFAULT_OPTIONS.long_documents,
        help="how to treat documents longer than --max-tokens; by default truncate",
    )
    group.add_argument(
        "--shuffle",
        type=_parse_shuffle,
        default=0,
        metavar="N|all",
        help="shuffle each N consecutive documents; all: shuffle all documents of all inputs",
    )
    group.add_argument("--seed", type=int, metavar="N", help="the seed of --shuffle; by default 0")


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--out", required=True, metavar="OUTDIR", help="the folder to write, or its URL")
    group.add_argument(
        "--to",
        choices=list(WRITERS),
        default=_DEFAULT_OPTIONS.to,
        help=f"the format of the shards; by default {_DEFAULT_OPTIONS.to}",
    )
    group.add_argument(
        "--dtype",
        choices=["auto", "uint16", "uint32", "int32"],
        default="auto",
        help="the type of the ids; auto: the smallest that holds the vocabulary",
    )
    group.add_argument(
        "--columns",
        action="append",
        default=[],
        metavar="NAME",
        help="a field of the inputs to store with the documents (can be repeated)",
    )
    group.add_argument(
        "--documents",
        action="store_true",
        help="write a table of the documents: the input of each, the position of its record, and the --columns",
    )
    group.add_argument(
        "--shard-size",
        type=parse_size,
        default=_DEFAULT_OPTIONS.shard_size,
        metavar="SIZE",
        help="the bytes of input for each shard; by default 128M",
    )
    group.add_argument("--overwrite", action="store_true", help="delete the files of another job in OUTDIR first")


def _add_running_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("running")
    group.add_argument(
        "--workers", type=int, metavar="N", help="the number of processes; by default one for each processor"
    )
    group.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="the threads of each process; by default one, or more if there are fewer tasks than processes",
    )
    group.add_argument(
        "--runner", choices=list(RUNNERS), default="local", help="run in processes of this machine, or on Ray"
    )
    add_quiet_option(group)
    add_json_option(parser)
    group.add_argument(
        "--json-log", metavar="FILE", help="append events to FILE, a JSON object a line; `-` is standard output"
    )


def run(arguments: argparse.Namespace) -> int:
    """Tokenizes the inputs and prints a table of the results. Returns exit code 0."""
    options = _job_options(arguments)
    take_model_of_inputs(arguments)
    refuse_tokenizers_as_texts(arguments)
    _check_log(arguments)
    if arguments.json_log == "-" and not arguments.quiet:
        arguments.quiet = not sys.stderr.isatty()
    with _open_log(arguments.json_log) as log_file:
        try:
            report = tokenize(
                required_input_names(arguments),
                load_tokenizer(arguments),
                arguments.out,
                workers=arguments.workers,
                threads=arguments.threads,
                runner=arguments.runner,
                overwrite=arguments.overwrite,
                progress=shows_progress(arguments),
                json_log=log_file,
                input_options=parse_input_options(arguments),
                columns=tuple(arguments.columns),
                **encode_options(arguments)._asdict(),
                **options,
            )
        except KeyboardInterrupt:
            print("polytok: interrupted; run the same command again to continue", file=sys.stderr)
            raise
    if report.was_finished and not arguments.quiet:
        print_already_finished(arguments.out)
    if arguments.json:
        print_json(_report_to_json(report))
    elif not arguments.quiet:
        print_line(str(report), sys.stderr if arguments.json_log == "-" else sys.stdout)
    return 0


def _job_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the options of the job that have the names of the parameters of `tokenize`."""
    options = {name: getattr(arguments, name) for name in _JOB_OPTIONS}
    if arguments.seed is None:
        options["seed"] = 0
    elif not arguments.shuffle:
        raise ArgumentError("--seed has no effect without --shuffle: add --shuffle, or remove --seed")
    return options


def _check_log(arguments: argparse.Namespace) -> None:
    """Raises `ArgumentError` for a log that would overwrite an input or mix with the report."""
    if arguments.json_log not in (None, "-"):
        refuse_input(arguments, Path(arguments.json_log))
    if arguments.json and arguments.json_log == "-":
        raise ArgumentError("--json and --json-log - both write to standard output: remove one of them")


def _report_to_json(report: Report) -> dict[str, Any]:
    return {
        "totals": asdict(report.total),
        "inputs": {name: asdict(counts) for name, counts in report.inputs.items()},
        "examples": [{"place": place, "reason": reason} for place, reason in report.examples],
        "damage": list(report.damage),
        "restarts": report.retried,
    }


@contextmanager
def _open_log(name: str | None) -> Iterator[IO[str] | None]:
    if name is None or name == "-":
        yield None if name is None else sys.stdout
    else:
        with created_folder(Path(name).parent), _open_to_append(Path(name)) as file:
            yield file


@contextmanager
def _open_to_append(path: Path) -> Iterator[IO[str]]:
    """Opens a file to append to; a new file that is still empty at the end is removed."""
    is_new = not path.exists()
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise write_error(error, path) from error
    try:
        with file:
            yield file
    finally:
        if is_new and path.is_file() and not path.stat().st_size:
            path.unlink()


def _parse_piece(text: str) -> int | str:
    """Returns decimal digits as an id, and any other text as a piece. So a piece that consists of digits must be given
    as its id."""
    return int(text) if text.isdecimal() else text


def _parse_shuffle(text: str) -> int | str:
    if text != "all" and not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of documents nor all")
    return text if text == "all" else int(text)
