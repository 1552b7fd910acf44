"""``polytok chat``: renders conversations with a chat template, shows who wrote what, and encodes them."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, FormatError, PolytokError
from ..keywords import marked_message
from ..tokenizer import Tokenizer
from ..visible import visible_text
from . import style
from .json_output import add_json_option, print_json_list
from .models import add_model_options, load_tokenizer
from .options import add_color_option, add_verb_parser, binary_stdout, is_colored
from .texts import STDIN, open_input

if TYPE_CHECKING:
    from ..chat import ChatEncoding

_EXAMPLES = """\
  polytok chat messages.json --template chat_template.jinja
  polytok chat messages.json --template chat_template.jinja --add-generation-prompt --ids
  polytok chat -m tokenizer.json conversations.jsonl --template chat_template.jinja --json
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``chat`` to ``subparsers``."""
    parser = add_verb_parser(
        subparsers, "chat", "render conversations with a chat template, and encode them safely", _EXAMPLES
    )
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="INPUT",
        help="files or URLs of conversations: a JSON list of messages, an object with messages, or one of these a "
        "line; without INPUT, and for `-`, standard input",
    )
    add_model_options(parser)
    parser.add_argument(
        "--template",
        metavar="FILE|NAME",
        help="the file of a chat template, or the name of one of the tokenizer's; by default the tokenizer's own",
    )
    parser.add_argument("--tools", metavar="FILE", help="a JSON list with the schemas of tools")
    parser.add_argument("--documents", metavar="FILE", help="a JSON list of documents, with a title and a text each")
    parser.add_argument("--add-generation-prompt", action="store_true", help="end with the start of a reply")
    parser.add_argument("--continue-final-message", action="store_true", help="end inside the final message")
    parser.add_argument(
        "--special-in-messages",
        choices=["text", "error", "allow"],
        default="text",
        help="special tokens that the template has not written: encode them as text (the default), fail, or allow them",
    )
    form_group = parser.add_mutually_exclusive_group()
    form_group.add_argument("--ids", action="store_true", help="print the ids, a line for each conversation")
    add_json_option(form_group)
    add_color_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the conversations. Returns exit code 0."""
    tokenizer = load_tokenizer(arguments)
    options = _options(arguments, tokenizer)
    encodings = (_encode(tokenizer, place, value, options) for place, value in _conversations(arguments.inputs))
    if arguments.json:
        print_json_list(map(_to_json, encodings))
        return 0
    out = binary_stdout()
    colored = is_colored(arguments, out)
    for encoding in encodings:
        out.write(_shown(encoding, arguments.ids, colored, out.isatty()).encode())
        out.flush()
    return 0


def _options(arguments: argparse.Namespace, tokenizer: Tokenizer) -> dict[str, Any]:
    """Returns the options of `Tokenizer.encode_chat`."""
    return {
        "template": _template(arguments.template, tokenizer),
        "tools": arguments.tools and _json_file(arguments.tools),
        "documents": arguments.documents and _json_file(arguments.documents),
        "add_generation_prompt": arguments.add_generation_prompt,
        "continue_final_message": arguments.continue_final_message,
        "special_in_messages": arguments.special_in_messages,
    }


def _template(name: str | None, tokenizer: Tokenizer) -> str | None:
    """Returns the text of a template's file; a name of the tokenizer's templates stays."""
    if name is None or (name in tokenizer.chat_templates and not os.path.exists(name)):
        return name
    return _read(name).decode(errors="replace")


def _read(name: str) -> bytes:
    with open_input(name) as file:
        return file.read()


def _json_file(name: str) -> Any:
    try:
        return json.loads(_read(name))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name}: this is not JSON: {error}") from error


def _conversations(names: list[str]) -> Iterator[tuple[str, Any]]:
    """Yields each conversation with its place. A file is one JSON value, or has one a line."""
    for name in names or [STDIN]:
        data = _read(name)
        try:
            yield from _conversations_in(json.loads(data), name)
            continue
        except (ValueError, RecursionError) as error:
            whole_error = error
        rows = [(number, line) for number, line in enumerate(data.splitlines(), start=1) if line.strip()]
        for number, line in rows:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                shown_error = f"line {number}: {error}" if number > 1 else str(whole_error)
                raise FormatError(f"{name}: this is neither JSON nor JSON lines: {shown_error}") from error
            yield f"{name}: line {number}", value


def _conversations_in(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yields a conversation, or those of a list of conversations."""
    if isinstance(value, list) and value and all(isinstance(row, list) or _has_messages(row) for row in value):
        yield from ((f"{name}: conversation {number}", row) for number, row in enumerate(value, start=1))
    else:
        yield name, value


def _has_messages(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def _encode(tokenizer: Tokenizer, place: str, value: Any, options: dict[str, Any]) -> ChatEncoding:
    """Encodes a conversation, which is a list of messages or an object with messages and perhaps tools."""
    if not isinstance(value, list) and not _has_messages(value):
        raise FormatError(f"{place}: this is neither a list of messages nor an object with messages")
    own_options = {} if isinstance(value, list) else {name: value[name] for name in _OWN_OPTIONS if value.get(name)}
    messages = value if isinstance(value, list) else value["messages"]
    try:
        return tokenizer.encode_chat(messages, **{**options, **own_options})
    except PolytokError as error:
        raise type(error)(f"{place}: {marked_message(error)}") from error
    except TypeError as error:  # a value of the file has a wrong type
        raise ArgumentError(f"{place}: {error}") from error


_OWN_OPTIONS = ("tools", "documents")
"""The fields of a conversation besides its messages."""


def _to_json(encoding: ChatEncoding) -> dict[str, Any]:
    return {
        "text": encoding.parts.text,
        "parts": [{"text": text, "message": origin} for text, origin in _runs(encoding)],
        "ids": encoding.ids,
        "message_ids": encoding.message_ids.tolist(),
        "assistant_mask": encoding.assistant_mask.tolist(),
    }


def _runs(encoding: ChatEncoding) -> Iterator[tuple[str, int]]:
    """Yields the parts of the text with their origins; neighbours of the same origin are one."""
    rows = zip((text for text, _ in encoding.parts), encoding.origins, strict=True)
    for origin, group in groupby(rows, lambda row: row[1]):
        yield "".join(text for text, _ in group), origin


def _shown(encoding: ChatEncoding, as_ids: bool, is_colored: bool, is_terminal: bool) -> str:
    """Returns the ids, the text, or for a person a line for each part of the text."""
    if as_ids:
        return " ".join(map(str, encoding.ids)) + "\n"
    if not is_colored and not is_terminal:
        return encoding.parts.text + "\n"
    return "".join(_lines(_runs(encoding), is_colored))


def _lines(runs: Iterable[tuple[str, int]], is_colored: bool) -> Iterator[str]:
    """Yields a line for each part of the text: who wrote it, and what. The name says what the colour says."""
    for text, origin in runs:
        label = {-1: "template", -2: "input"}.get(origin, f"message {origin}")
        content = visible_text(text.encode())
        color = style.origin_color(origin)
        yield f"{label:<12}{color}{content}{style.RESET_COLOR}\n" if is_colored else f"{label:<12}{content}\n"
