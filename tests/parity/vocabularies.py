"""Lists every vocabulary of the test data: how polytok loads the vocabulary, and its references."""

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
from optional_packages import has_rwkv_package
from polytok import conversion, formats, reference
from polytok.formats.tiktoken_families import KIMI
from polytok.formats.tiktoken_known import KNOWN, O200K
from polytok.patterns import QWEN2
from polytok.spec import Bpe, Kind, PatternSplit, Spec, SpecialToken
from reference_specs import DATA, tiktoken_ranks
from texts import VocabularyPieces

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

TWIN_LENGTH_LIMIT = 700
"""The length of the longest text for twins that search all pairs at each merge; longer texts take too long."""
LLAMA_CPP_LINE_STEP = 20
"""llama.cpp's twin, which takes minutes for a megabyte, compares every 20th line of the corpus only."""
CODE_LIMIT, PART_LIMIT = 20, 300
"""The numbers of special tokens, and of pieces that are parts of characters, among the favourite ids."""


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary of the test data and its references.

    ``lossless`` is "bytes" or "utf-8" if decoding returns every such text unchanged, else "no". ``line_step`` is n if
    only every nth line of the corpus is compared, because the reference is slow.
    """

    name: str
    family: str
    load: Callable[[], polytok.Tokenizer]
    corpus_references: Callable[[], Sequence[Reference]]
    references: Callable[[], Sequence[Reference]]
    lossless: str = "no"
    files: frozenset[str] = field(default_factory=frozenset)
    line_step: int = 1

    def pieces(self) -> VocabularyPieces:
        """Returns the pieces as they appear in texts, and the special tokens."""
        tokenizer = self.load()
        spec = tokenizer.spec
        kinds = spec.vocab.kinds.tolist()
        pieces = [piece for piece, kind in zip(spec.vocab.pieces(), kinds, strict=True) if kind in (1, 4, 5) and piece]
        if self.family in ("sentencepiece", "huggingface", "gguf"):
            pieces += [piece.replace("▁".encode(), b" ") for piece in pieces]
        return VocabularyPieces(pieces, [text.encode() for text in tokenizer.special_tokens])

    def favourite_ids(self) -> list[int]:
        """Returns the ids that random id sequences repeat: byte pieces, space marks, and mostly special tokens."""
        spec = self.load().spec
        rows = list(zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), spec.vocab.kinds.tolist(), strict=True))
        codes = [id for id, _, kind in rows if kind not in (Kind.NORMAL, Kind.BYTE)][:CODE_LIMIT]
        codes += [token.id for token in spec.special][:CODE_LIMIT]
        marks = [id for id, piece, _ in rows if piece and not piece.strip("▁ ".encode())][:CODE_LIMIT]
        parts = [id for id, piece, kind in rows if kind == Kind.BYTE or piece[:1] >= b"\x80"][:PART_LIMIT]
        return parts + (codes + marks) * (1 + PART_LIMIT // (1 + len(codes + marks)))


@functools.cache
def all_vocabularies() -> dict[str, Vocabulary]:
    """Returns all vocabularies by name; every vocabulary file of the test data is used.

    A vocabulary is loaded when it is first used, once in each process.
    """
    vocabularies = [
        *(sentencepiece(path) for path in sorted((DATA / "vocab/sentencepiece").iterdir())),
        *(tiktoken_known(encoding.name) for encoding in KNOWN),
        *(tiktoken_pattern(name) for name in PATTERNS),
        tekken(),
        rwkv(),
        llama2c(),
        *(minbpe(name) for name in MINBPE),
        *(huggingface(path) for path in sorted((DATA / "vocab/huggingface").glob("*.json"))),
        *(gguf(path) for path in sorted((DATA / "vocab/gguf").glob("*.gguf"))),
    ]
    return {vocabulary.name: vocabulary for vocabulary in vocabularies}


def sentencepiece(path: Path) -> Vocabulary:
    load = functools.cache(lambda: polytok.load(path))
    references = functools.cache(lambda: [SentencePiece(path.read_bytes())])
    with_characters = functools.cache(lambda: [*references(), SentencePieceCharacters(path.read_bytes())])
    return Vocabulary(path.stem, "sentencepiece", load, references, with_characters, files=frozenset({path.name}))


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


PATTERNS = {"kimi's pattern": KIMI, "qwen's pattern": QWEN2}
"""Split patterns whose own rank files are not in the test data; o200k_base's ranks are used instead."""


def tiktoken_pattern(name: str) -> Vocabulary:
    file, special = rank_file("o200k_base"), {"<|im_end|>": 200000}
    path = DATA / "vocab/tiktoken" / file
    options: dict[str, Any] = {"pattern": PATTERNS[name], "special_tokens": special}
    load = functools.cache(lambda: polytok.Tokenizer(formats.read(path.read_bytes(), **options)))
    tiktoken_options: dict[str, Any] = {"pat_str": PATTERNS[name], "special_tokens": special}
    references = functools.cache(
        lambda: [Tiktoken(tiktoken.Encoding(name, mergeable_ranks=tiktoken_ranks(file), **tiktoken_options))]
    )
    return Vocabulary(name, "tiktoken", load, references, references, "bytes", frozenset({file}))


def tekken() -> Vocabulary:
    """Compares a Tekken file with tiktoken, as mistral-common uses it; ranks are the ids, which have the same order."""
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
    """Returns tiktoken's own Encoding, with its pattern and special tokens, built from the test data's rank file."""
    constructor = tiktoken_ext.openai_public.ENCODING_CONSTRUCTORS.get(name)
    if constructor is None:  # Llama's encodings are defined in Meta's programs, not in tiktoken
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


# Other formats


def gguf(path: Path) -> Vocabulary:
    load = functools.cache(lambda: polytok.load(path))
    twin = functools.cache(lambda: _references(LlamaCppTwin(path.read_bytes(), TWIN_LENGTH_LIMIT)))
    return Vocabulary(path.stem, "gguf", load, twin, twin, "no", frozenset({path.name}), LLAMA_CPP_LINE_STEP)


def rwkv() -> Vocabulary:
    path = DATA / "vocab/rwkv/rwkv_vocab_v20230424.txt"
    load = functools.cache(lambda: polytok.load(path))
    twin = functools.cache(lambda: _references(Twin(load().spec)))
    packages = functools.cache(lambda: _references(PyRwkv()) if has_rwkv_package() else twin())
    packages_and_twin = functools.cache(lambda: _references(PyRwkv(), *twin()) if has_rwkv_package() else twin())
    return Vocabulary(
        "rwkv_vocab_v20230424", "rwkv", load, packages, packages_and_twin, "bytes", frozenset({path.name})
    )


def llama2c() -> Vocabulary:
    path = DATA / "vocab/llama2c/tokenizer.bin"
    load = functools.cache(lambda: polytok.load(path))
    model = DATA / "vocab/sentencepiece/llama2.model"
    packages = functools.cache(lambda: [SentencePieceForLlama2c(model.read_bytes())])
    packages_and_twin = functools.cache(lambda: _references(*packages(), Twin(load().spec, TWIN_LENGTH_LIMIT)))
    return Vocabulary("llama2c", "llama2c", load, packages, packages_and_twin, "utf-8", frozenset({path.name}))


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
    twin = functools.cache(lambda: _references(Twin(minbpe_spec(name), TWIN_LENGTH_LIMIT)))
    return Vocabulary(name, "minbpe", load, lambda: _references(), twin, "bytes")


@functools.cache
def minbpe_spec(name: str) -> Spec:
    """Returns a small model that the twin trains on the starts of all corpus files."""
    pattern, special = MINBPE[name]
    spec = _train(pattern)
    assert isinstance(spec.model, Bpe)
    tokens = tuple(SpecialToken(text, id) for text, id in special.items())
    split = (PatternSplit(pattern),) if pattern else ()
    return Spec(spec.vocab, spec.model, special=tokens, split=split)


@functools.cache
def _train(pattern: str | None) -> Spec:
    sample = [path.read_bytes()[:500].decode(errors="ignore") for path in sorted((DATA / "corpus").glob("*.txt"))]
    return reference.train("\n".join(sample), MINBPE_SIZE, pattern)
