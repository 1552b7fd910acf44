"""Tests mixtures of datasets: shares, passes, readers, states, and the job that writes a mixture."""

from __future__ import annotations

import json
import pickle
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from polytok import ArgumentError, corpus
from polytok.cli import main
from polytok.cli.continuing import continuing_command
from polytok.corpus.mixture import _item_counts, _Schedule
from polytok.corpus.run import local
from shards import dataset

SIZES = {"a": 700, "b": 50, "c": 9}


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """Writes datasets in which document i of dataset k is [k, i]."""
    return {
        name: dataset(
            tmp_path / name,
            [[[number, row] for row in range(size // 2)], [[number, row] for row in range(size // 2, size)]],
        )
        for number, (name, size) in enumerate(SIZES.items())
    }


def weights(folders: dict[str, Path], *values: float) -> dict[Any, float]:
    return dict(zip(folders.values(), values, strict=False))


@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(st.tuples(st.integers(1, 700), st.floats(0.001, 1000)), min_size=1, max_size=5),
    epochs=st.sampled_from([0.5, 1, 2, 2.5]),
    seed=st.integers(0, 2**64 - 1),
)
def test_shares_and_passes(parts: list[tuple[int, float]], epochs: float, seed: int) -> None:
    sizes, shares = zip(*parts, strict=True)
    counts = _item_counts(shares, sizes, epochs)
    schedule = _Schedule(sizes, counts, seed)
    items = [schedule.item(index) for index in range(sum(counts))]
    for number, (size, count) in enumerate(zip(sizes, counts, strict=True)):
        rows = [item.row for item in items if item.dataset == number]
        assert len(rows) == count <= epochs * size
        for start in range(0, count, size):
            one_pass = rows[start : start + size]
            assert len(set(one_pass)) == len(one_pass) and set(one_pass) <= set(range(size))
        places = np.cumsum([item.dataset == number for item in items]) if items else np.zeros(0)
        expected = np.arange(1, len(items) + 1) * count / max(len(items), 1)
        assert np.abs(places - expected).max(initial=0) <= len(sizes)


def test_counts_follow_the_weights() -> None:
    assert _item_counts([3, 1], [100, 100], 1) == (100, 33)
    assert _item_counts([1, 1], [100, 10], 1) == (10, 10)
    assert _item_counts([1, 1], [100, 10], 3) == (30, 30)
    assert _item_counts([0.5, 0.5], [10, 10], 0.5) == (5, 5)


def test_weights_of_the_same_shares_are_the_same_mixture(tmp_path: Path, folders: dict[str, Path]) -> None:
    state = corpus.mix(weights(folders, 70, 30)).state_dict()
    for shares in ((0.7, 0.3), (7, 3.0), (np.float64(0.7), 0.3)):
        corpus.mix(weights(folders, *shares)).load_state_dict(state)
    corpus.write_mixture(weights(folders, 70, 30), tmp_path / "out", workers=1)
    assert corpus.write_mixture(weights(folders, 0.7, 0.3), tmp_path / "out", workers=1).was_finished
    with pytest.raises(TypeError, match="a key of datasets=<polytok.corpus.Dataset .* is not a path"):
        corpus.mix({corpus.open(folders["a"]): 1})  # type: ignore[dict-item]
    with pytest.raises(ArgumentError, match="the weights differ too much"):
        corpus.mix(weights(folders, 1e-300, 1e300))


def test_documents_by_index(folders: dict[str, Path]) -> None:
    mixture = corpus.mix(weights(folders, 0.7, 0.2, 0.1), seed=5, epochs=2)
    assert Counter(mixture.item(index).dataset for index in range(len(mixture))) == {0: 126, 1: 36, 2: 18}
    assert [row.tolist() for row in mixture] == [list(mixture.item(index)) for index in range(len(mixture))]
    assert [row.tolist() for row in mixture[3:9:2]] == [mixture[index].tolist() for index in (3, 5, 7)]
    assert mixture[-1].tolist() == mixture[len(mixture) - 1].tolist()
    for index in (len(mixture), -len(mixture) - 1):
        with pytest.raises(IndexError, match=f"item {index} is out of range"):
            mixture[index]
    other = corpus.mix(weights(folders, 0.7, 0.2, 0.1), seed=6, epochs=2)
    assert [row.tolist() for row in mixture] != [row.tolist() for row in other]


def test_windows(folders: dict[str, Path]) -> None:
    mixture = corpus.mix(weights(folders, 1, 1), length=4, stride=2)
    dataset_number, row = mixture.item(3)
    assert mixture[3].tolist() == corpus.open(list(folders.values())[dataset_number]).windows(4, 2)[row].tolist()
    with pytest.raises(ArgumentError, match="stride= needs length="):
        corpus.mix(weights(folders, 1), stride=2)
    with pytest.raises(ArgumentError, match="c has no items to mix"):
        corpus.mix(weights(folders, 1, 1, 1), length=100)


@pytest.mark.parametrize("readers", [1, 2, 3, 7])
def test_the_items_do_not_depend_on_the_number_of_readers(folders: dict[str, Path], readers: int) -> None:
    expected = [row.tolist() for row in corpus.mix(weights(folders, 2, 1), seed=1)]
    parts = [
        [row.tolist() for row in corpus.mix(weights(folders, 2, 1), seed=1).read(reader, readers)]
        for reader in range(readers)
    ]
    assert [parts[index % readers][index // readers] for index in range(len(expected))] == expected
    assert sum(map(len, parts)) == len(expected)


def test_two_readers_of_one_mixture_are_an_error(folders: dict[str, Path]) -> None:
    mixture = corpus.mix(weights(folders, 2, 1), seed=1)
    expected = [row.tolist() for row in mixture]
    first = mixture.read(0, 2)
    for reader, readers in ((1, 2), (0, 1), (0, 3)):
        message = (
            f"belongs to reader 0 of 2, and reader {reader} of {readers} would skip items: open a mixture of its own"
        )
        with pytest.raises(ArgumentError, match=message):
            mixture.read(reader, readers)
    assert [row.tolist() for row in first] == expected[0::2]
    assert [row.tolist() for row in mixture.read(1, 2)] == expected[1::2]


def test_two_iterators_of_one_mixture_are_an_error(folders: dict[str, Path]) -> None:
    mixture = corpus.mix(weights(folders, 2, 1), seed=1)
    first, second = iter(mixture), iter(mixture)
    next(first)
    next(second)
    with pytest.raises(ArgumentError, match="a mixture of its own"):
        next(first)
    state = mixture.state_dict()
    assert next(mixture.read(1, 2)).tolist() == mixture[3].tolist()
    mixture.load_state_dict(state)
    assert next(mixture.read(0, 3)).tolist() == mixture[2].tolist()


def test_reading_continues_from_a_state(folders: dict[str, Path]) -> None:
    expected = [row.tolist() for row in corpus.mix(weights(folders, 2, 1), seed=1)]
    states = []
    for reader in range(3):
        mixture = corpus.mix(weights(folders, 2, 1), seed=1)
        rows = mixture.read(reader, 3)
        for _ in range(5):
            next(rows)
        states.append(json.loads(json.dumps(mixture.state_dict())))
    assert states[0] == states[1] == states[2] and states[0]["position"] == 15
    for readers in (1, 2):
        parts = []
        for reader in range(readers):
            mixture = pickle.loads(pickle.dumps(corpus.mix(weights(folders, 2, 1), seed=1)))
            mixture.load_state_dict(states[0])
            parts.append([row.tolist() for row in pickle.loads(pickle.dumps(mixture)).read(reader, readers)])
        assert [parts[index % readers][index // readers] for index in range(len(expected) - 15)] == expected[15:]
    assert [row.tolist() for row in mixture] == expected[15:] and [row.tolist() for row in mixture] == expected
    for other in (corpus.mix(weights(folders, 2, 1), seed=2), corpus.mix(weights(folders, 1, 1), seed=1)):
        with pytest.raises(ArgumentError, match="belongs to another mixture"):
            other.load_state_dict(states[0])
    with pytest.raises(ArgumentError, match="reader=2"):
        next(mixture.read(2, 2))


def test_datasets_that_cannot_be_mixed(tmp_path: Path, folders: dict[str, Path]) -> None:
    with pytest.raises(ArgumentError, match="no datasets to mix"):
        corpus.mix({})
    for weight in (0, -1, float("inf"), float("nan"), True, "1"):
        with pytest.raises(ArgumentError, match="must be a positive number"):
            corpus.mix({folders["a"]: weight})  # type: ignore[dict-item]
    with pytest.raises(ArgumentError, match="epochs=0"):
        corpus.mix(weights(folders, 1), epochs=0)
    with pytest.raises(ArgumentError, match="a is named twice"):
        corpus.mix({folders["a"]: 1, folders["b"] / ".." / "a": 1})
    other_folder = dataset(tmp_path / "other", [[[1]]])
    text = (other_folder / "dataset.json").read_text()
    (other_folder / "dataset.json").write_text(text.replace(polytok.load("default").fingerprint, "0" * 32))
    with pytest.raises(ArgumentError, match=r"different tokenizers.*default \(32,768 ids"):
        corpus.mix({folders["a"]: 1, other_folder: 1})


# The job


@pytest.mark.parametrize("kind", ["megatron", "flat", "parquet"])
def test_the_job_writes_the_mixture(tmp_path: Path, folders: dict[str, Path], kind: Any) -> None:
    shares, out = weights(folders, 0.7, 0.2, 0.1), tmp_path / "mixed"
    report = corpus.write_mixture(shares, out, seed=3, epochs=2, to=kind, documents=True, shard_size=100, workers=1)
    mixture = corpus.mix(shares, seed=3, epochs=2)
    counts = report.total
    assert (counts.documents, counts.tokens) == (len(mixture), 2 * len(mixture)) and corpus.verify(out) == ()
    documents = list(corpus.read_documents(out, range(len(mixture))))
    assert [document.ids.tolist() for document in documents] == [row.tolist() for row in mixture]
    places = [(document.source, document.columns["position"]) for document in documents]
    assert places == [
        (str(list(folders.values())[item.dataset]), item.row) for item in map(mixture.item, range(len(mixture)))
    ]
    corpus.write_mixture(shares, tmp_path / "two", seed=3, epochs=2, to=kind, documents=True, shard_size=100, workers=2)
    for path in out.iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_the_job_continues(tmp_path: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    class Interruption(Exception):
        pass

    run_tasks = local._run_in_this_process

    def stop(event: Any) -> None:
        if isinstance(event, local.TaskDoneEvent):
            raise Interruption

    def run_one(program: Any, assignments: Any, listen: Any) -> None:
        run_tasks(program, assignments, lambda event: (listen(event), stop(event)))

    out, shares = tmp_path / "mixed", weights(folders, 0.7, 0.3)
    with monkeypatch.context() as patch:
        patch.setattr(local, "_run_in_this_process", run_one)
        with pytest.raises(Interruption):
            corpus.write_mixture(shares, out, epochs=1.5, seed=4, shard_size=100, documents=True, workers=1)
    assert corpus.job_status(out).tasks_done == 1
    with pytest.raises(ArgumentError, match="another job"):
        corpus.write_mixture(shares, out, epochs=1, seed=4, shard_size=100, workers=1)
    command = continuing_command(corpus.job_status(out).plan, out)
    assert main([*shlex.split(command)[1:], "--workers", "1", "-q"]) == 0
    assert [row.tolist() for row in corpus.open(out)] == [
        row.tolist() for row in corpus.mix(shares, seed=4, epochs=1.5)
    ]


def test_the_command(tmp_path: Path, folders: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{folders['a']}=3", f"{folders['b']}=1"]
    assert main(["corpus", "mix", *names, "-o", str(tmp_path / "out"), "--seed", "1", "--workers", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1:] for line in lines[1:3]] == [
        ["75.0%", "150", "75.0%", "300", "75.0%"],
        ["25.0%", "50", "25.0%", "100", "25.0%"],
    ]
    assert lines[3].split() == ["total", "200", "400"]
    assert lines[4].startswith(f"{folders['b']} ends the mixture: each of its documents has occurred once")
    assert main(["corpus", "mix", *names, "-o", str(tmp_path / "out"), "--seed", "1", "--workers", "1"]) == 0
    assert f"already finished: {tmp_path / 'out'} holds" in capsys.readouterr().err
    assert main(["corpus", "mix", *names, "-o", str(tmp_path / "json"), "--json", "--workers", "1"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["totals"]["documents"] == 200 and report["shares"][1]["documents"] == 50
    assert main(["corpus", "info", str(tmp_path / "out")]) == 0
    assert any(
        line.split()[1:4] == ["150", "300", "-"] for line in capsys.readouterr().out.splitlines() if "/a " in line
    )
    assert main(["corpus", "mix", names[0], names[0], "-o", str(tmp_path / "twice")]) == 2
    for wrong in ("a", "a=", "=1", "a=x"):
        with pytest.raises(SystemExit):
            main(["corpus", "mix", wrong, "-o", str(tmp_path / "wrong")])
