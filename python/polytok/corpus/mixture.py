"""Mixes several datasets by weight: a view whose order depends only on the datasets, the weights and the seed.

Dataset k contributes a fixed number n of items. Its item number j gets the time (j + u) / n, in which u is a random
number from 0 to 1 that depends on the seed, k and j. The order of the mixture is the order of the times. So the items
of each dataset are spread evenly: up to any place, a dataset has contributed its share, give or take a few items.

Item number j of a dataset belongs to pass j // size, and each pass has a random order of its own. The items of the
mixture in a slice of time are computed together, so no table of the whole mixture is stored.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..checked import checked
from ..checks import number, path
from ..errors import ArgumentError
from ..keywords import keyword
from .dataset import Dataset
from .manifest import check_same_tokenizer
from .permutation import permute
from .shuffle import mix_bits
from .windows import Windows

_SLICE_ITEMS = 256
_CACHED_SLICES = 16
_MAX_WEIGHT = 10**300  # dividing by larger numbers overflows

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = "Mapping[str, float] | Mapping[Path, float] | Mapping[str | os.PathLike[str], float]"
"""The weight of each dataset folder."""


class MixtureItem(NamedTuple):
    """The index of a dataset in the mixture, and the index of a document or window in the dataset."""

    dataset: int
    row: int


class Mixture(Sequence[npt.NDArray[Any]]):
    """A mixture of datasets; see `mix`.

    Each item is a document, or a window if the mixture has a ``length``. Many threads can read a mixture by index. A
    pickled mixture holds only the paths of the datasets, the options and the position. ``counts`` has the number of
    items of each dataset, and ``limit`` is the index of the dataset that ends the mixture.
    """

    def __init__(
        self,
        datasets: Weights,
        *,
        seed: int = 0,
        epochs: float = 1,
        length: int | None = None,
        stride: int | None = None,
    ) -> None:
        """Opens the datasets. Raises the errors of `mix`."""
        self.weights = _checked_weights(datasets)
        self.seed = number("seed", seed, least=0, most=2**64 - 1)
        self.epochs, self.length, self.stride = _checked_epochs(epochs), length, stride
        if length is None and stride is not None:
            raise ArgumentError("stride= needs length=, because only windows have a stride")
        self.datasets = tuple(map(Dataset, datasets))
        folders = [dataset.folder.resolve() for dataset in self.datasets]
        for folder in folders:
            if folders.count(folder) > 1:
                raise ArgumentError(f"{folder} is named twice: name it once, with the sum of the weights")
        for dataset in self.datasets[1:]:
            first = self.datasets[0]
            check_same_tokenizer(first.folder, first.manifest.tokenizer, dataset.folder, dataset.manifest.tokenizer)
        self._parts: tuple[Dataset | Windows, ...] = self.datasets
        if length is not None:
            self._parts = tuple(dataset.windows(length, stride) for dataset in self.datasets)
        sizes = [len(part) for part in self._parts]
        if 0 in sizes:
            empty_folder = self.datasets[sizes.index(0)].folder
            raise ArgumentError(f"{empty_folder} has no items to mix: remove it, or choose a smaller length")
        self.counts = _item_counts(self.weights, sizes, self.epochs)
        self.limit = _limiting_dataset(self.weights, sizes)
        self._schedule = _Schedule(sizes, self.counts, self.seed)
        self._position = 0
        self._reader = (0, 1)

    def __len__(self) -> int:
        return sum(self.counts)

    @checked()
    def item(self, index: int) -> MixtureItem:
        """Returns the dataset of item ``index``, and the item's index in that dataset."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"item {index} is out of range: the mixture has {len(self)} items")
        return self._schedule.item(index % len(self))

    def __getitem__(self, index: Any) -> Any:
        """Returns item ``index`` as an array of ids, or a list of arrays for a slice. Raises `IndexError`."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        dataset, row = self.item(index)
        return self._parts[dataset][row]

    def read(self, reader: int = 0, readers: int = 1) -> Iterator[npt.NDArray[Any]]:
        """Yields the items from the current position on: with several readers, every ``readers``-th item.

        So item i belongs to reader ``i % readers``, and all readers together read the same items in the same order,
        whatever their number. Each reader needs a mixture object of its own, whose position moves by ``readers`` items
        with each item. After the last item, the position is 0 again.

        Raises `ArgumentError` if this object belongs to another reader, which has not read all its items yet. An
        iterator raises it when it continues after another iterator of this object has read: both would skip items.
        """
        number("readers", readers, least=1)
        number("reader", reader, least=0, most=readers - 1)
        # A reader of all items leaves none out before its position, so any reader can continue there.
        owner, owners = self._reader
        if owners > 1 and self._reader != (reader, readers):
            raise ArgumentError(
                f"this mixture belongs to reader {owner} of {owners}, and reader {reader} of {readers} "
                "would skip items: open a mixture of its own for each reader"
            )
        self._reader = (reader, readers)
        return self._read(reader, readers)

    def _read(self, reader: int, readers: int) -> Iterator[npt.NDArray[Any]]:
        position = self._position
        while position + reader < len(self):
            if self._position != position:
                raise ArgumentError(
                    "another iterator has read from this mixture, so items would be skipped: open a mixture of its own "
                    "for each reader"
                )
            item = self[position + reader]
            position = self._position = position + readers
            yield item
        self._position, self._reader = 0, (0, 1)

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        """Yields all items from the current position on."""
        return self.read()

    def state_dict(self) -> dict[str, Any]:
        """Returns the position of reading, and a description of the mixture, as a JSON value.

        All readers that have read the same number of items have the same state, so any number of readers can continue.
        """
        return {"position": self._position, "mixture": self._description()}

    @checked()
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues reading at the position of ``state``.

        Raises `ArgumentError` if the state belongs to another mixture.
        """
        if state["mixture"] != self._description():
            raise ArgumentError(
                f"this state belongs to another mixture, {state['mixture']}, but this one is {self._description()}: "
                "use the same datasets, weights, seed, epochs and length"
            )
        self._position, self._reader = number("position", state["position"], least=0), (0, 1)

    def _description(self) -> dict[str, Any]:
        sizes = [[dataset.documents, dataset.tokens] for dataset in self.datasets]
        options = {name: getattr(self, name) for name in ("seed", "epochs", "length", "stride")}
        return {"weights": list(self.weights), "sizes": sizes, **options}

    def __reduce__(self) -> tuple[Any, ...]:
        paths = {dataset.folder: weight for dataset, weight in zip(self.datasets, self.weights, strict=True)}
        stamps = tuple(dataset.stamp for dataset in self.datasets)
        return (_unpickle, (paths, self.seed, self.epochs, self.length, self.stride, self._position, stamps))

    def __repr__(self) -> str:
        kind = "documents" if self.length is None else f"windows of {self.length} tokens"
        return f"<polytok.corpus.Mixture of {len(self.datasets)} datasets, {len(self)} {kind}>"


@checked()
def mix(
    datasets: Weights,
    *,
    seed: int = 0,
    epochs: float = 1,
    length: int | None = None,
    stride: int | None = None,
) -> Mixture:
    """Returns a view that mixes the documents of several datasets by weight, in a random order.

    Args:
        datasets: The weight of each dataset folder. Weights are shares of the items: documents, or windows.
        seed: The seed of the order.
        epochs: How often an item can occur. The mixture ends as soon as one dataset has contributed all its items
            this often.
        length: If set, the items are windows of this many tokens; see `Dataset.windows`.
        stride: The number of tokens from the start of a window to the start of the next one; by default ``length``.

    Raises:
        ArgumentError: A weight is not positive, the datasets have different tokenizers, or cannot be mapped.
        FileError: A dataset cannot be read.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from polytok import corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a", "b"):
    ...         _ = Path(folder, f"{name}.txt").write_text(f"{name}\\n" * 100)
    ...         _ = corpus.tokenize(f"{folder}/{name}.txt", "default", f"{folder}/{name}", lines=True, workers=1)
    ...     mixture = corpus.mix({f"{folder}/a": 3, f"{folder}/b": 1}, seed=1)
    ...     len(mixture), [mixture.item(index).dataset for index in range(8)]
    (133, [0, 0, 1, 0, 0, 1, 0, 0])
    """
    return Mixture(datasets, seed=seed, epochs=epochs, length=length, stride=stride)


def _unpickle(
    datasets: Weights,
    seed: int,
    epochs: float,
    length: int | None,
    stride: int | None,
    position: int,
    _stamps: tuple[bytes, ...],
) -> Mixture:
    mixture = Mixture(datasets, seed=seed, epochs=epochs, length=length, stride=stride)
    mixture._position = position
    return mixture


def _checked_weights(datasets: Mapping[Any, float]) -> tuple[int, ...]:
    """Returns the weights as the smallest whole numbers, so 70:30 and 0.7:0.3 are the same mixture.

    >>> _checked_weights({"a": 0.7, "b": 0.3}), _checked_weights({"a": 70, "b": 30})
    ((7, 3), (7, 3))
    """
    if not isinstance(datasets, Mapping) or not datasets:
        raise ArgumentError("no datasets to mix: give a dict of folders and weights, {'a': 0.7, 'b': 0.3}")
    for folder, weight in datasets.items():
        path("a key of datasets", folder)
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < float("inf"):
            raise ArgumentError(f"the weight of {os.fspath(folder)} is {weight!r}: it must be a positive number")
    # A float is the decimal number that Python prints for it: 0.7 is exactly seven tenths.
    weights = [Fraction(str(float(weight)) if isinstance(weight, float) else weight) for weight in datasets.values()]
    scale = math.lcm(*(weight.denominator for weight in weights))
    numbers = [int(weight * scale) for weight in weights]
    if max(numbers) > _MAX_WEIGHT:
        raise ArgumentError("the weights differ too much, or have too many digits: give shares such as 0.7 and 0.3")
    divisor = math.gcd(*numbers)
    return tuple(number // divisor for number in numbers)


def _checked_epochs(epochs: float) -> float:
    if isinstance(epochs, bool) or not isinstance(epochs, (int, float)) or not 0 < epochs < 2**31:
        raise ArgumentError(f"{keyword('epochs', epochs)} is not a positive number")
    return epochs


def _limiting_dataset(weights: Sequence[float], sizes: Sequence[int]) -> int:
    """Returns the index of the dataset whose items are used up first."""
    return min(range(len(sizes)), key=lambda index: sizes[index] / weights[index])


def _item_counts(weights: Sequence[float], sizes: Sequence[int], epochs: float) -> tuple[int, ...]:
    """Returns the number of items of each dataset in the mixture."""
    length = min(epochs * size / weight for size, weight in zip(sizes, weights, strict=True))
    return tuple(min(round(length * weight), int(epochs * size)) for size, weight in zip(sizes, weights, strict=True))


class _Schedule:
    """The order of the items, in slices of time with about the same number of items."""

    def __init__(self, sizes: Sequence[int], counts: Sequence[int], seed: int) -> None:
        self._sizes, self._counts, self._seed = sizes, counts, seed
        self._slice_count = max(1, sum(counts) // _SLICE_ITEMS)
        self._slice = lru_cache(_CACHED_SLICES)(self._create_slice)
        self._first_index = lru_cache(4 * _CACHED_SLICES)(lambda number: sum(self._counts_before(number)))

    def item(self, index: int) -> MixtureItem:
        guess = min(index * self._slice_count // max(sum(self._counts), 1), self._slice_count - 1)
        while self._first_index(guess) > index:
            guess -= 1
        while self._first_index(guess + 1) <= index:
            guess += 1
        first_index, datasets, rows = self._slice(guess)
        return MixtureItem(int(datasets[index - first_index]), int(rows[index - first_index]))

    def _counts_before(self, slice_number: int) -> tuple[int, ...]:
        """Returns for each dataset the number of its items before a slice."""
        return tuple(self._count_before(slice_number, dataset) for dataset in range(len(self._counts)))

    def _count_before(self, slice_number: int, dataset: int) -> int:
        count = self._counts[dataset]
        if slice_number >= self._slice_count:
            return count
        # Item j has a time from j / count to (j + 1) / count, so only items near this quotient can be in doubt.
        nearest = slice_number * count // self._slice_count
        candidates = np.arange(max(nearest - 2, 0), min(nearest + 3, count))
        slices = np.floor(self._times(dataset, candidates) * self._slice_count)
        return max(nearest - 2, 0) + int((slices < slice_number).sum())

    def _times(self, dataset: int, items: IntArray) -> FloatArray:
        key = mix_bits(mix_bits(np.array([self._seed], dtype=np.uint64)) ^ np.uint64(dataset))
        random_bits = mix_bits(mix_bits(key) ^ items.astype(np.uint64)) >> np.uint64(11)
        times: FloatArray = (items + random_bits * 2.0**-53) / self._counts[dataset]
        return times

    def _create_slice(self, number: int) -> tuple[int, IntArray, IntArray]:
        """Returns the index of the first item of a slice, and the datasets and indices of all its items."""
        starts, ends = self._counts_before(number), self._counts_before(number + 1)
        items = [np.arange(start, end) for start, end in zip(starts, ends, strict=True)]
        times = np.concatenate([self._times(dataset, items[dataset]) for dataset in range(len(items))])
        order = np.argsort(times, kind="stable")
        datasets = np.repeat(np.arange(len(items)), [len(part) for part in items])
        rows = np.concatenate([self._rows(dataset, items[dataset]) for dataset in range(len(items))])
        return sum(starts), datasets[order], rows[order]

    def _rows(self, dataset: int, items: IntArray) -> IntArray:
        """Returns the index in the dataset of each item."""
        passes, places = np.divmod(items, self._sizes[dataset])
        rows = np.empty_like(items)
        for pass_number in np.unique(passes).tolist():
            is_in_pass = passes == pass_number
            rows[is_in_pass] = permute(places[is_in_pass], self._sizes[dataset], self._seed, dataset, pass_number)
        return rows
