"""Tests the speed targets: the table, verdicts and reports. No test measures a speed that it then asserts."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.cases import CJK, ENGLISH, OWN_ENGINE_NAME, TEXTS, VOCABULARIES, Vocabulary
from bench.contest.entrants import Entrant
from bench.contest.race import Cell, EntrantResult
from bench.engines import ENGINES
from bench.engines.polytok import SIMD_LEVEL_VARIABLE, load
from bench.targets import __main__ as targets
from bench.targets import cold, figures, special_engines
from bench.targets.figures import Figure, Races
from bench.targets.memory import Memory
from bench.targets.table import ALL_VOCABULARIES, TARGETS, Target

import polytok
from reference_specs import DATA, needs_data

CL100K = VOCABULARIES[0]
TARGET = Target("over all", (CL100K,), lambda *_: Figure(1.5, "tiktoken"), (1.5, None, 2, None), "tiktoken")


@pytest.fixture
def vocabulary(tmp_path: Path) -> Vocabulary:
    """Returns the default vocabulary as a row of the table of vocabularies."""
    path = tmp_path / "default.ptok"
    polytok.load("default").save(path)
    return Vocabulary("default", "default", CL100K.family, str(path), reference=OWN_ENGINE_NAME, peers=())


def cell(*results: tuple[str, float | str]) -> Cell:
    """Returns a cell of engines, each with a speed or with the reason why it has none."""
    entries = []
    for name, speed in results:
        entry = EntrantResult(Entrant(name, ENGINES[name], CL100K, ENGINES["tiktoken"]))
        if isinstance(speed, str):
            entry.failure_reason = speed
        else:
            entry.first_pass_speeds, entry.second_pass_speeds = [speed], [2 * speed]
        entries.append(entry)
    return Cell(CL100K, ENGLISH, "ids", entries)


def test_every_tokenizer_json_of_the_data_has_a_target() -> None:
    folder = DATA / "vocab/huggingface"
    (target,) = [target for target in TARGETS if target.limits == (20, 15, 10, 10)]
    names = {row.file for row in target.vocabularies}
    assert not folder.is_dir() or names == {f"huggingface/{path.name}" for path in folder.iterdir()}
    assert len({row.name for row in ALL_VOCABULARIES}) == len(ALL_VOCABULARIES)


def test_limits_are_lower_with_avx2_and_portable_code_has_none() -> None:
    assert [TARGET.limit(text, "avx512") for text in TEXTS] == [1.5, None, 2, None]
    assert TARGET.limit(CJK, "avx2") == 1.7 and TARGET.limit(CJK, "portable") is None
    maximum = replace(TARGET, is_maximum=True)
    assert maximum.limit(CJK, "avx2") == 2 / 0.85
    assert [TARGET.is_met(Figure(1.5), text, "avx512") for text in TEXTS] == [True, None, False, None]
    assert maximum.is_met(Figure(1.5), CJK, "avx512") is True
    assert TARGET.is_met(Figure(None, "no time"), CJK, "avx512") is None


def test_a_ratio_is_that_of_the_fastest_other_engine() -> None:
    three = cell(("tiktoken", 4.0), ("gigatoken", 10.0), (OWN_ENGINE_NAME, 20.0))
    assert figures.ratio(three) == Figure(2.0, "gigatoken")
    wrong = cell(("gigatoken", "other ids in 1 of 2 documents"), (OWN_ENGINE_NAME, 20.0))
    assert figures.ratio(wrong) == Figure(None, "gigatoken: other ids in 1 of 2 documents")
    failed = cell(("tiktoken", 4.0), (OWN_ENGINE_NAME, "crashed"))
    assert figures.ratio(failed) == Figure(0, "polytok: crashed")
    assert figures.lowest([Figure(None, "void"), Figure(3.0), Figure(2.0)]) == Figure(2.0)
    assert figures.lowest([Figure(None, "void")]) == Figure(None, "void")


def test_the_table_shows_limits_verdicts_and_memory() -> None:
    row = targets.Row(
        TARGET,
        CL100K,
        [(ENGLISH, Figure(1.5, "tiktoken")), (CJK, Figure(1.25))],
        Memory(20.4, 1.26),
        Memory(99.6, None),
    )
    report = targets.level_report("avx512", [row])
    assert "| over all | cl100k | 1.50 (≥ 1.5) tiktoken |  | **1.25** (≥ 2) |  | 1 of 2 | 20 / 100 | 1.3 |" in report
    assert "1 of 2 figures reach their limits" in report
    assert "This level has no limits." in targets.level_report("portable", [row])
    assert "The limits are 0.85 of those of AVX-512." in targets.level_report("avx2", [row])


def test_a_level_is_measured_in_the_order_of_the_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "TARGETS", (TARGET, replace(TARGET, title="another")))
    monkeypatch.setattr(targets, "measure_in_process", lambda engine, _: Memory(len(engine), None))
    monkeypatch.setenv(SIMD_LEVEL_VARIABLE, "auto")
    arguments = targets.create_parser().parse_args(["--target", "over", "--vocabulary", CL100K.name])
    (row,) = targets.measure_level("portable", arguments)
    assert os.environ[SIMD_LEVEL_VARIABLE] == "portable"
    assert row.figures == [(ENGLISH, Figure(1.5, "tiktoken")), (CJK, Figure(1.5, "tiktoken"))]
    assert row.memory == Memory(7, None) and row.peer_memory == Memory(8, None)


def test_polytok_is_loaded_at_the_level_of_the_benchmark(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SIMD_LEVEL_VARIABLE, "portable")
    load(vocabulary)
    assert polytok.simd_level() == "portable"
    monkeypatch.delenv(SIMD_LEVEL_VARIABLE)
    load(vocabulary)
    assert polytok.simd_level() == polytok.simd_levels()[0]


@needs_data
def test_tiny_races(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        figures, "WORST_TEXTS", [row for row in figures.WORST_TEXTS if row.name in ("emoji", "invalid UTF-8")]
    )
    monkeypatch.setattr(figures, "WORST_BYTES", 4096)
    races = Races(megabytes=0.1)
    for measure in (figures.spans_over_arrays, figures.decoding_over_python, figures.worst_slowdown):
        figure = measure(races, replace(vocabulary, peers=("tiktoken",)), ENGLISH)
        assert (figure.value or 0) > 0 or figure.remark, measure
    races.finish()


def test_special_engines_return_ids(vocabulary: Vocabulary) -> None:
    text, tokenizer = "naïve 世界", polytok.load("default")
    assert special_engines.load_encoding(vocabulary).ids(text) == tokenizer.encode(text)
    arrays = special_engines.load_arrays_as_spans(vocabulary).encode_offsets
    assert arrays is not None and arrays(text).tolist() == tokenizer.encode(text)
    decoder = special_engines.load_python_decoder(vocabulary)
    assert decoder.decode is not None and decoder.decode(decoder.to_native_ids(decoder.ids(text))) == text


def test_cold_processes_report_whether_they_import_numpy(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cold, "read_documents", lambda *_: ([], ["some text"]))
    codes = cold.engine_codes(vocabulary)
    assert set(codes) == {(OWN_ENGINE_NAME, "list"), (OWN_ENGINE_NAME, "array")}
    lists, arrays = (cold.run_process(code, vocabulary) for code in codes.values())
    assert lists is not None and lists.seconds > 0 and not lists.has_numpy
    assert arrays is not None and arrays.has_numpy
    assert cold.run_process("raise ValueError", vocabulary) is None
