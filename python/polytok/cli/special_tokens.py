"""Parses ``--special-tokens``, whose syntax is the same in training and loading: TEXT, TEXT=ID or a JSON object."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable

from ..errors import ArgumentError
from ..keywords import keyword

METAVAR = "TEXT[=ID]"
SYNTAX_HELP = "TEXT, TEXT=ID, or a JSON object of texts and ids"

_TEXT_WITH_ID = re.compile(r"(?P<text>.+)=(?P<id>[0-9]{1,10})", re.DOTALL)


def parse_argument(argument: str) -> dict[str, int | None]:
    """Returns the special tokens in one value of the option, with their ids, or with None for tokens without an id.

    >>> parse_argument("<|end|>"), parse_argument("<|end|>=256"), parse_argument('{"<a>": 256, "<b>": 257}')
    ({'<|end|>': None}, {'<|end|>': 256}, {'<a>': 256, '<b>': 257})
    """
    if argument.startswith("{"):
        return _parse_json(argument)
    if match := _TEXT_WITH_ID.fullmatch(argument):
        return {match["text"]: int(match["id"])}
    return {argument: None}


def _parse_json(argument: str) -> dict[str, int | None]:
    message = f'{argument} is not a JSON object of texts and ids, such as {{"<|end|>": 50256}}'
    try:
        value = json.loads(argument)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{message}: {error}") from error
    if not all(isinstance(id, int) for id in value.values()):
        raise argparse.ArgumentTypeError(message)
    return dict(value)


def combine(arguments: Iterable[dict[str, int | None]]) -> list[str] | dict[str, int]:
    """Returns the special tokens of all values of the option: a list of texts, or a mapping of texts to ids.

    Raises `ArgumentError` if only some tokens have ids, or if a token repeats.
    """
    ids: dict[str, int | None] = {}
    for argument in arguments:
        for text, id in argument.items():
            if text in ids:
                raise ArgumentError(f"{keyword('special_tokens=')} names {text!r} twice: name it once")
            ids[text] = id
    known_ids = {text: id for text, id in ids.items() if id is not None}
    if known_ids and len(known_ids) < len(ids):
        text = next(text for text, id in ids.items() if id is None)
        raise ArgumentError(
            f"{keyword('special_tokens=')} gives ids to some tokens, but none to {text!r}: give all an id, or none"
        )
    return known_ids if known_ids or not ids else list(ids)
