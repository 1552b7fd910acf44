"""PLaMo-2 (llama.cpp): the cheapest path over characters, from the end of the text to its start.

Scores are integers, in ten-thousandths. At each character the entries that begin there are tried from the longest to
the shortest, and then the character itself as unknown, at a fixed cost; of equal costs the first counts. An entry with
the score of an unknown character ends the list, and an entry with a very low score is left out. Byte entries are not
used, and of equal entries the last counts. A U+FEFF at the start of the text is skipped.
"""

from __future__ import annotations

import math

from polytok.reference.stages import Segment
from polytok.reference.utf8 import char_end
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import Plamo2Walk, SuffixCost

OMITTED_SCORE = -20_000_000
UNKNOWN_SCORE = -10_000_000
BYTE_ORDER_MARK = "\ufeff".encode()


def walk(vocab: Vocabulary, text: bytes) -> Plamo2Walk:
    """Returns the walk of a text: the table from its end, and the path. Unknown characters have no id."""
    first = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    starts = []
    at = first
    while at < len(text):
        starts.append(at)
        at = char_end(text, at)
    costs = {len(text): 0}
    best: dict[int, tuple[int, int | None]] = {}
    for start in reversed(starts):
        costs[start], end, id = _cheapest(vocab, text, start, costs)
        best[start] = end, id
    segments = []
    at = first
    while at < len(text):
        end, id = best[at]
        segments.append(Segment(id, at, end))
        at = end
    path = {segment.start for segment in segments}
    table = (SuffixCost(start, best[start][0], best[start][1], costs[start], start in path) for start in starts[::-1])
    return Plamo2Walk(tuple(table), tuple(segments))


def _cheapest(vocab: Vocabulary, text: bytes, start: int, costs: dict[int, int]) -> tuple[int, int, int | None]:
    """Returns the cost of the cheapest path from ``start``, the end of its first token, and the id of this token."""
    options: list[tuple[int, int, int | None]] = []
    for end in range(min(len(text), start + vocab.longest_of_all), start, -1):
        id = vocab.ids_without_bytes.get(text[start:end])
        score = None if id is None else to_ten_thousandths(vocab.score[id])
        if score is None or score <= OMITTED_SCORE or end not in costs:
            continue
        options.append((costs[end] - score, end, id))
        if score == UNKNOWN_SCORE:
            return min(options, key=lambda option: option[0])
    end = char_end(text, start)
    options.append((costs[end] - UNKNOWN_SCORE, end, None))
    return min(options, key=lambda option: option[0])


def to_ten_thousandths(score: float) -> int:
    """Returns a score in ten-thousandths, rounded like C's ``round``: halves away from zero."""
    if not math.isfinite(score):
        return OMITTED_SCORE
    magnitude = abs(score * 1e4)
    rounded = math.floor(magnitude) + (magnitude - math.floor(magnitude) >= 0.5)
    return rounded if score > 0 else -rounded
