"""Results to Markdown, and Markdown into documents between markers."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from statistics import median

from .cases import OURS, TEXTS, Case, Size, Text, Vocabulary
from .engines import ENGINES, is_numpy
from .measure import Result, ratio


def machine(results: Sequence[Result], size: Size) -> str:
    """Where, when and with what the figures were taken."""
    distributions = {ENGINES[result.engine].distribution: ENGINES[result.engine].version for result in results}
    versions = ", ".join(f"{name} {version}" for name, version in sorted(distributions.items()))
    return (
        f"{date.today()}. {processor()}, {os.cpu_count()} cores, {platform.system()}, Python
        {platform.python_version()}; " f"{versions}. One thread. {size.test / 1e6:.1f} MB of test text per kind in
        {size.rounds} rounds, " f"{size.processes} process{'es' if size.processes > 1 else ''} per engine.
        {disturbance(results)}"
    )


def disturbance(results: Sequence[Result]) -> str:
    """How quiet the machine was."""
    rounds = sum(len(result.first) + len(result.again) for result in results)
    return f"{sum(result.disturbed for result in results)} of {rounds} rounds lost over a tenth to other processes."


def processor() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def full(results: Sequence[Result], size: Size) -> str:
    """All tables."""
    lists = [result for result in results if not is_numpy(result.engine)]
    arrays = [result for result in results if is_numpy(result.engine)]
    parts = [machine(results, size), "### Ids as a list", speeds(lists), "### Ids as a numpy array", speeds(arrays)]
    return "\n\n".join([*parts, "### Load, first document, memory", beginnings(results)])


def speeds(results: Sequence[Result]) -> str:
    """A row per case and engine: median MB/s with the range, and how many times as fast polytok is."""
    rows = []
    for result in results:
        titles = [result.case.vocabulary.title, result.case.text.title, result.engine]
        if result.void is not None:
            rows.append([*titles, result.void, "", "", ""])
            continue
        ours = ours_beside(result, results)
        first, again = spread(result.first), spread(result.again)
        if ours is None:
            rows.append([*titles, first, "", again, ""])
        else:
            ratios = times(ratio(ours.first, result.first)), times(ratio(ours.again, result.again))
            rows.append([*titles, first, ratios[0], again, ratios[1]])
    head = ["vocabulary", "text", "engine", "first pass, MB/s", "polytok is", "again, MB/s", "polytok is"]
    return table(head, rows)


def beginnings(results: Sequence[Result]) -> str:
    """A row per vocabulary and engine: medians over all its processes."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.void is None:
            groups.setdefault((result.case.vocabulary.title, result.engine), []).append(result)
    rows = []
    for (vocabulary, engine), group in groups.items():
        load = median(second for result in group for second in result.load)
        cold = median(second for result in group for second in result.cold)
        memory = [held for result in group for held in result.memory if held is not None]
        rows.append(
            [
                vocabulary,
                engine,
                f"{load * 1e3:.0f}",
                f"{cold * 1e6:.0f}",
                f"{median(memory) / 1e6:.0f}" if memory else "",
            ]
        )
    return table(["vocabulary", "engine", "load, ms", "first 4 KB, µs", "memory, MB"], rows)


def summary(results: Sequence[Result]) -> str:
    """A row per vocabulary, a column per kind of text: first pass, list output, polytok beside the fastest other."""
    texts = [text for text in TEXTS if any(result.case.text == text for result in results)]
    rows = []
    for vocabulary in dict.fromkeys(result.case.vocabulary for result in results):
        cells = [cell(case_results(results, vocabulary, text)) for text in texts]
        rows.append([vocabulary.title, vocabulary.reference, *cells])
    return table(["vocabulary", "beside", *(text.title for text in texts)], rows)


def cell(results: Sequence[Result]) -> str:
    """polytok's MB/s, the fastest other engine's, and the ratio, for the results of one case."""
    ours = next((result for result in results if result.engine == OURS and result.void is None), None)
    others = [result for result in results if result.engine != OURS and result.void is None]
    if ours is None or not others:
        return "–"
    fastest = max(others, key=lambda result: median(result.first))
    speed, other = median(ours.first), median(fastest.first)
    return f"{speed:.0f} / {other:.1f} ({times(ratio(ours.first, fastest.first))})"


def behind(results: Sequence[Result]) -> list[str]:
    """The cases in which some engine's first pass is faster than polytok's, in words; a void polytok is one too."""
    found = []
    for result in results:
        where = f"{result.case.vocabulary.title}, {result.case.text.title}"
        ours = ours_beside(result, results)
        if result.engine.startswith(OURS):
            if result.void is not None:
                found.append(f"{where}: {result.engine}: {result.void}")
        elif result.void is None and ours is not None and ratio(ours.first, result.first) <= 1:
            found.append(f"{where}: {result.engine} is faster")
    return found


def ours_beside(result: Result, results: Sequence[Result]) -> Result | None:
    """polytok's result on the same case with the same kind of output, if it has a time and is another one."""
    for ours in results:
        is_same = ours.case == result.case and is_numpy(ours.engine) == is_numpy(result.engine)
        if is_same and ours.engine.startswith(OURS) and ours.void is None and ours is not result:
            return ours
    return None


def case_results(results: Sequence[Result], vocabulary: Vocabulary, text: Text) -> list[Result]:
    """The list-output results of one case."""
    case = Case(vocabulary, text)
    return [result for result in results if result.case == case and not is_numpy(result.engine)]


def spread(values: list[float]) -> str:
    return f"{median(values):.1f} ({min(values):.1f}–{max(values):.1f})"


def times(value: float) -> str:
    return f"{value:.1f}×"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def put(path: Path, marker: str, text: str) -> None:
    """Replaces what stands between ``<!-- marker:begin -->`` and ``<!-- marker:end -->``."""
    before, after = around(path, marker)
    path.write_text(f"{before}\n\n{text}\n\n{after}", encoding="utf-8")


def around(path: Path, marker: str) -> tuple[str, str]:
    """A document up to the end of its first marker, and from its second one on."""
    begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
    document = path.read_text(encoding="utf-8") if path.exists() else ""
    before, found, rest = document.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{path.name} has no place for the figures: put the lines {begin} and {end} into it")
    return before + begin, end + after
