"""Words the library's error messages for the command line: ``bad_records='skip'`` becomes ``--bad-records skip``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

_KEYWORD = re.compile(r"""(?<![\w.-])(?P<name>[a-z][a-z_0-9]*)=(?P<value>'[^']*'|"[^"]*"|\w+)?""")
_PLAIN_VALUE = re.compile(r"""['"]([\w.:-]+)['"]""")  # a text that a shell needs no quotes for


def flags_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Returns the flag of each keyword: the longest flag of each option of a verb."""
    flags = {}
    for action in parser._actions:
        if action.option_strings:
            flag = max((name for name in action.option_strings if not name.startswith("--no-")), key=len)
            flags[flag.removeprefix("--").replace("-", "_")] = flag
    return flags


def with_flags(message: str, flags: Mapping[str, str]) -> str:
    """Replaces keywords of Python in an error message by the flags of the command line.

    >>> with_flags("no field 'text'; bad_records='skip' skips such records", {"bad_records": "--bad-records"})
    "no field 'text'; --bad-records skip skips such records"
    >>> with_flags("lines=True and separator= exclude each other", {"lines": "--lines", "separator": "--separator"})
    '--lines and --separator exclude each other'
    """

    def replace_keyword(match: re.Match[str]) -> str:
        flag = flags.get(match["name"])
        if flag is None:
            return match[0]
        value = match["value"] or ""
        if value == "False":
            return flag.replace("--", "--no-", 1)
        return flag if value in ("", "True", "None") else f"{flag} {_shell_word(value)}"

    return _KEYWORD.sub(replace_keyword, message)


def _shell_word(value: str) -> str:
    """Returns a value without its quotes if a shell does not need them."""
    match = _PLAIN_VALUE.fullmatch(value)
    return match[1] if match else value
