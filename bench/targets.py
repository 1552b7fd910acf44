"""Targets as data, and the table that says which are met."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from .cases import (
    BYTE_BPE,
    CJK,
    CODE,
    ENGLISH,
    LONGEST,
    SCRIPTS,
    SENTENCEPIECE_BPE,
    TEXTS,
    UNIGRAM,
    VOCABULARIES,
    WORDPIECE,
    Text,
)
from .markdown import table
from .results import Results, beside
from .worst_texts import WORST

Measure = Callable[[Results, str, str], "Measured | None"]
"""The figure for a vocabulary and a text; None if it was not measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure, and what it is beside."""

    value: float
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should be at least, or where ``is_limit`` at most, for each vocabulary and text that has one."""

    title: str
    families: tuple[str, ...]
    texts: tuple[Text, ...]
    measure: Measure
    wanted: float
    is_limit: bool = False
    unit: str = "×"

    def is_met(self, value: float) -> bool:
        return value <= self.wanted if self.is_limit else value >= self.wanted


def over(engine: str, passes: str = "first") -> Measure:
    """How many times as fast polytok is as an engine, each with what it encodes to fastest."""

    def measure(results: Results, vocabulary: str, text: str) -> Measured | None:
        ours = results.ours("documents", vocabulary, text, "numpy")
        theirs = [row for row in results.peers("documents", vocabulary, text) if row.engine == engine]
        if ours is None or not theirs:
            return None
        fastest = max(theirs, key=lambda result: median(getattr(result, passes)))
        return Measured(beside(ours, fastest, passes).times, engine)

    return measure


def over_all(workload: str, operation: str) -> Measure:
    """How many times as fast as the fastest peer that has the operation."""

    def measure(results: Results, vocabulary: str, text: str) -> Measured | None:
        ours = results.ours(workload, vocabulary, text, operation)
        theirs = ours and results.fastest_peer(ours, operation)
        return Measured(beside(ours, theirs).times, theirs.engine) if ours and theirs else None

    return measure


def over_own(workload: str, operation: str, other: str) -> Measure:
    """How many times as fast as another operation of polytok."""

    def measure(results: Results, vocabulary: str, text: str) -> Measured | None:
        ours = results.ours(workload, vocabulary, text, operation)
        theirs = results.ours(workload, vocabulary, text, other)
        return Measured(beside(ours, theirs).times, other) if ours and theirs else None

    return measure


def speed(workload: str, operation: str) -> Measure:
    """GB/s."""

    def measure(results: Results, vocabulary: str, text: str) -> Measured | None:
        ours = results.ours(workload, vocabulary, text, operation)
        return Measured(median(ours.first) / 1e3) if ours else None

    return measure


def slowdown(results: Results, vocabulary: str, text: str) -> Measured | None:
    """The cost per byte, in that of English."""
    ours = results.ours("worst", vocabulary, text, "ids")
    english = results.ours("worst", vocabulary, ENGLISH.name, "ids")
    return Measured(median(english.first) / median(ours.first), "English") if ours and english else None


ALL = (BYTE_BPE, SENTENCEPIECE_BPE, UNIGRAM, LONGEST, WORDPIECE)
_PLAIN, _OTHER, _EN = (ENGLISH, CODE), (CJK, SCRIPTS), (ENGLISH,)

TARGETS = (
    Target("first pass", (BYTE_BPE,), _PLAIN, over("gigatoken"), 1.5),
    Target("again", (BYTE_BPE,), _PLAIN, over("gigatoken", "again"), 1),
    Target("first pass", (BYTE_BPE,), _OTHER, over("gigatoken"), 3),
    Target("first pass", (SENTENCEPIECE_BPE,), TEXTS, over("gigatoken"), 3),
    Target("first pass", (SENTENCEPIECE_BPE,), TEXTS, over("sentencepiece"), 30),
    Target("first pass", (UNIGRAM,), TEXTS, over("sentencepiece"), 10),
    Target("first pass", (LONGEST,), TEXTS, over("pyrwkv-tokenizer"), 8),
    Target("first pass", (WORDPIECE,), TEXTS, over("tokenizers"), 30),
    Target("list output, first pass", ALL, TEXTS, over_all("documents", "list"), 1),
    *(
        Target(f"{title}, {operation}", ALL, _EN, over_all(workload, operation), 1)
        for workload, title in (
            ("cold", "very first 4 KB"),
            ("short", "100 bytes a call"),
            ("long", "one 1 MB document"),
        )
        for operation in ("numpy", "list")
    ),
    Target("100 MB, 1 thread", ALL, _EN, over_all("batch", "batch 1"), 1),
    Target("100 MB, 2 threads", ALL, _EN, over_all("batch", "batch 2"), 1),
    Target("2 threads over 1", ALL, _EN, over_own("batch", "batch 2", "batch 1"), 1.8),
    Target("worst case, cost per byte", ALL, WORST, slowdown, 3, is_limit=True),
    Target("worst case", ALL, WORST, over_all("worst", "ids"), 1),
    *(
        target
        for operation, title in (("decode", "to str"), ("decode bytes", "to bytes"), ("decode batch", "batch"))
        for target in (
            Target(f"decode {title}", ALL, TEXTS, speed("decode", operation), 1, unit=" GB/s"),
            Target(f"decode {title}", ALL, TEXTS, over_all("decode", operation), 1),
        )
    ),
    Target("count over numpy", ALL, TEXTS, over_own("beside ids", "count", "numpy"), 1),
    Target("offsets over numpy", ALL, TEXTS, over_own("beside ids", "offsets", "numpy"), 0.5),
)


def rows(results: Results, targets: Sequence[Target] = TARGETS) -> Iterator[tuple[Target, str, Text, Measured]]:
    """Every target for every vocabulary and text that it was measured for."""
    for target in targets:
        for vocabulary in VOCABULARIES:
            if vocabulary.family in target.families:
                for text in target.texts:
                    measured = target.measure(results, vocabulary.name, text.name)
                    if measured is not None:
                        yield target, vocabulary.title, text, measured


def targets_table(results: Results) -> str:
    """A row for each."""
    lines = []
    met = 0
    found = list(rows(results))
    for target, vocabulary, text, measured in found:
        is_met = target.is_met(measured.value)
        met += is_met
        sign = "≤" if target.is_limit else "≥"
        value = f"{measured.value:.2f}{target.unit}"
        wanted = f"{sign} {target.wanted:g}{target.unit}"
        lines.append(
            [vocabulary, text.title, target.title, measured.beside, value, wanted, "met" if is_met else "**no**"]
        )
    head = ["vocabulary", "text", "what", "beside", "measured", "target", ""]
    return f"{met} of {len(found)} are met.\n\n{table(head, lines)}"
