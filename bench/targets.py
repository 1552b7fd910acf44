"""The speed targets, and the table that reports which targets are met."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

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
from .markdown import matrix
from .results import Results, compare
from .worst_texts import WORST_TEXTS

Measure = Callable[[Results, str, str], "Figure | None"]
"""A function that returns the figure for a vocabulary and a text; None if it was not measured."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of a measure.

    ``remark`` names the compared engine, unless the title of the target does. If no engine can be compared, ``value``
    is None and ``remark`` has the reason.
    """

    value: float | None
    remark: str = ""

    @property
    def note(self) -> str:
        return f" {self.remark}" if self.remark else ""


@dataclass(frozen=True, slots=True)
class Target:
    """The minimum of a figure, or its maximum if ``is_limit``, for vocabularies of some families and some texts."""

    title: str
    families: tuple[str, ...]
    texts: tuple[Text, ...]
    measure: Measure
    target_value: float
    is_limit: bool = False
    unit: str = "×"

    def is_met(self, value: float | None) -> bool:
        if value is None:
            return True
        return value <= self.target_value if self.is_limit else value >= self.target_value


def speed_ratio(engine: str, passes: str = "first") -> Measure:
    """Returns a measure: the ratio of polytok's speed to an engine's, each with its fastest output."""

    def measure(results: Results, vocabulary: str, text: str) -> Figure | None:
        ours = results.ours("documents", vocabulary, text, "numpy")
        theirs = [row for row in results.peers("documents", vocabulary, text) if row.engine == engine]
        if ours is None or not results.select("documents", vocabulary, text, engine=engine):
            return None
        if not theirs:
            return Figure(None, f"no {engine} with these ids")
        fastest = max(theirs, key=lambda result: median(getattr(result, passes)))
        return Figure(compare(ours, fastest, passes).times)

    return measure


def ratio_to_fastest(workload: str, operation: str) -> Measure:
    """Returns a measure: the ratio of polytok's speed to that of the fastest other engine with the same operation."""

    def measure(results: Results, vocabulary: str, text: str) -> Figure | None:
        ours = results.ours(workload, vocabulary, text, operation)
        theirs = ours and results.fastest_peer(ours, operation)
        return Figure(compare(ours, theirs).times, theirs.engine) if ours and theirs else None

    return measure


def ratio_of_operations(workload: str, operation: str, other: str) -> Measure:
    """Returns a measure: the ratio of the speeds of two operations of polytok."""

    def measure(results: Results, vocabulary: str, text: str) -> Figure | None:
        ours = results.ours(workload, vocabulary, text, operation)
        theirs = results.ours(workload, vocabulary, text, other)
        return Figure(compare(ours, theirs).times) if ours and theirs else None

    return measure


def speed(workload: str, operation: str) -> Measure:
    """Returns a measure: the speed of polytok in GB/s."""

    def measure(results: Results, vocabulary: str, text: str) -> Figure | None:
        ours = results.ours(workload, vocabulary, text, operation)
        return Figure(median(ours.first) / 1e3) if ours else None

    return measure


def slowdown(results: Results, vocabulary: str, text: str) -> Figure | None:
    """Returns the ratio of polytok's time per byte of a worst text to the time per byte of English text."""
    ours = results.ours("worst", vocabulary, text, "ids")
    english = results.ours("worst", vocabulary, ENGLISH.name, "ids")
    return Figure(median(english.first) / median(ours.first)) if ours and english else None


ALL_FAMILIES = (BYTE_BPE, SENTENCEPIECE_BPE, UNIGRAM, LONGEST, WORDPIECE)
_ENGLISH_AND_CODE, _OTHER_TEXTS, _ENGLISH_ONLY = (ENGLISH, CODE), (CJK, SCRIPTS), (ENGLISH,)

TARGETS = (
    Target("first pass over gigatoken", (BYTE_BPE,), _ENGLISH_AND_CODE, speed_ratio("gigatoken"), 1.5),
    Target("again over gigatoken", (BYTE_BPE,), _ENGLISH_AND_CODE, speed_ratio("gigatoken", "again"), 1),
    Target("first pass over gigatoken", (BYTE_BPE,), _OTHER_TEXTS, speed_ratio("gigatoken"), 3),
    Target("first pass over gigatoken", (SENTENCEPIECE_BPE,), TEXTS, speed_ratio("gigatoken"), 3),
    Target("first pass over sentencepiece", (SENTENCEPIECE_BPE,), TEXTS, speed_ratio("sentencepiece"), 30),
    Target("first pass over sentencepiece", (UNIGRAM,), TEXTS, speed_ratio("sentencepiece"), 10),
    Target("first pass over pyrwkv-tokenizer", (LONGEST,), TEXTS, speed_ratio("pyrwkv-tokenizer"), 8),
    Target("first pass over tokenizers", (WORDPIECE,), TEXTS, speed_ratio("tokenizers"), 30),
    Target("list output over all", ALL_FAMILIES, TEXTS, ratio_to_fastest("documents", "list"), 1),
    *(
        Target(f"{title}, {operation}, over all", ALL_FAMILIES, _ENGLISH_ONLY, ratio_to_fastest(workload, operation), 1)
        for workload, title in (
            ("cold", "very first 4 KB"),
            ("short", "100 bytes a call"),
            ("long", "one 1 MB document"),
        )
        for operation in ("numpy", "list")
    ),
    Target("100 MB, 1 thread, over all", ALL_FAMILIES, _ENGLISH_ONLY, ratio_to_fastest("batch", "batch 1"), 1),
    Target("100 MB, 2 threads, over all", ALL_FAMILIES, _ENGLISH_ONLY, ratio_to_fastest("batch", "batch 2"), 1),
    Target("2 threads over 1", ALL_FAMILIES, _ENGLISH_ONLY, ratio_of_operations("batch", "batch 2", "batch 1"), 1.8),
    Target("cost per byte over English", ALL_FAMILIES, WORST_TEXTS, slowdown, 3, is_limit=True),
    Target("speed over all", ALL_FAMILIES, WORST_TEXTS, ratio_to_fastest("worst", "ids"), 1),
    *(
        target
        for operation, title in (("decode", "to str"), ("decode bytes", "to bytes"), ("decode batch", "batch"))
        for target in (
            Target(f"decode {title}", ALL_FAMILIES, TEXTS, speed("decode", operation), 1, unit=" GB/s"),
            Target(f"decode {title}, over all", ALL_FAMILIES, TEXTS, ratio_to_fastest("decode", operation), 1),
        )
    ),
    Target("count over numpy", ALL_FAMILIES, TEXTS, ratio_of_operations("beside ids", "count", "numpy"), 1),
    Target("offsets over numpy", ALL_FAMILIES, TEXTS, ratio_of_operations("beside ids", "offsets", "numpy"), 0.5),
)


Row: TypeAlias = tuple[Target, str, Text, Figure]


def rows(results: Results, targets: Sequence[Target] = TARGETS) -> Iterator[Row]:
    """Yields each target with each vocabulary and text for which its figure was measured."""
    for target in targets:
        for vocabulary in VOCABULARIES:
            if vocabulary.family in target.families:
                for text in target.texts:
                    figure = target.measure(results, vocabulary.name, text.name)
                    if figure is not None:
                        yield target, vocabulary.title, text, figure


def targets_table(results: Results) -> str:
    """Returns a table with a row for each target and vocabulary and a column for each text; missed targets are bold."""
    target_rows = list(rows(results))
    verdicts = [target.is_met(figure.value) for target, _, _, figure in target_rows if figure.value is not None]
    tables = [f"{sum(verdicts)} of {len(verdicts)} are met; the others are **bold**."]
    for texts in (TEXTS, WORST_TEXTS):
        if shown_rows := [row for row in target_rows if row[2] in texts]:
            head = ["vocabulary", "what", "target"]
            tables.append(matrix(shown_rows, _titles, lambda row: row[2].title, _cell, head))
    return "\n\n".join(tables)


def _titles(row: Row) -> tuple[str, ...]:
    target, vocabulary, _, _ = row
    return vocabulary, target.title, f"{'≤' if target.is_limit else '≥'} {target.target_value:g}{target.unit}"


def _cell(row: Row) -> str:
    target, _, _, figure = row
    if figure.value is None:
        return figure.remark
    value = f"{figure.value:.2f}"
    return f"{value if target.is_met(figure.value) else f'**{value}**'}{figure.note}"
