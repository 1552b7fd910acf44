"""Writes traces as lines for a terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from ..reference.walks import (
    BpeWalk,
    LongestWalk,
    Merged,
    Plamo2Walk,
    Stale,
    UnigramWalk,
    Walk,
    WholeWalk,
    WordPieceWalk,
)
from ..trace import Trace
from ..trace.data import NormalizeStep, Part, Piece, SplitStep, TokenRow
from ..visible import visible_text
from .style import RESET_COLOR, color_piece

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_INDENT = "  "
_MOST_LINES = 60
"""The most lines of one table; `--json` and `--html` have all."""


class Painter:
    """Writes pieces in colours, or with bars between them where there are no colours."""

    def __init__(self, is_colored: bool) -> None:
        self.is_colored = is_colored

    def pieces(self, rows: Iterable[tuple[bytes, bool]], bar: str = "") -> list[str]:
        """Returns pieces, each with whether it is special, as texts. Without colours, each ends with ``bar``."""
        if self.is_colored:
            return [color_piece(visible_text(piece), number, special) for number, (piece, special) in enumerate(rows)]
        return [visible_text(piece) + bar for piece, _ in rows]

    def piece(self, piece: bytes, is_special: bool = False) -> str:
        return self.pieces([(piece, is_special)])[0]

    def heading(self, text: str) -> str:
        return f"\x1b[1m{text}{RESET_COLOR}" if self.is_colored else text


def width_of(line: str) -> int:
    """Returns the number of columns that a line takes in a terminal.

    >>> width_of("\\x1b[1mab\\x1b[0m"), width_of("吾")
    (2, 2)
    """
    return sum(map(_char_width, _ESCAPE.sub("", line)))


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrap(parts: Sequence[str], width: int, indent: str = _INDENT) -> Iterator[str]:
    """Yields lines of parts that stay whole, unless a part alone is longer than a line."""
    line, used = indent, len(indent)
    for part in parts:
        part_width = width_of(part)
        if used + part_width > width and used > len(indent):
            yield line.rstrip()
            line, used = indent, len(indent)
        if part_width > width - len(indent):
            part = _cut(part, width - len(indent))
            part_width = width_of(part)
        line, used = line + part, used + part_width
    if used > len(indent):
        yield line.rstrip()


def _cut(text: str, width: int) -> str:
    """Returns a text that takes at most this many columns, with an ellipsis if it is cut."""
    if width_of(text) <= width:
        return text
    result, used = "", 1
    for token in re.split(r"(\x1b\[[0-9;]*m)", text):
        if _ESCAPE.fullmatch(token):
            result += token
            continue
        for char in token:
            if used + _char_width(char) > width:
                return result + "…" + (RESET_COLOR if "\x1b" in result else "")
            result, used = result + char, used + _char_width(char)
    return result


def side_by_side(columns: Sequence[Sequence[str]], width: int) -> str:
    """Returns columns of lines beside each other."""
    rows = zip_longest(*columns, fillvalue="")
    return "".join(" │ ".join(_padded(_cut(line, width), width) for line in row).rstrip() + "\n" for row in rows)


def _padded(line: str, width: int) -> str:
    return line + " " * (width - width_of(line))


def trace_lines(name: str, trace: Trace, painter: Painter, width: int) -> list[str]:
    """Returns the lines of a trace, the steps in the order of the pipeline."""
    count = len(trace.tokens)
    lines = [painter.heading(f"{name}: {count:,} {'token' if count == 1 else 'tokens'}")]
    if trace.given:
        lines += wrap([f"{word} " for word in trace.given.why.split()], width, "")
        if not trace.given.canonical:
            lines += ["given:", *_token_lines(trace.given.given, painter, width)]
            lines += ["this encoder:", *_token_lines(trace.given.canonical_rows, painter, width)]
    lines += _special_lines(trace, painter)
    for number, part in enumerate(trace.parts, start=1):
        if len(trace.parts) > 1:
            lines.append(painter.heading(f"text {number}: bytes {part.start} to {part.end}"))
        lines += _part_lines(part, painter, width)
    lines += [
        f"{painter.heading('post')}  {step.description}: {' '.join(map(str, step.ids))}".rstrip(": ")
        for step in trace.post
    ]
    return [*lines, painter.heading("ids"), *_token_lines(trace.tokens, painter, width)]


def _special_lines(trace: Trace, painter: Painter) -> Iterator[str]:
    rows = [(token.start, f"id {token.id}, {token.why}", token.piece) for token in trace.specials]
    rows += [(token.start, f"not taken: {token.why}", token.piece) for token in trace.not_taken]
    if rows:
        yield painter.heading("special")
    for start, text, piece in sorted(rows):
        yield f"{_INDENT}byte {start}: {painter.piece(piece, True)} {text}"


def _part_lines(part: Part, painter: Painter, width: int) -> Iterator[str]:
    for step in part.normalize:
        yield from _normalize_lines(step, painter, width)
    for split_step in part.split:
        yield from _split_lines(split_step, painter, width)
    for piece in part.pieces:
        if piece.walk is not None:
            yield from _piece_lines(piece, piece.walk, painter, width)


def _normalize_lines(step: NormalizeStep, painter: Painter, width: int) -> Iterator[str]:
    suffix = ": changes nothing" if step.is_unchanged else ""
    yield _cut(f"{painter.heading('normalize')}  {step.name} {step.description}{suffix}", width)
    if not step.is_unchanged:
        yield from wrap(list(visible_text(step.after)), width)


def _split_lines(step: SplitStep, painter: Painter, width: int) -> Iterator[str]:
    yield _cut(f"{painter.heading('split')}  {step.name} {step.description}", width)
    yield from wrap(painter.pieces(((piece.text, False) for piece in step.pieces), "|"), width)
    used = sorted(
        {(piece.alternative, piece.alternative_text) for piece in step.pieces if piece.alternative is not None}
    )
    for alternative, text in used:
        pieces = [visible_text(piece.text) for piece in step.pieces if piece.alternative == alternative]
        yield _cut(f"{_INDENT}alternative {alternative}, {text}: {' '.join(pieces)}", width)


def _piece_lines(piece: Piece, walk: Walk, painter: Painter, width: int) -> Iterator[str]:
    label = f"{painter.heading('model')}  piece {piece.index} "
    yield f"{label}{painter.piece(piece.text)} → {' '.join(map(str, piece.ids)) or 'no ids'}"
    lines = [_INDENT + line for line in _walk_lines(walk, piece.text, painter)]
    yield from (_cut(line, width) for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"{_INDENT}and {len(lines) - _MOST_LINES} more lines (--json and --html have all)"


def _walk_lines(walk: Walk, text: bytes, painter: Painter) -> Iterator[str]:
    match walk:
        case BpeWalk():
            yield from _bpe_lines(walk, text, painter)
        case UnigramWalk():
            yield from _unigram_lines(walk, text, painter)
        case WordPieceWalk():
            yield from (f"{visible_text(row.piece)}: {_found(row.id)}" for row in walk.attempts)
            yield from [walk.why] if walk.why else []
        case LongestWalk():
            for position in walk.positions:
                texts = [visible_text(text[position.start : row.end]) for row in position.candidates]
                yield f"byte {position.start}: {' '.join(texts) or 'no entry'}" + (
                    ", the last is taken" if texts else ""
                )
        case WholeWalk():
            yield from (f"{visible_text(text[row.start : row.end])}: {_found(row.id)}" for row in walk.segments)
        case Plamo2Walk():
            for row in walk.table:
                mark = ", on the path" if row.on_path else ""
                piece = visible_text(text[row.start : row.end])
                yield f"byte {row.start}: {piece} {_found(row.id)}, cost {row.cost}{mark}"
    for fallback in walk.bytes:
        piece = visible_text(text[fallback.start : fallback.end])
        yield f"no entry: {piece} → bytes {' '.join(map(str, fallback.ids))}"
    for unknown in walk.unknown:
        result = "dropped" if unknown.id is None else f"unknown, id {unknown.id}"
        yield f"no entry: {visible_text(text[unknown.start : unknown.end])} → {result}"


def _found(id: int | None) -> str:
    return "no entry" if id is None else f"id {id}"


def _bpe_lines(walk: BpeWalk, text: bytes, painter: Painter) -> Iterator[str]:
    if walk.whole_piece is not None:
        yield f"the whole piece is an entry: id {walk.whole_piece}"
        return
    shown = [visible_text(text[symbol.start : symbol.end]) for symbol in walk.symbols]
    for event in walk.events:
        pair = f"{shown[event.left]} + {shown[event.right]}"
        priority = f"{_PRIORITIES[walk.priority]} {event.priority:g}"
        match event:
            case Merged():
                yield painter.heading(f"merge {event.step}: {pair} → {shown[event.result]}, {priority}")
            case Stale():
                yield f"  stale: {pair}, since merge {event.step}"
            case _:
                yield f"  queue: {pair}, {priority}"
    for part in walk.split_unused:
        halves = [visible_text(text[part.start : part.middle]), visible_text(text[part.middle : part.end])]
        yield f"unused entry {part.id}: split again into {' + '.join(halves)}"
    for row in walk.resegment:
        yield f"looked up again: {shown[row.symbol]}: {_found(row.id)}"


_PRIORITIES = {"merges": "place", "rank": "rank", "score": "score"}


def _unigram_lines(walk: UnigramWalk, text: bytes, painter: Painter) -> Iterator[str]:
    yield f"best sum {walk.score:.4f}; {walk.rounding}"
    for edge in walk.edges:
        line = f"{edge.start:>4}–{edge.end:<4} {visible_text(edge.piece)}: {edge.score:.4f}, sum {edge.sum:.4f}"
        if edge.on_path:
            yield painter.heading(f"{line}, on the best path")
        else:
            yield line + (", best into its end" if edge.is_best else "")
    for runner in walk.runners_up:
        starts = (0, *runner.ends)
        parts = [visible_text(text[start:end]) for start, end in zip(starts, runner.ends, strict=False)]
        yield f"next best: {' '.join(parts)}, score {runner.score:.4f}"


def _token_lines(tokens: Sequence[TokenRow], painter: Painter, width: int) -> Iterator[str]:
    pieces = painter.pieces((token.piece, token.is_special) for token in tokens)
    if painter.is_colored:
        yield from wrap([f"{piece} {token.id}  " for piece, token in zip(pieces, tokens, strict=True)], width)
    else:
        yield from wrap(
            [f"{piece.rstrip('|')} {token.id}  " for piece, token in zip(pieces, tokens, strict=True)], width
        )
