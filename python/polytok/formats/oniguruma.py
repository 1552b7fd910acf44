"""Converts regular expressions of Hugging Face's files (Oniguruma) to the engine's syntax (fancy_regex).

The reference is Oniguruma 6.9 in its default syntax, as in the wheels of the package `tokenizers`. Its Unicode tables
are those of version 16.0, like the engine's. A construct that means the same in both syntaxes is not changed, so that
the engine recognizes published patterns. For a construct without an equivalent, `translate` raises a `FormatError` that
names the construct.
"""

from __future__ import annotations

import itertools
import re
from functools import cache

from ..errors import FormatError
from ..records import dataclass

MAX_DEPTH = 50
MAX_REPEAT = 100_000
MAX_LENGTH = 1 << 16

_WORD_MEMBERS = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
# Outside brackets, Oniguruma has a separate table of word characters from U+0080 to U+00FF.
_WORD_CLASS = f"[{_WORD_MEMBERS}²³¹¼-¾]"
_NOT_WORD_CLASS = f"[^{_WORD_MEMBERS}²³¹¼-¾]"
_WORD_BOUNDARY = f"(?:(?<={_WORD_CLASS})(?!{_WORD_CLASS})|(?<!{_WORD_CLASS})(?={_WORD_CLASS}))"
_NOT_WORD_BOUNDARY = f"(?:(?<={_WORD_CLASS})(?={_WORD_CLASS})|(?<!{_WORD_CLASS})(?!{_WORD_CLASS}))"

# Escapes outside brackets that match a position or a set of characters.
_PATTERN_OF_ANCHOR_ESCAPE = {"A": r"\A", "z": r"\z", "Z": r"(?=\n?\z)", "b": _WORD_BOUNDARY, "B": _NOT_WORD_BOUNDARY}
_PATTERN_OF_SET_ESCAPE = {
    "s": r"\s", "S": r"\S", "d": r"\d", "D": r"\D", "w": _WORD_CLASS, "W": _NOT_WORD_CLASS,
    "h": "[0-9A-Fa-f]", "H": "[^0-9A-Fa-f]", "N": r"[^\n]", "O": r"[\s\S]",
    "R": "(?>\r\n|[\n\x0b\x0c\r\x85\u2028\u2029])",
}  # fmt: skip
_MEMBERS_OF_SET_ESCAPE = {
    "s": r"\s", "S": r"\S", "d": r"\d", "D": r"\D", "w": _WORD_MEMBERS, "W": f"[^{_WORD_MEMBERS}]",
    "h": "0-9A-Fa-f", "H": "[^0-9A-Fa-f]",
}  # fmt: skip
_CHARACTER_OF_ESCAPE = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
_MEANING_OF_UNSUPPORTED_ESCAPE = {
    "G": "the start of the search", "K": "a moved start of the match", "X": "a text segment", "y": "a segment boundary",
    "Y": "not a segment boundary", "g": "a call of a group", "c": "a control character", "C": "a control character",
    "M": "a meta character",
}  # fmt: skip

# For each POSIX bracket and for the property of the same name, its characters as members of a class.
_MEMBERS_OF_POSIX_CLASS = {
    "alnum": r"\p{Alphabetic}\p{Nd}", "alpha": r"\p{Alphabetic}", "ascii": r"\x00-\x7F", "blank": r"\p{Zs}\t",
    "cntrl": r"\p{Cc}", "digit": r"\p{Nd}", "graph": r"[^\p{White_Space}\p{Cc}\p{Cn}]", "lower": r"\p{Lowercase}",
    "print": r"[^\p{Cc}\p{Cn}\p{Zl}\p{Zp}]", "punct": r"\p{P}\p{S}", "space": r"\p{White_Space}",
    "upper": r"\p{Uppercase}", "xdigit": "0-9A-Fa-f", "word": _WORD_MEMBERS,
}  # fmt: skip
# Classes whose characters all fold to a single character.
_SHORT_FOLDING_CLASSES = {"s", "d", "h", "m", "mn", "mc", "me", "han", "hiragana", "katakana", "hangul", "thai"}


def translate(pattern: str) -> str:
    r"""Returns the pattern in the engine's syntax; raises FormatError for a construct without an equivalent.

    >>> translate(r"\p{L}+|^\h{2}+")
    '\\p{L}+|(?:\\A|(?<=\\n)(?!\\z))(?:[0-9A-Fa-f]{2})+'
    """
    return _Translator(pattern).translate_pattern()


@dataclass(frozen=True, slots=True)
class _PatternOptions:
    """The options that are set at one position of a pattern."""

    ignore_case: bool = False
    dot_all: bool = False
    extended: bool = False


class _Translator:
    """Translates a pattern in one pass. A ``translate`` method reads one construct and returns its translation."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.group_depth = 0
        self.options = _PatternOptions()
        self.group_names: set[str] = set()
        self.bracket_depth = 0
        # If a pattern has a named group, groups without a name do not capture.
        self.has_named_groups = re.search(r"(?<!\\)\(\?(<[^=!]|')", pattern) is not None
        self.last_literal = ""
        self.literal_run = ""

    def translate_pattern(self) -> str:
        if len(self.pattern) > MAX_LENGTH:
            raise FormatError(f"a regular expression has {len(self.pattern)} characters; the limit is {MAX_LENGTH}")
        translation = self.translate_alternatives()
        if self.position < len(self.pattern):
            raise self.error("an unmatched closing parenthesis")
        return translation

    def error(self, construct: str, index: int | None = None) -> FormatError:
        """Returns an error that names a construct without an equivalent, and the construct's index in the pattern."""
        index = self.position if index is None else index
        return FormatError(
            f"the regular expression {self.pattern!r} has {construct} at character {index}, for which the engine has no"
            " equivalent; write the pattern without it"
        )

    def next_is(self, text: str) -> bool:
        return self.pattern.startswith(text, self.position)

    def skip_if(self, text: str) -> bool:
        if self.next_is(text):
            self.position += len(text)
            return True
        return False

    def next_char(self) -> str:
        if self.position == len(self.pattern):
            raise self.error("an unexpected end")
        self.position += 1
        return self.pattern[self.position - 1]

    def read_until(self, end: str) -> str:
        start = self.position
        stop = self.pattern.find(end, start)
        if stop < 0:
            raise self.error(f"a construct without its closing {end!r}", start)
        self.position = stop + len(end)
        return self.pattern[start:stop]

    # Groups and sequences

    def translate_alternatives(self) -> str:
        """Translates the pattern up to the closing parenthesis of the group, or up to the end."""
        options = self.options
        self.group_depth += 1
        if self.group_depth > MAX_DEPTH:
            raise self.error(f"groups nested more than {MAX_DEPTH} deep")
        parts: list[str] = []
        while self.position < len(self.pattern) and not self.next_is(")"):
            parts.append(self.translate_item())
        self.finish_literal_run()
        self.group_depth -= 1
        self.options = options
        return "".join(parts)

    def translate_item(self) -> str:
        start = self.position
        if self.options.extended and (self.next_is("#") or self.pattern[start] in " \t\n\r\f\v"):
            newline = self.pattern.find("\n", start) if self.skip_if("#") else start
            self.position = newline + 1 if newline >= 0 else len(self.pattern)
            return ""
        if self.skip_if("(?#"):
            self.read_until(")")
            return ""
        if self.pattern[start] in "*+?":
            raise self.error("a quantifier with nothing before it")
        self.last_literal = ""
        text, is_repeatable = self.translate_atom()
        literal = self.last_literal
        with_quantifier = self.append_quantifiers(text, is_repeatable)
        self.literal_run += literal
        if not literal or with_quantifier != text:
            self.finish_literal_run()
        return with_quantifier

    def finish_literal_run(self) -> None:
        """Ends a run of literal characters; raises FormatError if case is ignored and a character folds to several."""
        literal_run, self.literal_run = self.literal_run, ""
        if self.options.ignore_case and (folded_text := _part_with_other_fold_length(literal_run)):
            raise self.error(f"{folded_text!r}, which folds to another number of characters when case is ignored,")

    def translate_atom(self) -> tuple[str, bool]:
        """Translates one construct without its quantifier; the second value is True if a quantifier can follow."""
        char = self.next_char()
        if char == "(":
            return self.translate_group()
        if char == "[":
            return self.translate_class(), True
        if char == "\\":
            return self.translate_escape()
        if char == ".":
            return (r"[\s\S]" if self.options.dot_all else "."), True
        if char == "^":
            return r"(?:\A|(?<=\n)(?!\z))", False
        if char == "$":
            return r"(?![^\n])", False
        if char == "|":
            return char, False
        return self.escape_literal(char), True

    def escape_literal(self, char: str) -> str:
        """Returns a literal character, escaped if the engine needs an escape."""
        self.last_literal = char
        return _ESCAPE_OF_CONTROL.get(char) or ("\\" + char if char in r"\.+*?()|[]{}^$" else char)

    def translate_group(self) -> tuple[str, bool]:
        start = self.position - 1
        for group_opening in ("?:", "?=", "?!", "?<=", "?<!", "?>"):
            if self.skip_if(group_opening):
                return self.translate_group_body("(" + group_opening), group_opening in ("?:", "?>")
        if self.next_is("?<") or self.next_is("?'"):
            self.position += 2
            name = self.read_until(">" if self.pattern[self.position - 1] == "<" else "'")
            if name in self.group_names or not name.isidentifier():
                raise self.error(f"a group named {name!r} (a name that repeats, or is not valid)", start)
            self.group_names.add(name)
            return self.translate_group_body(f"(?<{name}>"), True
        if self.skip_if("?"):
            return self.translate_option_group(start), True
        if self.next_is("*"):
            raise self.error("a callout", start)
        return self.translate_group_body("(?:" if self.has_named_groups else "("), True

    def translate_group_body(self, group_opening: str) -> str:
        self.finish_literal_run()
        body = self.translate_alternatives()
        self.expect_group_end()
        return f"{group_opening}{body})"

    def expect_group_end(self) -> None:
        if not self.skip_if(")"):
            raise self.error("an unmatched opening parenthesis")

    def translate_option_group(self, start: int) -> str:
        """Translates ``(?i:…)``, or ``(?i)``, whose options apply up to the end of the enclosing group, in all
        alternatives."""
        self.finish_literal_run()
        outer_options = self.options
        values = {"i": outer_options.ignore_case, "m": outer_options.dot_all, "x": outer_options.extended}
        is_set = True
        while (char := self.next_char()) not in ":)":
            if char == "-":
                is_set = False
            elif char in values:
                values[char] = is_set
            else:
                raise self.error(f"the group option {char!r}", start)
        self.options = _PatternOptions(values["i"], values["m"], values["x"])
        group_opening = {True: "?i:", False: "?-i:"}[values["i"]] if values["i"] != outer_options.ignore_case else "?:"
        body = self.translate_alternatives()
        self.options = outer_options
        if char == ":":
            self.expect_group_end()
        return f"({group_opening}{body})"

    # Quantifiers

    def append_quantifiers(self, text: str, is_repeatable: bool) -> str:
        """Returns a translated construct with the quantifiers that follow it."""
        is_first_quantifier = True
        while True:
            start = self.position
            quantifier = self.translate_quantifier()
            if quantifier is None:
                return text
            if not is_repeatable:
                raise self.error("a quantifier after a construct that cannot be repeated", start)
            text = (text if is_first_quantifier else f"(?:{text})") + quantifier
            is_first_quantifier = False

    def translate_quantifier(self) -> str | None:
        for sign in "?*+":
            if self.skip_if(sign):
                return sign + (self.next_char() if self.next_is("?") or self.next_is("+") else "")
        return self.translate_interval() if self.next_is("{") else None

    def translate_interval(self) -> str | None:
        """Translates ``{n}``, ``{n,}``, ``{,m}`` or ``{n,m}``; returns None for other text. In Oniguruma, a plus that
        follows is a second quantifier."""
        stop = self.pattern.find("}", self.position)
        content = self.pattern[self.position + 1 : stop] if stop >= 0 else ""
        minimum_text, comma, maximum_text = content.partition(",")
        bounds = (minimum_text, maximum_text)
        if not any(bounds) or not all(bound == "" or (bound.isascii() and bound.isdigit()) for bound in bounds):
            return None
        minimum, maximum = int(minimum_text or 0), int(maximum_text) if maximum_text else None
        if max(minimum, maximum or 0) > MAX_REPEAT:
            raise self.error("too large a number of repetitions")
        if maximum is not None and minimum > maximum:
            raise self.error("an interval whose minimum is larger than its maximum")
        self.position = stop + 1
        lazy_mark = "?" if comma and self.skip_if("?") else ""
        return ("{" + str(minimum) + ("," + maximum_text if comma else "") + "}") + lazy_mark

    # Escapes

    def translate_escape(self) -> tuple[str, bool]:
        start = self.position - 1
        char = self.next_char()
        if char in _PATTERN_OF_ANCHOR_ESCAPE:
            return _PATTERN_OF_ANCHOR_ESCAPE[char], False
        if char in _PATTERN_OF_SET_ESCAPE:
            return self.respect_case(_PATTERN_OF_SET_ESCAPE[char]), True
        if char in "pP" and self.next_is("{"):
            return self.respect_case(_in_brackets(self.translate_property(char))), True
        if char == "k":
            return self.translate_named_reference(start), True
        if char in "123456789":
            return self.translate_reference(char, start), True
        if char in _MEANING_OF_UNSUPPORTED_ESCAPE:
            raise self.error(f"\\{char} ({_MEANING_OF_UNSUPPORTED_ESCAPE[char]})", start)
        return self.escape_literal(self.unescape_character(char, start)), True

    def respect_case(self, text: str) -> str:
        """Makes a class escape respect case, because Oniguruma's class escapes outside brackets always do."""
        return f"(?-i:{text})" if self.options.ignore_case and text.startswith((r"\p", r"\P", "[")) else text

    def translate_reference(self, first: str, start: int) -> str:
        digits = first
        while self.position < len(self.pattern) and self.pattern[self.position] in "0123456789":
            digits += self.next_char()
        if self.has_named_groups or int(digits) > 9:
            raise self.error(f"\\{digits} (a reference by number, or an octal character)", start)
        return f"(?:\\{digits})"

    def translate_named_reference(self, start: int) -> str:
        if not self.skip_if("<"):
            raise self.error(r"\k without a name", start)
        name = self.read_until(">")
        if name not in self.group_names:
            raise self.error(rf"\k<{name}>, which names no group before it,", start)
        return rf"(?:\k<{name}>)"

    def unescape_character(self, char: str, start: int) -> str:
        """Returns the character that an escape represents."""
        if char in _CHARACTER_OF_ESCAPE:
            return _CHARACTER_OF_ESCAPE[char]
        if char in "xuo":
            return self.unescape_code(char, start)
        if char == "0":
            raise self.error(r"\0 (an octal character)", start)
        return char

    def unescape_code(self, char: str, start: int) -> str:
        radix = 8 if char == "o" else 16
        if char != "u" and self.skip_if("{"):
            digits = self.read_until("}")
        elif char == "o":
            return char
        else:
            digits = ""
            while (
                len(digits) < (4 if char == "u" else 2)
                and self.pattern[self.position : self.position + 1] in _HEX_DIGITS
            ):
                digits += self.next_char()
        code = (
            int(digits, radix)
            if digits and all(d in _HEX_DIGITS[: radix if radix == 8 else None] for d in digits)
            else -1
        )
        is_byte = char == "x" and not self.pattern.startswith("{", start + 2)
        if not 0 <= code < (0x80 if is_byte else 0x110000) or 0xD800 <= code < 0xE000:
            raise self.error(f"\\{char}{digits}, which is not a character,", start)
        return chr(code)

    def translate_property(self, sign: str) -> str:
        """Translates the ``{Name}`` of ``\\p{Name}`` to members of a class."""
        self.position += 1
        start = self.position
        name = self.read_until("}")
        is_negated = (sign == "P") != name.startswith("^")
        plain_name = name.removeprefix("^").replace(" ", "")
        key = plain_name.replace("_", "").replace("-", "").lower()
        if not key.isalnum() or key.startswith("in"):
            raise self.error(f"the property {name!r}", start)
        posix = {"punct": r"\p{P}"}.get(key) or _MEMBERS_OF_POSIX_CLASS.get(key)
        if key == "word":
            posix = _WORD_MEMBERS if self.bracket_depth else _WORD_CLASS[1:-1]
        if posix is not None:
            return f"[^{posix}]" if is_negated else posix
        return f"\\{'P' if is_negated else 'p'}{{{plain_name.replace('-', '_')}}}"

    # Classes

    def translate_class(self) -> str:
        self.bracket_depth += 1
        if self.bracket_depth > MAX_DEPTH:
            raise self.error(f"brackets nested more than {MAX_DEPTH} deep")
        group_opening = "[^" if self.skip_if("^") else "["
        members: list[str] = []
        if self.next_is("]"):
            if "]" not in self.pattern[self.position + 1 :]:
                raise self.error("an empty class")
            members.append(self.translate_range(self.next_char()))
        while not self.skip_if("]"):
            members.append(self.translate_member())
        self.bracket_depth -= 1
        if not members or members[0] == "&&" or members[-1] == "&&":
            raise self.error("an empty class")
        return group_opening + "".join(members) + "]"

    def translate_member(self) -> str:
        start = self.position
        if self.skip_if("&&"):
            return "&&"
        char = self.next_char()
        if char == "[":
            return self.translate_posix_class() if self.next_is(":") else self.translate_class()
        if char != "\\":
            return self.translate_range(char)
        char = self.next_char()
        if char in "pP" and self.next_is("{"):
            return self.require_foldable_set(self.translate_property(char), start)
        if char in _MEMBERS_OF_SET_ESCAPE:
            return self.require_foldable_set(_MEMBERS_OF_SET_ESCAPE[char], start, char)
        if char in "123456789" or char in "cCM":
            raise self.error(f"\\{char} in brackets", start)
        return self.translate_range("\b" if char == "b" else self.unescape_character(char, start))

    def translate_posix_class(self) -> str:
        start = self.position - 1
        self.position += 1
        name = self.read_until(":]")
        members = _MEMBERS_OF_POSIX_CLASS.get(name.removeprefix("^"))
        if members is None:
            raise self.error(f"[:{name}:]", start)
        return self.require_foldable_set(f"[^{members}]" if name.startswith("^") else members, start, name)

    def require_foldable_set(self, members: str, start: int, name: str = "") -> str:
        """Returns the members of a set that is inside brackets.

        Raises FormatError if case is ignored and a character of the set folds to several characters.
        """
        key = name or members[3:-1].lower()
        if self.next_is("-") and not self.next_is("-]"):
            raise self.error("a range that starts with a class", start)
        if self.options.ignore_case and key not in _SHORT_FOLDING_CLASSES and key[:1] not in ("n", "p", "z"):
            raise self.error("a class of letters when case is ignored", start)
        return members

    def translate_range(self, first: str) -> str:
        """Translates the class member that starts with this character: a single character, or a range."""
        start = self.position
        last = first
        if self.next_is("-") and not self.next_is("-]") and not self.next_is("-[") and not self.next_is("-&&"):
            self.position += 1
            last = self.next_char()
            if last == "\\":
                last = self.next_char()
                if last in "pPsSdDwWhH123456789cCM":
                    raise self.error("a range that ends with a class", start)
                last = "\b" if last == "b" else self.unescape_character(last, start)
            if last < first:
                raise self.error("a range whose end is before its start", start)
        if self.options.ignore_case and (last > "\x7f" if first != last else _part_with_other_fold_length(first)):
            raise self.error("characters that fold to several when case is ignored,", start)
        return _escape_in_class(first) + ("" if first == last else "-" + _escape_in_class(last))


_HEX_DIGITS = "0123456789abcdefABCDEF"
_ESCAPE_OF_CONTROL = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def _in_brackets(members: str) -> str:
    """Returns a construct that matches the members of a class, in brackets if necessary."""
    is_complete = (members.startswith(("\\p{", "\\P{")) and members.count("\\") == 1) or members.startswith("[^")
    return members if is_complete and members.endswith(("}", "]")) else f"[{members}]"


def _escape_in_class(char: str) -> str:
    return _ESCAPE_OF_CONTROL.get(char) or ("\\" + char if char in r"\[]^-&~" else char)


# All characters whose case foldings consist of several characters are here (status F in CaseFolding.txt of Unicode
# 16.0: 104 characters). To search all of Unicode takes more time than the rest of loading a file.
_MULTI_CHARACTER_FOLD_RANGES = (range(0xC0, 0x590), range(0x1E90, 0x2000), range(0xFB00, 0xFB18))


@cache
def _multi_character_folds() -> frozenset[str]:
    """Returns the case foldings that consist of several characters."""
    folded_texts = (chr(code).casefold() for code in itertools.chain(*_MULTI_CHARACTER_FOLD_RANGES))
    return frozenset(text for text in folded_texts if len(text) > 1)


def _part_with_other_fold_length(text: str) -> str | None:
    """Returns a part of the text whose case folding can have another number of characters, or None."""
    folded_text = text.casefold()
    if len(folded_text) != len(text):
        return text
    parts = (folded_text[at : at + size] for at in range(len(folded_text)) for size in (2, 3))
    return next((part for part in parts if part in _multi_character_folds()), None)
