"""What is counted, as data: a cell for each way through the engine and each shape of output."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ..cases import CJK, ENGLISH, SCRIPTS, VOCABULARIES, Text, Vocabulary
from ..texts import documents, utf8_bytes
from ..workloads import KB, MB, Amount

LOAD = "load"
"""The operation that is loading; everything else is one of bench.operations."""

AMOUNT = Amount(warm_up=MB, test=300 * KB, rounds=1, processes=1)
"""Enough to warm up on for the tables that are built late; a few hundred KB take seconds under valgrind."""


PYTHON = Text("python", "Python", ("python library",))
"""Code that stays the same while crates are added to cargo's registry."""


@dataclass(frozen=True)
class Cell:
    """An operation with a vocabulary on a text, in documents of some size."""

    vocabulary: Vocabulary
    text: Text
    operation: str
    document: int = 4 * KB

    @property
    def name(self) -> str:
        if self.operation == LOAD:
            return f"{self.vocabulary.name} {LOAD}"
        short = "" if self.document == 4 * KB else f" {self.document}"
        return f"{self.vocabulary.name} {self.text.name} {self.operation}{short}"

    @cached_property
    def documents(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those to warm up on, and those whose instructions are counted."""
        return documents(self.text, self.document, AMOUNT)

    @property
    def size(self) -> int:
        """Bytes that are encoded, or loaded."""
        return self.vocabulary.path.stat().st_size if self.operation == LOAD else utf8_bytes(self.documents[1])

    @property
    def digest(self) -> str:
        """Equal for equal texts or files."""
        if self.operation == LOAD:
            return hashlib.blake2b(self.vocabulary.path.read_bytes(), digest_size=16).hexdigest()
        return hashlib.blake2b("\0".join(chain(*self.documents)).encode(), digest_size=16).hexdigest()

    def pieces(self) -> int:
        """Matches of the split pattern, or tokens where the vocabulary has no pattern; of a vocabulary its entries."""
        import polytok

        tokenizer = polytok.load(self.vocabulary.path)
        if self.operation == LOAD:
            return len(tokenizer)
        if not tokenizer.spec.split:
            return sum(map(tokenizer.count, self.documents[1]))
        return sum(len(set(tokenizer.encoding(document).word_ids)) for document in self.documents[1])


def _cells() -> list[Cell]:
    rows = {row.name: row for row in VOCABULARIES}
    table = (
        ("cl100k_base", ENGLISH, "numpy list count offsets decode load"),
        ("cl100k_base", PYTHON, "numpy"),
        ("cl100k_base", CJK, "numpy"),
        ("cl100k_base", SCRIPTS, "numpy"),
        ("llama2", ENGLISH, "numpy offsets decode load"),
        ("llama2", CJK, "numpy"),
        ("llama2-json", ENGLISH, "numpy load"),
        ("xlnet", ENGLISH, "numpy offsets decode load"),
        ("xlnet", CJK, "numpy"),
        ("xlnet-json", ENGLISH, "numpy"),
        ("rwkv", ENGLISH, "numpy load"),
        ("rwkv", CJK, "numpy"),
        ("bert", ENGLISH, "numpy offsets decode load"),
        ("bert", CJK, "numpy"),
        ("bert-gguf", ENGLISH, "numpy load"),
    )
    documents = [Cell(rows[name], text, operation) for name, text, each in table for operation in each.split()]
    return [*documents, *(Cell(rows[name], ENGLISH, "list", 100) for name in ("cl100k_base", "llama2", "bert"))]


CELLS = {cell.name: cell for cell in _cells()}
