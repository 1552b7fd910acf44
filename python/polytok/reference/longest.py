"""Longest match (RWKV World): repeatedly takes the longest entry that is a prefix of the remaining bytes.

Matches can end inside a UTF-8 character. A byte at which no entry starts is unknown.
"""

from __future__ import annotations

from polytok.reference.stages import Segment
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import Candidate, LongestWalk, Position


def walk(vocab: Vocabulary, text: bytes) -> LongestWalk:
    """Returns the greedy walk, left to right: at each place all entries that begin there, of which the longest is
    taken."""
    positions: list[Position] = []
    segments: list[Segment] = []
    at = 0
    while at < len(text):
        candidates = tuple(
            Candidate(vocab.normal_ids[text[at:end]], end)
            for end in range(at + 1, min(at + vocab.longest, len(text)) + 1)
            if text[at:end] in vocab.normal_ids
        )
        positions.append(Position(at, candidates))
        end = candidates[-1].end if candidates else at + 1
        segments.append(Segment(candidates[-1].id if candidates else None, at, end))
        at = end
    return LongestWalk(tuple(positions), tuple(segments))
