"""The interface of all engines."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..cases import Vocabulary


def identity(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The functions of a package for a loaded vocabulary.

    The functions are timed directly, so they do no additional work. A function that the package does not have is None.
    Three functions are not timed: ``to_native_ids`` converts a list of ids to the type that the package decodes
    fastest, and ``rows`` and ``token_ids`` return the ids in the results of ``encode_batch`` and ``offsets``.
    """

    encode: Callable[[str], Sequence[int]] | None = None
    encode_array: Callable[[str], Any] | None = None
    encode_batch: Callable[[list[str], int], Any] | None = None
    rows: Callable[[Any], Iterable[Any]] = identity
    count: Callable[[str], int] | None = None
    offsets: Callable[[str], Any] | None = None
    token_ids: Callable[[Any], Any] = identity
    to_native_ids: Callable[[Sequence[int]], Any] = identity
    decode: Callable[[Any], str] | None = None
    decode_bytes: Callable[[Any], bytes] | None = None
    decode_batch: Callable[[list[Any]], Sequence[str]] | None = None

    def ids(self, text: str) -> Any:
        """Returns the ids of a text, as a list or an array."""
        encode = self.encode or self.encode_array
        assert encode is not None, "every package encodes"
        return encode(text)


@dataclass(frozen=True, slots=True)
class Engine:
    """A package: its name in the tables, its module and distribution, and its function that loads a vocabulary.

    ``simd`` names the vector instructions in the package's machine code, the widest first; simd.py reports them. If
    ``is_timed`` is false, the engine only returns expected ids. ``spoils_caches`` is true if the engine slows down
    other engines in the same process.
    """

    name: str
    module: str
    load: Callable[[Vocabulary], Adapter]
    distribution: str = ""
    simd: tuple[str, ...] = ()
    is_timed: bool = True
    spoils_caches: bool = False

    @property
    def version(self) -> str | None:
        """The installed version of the package, or None if the package is not installed."""
        if importlib.util.find_spec(self.module) is None:
            return None
        try:
            return importlib.metadata.version(self.distribution or self.name)
        except importlib.metadata.PackageNotFoundError:
            return str(getattr(importlib.import_module(self.module), "__version__", "?"))
