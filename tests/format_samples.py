"""Builds small files of every format, and locates the real files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gguf_samples
from polytok import _core, conversion, formats
from polytok.spec import (
    Bpe,
    ByteFallbackDecode,
    ChainDecode,
    Kind,
    Longest,
    Lowercase,
    Metaspace,
    Origin,
    PatternSplit,
    Prepend,
    Replace,
    ReplaceDecode,
    ReplaceInvalid,
    SentencePieceDecode,
    SentencePieceNormalize,
    Spec,
    SpecialToken,
    StripDecode,
    Template,
    Unigram,
    Vocab,
)

VOCAB = Path(os.environ.get("POLYTOK_DATA", Path(__file__).parents[2] / "shared" / "data")) / "vocab"

REAL = {
    "gguf/ggml-vocab-bert-bge.gguf": ("gguf", 30522),
    "gguf/ggml-vocab-falcon.gguf": ("gguf", 65024),
    "gguf/ggml-vocab-phi-3.gguf": ("gguf", 32064),
    "sentencepiece/grok1.model": ("sentencepiece", 131072),
    "sentencepiece/llama2.model": ("sentencepiece", 32000),
    "sentencepiece/mistral01.model": ("sentencepiece", 32000),
    "sentencepiece/mistral03.model": ("sentencepiece", 32768),
    "sentencepiece/nai-t5.model": ("sentencepiece", 32100),
    "sentencepiece/test_ja_model.model": ("sentencepiece", 8000),
    "sentencepiece/test_model.model": ("sentencepiece", 1000),
    "sentencepiece/xlnet_base_cased.model": ("sentencepiece", 32000),
    "llama2c/tokenizer.bin": ("llama2c", 32000),
    "rwkv/rwkv_vocab_v20230424.txt": ("rwkv", 65529),
    "tiktoken/r50k_base.tiktoken": ("tiktoken", 50256),
    "tiktoken/p50k_base.tiktoken": ("tiktoken", 50280),
    "tiktoken/cl100k_base.tiktoken": ("tiktoken", 100256),
    "tiktoken/o200k_base.tiktoken": ("tiktoken", 199998),
    "tiktoken/llama3_tokenizer.model": ("tiktoken", 128000),
    "tiktoken/llama4.tiktoken": ("tiktoken", 200000),
    "tekken/mistral2410_rebuilt.json": ("tekken", 130072),
}


def real(path: str) -> bytes:
    """Returns the bytes of a real file; skips the test if the file is missing."""
    if not (VOCAB / path).exists():
        pytest.skip(f"{path} is missing in {VOCAB}")
    return (VOCAB / path).read_bytes()


def sentencepiece_spec(**changes: object) -> Spec:
    """Returns a small SentencePiece BPE model with byte fallback and the layout of Llama 2's."""
    rows = [(b"<unk>", Kind.UNKNOWN), (b"<s>", Kind.CONTROL), (b"</s>", Kind.CONTROL)]
    rows += [(b"<0x%02X>" % byte, Kind.BYTE) for byte in range(256)]
    rows += [
        (text.encode(), Kind.NORMAL) for text in ("\u2581\u2581", "\u2581a", "ab", "\u2581ab", "\u2581", "a", "b", "é")
    ]
    scored = [(text, number, -float(max(0, number - 259)), kind) for number, (text, kind) in enumerate(rows)]
    fields: dict[str, object] = {
        "vocab": Vocab.from_rows(scored),
        "model": Bpe("score", symbols="chars"),
        "normalize": (SentencePieceNormalize(remove_extra_whitespaces=False),),
        "unknown": "bytes",
        "post": Template.around(before=(1,)),
        "decode": SentencePieceDecode(remove_extra_whitespaces=False),
        "names": {"unk": 0, "bos": 1, "eos": 2},
    }
    return Spec(**(fields | changes))  # type: ignore[arg-type]


def unigram_spec(**changes: object) -> Spec:
    """Returns a small Unigram model without byte fallback."""
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"a", 1, -1.0, Kind.NORMAL), (b"ab", 2, -2.5, Kind.USER_DEFINED)]
    fields: dict[str, object] = {
        "vocab": Vocab.from_rows(rows),
        "model": Unigram(),
        "normalize": (SentencePieceNormalize(),),
        "unknown": "unk",
        "decode": SentencePieceDecode(),
        "names": {"unk": 0},
    }
    return Spec(**(fields | changes))  # type: ignore[arg-type]


def rank_spec(**changes: object) -> Spec:
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)]
    rows += [(b"ab", 256, 0.0, Kind.NORMAL), (b"\xf0\x9f", 300, 0.0, Kind.NORMAL)]
    fields: dict[str, object] = {"vocab": Vocab.from_rows(rows), "model": Bpe("rank", whole_piece_first=True)}
    return Spec(**(fields | changes))  # type: ignore[arg-type]


def tekken_spec(**changes: object) -> Spec:
    special = ("<unk>", "<s>", "</s>", "[INST]", "<SPECIAL_4>")
    texts = [bytes([byte]) for byte in range(256)] + [b"ab", "\u00e9\U0001f600\x7f".encode(), b"\xf0\x9f", b'"\\\n']
    rows = [(text, number, 0.0, Kind.NORMAL) for number, text in enumerate(texts, start=len(special))]
    fields: dict[str, object] = {
        "vocab": Vocab.from_rows(rows),
        "model": Bpe("rank", whole_piece_first=True),
        "special": tuple(SpecialToken(text, number) for number, text in enumerate(special)),
        "split": (PatternSplit(r"\p{L}+| ?[^\s\p{L}]+|\s+"),),
        "post": Template.around(before=(1,)),
        "names": {"unk": 0, "bos": 1, "eos": 2},
    }
    return Spec(**(fields | changes))  # type: ignore[arg-type]


def merges_spec(**changes: object) -> Spec:
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)]
    rows += [(b"ab", 256, 0.0, Kind.NORMAL), (b"abab", 257, 0.0, Kind.NORMAL), (b"\xf0\x9f", 258, 0.0, Kind.NORMAL)]
    merges = np.array([[97, 98, 256], [256, 256, 257], [0xF0, 0x9F, 258]], dtype=np.uint32)
    fields: dict[str, object] = {
        "vocab": Vocab.from_rows(rows),
        "model": Bpe("merges", merges=merges),
        "special": (SpecialToken("<|endoftext|>", 300), SpecialToken("<|a|>", 301)),
        "matching": "listed",
        "split": (PatternSplit(r"\p{L}+| ?\S+|\s+"),),
    }
    return Spec(**(fields | changes))  # type: ignore[arg-type]


def huggingface_spec(**changes: object) -> Spec:
    """Returns a BPE model over characters with most kinds of components."""
    texts = ["<unk>", "<s>", "a", "b", "ab", "\u2581", "\u2581a", "\u00e9", '"\\\n', "\u4e16", "<0x41>"]
    rows = [(text.encode(), id, 0.0, Kind.NORMAL if id else Kind.UNKNOWN) for id, text in enumerate(texts)]
    merges = np.array([[2, 3, 4], [5, 2, 6]], dtype=np.uint32)
    fields: dict[str, object] = {
        "vocab": Vocab.from_rows(rows),
        "model": Bpe("merges", symbols="scalars", merges=merges, byte_fallback=True, fuse_unknown=True),
        "special": (SpecialToken("<s>", 1, lstrip=True), SpecialToken("<x>", 11, special=False, normalized=True)),
        "normalize": (ReplaceInvalid(), Lowercase(), Replace(r"\s+", " ", is_regex=True), Prepend("\u2581")),
        "split": (PatternSplit("[0-9]", "isolated"), Metaspace(split=False)),
        "unknown": "unk",
        "post": Template.around(before=(1,)),
        "origin": Origin("huggingface"),
        "decode": ChainDecode((ReplaceDecode("\u2581", " "), ByteFallbackDecode(), StripDecode(" ", 1, 0))),
        "names": {"unk": 0},
    }
    return Spec(**(fields | changes))  # type: ignore[arg-type]


def longest_spec(**changes: object) -> Spec:
    texts = [bytes([byte]) for byte in range(256)]
    texts += [b"it's", "é\t".encode(), b"\\n'\"", "\u2028\u00ad".encode(), b"\xf0\x9f"]
    rows = [(text, number, 0.0, Kind.NORMAL) for number, text in enumerate(texts, start=1)]
    fields: dict[str, object] = {
        "vocab": Vocab.from_rows(rows),
        "model": Longest(),
        "special": (SpecialToken("<|endoftext|>", 0),),
        "names": {"eos": 0},
    }
    return Spec(**(fields | changes))  # type: ignore[arg-type]


def gguf_spec() -> Spec:
    """Returns a small vocabulary of llama.cpp's SPM."""
    return formats.read(gguf_samples.file(gguf_samples.spm()), format="gguf")


SMALL = {
    "sentencepiece": sentencepiece_spec,
    "llama2c": sentencepiece_spec,
    "rwkv": longest_spec,
    "minbpe": merges_spec,
    "tiktoken": rank_spec,
    "tekken": tekken_spec,
    "huggingface": huggingface_spec,
    "gguf": gguf_spec,
}


def small_file(format_name: str) -> bytes:
    """Returns a small file of the format."""
    return conversion.write(SMALL[format_name](), format_name).data


def reread(spec: Spec, format_name: str, **options: Any) -> Spec:
    """Writes a Spec in a format, and reads it back with options."""
    return formats.read(conversion.write(spec, format_name).data, **options)


UNKNOWN_PIECE = (b"<unk>", 0.0, Kind.UNKNOWN)
A_PIECE = (b"a", -1.0, Kind.NORMAL)


def sentencepiece_file(*rows: tuple[bytes, float, Kind], model: int = 2, byte_fallback: bool = False) -> bytes:
    """Returns a SentencePiece model file with any pieces, without checking the pieces."""
    vocab = Vocab.from_rows([(text, number, score, kind) for number, (text, score, kind) in enumerate(rows)])
    return _core.sentencepiece_write(vocab, b"") + bytes([0x12, 5, 0x18, model, 0x98, 0x02, byte_fallback])
