"""The methods of SentencePieceProcessor for a single type of result: EncodeAsIds, NBestEncodeAsPieces and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_TYPES: dict[str, Any] = {
    "Ids": int,
    "Pieces": str,
    "Numpy": "numpy",
    "Proto": "proto",
    "SerializedProto": "serialized_proto",
    "ImmutableProto": "immutable_proto",
}
_OLD_TYPES = ("SerializedProto", "ImmutableProto")


def typed_methods() -> dict[str, Callable[..., Any]]:
    """Returns the methods by name; those of the types that only 0.2.1 has are among them."""
    methods: dict[str, Callable[..., Any]] = {}
    for name, kind in _TYPES.items():
        methods[f"EncodeAs{name}"] = _calling("Encode", kind)
        methods[f"SampleEncodeAs{name}"] = _sampling(kind)
        methods[f"NBestEncodeAs{name}"] = _of_nbest(kind)
        if name not in ("Numpy", "Proto"):
            methods[f"SampleEncodeAndScoreAs{name}"] = _with_score(kind)
        if name not in _OLD_TYPES:
            methods[f"ParallelEncodeAs{name}"] = _calling("ParallelEncode", kind)
        if "Proto" in name:
            for source in ("Ids", "Pieces"):
                make = _decoding_as if name in _OLD_TYPES else _calling
                methods[f"Decode{source}As{name}"] = make("Decode", kind)
    methods["EncodeAsOffsetMapping"] = _calling("Encode", "offset_mapping")
    for source in ("Ids", "Pieces"):
        methods[f"Decode{source}"] = _decoding()
    for name, method in methods.items():
        method.__name__ = name
        method.__doc__ = f"sentencepiece.SentencePieceProcessor.{name}."
    return methods


def _calling(name: str, kind: Any) -> Callable[..., Any]:
    def call(self: Any, input: Any, **kwargs: Any) -> Any:
        return getattr(self, name)(input, return_type=kind, **kwargs)

    return call


def _sampling(kind: Any) -> Callable[..., Any]:
    def call(self: Any, input: Any, nbest_size: Any = None, alpha: Any = None, **kwargs: Any) -> Any:
        return self.Encode(input, nbest_size=nbest_size, alpha=alpha, return_type=kind, enable_sampling=True, **kwargs)

    return call


def _of_nbest(kind: Any) -> Callable[..., Any]:
    def call(self: Any, input: Any, nbest_size: Any = None, **kwargs: Any) -> Any:
        return self.NBestEncode(input, nbest_size=nbest_size, return_type=kind, **kwargs)

    return call


def _with_score(kind: Any) -> Callable[..., Any]:
    def call(self: Any, input: Any, num_samples: Any = None, alpha: Any = None, **kwargs: Any) -> Any:
        return self.SampleEncodeAndScore(input, num_samples=num_samples, alpha=alpha, out_type=kind, **kwargs)

    return call


def _decoding_as(name: str, kind: Any) -> Callable[..., Any]:
    def call(self: Any, input: Any, out_type: Any = kind, **kwargs: Any) -> Any:
        return getattr(self, name)(input, out_type=out_type, **kwargs)

    return call


def _decoding() -> Callable[..., Any]:
    def call(self: Any, input: Any, return_type: Any = None, **kwargs: Any) -> Any:
        return self.Decode(input, return_type, **kwargs)

    return call
