"""The decoders of tokenizers 0.23: tokenizers.decoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from . import alone
from .arguments import text
from .component import Component, Field
from .decode_stream import DecodeStream as DecodeStream
from .pre_tokenizers import BYTE_LEVEL, METASPACE


class Decoder(Component):
    """The base of all decoders: tokenizers.decoders.Decoder."""

    family = "decoder"

    def decode(self, tokens: list[str]) -> str:
        """Returns the text of tokens."""
        return alone.decode(self.__getstate__(), [text(token) for token in tokens])


class ByteLevel(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = BYTE_LEVEL


class WordPiece(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"prefix": "##", "cleanup": True}
    prefix, cleanup = Field(), Field()


class Metaspace(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = METASPACE
    replacement, prepend_scheme, split = Field(), Field(), Field()


class BPEDecoder(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"suffix": "</w>"}
    suffix = Field()


class CTC(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}
    pad_token, word_delimiter_token, cleanup = Field(), Field(), Field()


class Fuse(Decoder): ...


class ByteFallback(Decoder): ...


class Strip(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"content": " ", "start": 0, "stop": 0}
    content, start, stop = Field(), Field(), Field()


class Replace(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"pattern": {"String": ""}, "content": ""}


class Sequence(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"decoders": []}
    members = "decoders"
