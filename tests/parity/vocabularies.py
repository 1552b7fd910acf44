"""Every vocabulary of the data, how polytok loads it, and what it is compared with."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import tiktoken
import tiktoken_ext.openai_public

import polytok
from polytok import conversion, formats, reference
from polytok.formats.tiktoken_families import KIMI, QWEN
from polytok.formats.tiktoken_known import KNOWN, O200K
from polytok.spec import Bpe, Kind, PatternSplit, Spec, SpecialToken
from reference_specs import DATA, tiktoken_ranks
from texts import Words

from .references import (
    HuggingFace,
    LlamaCppTwin,
    PyRwkv,
    Reference,
    SentencePiece,
    SentencePieceCharacters,
    SentencePieceForLlama2c,
    Tiktoken,
    Twin,
)

TWIN_LIMIT = 700
"""Texts longer than this are too slow for the twins that search all pairs at each merge."""
TWIN_LINES = 20
"""Of the corpus one line in so many goes through llama.cpp's twin, which takes minutes for a megabyte."""


MOST_CODES, PARTS = 20, 300
"""How many ids of a kind are favourites."""


@dataclass(frozen=True)
class Vocabulary:
    """One vocabulary. ``lossless`` says which texts come back whole: all bytes, UTF-8, or none for certain.

    ``every``: of the corpus only each so manieth line is compared, because the reference is a slow twin.
    """

    name: str
    family: str
    load: Callable[[], polytok.Tokenizer]
    corpus: Callable[[], Sequence[Reference]]
    generated: Callable[[], Sequence[Reference]]
    lossless: str = "no"
    files: frozenset[str] = field(default_factory=frozenset)
    every: int = 1

    def words(self) -> Words:
        """The pieces as they stand in texts, and the special tokens."""
        tokenizer = self.load()
        spec = tokenizer.spec
        kinds = spec.vocab.kinds.tolist()
        pieces = [piece for piece, kind in zip(spec.vocab.pieces(), kinds, strict=True) if kind in (1, 4, 5) and piece]
        if self.family in ("sentencepiece", "huggingface", "gguf"):
            pieces += [piece.replace("▁".encode(), b" ") for piece in pieces]
        return Words(pieces, [text.encode() for text in tokenizer.special_tokens])

    def favourites(self) -> list[int]:
        """Ids worth more attention in decoding: byte pieces, marks alone, and above all what is no text."""
        spec = self.load().spec
        rows = list(zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), spec.vocab.kinds.tolist(), strict=True))
        codes = [id for id, _, kind in rows if kind not in (Kind.NORMAL, Kind.BYTE)][:MOST_CODES]
        codes += [token.id for token in spec.special][:MOST_CODES]
        marks = [id for id, piece, _ in rows if piece and not piece.strip("▁ ".encode())][:MOST_CODES]
        parts = [id for id, piece, kind in rows if kind == Kind.BYTE or piece[:1] >= b"\x80"][:PARTS]
        return parts + (codes + marks) * (1 + PARTS // (1 + len(codes + marks)))


def all_vocabularies() -> dict[str, Vocabulary]:
    """By name; no file of the data is left out."""
    rows = [
        *(sentencepiece(path) for path in sorted((DATA / "vocab/sentencepiece").iterdir())),
        *(tiktoken_known(known.name) for known in KNOWN),
        *(tiktoken_pattern(name) for name in PATTERNS),
        tekken(),
        rwkv(),
        llama2c(),
        *(minbpe(name) for name in MINBPE),
        *(huggingface(path) for path in sorted((DATA / "vocab/huggingface").glob("*.json"))),
        *(gguf(path) for path in sorted((DATA / "vocab/gguf").glob("*.gguf"))),
    ]
    return {row.name: row for row in rows}


def sentencepiece(path: Path) -> Vocabulary:
    load = functools.cache(lambda: polytok.load(path))
    references = functools.cache(lambda: [SentencePiece(path.read_bytes())])
    characters = functools.cache(lambda: [*references(), SentencePieceCharacters(path.read_bytes())])
    return Vocabulary(path.stem, "sentencepiece", load, references, characters, files=frozenset({path.name}))


# tiktoken

RANK_FILES = {
    "p50k_edit": "p50k_base.tiktoken",
    "o200k_harmony": "o200k_base.tiktoken",
    "llama3": "llama3_tokenizer.model",
    "llama3.0": "llama3_tokenizer.model",
}


def rank_file(name: str) -> str:
    return RANK_FILES.get(name, f"{name}.tiktoken")


def tiktoken_known(name: str) -> Vocabulary:
    path = DATA / "vocab/tiktoken" / rank_file(name)
    load = functools.cache(lambda: polytok.Tokenizer(formats.read(path.read_bytes(), name=name)))
    references = functools.cache(lambda: [Tiktoken(encoding(name))])
    return Vocabulary(name, "tiktoken", load, references, references, "bytes", frozenset({path.name}))


PATTERNS = {"kimi's pattern": KIMI, "qwen's pattern": QWEN}
"""Patterns whose rank files are not there, over the ranks of o200k_base."""


def tiktoken_pattern(name: str) -> Vocabulary:
    file, special = rank_file("o200k_base"), {"<|im_end|>": 200000}
    data = DATA / "vocab/tiktoken" / file
    options: dict[str, Any] = {"pattern": PATTERNS[name], "special_tokens": special}
    load = functools.cache(lambda: polytok.Tokenizer(formats.read(data.read_bytes(), **options)))
    made = {"pat_str": PATTERNS[name], "special_tokens": special}
    references = functools.cache(
        lambda: [Tiktoken(tiktoken.Encoding(name, mergeable_ranks=tiktoken_ranks(file), **made))]
    )
    return Vocabulary(name, "tiktoken", load, references, references, "bytes", frozenset({file}))


def tekken() -> Vocabulary:
    """With tiktoken, which is what mistral-common runs; its ranks here are the ids, which come in the same order."""
    path = DATA / "vocab/tekken/mistral2410_rebuilt.json"
    load = functools.cache(lambda: polytok.load(path))
    references = functools.cache(lambda: [Tiktoken(tekken_encoding(path))])
    return Vocabulary("mistral2410", "tiktoken", load, references, references, "bytes", frozenset({path.name}))


def tekken_encoding(path: Path) -> tiktoken.Encoding:
    document = json.loads(path.read_bytes())
    count = document["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] + count for entry in document["vocab"]}
    special = {token.text: token.id for token in formats.read(path.read_bytes()).special}
    pattern = document["config"]["pattern"]
    return tiktoken.Encoding("tekken", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)


def encoding(name: str) -> tiktoken.Encoding:
    """tiktoken's own Encoding, pattern and special tokens included, over our copy of its file."""
    constructor = tiktoken_ext.openai_public.ENCODING_CONSTRUCTORS.get(name)
    if constructor is None:  # Llama's, which stand in Meta's programs
        spec = formats.read((DATA / "vocab/tiktoken" / rank_file(name)).read_bytes(), name=name)
        special = {token.text: token.id for token in spec.special}
        return tiktoken.Encoding(
            name, pat_str=spec.split[0].pattern, mergeable_ranks=tiktoken_ranks(rank_file(name)), special_tokens=special
        )
    with mock.patch.object(tiktoken_ext.openai_public, "load_tiktoken_bpe", _local_ranks):
        return tiktoken.Encoding(**constructor())


def _local_ranks(url: str, expected_hash: str) -> dict[bytes, int]:
    name = url.rsplit("/", 1)[-1]
    digest = hashlib.sha256((DATA / "vocab/tiktoken" / name).read_bytes()).hexdigest()
    assert digest == expected_hash, f"{name} is not tiktoken's own file"
    return tiktoken_ranks(name)


def _references(*references: Reference) -> Sequence[Reference]:
    return references


# The others


def gguf(path: Path) -> Vocabulary:
    load = functools.cache(lambda: polytok.load(path))
    twin = functools.cache(lambda: _references(LlamaCppTwin(path.read_bytes(), TWIN_LIMIT)))
    return Vocabulary(path.stem, "gguf", load, twin, twin, "no", frozenset({path.name}), TWIN_LINES)


def rwkv() -> Vocabulary:
    path = DATA / "vocab/rwkv/rwkv_vocab_v20230424.txt"
    load = functools.cache(lambda: polytok.load(path))
    packages = functools.cache(lambda: [PyRwkv()])
    both = functools.cache(lambda: _references(PyRwkv(), Twin(load().spec)))
    return Vocabulary("rwkv_vocab_v20230424", "rwkv", load, packages, both, "bytes", frozenset({path.name}))


def llama2c() -> Vocabulary:
    path = DATA / "vocab/llama2c/tokenizer.bin"
    load = functools.cache(lambda: polytok.load(path))
    model = DATA / "vocab/sentencepiece/llama2.model"
    packages = functools.cache(lambda: [SentencePieceForLlama2c(model.read_bytes())])
    both = functools.cache(lambda: _references(*packages(), Twin(load().spec, TWIN_LIMIT)))
    return Vocabulary("llama2c", "llama2c", load, packages, both, "utf-8", frozenset({path.name}))


def huggingface(path: Path) -> Vocabulary:
    load = functools.cache(lambda: polytok.load(path))
    references = functools.cache(lambda: [HuggingFace(path.read_bytes(), load().spec)])
    return Vocabulary(path.name, "huggingface", load, references, references, files=frozenset({path.name}))


MINBPE: dict[str, tuple[str | None, dict[str, int]]] = {
    "minbpe basic": (None, {}),
    "minbpe regex": (O200K, {}),
    "minbpe regex, special": (O200K, {"<|endoftext|>": 100257, "<|end": 100258, "<|fim|>": 100259}),
}
MINBPE_SIZE = 600


def minbpe(name: str) -> Vocabulary:
    load = functools.cache(lambda: polytok.Tokenizer(formats.read(conversion.write(minbpe_spec(name), "minbpe").data)))
    twin = functools.cache(lambda: _references(Twin(minbpe_spec(name), TWIN_LIMIT)))
    return Vocabulary(name, "minbpe", load, lambda: _references(), twin, "bytes")


@functools.cache
def minbpe_spec(name: str) -> Spec:
    """A model trained by the twin on a little of everything."""
    pattern, special = MINBPE[name]
    spec = _trained(pattern)
    assert isinstance(spec.model, Bpe)
    tokens = tuple(SpecialToken(text, id) for text, id in special.items())
    split = (PatternSplit(pattern),) if pattern else ()
    return Spec(spec.vocab, spec.model, special=tokens, split=split)


@functools.cache
def _trained(pattern: str | None) -> Spec:
    sample = [path.read_bytes()[:1500].decode(errors="ignore") for path in sorted((DATA / "corpus").glob("*.txt"))]
    return reference.train("\n".join(sample), MINBPE_SIZE, pattern)
