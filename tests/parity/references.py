"""Wraps the reference programs in one interface, `Reference`, which encodes texts and decodes ids."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol

import regex
import sentencepiece
import tiktoken
import tokenizers
from sentencepiece import sentencepiece_pb2

from optional_packages import rwkv_package
from polytok import reference
from polytok.errors import EncodeError
from polytok.reference import gguf, llama_cpp
from polytok.reference.llama_cpp_unicode import code_points
from polytok.spec import Bpe, Spec
from texts import is_utf8

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Expected:
    """The reference's encoding of a text; a column that the reference does not return is None.

    ``error`` is the error message if the reference refuses the text.
    """

    ids: list[int]
    pieces: list[bytes] | None = None
    byte_spans: list[Span] | None = None
    character_spans: list[Span] | None = None
    character_starts: list[int] | None = None
    error: str | None = None


class Reference(Protocol):
    """A reference program. ``accepts`` reports whether a text can be compared; ``decode`` returns None if it cannot."""

    @property
    def name(self) -> str: ...
    def accepts(self, text: bytes) -> bool: ...
    def encode(self, texts: Sequence[bytes]) -> list[Expected]: ...
    def decode(self, rows: Sequence[list[int]]) -> list[bytes] | None: ...


def adjacent_spans(pieces: Sequence[bytes]) -> list[Span]:
    """Returns the byte spans of pieces that together form a text."""
    return list(pairwise(accumulate(map(len, pieces), initial=0)))


class SentencePiece:
    """The sentencepiece package, with byte offsets."""

    name = f"sentencepiece {sentencepiece.__version__}"

    def __init__(self, model: bytes) -> None:
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)

    def accepts(self, text: bytes) -> bool:
        return True

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        try:
            answers = self.processor.encode(list(texts), return_type="serialized_proto", num_threads=1)
        except Exception as error:
            if len(texts) == 1:
                return [Expected([], error=str(error))]
            return [self.encode([text])[0] for text in texts]
        return [self._expected(answer) for answer in answers]

    def _expected(self, answer: bytes) -> Expected:
        parsed = sentencepiece_pb2.SentencePieceText.FromString(answer)
        return Expected(
            [piece.id for piece in parsed.pieces],
            [piece.piece.encode() for piece in parsed.pieces],
            [(piece.begin, piece.end) for piece in parsed.pieces],
        )

    def decode(self, rows: Sequence[list[int]]) -> list[bytes] | None:
        return [text.encode() for text in self.processor.decode(list(rows))]


class SentencePieceCharacters(SentencePiece):
    """The sentencepiece package with character offsets, which it returns for ``str``."""

    name = f"{SentencePiece.name}, offset_mapping"
    accepts = staticmethod(is_utf8)

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        strings = [text.decode() for text in texts]
        answers = self.processor.encode(strings, return_type="offset_mapping", num_threads=1)
        return [
            Expected(
                answer["ids"], [piece.encode() for piece in answer["pieces"]], character_spans=list(answer["offsets"])
            )
            for answer in answers
        ]

    def decode(self, rows: Sequence[list[int]]) -> None:
        return None


class SentencePieceForLlama2c(SentencePiece):
    """The sentencepiece package with Llama 2's model, in place of llama2.c, whose vocabulary is the same.

    The two programs agree on text without U+2581 and NUL.
    """

    def accepts(self, text: bytes) -> bool:
        return is_utf8(text) and "▁".encode() not in text and b"\0" not in text

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        # The pieces have other spellings in llama2.c's file, and llama2.c returns no offsets.
        return [Expected(answer.ids, error=answer.error) for answer in super().encode(texts)]

    def decode(self, rows: Sequence[list[int]]) -> None:
        return None


class Tiktoken:
    """The tiktoken package: ``encode_ordinary`` for UTF-8, ``_encode_bytes`` for other bytes."""

    name = f"tiktoken {tiktoken.__version__}"

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding

    def accepts(self, text: bytes) -> bool:
        return True

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        return [self._encode_one(text) for text in texts]

    def _encode_one(self, text: bytes) -> Expected:
        if not is_utf8(text):
            ids = self.encoding._encode_bytes(text)
            pieces = self.encoding.decode_tokens_bytes(ids)
            return Expected(ids, pieces, adjacent_spans(pieces))
        ids = self.encoding.encode_ordinary(text.decode())
        pieces = self.encoding.decode_tokens_bytes(ids)
        starts = self.encoding.decode_with_offsets(ids)[1]
        return Expected(ids, pieces, adjacent_spans(pieces), character_starts=starts)

    def decode(self, rows: Sequence[list[int]]) -> list[bytes]:
        return [self.encoding.decode_bytes(ids) for ids in rows]


class HuggingFace:
    """The tokenizers package; special tokens in a text are plain text, as in polytok if no special token is allowed."""

    name = f"tokenizers {tokenizers.__version__}"
    accepts = staticmethod(is_utf8)

    def __init__(self, document: bytes, spec: Spec) -> None:
        self.tokenizer = tokenizers.Tokenizer.from_str(document.decode())
        self.unknown_id = spec.names.get("unk")
        is_bytes = isinstance(spec.model, Bpe) and spec.model.symbols == "bytes"
        self.token_bytes = functools.cache(_byte_level_bytes if is_bytes else str.encode)

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        self.tokenizer.encode_special_tokens = True
        try:
            answers = self.tokenizer.encode_batch([text.decode() for text in texts], add_special_tokens=False)
        finally:
            self.tokenizer.encode_special_tokens = False
        return [Expected(answer.ids, self._pieces(answer), character_spans=answer.offsets) for answer in answers]

    def _pieces(self, answer: tokenizers.Encoding) -> list[bytes] | None:
        """Returns the pieces as polytok spells them; None if the text has unknown text or an added token."""
        if self.unknown_id in answer.ids or not self.added_ids.isdisjoint(answer.ids):
            return None
        return list(map(self.token_bytes, answer.tokens))

    @functools.cached_property
    def added_ids(self) -> frozenset[int]:
        return frozenset(self.tokenizer.get_added_tokens_decoder())

    def encode_with_special(self, text: str) -> list[int]:
        """Encodes a text with all special tokens allowed."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, rows: Sequence[list[int]]) -> list[bytes]:
        return [self.tokenizer.decode(row, skip_special_tokens=False).encode() for row in rows]


def _byte_level_bytes(token: str) -> bytes:
    return token.translate(_byte_characters()).encode("latin-1")


@functools.cache
def _byte_characters() -> dict[int, str]:
    """Returns GPT-2's table of the characters that represent unprintable bytes, as a table for ``str.translate``."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = sorted(set(range(256)).difference(printable))
    return {256 + index: chr(byte) for index, byte in enumerate(others)}


class PyRwkv:
    """The pyrwkv-tokenizer package, which contains the vocabulary."""

    name = "pyrwkv_tokenizer"
    accepts = staticmethod(is_utf8)

    def __init__(self) -> None:
        self.tokenizer = rwkv_package().RWKVTokenizer()

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        return [Expected(self.tokenizer.encode(text.decode())) for text in texts]

    def decode(self, rows: Sequence[list[int]]) -> None:
        return None


@functools.cache
def newer_characters() -> frozenset[str]:
    """Returns the characters that are assigned in the regex package, which splits in the twin, but not in tiktoken."""
    all_characters = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    singles = {bytes([byte]): byte for byte in range(256)}
    unassigned = tiktoken.Encoding("unassigned", pat_str=r"\p{Cn}", mergeable_ranks=singles, special_tokens={})
    return frozenset(regex.findall(r"\P{Cn}", bytes(unassigned.encode_ordinary(all_characters)).decode()))


class Twin:
    """polytok.reference, a plain Python implementation of each algorithm."""

    name = "polytok.reference"

    def __init__(self, spec: Spec, length_limit: int = 1 << 20) -> None:
        self.spec = spec
        self.length_limit = length_limit

    def accepts(self, text: bytes) -> bool:
        if self.spec.split and not newer_characters().isdisjoint(text.decode(errors="ignore")):
            return False
        return len(text) <= self.length_limit

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        return [self._encode_one(text) for text in texts]

    def _encode_one(self, text: bytes) -> Expected:
        try:
            tokens = reference.tokens(self.spec, text)
        except EncodeError as error:
            return Expected([], error=str(error))
        return Expected(
            [token.id for token in tokens],
            [token.piece for token in tokens],
            [(token.start, token.end) for token in tokens],
        )

    def decode(self, rows: Sequence[list[int]]) -> list[bytes]:
        return [reference.decode_bytes(self.spec, ids) for ids in rows]


class LlamaCppTwin:
    """polytok.reference.llama_cpp, a plain Python version of llama.cpp's tokenizer that reads GGUF metadata itself."""

    name = "llama.cpp (polytok.reference)"

    def __init__(self, data: bytes, length_limit: int) -> None:
        self.tokenizer = llama_cpp.LlamaCpp(gguf.parse(data))
        self.length_limit = length_limit

    def accepts(self, text: bytes) -> bool:
        codes = code_points(text)
        return len(text) <= self.length_limit and not any(0xD800 <= code < 0xE000 or code > 0x10FFFF for code in codes)

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        return [Expected(self.tokenizer.tokenize(text)) for text in texts]

    def decode(self, rows: Sequence[list[int]]) -> list[bytes]:
        return [self.tokenizer.detokenize(ids) for ids in rows]
