"""The decoding methods of sentencepiece's binding that its programs reach as ``processor._processor``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

_KINDS = {"": str, "AsBytes": bytes, "AsSerializedProto": "serialized_proto"}


class Binding:
    """``processor._processor``: batches of any sequence, of which the length is read once."""

    def __init__(self, decode: Callable[..., Any]) -> None:
        self._decode = decode

    def __getattr__(self, name: str) -> Callable[..., Any]:
        for source in ("Ids", "Pieces"):
            for suffix, kind in _KINDS.items():
                if name == f"_Decode{source}{suffix}Batch":
                    return lambda rows, num_threads, thread_pool, kind=kind: self._rows(rows, kind)
        raise AttributeError(f"polytok has no {name} of sentencepiece's binding: use the methods of the processor")

    def _DecodeAsOffsetMappingBatch(
        self, rows: Iterable[Any], num_threads: int, thread_pool: Any, return_bytes: bool
    ) -> list[Any]:
        return self._rows(rows, "offset_mapping", return_bytes=return_bytes)

    def _rows(self, rows: Any, kind: Any, **options: Any) -> list[Any]:
        return [self._decode(rows[number], kind, **options) for number in range(len(rows))]
