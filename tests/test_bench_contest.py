"""Tests the contest of engines and builds: pairings, checks and the comparison of rounds. No test measures time."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import ClassVar

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import builds, simd
from bench.cases import ENGLISH, OWN_ENGINE_NAME, VOCABULARIES, Vocabulary
from bench.clock import Timing
from bench.contest import __main__ as contest
from bench.contest import loads
from bench.contest.entrants import Entrant, Match, match_builds, match_engines, match_files, select_vocabularies
from bench.contest.race import Cell, EntrantResult, IdChecker, race
from bench.engines import ENGINES, Adapter, Engine

import polytok
from polytok import _core

PACKAGE = Path(polytok.__file__).parent
EXTENSION = Path(_core.__file__)
TEXT = "Hello, naïve 世界 😀\n"


@pytest.fixture
def vocabulary(tmp_path: Path) -> Vocabulary:
    """Returns the default vocabulary as a row of the table of vocabularies."""
    path = tmp_path / "default.ptok"
    polytok.load("default").save(path)
    return Vocabulary("default", "default", VOCABULARIES[0].family, str(path), reference=OWN_ENGINE_NAME, peers=())


# Pairings


def test_polytok_competes_with_two_installed_engines_and_is_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "version", property(lambda engine: None if engine.name == "kitoken" else "1"))
    matches = match_engines(VOCABULARIES[0], [])
    assert [[entrant.label for entrant in match] for match in matches] == [
        ["tiktoken", "gigatoken", OWN_ENGINE_NAME],
        ["quicktok-v1", "bpe-openai", OWN_ENGINE_NAME],
    ]
    assert {entrant.reference_engine.name for match in matches for entrant in match} == {"tiktoken"}
    assert [len(match) for match in match_engines(VOCABULARIES[0], ["gigatoken"])] == [2]


def test_builds_compete_and_the_first_build_defines_the_ids() -> None:
    old_build, new_build = (builds.create_engine(name, EXTENSION) for name in ("old", "new"))
    (match,) = match_builds([old_build, new_build], VOCABULARIES[0])
    assert [entrant.label for entrant in match] == ["old", "new"]
    assert {entrant.reference_engine for entrant in match} == {old_build}


def test_every_tokenizer_json_competes_with_the_first_format_of_its_vocabulary() -> None:
    (match,) = match_files(*select_vocabularies(["llama2-json"]))
    assert [(entrant.vocabulary.name, entrant.reference_engine.name) for entrant in match] == [
        ("llama2", "sentencepiece"),
        ("llama2-json", "tokenizers"),
    ]
    assert match_files(*select_vocabularies(["llama2"])) == []
    names = {row.name for row in VOCABULARIES}
    assert all(row.counterpart is None or row.counterpart in names for row in VOCABULARIES)
    with pytest.raises(SystemExit, match="unknown vocabulary latin: choose from cl100k_base"):
        select_vocabularies(["latin"])


def test_the_widest_instructions_of_code_and_processor_are_named() -> None:
    both_sets = (simd.AVX512, simd.AVX2)
    assert simd.widest_instructions(both_sets, frozenset({"avx2", "avx512bw"})) == "AVX-512"
    assert simd.widest_instructions(both_sets, frozenset({"avx2"})) == "AVX2"
    assert simd.widest_instructions((), frozenset({"avx2"})) == "none known"


# Builds


@pytest.mark.parametrize("path", [PACKAGE, EXTENSION], ids=["folder", "file"])
def test_a_build_is_a_polytok_of_its_own_in_the_same_process(path: Path, vocabulary: Vocabulary) -> None:
    engine = builds.create_engine("again", path)
    adapter, polytok_adapter = engine.load(vocabulary), ENGINES[OWN_ENGINE_NAME].load(vocabulary)
    for name in ("encode", "encode_array", "count"):
        actual, expected = getattr(adapter, name)(TEXT), getattr(polytok_adapter, name)(TEXT)
        assert list(actual) == list(expected) if name != "count" else actual == expected
    assert adapter.encode_offsets is not None and list(adapter.get_token_ids(adapter.encode_offsets(TEXT))) == list(
        polytok_adapter.ids(TEXT)
    )
    ids = adapter.to_native_ids(polytok_adapter.ids(TEXT))
    assert adapter.decode is not None and adapter.decode(ids) == TEXT
    assert adapter.decode_bytes is not None and adapter.decode_bytes(ids) == TEXT.encode()
    assert sys.modules["polytok_again._core"] is not _core


def test_a_build_without_options_is_called_with_the_text_only() -> None:
    assert builds.adapt_text_method(lambda text: [text])("a") == ["a"]
    assert builds.adapt_text_method(lambda text, add_special: [text, add_special])("a") == ["a", False]


@pytest.mark.parametrize("argument", ["old", "old=/nowhere", "o l d=.", "=."])
def test_a_path_that_is_not_a_build_is_refused(argument: str) -> None:
    with pytest.raises(SystemExit, match="is not name=path"):
        builds.parse_build(argument)


# A race


def entrants(vocabulary: Vocabulary, other_adapter: Adapter | None = None) -> Match:
    """Returns polytok and an engine named other, which is also polytok unless an adapter is passed."""
    polytok_engine = ENGINES[OWN_ENGINE_NAME]
    other_engine = Engine("other", "polytok", polytok_engine.load if other_adapter is None else lambda _: other_adapter)
    return tuple(Entrant(engine.name, engine, vocabulary, polytok_engine) for engine in (other_engine, polytok_engine))


def test_every_entrant_runs_every_turn_and_starts_once_in_each_round(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, int]] = []

    def answer(name: str, turn: int) -> Timing:
        calls.append((name, turn))
        return Timing(size=1_000_000, wall_seconds=0.5 if name == "other" else 0.25, processor_seconds=0.0)

    class FakeSession:
        def __init__(self, task: object) -> None:
            self.name = task.engine.name  # type: ignore[attr-defined]

        def ask(self, turn: int) -> Timing:
            return answer(self.name, turn)

        def finish(self) -> None:
            pass

    monkeypatch.setattr("bench.contest.race.LocalSession", FakeSession)
    entries = [EntrantResult(entrant) for entrant in entrants(vocabulary)]
    race(entries, "list", [], [["a"], ["b"], ["c"], ["d"], ["left over"]], engine_order=0)
    assert calls[:8] == [
        *(("other", 0), (OWN_ENGINE_NAME, 0), (OWN_ENGINE_NAME, 1), ("other", 1)),
        *(("other", 2), (OWN_ENGINE_NAME, 2), (OWN_ENGINE_NAME, 3), ("other", 3)),
    ]
    assert calls[8:] == calls[:8]
    assert [entry.first_pass_speeds for entry in entries] == [[2.0, 2.0], [4.0, 4.0]]
    cell = Cell(vocabulary, ENGLISH, "list", entries)
    assert [(pass_name, ratio) for pass_name, _, ratio in cell.median_ratios()] == [("first", 2.0), ("again", 2.0)]
    assert cell.lowest_ratio() == 2.0


def test_a_tiny_race_in_this_process(vocabulary: Vocabulary) -> None:
    entries = [EntrantResult(entrant) for entrant in entrants(vocabulary)]
    race(entries, "numpy", ["warm"], [["Hello"], ["world"], ["naïve", "世界"]], engine_order=1)
    for entry in entries:
        assert entry.failure_reason is None
        assert (
            len(entry.first_pass_speeds) == len(entry.second_pass_speeds) == 1
            and min(entry.first_pass_speeds + entry.second_pass_speeds) > 0
        )


def test_an_engine_that_slows_others_runs_in_a_process_of_its_own(vocabulary: Vocabulary) -> None:
    polytok_engine = ENGINES[OWN_ENGINE_NAME]
    alone = Engine("alone", "polytok", polytok_engine.load, spoils_caches=True)
    entries = [
        EntrantResult(Entrant(engine.name, engine, vocabulary, polytok_engine)) for engine in (alone, polytok_engine)
    ]
    race(entries, "list", [], [["Hello"], ["world"]], engine_order=0)
    assert [len(entry.first_pass_speeds) for entry in entries] == [1, 1]


def test_an_engine_that_fails_has_no_result_and_the_others_continue(vocabulary: Vocabulary) -> None:
    def fail(text: str) -> list[int]:
        raise ValueError("no such text")

    entries = [EntrantResult(entrant) for entrant in entrants(vocabulary, Adapter(encode=fail))]
    race(entries, "list", [], [["Hello"], ["world"]], engine_order=0)
    assert entries[0].failure_reason == "ValueError: no such text"
    assert len(entries[1].first_pass_speeds) == 1
    assert Cell(vocabulary, ENGLISH, "list", entries).lowest_ratio() == 0.0


class FixedOutputsChecker:
    """A fake `Checker` with fixed outputs for each engine."""

    outputs: ClassVar[dict[str, list[bytes]]] = {OWN_ENGINE_NAME: [b"1"]}

    def __init__(self, engine: Engine, vocabulary: Vocabulary, timeout_seconds: float) -> None:
        self.name = engine.name

    def digests(self, operation: str, documents: object, *, is_reference: bool = False) -> object:
        return FixedOutputsChecker.outputs[self.name]

    def finish(self) -> None:
        pass


def test_an_engine_with_wrong_ids_has_no_time_and_fails_the_gate(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.contest.race.Checker", FixedOutputsChecker)
    monkeypatch.setitem(FixedOutputsChecker.outputs, "other", [b"2"])
    id_checker = IdChecker()
    entries = id_checker.entries(entrants(vocabulary), "list", ["a"])
    id_checker.finish()
    assert [entry.failure_reason for entry in entries] == ["other ids in 1 of 1 documents", None]
    cell = Cell(vocabulary, ENGLISH, "list", entries)
    assert list(contest.cell_rows(cell)) == [
        ("default", "English", "list", "", "", "other", "other ids in 1 of 1 documents", "", "")
    ]
    assert cell.lowest_ratio() == 0.0


# The verdict


def test_the_gate_fails_if_a_cell_is_slower_or_nothing_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert contest.print_verdict([("a", 0.99), ("b", 1.2)], 0.98) == 0
    assert contest.print_verdict([("a", 0.99), ("b", 1.2)], 1.0) == 1
    assert "below 1: a: 0.990" in capsys.readouterr().out
    assert contest.print_verdict([], 0.98) == 1
    assert contest.print_verdict([("a", 0.1)], None) == 0


def test_a_cell_below_the_gate_is_timed_again(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    def race_with_slower_build(entries: list[EntrantResult], *_: object) -> None:
        for entry, speed in zip(entries, (2.0, 1.0), strict=True):
            entry.first_pass_speeds.append(speed)
            entry.second_pass_speeds.append(speed)

    monkeypatch.setattr("bench.contest.race.read_documents", lambda *_: (["warm"], ["a"] * 16))
    monkeypatch.setattr(contest, "race", race_with_slower_build)
    arguments: argparse.Namespace = contest.create_parser().parse_args(["--repeats", "2", "--gate", "0.98"])
    match = entrants(vocabulary)
    monkeypatch.setattr("bench.contest.race.Checker", FixedOutputsChecker)
    monkeypatch.setitem(FixedOutputsChecker.outputs, "other", [b"1"])
    cell = contest.measure_cell(match, ENGLISH, "list", IdChecker(), arguments)
    assert cell is not None and cell.lowest_ratio() == 0.5
    assert len(cell.entries[0].first_pass_speeds) == 2 * (1 + contest.MAX_RETRIES)
    cell_json = contest.as_json(cell)
    assert json.loads(json.dumps(cell_json))["ratios"][0]["ratio"] == 0.5


def test_loads_are_compared_by_their_medians(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = {Path("old"): iter([3.0, 9.0, 3.0] * 3), Path("new"): iter([1.0, 2.0, 2.0] * 3)}
    monkeypatch.setattr(loads, "_measure_in_process", lambda folder, _: (next(figures[folder]), 10.0))
    (load,) = loads.compare_builds(vocabulary, [("old", Path("old")), ("new", Path("new"))])
    assert load.ratios == (1.5, 1.0)
    assert load.row()[:5] == ("default", "2.0", "old", "3.0", "1.500")
    assert loads.peak_memory() > 1.0
