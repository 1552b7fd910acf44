"""Lists the cells of the budget: operations with a vocabulary on a text, one for each path through the engine."""

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
"""The name of the operation that loads a vocabulary. All other operations are in bench.operations."""

AMOUNT = Amount(warm_up=MB, test=300 * KB, rounds=1, processes=1)
"""The amount of text. The warm-up is long enough for tables that the engine builds late; a few hundred KB of test text
take seconds under valgrind."""


PYTHON = Text("python", "Python", ("python library",))
"""Source code that does not change if cargo downloads more crates."""


@dataclass(frozen=True)
class Cell:
    """An operation with a vocabulary on a text that is split into documents of ``document`` bytes."""

    vocabulary: Vocabulary
    text: Text
    operation: str
    document: int = 4 * KB

    @property
    def name(self) -> str:
        if self.operation == LOAD:
            return f"{self.vocabulary.name} {LOAD}"
        size_suffix = "" if self.document == 4 * KB else f" {self.document}"
        return f"{self.vocabulary.name} {self.text.name} {self.operation}{size_suffix}"

    @cached_property
    def documents(self) -> tuple[Sequence[str], Sequence[str]]:
        """The documents of the warm-up, and the documents whose instructions are counted."""
        return documents(self.text, self.document, AMOUNT)

    @property
    def size(self) -> int:
        """The number of bytes that are encoded or loaded."""
        return self.vocabulary.path.stat().st_size if self.operation == LOAD else utf8_bytes(self.documents[1])

    @property
    def digest(self) -> str:
        """A hash of the texts, or of the loaded file."""
        if self.operation == LOAD:
            return hashlib.blake2b(self.vocabulary.path.read_bytes(), digest_size=16).hexdigest()
        return hashlib.blake2b("\0".join(chain(*self.documents)).encode(), digest_size=16).hexdigest()

    def pieces(self) -> int:
        """Returns the number of pieces by which the instruction count is divided.

        Pieces are matches of the split pattern, tokens if the vocabulary has no pattern, and entries if a vocabulary is
        loaded.
        """
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
    documents = [
        Cell(rows[name], text, operation) for name, text, operations in table for operation in operations.split()
    ]
    return [*documents, *(Cell(rows[name], ENGLISH, "list", 100) for name in ("cl100k_base", "llama2", "bert"))]


CELLS = {cell.name: cell for cell in _cells()}
