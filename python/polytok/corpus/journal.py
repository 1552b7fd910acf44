"""The progress of a job, as recorded in its folder.

``plan.json`` is written first and lists what is to be done. Each task writes its files, and then a record of them into
``done/``. The manifest is written last, and then the records are removed. So after any interruption the same command
finds what is done and does the rest. Files without a record are incomplete and are removed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError, FormatError
from .differences import differences
from .lock import NAME as LOCK
from .storage import Storage
from .write import WRITERS, checksum_of

PLAN = "plan.json"
TOKENIZER = "tokenizer.ptok"
MANIFEST = "dataset.json"

# Marks a plan as one of ours. A folder with any other ``plan.json`` is somebody else's.
_FORMAT = "polytok corpus job"

# What jobs write, and so can remove: files of their tasks, by numbers and suffixes, and files not yet renamed.
_SUFFIXES = sorted({".counts", *(suffix for writer in WRITERS.values() for suffix in writer.suffixes)})
_OF_TASK = re.compile(rf"([0-9]{{5,}})({'|'.join(map(re.escape, _SUFFIXES))})")
_RECORD = re.compile(r"done/([0-9]{5,})\.json")
_UNFINISHED = re.compile(r"(done/)?\.([0-9]{5,}|plan|dataset|tokenizer)\.[a-z]+\.[0-9a-f]{8}")


def stem(number: int) -> str:
    """The prefix of the names of a task's files."""
    return f"{number:05d}"


def record_name(number: int) -> str:
    """The name of a task's record."""
    return f"done/{stem(number)}.json"


def identity(plan: Mapping[str, Any]) -> str:
    """The identity of the job that a plan describes."""
    return hashlib.sha256(to_json({"format": _FORMAT, **plan})).hexdigest()


def _seal(job: str, record: Mapping[str, Any]) -> str:
    """A hash of a record and of the job that it belongs to."""
    return hashlib.sha256(f"{job}\n".encode() + to_json(record)).hexdigest()


def to_json(value: Any) -> bytes:
    """JSON for people to read; equal values give equal text."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


@dataclass(frozen=True, slots=True)
class Journal:
    """The files of a job beside its shards."""

    storage: Storage

    def overwrite(self) -> bool:
        """Remove what an earlier job wrote, according to its plan. Returns False if there was no such job.

        The manifest is removed first and the plan last. So a half-removed job never looks complete, and the remaining
        files are still recognized as a job's.
        """
        if (plan := self.plan()) is None:
            return False
        others = sorted(name for name in self.storage.names() if _is_ours(name, len(plan["tasks"])))
        for name in [MANIFEST, *others, TOKENIZER, PLAN]:
            self.storage.remove(name)
        return True

    def plan(self) -> dict[str, Any] | None:
        """The plan of the job that began here, or None. Raises `ArgumentError` if the folder is somebody else's."""
        if (data := self.storage.read(PLAN)) is not None:
            return _plan(data, self.storage.name)
        strangers = sorted(name for name in self.storage.names() - {LOCK} if not _UNFINISHED.fullmatch(name))
        if strangers:
            raise ArgumentError(
                f"{self.storage.name} holds other files ({', '.join(strangers[:3])}): name a new folder"
            )
        return None

    def differences(self, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        """How the job that began here differs from a new one."""
        return differences(old, json.loads(to_json({"format": _FORMAT, **new})))

    def has_done_something(self) -> bool:
        """Whether the folder has anything to lose."""
        names = self.storage.names()
        return any(name == MANIFEST or _RECORD.fullmatch(name) or _OF_TASK.fullmatch(name) for name in names)

    def refusal(self, found: list[str]) -> ArgumentError:
        """The error of a folder that holds another job."""
        listed = "\n  ".join(found)
        return ArgumentError(
            f"{self.storage.name} holds another job; what differs, old → new:\n  {listed}\n"
            "Name a new folder, or say --overwrite (overwrite=True) to throw away what is there"
        )

    def begin(self, plan: dict[str, Any]) -> None:
        """Write the plan. From then on the folder belongs to this job."""
        self.storage.write(PLAN, to_json({"format": _FORMAT, **plan}))

    def note(self, job: str, record: Mapping[str, Any]) -> None:
        """Write the record of a task of this job. The task's files must already exist.

        The record is not forced to the disk. If a machine failure loses it or half of it, the task is done again.
        """
        data = to_json({**record, "seal": _seal(job, record)})
        self.storage.write(record_name(record["number"]), data, forced=False)

    def keep(self, tokenizer: bytes) -> None:
        """Write the tokenizer if it is missing or differs."""
        if self.storage.read(TOKENIZER) != tokenizer:
            self.storage.write(TOKENIZER, tokenizer)

    def finished(self) -> dict[str, Any] | None:
        """The manifest, if the job is done."""
        data = self.storage.read(MANIFEST)
        return None if data is None else _object(data, self.storage.name, MANIFEST)

    def done(self, job: str, count: int, tell: Callable[[int, int], object]) -> dict[int, dict[str, Any]]:
        """The records of this job's tasks whose files match them. Reports the number of tasks verified."""
        names = self.storage.names()
        recorded = [number for number in range(count) if record_name(number) in names]
        records = {}
        for place, number in enumerate(recorded):
            tell(place, len(recorded))
            if (record := self._verified(job, number, names)) is not None:
                records[number] = record
        return records

    def clean(self, count: int, records: Mapping[int, Mapping[str, Any]]) -> None:
        """Remove files of the job's ``count`` tasks that no record mentions."""
        keep = {*map(record_name, records)}
        keep.update(file["name"] for record in records.values() for file in record["files"])
        for name in sorted(self.storage.names() - keep):
            if _is_ours(name, count):
                self.storage.remove(name)

    def _verified(self, job: str, number: int, names: Collection[str]) -> dict[str, Any] | None:
        if (record := self._record(job, number)) is None:
            return None
        for file in record["files"]:
            name = file["name"]
            if name not in names:
                return None
            with self.storage.open(name) as found:
                if checksum_of(found) != file["checksum"]:
                    return None
        return record

    def _record(self, job: str, number: int) -> dict[str, Any] | None:
        """The record of a task as it was written; None if it is damaged, or of another task or job."""
        try:
            record = json.loads(self.storage.read(record_name(number)) or b"")
            is_whole = record.pop("seal") == _seal(job, record) and record["number"] == number
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        return dict(record) if is_whole else None

    def check_alone(self, job: str) -> None:
        """Raise `ArgumentError` if the folder now belongs to another job: without locks, two jobs can begin in it."""
        plan = self.plan()
        if plan is None or identity(plan) != job:
            raise ArgumentError(
                f"another job has begun in {self.storage.name} while this one ran, and both have written there: "
                "name another folder, or wait until nothing writes there and say --overwrite (overwrite=True)"
            )

    def finish(self, manifest: bytes, records: Mapping[int, Mapping[str, Any]]) -> None:
        """Force the files of all records to the disk, then write the manifest. The job is then done."""
        self.storage.force(file["name"] for record in records.values() for file in record["files"])
        self.storage.write(MANIFEST, manifest)
        self.storage.force(())

    def tidy(self, count: int) -> None:
        """Remove what only a running job needs."""
        for name in sorted(self.storage.names()):
            if name.startswith("done/") and _is_ours(name, count):
                self.storage.remove(name)


def _is_ours(name: str, count: int) -> bool:
    """Whether a job of that many tasks has written this file for one of them, or has begun to write it."""
    found = _OF_TASK.fullmatch(name) or _RECORD.fullmatch(name)
    return int(found[1]) < count if found else _UNFINISHED.fullmatch(name) is not None


def _plan(data: bytes, url: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and value.get("format") == _FORMAT and isinstance(value.get("tasks"), list):
        return value
    raise ArgumentError(f"{url}/{PLAN} is not a plan that polytok wrote, or is damaged: name a new folder")


def _object(data: bytes, url: str, name: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{url}/{name} is damaged: {error}; --overwrite begins anew") from error
    if not isinstance(value, dict):
        raise FormatError(f"{url}/{name} is damaged: it is no object; --overwrite begins anew")
    return value
