"""llama.cpp's pre-tokenizers (unicode.cpp): a list of expressions, each applied to the pieces of the previous one.

Most run in C++'s std::regex, which does not know Unicode. So an expression with a category is matched against a text in
which each character beyond ASCII is replaced by one that represents its category, and any other expression against the
text with only the white space changed. Some expressions are implemented as code instead, which examines the characters
themselves. Matches are pieces and so are the gaps between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from polytok.formats import gguf_pretokenizers as known
from polytok.reference.llama_cpp_unicode import WHITE, category, lower

Piece = Sequence[int]
_STANDS_FOR = {"N": "\xd1", "L": "\xd2", "P": "\xd3", "M": "\xd4", "S": "\xd5"}
_OF_ASCII = {"N": "0-9", "L": "A-Za-z", "P": r"!-#%-*,-/:-;?-@\[-\]_\{\}", "M": "", "S": r"\$\+<->\^`\|\~"}
_ANY_CATEGORY = re.compile(r"\\p\{([NLPMS])[ultmo]?\}")
_IS_HAN = re.compile(f"[{known.HAN}]")


def split(expressions: Sequence[str], codes: Piece) -> list[Piece]:
    """The pieces of a text."""
    pieces = [codes]
    for expression in expressions:
        cut = _CODE.get(expression) or _by_regex(expression)
        pieces = [part for piece in pieces for part in _parts(piece, cut(piece))]
    return pieces


def _parts(piece: Piece, ends: Iterator[int]) -> Iterator[Piece]:
    start = 0
    for end in (*ends, len(piece)):
        if start < end:
            yield piece[start:end]
        start = max(start, end)


def _by_regex(expression: str) -> Callable[[Piece], Iterator[int]]:
    by_category = _ANY_CATEGORY.search(expression) is not None
    pattern = re.compile(_collapsed_expression(expression) if by_category else expression, re.ASCII)

    def cut(piece: Piece) -> Iterator[int]:
        for match in pattern.finditer("".join(map(_collapsed if by_category else _spaced, piece))):
            yield from match.span()

    return cut


def _collapsed(code: int) -> str:
    if code < 0x80:
        return chr(code)
    return "\v" if code in WHITE else _STANDS_FOR.get(category(code), "\xd0")


def _spaced(code: int) -> str:
    return "\v" if code in WHITE and code >= 0x80 else chr(code)


def _collapsed_expression(expression: str) -> str:
    """Replace each category by the class of the characters that represent it."""
    out, at, inside = "", 0, False
    while at < len(expression):
        found = _ANY_CATEGORY.match(expression, at)
        if found:
            members = _STANDS_FOR[found[1]] + _OF_ASCII[found[1]]
            out += members if inside else f"[{members}]"
            at = found.end()
            continue
        if expression[at] in "[]" and expression[at - 1 : at] != "\\":
            inside = expression[at] == "["
        out += expression[at]
        at += 1
    return out


class _Characters:
    """Tests of the characters of a piece; every test fails outside of it."""

    def __init__(self, piece: Piece, letters: str = "L", without_han: bool = False) -> None:
        self.piece, self.letters, self.without_han = piece, letters, without_han

    def at(self, at: int) -> str:
        return chr(self.piece[at]) if at < len(self.piece) else ""

    def is_white(self, at: int) -> bool:
        return at < len(self.piece) and self.piece[at] in WHITE

    def is_number(self, at: int) -> bool:
        return at < len(self.piece) and category(self.piece[at]) == "N"

    def is_letter(self, at: int) -> bool:
        return at < len(self.piece) and category(self.piece[at]) in self.letters

    def is_han(self, at: int) -> bool:
        return self.without_han and _IS_HAN.match(self.at(at)) is not None

    def is_word(self, at: int) -> bool:
        return self.is_letter(at) and not self.is_han(at)

    def is_symbol(self, at: int) -> bool:
        inside = at < len(self.piece)
        return inside and not (self.is_white(at) or self.is_letter(at) or self.is_number(at))

    def run(self, test: Callable[[int], bool], at: int) -> int:
        while test(at):
            at += 1
        return at

    def contraction(self, at: int, fold: Callable[[int], int]) -> int:
        """The end of an English contraction, or `at`."""
        if self.at(at) == "'":
            rest = "".join(chr(fold(code)) for code in self.piece[at + 1 : at + 3])
            if rest[:1] and rest[0] in "stmd":
                return at + 2
            if rest in ("re", "ve", "ll"):
                return at + 3
        return at

    def white_space(self, at: int) -> int:
        """All of a run, except the last character if text follows."""
        end = self.run(self.is_white, at)
        return end - 1 if end - at > 1 and end < len(self.piece) else end


def _gpt2(piece: Piece) -> Iterator[int]:
    text, at = _Characters(piece), 0
    while at < len(piece):
        start = at + (text.at(at) == " ")
        at = next(
            end
            for end, begun in (
                (text.contraction(at, lambda code: code), at),
                (text.run(text.is_letter, start), start),
                (text.run(text.is_number, start), start),
                (text.run(text.is_symbol, start), start),
                (text.white_space(at), at),
            )
            if end > begun
        )
        yield at


def _llama3(digits: int, letters: str = "L") -> Callable[[Piece], Iterator[int]]:
    def cut(piece: Piece) -> Iterator[int]:
        text, at = _Characters(piece, letters), 0
        while at < len(piece):
            contraction = text.contraction(at, lower)
            if contraction > at:
                at = contraction
            elif not (text.at(at) in "\r\n" or text.is_number(at)) and (text.is_letter(at) or text.is_letter(at + 1)):
                at = text.run(text.is_letter, at + 1)
            else:
                at = _rest(text, at, digits)
            yield at

    return cut


def _kimi(piece: Piece) -> Iterator[int]:
    text, at = _Characters(piece, without_han=True), 0
    while at < len(piece):
        begins = not (text.at(at) in "\r\n" or text.is_letter(at) or text.is_number(at))
        if text.is_han(at):
            at = text.run(text.is_han, at)
        elif text.is_word(at) or (begins and text.is_word(at + 1)):
            at = text.contraction(text.run(text.is_word, at + begins), lower)
        else:
            at = _rest(text, at, 3)
        yield at


def _rest(text: _Characters, at: int, digits: int) -> int:
    """Numbers, symbols, white space."""
    if text.is_number(at):
        return min(text.run(text.is_number, at), at + digits)
    start = at + (text.at(at) == " ")
    if text.is_symbol(start):
        return text.run(lambda at: text.at(at) in ("\r", "\n"), text.run(text.is_symbol, start))
    end = text.run(text.is_white, at)
    breaks = [place + 1 for place in range(at, end) if text.at(place) in "\r\n"]
    return breaks[-1] if breaks else text.white_space(at)


def _digits(piece: Piece) -> Iterator[int]:
    """Split runs of numbers into threes from the right; text before a run is part of its first piece."""
    text, at = _Characters(piece), 0
    while at < len(piece):
        end = text.run(text.is_number, at)
        if end > at:
            yield from range(at + ((end - at) % 3 or 3), end + 1, 3)
        at = max(end, at + 1)


def _newlines(piece: Piece) -> Iterator[int]:
    for at in range(1, len(piece)):
        if (piece[at] == 0x0A) != (piece[at - 1] == 0x0A):
            yield at


_CODE: dict[str, Callable[[Piece], Iterator[int]]] = {
    known.GPT2: _gpt2,
    known.LLAMA3: _llama3(3),
    known.QWEN2: _llama3(1),
    known.QWEN35: _llama3(1, "LM"),
    known.KIMI: _kimi,
    known.DIGITS: _digits,
    known.DIGITS_OF_AYA: _digits,
    known.NEWLINES: _newlines,
}
