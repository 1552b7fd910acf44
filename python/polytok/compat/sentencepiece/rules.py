"""The rules of a normalizer: compiled from pairs of texts, and read back from a compiled map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import ArgumentError

_MAX_DEPTH = 1024
"""The longest key, in bytes, that is read from a map. A damaged map can have keys without an end."""


def compile_rules(rules: str) -> bytes:
    """Returns the compiled map of the lines of a file of rules."""
    try:
        return _core.sentencepiece_compile_rules(rules)
    except ArgumentError as error:
        raise RuntimeError(f"INTERNAL: {error}") from error


def compile_pairs(pairs: Sequence[tuple[str | bytes, str | bytes]]) -> bytes:
    """Returns the compiled map of pairs: text and replacement.

    Raises ValueError for an empty or repeated text, for a replacement by itself, and for bytes that are not UTF-8.
    """
    replacements: dict[str, str] = {}
    for source, target in _texts(pairs):
        if source in replacements:
            raise ValueError(f"INVALID_ARGUMENT: Duplicate source string in map: {source}")
        if not source:
            raise ValueError("INVALID_ARGUMENT: Source string cannot be empty.")
        if source == target:
            raise ValueError(f"INVALID_ARGUMENT: Identity conversion is not allowed: {source}")
        replacements[source] = target
    lines = ["\t".join(" ".join(f"{ord(char):X}" for char in text) for text in pair) for pair in replacements.items()]
    return compile_rules("".join(f"{line}\n" for line in lines))


def _texts(pairs: Sequence[tuple[str | bytes, str | bytes]]) -> list[tuple[str, str]]:
    is_list = isinstance(pairs, Sequence) and not isinstance(pairs, (str, bytes))
    if not is_list or not all(map(_is_pair, pairs)):
        raise TypeError("norm_map must be a list of pairs of str or bytes: text and replacement")
    return [(_decoded(source), _decoded(target)) for source, target in pairs]


def _is_pair(value: Any) -> bool:
    return isinstance(value, Sequence) and len(value) == 2 and all(isinstance(text, (str, bytes)) for text in value)


def _decoded(text: str | bytes) -> str:
    try:
        return text.decode("utf-8") if isinstance(text, bytes) else text.encode("utf-8").decode("utf-8")
    except UnicodeError as error:
        raise ValueError(f"INVALID_ARGUMENT: Invalid UTF-8 sequence in norm_map: {text!r}") from error


def decompile(charsmap: bytes) -> list[tuple[str, str]]:
    """Returns the rules of a compiled map: each text and its replacement, in the order of the texts.

    >>> decompile(compile_pairs([("foo", "bar"), ("a", "b")]))
    [('a', 'b'), ('foo', 'bar')]
    """
    if len(charsmap) <= 4:
        raise RuntimeError("INTERNAL: No precompiled charsmap found in model.")
    rules = _rules(charsmap)
    return sorted((key.decode("utf-8", "replace"), value.decode("utf-8", "replace")) for key, value in rules.items())


def _rules(charsmap: bytes) -> dict[bytes, bytes]:
    end = 4 + int.from_bytes(charsmap[:4], "little")
    units = np.frombuffer(charsmap[4:end], dtype="<u4")
    replacements = charsmap[end:]
    rules: dict[bytes, bytes] = {}
    pending = [(b"", _child_offset(int(units[0])))]
    while pending:
        key, index = pending.pop()
        for label in _child_labels(units, index):
            unit = int(units[index ^ label])
            longer_key, child = key + bytes([label]), (index ^ label) ^ _child_offset(unit)
            if unit & 0x100:
                start = int(units[child]) & 0x7FFF_FFFF
                rules[longer_key] = replacements[start : replacements.index(b"\0", start)]
            if len(longer_key) < _MAX_DEPTH:
                pending.append((longer_key, child))
    return rules


def _child_offset(unit: int) -> int:
    return (unit >> 10) << (8 if unit & 0x200 else 0)


def _child_labels(units: npt.NDArray[np.uint32], index: int) -> list[int]:
    """Returns the bytes that follow the key whose children are at ``index``."""
    places = index ^ np.arange(256)
    places = places[places < len(units)]
    labels = places ^ index
    found: list[int] = labels[(units[places] & 0x8000_00FF) == labels].tolist()
    return found
