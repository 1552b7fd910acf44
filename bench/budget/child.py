"""Runs one cell with one build under callgrind, and prints a digest of the results."""

from __future__ import annotations

import gc
import hashlib
import sys
from pathlib import Path

from .. import builds
from ..operations import OPERATIONS
from .callgrind import CallgrindClient
from .cells import CELLS, LOAD, Cell

FIRST_PASS, SECOND_PASS = "first", "again"


def main() -> None:
    cell, path = CELLS[sys.argv[1]], Path(sys.argv[2])
    print(count_load(cell, path) if cell.operation == LOAD else count_documents(cell, path))


def count_load(cell: Cell, path: Path) -> str:
    """Counts the instructions of the second load, which imports no modules. Returns a digest of the ids of a text."""
    engine, client = builds.create_engine("counted", path), CallgrindClient()
    engine.load(cell.vocabulary)
    gc.disable()
    with client.count_section(FIRST_PASS):
        adapter = engine.load(cell.vocabulary)
    return OPERATIONS["list"].digest_output(adapter, adapter.ids(cell.documents[1][0])).hex()


def count_documents(cell: Cell, path: Path) -> str:
    """Counts the instructions of the first and the second pass over the documents. Returns a digest of the results."""
    operation, client = OPERATIONS[cell.operation], CallgrindClient()
    adapter = builds.create_engine("counted", path).load(cell.vocabulary)
    function = operation.find_function(adapter)
    assert function is not None, "polytok supports every operation"
    warm_up_inputs, test_inputs = (
        [operation.to_input(adapter, document) for document in group] for group in cell.documents
    )
    adapter.warm_up()
    for warm_up_input in warm_up_inputs:
        function(warm_up_input)
    gc.disable()
    for name in (FIRST_PASS, SECOND_PASS):
        with client.count_section(name):
            for test_input in test_inputs:
                function(test_input)
    digests = [operation.digest_output(adapter, function(test_input)) for test_input in test_inputs]
    return hashlib.blake2b(b"".join(digests), digest_size=16).hexdigest()


if __name__ == "__main__":
    main()
