"""Runs jobs on storage that fails, and continues them; the final folder must equal that of an undisturbed job.

    python -m corpus_faults --faults 500

Each trial counts the operations of a job on its storage and lets one of them fail, on a disk or in an object store:

    error        the operation does nothing and raises an error
    late error   the operation is done, and then raises an error
    torn         a part of the data is written, then the operation raises an error
    delay        the operation takes longer
    crash        the process ends
    power loss   the process ends, and the disk loses data that was not forced to it
    lying fsync  as power loss, but the disk had also confirmed data that it did not have

A job that ends with an error must say why, and the next run, sometimes with another fault, must continue it. If the
disk has lied, a run may also refuse the folder, or `verify` may find the damage; then a new job must give the same
folder.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from unittest import mock

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

from polytok import PolytokError
from polytok.corpus import tokenize, verify

DISK_FAULTS = ("error", "late error", "torn", "delay", "crash", "power loss", "lying fsync")
STORE_FAULTS = ("error", "late error", "torn", "delay", "crash")
STORE_OPERATIONS = ("pipe_file", "put_file", "cat_file", "get_file", "rm_file", "find", "open")
JOBS: tuple[dict[str, Any], ...] = (
    {"to": "megatron"},
    {"to": "flat", "documents": True},
    {"to": "arrow", "columns": ["id"]},
    {"to": "flat", "shuffle": "all"},
)


_read_bytes = Path.read_bytes  # the method itself, while trials intercept it


class Crash(BaseException):
    """The end of the process: later operations raise it again, so that no handler of errors can tidy up."""


def write_inputs(folder: Path) -> list[Path]:
    folder.mkdir()
    for name in "abcdef":
        lines = [f'{{"id": "{name}{row}", "text": "{name * row} the words of row {row}"}}\n' for row in range(20)]
        (folder / f"{name}.jsonl").write_text("".join(lines))
    return sorted(folder.iterdir())


@dataclass
class Fault:
    """Counts operations, and lets operation ``at`` fail; ``happened`` is the operation that failed."""

    kind: str
    at: int
    rng: random.Random
    count: int = 0
    happened: str = ""
    is_over: bool = False

    def __call__(self, name: str, path: Any, operate: Callable[[], Any], tear: Callable[[], Any] | None = None) -> Any:
        """Does an operation, or lets it fail; ``tear`` does a part of the operation."""
        if self.is_over:
            raise Crash
        self.count += 1
        if self.count != self.at:
            return operate()
        self.happened = f"{name} {Path(str(path)).name}"
        if self.kind == "delay":
            time.sleep(0.01)
            return operate()
        if self.kind == "late error":
            operate()
        if self.kind == "torn" and tear is not None:
            tear()
        if self.kind in ("crash", "power loss", "lying fsync"):
            self.is_over = True
            raise Crash
        raise self._error(path)

    def _error(self, path: Any) -> Exception:
        code = self.rng.choice([errno.EIO, errno.ENOSPC, errno.EACCES, errno.ESTALE])
        return OSError(code, os.strerror(code), *(() if isinstance(path, int) else (str(path),)))  # fsync has no name


@dataclass
class Disk:
    """The files in a folder, as a process and after a power loss.

    ``unforced`` has the files whose data need not be on the disk, by inode; ``undo`` the renames and removals that the
    disk can have lost, with the content that their target had.
    """

    folder: Path
    fault: Fault
    unforced: set[int] = field(default_factory=set)
    undo: list[tuple[Path, Path | None, bytes | None]] = field(default_factory=list)

    @contextmanager
    def intercept(self) -> Iterator[None]:
        """Intercepts the operations on files of the folder."""
        with ExitStack() as stack:
            for target in ("polytok.files.open", "polytok.corpus.storage.open"):
                stack.enter_context(mock.patch(target, self._open, create=True))
            for name in ("replace", "unlink", "fsync"):
                stack.enter_context(mock.patch.object(os, name, self._wrap(name, getattr(os, name))))
            stack.enter_context(mock.patch.object(Path, "read_bytes", self._wrap_method("read", Path.read_bytes)))
            stack.enter_context(mock.patch.object(Path, "rglob", self._wrap_method("list", Path.rglob)))
            yield

    def _has(self, path: Any) -> bool:
        # The system releases the lock of a process that ends, so removing the lock file cannot fail here.
        is_path = isinstance(path, (str, os.PathLike))
        return is_path and Path(path).is_relative_to(self.folder) and Path(path).name != ".lock"

    def _open(self, path: Any, *arguments: Any, **keywords: Any) -> Any:
        if not self._has(path):
            return open(path, *arguments, **keywords)
        return _DiskFile(self, path, self.fault("open", path, lambda: open(path, *arguments, **keywords)))

    def _wrap(self, name: str, operate: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(path: Any, *arguments: Any, **keywords: Any) -> Any:
            if name == "fsync":
                return self.fault(name, path, lambda: self._force(path, operate))
            if not self._has(path):
                return operate(path, *arguments, **keywords)
            return self.fault(name, path, lambda: self._change(operate, Path(path), *arguments, **keywords))

        return wrapped

    def _wrap_method(self, name: str, operate: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(path: Path, *arguments: Any) -> Any:
            if not self._has(path):
                return operate(path, *arguments)
            return self.fault(name, path, lambda: operate(path, *arguments))

        return wrapped

    def _force(self, descriptor: int, fsync: Callable[[int], None]) -> None:
        if self.fault.kind == "lying fsync":
            return
        status = os.fstat(descriptor)
        self.unforced.discard(status.st_ino)
        self.undo = [step for step in self.undo if os.stat(step[0].parent).st_ino != status.st_ino]

    def _change(self, operate: Callable[..., Any], path: Path, target: Any = None, **keywords: Any) -> None:
        changed_path = path if target is None else Path(target)
        old_content = _read_bytes(changed_path) if changed_path.exists() else None
        operate(*((path,) if target is None else (path, target)), **keywords)
        self.undo.append((changed_path, None if target is None else path, old_content))

    def lose_power(self) -> None:
        """Loses data that was not forced to the disk: each rename and removal, and the end of each file, by chance."""
        rng = self.fault.rng
        for path, source, old_content in reversed(self.undo):
            if rng.random() < 0.5:
                continue
            path.parent.mkdir(exist_ok=True)
            if source is not None and path.exists():
                os.replace(path, source)
            if old_content is not None:
                path.write_bytes(old_content)
        for path in [path for path in self.folder.rglob("*") if path.is_file()]:
            if path.stat().st_ino in self.unforced and rng.random() < 0.5:
                data = path.read_bytes()
                length = rng.randrange(len(data) + 1)
                path.write_bytes(data[:length] + bytes(len(data) - length) * rng.randrange(2))


class _DiskFile:
    """A file whose writes, flushes and reads can fail."""

    def __init__(self, disk: Disk, path: Any, file: IO[bytes]) -> None:
        self._disk, self._path, self._file = disk, path, file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _DiskFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int = -1) -> bytes:
        return bytes(self._disk.fault("read", self._path, lambda: self._file.read(size)))

    def write(self, data: Any) -> int:
        if self._disk.fault.is_over:  # pyarrow's writers write when they are garbage-collected
            return len(data)
        self._disk.unforced.add(os.fstat(self._file.fileno()).st_ino)
        return int(
            self._disk.fault("write", self._path, lambda: self._file.write(data), lambda: self._write_half(data))
        )

    def flush(self) -> None:
        self._disk.fault("flush", self._path, self._file.flush)

    def close(self) -> None:
        if self._file.closed:
            return
        try:
            self._disk.fault("close", self._path, self._file.flush)
        finally:
            self._file.close()

    def _write_half(self, data: Any) -> None:
        self._file.write(bytes(data)[: len(data) // 2])
        self._file.flush()


@contextmanager
def intercept_store(fault: Fault) -> Iterator[None]:
    """Intercepts the operations of fsspec's store in memory."""
    is_inside = False

    def wrap(name: str, operate: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(filesystem: Any, *arguments: Any, **keywords: Any) -> Any:
            nonlocal is_inside
            if is_inside:
                return operate(filesystem, *arguments, **keywords)
            is_inside = True
            try:
                path = arguments[-1] if name == "put_file" else arguments[0]
                tear = (
                    None
                    if name != "pipe_file"
                    else lambda: operate(filesystem, path, arguments[1][: len(arguments[1]) // 2])
                )
                result = fault(name, path, lambda: operate(filesystem, *arguments, **keywords), tear)
            finally:
                is_inside = False
            return _StoreFile(fault, path, result) if name == "open" else result

        return wrapped

    with ExitStack() as stack:
        for name in STORE_OPERATIONS:
            operate = getattr(MemoryFileSystem, name)
            stack.enter_context(mock.patch.object(MemoryFileSystem, name, wrap(name, operate)))
        yield


class _StoreFile:
    """An open object whose reads can fail, as those of a lost connection, with an error of any class."""

    def __init__(self, fault: Fault, path: str, file: IO[bytes]) -> None:
        self._fault, self._path, self._file = fault, path, file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _StoreFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int = -1) -> bytes:
        try:
            return bytes(self._fault("read", self._path, lambda: self._file.read(size)))
        except OSError as error:
            raise RuntimeError(f"connection reset: {error}") from error


def contents(out: str) -> dict[str, bytes]:
    """Returns the content of every file in a folder or URL."""
    if "://" not in out:
        return {str(path.relative_to(out)): path.read_bytes() for path in Path(out).rglob("*") if path.is_file()}
    filesystem, root = fsspec.core.url_to_fs(out)
    return {path[len(root) + 1 :]: filesystem.cat_file(path) for path in filesystem.find(root)}


@dataclass
class Trials:
    """Runs trials with random faults, and counts what happened."""

    folder: Path
    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    expected: list[dict[str, bytes]] = field(default_factory=list)
    operations: dict[tuple[int, bool], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inputs = write_inputs(self.folder / "inputs")
        for number in range(len(JOBS)):
            for is_disk in (True, False):
                out = self._out(f"undisturbed{number}", is_disk)
                fault = no_fault()
                self._run(number, out, fault)
                self.operations[number, is_disk] = fault.count
            self.expected.append(contents(self._out(f"undisturbed{number}", True)))
            assert contents(self._out(f"undisturbed{number}", False)) == self.expected[number]

    def _out(self, name: str, is_disk: bool) -> str:
        return str(self.folder / name) if is_disk else f"memory://{self.folder.name}/{name}"

    def _run(self, number: int, out: str, fault: Fault, *, overwrite: bool = False) -> None:
        """Runs a job until it ends or the fault ends it. Any error must be one of polytok's."""
        disk = None if "://" in out else Disk(Path(out), fault)
        with disk.intercept() if disk else intercept_store(fault), suppress(Crash):
            tokenize(
                self.inputs,
                "default",
                out,
                workers=1,
                shard_size=2500,
                eos="auto",
                overwrite=overwrite,
                **JOBS[number],
            )
        if disk is not None and (fault.kind == "lying fsync" or (fault.kind == "power loss" and fault.is_over)):
            disk.lose_power()

    def run(self, trial: int) -> None:
        """Runs a trial. Raises `AssertionError` with its number if the final folder differs, or an error is unclear."""
        rng = random.Random(f"{self.seed} {trial}")
        number, is_disk = rng.randrange(len(JOBS)), rng.random() < 0.7
        out = self._out(f"trial{trial}", is_disk)
        history = [f"seed {self.seed}, trial {trial}"]
        for _ in range(rng.choice([1, 1, 2, 3])):
            kind = rng.choice(DISK_FAULTS if is_disk else STORE_FAULTS)
            fault = Fault(kind, rng.randrange(1, self.operations[number, is_disk] + 1), rng)
            history.append(f"{kind} at operation {fault.at}")
            try:
                self._run(number, out, fault)
            except PolytokError as error:
                history[-1] += f" ({fault.happened}): {type(error).__name__}: {error}"
                if not fault.happened and not can_be_damaged(out, history):
                    raise AssertionError(history) from error
            except Exception as error:
                raise AssertionError(f"not an error of polytok: {history}") from error
            else:
                history[-1] += f" ({fault.happened})"
            self.outcomes[f"{'disk' if is_disk else 'store'}: {kind}"] += bool(fault.happened)
        self._finish(number, out, history)

    def _finish(self, number: int, out: str, history: list[str]) -> None:
        """Runs the job without a fault until it is complete, and compares the folder."""
        try:
            self._run(number, out, no_fault())
            is_refused = "://" not in out and can_be_damaged(out, history) and bool(verify(out))
        except PolytokError as error:
            if not can_be_damaged(out, history):
                raise AssertionError(f"{error}: {history}") from error
            is_refused = True
        if is_refused:
            self.outcomes["refused, done again"] += 1
            out += "-new"
            self._run(number, out, no_fault())
        actual, expected = contents(out), self.expected[number]
        different_names = [name for name in actual.keys() | expected.keys() if actual.get(name) != expected.get(name)]
        assert not different_names, f"{different_names} differ: {history}"
        self.outcomes["folders equal"] += 1


def no_fault() -> Fault:
    return Fault("error", 0, random.Random())


def can_be_damaged(out: str, history: list[str]) -> bool:
    """Reports whether faults can have left half a plan or manifest: a disk that lies, or a store that writes in place
    (sftp, smb)."""
    return any("lying fsync" in step or ("torn" in step and "://" in out) for step in history)


def check(faults: int, seed: int) -> str:
    """Runs trials until this many faults have happened; returns a summary or raises AssertionError."""
    with tempfile.TemporaryDirectory() as name:
        trials = Trials(Path(name), seed)
        trial = 0
        while sum(count for kind, count in trials.outcomes.items() if ":" in kind) < faults:
            trials.run(trial)
            trial += 1
    return f"seed {seed}: {trial} jobs, {dict(sorted(trials.outcomes.items()))}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    print(check(arguments.faults, arguments.seed))


if __name__ == "__main__":
    main()
