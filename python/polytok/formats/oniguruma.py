"""Converts regular expressions of Hugging Face's files (Oniguruma) to the engine's syntax (fancy_regex).

The reference is Oniguruma 6.9 in its default syntax, as in the wheels of the package `tokenizers`; its tables, like the
engine's, are those of Unicode 16.0. Constructs that mean the same in both are not changed, so that the engine
recognises published patterns. A construct without an equivalent is a `FormatError` that names the construct.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ..errors import FormatError

MAX_DEPTH = 50
MAX_REPEAT = 100_000
MAX_LENGTH = 1 << 16

_WORD_MEMBERS = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
# Outside brackets Oniguruma uses a separate table for U+0080 to U+00FF.
_WORD = f"[{_WORD_MEMBERS}²³¹¼-¾]"
_NOT_WORD = f"[^{_WORD_MEMBERS}²³¹¼-¾]"
_BOUNDARY = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_NOT_BOUNDARY = f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"

# Escapes outside brackets that match a position or a set of characters.
_ANCHORS = {"A": r"\A", "z": r"\z", "Z": r"(?=\n?\z)", "b": _BOUNDARY, "B": _NOT_BOUNDARY}
_SETS = {
    "s": r"\s", "S": r"\S", "d": r"\d", "D": r"\D", "w": _WORD, "W": _NOT_WORD,
    "h": "[0-9A-Fa-f]", "H": "[^0-9A-Fa-f]", "N": r"[^\n]", "O": r"[\s\S]",
    "R": "(?>\r\n|[\n\x0b\x0c\r\x85\u2028\u2029])",
}  # fmt: skip
_SETS_IN_CLASS = {
    "s": r"\s", "S": r"\S", "d": r"\d", "D": r"\D", "w": _WORD_MEMBERS, "W": f"[^{_WORD_MEMBERS}]",
    "h": "0-9A-Fa-f", "H": "[^0-9A-Fa-f]",
}  # fmt: skip
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
_NO_EQUIVALENT = {
    "G": "the start of the search", "K": "a moved start of the match", "X": "a text segment", "y": "a segment boundary",
    "Y": "not a segment boundary", "g": "a call of a group", "c": "a control character", "C": "a control character",
    "M": "a meta character",
}  # fmt: skip

# POSIX brackets and the properties of the same names, as members of a class.
_POSIX = {
    "alnum": r"\p{Alphabetic}\p{Nd}", "alpha": r"\p{Alphabetic}", "ascii": r"\x00-\x7F", "blank": r"\p{Zs}\t",
    "cntrl": r"\p{Cc}", "digit": r"\p{Nd}", "graph": r"[^\p{White_Space}\p{Cc}\p{Cn}]", "lower": r"\p{Lowercase}",
    "print": r"[^\p{Cc}\p{Cn}\p{Zl}\p{Zp}]", "punct": r"\p{P}\p{S}", "space": r"\p{White_Space}",
    "upper": r"\p{Uppercase}", "xdigit": "0-9A-Fa-f", "word": _WORD_MEMBERS,
}  # fmt: skip
# Classes in which no character folds to several characters.
_SHORT_FOLDING_CLASSES = {"s", "d", "h", "m", "mn", "mc", "me", "han", "hiragana", "katakana", "hangul", "thai"}


def translate(pattern: str) -> str:
    r"""Returns the pattern in the engine's syntax; raises FormatError for a construct without an equivalent.

    >>> translate(r"\p{L}+|^\h{2}+")
    '\\p{L}+|(?:\\A|(?<=\\n)(?!\\z))(?:[0-9A-Fa-f]{2})+'
    """
    return _Translator(pattern).run()


@dataclass(frozen=True, slots=True)
class _PatternOptions:
    """The options that are set at one position of a pattern."""

    ignore_case: bool = False
    dot_all: bool = False
    extended: bool = False


class _Translator:
    """Translates a pattern in one pass; each method reads one construct and returns its translation."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.depth = 0
        self.options = _PatternOptions()
        self.names: set[str] = set()
        self.brackets = 0
        # Groups without a name capture nothing if another group has a name.
        self.has_names = re.search(r"(?<!\\)\(\?(<[^=!]|')", pattern) is not None
        self.literal = ""
        self.literal_run = ""

    def run(self) -> str:
        if len(self.pattern) > MAX_LENGTH:
            raise FormatError(f"a regular expression has {len(self.pattern)} characters; the limit is {MAX_LENGTH}")
        translation = self.alternatives()
        if self.position < len(self.pattern):
            raise self.error("an unmatched closing parenthesis")
        return translation

    def error(self, construct: str, index: int | None = None) -> FormatError:
        """Returns an error that names a construct without an equivalent, and its index in the pattern."""
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

    def alternatives(self) -> str:
        """Translates everything up to the closing parenthesis, or to the end."""
        options = self.options
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"groups nested more than {MAX_DEPTH} deep")
        parts: list[str] = []
        while self.position < len(self.pattern) and not self.next_is(")"):
            parts.append(self.item())
        self.finish_literal_run()
        self.depth -= 1
        self.options = options
        return "".join(parts)

    def item(self) -> str:
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
        self.literal = ""
        text, is_target = self.atom()
        literal = self.literal
        with_quantifier = self.with_quantifiers(text, is_target)
        self.literal_run += literal
        if not literal or with_quantifier != text:
            self.finish_literal_run()
        return with_quantifier

    def finish_literal_run(self) -> None:
        """Ends a run of literal characters. Raises FormatError if case is ignored and a character folds to several."""
        literal_run, self.literal_run = self.literal_run, ""
        if self.options.ignore_case and (folded_text := _folds_to_several(literal_run)):
            raise self.error(f"{folded_text!r}, which folds to another number of characters when case is ignored,")

    def atom(self) -> tuple[str, bool]:
        """Translates one construct without its quantifier; the second value is True if a quantifier can follow."""
        char = self.next_char()
        if char == "(":
            return self.group()
        if char == "[":
            return self.char_class(), True
        if char == "\\":
            return self.escape()
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
        self.literal = char
        return _ESCAPED_CONTROLS.get(char) or ("\\" + char if char in r"\.+*?()|[]{}^$" else char)

    def group(self) -> tuple[str, bool]:
        start = self.position - 1
        for opening in ("?:", "?=", "?!", "?<=", "?<!", "?>"):
            if self.skip_if(opening):
                return self.group_body("(" + opening), opening in ("?:", "?>")
        if self.next_is("?<") or self.next_is("?'"):
            self.position += 2
            name = self.read_until(">" if self.pattern[self.position - 1] == "<" else "'")
            if name in self.names or not name.isidentifier():
                raise self.error(f"a group named {name!r} (a name that repeats, or is not valid)", start)
            self.names.add(name)
            return self.group_body(f"(?<{name}>"), True
        if self.skip_if("?"):
            return self.option_group(start), True
        if self.next_is("*"):
            raise self.error("a callout", start)
        return self.group_body("(?:" if self.has_names else "("), True

    def group_body(self, opening: str) -> str:
        self.finish_literal_run()
        body = self.alternatives()
        self.close()
        return f"{opening}{body})"

    def close(self) -> None:
        if not self.skip_if(")"):
            raise self.error("an unmatched opening parenthesis")

    def option_group(self, start: int) -> str:
        """Translates ``(?i:…)``, or ``(?i)…``, which applies up to the end of its group, alternatives included."""
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
        opening = {True: "?i:", False: "?-i:"}[values["i"]] if values["i"] != outer_options.ignore_case else "?:"
        body = self.alternatives()
        self.options = outer_options
        if char == ":":
            self.close()
        return f"({opening}{body})"

    # Quantifiers

    def with_quantifiers(self, text: str, is_target: bool) -> str:
        """Returns a translated construct with the quantifiers that follow it."""
        is_bare = True
        while True:
            start = self.position
            quantifier = self.quantifier()
            if quantifier is None:
                return text
            if not is_target:
                raise self.error("a quantifier after a construct that cannot be repeated", start)
            text = (text if is_bare else f"(?:{text})") + quantifier
            is_bare = False

    def quantifier(self) -> str | None:
        for sign in "?*+":
            if self.skip_if(sign):
                return sign + (self.next_char() if self.next_is("?") or self.next_is("+") else "")
        return self.interval() if self.next_is("{") else None

    def interval(self) -> str | None:
        """Translates ``{n}``, ``{n,}``, ``{,m}`` or ``{n,m}``; None for any other text. A plus after the interval
        repeats the interval."""
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
        lazy = "?" if comma and self.skip_if("?") else ""
        return ("{" + str(minimum) + ("," + maximum_text if comma else "") + "}") + lazy

    # Escapes

    def escape(self) -> tuple[str, bool]:
        start = self.position - 1
        char = self.next_char()
        if char in _ANCHORS:
            return _ANCHORS[char], False
        if char in _SETS:
            return self.without_folding(_SETS[char]), True
        if char in "pP" and self.next_is("{"):
            return self.without_folding(_in_brackets(self.property(char))), True
        if char == "k":
            return self.named_reference(start), True
        if char in "123456789":
            return self.reference(char, start), True
        if char in _NO_EQUIVALENT:
            raise self.error(f"\\{char} ({_NO_EQUIVALENT[char]})", start)
        return self.escape_literal(self.character(char, start)), True

    def without_folding(self, text: str) -> str:
        """Returns a class escape that always respects case, as Oniguruma's escapes outside brackets do."""
        return f"(?-i:{text})" if self.options.ignore_case and text.startswith((r"\p", r"\P", "[")) else text

    def reference(self, first: str, start: int) -> str:
        digits = first
        while self.position < len(self.pattern) and self.pattern[self.position] in "0123456789":
            digits += self.next_char()
        if self.has_names or int(digits) > 9:
            raise self.error(f"\\{digits} (a reference by number, or an octal character)", start)
        return f"(?:\\{digits})"

    def named_reference(self, start: int) -> str:
        if not self.skip_if("<"):
            raise self.error(r"\k without a name", start)
        name = self.read_until(">")
        if name not in self.names:
            raise self.error(rf"\k<{name}>, which names no group before it,", start)
        return rf"(?:\k<{name}>)"

    def character(self, char: str, start: int) -> str:
        """Returns the character that an escape represents."""
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in "xuo":
            return self.code(char, start)
        if char == "0":
            raise self.error(r"\0 (an octal character)", start)
        return char

    def code(self, char: str, start: int) -> str:
        base = 8 if char == "o" else 16
        if char != "u" and self.skip_if("{"):
            digits = self.read_until("}")
        elif char == "o":
            return char
        else:
            digits = ""
            while len(digits) < (4 if char == "u" else 2) and self.pattern[self.position : self.position + 1] in _HEX:
                digits += self.next_char()
        code = int(digits, base) if digits and all(d in _HEX[: base if base == 8 else None] for d in digits) else -1
        is_byte = char == "x" and not self.pattern.startswith("{", start + 2)
        if not 0 <= code < (0x80 if is_byte else 0x110000) or 0xD800 <= code < 0xE000:
            raise self.error(f"\\{char}{digits}, which is not a character,", start)
        return chr(code)

    def property(self, sign: str) -> str:
        """Translates ``{Name}`` of a property to members of a class."""
        self.position += 1
        start = self.position
        name = self.read_until("}")
        is_negated = (sign == "P") != name.startswith("^")
        plain_name = name.removeprefix("^").replace(" ", "")
        key = plain_name.replace("_", "").replace("-", "").lower()
        if not key.isalnum() or key.startswith("in"):
            raise self.error(f"the property {name!r}", start)
        posix = {"punct": r"\p{P}"}.get(key) or _POSIX.get(key)
        if key == "word":
            posix = _WORD_MEMBERS if self.brackets else _WORD[1:-1]
        if posix is not None:
            return f"[^{posix}]" if is_negated else posix
        return f"\\{'P' if is_negated else 'p'}{{{plain_name.replace('-', '_')}}}"

    # Classes

    def char_class(self) -> str:
        self.brackets += 1
        if self.brackets > MAX_DEPTH:
            raise self.error(f"brackets nested more than {MAX_DEPTH} deep")
        opening = "[^" if self.skip_if("^") else "["
        members: list[str] = []
        if self.next_is("]"):
            if "]" not in self.pattern[self.position + 1 :]:
                raise self.error("an empty class")
            members.append(self.range_from(self.next_char()))
        while not self.skip_if("]"):
            members.append(self.member())
        self.brackets -= 1
        if not members or members[0] == "&&" or members[-1] == "&&":
            raise self.error("an empty class")
        return opening + "".join(members) + "]"

    def member(self) -> str:
        start = self.position
        if self.skip_if("&&"):
            return "&&"
        char = self.next_char()
        if char == "[":
            return self.posix() if self.next_is(":") else self.char_class()
        if char != "\\":
            return self.range_from(char)
        char = self.next_char()
        if char in "pP" and self.next_is("{"):
            return self.checked_set(self.property(char), start)
        if char in _SETS_IN_CLASS:
            return self.checked_set(_SETS_IN_CLASS[char], start, char)
        if char in "123456789" or char in "cCM":
            raise self.error(f"\\{char} in brackets", start)
        return self.range_from("\b" if char == "b" else self.character(char, start))

    def posix(self) -> str:
        start = self.position - 1
        self.position += 1
        name = self.read_until(":]")
        members = _POSIX.get(name.removeprefix("^"))
        if members is None:
            raise self.error(f"[:{name}:]", start)
        return self.checked_set(f"[^{members}]" if name.startswith("^") else members, start, name)

    def checked_set(self, members: str, start: int, name: str = "") -> str:
        """Returns a set inside brackets.

        Raises FormatError if case is ignored and a character of the set folds to several.
        """
        key = name or members[3:-1].lower()
        if self.next_is("-") and not self.next_is("-]"):
            raise self.error("a range that starts with a class", start)
        if self.options.ignore_case and key not in _SHORT_FOLDING_CLASSES and key[:1] not in ("n", "p", "z"):
            raise self.error("a class of letters when case is ignored", start)
        return members

    def range_from(self, first: str) -> str:
        """Translates a member of a class that starts with this character: the character itself, or a range."""
        start = self.position
        last = first
        if self.next_is("-") and not self.next_is("-]") and not self.next_is("-[") and not self.next_is("-&&"):
            self.position += 1
            last = self.next_char()
            if last == "\\":
                last = self.next_char()
                if last in "pPsSdDwWhH123456789cCM":
                    raise self.error("a range that ends with a class", start)
                last = "\b" if last == "b" else self.character(last, start)
            if last < first:
                raise self.error("a range whose end is before its start", start)
        if self.options.ignore_case and (last > "\x7f" if first != last else _folds_to_several(first)):
            raise self.error("characters that fold to several when case is ignored,", start)
        return _escape_in_class(first) + ("" if first == last else "-" + _escape_in_class(last))


_HEX = "0123456789abcdefABCDEF"
_ESCAPED_CONTROLS = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def _in_brackets(members: str) -> str:
    """Returns the members of a class as a complete construct, in brackets if necessary."""
    is_complete = (members.startswith(("\\p{", "\\P{")) and members.count("\\") == 1) or members.startswith("[^")
    return members if is_complete and members.endswith(("}", "]")) else f"[{members}]"


def _escape_in_class(char: str) -> str:
    return _ESCAPED_CONTROLS.get(char) or ("\\" + char if char in r"\[]^-&~" else char)


@cache
def _long_folds() -> frozenset[str]:
    """Returns the folded texts of all characters that fold to several characters."""
    folded_texts = (chr(code).casefold() for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    return frozenset(text for text in folded_texts if len(text) > 1)


def _folds_to_several(text: str) -> str | None:
    """Returns a part of the text that folds to another number of characters, or None."""
    folded_text = text.casefold()
    if len(folded_text) != len(text):
        return text
    parts = (folded_text[at : at + size] for at in range(len(folded_text)) for size in (2, 3))
    return next((part for part in parts if part in _long_folds()), None)
