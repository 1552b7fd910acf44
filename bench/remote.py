"""Runs code in a separate process that receives requests over a pipe.

The benchmark continues if the process is slow, crashes or hangs.
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

Serve = Callable[[Connection, Any], None]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a request has no answer."""

    why: str


class Remote:
    """A process that runs ``serve(pipe, task)``.

    The function ``serve`` answers requests until a request is None. The answer is `Failure` if the process crashes or
    needs longer than ``patience`` seconds; a new process then answers the next request. ``threads`` is the number of
    threads of the thread pools in the process.
    """

    def __init__(self, serve: Serve, task: Any, patience: float, threads: int = 1) -> None:
        self._start = (_run_server, serve, task, threads)
        self._patience = patience
        self._running: tuple[BaseProcess, Connection] | None = None

    def ask(self, request: Any) -> Any:
        """Sends a request and returns the answer, or `Failure`."""
        _, pipe = self._running or self.begin()
        try:
            pipe.send(request)
            if pipe.poll(self._patience):
                return pipe.recv()
        except (EOFError, OSError):
            self._end()
            return Failure("crashed")
        self._end()
        return Failure(f"over {self._patience:g} s")

    @property
    def is_running(self) -> bool:
        return self._running is not None

    def begin(self) -> tuple[BaseProcess, Connection]:
        """Starts the process."""
        context = multiprocessing.get_context("spawn")
        our_end, their_end = context.Pipe()
        target, *arguments = self._start
        process = context.Process(target=target, args=(their_end, *arguments), daemon=True)
        process.start()
        their_end.close()
        self._running = process, our_end
        return self._running

    def finish(self) -> None:
        """Ends the process."""
        if self._running is not None:
            process, pipe = self._running
            with contextlib.suppress(OSError):
                pipe.send(None)
                process.join(self._patience)
            self._end()

    def _end(self) -> None:
        assert self._running is not None
        process, pipe = self._running
        process.kill()
        process.join()
        pipe.close()
        self._running = None


def _run_server(pipe: Connection, serve: Serve, task: Any, threads: int) -> None:
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        serve(pipe, task)


def attempt(action: Callable[[], Any]) -> Any:
    """Returns the result of an action, or `Failure` for any exception; packages raise many classes of exceptions."""
    try:
        return action()
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        first_line = (str(error).splitlines() or [""])[0].replace("|", " ")
        return Failure(f"{type(error).__name__}: {first_line[:60]}")
