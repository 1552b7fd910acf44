"""Longest match (RWKV World): repeatedly takes the longest entry that is a prefix of the remaining bytes.

Matches can end inside a UTF-8 character. A byte at which no entry starts is unknown.
"""

from __future__ import annotations

from polytok.reference.stages import Segment
from polytok.reference.utf8 import longest_match
from polytok.reference.vocabulary import Vocabulary


def segment(vocab: Vocabulary, text: bytes) -> list[Segment]:
    """Returns the greedy segmentation, left to right."""
    out: list[Segment] = []
    at = 0
    while at < len(text):
        end = longest_match(text, at, vocab.normal_ids, vocab.longest) or at + 1
        out.append(Segment(vocab.normal_ids.get(text[at:end]), at, end))
        at = end
    return out
