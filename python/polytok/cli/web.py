"""``polytok web``: shows the tokens of texts on a local page."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from contextlib import suppress
from typing import Any

from ..errors import ArgumentError
from .json_output import add_json_option, print_json
from .models import add_model_options, load_tokenizers
from .options import add_verb_parser
from .style import print_line

_EXAMPLES = """\
  polytok web
  polytok web llama.model qwen/tokenizer.json --open
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``web`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "web", "show tokens on a local page, while one types", _EXAMPLES)
    parser.add_argument("inputs", nargs="*", metavar="MODEL", help="a tokenizer for the page; the same as -m")
    add_model_options(parser, has_several=True)
    parser.add_argument("--port", type=_parse_port, default=0, metavar="N", help="the port; by default a free one")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    add_json_option(parser)
    parser.set_defaults(run=run)


def _parse_port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: choose a number from 0 to 65535")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Serves the page until the command is interrupted. Returns exit code 0."""
    from ..web import PageServer  # importing the server takes longer than parsing most commands

    arguments.models += arguments.inputs
    tokenizers = load_tokenizers(arguments)
    try:
        server = PageServer(tokenizers, arguments.port)
    except OSError as error:
        raise ArgumentError(f"port {arguments.port} cannot be used: {error.strerror}; choose another --port") from error
    with server, suppress(KeyboardInterrupt):
        if arguments.json:
            print_json({"address": server.address})
        else:
            print_line(f"{server.address}\nOnly this computer can open the page. Ctrl+C ends it.")
        sys.stdout.flush()
        if arguments.open:
            webbrowser.open(server.address)
        server.serve_forever()
    return 0
