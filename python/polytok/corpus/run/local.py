"""Worker processes of this machine. A free worker takes the longest remaining task.

Workers are separate interpreters that talk over pipes. Unlike those of `multiprocessing` they do not run the caller's
script again, and they end with the caller, however it ends. A worker that dies is replaced.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from ...resources import processors
from .base import (
    ATTEMPTS,
    Assignment,
    Done,
    Listener,
    Progress,
    Retried,
    Work,
    error_from_plain,
    longest_first,
    lost,
)

_LAST_WORDS = 2.0

_ENVIRONMENT = {
    # glibc keeps the megabytes of a block for the next one: allocating them anew took a third of a job's system time.
    # Other libraries ignore these settings.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    # numpy's threads for matrix products spin while idle, and this program has no matrix products.
    "OPENBLAS_NUM_THREADS": "1",
}
"""The environment of workers, unless the user has set it."""

_START = "import sys; sys.path[:] = sys.argv[1:]; from polytok.corpus.run.worker import main; main()"


class LocalRunner:
    """Does tasks in worker processes, by default one per processor; if one is enough, in this process."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or processors()

    def run(
        self, work: Work, assignments: Sequence[Assignment], listen: Listener, inherited: Sequence[int] = ()
    ) -> None:
        """Return when all tasks are done. The first error of a task is raised here and ends the others."""
        ordered = longest_first(assignments)
        if min(self._workers, len(ordered)) <= 1:
            _run_here(work, ordered, listen)
        else:
            _Pool(work, deque(ordered), listen, tuple(inherited)).run(min(self._workers, len(ordered)))


def _run_here(work: Work, ordered: Sequence[Assignment], listen: Listener) -> None:
    do_task = work.prepared()
    for assignment in ordered:

        def tell(documents: int, tokens: int, size: int, number: int = assignment.number) -> None:
            listen(Progress(number, documents, tokens, size))

        listen(Done(assignment.number, do_task(assignment.description, tell)))


@dataclass(eq=False, slots=True)
class _Worker:
    process: subprocess.Popen[str]
    task: Assignment | None = None

    def send(self, message: dict[str, Any]) -> None:
        """A worker that has just died is detected when its output ends, not here."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def read(self, messages: queue.Queue[tuple[_Worker, dict[str, Any] | None]]) -> None:
        """Pass on its messages, and None at the end."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):  # else it died while writing
                messages.put((self, json.loads(line)))
        messages.put((self, None))

    def end(self, patience: float = 0) -> None:
        """End it, if it does not end by itself."""
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


@dataclass(slots=True)
class _Pool:
    work: Work
    left: deque[Assignment]
    listen: Listener
    inherited: tuple[int, ...]
    workers: set[_Worker] = field(default_factory=set)
    begun: Counter[int] = field(default_factory=Counter)
    messages: queue.Queue[tuple[_Worker, dict[str, Any] | None]] = field(default_factory=queue.Queue)

    def run(self, count: int) -> None:
        try:
            for _ in range(count):
                self._start()
            while any(worker.task is not None for worker in self.workers):
                worker, message = self.messages.get()
                if worker not in self.workers:
                    continue
                if message is None:
                    self._died(worker)
                else:
                    self._heard(worker, message)
        finally:
            for worker in self.workers:
                worker.end()

    def _start(self) -> None:
        with _without_interrupts():
            process = subprocess.Popen(
                [sys.executable, "-c", _START, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                pass_fds=self.inherited,
                env=_ENVIRONMENT | os.environ,
            )
        worker = _Worker(process)
        self.workers.add(worker)
        threading.Thread(target=worker.read, args=(self.messages,), daemon=True).start()
        worker.send({"prepare": self.work.prepare, "setup": self.work.setup})
        self._next(worker)

    def _next(self, worker: _Worker) -> None:
        worker.task = self.left.popleft() if self.left else None
        if worker.task is not None:
            self.begun[worker.task.number] += 1
            worker.send(worker.task.description)

    def _heard(self, worker: _Worker, message: dict[str, Any]) -> None:
        if (error := message.get("error")) is not None:
            raise error_from_plain(error)
        task = worker.task
        assert task is not None
        if (progress := message.get("progress")) is not None:
            self.listen(Progress(task.number, *progress))
            return
        self._next(worker)
        self.listen(Done(task.number, message["done"]))

    def _died(self, worker: _Worker) -> None:
        """Restart its task in a new worker."""
        self.workers.remove(worker)
        worker.end(_LAST_WORDS)
        task = worker.task
        if task is None:
            return
        reason = _reason(worker.process.returncode)
        attempts = self.begun[task.number]
        if attempts >= ATTEMPTS:
            raise lost(task, reason)
        self.listen(Retried(task.number, attempts + 1, reason))
        self.left.appendleft(task)
        self._start()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes begun here ignore Ctrl-C from the start: this process handles it and ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reason(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
