"""Runs one cell with one build under callgrind, and prints a digest of the results."""

from __future__ import annotations

import gc
import hashlib
import sys
from pathlib import Path

from .. import builds
from ..operations import OPERATIONS
from .callgrind import Requests
from .cells import CELLS, LOAD, Cell

FIRST, AGAIN = "first", "again"


def main() -> None:
    cell, path = CELLS[sys.argv[1]], Path(sys.argv[2])
    print(count_load(cell, path) if cell.operation == LOAD else count_documents(cell, path))


def count_load(cell: Cell, path: Path) -> str:
    """Counts the second load, which imports no modules. Returns a digest of the ids of a text."""
    engine, requests = builds.engine("counted", path), Requests()
    engine.load(cell.vocabulary)
    gc.disable()
    with requests.counted(FIRST):
        adapter = engine.load(cell.vocabulary)
    return OPERATIONS["list"].evidence(adapter, adapter.ids(cell.documents[1][0])).hex()


def count_documents(cell: Cell, path: Path) -> str:
    """Counts the first pass over the documents and a second pass. Returns a digest of the results."""
    operation, requests = OPERATIONS[cell.operation], Requests()
    adapter = builds.engine("counted", path).load(cell.vocabulary)
    call = operation.find(adapter)
    assert call is not None, "polytok supports every operation"
    warm_up, test = ([operation.to_input(adapter, document) for document in group] for group in cell.documents)
    for test_input in warm_up:
        call(test_input)
    gc.disable()
    for name in (FIRST, AGAIN):
        with requests.counted(name):
            for test_input in test:
                call(test_input)
    digests = [operation.evidence(adapter, call(test_input)) for test_input in test]
    return hashlib.blake2b(b"".join(digests), digest_size=16).hexdigest()


if __name__ == "__main__":
    main()
