"""minbpe's ``.model``, version 1: a pattern, special tokens and merges, one per line.

A model with an empty pattern line belongs to minbpe's BasicTokenizer, which does not split. The format has no escapes:
white space around the pattern is stripped on reading, and a special token that contains white space cannot be written.
minbpe also writes a ``.vocab`` file for people; polytok writes this file too, and never reads it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import _core
from ..errors import FormatError
from ..spec import Bpe, Origin, PatternSplit, Spec, SpecialToken, Vocab, described, merges_bytes
from .base import MAX_ID, ReadOptions, Written, require_ids_in_row_order, special_tokens_of, with_losses

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

name = "minbpe"
options: frozenset[str] = frozenset()

_VERSION = b"minbpe v1"
_LINE_PATTERN = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")
_NUMBER_PATTERN = re.compile(r"[0-9]{1,10}")


def refusal(data: bytes) -> str | None:
    """Accepts a file whose first line names the version."""
    first_lines = data[:100].splitlines()[:1]
    return None if first_lines and first_lines[0].strip() == _VERSION else "the first line is not `minbpe v1`"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a model. Raises FormatError for an unknown id or a repeated pair, which minbpe would misread."""
    head_lines = _HeadLines(data)
    if head_lines.next_line("the version").encode() != _VERSION:
        raise FormatError("line 1: the version is not `minbpe v1`")
    pattern = head_lines.next_line("the pattern")
    count = head_lines.number(head_lines.next_line("the number of special tokens"))
    special = _special_tokens(head_lines, count)
    # Each merge can double the length of a token, so the total length of all tokens needs a limit. Models that minbpe
    # trains stay far below this limit.
    max_bytes = 4 * len(data) + 2**20
    merges, columns = _core.minbpe_read(data[head_lines.at :], head_lines.count + 1, max_bytes)
    vocab = Vocab(*columns)
    _check_special_ids(special, len(vocab))
    return Spec(
        matching="listed",
        vocab=vocab,
        model=Bpe("merges", merges=merges),
        special=special_tokens_of(special),
        split=(PatternSplit(pattern),) if pattern else (),
        origin=Origin(name, options.name),
    )


def write(spec: Spec) -> Written:
    """Writes a model, and its ``.vocab`` as a companion."""
    merges = _require_minbpe_merges(spec)
    match spec.split:
        case ():
            pattern = ""
        case (PatternSplit(pattern=pattern, behavior="matches", invert=False, is_regex=True),):
            pass
        case _:
            raise FormatError("a minbpe model has at most one pattern, whose matches are the pieces")
    if "\n" in pattern or "\r" in pattern:
        raise FormatError("a minbpe model has its pattern on one line, but this pattern contains a line break")
    special = [token for token in spec.special if len(token.text.split()) == 1 and token.text.strip() == token.text]
    head = [_VERSION.decode(), pattern, str(len(special)), *(f"{token.text} {token.id}" for token in special)]
    body = (f"{left} {right}" for left, right, _ in merges.tolist())
    data = "".join(f"{line}\n" for line in (*head, *body)).encode()
    companions = {".vocab": _vocab_listing(spec.vocab, merges, special).encode()}
    return with_losses(spec, data, read(data, ReadOptions()), companions=companions, hints=_HINTS)


_HINTS = {
    "special": "the file cannot contain a token with white space",
    "split": "white space around the pattern is stripped when the file is read",
}


class _HeadLines:
    """Reads the lines at the start of the file: the version, the pattern and the special tokens."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.count = data, 0, 0

    def next_line(self, item_name: str) -> str:
        """Returns the next line without white space at its ends, as minbpe reads it."""
        self.count += 1
        match = _LINE_PATTERN.match(self.data, self.at)
        if match is None or self.at == len(self.data):
            raise FormatError(f"line {self.count}: the file ends before {item_name}")
        self.at = match.end()
        try:
            return match[1].decode().strip()
        except UnicodeDecodeError as error:
            raise FormatError(f"line {self.count}: {item_name} is not UTF-8") from error

    def number(self, text: str) -> int:
        if not _NUMBER_PATTERN.fullmatch(text) or int(text) > MAX_ID:
            raise FormatError(f"line {self.count}: {text[:40]!r} is not a number from 0 to {MAX_ID}")
        return int(text)


def _special_tokens(head_lines: _HeadLines, count: int) -> dict[str, int]:
    special: dict[str, int] = {}
    for _ in range(count):
        text_and_id = head_lines.next_line("the last special token").split()
        if len(text_and_id) != 2:
            raise FormatError(f"line {head_lines.count}: a special token is a text without white space and an id")
        if text_and_id[0] in special:
            raise FormatError(f"line {head_lines.count}: the special token {text_and_id[0]!r} repeats")
        special[text_and_id[0]] = head_lines.number(text_and_id[1])
    return special


def _check_special_ids(special: dict[str, int], vocab_size: int) -> None:
    for line, (text, number) in enumerate(special.items(), start=4):
        if number < vocab_size:
            raise FormatError(f"line {line}: the special token {text!r} has the id of token {number}")


def _require_minbpe_merges(spec: Spec) -> npt.NDArray[np.uint32]:
    import numpy as np

    model = spec.model
    if not merges_bytes(model) or model.merges is None or model.whole_piece_first:
        raise FormatError(f"minbpe merges bytes by a list of pairs; it cannot run this model: {described(model)}")
    require_ids_in_row_order(spec.vocab, name)
    count = len(model.merges)
    is_in_order = np.array_equal(model.merges[:, 2], np.arange(256, 256 + count, dtype=np.uint32))
    has_bytes_first = spec.vocab.blob[:256] == bytes(range(256)) and np.array_equal(
        spec.vocab.offsets[:257], np.arange(257, dtype=np.uint32)
    )
    if not is_in_order or not has_bytes_first or len(spec.vocab) != 256 + count:
        raise FormatError("minbpe numbers the 256 bytes first, then the merges in order; this vocabulary does not")
    return model.merges


def _vocab_listing(vocab: Vocab, merges: npt.NDArray[np.uint32], special: list[SpecialToken]) -> str:
    """Returns the text of the ``.vocab`` file, which lists each token with the two tokens that were merged to it."""

    def listing_lines() -> Iterator[str]:
        visible_texts = [_escape_controls(piece.decode(errors="replace")) for piece in vocab.pieces()]
        for number, text in enumerate(visible_texts[:256]):
            yield f"[{text}] {number}\n"
        for left, right, number in merges.tolist():
            yield f"[{visible_texts[left]}][{visible_texts[right]}] -> [{visible_texts[number]}] {number}\n"
        for token in special:
            yield f"[{_escape_controls(token.text)}] {token.id}\n"

    return "".join(listing_lines())


def _escape_controls(text: str) -> str:
    """Escapes the characters whose Unicode category begins with C, such as control characters."""
    return "".join(f"\\u{ord(char):04x}" if unicodedata.category(char)[0] == "C" else char for char in text)
