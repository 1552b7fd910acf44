"""The trainers of all packages as functions from a file of text to the entries of the vocabulary.

All trainers of byte BPE use GPT-2's split pattern, which gigatoken has built in. Trainers that accept documents get
documents of about 4 KB from a generator. The other trainers read the file themselves.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from polytok.byte_level import BYTES

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
DOCUMENT = 4096
ENTRIES = 32_000
BY_DOCUMENTS = frozenset({"bpe", "wordpiece"})
"""The kinds whose other trainers need documents, so that polytok gets the same documents."""

Entries = list[bytes]


def documents(path: Path) -> Iterator[str]:
    """Yields the text in documents of whole lines."""
    with path.open("rb") as file:
        while block := file.read(DOCUMENT):
            yield (block + file.readline()).decode()


def polytok(path: Path, kind: str, threads: int, **options: Any) -> Entries:
    import polytok

    tokenizer = polytok.train(
        documents(path) if kind in BY_DOCUMENTS else path, kind=kind, vocab_size=ENTRIES, threads=threads, **options
    )
    return [tokenizer.spec.vocab.piece(row) for row in range(len(tokenizer.spec.vocab))]


def polytok_bpe(path: Path, threads: int) -> Entries:
    return polytok(path, "bpe", threads, pattern=GPT2, ties="huggingface")


def polytok_sentencepiece_bpe(path: Path, threads: int) -> Entries:
    return polytok(path, "sentencepiece-bpe", threads, profile="sentencepiece", byte_fallback=True)


def polytok_sentencepiece_unigram(path: Path, threads: int) -> Entries:
    return polytok(path, "sentencepiece-unigram", threads, profile="sentencepiece", byte_fallback=True)


def polytok_wordpiece(path: Path, threads: int) -> Entries:
    return polytok(path, "wordpiece", threads, lowercase=False)


def gigatoken(path: Path, threads: int) -> Entries:
    import gigatoken as package

    entries, _ = package.train_bpe(path, ENTRIES, [], separator=b"\n")
    return list(entries.values())


def rustbpe(path: Path, threads: int) -> Entries:
    import rustbpe as package

    trainer = package.Tokenizer()
    trainer.train_from_iterator(documents(path), ENTRIES, pattern=GPT2)
    return [bytes(entry) for entry, _ in trainer.get_mergeable_ranks()]


def bpeasy(path: Path, threads: int) -> Entries:
    import bpeasy as package

    return list(package.train_bpe(documents(path), GPT2, 128, ENTRIES))


def tokenizers_bpe(path: Path, threads: int) -> Entries:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        documents(path), trainers.BpeTrainer(vocab_size=ENTRIES, initial_alphabet=alphabet, show_progress=False)
    )
    return [_from_byte_level(entry) for entry in tokenizer.get_vocab()]


def _from_byte_level(entry: str) -> bytes:
    """Converts characters of GPT-2's byte table to bytes."""
    return bytes(BYTES[char] for char in entry)


def tokenizers_wordpiece(path: Path, threads: int) -> Entries:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=ENTRIES, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(documents(path), trainer)
    return [entry.encode() for entry in tokenizer.get_vocab()]


def sentencepiece(path: Path, kind: str, threads: int) -> Entries:
    import sentencepiece as package

    model = io.BytesIO()
    package.SentencePieceTrainer.train(
        input=str(path), model_writer=model, vocab_size=ENTRIES, model_type=kind, byte_fallback=True, minloglevel=2,
    )  # fmt: skip
    processor = package.SentencePieceProcessor(model_proto=model.getvalue())
    return [processor.id_to_piece(id).encode() for id in range(processor.vocab_size())]


def sentencepiece_bpe(path: Path, threads: int) -> Entries:
    return sentencepiece(path, "bpe", threads)


def sentencepiece_unigram(path: Path, threads: int) -> Entries:
    return sentencepiece(path, "unigram", threads)


Trainer = Callable[[Path, int], Entries]

KINDS: dict[str, dict[str, Trainer]] = {
    "byte BPE": {
        "polytok": polytok_bpe,
        "gigatoken": gigatoken,
        "rustbpe": rustbpe,
        "bpeasy": bpeasy,
        "tokenizers": tokenizers_bpe,
    },
    "SentencePiece BPE": {"polytok": polytok_sentencepiece_bpe, "sentencepiece": sentencepiece_bpe},
    "SentencePiece Unigram": {"polytok": polytok_sentencepiece_unigram, "sentencepiece": sentencepiece_unigram},
    "WordPiece": {"polytok": polytok_wordpiece, "tokenizers": tokenizers_wordpiece},
}
