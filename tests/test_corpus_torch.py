"""Tests datasets in PyTorch's data loaders. `make test-torch` installs PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polytok import corpus
from shards import dataset

torch = pytest.importorskip("torch")
data = pytest.importorskip("torch.utils.data")

SHARDS = [[[number, *range(number % 7)] for number in range(first, first + 40)] for first in (0, 40, 80)]


def stack(arrays: list[Any]) -> Any:
    return torch.from_numpy(np.stack(arrays).astype(np.int64))


def as_lists(arrays: list[Any]) -> list[list[int]]:
    return [array.tolist() for array in arrays]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return dataset(tmp_path / "tokens", SHARDS)


@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_workers_read_what_one_process_reads(folder: Path, start_method: str) -> None:
    tokens = corpus.open(folder)
    for source, collate in ((tokens, as_lists), (tokens.windows(5, 3), as_lists)):
        expected = as_lists(list(source))
        context = {"num_workers": 2, "multiprocessing_context": start_method}
        loader = data.DataLoader(source, batch_size=6, collate_fn=collate, **context)
        assert [row for batch in loader for row in batch] == expected
    batches = list(data.DataLoader(tokens.windows(5), batch_size=4, collate_fn=stack))
    assert torch.cat(batches).tolist() == tokens.windows(5)[:].tolist() and batches[0].dtype == torch.int64


def test_every_window_occurs_once_in_random_order(folder: Path) -> None:
    windows = corpus.open(folder).windows(5)
    loader = data.DataLoader(windows, batch_size=4, shuffle=True, num_workers=2, collate_fn=stack)
    assert sorted(torch.cat(list(loader)).tolist()) == sorted(windows[:].tolist())


def test_packed_windows_in_workers(folder: Path) -> None:
    packed = corpus.open(folder).packed(16)
    loader = data.DataLoader(packed, batch_size=3, num_workers=2, collate_fn=list, multiprocessing_context="spawn")
    windows = [window for batch in loader for window in batch]
    assert len(windows) == len(packed)
    for window, expected in zip(windows, packed, strict=True):
        assert all((array == other).all() for array, other in zip(window, expected, strict=True))


class Stream(data.IterableDataset):  # type: ignore[misc]
    """A mixture whose items are divided among the workers."""

    def __init__(self, mixture: corpus.Mixture) -> None:
        self.mixture = mixture

    def __iter__(self) -> Iterator[Any]:
        worker = data.get_worker_info()
        return self.mixture.read(worker.id, worker.num_workers) if worker else iter(self.mixture)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_mixtures_are_the_same_for_every_number_of_workers(tmp_path: Path, folder: Path, workers: int) -> None:
    shares = {folder: 0.7, dataset(tmp_path / "other", SHARDS[:1]): 0.3}
    expected = as_lists([corpus.mix(shares, seed=2)[index] for index in range(len(corpus.mix(shares, seed=2)))])
    by_index = data.DataLoader(corpus.mix(shares, seed=2), batch_size=5, num_workers=workers, collate_fn=as_lists)
    assert [row for batch in by_index for row in batch] == expected
    stream = data.DataLoader(Stream(corpus.mix(shares, seed=2)), batch_size=None, num_workers=workers)
    assert [row.tolist() for row in stream] == expected
    mixture = corpus.mix(shares, seed=2)
    mixture.load_state_dict({**mixture.state_dict(), "position": 12})
    rest = data.DataLoader(Stream(mixture), batch_size=None, num_workers=workers)
    assert [row.tolist() for row in rest] == expected[12:]
