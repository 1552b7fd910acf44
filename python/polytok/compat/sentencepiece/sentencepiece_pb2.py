"""sentencepiece.sentencepiece_pb2: the messages of segmented texts."""

from __future__ import annotations

from typing import Any

from .pool import create_classes

_classes = create_classes(
    "sentencepiece.proto",
    {
        "SentencePieceText": """
            1 text string
            2 pieces SentencePieceText.SentencePiece*
            3 score float
        """,
        "SentencePieceText.SentencePiece": """
            1 piece string
            2 id uint32
            3 surface string
            4 begin uint32
            5 end uint32
        """,
        "NBestSentencePieceText": "1 nbests SentencePieceText*",
    },
    {},
)

DESCRIPTOR: Any = _classes["DESCRIPTOR"]
SentencePieceText: Any = _classes["SentencePieceText"]
NBestSentencePieceText: Any = _classes["NBestSentencePieceText"]
