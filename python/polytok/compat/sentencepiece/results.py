"""The forms of results with spans: messages as bytes or objects, 0.2.1's immutable objects, and offset mappings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .lines import is_old
from .messages import ImmutableNBestSentencePieceText, ImmutableSentencePieceText, PiecesOfText, serialize_nbest

PROTO_KINDS = frozenset({"proto", "serialized_proto", "immutable_proto", "offset_mapping"})
"""The kinds of results that have spans."""
MESSAGE_KINDS = frozenset({"proto", "serialized_proto"})


def as_result(result: PiecesOfText, kind: Any, returns_bytes: bool = False) -> Any:
    """Returns pieces with spans in the form that the caller chooses by ``kind``."""
    if kind == "offset_mapping":
        return as_offset_mapping(result, returns_bytes)
    if kind == "immutable_proto":
        return ImmutableSentencePieceText(result)
    return as_message(result.serialize(), kind)


def as_nbest_result(results: list[PiecesOfText], kind: Any) -> Any:
    """Returns several segmentations in the form that the caller chooses by ``kind``."""
    if kind == "immutable_proto":
        return ImmutableNBestSentencePieceText(results)
    return as_message(serialize_nbest(results), kind, "NBestSentencePieceText")


def as_message(data: bytes, kind: Any, name: str = "SentencePieceText") -> Any:
    """Returns the bytes of a message, or the message itself if ``kind`` is "proto" and 0.2.1 does not run."""
    return data if kind == "serialized_proto" or is_old() else _parser(name)(data)


@cache
def _parser(name: str) -> Callable[[bytes], Any]:
    """Returns the function that parses a message; protobuf is loaded when it is first needed."""
    from . import sentencepiece_pb2

    parse: Callable[[bytes], Any] = getattr(sentencepiece_pb2, name).FromString
    return parse


def as_offset_mapping(result: PiecesOfText, returns_bytes: bool, has_text: bool = False) -> dict[str, Any]:
    """Returns pieces and their spans as a dict; ``has_text`` adds the text."""
    pieces = [piece.piece for piece in result.pieces]
    mapping: dict[str, Any] = {"ids": [piece.id for piece in result.pieces]}
    if returns_bytes:
        mapping.update(pieces=pieces, offsets=[(piece.begin, piece.end) for piece in result.pieces])
    else:
        texts = [piece.decode("utf-8", errors="replace") for piece in pieces]
        mapping.update(pieces=texts, offsets=result.character_offsets())
    text = result.text if returns_bytes else result.text.decode("utf-8", errors="replace")
    return {"text": text, **mapping} if has_text else mapping
