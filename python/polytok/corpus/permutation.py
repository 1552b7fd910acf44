"""Permutations of large ranges that need no memory: each index is computed from its position and a seed.

A Feistel network permutes the numbers of an even count of bits; numbers outside the range are permuted again until they
are inside. A network of few bits has too few permutations, so small ranges are sorted by random keys instead. No random
number generator of a package is used, because such a generator can change between versions.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .rows import IntArray
from .shuffle import mix_bits

_ROUNDS = 6
_MAX_SORTED_COUNT = 1 << 12


def permute(positions: npt.ArrayLike, count: int, seed: int, *keys: int) -> IntArray:
    """Returns the images of ``positions`` in a permutation of the numbers 0 to ``count - 1``.

    ``seed`` and ``keys`` select the permutation.

    >>> permute(range(8), 8, 1).tolist(), permute([5], 8, 1).tolist()
    ([6, 7, 2, 5, 3, 4, 0, 1], [4])
    """
    if count <= _MAX_SORTED_COUNT:
        return _sorted_order(count, seed, keys)[np.asarray(positions, dtype=np.int64)]
    images = np.array(positions, dtype=np.uint64)
    half_bits = ((count - 1).bit_length() + 1) // 2
    round_keys = _random_keys(_ROUNDS, seed, keys)
    is_outside = np.ones(len(images), dtype=bool)
    while is_outside.any():
        images[is_outside] = _feistel(images[is_outside], half_bits, round_keys)
        is_outside = images >= count
    return images.astype(np.int64)


@lru_cache(64)
def _sorted_order(count: int, seed: int, keys: tuple[int, ...]) -> IntArray:
    order: IntArray = np.argsort(_random_keys(count, seed, keys), kind="stable")
    return order


@lru_cache(64)
def _random_keys(count: int, seed: int, keys: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    key = mix_bits(np.array([seed], dtype=np.uint64))
    for value in keys:
        key = mix_bits(key ^ np.uint64(value))
    return mix_bits(key ^ mix_bits(np.arange(count, dtype=np.uint64)))


def _feistel(
    values: npt.NDArray[np.uint64], half_bits: int, round_keys: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    bits, mask = np.uint64(half_bits), np.uint64((1 << half_bits) - 1)
    left, right = values >> bits, values & mask
    for round_key in round_keys:
        left, right = right, left ^ (mix_bits(right ^ round_key) & mask)
    permuted: npt.NDArray[np.uint64] = (left << bits) | right
    return permuted
