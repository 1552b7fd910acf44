"""What a job has done so far, as its folder tells it.

``plan.json`` is written first and says what is to be done; each task writes its files, and then a record of them into
``done/``; the manifest is written last, whereupon the records go. So whatever ends a job, the same command finds what
is done and does the rest. Files that no record speaks of are half of something, and are removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from .. import _core
from ..errors import ArgumentError, FormatError
from .differences import differences
from .lock import NAME as LOCK
from .storage import Storage
from .write import WRITERS

PLAN = "plan.json"
TOKENIZER = "tokenizer.ptok"
MANIFEST = "dataset.json"

_BLOCK = 1 << 20

# What jobs write, and so may remove: files of tasks, by their numbers and suffixes, and what is not yet renamed.
_SUFFIXES = sorted({".counts", *(suffix for writer in WRITERS.values() for suffix in writer.suffixes)})
_OF_TASK = re.compile(rf"[0-9]{{5,}}({'|'.join(map(re.escape, _SUFFIXES))})")
_RECORD = re.compile(r"done/[0-9]{5,}\.json")
_UNFINISHED = re.compile(r"(done/)?\.([0-9]{5,}|plan|dataset|tokenizer)\.[a-z]+\.[0-9a-f]{8}")


def stem(number: int) -> str:
    """What the names of a task's files begin with."""
    return f"{number:05d}"


def record_name(number: int) -> str:
    """The name of a task's record."""
    return f"done/{stem(number)}.json"


def to_json(value: Any) -> bytes:
    """JSON for people, the same for the same value."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


@dataclass(frozen=True, slots=True)
class Journal:
    """The files of a job beside its shards."""

    storage: Storage

    def overwrite(self) -> bool:
        """Remove what an earlier job wrote; False if none did.

        The manifest goes first and the plan last, so that no half of it looks whole, and the rest is known as a job's.
        """
        names = self.storage.names()
        if PLAN not in names:
            return False
        others = sorted(name for name in names - {MANIFEST, PLAN, LOCK} if _is_ours(name))
        for name in [MANIFEST, *others, PLAN]:
            self.storage.remove(name)
        return True

    def plan(self) -> dict[str, Any] | None:
        """The plan of the job that began here, if one did."""
        if (data := self.storage.read(PLAN)) is not None:
            return _object(data, self.storage.name, PLAN)
        strangers = sorted(name for name in self.storage.names() - {LOCK} if not _UNFINISHED.fullmatch(name))
        if strangers:
            raise ArgumentError(
                f"{self.storage.name} holds other files ({', '.join(strangers[:3])}): name a new folder"
            )
        return None

    def differences(self, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        """What the job that began here has other than a new one."""
        return differences(old, json.loads(to_json(new)))

    def has_done_something(self) -> bool:
        """Whether there is anything to lose."""
        return any(name == MANIFEST or _RECORD.fullmatch(name) for name in self.storage.names())

    def refusal(self, found: list[str]) -> ArgumentError:
        """The error of a folder that holds another job."""
        listed = "\n  ".join(found)
        return ArgumentError(
            f"{self.storage.name} holds another job; what differs, old → new:\n  {listed}\n"
            "Name a new folder, or say --overwrite (overwrite=True) to throw away what is there"
        )

    def begin(self, plan: dict[str, Any]) -> None:
        """Write the plan; from now on this is the job of the folder."""
        self.storage.write(PLAN, to_json(plan))

    def keep(self, tokenizer: bytes) -> None:
        """Write the tokenizer, if it is not there."""
        if TOKENIZER not in self.storage.names():
            self.storage.write(TOKENIZER, tokenizer)

    def finished(self) -> dict[str, Any] | None:
        """The manifest, if the job is done."""
        data = self.storage.read(MANIFEST)
        return None if data is None else _object(data, self.storage.name, MANIFEST)

    def done(self, count: int, tell: Callable[[int, int], object]) -> dict[int, dict[str, Any]]:
        """The records of the tasks that are done, and whose files are as they say; tells how many are verified."""
        names = self.storage.names()
        recorded = [number for number in range(count) if record_name(number) in names]
        records = {}
        for place, number in enumerate(recorded):
            tell(place, len(recorded))
            if (record := self._verified(number, names)) is not None:
                records[number] = record
        return records

    def clean(self, records: Mapping[int, Mapping[str, Any]]) -> None:
        """Remove files of tasks that no record speaks of."""
        keep = {PLAN, TOKENIZER, MANIFEST, LOCK, *map(record_name, records)}
        keep.update(file["name"] for record in records.values() for file in record["files"])
        for name in sorted(self.storage.names() - keep):
            if _is_ours(name):
                self.storage.remove(name)

    def _verified(self, number: int, names: Collection[str]) -> dict[str, Any] | None:
        data = self.storage.read(record_name(number))
        try:
            record = json.loads(data or b"")
            files = [(file["name"], file["bytes"], file["checksum"]) for file in record["files"]]
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        for name, size, checksum in files:
            is_of_task = _OF_TASK.fullmatch(str(name)) and name.startswith(f"{stem(number)}.")
            if not is_of_task or name not in names or checked(self.storage.open(name)) != (size, checksum):
                return None
        return dict(record)

    def finish(self, manifest: bytes) -> None:
        """Write the manifest; the job is done."""
        self.storage.write(MANIFEST, manifest)

    def tidy(self) -> None:
        """Remove what only a running job needs."""
        for name in sorted(self.storage.names()):
            if name.startswith("done/") and _is_ours(name):
                self.storage.remove(name)


def checked(file: IO[bytes]) -> tuple[int, str]:
    """The size and the checksum of a file."""
    checksum, size = _core.Checksum(), 0
    with file:
        while data := file.read(_BLOCK):
            checksum.update(np.frombuffer(data, dtype=np.uint8))
            size += len(data)
    return size, checksum.hex()


def _is_ours(name: str) -> bool:
    if name in (PLAN, TOKENIZER, MANIFEST, LOCK):
        return True
    return any(pattern.fullmatch(name) for pattern in (_OF_TASK, _RECORD, _UNFINISHED))


def _object(data: bytes, url: str, name: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{url}/{name} is damaged: {error}; --overwrite begins anew") from error
    if not isinstance(value, dict):
        raise FormatError(f"{url}/{name} is damaged: it is no object; --overwrite begins anew")
    return value
