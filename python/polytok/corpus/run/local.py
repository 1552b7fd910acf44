"""Does tasks in worker processes on this machine. A free worker does the longest remaining task next.

Workers are separate interpreters that receive tasks and send results through pipes. Unlike workers of
`multiprocessing`, these workers do not run the caller's script again, and they end when the calling process ends, even
if it is killed. A worker that dies is replaced.
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
    MAX_ATTEMPTS,
    Assignment,
    Listener,
    TaskDoneEvent,
    TaskProgram,
    TaskProgressEvent,
    TaskRetryEvent,
    create_worker_death_error,
    error_from_json,
    sort_longest_first,
)

_EXIT_TIMEOUT_SECONDS = 2.0  # how long a worker can take to exit after its output has ended

_NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # Windows: the worker never receives Ctrl-C

_WORKER_ENVIRONMENT = {
    # glibc keeps the memory of a block for the next block. Returning and requesting this memory took a third of a job's
    # system time. Other C libraries ignore these settings.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    # numpy's threads for matrix products use processor time while idle, and workers compute no matrix products.
    "OPENBLAS_NUM_THREADS": "1",
}
"""Default environment variables of workers; variables of the user's environment replace them."""

_WORKER_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from polytok.corpus.run.worker import main; main()"


class LocalRunner:
    """Does tasks in worker processes, by default one for each processor. A single task, or a single worker, runs in the
    calling process."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or processors()

    def run(
        self,
        program: TaskProgram,
        assignments: Sequence[Assignment],
        listen: Listener,
        inherited_files: Sequence[int] = (),
    ) -> None:
        """Does all tasks and returns. The first error of a task is raised here and stops the other tasks."""
        ordered_assignments = sort_longest_first(assignments)
        if min(self._workers, len(ordered_assignments)) <= 1:
            _run_in_this_process(program, ordered_assignments, listen)
        else:
            _Pool(program, deque(ordered_assignments), listen, tuple(inherited_files)).run(
                min(self._workers, len(ordered_assignments))
            )


def _run_in_this_process(program: TaskProgram, ordered_assignments: Sequence[Assignment], listen: Listener) -> None:
    do_task = program.task_function()
    for assignment in ordered_assignments:

        def report_progress(documents: int, tokens: int, size: int, number: int = assignment.number) -> None:
            listen(TaskProgressEvent(number, documents, tokens, size))

        listen(TaskDoneEvent(assignment.number, do_task(assignment.description, report_progress)))


@dataclass(eq=False, slots=True)
class _Worker:
    process: subprocess.Popen[str]
    task: Assignment | None = None

    def send_message(self, message: dict[str, Any]) -> None:
        """Sends a message. Does nothing if the worker has just died; `read_messages` detects the end of the output."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def read_messages(self, messages: queue.Queue[tuple[_Worker, dict[str, Any] | None]]) -> None:
        """Puts each message of the worker into the queue, and None when its output ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):  # an incomplete line means that the worker died while it was writing
                messages.put((self, json.loads(line)))
        messages.put((self, None))

    def stop(self, wait_seconds: float = 0) -> None:
        """Waits until the process ends and closes its pipes; kills the process if it does not end in time."""
        try:
            self.process.wait(wait_seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


@dataclass(slots=True)
class _Pool:
    program: TaskProgram
    pending_assignments: deque[Assignment]
    listen: Listener
    inherited_files: tuple[int, ...]
    workers: set[_Worker] = field(default_factory=set)
    attempt_counts: Counter[int] = field(default_factory=Counter)
    messages: queue.Queue[tuple[_Worker, dict[str, Any] | None]] = field(default_factory=queue.Queue)

    def run(self, count: int) -> None:
        try:
            for _ in range(count):
                self._start_worker()
            while any(worker.task is not None for worker in self.workers):
                worker, message = self.messages.get()
                if worker not in self.workers:
                    continue
                if message is None:
                    self._replace_dead_worker(worker)
                else:
                    self._handle_message(worker, message)
        finally:
            for worker in self.workers:
                worker.stop()

    def _start_worker(self) -> None:
        with _block_interrupts():
            process = subprocess.Popen(
                [sys.executable, "-c", _WORKER_PROGRAM, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                pass_fds=self.inherited_files,
                creationflags=_NEW_GROUP,
                env=_WORKER_ENVIRONMENT | os.environ,
            )
        worker = _Worker(process)
        self.workers.add(worker)
        threading.Thread(target=worker.read_messages, args=(self.messages,), daemon=True).start()
        worker.send_message({"prepare": self.program.prepare, "setup": self.program.setup})
        self._send_next_task(worker)

    def _send_next_task(self, worker: _Worker) -> None:
        worker.task = self.pending_assignments.popleft() if self.pending_assignments else None
        if worker.task is not None:
            self.attempt_counts[worker.task.number] += 1
            worker.send_message(worker.task.description)

    def _handle_message(self, worker: _Worker, message: dict[str, Any]) -> None:
        if (error := message.get("error")) is not None:
            raise error_from_json(error)
        task = worker.task
        assert task is not None
        if (progress := message.get("progress")) is not None:
            self.listen(TaskProgressEvent(task.number, *progress))
            return
        self._send_next_task(worker)
        self.listen(TaskDoneEvent(task.number, message["done"]))

    def _replace_dead_worker(self, worker: _Worker) -> None:
        """Starts a new worker for the task of a worker that died. Raises `PolytokError` after too many attempts."""
        self.workers.remove(worker)
        worker.stop(_EXIT_TIMEOUT_SECONDS)
        task = worker.task
        if task is None:
            return
        reason = _exit_reason(worker.process.returncode)
        attempt_count = self.attempt_counts[task.number]
        if attempt_count >= MAX_ATTEMPTS:
            raise create_worker_death_error(task, reason)
        self.listen(TaskRetryEvent(task.number, attempt_count + 1, reason))
        self.pending_assignments.appendleft(task)
        self._start_worker()


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Blocks SIGINT, so that processes that start in this context never receive Ctrl-C.

    The calling process handles Ctrl-C itself and ends its workers. Windows has no signal masks; there,
    `_NEW_GROUP` does the same.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    old_signal_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_signal_mask)


def _exit_reason(exit_code: int) -> str:
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return f"signal {-exit_code}"
