"""Computes digests of an engine's outputs in a separate process, which is not timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from .cases import Vocabulary
from .engines import Adapter, Engine
from .operations import OPERATIONS, Operation
from .remote import Failure, Remote, attempt
from .texts import Document

UNSUPPORTED_OPERATION = Failure("")
"""The answer for an operation that the package does not support."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to run an operation over documents. If ``is_reference`` is true, the answer has the expected digests,
    computed from the ids."""

    operation: str
    documents: Sequence[Document]
    is_reference: bool


class Checker:
    """A process with one engine and one vocabulary, which starts at the first request."""

    def __init__(self, engine: Engine, vocabulary: Vocabulary, timeout_seconds: float) -> None:
        self._remote = Remote(serve, (engine, vocabulary), timeout_seconds)

    def digests(
        self, operation: str, documents: Sequence[Document], *, is_reference: bool = False
    ) -> list[bytes] | Failure:
        answer: list[bytes] | Failure = self._remote.ask(Request(operation, documents, is_reference))
        return answer

    def finish(self) -> None:
        self._remote.finish()


def serve(pipe: Connection, task: tuple[Engine, Vocabulary]) -> None:
    """Answers the requests of a `Checker`; runs in its process."""
    engine, vocabulary = task
    adapter = attempt(lambda: engine.load(vocabulary))
    while (request := pipe.recv()) is not None:
        pipe.send(adapter if isinstance(adapter, Failure) else attempt(lambda: answer(adapter, request)))


def answer(adapter: Adapter, request: Request) -> Any:
    """Returns a digest for each document."""
    operation = OPERATIONS[request.operation]
    documents: Sequence[Any] = request.documents
    if request.is_reference:
        return [operation.digest_reference(adapter, document) for document in documents]
    return digests(adapter, operation, documents)


def digests(adapter: Adapter, operation: Operation, documents: Sequence[Any]) -> list[bytes] | Failure:
    """Returns a digest of the operation's output for each document, or `UNSUPPORTED_OPERATION`."""
    function = operation.find_function(adapter)
    if function is None:
        return UNSUPPORTED_OPERATION
    inputs = [operation.to_input(adapter, document) for document in documents]
    outputs = operation.split_rows(adapter, function(inputs)) if operation.is_batch else map(function, inputs)
    return [operation.digest_output(adapter, output) for output in outputs]


def count_differences(expected: Sequence[bytes], actual: Sequence[bytes]) -> int:
    """Returns the number of documents with different digests."""
    length_difference = abs(len(expected) - len(actual))
    return length_difference + sum(
        expected_digest != actual_digest for expected_digest, actual_digest in zip(expected, actual, strict=False)
    )
