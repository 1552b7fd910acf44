"""The operations that can be timed, with the conversion of their inputs and the check of their outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .engines import Adapter

Call = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of an engine.

    ``find`` returns the function to time, or None if the package does not have it. ``to_input`` converts a text to the
    input of the function. ``evidence`` returns a digest of an output, and ``expected`` the digest that the reference
    returns for the text. If ``is_whole``, one call processes all texts of a round: its input is a list of inputs, and
    ``rows`` returns the output for each of them.
    """

    title: str
    find: Callable[[Adapter], Call | None]
    evidence: Callable[[Adapter, Any], bytes]
    expected: Callable[[Adapter, str], bytes]
    to_input: Callable[[Adapter, str], Any] = lambda _, text: text
    rows: Callable[[Adapter, Any], Sequence[Any]] = lambda _, rows: rows
    is_whole: bool = False
    threads: int = 1


def digest(ids: Any) -> bytes:
    """Returns a hash of ids, which is the same for lists and arrays of any dtype."""
    return hashlib.blake2b(np.asarray(ids, dtype=np.int64).tobytes(), digest_size=16).digest()


def text_digest(text: str | bytes) -> bytes:
    """Returns a hash of a text or of its UTF-8."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=16).digest()


def _ids(adapter: Adapter, text: str) -> bytes:
    return digest(adapter.ids(text))


def _length(adapter: Adapter, text: str) -> bytes:
    return digest([len(adapter.ids(text))])


def _text(adapter: Adapter, text: str) -> bytes:
    assert adapter.decode is not None, "every reference decodes"
    return text_digest(adapter.decode(_native_ids(adapter, text)))


def _bytes(adapter: Adapter, text: str) -> bytes:
    return (
        text_digest(adapter.decode_bytes(_native_ids(adapter, text))) if adapter.decode_bytes else _text(adapter, text)
    )


def _native_ids(adapter: Adapter, text: str) -> Any:
    return adapter.to_native_ids(_as_list(adapter, text))


def _as_list(adapter: Adapter, text: str) -> list[int]:
    return [int(id) for id in adapter.ids(text)]


def _same(_: Adapter, output: Any) -> bytes:
    return digest(output)


def _same_text(_: Adapter, output: Any) -> bytes:
    return text_digest(output)


def _batch(threads: int) -> Callable[[Adapter], Call | None]:
    def find(adapter: Adapter) -> Call | None:
        batch = adapter.encode_batch
        return None if batch is None else lambda texts: batch(texts, threads)

    return find


def _batches(threads: int) -> Operation:
    title = f"{threads} thread{'s' if threads > 1 else ''}"
    return Operation(title, _batch(threads), _same, _ids, rows=_rows, is_whole=True, threads=threads)


def _rows(adapter: Adapter, output: Any) -> list[Any]:
    return list(adapter.rows(output))


OPERATIONS = {
    "list": Operation("list", lambda adapter: adapter.encode, _same, _ids),
    "numpy": Operation("numpy", lambda adapter: adapter.encode_array, _same, _ids),
    "ids": Operation("ids", lambda adapter: adapter.encode_array or adapter.encode, _same, _ids),
    "count": Operation("count", lambda adapter: adapter.count, lambda _, count: digest([count]), _length),
    "offsets": Operation(
        "offsets", lambda adapter: adapter.offsets, lambda adapter, tokens: digest(adapter.token_ids(tokens)), _ids
    ),
    "batch 1": _batches(1),
    "batch 2": _batches(2),
    "decode": Operation("to str", lambda adapter: adapter.decode, _same_text, _text, to_input=_native_ids),
    "decode list": Operation(
        "to str, from a list", lambda adapter: adapter.decode, _same_text, _text, to_input=_as_list
    ),
    "decode bytes": Operation(
        "to bytes", lambda adapter: adapter.decode_bytes, _same_text, _bytes, to_input=_native_ids
    ),
    "decode batch": Operation(
        "batch", lambda adapter: adapter.decode_batch, _same_text, _text, to_input=_native_ids, is_whole=True
    ),
}
