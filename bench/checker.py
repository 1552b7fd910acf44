"""Digests of an engine's outputs, made in a process in which nothing is timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from .cases import Vocabulary
from .engines import Adapter, Engine
from .operations import OPERATIONS, Operation
from .remote import Failed, Remote, attempt
from .texts import Document

MISSING = Failed("")
"""The answer if the package has no such operation."""


@dataclass(frozen=True, slots=True)
class Request:
    """An operation over documents. ``is_reference``: what its output should be, by the engine's ids."""

    operation: str
    documents: Sequence[Document]
    is_reference: bool


class Checker:
    """One engine with one vocabulary; its process starts at the first question."""

    def __init__(self, engine: Engine, vocabulary: Vocabulary, patience: float) -> None:
        self._remote = Remote(serve, (engine, vocabulary), patience)

    def digests(
        self, operation: str, documents: Sequence[Document], *, is_reference: bool = False
    ) -> list[bytes] | Failed:
        answer: list[bytes] | Failed = self._remote.ask(Request(operation, documents, is_reference))
        return answer

    def finish(self) -> None:
        self._remote.finish()


def serve(pipe: Connection, task: tuple[Engine, Vocabulary]) -> None:
    """The process of a `Checker`."""
    engine, vocabulary = task
    adapter = attempt(lambda: engine.load(vocabulary))
    while (request := pipe.recv()) is not None:
        pipe.send(adapter if isinstance(adapter, Failed) else attempt(lambda: answered(adapter, request)))


def answered(adapter: Adapter, request: Request) -> Any:
    """A digest for each document."""
    operation = OPERATIONS[request.operation]
    documents: Sequence[Any] = request.documents
    if request.is_reference:
        return [operation.expected(adapter, document) for document in documents]
    return digests(adapter, operation, documents)


def digests(adapter: Adapter, operation: Operation, documents: Sequence[Any]) -> list[bytes] | Failed:
    """A digest of what the operation makes of each document."""
    call = operation.find(adapter)
    if call is None:
        return MISSING
    given = [operation.given(adapter, document) for document in documents]
    outputs = operation.rows(adapter, call(given)) if operation.is_whole else map(call, given)
    return [operation.evidence(adapter, output) for output in outputs]


def differing(expected: Sequence[bytes], given: Sequence[bytes]) -> int:
    """How many documents have other ids."""
    longer = abs(len(expected) - len(given))
    return longer + sum(ours != theirs for ours, theirs in zip(expected, given, strict=False))
