"""Builds a small vocabulary of each family as a file, and encodes texts with the reference of its format."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import sentencepiece
import tiktoken
import tokenizers

import polytok
from optional_packages import rwkv_package
from polytok import Spec, Tokenizer, conversion, formats, reference
from polytok.reference import gguf, llama_cpp

_TEXT = (
    "the quick brown fox jumps over lazy dogs and then there was another theory of the thing 2024 cafe naïve "
    "съешь же ещё этих мягких французских булок да выпей чаю "
    "吾輩は猫である 名前はまだ無い どこで生れたか 見当がつかぬ ラーメン"
)
_WORDS = _TEXT.split()
PATTERN = r"\p{L}+| ?\p{N}+|\s+|[^\s\p{L}\p{N}]+"


def sentences(count: int, seed: int = 1) -> list[str]:
    """Returns random sentences in three scripts."""
    rng = random.Random(seed)
    return [" ".join(rng.choices(_WORDS, k=rng.randrange(1, 12))) + rng.choice(["", ".", "!?"]) for _ in range(count)]


class Sample(NamedTuple):
    """A vocabulary: the format of its file, and how it is trained."""

    format: str
    kind: str
    options: dict[str, Any]

    def spec(self) -> Spec:
        trained = polytok.train(sentences(300), self.kind, **self.options).spec  # type: ignore[call-overload]
        written = conversion.write(trained, self.format)
        return conversion.read_back(written, self.format, trained)


_BPE = {"vocab_size": 420, "pattern": PATTERN, "special_tokens": ["<|end|>"]}
_PIECES = {"vocab_size": 440, "character_coverage": 0.98}
_PLAIN = {"byte_fallback": False}
SAMPLES: dict[str, Sample] = {
    "minbpe": Sample("minbpe", "bpe", {**_BPE, "trainer": "minbpe"}),
    "minbpe without special tokens": Sample(
        "minbpe", "bpe", {"vocab_size": 400, "pattern": PATTERN, "trainer": "minbpe"}
    ),
    "tiktoken": Sample("tiktoken", "bpe", _BPE),
    "huggingface, bytes": Sample("huggingface", "bpe", _BPE),
    "huggingface, characters": Sample(
        "huggingface",
        "bpe",
        {
            "vocab_size": 230,
            "trainer": "huggingface",
            "byte_level": False,
            "special_tokens": ["[UNK]"],
            "unk_token": "[UNK]",
        },
    ),
    "huggingface, affixes": Sample(
        "huggingface",
        "bpe",
        {
            **{
                "vocab_size": 280,
                "trainer": "huggingface",
                "byte_level": False,
                "special_tokens": ["[UNK]"],
                "unk_token": "[UNK]",
            },
            **{"end_of_word_suffix": "</w>", "continuing_subword_prefix": "##", "pattern": "whitespace"},
        },
    ),
    "huggingface, wordpiece": Sample("huggingface", "wordpiece", {"vocab_size": 240}),
    "sentencepiece, bpe": Sample("sentencepiece", "sentencepiece-bpe", _PIECES),
    "sentencepiece, bpe without bytes": Sample("sentencepiece", "sentencepiece-bpe", {**_PLAIN, "vocab_size": 200}),
    "sentencepiece, unigram": Sample("sentencepiece", "unigram", {**_PLAIN, "vocab_size": 160}),
    "sentencepiece, unigram with bytes": Sample("sentencepiece", "unigram", {**_PIECES, "vocab_size": 410}),
    "sentencepiece, word": Sample("sentencepiece", "word", {**_PLAIN, "vocab_size": 30}),
    "sentencepiece, char": Sample("sentencepiece", "char", {**_PLAIN, "vocab_size": 60}),
    "huggingface, unigram": Sample("huggingface", "unigram", {**_PLAIN, "vocab_size": 160}),
    "huggingface, from sentencepiece": Sample("huggingface", "sentencepiece-bpe", _PIECES),
    "llama2c": Sample("llama2c", "sentencepiece-bpe", {**_PIECES, "add_dummy_prefix": True}),
    "gguf, spm": Sample("gguf", "sentencepiece-bpe", _PIECES),
    "gguf, bpe": Sample("gguf", "bpe", {**_BPE, "pattern": "llama3"}),
    "gguf, ugm": Sample("gguf", "unigram", {**_PLAIN, "vocab_size": 160}),
    "gguf, wpm": Sample("gguf", "wordpiece", {"vocab_size": 240}),
    "rwkv": Sample("rwkv", "longest-match", {"vocab_size": 340}),
    "gguf, rwkv": Sample("gguf", "longest-match", {"vocab_size": 340}),
}


@functools.cache
def tokenizer_of(name: str) -> Tokenizer:
    """Returns the vocabulary with this name."""
    if name == "tekken":
        return Tokenizer(_tekken_spec())
    return Tokenizer(SAMPLES[name].spec())


def _tekken_spec() -> Spec:
    """Returns a tekken vocabulary: the ranks of another one after eight special tokens."""
    spec = tokenizer_of("tiktoken").spec
    special = {f"<SPECIAL_{id}>": id for id in range(8)}
    rows = [(piece, 8 + rank, 0.0, 1) for rank, piece in enumerate(spec.vocab.pieces())]
    tokens = tuple(polytok.spec.SpecialToken(text, id) for text, id in special.items())
    tekken = Spec(polytok.Vocab.from_rows(rows), spec.model, tokens, split=spec.split)
    return formats.read(conversion.write(tekken, "tekken").data)


NAMES = [*SAMPLES, "tekken"]


def reference_encoder(tokenizer: Tokenizer) -> Callable[[Sequence[str]], list[list[int]]]:
    """Writes a vocabulary in its own format, and returns a function that encodes with the reference of the format.

    The ids are those without a template. The reference of a format without a package is polytok.reference.
    """
    spec = tokenizer.spec
    format = spec.origin.format
    data = conversion.write(spec, format).data
    reread = conversion.read_back(conversion.write(spec, format), format, spec)
    if format == "sentencepiece":
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        return lambda texts: [processor.encode(text) for text in texts]
    if format == "huggingface":
        loaded = tokenizers.Tokenizer.from_str(data.decode())
        loaded.encode_special_tokens = True
        return lambda texts: [loaded.encode(text, add_special_tokens=False).ids for text in texts]
    if format in ("tiktoken", "tekken"):
        (split,) = spec.split
        ranks = {
            piece: id - 8 * (format == "tekken")
            for piece, id in zip(reread.vocab.pieces(), reread.vocab.ids.tolist(), strict=True)
        }
        encoding = tiktoken.Encoding("edited", pat_str=split.pattern, mergeable_ranks=ranks, special_tokens={})
        return lambda texts: [
            [id + 8 * (format == "tekken") for id in encoding.encode_ordinary(text)] for text in texts
        ]
    if format == "gguf":
        program = llama_cpp.LlamaCpp(gguf.parse(data))
        return lambda texts: [program.tokenize(text.encode()) for text in texts]
    if format == "rwkv":
        with TemporaryDirectory() as folder:
            (path := Path(folder, "vocab.txt")).write_bytes(data)
            world = rwkv_package().WorldTokenizer(str(path))
        return lambda texts: [world.encode(text) for text in texts]
    return lambda texts: [reference.encode(reread, text) for text in texts]
