"""llama.cpp's pre-tokenizers (unicode.cpp): a list of expressions, each applied to the pieces of the previous one.

Most expressions run in C++'s std::regex, which does not know Unicode. An expression with a Unicode category is
therefore matched against a text in which each character beyond ASCII is replaced by one that represents its category.
Any other expression is matched against the text with only the white space changed. Some expressions are implemented as
code instead, which examines the characters themselves. Matches are pieces, and so are the gaps between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from polytok.formats import gguf_pretokenizers
from polytok.reference.llama_cpp_unicode import WHITE, category, lower

Piece = Sequence[int]
_CATEGORY_CHARACTERS = {"N": "\xd1", "L": "\xd2", "P": "\xd3", "M": "\xd4", "S": "\xd5"}
_ASCII_MEMBERS = {"N": "0-9", "L": "A-Za-z", "P": r"!-#%-*,-/:-;?-@\[-\]_\{\}", "M": "", "S": r"\$\+<->\^`\|\~"}
_ANY_CATEGORY = re.compile(r"\\p\{([NLPMS])[ultmo]?\}")
_IS_HAN = re.compile(f"[{gguf_pretokenizers.HAN}]")


def split(expressions: Sequence[str], codes: Piece) -> list[Piece]:
    """Returns the pieces of a text, as code points."""
    pieces = [codes]
    for expression in expressions:
        find_boundaries = _CODED_EXPRESSIONS.get(expression) or _regex_splitter(expression)
        pieces = [part for piece in pieces for part in _split_at(piece, find_boundaries(piece))]
    return pieces


def _split_at(piece: Piece, ends: Iterator[int]) -> Iterator[Piece]:
    start = 0
    for end in (*ends, len(piece)):
        if start < end:
            yield piece[start:end]
        start = max(start, end)


def _regex_splitter(expression: str) -> Callable[[Piece], Iterator[int]]:
    by_category = _ANY_CATEGORY.search(expression) is not None
    pattern = re.compile(_expand_categories(expression) if by_category else expression, re.ASCII)

    def find_boundaries(piece: Piece) -> Iterator[int]:
        for match in pattern.finditer("".join(map(_category_character if by_category else _space_character, piece))):
            yield from match.span()

    return find_boundaries


def _category_character(code: int) -> str:
    if code < 0x80:
        return chr(code)
    return "\v" if code in WHITE else _CATEGORY_CHARACTERS.get(category(code), "\xd0")


def _space_character(code: int) -> str:
    return "\v" if code in WHITE and code >= 0x80 else chr(code)


def _expand_categories(expression: str) -> str:
    """Replaces each category in an expression with the class of the characters that represent it."""
    expanded, at, is_in_class = "", 0, False
    while at < len(expression):
        category_match = _ANY_CATEGORY.match(expression, at)
        if category_match:
            class_members = _CATEGORY_CHARACTERS[category_match[1]] + _ASCII_MEMBERS[category_match[1]]
            expanded += class_members if is_in_class else f"[{class_members}]"
            at = category_match.end()
            continue
        if expression[at] in "[]" and expression[at - 1 : at] != "\\":
            is_in_class = expression[at] == "["
        expanded += expression[at]
        at += 1
    return expanded


class _PieceCharacters:
    """Tests of the characters of a piece; every test is false outside the piece."""

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
        is_inside = at < len(self.piece)
        return is_inside and not (self.is_white(at) or self.is_letter(at) or self.is_number(at))

    def run_end(self, test: Callable[[int], bool], at: int) -> int:
        while test(at):
            at += 1
        return at

    def contraction_end(self, at: int, fold: Callable[[int], int]) -> int:
        """Returns the end of an English contraction that starts at ``at``, or ``at`` if none does."""
        if self.at(at) == "'":
            next_letters = "".join(chr(fold(code)) for code in self.piece[at + 1 : at + 3])
            if next_letters[:1] and next_letters[0] in "stmd":
                return at + 2
            if next_letters in ("re", "ve", "ll"):
                return at + 3
        return at

    def white_space_end(self, at: int) -> int:
        """Returns the end of a run of white space, without its last character if text follows."""
        end = self.run_end(self.is_white, at)
        return end - 1 if end - at > 1 and end < len(self.piece) else end


def _gpt2_boundaries(piece: Piece) -> Iterator[int]:
    text, at = _PieceCharacters(piece), 0
    while at < len(piece):
        start = at + (text.at(at) == " ")
        at = next(
            end
            for end, kind_start in (
                (text.contraction_end(at, lambda code: code), at),
                (text.run_end(text.is_letter, start), start),
                (text.run_end(text.is_number, start), start),
                (text.run_end(text.is_symbol, start), start),
                (text.white_space_end(at), at),
            )
            if end > kind_start
        )
        yield at


def _llama3_boundaries(digits: int, letters: str = "L") -> Callable[[Piece], Iterator[int]]:
    def find_boundaries(piece: Piece) -> Iterator[int]:
        text, at = _PieceCharacters(piece, letters), 0
        while at < len(piece):
            contraction_end = text.contraction_end(at, lower)
            if contraction_end > at:
                at = contraction_end
            elif not (text.at(at) in "\r\n" or text.is_number(at)) and (text.is_letter(at) or text.is_letter(at + 1)):
                at = text.run_end(text.is_letter, at + 1)
            else:
                at = _number_symbol_or_space_end(text, at, digits)
            yield at

    return find_boundaries


def _kimi_boundaries(piece: Piece) -> Iterator[int]:
    text, at = _PieceCharacters(piece, without_han=True), 0
    while at < len(piece):
        has_prefix = not (text.at(at) in "\r\n" or text.is_letter(at) or text.is_number(at))
        if text.is_han(at):
            at = text.run_end(text.is_han, at)
        elif text.is_word(at) or (has_prefix and text.is_word(at + 1)):
            at = text.contraction_end(text.run_end(text.is_word, at + has_prefix), lower)
        else:
            at = _number_symbol_or_space_end(text, at, 3)
        yield at


def _number_symbol_or_space_end(text: _PieceCharacters, at: int, digits: int) -> int:
    """Returns the end of a piece of numbers, symbols or white space."""
    if text.is_number(at):
        return min(text.run_end(text.is_number, at), at + digits)
    start = at + (text.at(at) == " ")
    if text.is_symbol(start):
        return text.run_end(lambda at: text.at(at) in ("\r", "\n"), text.run_end(text.is_symbol, start))
    end = text.run_end(text.is_white, at)
    line_ends = [index + 1 for index in range(at, end) if text.at(index) in "\r\n"]
    return line_ends[-1] if line_ends else text.white_space_end(at)


def _digit_boundaries(piece: Piece) -> Iterator[int]:
    """Yields boundaries that split runs of numbers into threes from the right. Text before a run is not split off."""
    text, at = _PieceCharacters(piece), 0
    while at < len(piece):
        end = text.run_end(text.is_number, at)
        if end > at:
            yield from range(at + ((end - at) % 3 or 3), end + 1, 3)
        at = max(end, at + 1)


def _newline_boundaries(piece: Piece) -> Iterator[int]:
    for at in range(1, len(piece)):
        if (piece[at] == 0x0A) != (piece[at - 1] == 0x0A):
            yield at


_CODED_EXPRESSIONS: dict[str, Callable[[Piece], Iterator[int]]] = {
    gguf_pretokenizers.GPT2: _gpt2_boundaries,
    gguf_pretokenizers.LLAMA3: _llama3_boundaries(3),
    gguf_pretokenizers.QWEN2: _llama3_boundaries(1),
    gguf_pretokenizers.QWEN35: _llama3_boundaries(1, "LM"),
    gguf_pretokenizers.KIMI: _kimi_boundaries,
    gguf_pretokenizers.DIGITS: _digit_boundaries,
    gguf_pretokenizers.DIGITS_OF_AYA: _digit_boundaries,
    gguf_pretokenizers.NEWLINES: _newline_boundaries,
}
