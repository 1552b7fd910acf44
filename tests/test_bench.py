"""The benchmarks' choice of cases, cutting of text, check of ids, and tables. Nothing here depends on how long anything
takes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import cases, measure, report, texts, worker
from bench.cases import CASES, QUICK, TEXTS, VOCABULARIES, Case, Size, Text
from bench.engines import ENGINES, Engine
from bench.measure import Result

CASE = CASES[0]


def test_every_engine_named_has_an_adapter_and_every_adapter_a_vocabulary() -> None:
    named = {engine for vocabulary in VOCABULARIES for engine in vocabulary.engines}
    assert named == set(ENGINES)
    assert all(vocabulary.reference in vocabulary.engines for vocabulary in VOCABULARIES)


def test_a_quick_run_has_every_text_and_the_named_cases_only() -> None:
    quick = cases.selected(True, [], [])
    assert {case.text for case in quick} == set(TEXTS)
    assert all(case.vocabulary.is_quick for case in quick)
    assert [case.text.name for case in cases.selected(False, ["grok1"], ["cjk", "en"])] == ["en", "cjk"]
    assert cases.selected(False, [], []) == list(CASES)
    with pytest.raises(SystemExit, match="nothing is named latin; there is en"):
        cases.selected(False, [], ["latin"])


def test_documents_are_cut_between_characters_and_lose_nothing() -> None:
    data = ("aé世😀" * 3000).encode()
    cut = texts.cut(data, len(data))
    assert "".join(cut).encode() == data
    assert all(texts.DOCUMENT - 3 <= len(text.encode()) <= texts.DOCUMENT for text in cut[:-1])
    assert len("".join(texts.cut(data, 10_000)).encode()) in range(9_997, 10_001)
    assert texts.cut(b"", 100) == []


def test_warming_up_and_testing_share_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "".join(f"{number:07} " for number in range(20_000)).encode()
    monkeypatch.setattr(texts, "source", lambda name: source)
    size = Size(warm_up=50_000, test=50_000, rounds=3, processes=1)
    warm_up, test = texts.documents(Text("numbers", "numbers", ("a", "b")), size)
    assert not set(warm_up) & set(test)
    assert max(warm_up) < min(test)
    portions = texts.portions(test, size.rounds)
    assert sorted(text for portion in portions for text in portion) == sorted(test)
    assert sum(map(texts.utf8_bytes, portions)) == texts.utf8_bytes(test) == 50_000


def test_the_standard_library_is_a_text() -> None:
    sources = list(texts.library_sources(Path(texts.__file__).parent))
    assert Path(texts.__file__).read_bytes() in sources


def test_equal_ids_have_equal_digests_whatever_holds_them() -> None:
    assert worker.digest([1, 2, 70_000]) == worker.digest(np.array([1, 2, 70_000], dtype=np.uint32))
    assert worker.digest([1, 2]) != worker.digest([2, 1])
    assert worker.digest([]) == worker.digest(np.array([], dtype=np.uint16))


def verified(monkeypatch: pytest.MonkeyPatch, ids: dict[str, list[list[int]] | None]) -> dict[str, str | None]:
    """Why each engine is void, if its ids are these; None stands for a package that is not there."""
    for name, given in ids.items():
        module = "numpy" if given is not None else "no_such_module"
        monkeypatch.setitem(ENGINES, name, Engine(name, module, "numpy", ENGINES[name].load))
    results = [Result(CASE, name) for name in ids]

    def digests(case: Case, engine: str, size: Size) -> list[bytes]:
        return [worker.digest(row) for row in ids[engine] or []]

    measure.verify(CASE, QUICK, results, digests)
    return {result.engine: result.void for result in results}


def test_wrong_ids_void_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    void = verified(monkeypatch, {"polytok": [[1], [2]], "polytok numpy": [[1], [3]], "tiktoken": [[1], [2]]})
    assert void == {"polytok": None, "polytok numpy": "wrong ids in 1 of 2 documents", "tiktoken": None}


def test_without_the_reference_nothing_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    void = verified(monkeypatch, {"polytok": [[1]], "tiktoken": None})
    assert void == {"polytok": "ids not checked, tiktoken is not installed", "tiktoken": "not installed"}


def results() -> list[Result]:
    """polytok at 20 MB/s, its numpy output void, tiktoken at 4 MB/s."""
    return [
        Result(CASE, "polytok", [20.0, 10.0, 30.0], [40.0] * 3, [0.05], [1e-4], [10_000_000]),
        Result(CASE, "polytok numpy", void="wrong ids in 1 of 2 documents"),
        Result(CASE, "tiktoken", [4.0, 2.0, 6.0], [4.0] * 3, [0.1], [2e-4], [None]),
    ]


def test_the_tables_show_medians_ratios_and_what_is_void() -> None:
    full = report.full(results(), QUICK)
    assert "| polytok | 20.0 (10.0–30.0) |  | 40.0 (40.0–40.0) |  |" in full
    assert "| tiktoken | 4.0 (2.0–6.0) | 5.0× | 4.0 (4.0–4.0) | 10.0× |" in full
    assert "| polytok numpy | wrong ids in 1 of 2 documents |" in full
    assert "| tiktoken | 100 | 200 |  |" in full
    assert "| 20 / 4.0 (5.0×) |" in report.summary(results())


def test_what_is_not_ahead_is_said() -> None:
    assert report.behind(results()) == [
        f"{CASE.vocabulary.title}, {CASE.text.title}: polytok numpy: wrong ids in 1 of 2 documents"
    ]
    slow = [Result(CASE, "polytok", [1.0], [1.0]), Result(CASE, "tiktoken", [2.0], [2.0])]
    assert report.behind(slow) == [f"{CASE.vocabulary.title}, {CASE.text.title}: tiktoken is faster"]


def test_tables_go_between_markers(tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    document.write_text("before\n<!-- figures:begin -->\nold\n<!-- figures:end -->\nafter\n", encoding="utf-8")
    for text in ("one", "two"):
        report.put(document, "figures", text)
    expected = "before\n<!-- figures:begin -->\n\ntwo\n\n<!-- figures:end -->\nafter\n"
    assert document.read_text(encoding="utf-8") == expected
    with pytest.raises(SystemExit, match="<!-- speed:begin -->"):
        report.put(document, "speed", "three")
