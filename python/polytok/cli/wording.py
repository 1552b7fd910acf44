"""Words the library's error messages for the command line: ``bad_records='skip'`` becomes ``--bad-records skip``."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping

from ..conversion.gguf import NAME_EOS_ADVICE
from ..keywords import MARKED_KEYWORD, MARKED_LOAD, without_marks

_TEXT = r"""'[^']*'|"[^"]*\""""
_TEXT_OR_SET = re.compile(rf"{_TEXT}|\{{(?:{_TEXT})(?:: \d+)?\}}")
_TEXT_WITH_ID = re.compile(r"""(?P<quote>['"])(?P<text>.*)(?P=quote): (?P<id>\d+)""", re.DOTALL)


def flags_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Returns the flag of each keyword: the longest flag of each option of a verb, and ``--no-`` if it exists."""
    flags = {}
    for action in parser._actions:
        negative_flags = [name for name in action.option_strings if name.startswith("--no-")]
        positive_flags = [name for name in action.option_strings if name not in negative_flags]
        for flag in [*negative_flags, *sorted(positive_flags, key=len)[-1:]]:
            flags[flag.removeprefix("--").replace("-", "_")] = flag
    return flags


def with_flags(message: str, flags: Mapping[str, str]) -> str:
    """Replaces the marked keywords of an error message by the flags of the command line.

    >>> from polytok.keywords import keyword, load_call
    >>> flags = {name: f"--{name}" for name in ("lines", "separator", "special", "records")}
    >>> with_flags(f"no field 'records'; {keyword('records', 'skip')} skips such records", flags)
    "no field 'records'; --records skip skips such records"
    >>> with_flags(f"{keyword('lines', True)} and {keyword('separator=')} exclude each other", flags)
    '--lines and --separator exclude each other'
    >>> with_flags(f"raise {keyword('lines')}, or pass {keyword('special', {'a b'})}", flags)
    "raise --lines, or pass --special 'a b'"
    >>> with_flags(f"pass {keyword('special', {'<|end|>': 256})}", flags)
    "pass --special '<|end|>=256'"
    >>> with_flags(f"use {load_call('a.model', special='x')}", {**flags, "model": "--model"})
    'use -m a.model --special x'
    """

    def replace_keyword(match: re.Match[str]) -> str:
        flag = flags.get(match["name"])
        if flag is None:
            return without_marks(match[0])
        value = match["value"] or ""
        if value == "False":
            return flags.get(f"no_{match['name']}", f"no {flag}")
        return flag if value in ("", "True", "None") else f"{flag} {_shell_word(value)}"

    if "model" in flags:
        message = MARKED_LOAD.sub(
            lambda match: f"-m {shlex.quote(match['path'])}{match['options'].replace(',', '')}", message
        )
    return MARKED_KEYWORD.sub(replace_keyword, without_marks(message, only_calls=True))


def note_with_flags(note: str) -> str:
    """Returns a note of a conversion, whose advice names the flag of ``train``."""
    advice = NAME_EOS_ADVICE
    return note.removesuffix(advice) + advice.replace("eos=", "--eos") if note.endswith(advice) else note


def _shell_word(value: str) -> str:
    """Returns a value as a shell needs it: a text, or the only text of a set, or TEXT=ID, with quotes if necessary."""
    if not _TEXT_OR_SET.fullmatch(value):
        return value
    text = value.strip("{}") if value.startswith("{") else value
    if pair := _TEXT_WITH_ID.fullmatch(text):
        return shlex.quote(f"{pair['text']}={pair['id']}")
    return shlex.quote(text[1:-1])
