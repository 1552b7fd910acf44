"""Unigram by the rules of Hugging Face and of llama.cpp, with sums in float64.

Both join adjacent unknown characters, and the text of the unknown entry counts as unknown too; of equal entries the
last counts. Hugging Face matches entries of every kind; it looks a run of unknown characters up as a whole, and with
byte fallback replaces it with the entries of its bytes if every byte has one. llama.cpp ignores reserved entries, and
its user-defined entries have the score 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polytok.reference.lattice import BestPaths, Candidate
from polytok.reference.stages import Segment
from polytok.reference.unigram import FLOAT32_MAX, UNKNOWN_PENALTY, to_float32
from polytok.reference.utf8 import char_end
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import ByteFallback, UnigramWalk, UnknownText
from polytok.spec import Kind, Unigram

ROUNDING = "float64 sums"


class Rules:
    """The entries that match and their scores, by the rules of one program."""

    def __init__(self, vocab: Vocabulary, model: Unigram) -> None:
        self.vocab, self.model = vocab, model
        self.is_huggingface = model.rules == "huggingface"
        self.unknown_score = unknown_score(vocab, self.is_huggingface)

    def id_of(self, text: bytes) -> int | None:
        """Returns the id of the entry that matches a text; None if no entry does."""
        return (self.vocab.last_ids if self.is_huggingface else self.vocab.last_normal_ids).get(text)

    def score(self, id: int) -> float:
        """Returns the score of an entry."""
        is_free = not self.is_huggingface and self.vocab.kind[id] == Kind.USER_DEFINED
        return 0.0 if is_free else self.vocab.score[id]


def unknown_score(vocab: Vocabulary, is_huggingface: bool) -> float:
    """Returns the score of an unknown character: the lowest score of all entries, or in llama.cpp of the NORMAL ones in
    float32, minus the penalty."""
    if is_huggingface:
        return vocab.lowest_score - UNKNOWN_PENALTY
    lowest, _ = vocab.normal_scores or (FLOAT32_MAX, 0.0)
    return to_float32(min(FLOAT32_MAX, lowest) - UNKNOWN_PENALTY)


def walk(vocab: Vocabulary, text: bytes, model: Unigram) -> UnigramWalk:
    """Returns the walk of one piece: the lattice, and the best segmentation with its unknown runs joined."""
    rules = Rules(vocab, model)
    paths = BestPaths(len(text))
    at = 0
    while at < len(text):
        paths.nodes.append(at)
        sum_here, next_char = paths.score[at], char_end(text, at)
        char_is_covered = False
        for end in range(at + 1, min(at + vocab.longest_of_all, len(text)) + 1):
            id = rules.id_of(text[at:end])
            if id is not None:
                score = rules.score(id)
                paths.offer(Candidate(at, end, id, score, score + sum_here))
                char_is_covered |= end == next_char
        if not char_is_covered:
            paths.offer(Candidate(at, next_char, None, rules.unknown_score, rules.unknown_score + sum_here))
        at = next_char
    return join_unknown(rules, text, paths.walk(text, model.rules, ROUNDING))


def join_unknown(rules: Rules, text: bytes, walk: UnigramWalk) -> UnigramWalk:
    """Returns the walk with joined runs of unknown text, and with what becomes of each run."""
    segments: list[Segment] = []
    fallbacks: list[ByteFallback] = []
    unknown: list[UnknownText] = []
    run: list[Segment] = []

    def end_run() -> None:
        if run:
            start, end = run[0].start, run[-1].end
            ids = _ids_of_run(rules, text[start:end])
            segments.extend(Segment(id, start, end) for id in ids)
            if len(ids) > 1 or ids[0] != rules.vocab.unknown:
                fallbacks.append(ByteFallback(start, end, tuple(id for id in ids if id is not None)))
            else:
                unknown.append(UnknownText(start, end, ids[0], len(run) > 1))
            run.clear()

    for segment in walk.segments:
        if segment.id is None or segment.id == rules.vocab.unknown:
            run.append(segment)
        else:
            end_run()
            segments.append(segment)
    end_run()
    return replace(walk, segments=tuple(segments), bytes=tuple(fallbacks), unknown=tuple(unknown))


def _ids_of_run(rules: Rules, run: bytes) -> Sequence[int | None]:
    """Returns the ids of a run of unknown text: its own entry, the entries of its bytes, or the unknown entry."""
    ids = rules.vocab.last_ids
    if rules.is_huggingface and run in ids:
        return [ids[run]]
    byte_ids = [ids.get(b"<0x%02X>" % byte) for byte in run]
    if rules.is_huggingface and rules.model.byte_fallback and None not in byte_ids:
        return byte_ids
    return [rules.vocab.unknown]
