"""The files in a job's folder that record the job's progress.

The job first writes ``plan.json``, which lists the tasks. Each task writes its files and then a record of the files to
``done/``. The job writes the manifest last and then removes the records. So after an interruption, the same command
finds the tasks that are done and does the remaining tasks. Files without a record are incomplete and are removed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError, FormatError, PolytokError
from ..keywords import keyword
from .differences import differences
from .lock import LOCK_NAME
from .storage import Storage
from .write import DOCUMENTS_SUFFIX, RUNS_SUFFIX, WRITERS, checksum_of

PLAN_NAME = "plan.json"
TOKENIZER_NAME = "tokenizer.ptok"
MANIFEST_NAME = "dataset.json"

# The value of the field ``format`` in plans of polytok. A folder whose ``plan.json`` has another value was not written
# by polytok.
_PLAN_FORMAT = "polytok corpus job"

# The names of files that jobs write and can remove: files and records of tasks, and files with a temporary name.
_SHARD_SUFFIXES = sorted(
    {".counts", RUNS_SUFFIX, DOCUMENTS_SUFFIX, *(suffix for writer in WRITERS.values() for suffix in writer.suffixes)}
)
_TASK_FILE_PATTERN = re.compile(rf"([0-9]{{5,}})({'|'.join(map(re.escape, _SHARD_SUFFIXES))})")
_RECORD_PATTERN = re.compile(r"done/([0-9]{5,})\.json")
_TEMPORARY_FILE_PATTERN = re.compile(r"(done/)?\.([0-9]{5,}|plan|dataset|tokenizer)(\.[a-z]+){1,2}\.[0-9a-f]{8}")


def task_file_stem(number: int) -> str:
    """Returns the prefix of the names of a task's files."""
    return f"{number:05d}"


def record_name(number: int) -> str:
    """Returns the name of the file with a task's record."""
    return f"done/{task_file_stem(number)}.json"


def job_identity(plan: Mapping[str, Any]) -> str:
    """Returns a hash that identifies the job with this plan."""
    return hashlib.sha256(to_json({"format": _PLAN_FORMAT, **plan})).hexdigest()


def _record_hash(identity: str, record: Mapping[str, Any]) -> str:
    """Returns a hash over a record and the job's identity."""
    return hashlib.sha256(f"{identity}\n".encode() + to_json(record)).hexdigest()


def to_json(value: Any) -> bytes:
    """Returns a value as indented JSON; equal values give equal text."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


@dataclass(frozen=True, slots=True)
class Journal:
    """The plan, records, tokenizer and manifest in a job's folder."""

    storage: Storage

    def remove_job(self) -> bool:
        """Removes all files of an earlier job. Returns False if the folder has no plan of a job.

        The manifest is removed first and the plan last, and the disk cannot lose this order. So after an interrupted
        removal, the job does not look complete, and the plan still shows that the remaining files belong to a job.
        """
        if (plan := self.read_plan()) is None:
            return False
        other_names = sorted(name for name in self.storage.names() if _is_job_file(name, len(plan["tasks"])))
        for names in ([MANIFEST_NAME], [*other_names, TOKENIZER_NAME], [PLAN_NAME]):
            for name in names:
                self.storage.remove(name)
            self.storage.force(())
        return True

    def remove_job_without_results(self, identity: str) -> None:
        """Removes all files of the job with this identity if none of its tasks is done.

        So a job that ends with an error at once, such as a wrong name of a field, leaves no unfinished job behind.
        Errors are ignored, because another error is being raised.
        """
        with suppress(PolytokError, OSError):
            names = self.storage.names()
            has_records = any(name == MANIFEST_NAME or _RECORD_PATTERN.fullmatch(name) for name in names)
            if not has_records and (plan := self.read_plan()) is not None and job_identity(plan) == identity:
                self.remove_job()

    def read_plan(self) -> dict[str, Any] | None:
        """Returns the plan in the folder, or None if the folder has no plan.

        Raises `ArgumentError` if the folder has files that no job has written.
        """
        if (data := self.storage.read(PLAN_NAME)) is not None:
            return _parse_plan(data, self.storage.name)
        names = self.storage.names()
        if PLAN_NAME in names and (data := self.storage.read(PLAN_NAME)) is not None:
            return _parse_plan(data, self.storage.name)  # another process has written it since the first read
        other_names = sorted(
            name for name in names - {LOCK_NAME, PLAN_NAME} if not _TEMPORARY_FILE_PATTERN.fullmatch(name)
        )
        if other_names:
            raise ArgumentError(
                f"{self.storage.name} holds other files ({', '.join(other_names[:3])}): name a new folder"
            )
        return None

    def is_unfinished(self) -> bool:
        """Reports whether the folder has a plan, but no manifest."""
        return self.storage.read(MANIFEST_NAME) is None and self.storage.read(PLAN_NAME) is not None

    def differences(self, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        """Returns a line for each difference between the plan in the folder and the plan of a new job.

        The tasks follow from the inputs and options. They are compared only if nothing else differs.
        """
        new = json.loads(to_json({"format": _PLAN_FORMAT, **new}))
        return differences(_without_tasks(old), _without_tasks(new)) or differences(old, new)

    def has_results(self) -> bool:
        """Reports whether the folder has a manifest, a record or a file of a task."""
        names = self.storage.names()
        return any(
            name == MANIFEST_NAME or _RECORD_PATTERN.fullmatch(name) or _TASK_FILE_PATTERN.fullmatch(name)
            for name in names
        )

    def create_other_job_error(self, differences: list[str]) -> ArgumentError:
        """Returns the error for a folder that holds another job, with the differences between the plans."""
        lines = "\n  ".join(differences)
        return ArgumentError(
            f"{self.storage.name} holds another job; the differences are, old → new:\n  {lines}\n"
            f"Name a new folder, or delete the files of the other job with {keyword('overwrite', True)}"
        )

    def create_plan(self, plan: dict[str, Any]) -> bool:
        """Writes the plan, which marks the folder as the folder of this job. Returns False if the folder has a plan."""
        return self.storage.create(PLAN_NAME, to_json({"format": _PLAN_FORMAT, **plan}))

    def write_record(self, identity: str, record: Mapping[str, Any]) -> None:
        """Writes the record of a task of this job. The files of the task must already exist.

        The record is not forced to the disk. If a failure of the machine loses or damages the record, the task is done
        again.
        """
        data = to_json({**record, "seal": _record_hash(identity, record)})
        self.storage.write(record_name(record["number"]), data, is_forced=False)

    def store_tokenizer(self, tokenizer: bytes, is_same_tokenizer: Callable[[bytes], bool]) -> None:
        """Writes the tokenizer file, unless the folder already has a file of the same tokenizer."""
        if self.storage.create(TOKENIZER_NAME, tokenizer):
            return
        stored_tokenizer = self.storage.read(TOKENIZER_NAME)
        if stored_tokenizer is None or (stored_tokenizer != tokenizer and not is_same_tokenizer(stored_tokenizer)):
            self.storage.write(TOKENIZER_NAME, tokenizer)

    def read_manifest(self) -> dict[str, Any] | None:
        """Returns the manifest if the job is done, else None."""
        data = self.storage.read(MANIFEST_NAME)
        return None if data is None else _parse_manifest(data, self.storage.name, MANIFEST_NAME)

    def verify_records(
        self, identity: str, count: int, report_progress: Callable[[int, int], object]
    ) -> dict[int, dict[str, Any]]:
        """Returns, by task number, the record of each of the job's ``count`` tasks whose file matches its checksum.

        ``report_progress`` is called with the number of records verified so far and the number of all records.
        """
        names = self.storage.names()
        recorded_numbers = [number for number in range(count) if record_name(number) in names]
        records = {}
        for verified_count, number in enumerate(recorded_numbers):
            report_progress(verified_count, len(recorded_numbers))
            if (record := self._verify_record(identity, number, names)) is not None:
                records[number] = record
        return records

    def read_records(self, plan: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
        """Returns the records of the finished tasks of a plan, by task number, without reading the files of tasks."""
        identity = job_identity(plan)
        records = {number: self._read_record(identity, number) for number in range(len(plan["tasks"]))}
        return {number: record for number, record in records.items() if record is not None}

    def remove_unrecorded_files(self, count: int, records: Mapping[int, Mapping[str, Any]]) -> None:
        """Removes the files of the job's ``count`` tasks that no record in ``records`` lists."""
        recorded_names = {*map(record_name, records)}
        recorded_names.update(file["name"] for record in records.values() for file in record["files"])
        for name in sorted(self.storage.names() - recorded_names):
            if _is_job_file(name, count):
                self.storage.remove(name)

    def _verify_record(self, identity: str, number: int, names: Collection[str]) -> dict[str, Any] | None:
        if (record := self._read_record(identity, number)) is None:
            return None
        for file in record["files"]:
            name = file["name"]
            if name not in names:
                return None
            with self.storage.open(name) as content:
                if checksum_of(content) != file["checksum"]:
                    return None
        return record

    def _read_record(self, identity: str, number: int) -> dict[str, Any] | None:
        """Returns the record of a task; None if the record is damaged or belongs to another task or job."""
        try:
            record = json.loads(self.storage.read(record_name(number)) or b"")
            is_valid = record.pop("seal") == _record_hash(identity, record) and record["number"] == number
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        return dict(record) if is_valid else None

    def check_identity(self, identity: str) -> None:
        """Raises `ArgumentError` if the folder now has the plan of another job.

        If the storage has no locks, another job that overwrites this one can begin while this one runs.
        """
        plan = self.read_plan()
        if plan is None or job_identity(plan) != identity:
            raise ArgumentError(
                f"another job has begun in {self.storage.name} while this job ran, and both have written files: name "
                f"another folder, or wait until no job writes to this one and use {keyword('overwrite', True)}"
            )

    def write_manifest(self, manifest: bytes, records: Mapping[int, Mapping[str, Any]]) -> None:
        """Forces the files of all records to the disk, then writes the manifest, which marks the job as done."""
        self.storage.force(file["name"] for record in records.values() for file in record["files"])
        self.storage.write(MANIFEST_NAME, manifest)

    def remove_records(self, count: int) -> None:
        """Removes the records and temporary files of the job's ``count`` tasks, because a finished job does not need
        them."""
        for name in sorted(self.storage.names()):
            if (name.startswith("done/") or name.endswith(RUNS_SUFFIX)) and _is_job_file(name, count):
                self.storage.remove(name)


def _is_job_file(name: str, count: int) -> bool:
    """Reports whether a job of ``count`` tasks writes a file or temporary file with this name."""
    match = _TASK_FILE_PATTERN.fullmatch(name) or _RECORD_PATTERN.fullmatch(name)
    return int(match[1]) < count if match else _TEMPORARY_FILE_PATTERN.fullmatch(name) is not None


def _parse_plan(data: bytes, url: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and value.get("format") == _PLAN_FORMAT and _are_tasks(value.get("tasks")):
        return value
    raise ArgumentError(f"{url}/{PLAN_NAME} is not a plan that polytok wrote, or is damaged: name a new folder")


def _are_tasks(value: Any) -> bool:
    """Reports whether a JSON value is a list of tasks with the fields that are read without the code of the tasks."""
    return isinstance(value, list) and all(
        isinstance(task, dict)
        and task.get("number") == number
        and isinstance(parts := task.get("parts", []), list)
        and all(isinstance(part, dict) and isinstance(part.get("bytes"), int) for part in parts)
        for number, task in enumerate(value)
    )


def _parse_manifest(data: bytes, url: str, name: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{url}/{name} is damaged: {error}; use {keyword('overwrite', True)} to begin again"
        ) from error
    if not isinstance(value, dict):
        raise FormatError(
            f"{url}/{name} is damaged: it is not a JSON object; use {keyword('overwrite', True)} to begin again"
        )
    return value


def _without_tasks(plan: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plan.items() if name != "tasks"}
