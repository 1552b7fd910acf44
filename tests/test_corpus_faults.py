"""Tests jobs on storage that fails: errors, torn writes, power losses, disks that lie, and object stores."""

from __future__ import annotations

import errno
import random
from pathlib import Path
from typing import Any

import pytest

import corpus_faults
from polytok import FileError
from polytok.corpus.write import OutputFile


def test_jobs_survive_random_faults() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"repeat with: python -m corpus_faults --faults 25 --seed {seed}")
    print(corpus_faults.check(faults=25, seed=seed))


@pytest.mark.parametrize("method", ["seek", "read"])
def test_an_error_of_a_file_that_is_not_written_in_order_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    class Failing:
        def __getattr__(self, name: str) -> Any:
            return fail if name == method else getattr(real_file, name)

    def fail(*_: Any) -> Any:
        raise OSError(errno.ESTALE, "Stale file handle")

    file = OutputFile(tmp_path / "00000.idx")
    file.write(b"data")
    file.seek(0)
    real_file = file._draft.file
    monkeypatch.setattr(file._draft, "file", Failing())
    with pytest.raises(FileError, match=r"cannot write: Stale file handle: .*00000\.idx"):
        file.finish()
    file.discard()
