"""``polytok trace``: shows what happens to a text, step by step."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..errors import ArgumentError
from ..files import distinct_ends
from ..tokenizer import Tokenizer
from .json_output import add_json_option, print_json
from .models import add_model_options, load_tokenizers
from .options import (
    add_color_option,
    add_encoding_options,
    add_verb_parser,
    binary_stdout,
    encode_options,
    is_colored,
    open_output,
)
from .outputs import OUTPUT_HELP, add_overwrite_option, check_outputs
from .parsers import parse_count

if TYPE_CHECKING:
    from ..trace import Trace

_EXAMPLES = """\
  polytok trace 'I love you, baby' -m llama.model
  polytok trace 'hello123!!!?' -m default -m llama.model   side by side
  polytok trace 'hello' -m llama.model --html trace.html           a file that plays the merges
  polytok trace --ids 104 101 108 108 111                          why an encoder would return other ids
"""
_NARROWEST_COLUMN = 44


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the parser of ``trace`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "trace", "show what happens to a text, step by step", _EXAMPLES)
    parser.add_argument("text", nargs="?", metavar="TEXT", help="the text; without TEXT and for `-`, standard input")
    parser.add_argument("--ids", nargs="+", type=parse_count, metavar="ID", help="trace the text of these ids instead")
    add_model_options(parser, has_several=True)
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--piece", type=parse_count, metavar="N", help="show the model's walk of piece N only, from 0 on"
    )
    group.add_argument(
        "--at", type=parse_count, metavar="OFFSET", help="show the walk of the piece at this byte of the text only"
    )
    add_json_option(parser)
    parser.add_argument(
        "--html", metavar="FILE", type=Path, help=f"write one HTML file, which opens in any browser; {OUTPUT_HELP}"
    )
    add_overwrite_option(parser)
    add_color_option(parser)
    add_encoding_options(parser)
    parser.set_defaults(run=run, inputs=[], files_from=None)


def run(arguments: argparse.Namespace) -> int:
    """Traces the text and shows the trace. Returns exit code 0."""
    if arguments.ids is not None and arguments.text is not None:
        raise ArgumentError("TEXT and --ids are both given: a trace is of a text or of ids")
    check_outputs(arguments, [arguments.html])
    tokenizers = load_tokenizers(arguments)
    text = b"" if arguments.ids is not None else _text(arguments.text)
    names = distinct_ends([name for name, _ in tokenizers])
    traces = [
        (name, _trace(tokenizer, text, arguments)) for name, (_, tokenizer) in zip(names, tokenizers, strict=True)
    ]
    if arguments.html is not None:
        _write_html(arguments.html, traces)
    if arguments.json:
        print_json([trace.to_json() for _, trace in traces])
    elif arguments.html is None:
        out = binary_stdout()
        out.write(_shown(traces, arguments, out).encode())
    return 0


def _text(text: str | None) -> bytes:
    if text is None or text == "-":
        return sys.stdin.buffer.read()
    return text.encode("utf-8", "surrogateescape")


def _trace(tokenizer: Tokenizer, text: bytes, arguments: argparse.Namespace) -> Trace:
    if arguments.ids is not None:
        return tokenizer.trace(ids=arguments.ids, piece=arguments.piece, at=arguments.at)
    return tokenizer.trace(text, piece=arguments.piece, at=arguments.at, options=encode_options(arguments))


def _write_html(path: Path, traces: list[tuple[str, Trace]]) -> None:
    from ..web import html_of_traces  # imports the server's modules too

    with open_output(path) as file:
        file.write(html_of_traces(traces).encode())


def _shown(traces: list[tuple[str, Trace]], arguments: argparse.Namespace, out: IO[bytes]) -> str:
    """Returns the traces for a person: side by side if the terminal is wide enough, else one below the other."""
    from .trace_lines import Painter, side_by_side, trace_lines  # importing the walks takes longer than most verbs

    width = shutil.get_terminal_size().columns if out.isatty() else 100
    painter = Painter(is_colored(arguments, out))
    column_width = (width - 3 * (len(traces) - 1)) // len(traces)
    if len(traces) > 1 and column_width >= _NARROWEST_COLUMN:
        return side_by_side([trace_lines(name, trace, painter, column_width) for name, trace in traces], column_width)
    return "\n".join(
        "".join(f"{line}\n" for line in trace_lines(name, trace, painter, width)) for name, trace in traces
    )
