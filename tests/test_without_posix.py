"""Tests what replaces functions of POSIX where they are missing: jobs and their lock, as on Windows."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import sys
from pathlib import Path
from types import ModuleType

import pytest

from polytok import corpus, resources
from polytok.corpus import lock, status, storage
from polytok.corpus.run import local
from polytok.errors import ArgumentError

MISSING = ("O_NOFOLLOW", "posix_fadvise", "sched_getaffinity", "register_at_fork", "getpgid")


class WindowsRuntime(ModuleType):
    """The functions of Python's module ``msvcrt`` that polytok uses."""

    LK_NBLCK = 2

    def locking(self, descriptor: int, mode: int, size: int) -> None:
        assert (mode, size) == (self.LK_NBLCK, 1)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None


@pytest.fixture
def without_posix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "msvcrt", WindowsRuntime("msvcrt"))
    monkeypatch.setattr(lock, "fcntl", None)
    monkeypatch.setattr(lock, "_NO_FOLLOW", 0)
    for name in MISSING:
        monkeypatch.delattr(os, name)
    monkeypatch.delattr(signal, "pthread_sigmask")


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".bin", ".idx", ".npy")}


@pytest.fixture
def texts(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for path in paths:
        path.write_text(f"{path.name} läuft\n" * 50, encoding="utf-8")
    return paths


def test_jobs_run(
    tmp_path: Path, texts: list[Path], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a job with two workers writes the same folder."""
    expected = tmp_path / "expected"
    corpus.tokenize(texts, "default", expected, workers=2, shard_size=100)
    request.getfixturevalue("without_posix")
    out = tmp_path / "out"
    worker_counts = []
    run = local._Pool.run
    monkeypatch.setattr(local._Pool, "run", lambda pool, count: (worker_counts.append(count), run(pool, count)))
    corpus.tokenize(texts, "default", out, workers=2, shard_size=100)
    assert worker_counts == [2]
    assert files_of(out) == files_of(expected) != {}
    assert not (out / lock.LOCK_NAME).exists()
    assert resources.processors() == os.cpu_count()


@pytest.mark.usefixtures("without_posix")
def test_the_lock_excludes_other_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_TIMEOUT_SECONDS", 0)
    with lock.hold_lock(tmp_path) as inherited:
        assert inherited is None
        assert lock.is_locked(tmp_path)
        with pytest.raises(ArgumentError, match="another job is writing"), lock.hold_lock(tmp_path):
            pass
    assert not lock.is_locked(tmp_path)
    with lock.hold_lock(tmp_path):
        assert status.is_locked(tmp_path)


@pytest.mark.usefixtures("without_posix")
def test_no_process_gets_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that asking for a process does not call `os.kill`, which sends Ctrl-C on Windows."""
    monkeypatch.delattr(os, "kill")
    assert storage._is_running("1")
