"""What a package can do with a vocabulary, under names that all packages share."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..cases import Vocabulary


def as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A loaded vocabulary. What is timed are these very functions, so they do as little as they can.

    None stands for what the package does not offer. ``given_ids`` makes a list of ids what the package decodes
    fastest; ``rows`` and ``token_ids`` take ids out of what ``encode_batch`` and ``offsets`` return, untimed.
    """

    encode: Callable[[str], Sequence[int]] | None = None
    encode_array: Callable[[str], Any] | None = None
    encode_batch: Callable[[list[str], int], Any] | None = None
    rows: Callable[[Any], Iterable[Any]] = as_it_is
    count: Callable[[str], int] | None = None
    offsets: Callable[[str], Any] | None = None
    token_ids: Callable[[Any], Any] = as_it_is
    given_ids: Callable[[Sequence[int]], Any] = as_it_is
    decode: Callable[[Any], str] | None = None
    decode_bytes: Callable[[Any], bytes] | None = None
    decode_batch: Callable[[list[Any]], Sequence[str]] | None = None

    def ids(self, text: str) -> Any:
        """The ids of a text, in whatever form."""
        encode = self.encode or self.encode_array
        assert encode is not None, "every package encodes"
        return encode(text)


@dataclass(frozen=True, slots=True)
class Engine:
    """A package: its name in the tables, the module and distribution it comes from, and how it loads a vocabulary.

    ``simd`` names the vector instructions in its machine code, the widest first; simd.py reports them. An engine that
    is not ``is_timed`` only supplies expected ids. ``spoils_caches``: it slows down every engine in the same process.
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
        """The installed version, or None if it is not installed."""
        if importlib.util.find_spec(self.module) is None:
            return None
        try:
            return importlib.metadata.version(self.distribution or self.name)
        except importlib.metadata.PackageNotFoundError:
            return str(getattr(importlib.import_module(self.module), "__version__", "?"))
