"""Runs code in a separate process that receives requests over a pipe. If this process crashes or hangs, the benchmark
continues.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

ServeFunction = Callable[[Connection, Any], None]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a request has no answer."""

    reason: str


class Remote:
    """A process that runs ``serve(pipe, task)``.

    The function ``serve`` answers requests and ends when it receives None. If the process crashes or needs longer than
    ``timeout_seconds``, the answer is a `Failure`, and a new process answers the next request. ``threads`` is the size
    of the thread pools in the process.
    """

    def __init__(self, serve: ServeFunction, task: Any, timeout_seconds: float, threads: int = 1) -> None:
        self._server_call = (_run_server, serve, task, threads)
        self._patience = timeout_seconds
        self._process_and_pipe: tuple[BaseProcess, Connection] | None = None

    def ask(self, request: Any) -> Any:
        """Sends a request and returns the answer, or `Failure`."""
        _, pipe = self._process_and_pipe or self.start_process()
        try:
            pipe.send(request)
            if pipe.poll(self._patience):
                return pipe.recv()
        except (EOFError, OSError):
            self._kill_process()
            return Failure("crashed")
        self._kill_process()
        return Failure(f"over {self._patience:g} s")

    @property
    def is_running(self) -> bool:
        return self._process_and_pipe is not None

    def start_process(self) -> tuple[BaseProcess, Connection]:
        """Starts the process."""
        context = multiprocessing.get_context("spawn")
        own_connection, child_connection = context.Pipe()
        target, *arguments = self._server_call
        process = context.Process(target=target, args=(child_connection, *arguments), daemon=True)
        process.start()
        child_connection.close()
        self._process_and_pipe = process, own_connection
        return self._process_and_pipe

    def finish(self) -> None:
        """Ends the process."""
        if self._process_and_pipe is not None:
            process, pipe = self._process_and_pipe
            with contextlib.suppress(OSError):
                pipe.send(None)
                process.join(self._patience)
            self._kill_process()

    def _kill_process(self) -> None:
        assert self._process_and_pipe is not None
        process, pipe = self._process_and_pipe
        process.kill()
        process.join()
        pipe.close()
        self._process_and_pipe = None


def _run_server(pipe: Connection, serve: ServeFunction, task: Any, threads: int) -> None:
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        serve(pipe, task)


def attempt(action: Callable[[], Any]) -> Any:
    """Returns the result of an action, or a `Failure` if the action raises any exception."""
    try:
        return action()
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        first_line = (str(error).splitlines() or [""])[0].replace("|", " ")
        return Failure(f"{type(error).__name__}: {first_line[:60]}")
