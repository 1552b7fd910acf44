"""The speed targets, and the table that reports which targets are met."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from .cases import (
    BYTE_BPE,
    CJK,
    ENGLISH,
    LONGEST_MATCH,
    MIXED_SCRIPTS,
    SENTENCEPIECE_BPE,
    SOURCE_CODE,
    TEXTS,
    UNIGRAM,
    VOCABULARIES,
    WORDPIECE,
    Text,
)
from .markdown import matrix
from .results import Results, compare
from .worst_texts import WORST_TEXTS

MeasureFunction = Callable[[Results, str, str], "TargetFigure | None"]
"""A function that returns the figure for a vocabulary and a text, or None if the figure was not measured."""


@dataclass(frozen=True, slots=True)
class TargetFigure:
    """A measured figure, such as a ratio of speeds.

    ``remark`` names the compared engine if the title of the target does not name it. If polytok cannot be compared with
    an engine, ``value`` is None and ``remark`` has the reason.
    """

    value: float | None
    remark: str = ""

    @property
    def remark_suffix(self) -> str:
        return f" {self.remark}" if self.remark else ""


@dataclass(frozen=True, slots=True)
class Target:
    """The minimum that a figure must reach for some families of vocabularies and some texts; if ``is_maximum`` is true,
    the maximum."""

    title: str
    families: tuple[str, ...]
    texts: tuple[Text, ...]
    measure: MeasureFunction
    target_value: float
    is_maximum: bool = False
    unit: str = "×"

    def is_met(self, value: float | None) -> bool:
        if value is None:
            return True
        return value <= self.target_value if self.is_maximum else value >= self.target_value


def speed_ratio_measure(engine: str, pass_name: str = "first") -> MeasureFunction:
    """Returns a function that divides polytok's speed by an engine's speed, each with its fastest output."""

    def measure(results: Results, vocabulary: str, text: str) -> TargetFigure | None:
        own_result = results.own_result("documents", vocabulary, text, "numpy")
        peer_results = [row for row in results.peer_results("documents", vocabulary, text) if row.engine == engine]
        if own_result is None or not results.select("documents", vocabulary, text, engine=engine):
            return None
        if not peer_results:
            return TargetFigure(None, f"no {engine} with these ids")
        fastest_result = max(peer_results, key=lambda result: median(result.speeds(pass_name)))
        return TargetFigure(compare(own_result, fastest_result, pass_name).ratio)

    return measure


def fastest_peer_measure(workload: str, operation: str) -> MeasureFunction:
    """Returns a function that divides polytok's speed by that of the fastest other engine, with the same operation."""

    def measure(results: Results, vocabulary: str, text: str) -> TargetFigure | None:
        own_result = results.own_result(workload, vocabulary, text, operation)
        peer_result = own_result and results.fastest_peer_result(own_result, operation)
        return (
            TargetFigure(compare(own_result, peer_result).ratio, peer_result.engine)
            if own_result and peer_result
            else None
        )

    return measure


def operation_ratio_measure(workload: str, operation: str, other_operation: str) -> MeasureFunction:
    """Returns a function that divides the speed of one operation of polytok by the speed of another operation."""

    def measure(results: Results, vocabulary: str, text: str) -> TargetFigure | None:
        own_result = results.own_result(workload, vocabulary, text, operation)
        other_result = results.own_result(workload, vocabulary, text, other_operation)
        return TargetFigure(compare(own_result, other_result).ratio) if own_result and other_result else None

    return measure


def speed_measure(workload: str, operation: str) -> MeasureFunction:
    """Returns a function that returns the speed of polytok in GB/s."""

    def measure(results: Results, vocabulary: str, text: str) -> TargetFigure | None:
        own_result = results.own_result(workload, vocabulary, text, operation)
        return TargetFigure(median(own_result.first_pass_speeds) / 1e3) if own_result else None

    return measure


def worst_text_slowdown(results: Results, vocabulary: str, text: str) -> TargetFigure | None:
    """Returns polytok's time per byte of a worst text, divided by its time per byte of English text."""
    own_result = results.own_result("worst", vocabulary, text, "ids")
    english_result = results.own_result("worst", vocabulary, ENGLISH.name, "ids")
    return (
        TargetFigure(median(english_result.first_pass_speeds) / median(own_result.first_pass_speeds))
        if own_result and english_result
        else None
    )


ALL_FAMILIES = (BYTE_BPE, SENTENCEPIECE_BPE, UNIGRAM, LONGEST_MATCH, WORDPIECE)
_ENGLISH_AND_CODE, _OTHER_TEXTS, _ENGLISH_ONLY = (ENGLISH, SOURCE_CODE), (CJK, MIXED_SCRIPTS), (ENGLISH,)

TARGETS = (
    Target("first pass over gigatoken", (BYTE_BPE,), _ENGLISH_AND_CODE, speed_ratio_measure("gigatoken"), 1.5),
    Target("again over gigatoken", (BYTE_BPE,), _ENGLISH_AND_CODE, speed_ratio_measure("gigatoken", "again"), 1),
    Target("first pass over gigatoken", (BYTE_BPE,), _OTHER_TEXTS, speed_ratio_measure("gigatoken"), 3),
    Target("first pass over gigatoken", (SENTENCEPIECE_BPE,), TEXTS, speed_ratio_measure("gigatoken"), 3),
    Target("first pass over sentencepiece", (SENTENCEPIECE_BPE,), TEXTS, speed_ratio_measure("sentencepiece"), 30),
    Target("first pass over sentencepiece", (UNIGRAM,), TEXTS, speed_ratio_measure("sentencepiece"), 10),
    Target("first pass over pyrwkv-tokenizer", (LONGEST_MATCH,), TEXTS, speed_ratio_measure("pyrwkv-tokenizer"), 8),
    Target("first pass over tokenizers", (WORDPIECE,), TEXTS, speed_ratio_measure("tokenizers"), 30),
    Target("list output over all", ALL_FAMILIES, TEXTS, fastest_peer_measure("documents", "list"), 1),
    *(
        Target(
            f"{title}, {operation}, over all", ALL_FAMILIES, _ENGLISH_ONLY, fastest_peer_measure(workload, operation), 1
        )
        for workload, title in (
            ("cold", "very first 4 KB"),
            ("short", "100 bytes a call"),
            ("long", "one 1 MB document"),
        )
        for operation in ("numpy", "list")
    ),
    Target("100 MB, 1 thread, over all", ALL_FAMILIES, _ENGLISH_ONLY, fastest_peer_measure("batch", "batch 1"), 1),
    Target("100 MB, 2 threads, over all", ALL_FAMILIES, _ENGLISH_ONLY, fastest_peer_measure("batch", "batch 2"), 1),
    Target(
        "2 threads over 1", ALL_FAMILIES, _ENGLISH_ONLY, operation_ratio_measure("batch", "batch 2", "batch 1"), 1.8
    ),
    Target("cost per byte over English", ALL_FAMILIES, WORST_TEXTS, worst_text_slowdown, 3, is_maximum=True),
    Target("speed over all", ALL_FAMILIES, WORST_TEXTS, fastest_peer_measure("worst", "ids"), 1),
    *(
        target
        for operation, title in (("decode", "to str"), ("decode bytes", "to bytes"), ("decode batch", "batch"))
        for target in (
            Target(f"decode {title}", ALL_FAMILIES, TEXTS, speed_measure("decode", operation), 1, unit=" GB/s"),
            Target(f"decode {title}, over all", ALL_FAMILIES, TEXTS, fastest_peer_measure("decode", operation), 1),
        )
    ),
    Target("count over numpy", ALL_FAMILIES, TEXTS, operation_ratio_measure("beside ids", "count", "numpy"), 1),
    Target("offsets over numpy", ALL_FAMILIES, TEXTS, operation_ratio_measure("beside ids", "offsets", "numpy"), 0.5),
)


Row: TypeAlias = tuple[Target, str, Text, TargetFigure]


def measured_rows(results: Results, targets: Sequence[Target] = TARGETS) -> Iterator[Row]:
    """Yields each target with each vocabulary and text for which the figure of the target was measured."""
    for target in targets:
        for vocabulary in VOCABULARIES:
            if vocabulary.family in target.families:
                for text in target.texts:
                    figure = target.measure(results, vocabulary.name, text.name)
                    if figure is not None:
                        yield target, vocabulary.title, text, figure


def targets_table(results: Results) -> str:
    """Returns a table with a row for each target and vocabulary and a column for each text; missed targets are bold."""
    target_rows = list(measured_rows(results))
    met_flags = [target.is_met(figure.value) for target, _, _, figure in target_rows if figure.value is not None]
    paragraphs = [f"{sum(met_flags)} of {len(met_flags)} are met; the others are **bold**."]
    for texts in (TEXTS, WORST_TEXTS):
        if shown_rows := [row for row in target_rows if row[2] in texts]:
            head = ["vocabulary", "what", "target"]
            paragraphs.append(matrix(shown_rows, _row_titles, lambda row: row[2].title, _cell, head))
    return "\n\n".join(paragraphs)


def _row_titles(row: Row) -> tuple[str, ...]:
    target, vocabulary, _, _ = row
    return vocabulary, target.title, f"{'≤' if target.is_maximum else '≥'} {target.target_value:g}{target.unit}"


def _cell(row: Row) -> str:
    target, _, _, figure = row
    if figure.value is None:
        return figure.remark
    value = f"{figure.value:.2f}"
    return f"{value if target.is_met(figure.value) else f'**{value}**'}{figure.remark_suffix}"
