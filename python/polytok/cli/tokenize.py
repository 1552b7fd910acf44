"""``polytok tokenize``: converts files of text to a folder of shards of ids."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..corpus import tokenize
from ..corpus.options import DocumentOptions
from ..corpus.run import RUNNERS
from ..corpus.write import WRITERS
from ..errors import ArgumentError
from ..files import not_written
from ..resources import memory_size
from .options import add_verb, encode_options, load_tokenizer
from .reading import add_inputs, names, reading
from .style import show

_EXAMPLES = """\
  polytok tokenize 'corpus/*.jsonl.zst' -m llama.model --eos -o tokens
  polytok tokenize corpus/*.txt --lines --eos '<|endoftext|>' --shuffle 10000 -o tokens
  polytok tokenize s3://bucket/*.parquet --field content --columns url --output parquet -o tokens
  polytok tokenize --files-from list.txt --workers 64 --json-log log.jsonl -o tokens

The same command goes on with what an interrupted one has left.
"""
_DEFAULT = DocumentOptions()


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "tokenize", "tokenize files of any size into a dataset folder", _EXAMPLES)
    add_inputs(parser, ["error", "replace", "skip"], "by default an error")
    _add_documents(parser)
    _add_output(parser)
    _add_running(parser)
    parser.set_defaults(run=run)


def _add_documents(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("documents")
    for name, verb in (("bos", "begins"), ("eos", "ends")):
        help = f"the piece or id that {verb} each document; the tokenizer's own if none is named"
        group.add_argument(f"--{name}", nargs="?", const="auto", type=_piece, metavar="PIECE", help=help)
    group.add_argument("--add-special", action="store_true", help="put the format's special ids around documents")
    group.add_argument(
        "--special", action="append", default=[], metavar="all|TEXT", help="recognise special tokens; by default none"
    )
    group.add_argument("--reject-special", action="store_true", help="fail on a special token that is not recognised")
    group.add_argument("--min-tokens", type=int, default=0, metavar="N", help="skip documents of fewer")
    group.add_argument("--max-tokens", type=int, metavar="N", help="what is longer is cut off, or as --long says")
    group.add_argument("--long", choices=["truncate", "skip", "split"], default=_DEFAULT.long)
    group.add_argument("--shuffle", type=int, default=0, metavar="N", help="among so many that follow each other")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the shuffle")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--out", required=True, metavar="OUTDIR", help="the folder to write, or its URL")
    group.add_argument("--output", choices=list(WRITERS), default=_DEFAULT.output, help=f"by default {_DEFAULT.output}")
    group.add_argument("--dtype", choices=["auto", "uint16", "uint32", "int32"], default="auto")
    group.add_argument("--columns", action="append", default=[], metavar="NAME", help="fields that go with documents")
    group.add_argument(
        "--shard-size", type=_size, default=_DEFAULT.shard_size, metavar="SIZE", help="of input, by default 128M"
    )
    group.add_argument("--overwrite", action="store_true", help="throw away what another job has left in OUTDIR")


def _add_running(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("running")
    group.add_argument("--workers", type=int, metavar="N", help="processes, by default one for each processor")
    group.add_argument("--threads", type=int, metavar="N", help="of each process, by default one if tasks are many")
    group.add_argument("--runner", choices=list(RUNNERS), default="local", help="who does the tasks")
    group.add_argument("--quiet", action="store_true", help="no progress bar and no table")
    group.add_argument("--json-log", metavar="FILE", help="write events, a line of JSON each; `-` is standard output")


def run(arguments: argparse.Namespace) -> int:
    """Tokenize."""
    chosen = ("bos", "eos", "min_tokens", "max_tokens", "long", "shuffle", "seed", "output", "dtype", "shard_size")
    options = {name: getattr(arguments, name) for name in chosen}
    if arguments.json_log == "-" and not arguments.quiet:
        arguments.quiet = not sys.stderr.isatty()
    with _log(arguments.json_log) as log:
        try:
            report = tokenize(
                names(arguments),
                load_tokenizer(arguments),
                arguments.out,
                workers=arguments.workers,
                threads=arguments.threads,
                runner=arguments.runner,
                overwrite=arguments.overwrite,
                progress=sys.stderr.isatty() and not arguments.quiet,
                json_log=log,
                reading=reading(arguments),
                columns=tuple(arguments.columns),
                **encode_options(arguments)._asdict(),
                **options,
            )
        except KeyboardInterrupt:
            print("polytok: interrupted; the same command goes on from here", file=sys.stderr)
            raise
    if not arguments.quiet:
        show(str(report), sys.stderr if arguments.json_log == "-" else sys.stdout)
    return 0


@contextmanager
def _log(name: str | None) -> Iterator[IO[str] | None]:
    if name is None or name == "-":
        yield None if name is None else sys.stdout
    else:
        with _appended(Path(name)) as file:
            yield file


def _appended(path: Path) -> IO[str]:
    try:
        return path.open("a", encoding="utf-8")
    except OSError as error:
        raise not_written(error, path) from error


def _piece(text: str) -> int | str:
    """An id if it is a number; a piece that looks like a number can be given only by its id."""
    return int(text) if text.isdecimal() else text


def _size(text: str) -> int:
    try:
        return memory_size(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
