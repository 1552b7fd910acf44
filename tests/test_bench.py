"""Tests the benchmarks: choice of cases, splitting of text, check of ids, and tables, without time measurements."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import checker, clock, markdown, measure, operations, plot, report, texts, worst_texts
from bench.cases import ENGLISH, OWN_ENGINE_NAME, TEXTS, VOCABULARIES, Text, Vocabulary
from bench.engines import ENGINES, Adapter
from bench.engines.polytok import create_adapter
from bench.measure import Result
from bench.operations import OPERATIONS
from bench.remote import Failure, Remote
from bench.results import Results
from bench.texts import Document
from bench.training import texts as training_texts
from bench.workloads import BATCHES, DOCUMENTS, WORKLOADS, WORST_CASES, Case, RunSize, Selection

import polytok

VOCABULARY = VOCABULARIES[0]
TINY = RunSize(warm_up_bytes=50_000, test_bytes=50_000, rounds=3, processes=1)


def default_adapter() -> Adapter:
    """Returns the adapter of the default vocabulary."""
    return create_adapter(polytok.load("default"))


# The choice of cases


def test_every_engine_has_an_adapter_and_every_adapter_a_vocabulary() -> None:
    named = {engine for vocabulary in VOCABULARIES for engine in vocabulary.engines}
    named |= {engine for workload in WORKLOADS for engine in workload.engines}
    assert named == set(ENGINES)
    assert {name for workload in WORKLOADS for name in workload.operations} == set(OPERATIONS)


def test_a_quick_run_has_one_vocabulary_of_each_family_and_only_named_cases() -> None:
    quick_selection = Selection(is_quick=True)
    assert {case.vocabulary.family for case in quick_selection.cases} == {row.family for row in VOCABULARIES}
    assert {case.workload for case in quick_selection.cases} == set(WORKLOADS)
    assert all(case.vocabulary.is_quick for case in quick_selection.cases)
    named = Selection(vocabularies=["grok1"], texts=["cjk", "en"], workloads=["documents"])
    assert [case.texts[0].name for case in named.cases] == ["en", "cjk"]
    with pytest.raises(SystemExit, match="unknown name latin: choose from en"):
        Selection(texts=["latin"])


def test_a_full_run_has_every_vocabulary_and_text() -> None:
    documents = [case for case in Selection().cases if case.workload is DOCUMENTS]
    assert {(case.vocabulary, case.texts) for case in documents} == {
        (vocabulary, (text,)) for vocabulary in VOCABULARIES for text in TEXTS
    }


# Texts


def test_documents_are_split_between_characters_without_loss() -> None:
    data = ("aé世😀" * 3000).encode()
    document_texts = texts.split_documents(data, len(data), 4096)
    assert "".join(document_texts).encode() == data
    assert all(4093 <= len(text.encode()) <= 4096 for text in document_texts[:-1])
    assert len("".join(texts.split_documents(data, 10_000, 4096)).encode()) in range(9_997, 10_001)
    assert texts.split_documents(b"", 100, 4096) == []


def replace_sources_by_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the sources by numbers; every number occurs once."""
    source_text = "".join(f"{number:07} " for number in range(20_000)).encode()
    monkeypatch.setattr(texts, "read_source", lambda name: source_text)


def test_warm_up_and_test_share_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_sources_by_numbers(monkeypatch)
    warm_up, test = texts.read_documents(Text("numbers", "numbers", ("a", "b")), 4096, TINY)
    assert not set(warm_up) & set(test)
    assert max(warm_up) < min(test)
    portions = texts.split_portions(test, TINY.rounds)
    assert sorted(text for portion in portions for text in portion) == sorted(test)
    assert sum(map(texts.count_utf8_bytes, portions)) == texts.count_utf8_bytes(test) == TINY.test_bytes // 4096 * 4096


def test_documents_of_any_size_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_sources_by_numbers(monkeypatch)
    for size in (100, 20_000):
        _, test = texts.read_documents(Text("numbers", "numbers", ("a", "b")), size, TINY)
        assert len(test) == TINY.test_bytes // size and {len(text) for text in test} == {size}


def test_copies_are_the_same_text_split_elsewhere() -> None:
    documents = [f"{number:09} " for number in range(50)]
    document_copies = texts.repeat_documents(documents, 4)
    assert "".join(map(str, document_copies)) == "".join(documents) * 4
    assert len(set(document_copies)) == len(document_copies)
    assert texts.repeat_documents(documents, 1) == documents


def test_the_standard_library_is_a_text() -> None:
    folder, own_source = Path(texts.__file__).parent, Path(texts.__file__).read_bytes()
    assert own_source in texts.read_sources(folder, "*.py")
    remaining_sources = list(texts.read_sources(folder, "*.py", frozenset({"texts.py", "engines"})))
    assert remaining_sources and own_source not in remaining_sources
    assert not {path.read_bytes() for path in (folder / "engines").glob("*.py")} & set(remaining_sources) - {b""}


@pytest.mark.parametrize("name", worst_texts.TEXT_GENERATORS)
def test_worst_texts_have_the_requested_size(name: str) -> None:
    text = worst_texts.generate_worst_text(name, 1200, 0)
    assert texts.count_utf8_bytes([text]) == 1200
    assert isinstance(text, bytes) == (name == "invalid UTF-8")


# The check of ids


def test_equal_ids_have_equal_digests_in_every_container() -> None:
    assert operations.digest([1, 2, 70_000]) == operations.digest(np.array([1, 2, 70_000], dtype=np.uint32))
    assert operations.digest([1, 2]) != operations.digest([2, 1])
    assert operations.digest([]) == operations.digest(np.array([], dtype=np.uint16))


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_of_polytok_agrees_with_its_ids(name: str) -> None:
    operation, adapter, documents = OPERATIONS[name], default_adapter(), ["Hello, world", "naïve 世界 😀\n", ""]
    actual = checker.digests(adapter, operation, documents)
    assert actual == [operation.digest_reference(adapter, text) for text in documents]
    assert len(set(actual)) > 1


def test_operations_that_a_package_lacks_are_missing() -> None:
    assert checker.digests(Adapter(encode=list), OPERATIONS["count"], ["a"]) == checker.UNSUPPORTED_OPERATION


class FixedIdsChecker:
    """A fake `Checker` with fixed ids for each document."""

    def __init__(self, ids: list[list[int]] | Failure) -> None:
        self._ids = ids

    def digests(
        self, operation: str, documents: Sequence[Document], *, is_reference: bool = False
    ) -> list[bytes] | Failure:
        return self._ids if isinstance(self._ids, Failure) else [operations.digest(ids) for ids in self._ids]


def failure_reasons(ids: dict[str, list[list[int]] | Failure]) -> dict[str, str | None]:
    """Returns the reason why there is no result, for each engine in ``ids``."""
    results = [
        Result(VOCABULARY, DOCUMENTS, ENGLISH, name, "list") for name in (OWN_ENGINE_NAME, "tiktoken", "gigatoken")
    ]
    supported_results = measure.check_results(
        results, ["one", "two"], {name: FixedIdsChecker(engine_ids) for name, engine_ids in ids.items()}
    )
    return {result.engine: result.failure_reason for result in supported_results}


def test_an_engine_with_wrong_ids_has_no_time() -> None:
    reasons = failure_reasons({OWN_ENGINE_NAME: [[1], [2]], "tiktoken": [[1], [2]], "gigatoken": [[1], [3]]})
    assert reasons == {OWN_ENGINE_NAME: None, "tiktoken": None, "gigatoken": "other ids in 1 of 2 documents"}


def test_without_the_reference_nothing_is_timed() -> None:
    reason = "ids not checked: tiktoken is not installed"
    assert failure_reasons({OWN_ENGINE_NAME: [[1], [2]]}) == {
        OWN_ENGINE_NAME: reason,
        "tiktoken": "not installed",
        "gigatoken": "not installed",
    }


def test_a_text_that_the_reference_refuses_is_compared_with_polytok() -> None:
    reasons = failure_reasons({OWN_ENGINE_NAME: [[1], [2]], "tiktoken": Failure("TypeError"), "gigatoken": [[1], [2]]})
    assert reasons == {OWN_ENGINE_NAME: None, "tiktoken": "TypeError", "gigatoken": None}


def test_an_engine_without_the_operation_has_no_row() -> None:
    assert failure_reasons(
        {OWN_ENGINE_NAME: [[1], [2]], "tiktoken": [[1], [2]], "gigatoken": checker.UNSUPPORTED_OPERATION}
    ).keys() == {
        OWN_ENGINE_NAME,
        "tiktoken",
    }


# Processes


def echo(pipe: Connection, task: Any) -> None:
    """Answers requests; exits at "die", hangs at "hang"."""
    while (request := pipe.recv()) is not None:
        if request == "die":
            os._exit(1)
        if request != "hang":
            pipe.send((task, request))


def test_a_process_that_dies_or_hangs_is_replaced() -> None:
    hasty_remote, remote = Remote(echo, "task", timeout_seconds=0.5), Remote(echo, "task", timeout_seconds=60.0)
    assert hasty_remote.ask("hang") == Failure("over 0.5 s")
    assert hasty_remote.is_running is False
    assert remote.ask("die") == Failure("crashed")
    assert remote.ask(1) == ("task", 1)
    remote.finish()
    assert remote.is_running is False


@pytest.mark.parametrize("workload", [DOCUMENTS, BATCHES, WORST_CASES], ids=lambda workload: workload.name)
def test_a_tiny_run(workload: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Compares polytok with itself as the reference, through all steps, in separate processes."""
    replace_sources_by_numbers(monkeypatch)
    path = tmp_path / "default.ptok"
    polytok.load("default").save(path)
    vocabulary = Vocabulary("default", "default", VOCABULARY.family, str(path), reference=OWN_ENGINE_NAME, peers=())
    run_size = RunSize(warm_up_bytes=8192, test_bytes=8192 * 2, rounds=2, processes=1, copy_count=2)
    workload = replace(workload, document_bytes=min(workload.document_bytes, 4096))
    case_texts = tuple(text for text in workload.texts if text.name in ("en", "emoji", "invalid UTF-8"))
    checkers = measure.checkers(vocabulary)
    measured_results = measure.measure(Case(vocabulary, workload, case_texts), run_size, checkers)
    for engine_checker in checkers.values():
        engine_checker.finish()
    assert [(result.text, result.operation) for result in measured_results if result.engine == OWN_ENGINE_NAME] == [
        (text, operation) for operation in workload.operations for text in case_texts
    ]
    peer_operations = {
        (result.engine, result.operation) for result in measured_results if result.engine != OWN_ENGINE_NAME
    }
    assert peer_operations == {(engine, "numpy") for engine in workload.engines}
    for result in measured_results:
        assert result.failure_reason is None
        assert len(result.first_pass_speeds) == 2 and all(speed > 0 for speed in result.first_pass_speeds)
        assert len(result.load_seconds) == len(result.memory_bytes) == 1
    assert OWN_ENGINE_NAME in report.full_report(Results(measured_results), Selection())


def test_a_session_warms_up_and_times_its_portions(tmp_path: Path) -> None:
    path = tmp_path / "default.ptok"
    polytok.load("default").save(path)
    vocabulary = Vocabulary("default", "default", VOCABULARY.family, str(path), reference=OWN_ENGINE_NAME, peers=())
    task = clock.Task(ENGINES[OWN_ENGINE_NAME], vocabulary, "decode", ["warm"], [["Hello", "world"], ["naïve"]], 1)
    session = clock.Session(task)
    startup_timing, timing = session.answer(clock.STARTUP_REQUEST), session.answer(1)
    assert isinstance(startup_timing, clock.StartupTiming) and isinstance(timing, clock.Timing)
    assert timing.size == 6 and timing.wall_seconds > 0
    assert startup_timing.warm_up_seconds > 0


# Tables


def results() -> Results:
    """Returns results with polytok at 20 MB/s, tiktoken at 4 MB/s, and gigatoken without a result."""
    case = (VOCABULARY, DOCUMENTS, ENGLISH)
    return Results(
        [
            Result(*case, OWN_ENGINE_NAME, "list", [20.0, 10.0, 30.0], [40.0] * 3, [0.05], [0.02], [10_000_000]),
            Result(*case, "tiktoken", "list", [4.0, 2.0, 6.0], [4.0] * 3, [0.1], [0.0]),
            Result(*case, "gigatoken", "list", failure_reason="other ids in 1 of 2 documents"),
            Result(*case, OWN_ENGINE_NAME, "numpy", [30.0, 20.0, 40.0], [40.0] * 3, [0.05], [0.02], [10_000_000]),
        ]
    )


def test_the_tables_show_medians_ratios_and_failure_reasons() -> None:
    report_text = report.full_report(results(), Selection())
    assert "| polytok | 20.0 (10.0–30.0) |  | 40.0 (40.0–40.0) |  |" in report_text
    assert "| tiktoken | 4.0 (2.0–6.0) | 5.0× | 4.0 (4.0–4.0) | 10.0× |" in report_text
    assert "| gigatoken | other ids in 1 of 2 documents |" in report_text
    assert "| polytok | 50 | 70 | 10 |" in report_text
    assert "| tiktoken | 100 | 100 |  |" in report_text
    assert "| 30 / 4 tiktoken (7.5×) |" in report.summary_table(results())


def test_the_tables_name_engines_that_are_faster() -> None:
    assert report.describe_slower_cases(results()) == []
    case = (VOCABULARY, DOCUMENTS, ENGLISH)
    slow_results = [
        Result(*case, OWN_ENGINE_NAME, "list", [1.0], [1.0]),
        Result(*case, "tiktoken", "list", [2.0], [2.0]),
    ]
    slow_results.append(Result(*case, OWN_ENGINE_NAME, "numpy", failure_reason="other ids in 1 of 2 documents"))
    assert report.describe_slower_cases(Results(slow_results)) == [
        "cl100k, 4 KB documents, English, list: tiktoken is faster",
        "cl100k, 4 KB documents, English, numpy: polytok: other ids in 1 of 2 documents",
    ]


def test_the_cost_of_a_worst_case_is_relative_to_english() -> None:
    emoji = next(text for text in WORST_CASES.texts if text.name == "emoji")
    worst_results = [
        Result(VOCABULARY, WORST_CASES, ENGLISH, OWN_ENGINE_NAME, "ids", [100.0]),
        Result(VOCABULARY, WORST_CASES, emoji, OWN_ENGINE_NAME, "ids", [25.0]),
    ]
    assert "| cl100k | polytok | 10.0 | 40.0 (4.0×) |" in report.worst_case_table(Results(worst_results))


def test_the_plot_is_the_same_for_the_same_results(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("one.svg", "two.svg"):
        plot.draw(results(), tmp_path / name)
    svg = (tmp_path / "one.svg").read_bytes()
    assert b"tiktoken" in svg and svg == (tmp_path / "two.svg").read_bytes()


def test_tables_are_written_between_markers(tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    document.write_text("before\n<!-- figures:begin -->\nold\n<!-- figures:end -->\nafter\n", encoding="utf-8")
    for text in ("one", "two"):
        markdown.replace_section(document, "figures", text)
    expected = "before\n<!-- figures:begin -->\n\ntwo\n\n<!-- figures:end -->\nafter\n"
    assert document.read_text(encoding="utf-8") == expected
    with pytest.raises(SystemExit, match="<!-- speed:begin -->"):
        markdown.replace_section(document, "speed", "three")


# Training text


def test_training_text_has_its_size_whole_documents_and_is_reproducible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = "".join(f"Zeile {number} über {number * number} Äpfel: 数{number}。\n" for number in range(2000)).encode()
    monkeypatch.setattr(training_texts, "corpus_text", lambda: corpus)
    first_text, second_text = (training_texts.write_text_file(tmp_path / name, 1).read_bytes() for name in ("a", "b"))
    assert first_text == second_text
    assert len(first_text) == training_texts.MEGABYTE
    assert first_text.startswith(corpus)
    walked = first_text.decode()[len(corpus.decode()) :]
    assert set(walked) <= set(corpus.decode())
    assert len(set(walked.splitlines()) - set(corpus.decode().splitlines())) > 1000
