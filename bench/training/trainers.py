"""Defines the trainers of all packages as functions that accept a text file and return the entries of a vocabulary.

All trainers of byte BPE use GPT-2's split pattern, the only pattern of gigatoken's trainer. A generator passes
documents of about 4 KB to the trainers that accept documents. The other trainers read the file themselves.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from polytok.byte_level import BYTES
from polytok.training.base import KindName

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
DOCUMENT_BYTES = 4096
ENTRY_COUNT = 32_000
KINDS_WITH_DOCUMENTS = frozenset({"bpe", "wordpiece"})
"""The kinds whose trainers in other packages need documents; polytok then trains on the same documents."""

Entries = list[bytes]


def documents(path: Path) -> Iterator[str]:
    """Yields the text in documents of whole lines."""
    with path.open("rb") as file:
        while block := file.read(DOCUMENT_BYTES):
            yield (block + file.readline()).decode()


def train_polytok(path: Path, kind: KindName, threads: int, **options: Any) -> Entries:
    import polytok

    tokenizer = polytok.train(
        documents(path) if kind in KINDS_WITH_DOCUMENTS else path,
        kind=kind,
        vocab_size=ENTRY_COUNT,
        threads=threads,
        **options,
    )
    return [tokenizer.spec.vocab.piece(row) for row in range(len(tokenizer.spec.vocab))]


def train_polytok_bpe(path: Path, threads: int) -> Entries:
    return train_polytok(path, "bpe", threads, pattern=GPT2_PATTERN, trainer="huggingface")


def train_polytok_sentencepiece_bpe(path: Path, threads: int) -> Entries:
    return train_polytok(path, "sentencepiece-bpe", threads, profile="sentencepiece", byte_fallback=True)


def train_polytok_sentencepiece_unigram(path: Path, threads: int) -> Entries:
    return train_polytok(path, "unigram", threads, profile="sentencepiece", byte_fallback=True)


def train_polytok_wordpiece(path: Path, threads: int) -> Entries:
    return train_polytok(path, "wordpiece", threads, lowercase=False)


def train_gigatoken(path: Path, threads: int) -> Entries:
    import gigatoken as package

    entries, _ = package.train_bpe(path, ENTRY_COUNT, [], separator=b"\n")
    return list(entries.values())


def train_rustbpe(path: Path, threads: int) -> Entries:
    import rustbpe as package

    trainer = package.Tokenizer()
    trainer.train_from_iterator(documents(path), ENTRY_COUNT, pattern=GPT2_PATTERN)
    return [bytes(entry) for entry, _ in trainer.get_mergeable_ranks()]


def train_bpeasy(path: Path, threads: int) -> Entries:
    import bpeasy as package

    return list(package.train_bpe(documents(path), GPT2_PATTERN, 128, ENTRY_COUNT))


def train_tokenizers_bpe(path: Path, threads: int) -> Entries:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        documents(path), trainers.BpeTrainer(vocab_size=ENTRY_COUNT, initial_alphabet=alphabet, show_progress=False)
    )
    return [_from_byte_level(entry) for entry in tokenizer.get_vocab()]


def _from_byte_level(entry: str) -> bytes:
    """Converts characters of GPT-2's byte table to bytes."""
    return bytes(BYTES[char] for char in entry)


def train_tokenizers_wordpiece(path: Path, threads: int) -> Entries:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special_tokens = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=ENTRY_COUNT, special_tokens=special_tokens, show_progress=False)
    tokenizer.train_from_iterator(documents(path), trainer)
    return [entry.encode() for entry in tokenizer.get_vocab()]


def train_sentencepiece(path: Path, kind: str, threads: int) -> Entries:
    import sentencepiece as package

    model = io.BytesIO()
    package.SentencePieceTrainer.train(
        input=str(path), model_writer=model, vocab_size=ENTRY_COUNT, model_type=kind, byte_fallback=True, minloglevel=2,
    )  # fmt: skip
    processor = package.SentencePieceProcessor(model_proto=model.getvalue())
    return [processor.id_to_piece(id).encode() for id in range(processor.vocab_size())]


def train_sentencepiece_bpe(path: Path, threads: int) -> Entries:
    return train_sentencepiece(path, "bpe", threads)


def train_sentencepiece_unigram(path: Path, threads: int) -> Entries:
    return train_sentencepiece(path, "unigram", threads)


TrainFunction = Callable[[Path, int], Entries]

TRAINERS_BY_KIND: dict[str, dict[str, TrainFunction]] = {
    "byte BPE": {
        "polytok": train_polytok_bpe,
        "gigatoken": train_gigatoken,
        "rustbpe": train_rustbpe,
        "bpeasy": train_bpeasy,
        "tokenizers": train_tokenizers_bpe,
    },
    "SentencePiece BPE": {"polytok": train_polytok_sentencepiece_bpe, "sentencepiece": train_sentencepiece_bpe},
    "SentencePiece Unigram": {
        "polytok": train_polytok_sentencepiece_unigram,
        "sentencepiece": train_sentencepiece_unigram,
    },
    "WordPiece": {"polytok": train_polytok_wordpiece, "tokenizers": train_tokenizers_wordpiece},
}
