"""Formats results as the tables of docs/generated/benchmarks.md, and as the summary in docs/benchmarks.md and the
README."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from datetime import date
from statistics import median

from .cases import ENGLISH, OWN_ENGINE_NAME, TEXTS, UNCACHED_ENGINE_NAME, Text, Vocabulary
from .engines import ENGINES
from .markdown import matrix, table
from .measure import Result
from .operations import OPERATIONS
from .results import OWN_ENGINES, Results, compare
from .simd import processor
from .workloads import BATCHES, COLD_START, DECODING, LONG_DOCUMENTS, SHORT_TEXTS, Selection


def full_report(results: Results, selection: Selection) -> str:
    """Returns all tables with headings; tables without results are omitted."""
    parts = [describe_machine(results, selection)]
    for title, text in (
        ("4 KB documents, ids as a list", documents_table(results, "list")),
        ("4 KB documents, ids as a numpy array", documents_table(results, "numpy")),
        ("Load and memory", load_table(results)),
        ("The very first 4 KB", speed_table(results, COLD_START.name)),
        ("Texts of 100 bytes, one call each", speed_table(results, SHORT_TEXTS.name)),
        ("Documents of 1 MB", speed_table(results, LONG_DOCUMENTS.name)),
        ("Many 4 KB documents in one call", batch_table(results)),
        ("Worst cases", worst_case_table(results)),
        ("Decoding", decoding_table(results)),
        ("Count and offsets", counting_table(results)),
    ):
        parts += [f"## {title}", text] if text else []
    return "\n\n".join(parts)


def describe_machine(results: Results, selection: Selection) -> str:
    """Describes the date, the machine, the versions of packages, and how many rounds other processes disturbed."""
    names = [
        name for name in dict.fromkeys(result.engine for result in results.all_results) if name != UNCACHED_ENGINE_NAME
    ]
    package_versions = ", ".join(f"{name} {ENGINES[name].version or '(not installed)'}" for name in names)
    rounds = sum(len(result.first_pass_speeds) + len(result.second_pass_speeds) for result in results.all_results)
    disturbed_rounds = sum(result.disturbed_rounds for result in results.all_results)
    selection_title = "The quick selection" if selection.is_quick else "A full run"
    clock_name = "processor time" if selection.is_shared else "time by the clock"
    return (
        f"{date.today()}. {processor()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}; {package_versions}. {selection_title}, {clock_name}; "
        f"{disturbed_rounds} of {rounds} rounds lost over a tenth to other processes."
    )


def documents_table(results: Results, operation: str) -> str:
    """Returns a table with a row for each case and engine: the engine's MB/s, and how many times as fast polytok is."""
    rows = []
    for result in results.select("documents", operation=operation):
        titles = [result.vocabulary.title, result.text.title, result.engine]
        if result.failure_reason is not None:
            rows.append([*titles, result.failure_reason, "", "", ""])
            continue
        cells = []
        for pass_name in ("first", "again"):
            cells += [format_range(result.speeds(pass_name)), polytok_ratio_text(results, result, pass_name)]
        rows.append([*titles, *cells])
    head = ["vocabulary", "text", "engine", "first pass, MB/s", "polytok is", "again, MB/s", "polytok is"]
    return table(head, rows) if rows else ""


def load_table(results: Results) -> str:
    """Returns a table with a row for each vocabulary and engine: medians over all processes of the load time, of
    the load time with building all tables, and of the memory."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results.select("documents"):
        if result.failure_reason is None:
            groups.setdefault((result.vocabulary.title, result.engine), []).append(result)
    rows = []
    for titles, group in groups.items():
        load = median(seconds for result in group for seconds in result.load_seconds)
        warm_up = median(seconds for result in group for seconds in result.warm_up_seconds)
        memory = [result_memory for result in group for result_memory in result.memory_bytes]
        times = f"{load * 1e3:.0f}", f"{(load + warm_up) * 1e3:.0f}"
        rows.append([*titles, *times, f"{median(memory) / 1e6:.0f}" if memory else ""])
    return table(["vocabulary", "engine", "load, ms", "load and warm-up, ms", "memory, MB"], rows) if rows else ""


def speed_table(results: Results, workload: str) -> str:
    """Returns a table with a row for each vocabulary, engine and kind of output.

    The columns are MB/s, microseconds for a document, and polytok's speed divided by the engine's.
    """
    rows = []
    for result in results.select(workload):
        titles = [result.vocabulary.title, result.engine, OPERATIONS[result.operation].title]
        if result.failure_reason is not None:
            rows.append([*titles, result.failure_reason, "", ""])
            continue
        microseconds = result.workload.document_bytes / median(result.first_pass_speeds)
        rows.append(
            [
                *titles,
                format_range(result.first_pass_speeds),
                f"{microseconds:.1f}",
                polytok_ratio_text(results, result),
            ]
        )
    return table(["vocabulary", "engine", "ids", "MB/s", "µs each", "polytok is"], rows) if rows else ""


def batch_table(results: Results) -> str:
    """Returns a table with a row for each vocabulary and engine and a column for each number of threads."""
    return _operations_table(results.select(BATCHES.name), lambda result: _speed_and_times(results, result))


def worst_case_table(results: Results) -> str:
    """Returns a table of the cost per byte, with a row for each vocabulary and engine and a column for each text."""

    def cell(result: Result) -> str:
        if result.failure_reason is not None:
            return shorten_reason(result.failure_reason)
        nanoseconds = 1e3 / median(result.first_pass_speeds)
        english_results = results.select("worst", result.vocabulary.name, ENGLISH.name, engine=result.engine)
        if result.text == ENGLISH or not english_results or english_results[0].failure_reason is not None:
            return f"{nanoseconds:.1f}"
        slowdown = median(english_results[0].first_pass_speeds) / median(result.first_pass_speeds)
        return f"{nanoseconds:.1f} ({slowdown:.1f}×)"

    worst_results = results.select("worst")
    if not worst_results:
        return ""
    note = "Nanoseconds per byte, and how many times the engine's own cost of English; numpy arrays where it has them."
    head = ["vocabulary", "engine"]
    return f"{note}\n\n{matrix(worst_results, _row_titles, lambda result: result.text.title, cell, head)}"


def decoding_table(results: Results) -> str:
    """Returns a table with a row for each vocabulary, text and engine and a column for each operation of decoding."""
    return _operations_table(
        results.select(DECODING.name), lambda result: _speed_and_times(results, result), has_text=True
    )


def counting_table(results: Results) -> str:
    """Returns a table of the speed of arrays of ids, counts and offsets for each vocabulary, text and engine."""
    return _operations_table(
        results.select("beside ids"), lambda result: _speed_and_times(results, result), has_text=True
    )


def _operations_table(selected_results: Sequence[Result], cell: Callable[[Result], str], has_text: bool = False) -> str:
    """Returns a table with a column for each operation."""
    if not selected_results:
        return ""

    def row(result: Result) -> tuple[str, ...]:
        vocabulary, engine = _row_titles(result)
        return (vocabulary, result.text.title, engine) if has_text else (vocabulary, engine)

    head = ["vocabulary", "text", "engine"] if has_text else ["vocabulary", "engine"]
    return matrix(selected_results, row, lambda result: f"{OPERATIONS[result.operation].title}, MB/s", cell, head)


def _row_titles(result: Result) -> tuple[str, str]:
    return result.vocabulary.title, result.engine


def _speed_and_times(results: Results, result: Result) -> str:
    if result.failure_reason is not None:
        return shorten_reason(result.failure_reason)
    ratio = polytok_ratio_text(results, result)
    return f"{median(result.first_pass_speeds):.0f}" + (f" ({ratio})" if ratio else "")


def summary_table(results: Results) -> str:
    """Returns a table of the first pass with a row for each vocabulary and a column for each kind of text.

    Each cell has the fastest output of polytok and the fastest output of the fastest other engine.
    """
    document_results = results.select("documents")
    texts = [text for text in TEXTS if any(result.text == text for result in document_results)]
    rows = []
    for vocabulary in dict.fromkeys(result.vocabulary for result in document_results):
        title = f"{vocabulary.title} ({vocabulary.family})"
        rows.append([title, *(summary_cell(results, vocabulary, text) for text in texts)])
    return table(["vocabulary", *(text.title for text in texts)], rows)


def summary_cell(results: Results, vocabulary: Vocabulary, text: Text) -> str:
    """Returns the MB/s of polytok and of the fastest other engine, and their ratio."""
    own_result = results.own_result("documents", vocabulary.name, text.name, "numpy")
    fastest_result = own_result and results.fastest_peer_result(own_result)
    if own_result is None or fastest_result is None:
        return "–"
    speed, other_speed = median(own_result.first_pass_speeds), median(fastest_result.first_pass_speeds)
    ratio = format_ratio(compare(own_result, fastest_result).ratio)
    return f"{speed:.0f} / {other_speed:.0f} {fastest_result.engine} ({ratio})"


def describe_slower_cases(results: Results) -> list[str]:
    """Describes the cases in which another engine is faster than polytok, or polytok has no result."""
    lines = []
    for result in results.all_results:
        case_title = f"{result.vocabulary.title}, {result.workload.title}, {result.text.title}, {result.operation}"
        if result.engine == OWN_ENGINE_NAME and result.failure_reason is not None:
            lines.append(f"{case_title}: polytok: {result.failure_reason}")
        ratio = _polytok_ratio(results, result)
        if ratio is not None and ratio < 1:
            lines.append(f"{case_title}: {result.engine} is faster")
    return lines


def polytok_ratio_text(results: Results, result: Result, pass_name: str = "first") -> str:
    """Formats the ratio of polytok's speed to the speed of a result; returns an empty text for polytok itself."""
    ratio = _polytok_ratio(results, result, pass_name)
    return "" if ratio is None else format_ratio(ratio)


def _polytok_ratio(results: Results, result: Result, pass_name: str = "first") -> float | None:
    if result.engine in OWN_ENGINES or result.failure_reason is not None:
        return None
    own_result = results.own_result(result.workload.name, result.vocabulary.name, result.text.name, result.operation)
    return compare(own_result, result, pass_name).ratio if own_result else None


def shorten_reason(reason: str) -> str:
    """Returns the first part of the reason for a missing result, such as the class of an error, for a narrow column."""
    return reason.partition(":")[0]


def format_range(values: list[float]) -> str:
    return f"{median(values):.1f} ({min(values):.1f}–{max(values):.1f})"


def format_ratio(value: float) -> str:
    return f"{value:.1f}×" if value >= 1 else f"{value:.2f}×"
