"""The options of a trainer as options of the command: generated from its class, so that the two always agree."""

from __future__ import annotations

import argparse
import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from ..training import KINDS, Kind

# The verb has options of its own for these.
_OWN = frozenset({"counts", "max_memory", "threads", "verbose", "vocab_size"})
_PREFIX = "kind_"
_LIST = "several: repeat it"


def add_asked(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the options of the requested kind."""
    if (kind := _asked(arguments)) is not None:
        add_options(parser, kind)


def add_counted(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the options that define what is counted."""
    if (kind := _asked(arguments)) is not None:
        add_options(parser, kind, kind.counted())


def _asked(arguments: Sequence[str]) -> Kind | None:
    asking = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    asking.add_argument("--kind", default="bpe")
    name = asking.parse_known_args(arguments)[0].kind
    return next((kind for kind in KINDS if kind.name == name), None)


def add_options(parser: argparse.ArgumentParser, kind: Kind, names: Collection[str] | None = None) -> None:
    """Add all options, or those of these names, each with its description from the class."""
    group = parser.add_argument_group(f"options of {kind.name}")
    text = inspect.getdoc(kind.load()) or ""
    for parameter in kind.options():
        if parameter.name in _OWN or (names is not None and parameter.name not in names):
            continue
        if (settings := _settings(parameter.annotation)) is not None:
            about = [_said(text, parameter.name), *([_LIST] if settings.get("action") == "append" else [])]
            shown = _shown(parameter.default)
            name = "--" + parameter.name.replace("_", "-")
            group.add_argument(
                name,
                dest=_PREFIX + parameter.name,
                default=argparse.SUPPRESS,
                help="; ".join(filter(None, [*about, shown])).replace("%", "%%"),
                **settings,
            )


def chosen(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that were given, in the form that the class accepts."""
    given = {name: value for name, value in vars(arguments).items() if name.startswith(_PREFIX)}
    return {name.removeprefix(_PREFIX): _mapping(value) for name, value in given.items()}


def _mapping(value: Any) -> Any:
    """A list of one JSON object gives the content of the object."""
    if isinstance(value, list) and len(value) == 1 and value[0].startswith("{"):
        try:
            return json.loads(value[0])
        except ValueError:
            return value
    return value


def _settings(annotation: Any) -> dict[str, Any] | None:
    """The argparse settings for a type; None if a command line cannot express it."""
    members = _members(annotation)
    kinds = {typing.get_origin(member) or member for member in members}
    names = [value for member in members if typing.get_origin(member) is Literal for value in typing.get_args(member)]
    if bool in kinds:
        return {"action": argparse.BooleanOptionalAction}
    if names and str not in kinds:
        return {"type": _literal(names), "metavar": "{" + ",".join(map(str, names)) + "}"}
    if float in kinds or int in kinds:
        return {"type": float if float in kinds else int, "metavar": "N"}
    if str in kinds:
        return {"metavar": "TEXT"}
    return {"action": "append", "metavar": "TEXT"} if any(map(_is_list, members)) else None


def _is_list(annotation: Any) -> bool:
    """Whether it is a collection of texts, or of texts with numbers."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    return isinstance(origin, type) and issubclass(origin, Collection) and inner[:1] == (str,)


def _members(annotation: Any) -> list[Any]:
    """The members of a union."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [inner for member in typing.get_args(annotation) for inner in _members(member)]
    return [annotation]


def _literal(values: list[Any]) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        found = next((value for value in values if str(value) == text), None)
        if found is None:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(map(str, values))}")
        return found

    return convert


def _said(text: str, name: str) -> str:
    """The description of an option in a docstring: the sentence, or the item of a list, that begins with its name.

    >>> _said("Trains.\\n\\n* ``size``: how large it\\n  becomes.\\n* ``ties``: which.", "size")
    'how large it becomes'
    >>> _said("``size`` says how large. ``ties`` which.", "ties")
    'which'
    """
    item = re.search(rf"\* ``{name}``: (.*?)(?:\n\n|\n\* |\Z)", text, re.DOTALL)
    sentence = re.search(rf"(?:\A|\n\n|[.:]\s)``{name}`` ((?:``[^`]*``|[^`])*?)[.:;](?=\s|\Z)", text, re.DOTALL)
    found = item[1] if item else sentence[1] if sentence else ""
    return " ".join(found.split()).rstrip(".:").replace("``", "")


def _shown(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return "needed"
    return f"default {default}" if isinstance(default, (int, float, str)) and default != "" else ""
