"""The decoders of tokenizers 0.23: tokenizers.decoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from . import alone
from .arguments import boolean, text, unsigned
from .component import Component, Field, component_of
from .decode_stream import DecodeStream as DecodeStream
from .in_python import decode
from .pre_tokenizers import BYTE_LEVEL, METASPACE, Scheme, metaspace_fields
from .regex import Regex, pattern_json


class Decoder(Component):
    """The base of all decoders: tokenizers.decoders.Decoder."""

    family = "decoder"

    @staticmethod
    def custom(decoder: object) -> Decoder:
        """Returns a decoder in Python: ``decoder.decode_chain`` changes a list of tokens, which are then joined."""
        component: Decoder = Decoder.of_object(decoder)
        return component

    def decode(self, tokens: list[str]) -> str:
        """Returns the text of tokens."""
        if self.in_python():
            return decode(self, [text(token) for token in tokens])
        return alone.decode(self.__getstate__(), [text(token) for token in tokens])


class ByteLevel(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = BYTE_LEVEL


class WordPiece(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"prefix": "##", "cleanup": True}
    prefix, cleanup = Field(), Field()

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self.fields = {"prefix": text(prefix), "cleanup": boolean(cleanup)}


class Metaspace(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = METASPACE
    replacement, prepend_scheme, split = Field(), Scheme(), Field()

    def __init__(self, replacement: str = "▁", prepend_scheme: str = "always", split: bool = True) -> None:
        self.fields = metaspace_fields(replacement, prepend_scheme, split)


class BPEDecoder(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"suffix": "</w>"}
    suffix = Field()

    def __init__(self, suffix: str = "</w>") -> None:
        self.fields = {"suffix": text(suffix)}


class CTC(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}
    pad_token, word_delimiter_token, cleanup = Field(), Field(), Field()

    def __init__(self, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True) -> None:
        self.fields = {
            "pad_token": text(pad_token),
            "word_delimiter_token": text(word_delimiter_token),
            "cleanup": boolean(cleanup),
        }


class Fuse(Decoder): ...


class ByteFallback(Decoder): ...


class Strip(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"content": " ", "start": 0, "stop": 0}
    content, start, stop = Field(), Field(), Field()

    def __init__(self, content: str = " ", left: int = 0, right: int = 0) -> None:
        self.fields = {"content": text(content), "start": unsigned(left), "stop": unsigned(right)}


class Replace(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"pattern": {"String": ""}, "content": ""}
    new_arguments = (" ", "")

    def __init__(self, pattern: str | Regex, content: str) -> None:
        self.fields = {"pattern": pattern_json(pattern), "content": text(content)}


class Sequence(Decoder):
    defaults: ClassVar[Mapping[str, Any]] = {"decoders": []}
    members = "decoders"
    new_arguments = ([],)

    def __init__(self, decoders: list[Decoder]) -> None:
        parts = [component_of(Decoder, part) for part in decoders]
        if any(part.in_python() for part in parts):
            raise NotImplementedError("a Sequence of decoders cannot hold a decoder in Python; the original panics")
        self.fields["decoders"] = parts
