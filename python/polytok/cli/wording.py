"""Words the library's error messages for the command line: ``bad_records='skip'`` becomes ``--bad-records skip``."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping

_TEXT = r"""'[^']*'|"[^"]*\""""
# a keyword, except the first one of a value such as SpecialToken(text='<s>', id=1)
_KEYWORD = re.compile(
    rf"(?<![\w.-])(?<!\w\()(?P<name>[a-z][a-z_0-9]*)=(?P<value>{_TEXT}|\{{(?:{_TEXT})(?:: \d+)?\}}|\w+)?"
)
_LOAD = re.compile(rf"polytok\.load\((?P<path>{_TEXT})(?:, (?P<options>[^()]*))?\)")
_TEXT_WITH_ID = re.compile(r"""(?P<quote>['"])(?P<text>.*)(?P=quote): (?P<id>\d+)""", re.DOTALL)
# a keyword without a value: its underscores distinguish it from a word, but it can also be part of a text or a path
_NAME = re.compile(r"""(?<![\w.'"/-])[a-z]+(?:_[a-z0-9]+)+(?![\w'"/=-]|\.\w)""")


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
    """Replaces keywords of Python in an error message by the flags of the command line.

    >>> with_flags("no field 'text'; bad_records='skip' skips such records", {"bad_records": "--bad-records"})
    "no field 'text'; --bad-records skip skips such records"
    >>> with_flags("lines=True and separator= exclude each other", {"lines": "--lines", "separator": "--separator"})
    '--lines and --separator exclude each other'
    >>> with_flags("raise vocab_size, or pass special={'a b'}", {"vocab_size": "--vocab-size", "special": "--special"})
    "raise --vocab-size, or pass --special 'a b'"
    >>> with_flags("pass special_tokens={'<|end|>': 256}", {"special_tokens": "--special-tokens"})
    "pass --special-tokens '<|end|>=256'"
    >>> with_flags("SpecialToken(text='<s>', id=1) is lost", {"text": "--text"})
    "SpecialToken(text='<s>', id=1) is lost"
    >>> with_flags("use polytok.load('a.model', name='x')", {"model": "--model", "name": "--name"})
    'use -m a.model --name x'
    """

    def replace_keyword(match: re.Match[str]) -> str:
        flag = flags.get(match["name"])
        if flag is None:
            return match[0]
        value = match["value"] or ""
        if value == "False":
            return flags.get(f"no_{match['name']}", f"no {flag}")
        return flag if value in ("", "True", "None") else f"{flag} {_shell_word(value)}"

    if "model" in flags:
        message = _LOAD.sub(_model_option, message)
    message = _KEYWORD.sub(replace_keyword, message)
    return _NAME.sub(lambda match: flags.get(match[0], match[0]), message)


def _model_option(match: re.Match[str]) -> str:
    """Returns the option of a call of ``polytok.load``, before its keywords."""
    return " ".join(filter(None, ["-m", _shell_word(match["path"]), match["options"]]))


def _shell_word(value: str) -> str:
    """Returns a value as a shell needs it: a text, or the only text of a set, or TEXT=ID, with quotes if necessary."""
    text = value.strip("{}") if value.startswith("{") else value
    if pair := _TEXT_WITH_ID.fullmatch(text):
        return shlex.quote(f"{pair['text']}={pair['id']}")
    return shlex.quote(text[1:-1]) if text[0] in "'\"" else text
