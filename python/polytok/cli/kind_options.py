"""Generates the command's options for a kind of vocabulary from the signature and docstring of its trainer class."""

from __future__ import annotations

import argparse
import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from ..training import KINDS, Kind
from ..training.sentencepiece.options import profile_defaults
from . import special_tokens

# The names of options that the verbs define themselves, so that no option is generated for them.
_VERB_OPTIONS = frozenset({"counts", "max_memory", "threads", "verbose", "vocab_size"})
_ATTRIBUTE_PREFIX = "kind_"  # the prefix of the options' attributes in the parsed arguments
_REPEAT_HELP = "can be repeated"


def add_training_options(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Adds the options of the kind that the words ``arguments`` of the command line choose with ``--kind``."""
    if (kind := _requested_kind(arguments)) is not None:
        add_options(parser, kind, profile=_requested(arguments, "profile", "lossless"))


def add_counting_options(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Adds only those options of the chosen kind that define which words are counted."""
    if (kind := _requested_kind(arguments)) is not None:
        add_options(parser, kind, kind.counted(), profile=_requested(arguments, "profile", "lossless"))


def _requested_kind(arguments: Sequence[str]) -> Kind | None:
    name = _requested(arguments, "kind", "bpe")
    return next((kind for kind in KINDS if kind.name == name), None)


def _requested(arguments: Sequence[str], option: str, default: str) -> str:
    """Returns the value of an option on a command line that is not parsed yet."""
    option_parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    option_parser.add_argument(f"--{option}", nargs="?", dest="value", default=default)
    return str(option_parser.parse_known_args(arguments)[0].value)


def add_options(
    parser: argparse.ArgumentParser, kind: Kind, names: Collection[str] | None = None, *, profile: str = "lossless"
) -> None:
    """Adds the options of ``kind`` with the descriptions in its class; with ``names``, only the options with these
    names. The descriptions show the defaults of ``profile``, if the kind has profiles."""
    group = parser.add_argument_group(f"options of {kind.name}")
    docstring = inspect.getdoc(kind.load()) or ""
    parameters = kind.options()
    has_profiles = any(parameter.name == "profile" for parameter in parameters)
    defaults = profile_defaults(profile) if has_profiles else {}
    for parameter in parameters:
        if parameter.name in _VERB_OPTIONS or (names is not None and parameter.name not in names):
            continue
        if (settings := _option_settings(parameter.annotation)) is not None:
            if parameter.name == "special_tokens":
                settings |= {"type": special_tokens.parse_argument, "metavar": special_tokens.METAVAR}
            repeat_help = _REPEAT_HELP if settings.get("action") == "append" else ""
            default_help = _default_help(defaults.get(parameter.name, parameter.default))
            help_parts = [_option_description(docstring, parameter.name), repeat_help, default_help]
            name = "--" + parameter.name.replace("_", "-")
            group.add_argument(
                name,
                dest=_ATTRIBUTE_PREFIX + parameter.name,
                default=argparse.SUPPRESS,
                help="; ".join(filter(None, help_parts)).replace("%", "%%"),
                **settings,
            )


def flags(kind: Kind) -> set[str]:
    """Returns the flags of the options that the command generates for a kind."""
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser, kind)
    return set(parser._option_string_actions)


def chosen_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the options that the user set, as keyword arguments of the kind's class."""
    values = {name: value for name, value in vars(arguments).items() if name.startswith(_ATTRIBUTE_PREFIX)}
    options = {name.removeprefix(_ATTRIBUTE_PREFIX): value for name, value in values.items()}
    if "special_tokens" in options:
        options["special_tokens"] = special_tokens.combine(options["special_tokens"])
    return options


def _option_settings(annotation: Any) -> dict[str, Any] | None:
    """Returns the argparse settings for an option with this type; None if a command line cannot express the type."""
    union_members = _union_members(annotation)
    member_types = {typing.get_origin(member) or member for member in union_members}
    choice_values = [
        value for member in union_members if typing.get_origin(member) is Literal for value in typing.get_args(member)
    ]
    if bool in member_types:
        return {"action": argparse.BooleanOptionalAction}
    if choice_values and str not in member_types:
        return {"type": _choice_converter(choice_values), "metavar": "{" + ",".join(map(str, choice_values)) + "}"}
    if float in member_types or int in member_types:
        return {"type": float if float in member_types else int, "metavar": "N"}
    if str in member_types:
        return {"metavar": "TEXT"}
    return {"action": "append", "metavar": "TEXT"} if any(map(_is_list_or_mapping, union_members)) else None


def _is_list_or_mapping(annotation: Any) -> bool:
    """Reports whether the type is a list of texts, or a mapping of texts to numbers."""
    generic_type, item_types = typing.get_origin(annotation), typing.get_args(annotation)
    return isinstance(generic_type, type) and issubclass(generic_type, Collection) and item_types[:1] == (str,)


def _union_members(annotation: Any) -> list[Any]:
    """Returns the member types of a union; for any other type, returns a list with only that type."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [nested_member for member in typing.get_args(annotation) for nested_member in _union_members(member)]
    return [annotation]


def _choice_converter(values: list[Any]) -> Callable[[str], Any]:
    def parse_choice(text: str) -> Any:
        choice = next((value for value in values if str(value) == text), None)
        if choice is None:
            raise argparse.ArgumentTypeError(f"unknown value {text!r}: choose one of {', '.join(map(str, values))}")
        return choice

    return parse_choice


def _option_description(docstring: str, name: str) -> str:
    """Returns an option's description from a docstring: the sentence or list item that begins with the option's name.

    >>> _option_description("Trains.\\n\\n* ``size``: the number\\n  of entries.\\n* ``seed``: a number.", "size")
    'the number of entries'
    >>> _option_description("``size`` is a number. ``seed`` is a text.", "seed")
    'is a text'
    """
    item_match = re.search(rf"\* ``{name}``: (.*?)(?:\n\n|\n\* |\Z)", docstring, re.DOTALL)
    sentence_match = re.search(
        rf"(?:\A|\n\n|[.:]\s)``{name}`` ((?:``[^`]*``|[^`])*?)[.:;](?=\s|\Z)", docstring, re.DOTALL
    )
    description = item_match[1] if item_match else sentence_match[1] if sentence_match else ""
    return " ".join(description.split()).rstrip(".:").replace("``", "")


def _default_help(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return "required"
    if not isinstance(default, (int, float, str)) or default == "":
        return ""
    return f"default {default!r}" if isinstance(default, str) and default != default.strip() else f"default {default}"
