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


def do_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The functions of a package for a loaded vocabulary.

    The benchmark times these functions directly, so an adapter adds as little work as possible. If the package lacks a
    function, the field is None; only ``warm_up`` then does nothing. It builds the tables that the package would
    otherwise build while it encodes. Three functions are not timed: ``to_native_ids`` converts a list of ids to the
    type that the package decodes fastest, ``split_rows`` returns the ids of each text from a result of
    ``encode_batch``, and ``get_token_ids`` returns the ids from a result of ``encode_offsets``.
    """

    warm_up: Callable[[], None] = do_nothing
    encode: Callable[[str], Sequence[int]] | None = None
    encode_array: Callable[[str], Any] | None = None
    encode_batch: Callable[[list[str], int], Any] | None = None
    split_rows: Callable[[Any], Iterable[Any]] = identity
    count: Callable[[str], int] | None = None
    encode_offsets: Callable[[str], Any] | None = None
    get_token_ids: Callable[[Any], Any] = identity
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
    """A package that the benchmarks measure: its name in tables, its module and distribution, and a function that loads
    a vocabulary.

    ``simd`` names the vector instructions in the package's machine code, widest first; simd.py prints these names. If
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
