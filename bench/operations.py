"""Defines the operations that can be timed, how their inputs are converted and how their outputs are checked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .engines import Adapter

TimedFunction = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of an engine.

    ``find_function`` returns the function to time, or None if the package has no such function. ``to_input`` converts a
    text to the input of the function. ``digest_output`` returns a digest of an output; ``digest_reference`` computes
    from the reference's ids the digest that the output must have. If ``is_batch`` is true, one call processes a list of
    all inputs of a round, and ``split_rows`` splits its result into one output for each input.
    """

    title: str
    find_function: Callable[[Adapter], TimedFunction | None]
    digest_output: Callable[[Adapter, Any], bytes]
    digest_reference: Callable[[Adapter, str], bytes]
    to_input: Callable[[Adapter, str], Any] = lambda _, text: text
    split_rows: Callable[[Adapter, Any], Sequence[Any]] = lambda _, outputs: outputs
    is_batch: bool = False
    threads: int = 1


def digest(ids: Any) -> bytes:
    """Returns a hash of ids, which is the same for lists and arrays of any dtype."""
    return hashlib.blake2b(np.asarray(ids, dtype=np.int64).tobytes(), digest_size=16).digest()


def text_digest(text: str | bytes) -> bytes:
    """Returns a hash of the UTF-8 of a text."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=16).digest()


def _ids_digest(adapter: Adapter, text: str) -> bytes:
    return digest(adapter.ids(text))


def _length_digest(adapter: Adapter, text: str) -> bytes:
    return digest([len(adapter.ids(text))])


def _decoded_text_digest(adapter: Adapter, text: str) -> bytes:
    assert adapter.decode is not None, "every reference decodes"
    return text_digest(adapter.decode(_native_ids(adapter, text)))


def _decoded_bytes_digest(adapter: Adapter, text: str) -> bytes:
    return (
        text_digest(adapter.decode_bytes(_native_ids(adapter, text)))
        if adapter.decode_bytes
        else _decoded_text_digest(adapter, text)
    )


def _native_ids(adapter: Adapter, text: str) -> Any:
    return adapter.to_native_ids(_as_list(adapter, text))


def _as_list(adapter: Adapter, text: str) -> list[int]:
    return [int(id) for id in adapter.ids(text)]


def _output_digest(_: Adapter, output: Any) -> bytes:
    return digest(output)


def _text_output_digest(_: Adapter, output: Any) -> bytes:
    return text_digest(output)


def _batch_function_finder(threads: int) -> Callable[[Adapter], TimedFunction | None]:
    def find_function(adapter: Adapter) -> TimedFunction | None:
        batch = adapter.encode_batch
        return None if batch is None else lambda texts: batch(texts, threads)

    return find_function


def _batch_operation(threads: int) -> Operation:
    title = f"{threads} thread{'s' if threads > 1 else ''}"
    return Operation(
        title,
        _batch_function_finder(threads),
        _output_digest,
        _ids_digest,
        split_rows=_split_batch_output,
        is_batch=True,
        threads=threads,
    )


def _split_batch_output(adapter: Adapter, output: Any) -> list[Any]:
    return list(adapter.split_rows(output))


OPERATIONS = {
    "list": Operation("list", lambda adapter: adapter.encode, _output_digest, _ids_digest),
    "numpy": Operation("numpy", lambda adapter: adapter.encode_array, _output_digest, _ids_digest),
    "ids": Operation("ids", lambda adapter: adapter.encode_array or adapter.encode, _output_digest, _ids_digest),
    "count": Operation("count", lambda adapter: adapter.count, lambda _, count: digest([count]), _length_digest),
    "offsets": Operation(
        "offsets",
        lambda adapter: adapter.encode_offsets,
        lambda adapter, output: digest(adapter.get_token_ids(output)),
        _ids_digest,
    ),
    "batch 1": _batch_operation(1),
    "batch 2": _batch_operation(2),
    "decode": Operation(
        "to str", lambda adapter: adapter.decode, _text_output_digest, _decoded_text_digest, to_input=_native_ids
    ),
    "decode list": Operation(
        "to str, from a list",
        lambda adapter: adapter.decode,
        _text_output_digest,
        _decoded_text_digest,
        to_input=_as_list,
    ),
    "decode bytes": Operation(
        "to bytes",
        lambda adapter: adapter.decode_bytes,
        _text_output_digest,
        _decoded_bytes_digest,
        to_input=_native_ids,
    ),
    "decode batch": Operation(
        "batch",
        lambda adapter: adapter.decode_batch,
        _text_output_digest,
        _decoded_text_digest,
        to_input=_native_ids,
        is_batch=True,
    ),
}
