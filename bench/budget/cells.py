"""Lists the cells of the budget. A cell is an operation with a vocabulary on a text; each path through the engine has a
cell."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ..cases import CJK, ENGLISH, MIXED_SCRIPTS, VOCABULARIES, Text, Vocabulary
from ..texts import count_utf8_bytes, read_documents
from ..workloads import KB, MB, RunSize

LOAD = "load"
"""The name of the operation that loads a vocabulary. bench.operations defines all other operations."""

RUN_SIZE = RunSize(warm_up_bytes=MB, test_bytes=300 * KB, rounds=1, processes=1)
"""The amount of text. The documents of the warm-up fill the cache after all tables were built; a few hundred KB of test
text take seconds under valgrind."""


PYTHON_LIBRARY = Text("python", "Python", ("python library",))
"""Source code that does not change if cargo downloads more crates."""


@dataclass(frozen=True)
class Cell:
    """An operation with a vocabulary on a text that is split into documents of ``document_bytes`` bytes."""

    vocabulary: Vocabulary
    text: Text
    operation: str
    document_bytes: int = 4 * KB

    @property
    def name(self) -> str:
        if self.operation == LOAD:
            return f"{self.vocabulary.name} {LOAD}"
        size_suffix = "" if self.document_bytes == 4 * KB else f" {self.document_bytes}"
        return f"{self.vocabulary.name} {self.text.name} {self.operation}{size_suffix}"

    @cached_property
    def documents(self) -> tuple[Sequence[str], Sequence[str]]:
        """The documents of the warm-up, and then the documents for which instructions are counted."""
        return read_documents(self.text, self.document_bytes, RUN_SIZE)

    @property
    def size(self) -> int:
        """The number of bytes that are encoded or loaded."""
        return self.vocabulary.path.stat().st_size if self.operation == LOAD else count_utf8_bytes(self.documents[1])

    @property
    def input_digest(self) -> str:
        """A hash of the texts, or of the loaded file."""
        if self.operation == LOAD:
            return hashlib.blake2b(self.vocabulary.path.read_bytes(), digest_size=16).hexdigest()
        return hashlib.blake2b("\0".join(chain(*self.documents)).encode(), digest_size=16).hexdigest()

    def count_pieces(self) -> int:
        """Returns the number of pieces, by which the report divides the instruction count.

        For a vocabulary with a split pattern, the pieces are the matches of the pattern; for another vocabulary, the
        tokens; for a load, the entries of the vocabulary.
        """
        import polytok

        tokenizer = polytok.load(self.vocabulary.path)
        if self.operation == LOAD:
            return len(tokenizer)
        if not tokenizer.spec.split:
            return sum(map(tokenizer.count, self.documents[1]))
        return sum(len(set(tokenizer.encoding(document).word_ids)) for document in self.documents[1])


def _cells() -> list[Cell]:
    vocabularies = {row.name: row for row in VOCABULARIES}
    operation_table = (
        ("cl100k_base", ENGLISH, "numpy list count offsets decode load"),
        ("cl100k_base", PYTHON_LIBRARY, "numpy"),
        ("cl100k_base", CJK, "numpy"),
        ("cl100k_base", MIXED_SCRIPTS, "numpy"),
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
    cells = [
        Cell(vocabularies[name], text, operation)
        for name, text, operations in operation_table
        for operation in operations.split()
    ]
    return [*cells, *(Cell(vocabularies[name], ENGLISH, "list", 100) for name in ("cl100k_base", "llama2", "bert"))]


CELLS = {cell.name: cell for cell in _cells()}
