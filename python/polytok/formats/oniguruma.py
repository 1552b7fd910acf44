"""Regular expressions of Hugging Face's files (Oniguruma) in the engine's syntax (fancy_regex).

The reference is Oniguruma 6.9 in its own default syntax, as the tokenizers wheels run it; its tables are those of
Unicode 16.0, the engine's too. What reads the same in both is left as it stands, so that the engine knows the published
patterns again. A construct without an equivalent is a `FormatError` that names it.
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
# Outside of brackets Oniguruma decides U+0080 to U+00FF by a table of its own.
_WORD = f"[{_WORD_MEMBERS}²³¹¼-¾]"
_NO_WORD = f"[^{_WORD_MEMBERS}²³¹¼-¾]"
_BOUNDARY = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_NO_BOUNDARY = f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"

# Escapes that are no characters and may stand outside of brackets.
_ANCHORS = {"A": r"\A", "z": r"\z", "Z": r"(?=\n?\z)", "b": _BOUNDARY, "B": _NO_BOUNDARY}
_SETS = {
    "s": r"\s", "S": r"\S", "d": r"\d", "D": r"\D", "w": _WORD, "W": _NO_WORD,
    "h": "[0-9A-Fa-f]", "H": "[^0-9A-Fa-f]", "N": r"[^\n]", "O": r"[\s\S]",
    "R": "(?>\r\n|[\n\x0b\x0c\r\x85\u2028\u2029])",
}  # fmt: skip
_SETS_IN_CLASS = {
    "s": r"\s", "S": r"\S", "d": r"\d", "D": r"\D", "w": _WORD_MEMBERS, "W": f"[^{_WORD_MEMBERS}]",
    "h": "0-9A-Fa-f", "H": "[^0-9A-Fa-f]",
}  # fmt: skip
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
_NO_EQUIVALENT = {
    "G": "where the search began", "K": "a moved start of the match", "X": "a text segment", "y": "a segment border",
    "Y": "no segment border", "g": "a call of a group", "c": "a control character", "C": "a control character",
    "M": "a meta character",
}  # fmt: skip

# POSIX brackets and the properties of the same names, as members of a class.
_POSIX = {
    "alnum": r"\p{Alphabetic}\p{Nd}", "alpha": r"\p{Alphabetic}", "ascii": r"\x00-\x7F", "blank": r"\p{Zs}\t",
    "cntrl": r"\p{Cc}", "digit": r"\p{Nd}", "graph": r"[^\p{White_Space}\p{Cc}\p{Cn}]", "lower": r"\p{Lowercase}",
    "print": r"[^\p{Cc}\p{Cn}\p{Zl}\p{Zp}]", "punct": r"\p{P}\p{S}", "space": r"\p{White_Space}",
    "upper": r"\p{Uppercase}", "xdigit": "0-9A-Fa-f", "word": _WORD_MEMBERS,
}  # fmt: skip
# Classes none of whose characters folds to several.
_UNFOLDED = {"s", "d", "h", "m", "mn", "mc", "me", "han", "hiragana", "katakana", "hangul", "thai"}


def translate(pattern: str) -> str:
    r"""The pattern in the engine's syntax.

    >>> translate(r"\p{L}+|^\h{2}+")
    '\\p{L}+|(?:\\A|(?<=\\n)(?!\\z))(?:[0-9A-Fa-f]{2})+'
    """
    return _Translator(pattern).run()


@dataclass(frozen=True, slots=True)
class _Options:
    ignore_case: bool = False
    dot_all: bool = False
    extended: bool = False


class _Translator:
    """One pass over the pattern; each method reads one construct and gives its translation."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0
        self.options = _Options()
        self.names: set[str] = set()
        self.brackets = 0
        # Groups without a name capture nothing where others have one.
        self.has_names = re.search(r"(?<!\\)\(\?(<[^=!]|')", pattern) is not None
        self.literal = ""
        self.literals = ""

    def run(self) -> str:
        if len(self.pattern) > MAX_LENGTH:
            raise FormatError(
                f"a regular expression has {len(self.pattern)} characters; no more than {MAX_LENGTH} are read"
            )
        translated = self.alternatives()
        if self.at < len(self.pattern):
            raise self.error("a parenthesis that nothing opens")
        return translated

    def error(self, what: str, at: int | None = None) -> FormatError:
        place = self.at if at is None else at
        return FormatError(
            f"the regular expression {self.pattern!r} has {what} at character {place}, for which the engine has no"
            " equivalent; write the pattern without it"
        )

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def eat(self, text: str) -> bool:
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def take(self) -> str:
        if self.at == len(self.pattern):
            raise self.error("an end before its time")
        self.at += 1
        return self.pattern[self.at - 1]

    def until(self, end: str) -> str:
        start = self.at
        stop = self.pattern.find(end, start)
        if stop < 0:
            raise self.error(f"no {end!r} behind it", start)
        self.at = stop + len(end)
        return self.pattern[start:stop]

    # Groups and sequences

    def alternatives(self) -> str:
        """Everything up to the closing parenthesis, or the end."""
        options = self.options
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"more than {MAX_DEPTH} groups within each other")
        parts: list[str] = []
        while self.at < len(self.pattern) and not self.peek(")"):
            parts.append(self.item())
        self.end_literals()
        self.depth -= 1
        self.options = options
        return "".join(parts)

    def item(self) -> str:
        start = self.at
        if self.options.extended and (self.peek("#") or self.pattern[start] in " \t\n\r\f\v"):
            newline = self.pattern.find("\n", start) if self.eat("#") else start
            self.at = newline + 1 if newline >= 0 else len(self.pattern)
            return ""
        if self.eat("(?#"):
            self.until(")")
            return ""
        if self.pattern[start] in "*+?":
            raise self.error("a quantifier with nothing before it")
        self.literal = ""
        text, is_target = self.atom()
        literal = self.literal
        quantified = self.quantified(text, is_target)
        self.literals += literal
        if not literal or quantified != text:
            self.end_literals()
        return quantified

    def end_literals(self) -> None:
        """Text that ignores case is refused where a character matches several."""
        run, self.literals = self.literals, ""
        if self.options.ignore_case and (folded := _folds_to_several(run)):
            raise self.error(f"{folded!r}, which matches another number of characters where case is ignored,")

    def atom(self) -> tuple[str, bool]:
        """One construct without its quantifier, and whether it may have one."""
        c = self.take()
        if c == "(":
            return self.group()
        if c == "[":
            return self.char_class(), True
        if c == "\\":
            return self.escape()
        if c == ".":
            return (r"[\s\S]" if self.options.dot_all else "."), True
        if c == "^":
            return r"(?:\A|(?<=\n)(?!\z))", False
        if c == "$":
            return r"(?![^\n])", False
        if c == "|":
            return c, False
        return self.written(c), True

    def written(self, c: str) -> str:
        """A character that stands for itself."""
        self.literal = c
        return _SPELLED.get(c) or ("\\" + c if c in r"\.+*?()|[]{}^$" else c)

    def group(self) -> tuple[str, bool]:
        start = self.at - 1
        for opening in ("?:", "?=", "?!", "?<=", "?<!", "?>"):
            if self.eat(opening):
                return self.group_body("(" + opening), opening in ("?:", "?>")
        if self.peek("?<") or self.peek("?'"):
            self.at += 2
            name = self.until(">" if self.pattern[self.at - 1] == "<" else "'")
            if name in self.names or not name.isidentifier():
                raise self.error(f"a group named {name!r} (again, or no name)", start)
            self.names.add(name)
            return self.group_body(f"(?<{name}>"), True
        if self.eat("?"):
            return self.option_group(start), True
        if self.peek("*"):
            raise self.error("a callout", start)
        return self.group_body("(?:" if self.has_names else "("), True

    def group_body(self, opening: str) -> str:
        self.end_literals()
        body = self.alternatives()
        self.close()
        return f"{opening}{body})"

    def close(self) -> None:
        if not self.eat(")"):
            raise self.error("a parenthesis that nothing closes")

    def option_group(self, start: int) -> str:
        """``(?i:…)`` or ``(?i)…``, which reaches to the end of its group, alternatives included."""
        self.end_literals()
        outer = self.options
        values = {"i": outer.ignore_case, "m": outer.dot_all, "x": outer.extended}
        wanted = True
        while (c := self.take()) not in ":)":
            if c == "-":
                wanted = False
            elif c in values:
                values[c] = wanted
            else:
                raise self.error(f"the group option {c!r}", start)
        self.options = _Options(values["i"], values["m"], values["x"])
        changed = {True: "?i:", False: "?-i:"}[values["i"]] if values["i"] != outer.ignore_case else "?:"
        body = self.alternatives()
        self.options = outer
        if c == ":":
            self.close()
        return f"({changed}{body})"

    # Quantifiers

    def quantified(self, text: str, is_target: bool) -> str:
        is_bare = True
        while True:
            start = self.at
            found = self.quantifier()
            if found is None:
                return text
            if not is_target:
                raise self.error("a quantifier behind what cannot be repeated", start)
            text = (text if is_bare else f"(?:{text})") + found
            is_bare = False

    def quantifier(self) -> str | None:
        for sign in "?*+":
            if self.eat(sign):
                return sign + (self.take() if self.peek("?") or self.peek("+") else "")
        return self.interval() if self.peek("{") else None

    def interval(self) -> str | None:
        """``{n}``, ``{n,}``, ``{,m}``, ``{n,m}``; anything else is a text, and a plus behind it repeats it."""
        stop = self.pattern.find("}", self.at)
        inside = self.pattern[self.at + 1 : stop] if stop >= 0 else ""
        low, comma, high = inside.partition(",")
        if not all(part == "" or (part.isascii() and part.isdigit()) for part in (low, high)) or not (low or high):
            return None
        at_least, at_most = int(low or 0), int(high) if high else None
        if max(at_least, at_most or 0) > MAX_REPEAT:
            raise self.error("a number of repetitions that is too big")
        if at_most is not None and at_least > at_most:
            raise self.error("an interval that runs backwards")
        self.at = stop + 1
        lazy = "?" if comma and self.eat("?") else ""
        return ("{" + str(at_least) + ("," + high if comma else "") + "}") + lazy

    # Escapes

    def escape(self) -> tuple[str, bool]:
        start = self.at - 1
        c = self.take()
        if c in _ANCHORS:
            return _ANCHORS[c], False
        if c in _SETS:
            return self.unfolded(_SETS[c]), True
        if c in "pP" and self.peek("{"):
            return self.unfolded(_bracketed(self.property(c))), True
        if c == "k":
            return self.named_reference(start), True
        if c in "123456789":
            return self.reference(c, start), True
        if c in _NO_EQUIVALENT:
            raise self.error(f"\\{c} ({_NO_EQUIVALENT[c]})", start)
        return self.written(self.character(c, start)), True

    def unfolded(self, text: str) -> str:
        """A class escape outside of brackets is not folded."""
        return f"(?-i:{text})" if self.options.ignore_case and text.startswith((r"\p", r"\P", "[")) else text

    def reference(self, first: str, start: int) -> str:
        digits = first
        while self.at < len(self.pattern) and self.pattern[self.at] in "0123456789":
            digits += self.take()
        if self.has_names or int(digits) > 9:
            raise self.error(f"\\{digits} (a reference by number, or an octal character)", start)
        return f"(?:\\{digits})"

    def named_reference(self, start: int) -> str:
        if not self.eat("<"):
            raise self.error(r"\k without a name", start)
        name = self.until(">")
        if name not in self.names:
            raise self.error(rf"\k<{name}>, which names no group before it,", start)
        return rf"(?:\k<{name}>)"

    def character(self, c: str, start: int) -> str:
        """The character that an escape stands for."""
        if c in _CONTROLS:
            return _CONTROLS[c]
        if c in "xuo":
            return self.code(c, start)
        if c == "0":
            raise self.error(r"\0 (an octal character)", start)
        return c

    def code(self, c: str, start: int) -> str:
        base = 8 if c == "o" else 16
        if c != "u" and self.eat("{"):
            digits = self.until("}")
        elif c == "o":
            return c
        else:
            digits = ""
            while len(digits) < (4 if c == "u" else 2) and self.pattern[self.at : self.at + 1] in _HEX:
                digits += self.take()
        code = int(digits, base) if digits and all(d in _HEX[: base if base == 8 else None] for d in digits) else -1
        is_byte = c == "x" and not self.pattern.startswith("{", start + 2)
        if not 0 <= code < (0x80 if is_byte else 0x110000) or 0xD800 <= code < 0xE000:
            raise self.error(f"a character \\{c}{digits} that is none", start)
        return chr(code)

    def property(self, sign: str) -> str:
        """``{Name}`` as members of a class."""
        self.at += 1
        start = self.at
        name = self.until("}")
        negated = (sign == "P") != name.startswith("^")
        plain = name.removeprefix("^").replace(" ", "")
        key = plain.replace("_", "").replace("-", "").lower()
        if not key.isalnum() or key.startswith("in"):
            raise self.error(f"the property {name!r}", start)
        posix = {"punct": r"\p{P}"}.get(key) or _POSIX.get(key)
        if key == "word":
            posix = _WORD_MEMBERS if self.brackets else _WORD[1:-1]
        if posix is not None:
            return f"[^{posix}]" if negated else posix
        return f"\\{'P' if negated else 'p'}{{{plain.replace('-', '_')}}}"

    # Classes

    def char_class(self) -> str:
        self.brackets += 1
        if self.brackets > MAX_DEPTH:
            raise self.error(f"more than {MAX_DEPTH} brackets within each other")
        opening = "[^" if self.eat("^") else "["
        members: list[str] = []
        if self.peek("]"):
            if "]" not in self.pattern[self.at + 1 :]:
                raise self.error("an empty class")
            members.append(self.range_from(self.take()))
        while not self.eat("]"):
            members.append(self.member())
        self.brackets -= 1
        if not members or members[0] == "&&" or members[-1] == "&&":
            raise self.error("an empty class")
        return opening + "".join(members) + "]"

    def member(self) -> str:
        start = self.at
        if self.eat("&&"):
            return "&&"
        c = self.take()
        if c == "[":
            return self.posix() if self.peek(":") else self.char_class()
        if c != "\\":
            return self.range_from(c)
        c = self.take()
        if c in "pP" and self.peek("{"):
            return self.checked_set(self.property(c), start)
        if c in _SETS_IN_CLASS:
            return self.checked_set(_SETS_IN_CLASS[c], start, c)
        if c in "123456789" or c in "cCM":
            raise self.error(f"\\{c} in brackets", start)
        return self.range_from("\b" if c == "b" else self.character(c, start))

    def posix(self) -> str:
        start = self.at - 1
        self.at += 1
        name = self.until(":]")
        members = _POSIX.get(name.removeprefix("^"))
        if members is None:
            raise self.error(f"[:{name}:]", start)
        return self.checked_set(f"[^{members}]" if name.startswith("^") else members, start, name)

    def checked_set(self, members: str, start: int, name: str = "") -> str:
        """A set inside brackets; where case is ignored only one whose characters fold to single ones."""
        key = name or members[3:-1].lower()
        if self.peek("-") and not self.peek("-]"):
            raise self.error("a range that starts with a class", start)
        if self.options.ignore_case and key not in _UNFOLDED and key[:1] not in ("n", "p", "z"):
            raise self.error("a class of letters where case is ignored", start)
        return members

    def range_from(self, first: str) -> str:
        """A member that starts with this character: itself, or a range."""
        start = self.at
        last = first
        if self.peek("-") and not self.peek("-]") and not self.peek("-[") and not self.peek("-&&"):
            self.at += 1
            last = self.take()
            if last == "\\":
                last = self.take()
                if last in "pPsSdDwWhH123456789cCM":
                    raise self.error("a range that ends with a class", start)
                last = "\b" if last == "b" else self.character(last, start)
            if last < first:
                raise self.error("a range that runs backwards", start)
        if self.options.ignore_case and (last > "\x7f" if first != last else _folds_to_several(first)):
            raise self.error("characters that fold to several where case is ignored,", start)
        return _written_in_class(first) + ("" if first == last else "-" + _written_in_class(last))


_HEX = "0123456789abcdefABCDEF"
_SPELLED = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def _bracketed(members: str) -> str:
    """Members of a class as something that stands by itself."""
    stands = (members.startswith(("\\p{", "\\P{")) and members.count("\\") == 1) or members.startswith("[^")
    return members if stands and members.endswith(("}", "]")) else f"[{members}]"


def _written_in_class(c: str) -> str:
    return _SPELLED.get(c) or ("\\" + c if c in r"\[]^-&~" else c)


@cache
def _several() -> frozenset[str]:
    """What characters fold to that fold to several."""
    folded = (chr(code).casefold() for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    return frozenset(text for text in folded if len(text) > 1)


def _folds_to_several(text: str) -> str | None:
    """A part of the text that matches another number of characters where case is ignored."""
    folded = text.casefold()
    if len(folded) != len(text):
        return text
    parts = (folded[at : at + size] for at in range(len(folded)) for size in (2, 3))
    return next((part for part in parts if part in _several()), None)
