"""Formats results: the tables of docs/generated/benchmarks.md and the summary in docs/benchmarks.md and the README."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from datetime import date
from statistics import median

from .cases import ENGLISH, OURS, TEXTS, UNCACHED, Text, Vocabulary
from .engines import ENGINES
from .markdown import matrix, table
from .measure import Result
from .operations import OPERATIONS
from .results import OWN_ENGINES, Results, compare
from .simd import processor
from .targets import targets_table
from .workloads import BATCH, COLD, DECODING, LONG, SHORT, Selection


def full_report(results: Results, selection: Selection) -> str:
    """Returns all tables with headings; tables without results are omitted."""
    parts = [describe_machine(results, selection), "## Target by target", targets_table(results)]
    for title, text in (
        ("4 KB documents, ids as a list", documents(results, "list")),
        ("4 KB documents, ids as a numpy array", documents(results, "numpy")),
        ("Load and memory", load_table(results)),
        ("The very first 4 KB", speed_table(results, COLD.name)),
        ("Texts of 100 bytes, one call each", speed_table(results, SHORT.name)),
        ("Documents of 1 MB", speed_table(results, LONG.name)),
        ("Many 4 KB documents in one call", batch_table(results)),
        ("Worst cases", worst(results)),
        ("Decoding", decoding_table(results)),
        ("Count and offsets", counting_table(results)),
    ):
        parts += [f"## {title}", text] if text else []
    return "\n\n".join(parts)


def describe_machine(results: Results, selection: Selection) -> str:
    """Describes the date, the machine, the versions of packages and the reliability of the figures."""
    names = [name for name in dict.fromkeys(result.engine for result in results.all) if name != UNCACHED]
    versions = ", ".join(f"{name} {ENGINES[name].version or '(not installed)'}" for name in names)
    rounds = sum(len(result.first) + len(result.again) for result in results.all)
    disturbed = sum(result.disturbed for result in results.all)
    selection_title = "The quick selection" if selection.is_quick else "A full run"
    clock_name = "processor time" if selection.is_shared else "time by the clock"
    return (
        f"{date.today()}. {processor()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}; {versions}. {selection_title}, {clock_name}; "
        f"{disturbed} of {rounds} rounds lost over a tenth to other processes."
    )


def documents(results: Results, operation: str) -> str:
    """Returns a table with a row for each case and engine: the MB/s, and polytok's ratio to the engine."""
    rows = []
    for result in results.select("documents", operation=operation):
        titles = [result.vocabulary.title, result.text.title, result.engine]
        if result.void is not None:
            rows.append([*titles, result.void, "", "", ""])
            continue
        cells = []
        for passes in ("first", "again"):
            cells += [format_range(getattr(result, passes)), polytok_ratio_text(results, result, passes)]
        rows.append([*titles, *cells])
    head = ["vocabulary", "text", "engine", "first pass, MB/s", "polytok is", "again, MB/s", "polytok is"]
    return table(head, rows) if rows else ""


def load_table(results: Results) -> str:
    """Returns a table with a row for each vocabulary and engine: medians of load time and memory over all processes."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results.select("documents"):
        if result.void is None:
            groups.setdefault((result.vocabulary.title, result.engine), []).append(result)
    rows = []
    for titles, group in groups.items():
        load = median(load_seconds for result in group for load_seconds in result.load)
        memory = [result_memory for result in group for result_memory in result.memory]
        rows.append([*titles, f"{load * 1e3:.0f}", f"{median(memory) / 1e6:.0f}" if memory else ""])
    return table(["vocabulary", "engine", "load, ms", "memory, MB"], rows) if rows else ""


def speed_table(results: Results, workload: str) -> str:
    """Returns a table with a row for each vocabulary, engine and kind of output.

    The columns are MB/s, microseconds for a document, and polytok's ratio.
    """
    rows = []
    for result in results.select(workload):
        titles = [result.vocabulary.title, result.engine, OPERATIONS[result.operation].title]
        if result.void is not None:
            rows.append([*titles, result.void, "", ""])
            continue
        microseconds = result.workload.document / median(result.first)
        rows.append([*titles, format_range(result.first), f"{microseconds:.1f}", polytok_ratio_text(results, result)])
    return table(["vocabulary", "engine", "ids", "MB/s", "µs each", "polytok is"], rows) if rows else ""


def batch_table(results: Results) -> str:
    """Returns a table with a row for each vocabulary and engine and a column for each number of threads."""
    return _matrix(results.select(BATCH.name), lambda result: _speed_and_times(results, result))


def worst(results: Results) -> str:
    """Returns a table of the cost per byte, with a row for each vocabulary and engine and a column for each text."""

    def cell(result: Result) -> str:
        if result.void is not None:
            return shorten_reason(result.void)
        nanoseconds = 1e3 / median(result.first)
        english = results.select("worst", result.vocabulary.name, ENGLISH.name, engine=result.engine)
        if result.text == ENGLISH or not english or english[0].void is not None:
            return f"{nanoseconds:.1f}"
        return f"{nanoseconds:.1f} ({median(english[0].first) / median(result.first):.1f}×)"

    worst_results = results.select("worst")
    if not worst_results:
        return ""
    note = "Nanoseconds per byte, and how many times the engine's own cost of English; numpy arrays where it has them."
    head = ["vocabulary", "engine"]
    return f"{note}\n\n{matrix(worst_results, _titles, lambda result: result.text.title, cell, head)}"


def decoding_table(results: Results) -> str:
    """Returns a table with a row for each vocabulary, text and engine and a column for each operation of decoding."""
    return _matrix(results.select(DECODING.name), lambda result: _speed_and_times(results, result), has_text=True)


def counting_table(results: Results) -> str:
    """Returns a table of the speed of arrays of ids, counts and offsets for each vocabulary, text and engine."""
    return _matrix(results.select("beside ids"), lambda result: _speed_and_times(results, result), has_text=True)


def _matrix(selected_results: Sequence[Result], cell: Callable[[Result], str], has_text: bool = False) -> str:
    """Returns a table with a column for each operation."""
    if not selected_results:
        return ""

    def row(result: Result) -> tuple[str, ...]:
        vocabulary, engine = _titles(result)
        return (vocabulary, result.text.title, engine) if has_text else (vocabulary, engine)

    head = ["vocabulary", "text", "engine"] if has_text else ["vocabulary", "engine"]
    return matrix(selected_results, row, lambda result: f"{OPERATIONS[result.operation].title}, MB/s", cell, head)


def _titles(result: Result) -> tuple[str, str]:
    return result.vocabulary.title, result.engine


def _speed_and_times(results: Results, result: Result) -> str:
    if result.void is not None:
        return shorten_reason(result.void)
    ratio = polytok_ratio_text(results, result)
    return f"{median(result.first):.0f}" + (f" ({ratio})" if ratio else "")


def summary(results: Results) -> str:
    """Returns a table of the first pass with a row for each vocabulary and a column for each kind of text.

    A cell compares polytok with the fastest other engine, each with its fastest output.
    """
    document_results = results.select("documents")
    texts = [text for text in TEXTS if any(result.text == text for result in document_results)]
    rows = []
    for vocabulary in dict.fromkeys(result.vocabulary for result in document_results):
        title = f"{vocabulary.title} ({vocabulary.family})"
        rows.append([title, *(cell(results, vocabulary, text) for text in texts)])
    return table(["vocabulary", *(text.title for text in texts)], rows)


def cell(results: Results, vocabulary: Vocabulary, text: Text) -> str:
    """Returns the MB/s of polytok and of the fastest other engine, and their ratio."""
    ours = results.ours("documents", vocabulary.name, text.name, "numpy")
    fastest = ours and results.fastest_peer(ours)
    if ours is None or fastest is None:
        return "–"
    speed, other = median(ours.first), median(fastest.first)
    return f"{speed:.0f} / {other:.0f} {fastest.engine} ({format_ratio(compare(ours, fastest).times)})"


def slower_cases(results: Results) -> list[str]:
    """Describes the cases in which another engine is faster than polytok, or polytok has no result."""
    lines = []
    for result in results.all:
        case_title = f"{result.vocabulary.title}, {result.workload.title}, {result.text.title}, {result.operation}"
        if result.engine == OURS and result.void is not None:
            lines.append(f"{case_title}: polytok: {result.void}")
        ratio = _polytok_ratio(results, result)
        if ratio is not None and ratio < 1:
            lines.append(f"{case_title}: {result.engine} is faster")
    return lines


def polytok_ratio_text(results: Results, result: Result, passes: str = "first") -> str:
    """Formats the ratio of polytok's speed to the speed of a result; returns an empty text for polytok itself."""
    ratio = _polytok_ratio(results, result, passes)
    return "" if ratio is None else format_ratio(ratio)


def _polytok_ratio(results: Results, result: Result, passes: str = "first") -> float | None:
    if result.engine in OWN_ENGINES or result.void is not None:
        return None
    ours = results.ours(result.workload.name, result.vocabulary.name, result.text.name, result.operation)
    return compare(ours, result, passes).times if ours else None


def shorten_reason(why: str) -> str:
    """Shortens the reason for a missing result to fit a narrow column: for an error, returns only the class."""
    return why.partition(":")[0]


def format_range(values: list[float]) -> str:
    return f"{median(values):.1f} ({min(values):.1f}–{max(values):.1f})"


def format_ratio(value: float) -> str:
    return f"{value:.1f}×" if value >= 1 else f"{value:.2f}×"
