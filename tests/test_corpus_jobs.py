"""Tests jobs: planning, running, killing and continuing; the final folder is always the same."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import corpus_kills
from corpus_work import REFUSED, WORK
from polytok import ArgumentError, FileError, FormatError, PolytokError
from polytok.corpus.job import AlreadyFinishedEvent, Job, JobStartEvent
from polytok.corpus.journal import Journal
from polytok.corpus.run.base import Assignment, TaskDoneEvent, TaskProgram, TaskRetryEvent
from polytok.corpus.run.local import LocalRunner
from polytok.corpus.status import job_status
from polytok.corpus.storage import FolderStorage, open_storage


def job(folder: Path | str, count: int = 6, header: dict[str, Any] | None = None, **details: Any) -> Job:
    """Returns a job of ``count`` tasks; the details of a task contain its number."""
    tasks = [{"number": number, **details} for number in range(count)]
    assignments = tuple(Assignment(task["number"], 100 - task["number"], task) for task in tasks)

    def manifest(records: dict[int, Any]) -> bytes:
        return json.dumps({"tasks": [records[number] for number in sorted(records)]}).encode()

    place = open_storage(folder)
    return Job(
        place, TaskProgram(WORK, {"storage": place.url}), header or {"version": 1}, assignments, manifest, b"tokenizer"
    )


def run(job_to_run: Job, workers: int = 2, overwrite: bool = False) -> list[Any]:
    events: list[Any] = []
    job_to_run.run(LocalRunner(workers), overwrite=overwrite, on_event=events.append)
    return events


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_folder_is_the_same_for_any_number_of_workers(tmp_path: Path, workers: int) -> None:
    run(job(tmp_path / "one"), workers=1)
    events = run(job(tmp_path / "many"), workers=workers)
    assert {event.number for event in events if isinstance(event, TaskDoneEvent)} == set(range(6))
    actual = contents(tmp_path / "many")
    assert actual == contents(tmp_path / "one")
    assert sorted(actual) == sorted(
        ["plan.json", "dataset.json", "tokenizer.ptok", *(f"0000{n}.bin" for n in range(6))]
    )


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "deaths2").write_text("xx")
    (tmp_path / "deaths4").write_text("x")
    events = run(job(tmp_path / "out"))
    assert sorted(event.number for event in events if isinstance(event, TaskRetryEvent)) == [2, 2, 4]
    assert {event.reason for event in events if isinstance(event, TaskRetryEvent)} == {"SIGKILL"}
    run(job(tmp_path / "one"), workers=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


def test_a_task_that_kills_its_workers_ends_the_job(tmp_path: Path) -> None:
    (tmp_path / "deaths3").write_text("xxx")
    with pytest.raises(PolytokError, match="the worker of task 3 died 3 times, the last time with SIGKILL"):
        run(job(tmp_path / "out"))
    run(job(tmp_path / "out"), workers=1)
    run(job(tmp_path / "one"), workers=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


def begin_job(folder: Path, workers: int = 1, **details: Any) -> None:
    """Runs a job whose last task fails."""
    mishap = folder.parent / "error5"
    mishap.write_text("so it is")
    with pytest.raises(ArgumentError, match="so it is"):
        run(job(folder, **details), workers)
    mishap.unlink()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_task_is_raised_and_finished_shards_remain(tmp_path: Path, workers: int) -> None:
    begin_job(tmp_path / "out", workers)
    assert (tmp_path / "out/plan.json").exists() and not (tmp_path / "out/dataset.json").exists()
    events = run(job(tmp_path / "out"), workers=1)
    assert len(next(event for event in events if isinstance(event, JobStartEvent)).remaining_assignments) < 6
    assert not (tmp_path / "out/done").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_refused_memory_stops_a_job_and_finished_shards_remain(
    tmp_path: Path, workers: int, capfd: pytest.CaptureFixture[str]
) -> None:
    error = tmp_path / "error5"
    error.write_text(REFUSED)
    with pytest.raises(MemoryError, match=REFUSED):
        run(job(tmp_path / "out"), workers)
    assert "Traceback" not in capfd.readouterr().err
    error.unlink()
    run(job(tmp_path / "out"))
    run(job(tmp_path / "whole"))
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


FOREIGN = b'{"files": [{"name": "../x", "bytes": 1, "checksum": ""}]}'


def remove_record_field(folder: Path) -> None:
    path = folder / "done/00001.json"
    record = json.loads(path.read_bytes())
    del record["documents"]
    path.write_text(json.dumps(record))


def write_foreign_record(folder: Path) -> None:
    """Writes the record and shard of the same task from a job with another plan."""
    begin_job(folder.parent / "other", writes=2)
    for name in ("00001.bin", "done/00001.json"):
        (folder.parent / "other" / name).rename(folder / name)


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: (folder / "00001.bin").write_bytes(b"x"),
        lambda folder: (folder / "00001.bin").write_bytes(bytes(1000)),
        lambda folder: (folder / "00001.bin").unlink(),
        lambda folder: (folder / "done/00001.json").write_bytes(b"{"),
        lambda folder: (folder / "done/00001.json").write_bytes(FOREIGN),
        lambda folder: (folder / "done/00001.json").unlink(),
        remove_record_field,
        write_foreign_record,
    ],
    ids=["cut off", "other bytes", "lacking", "half a record", "foreign record", "no record", "no field", "other job"],
)  # fmt: skip
def test_a_shard_that_differs_from_its_record_is_written_again(tmp_path: Path, harm: Callable[[Path], Any]) -> None:
    begin_job(tmp_path / "out")
    harm(tmp_path / "out")
    (tmp_path / "out/.00005.bin.1f2e3d4c").write_bytes(b"half")
    (tmp_path / "out/00005.bin").write_bytes(b"half")
    remaining_count = next(
        event for event in run(job(tmp_path / "out"), workers=1) if isinstance(event, JobStartEvent)
    ).remaining_assignments
    assert [assignment.number for assignment in remaining_count] == [1, 5]
    run(job(tmp_path / "one"), workers=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


class UnreadableFile:
    """An open file whose reads fail with an error of no class of polytok."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __enter__(self) -> UnreadableFile:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, _: int) -> bytes:
        raise self.error


def test_an_error_of_reading_a_shard_again_is_a_file_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory")
    begin_job(tmp_path / "out")
    with monkeypatch.context() as patch:
        error = OSError(errno.EIO, "Input/output error")
        patch.setattr("polytok.corpus.storage.open", lambda *_: UnreadableFile(error), raising=False)
        with pytest.raises(FileError, match=r"cannot read: Input/output error: .*out/00000\.bin"):
            run(job(tmp_path / "out"), workers=1)
    store = open_storage("memory://unreadable/out")
    store.write("00000.bin", b"data")
    with monkeypatch.context() as patch:
        patch.setattr(memory.MemoryFileSystem, "open", lambda *_: UnreadableFile(RuntimeError("connection reset")))
        with (
            pytest.raises(FileError, match="cannot read: RuntimeError: connection reset: .*out/00000.bin"),
            store.open("00000.bin") as file,
        ):
            file.read(1)


def test_the_plan_and_its_name_are_on_the_disk_before_the_first_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def record_fsync(descriptor: int) -> None:
        steps.append("force folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "force file")
        fsync(descriptor)

    def record_replace(source: Any, target: Any) -> None:
        steps.append(Path(target).name)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(os, "replace", record_replace)
    run(job(tmp_path / "out", count=1), workers=1)
    assert steps[:3] == ["force file", "plan.json", "force folder"]
    assert steps[-3:] == ["force file", "dataset.json", "force folder"]


def test_removing_a_job_forces_its_manifest_first_and_its_plan_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(job(tmp_path / "out", count=2), workers=1)
    steps: list[str] = []
    store = open_storage(tmp_path / "out")
    remove = store.remove
    monkeypatch.setattr(store, "remove", lambda name: (steps.append(name), remove(name)))
    monkeypatch.setattr(store, "force", lambda names: steps.append("force"))
    assert Journal(store).remove_job()
    shards = ["00000.bin", "00001.bin"]
    assert steps == ["dataset.json", "force", *shards, "tokenizer.ptok", "force", "plan.json", "force"]


def test_a_plan_that_another_process_has_just_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FolderStorage(tmp_path)
    journal = Journal(store)
    read, names = store.read, []

    def read_late(name: str) -> bytes | None:
        names.append(name)
        return None if names == [name] else read(name)

    assert journal.create_plan({"tasks": []})
    monkeypatch.setattr(store, "read", read_late)
    assert journal.read_plan() == json.loads(read("plan.json") or b"")


def test_a_wrong_tokenizer_in_the_folder_is_written_again(tmp_path: Path) -> None:
    begin_job(tmp_path / "out")
    (tmp_path / "out/tokenizer.ptok").write_bytes(b"another")
    run(job(tmp_path / "out"), workers=1)
    assert (tmp_path / "out/tokenizer.ptok").read_bytes() == b"tokenizer"


def test_a_job_whose_folder_another_job_has_taken_fails() -> None:
    fsspec = pytest.importorskip("fsspec")
    first_job, second_job = (job("memory://place/of-two", header={"version": version}) for version in (1, 2))

    def record_event(event: Any) -> None:
        if isinstance(event, JobStartEvent):
            with pytest.raises(ArgumentError, match="holds another job"):
                run(second_job, workers=1)
            run(second_job, workers=1, overwrite=True)

    with pytest.raises(ArgumentError, match="another job has begun in memory://place/of-two while this job ran"):
        first_job.run(LocalRunner(1), on_event=record_event)
    assert json.loads(fsspec.filesystem("memory").cat_file("/place/of-two/plan.json"))["version"] == 2


def test_another_job_is_refused_with_what_differs(tmp_path: Path) -> None:
    begin_job(tmp_path / "out")
    header = {"version": 1, "options": {"eos": 2}}
    with pytest.raises(ArgumentError, match='options: missing → {"eos": 2}'):
        run(job(tmp_path / "out", header=header))
    run(job(tmp_path / "out", header=header), workers=1, overwrite=True)
    with pytest.raises(ArgumentError, match="options: eos: 2 → 3"):
        run(job(tmp_path / "out", header={"version": 1, "options": {"eos": 3}}))


def test_a_job_without_finished_tasks_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "error0").write_text("at once")
    with pytest.raises(ArgumentError, match="at once"):
        run(job(tmp_path / "out"), workers=1)
    (tmp_path / "error0").unlink()
    run(job(tmp_path / "out", header={"version": 2}), workers=1)
    run(job(tmp_path / "one", header={"version": 2}), workers=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_fails_at_once_leaves_nothing(tmp_path: Path, workers: int) -> None:
    for number in range(6):
        (tmp_path / f"error{number}").write_text("at once")
    with pytest.raises(ArgumentError, match="at once"):
        run(job(tmp_path / "new"), workers)
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    with pytest.raises(ArgumentError, match="at once"):
        run(job(tmp_path / "old"), workers)
    assert (tmp_path / "old").exists() and not contents(tmp_path / "old")


def test_a_finished_job_with_a_damaged_manifest_remains(tmp_path: Path) -> None:
    run(job(tmp_path / "out"), workers=1)
    (tmp_path / "out/dataset.json").write_text("{")
    files = contents(tmp_path / "out")
    with pytest.raises(FormatError, match="dataset.json is damaged"):
        run(job(tmp_path / "out"), workers=1)
    assert contents(tmp_path / "out") == files


@pytest.mark.parametrize("tasks", [[1], [None], [{}], [{"number": 1}], [{"number": 0, "parts": [{}]}], {"a": 1}])
def test_the_status_of_a_damaged_plan_is_an_error(tmp_path: Path, tasks: Any) -> None:
    run(job(tmp_path / "out"), workers=1)
    plan = json.loads((tmp_path / "out/plan.json").read_text())
    (tmp_path / "out/plan.json").write_text(json.dumps(plan | {"tasks": tasks}))
    with pytest.raises(ArgumentError, match="is damaged: name a new folder"):
        job_status(tmp_path / "out")


def test_a_finished_job_is_not_done_again(tmp_path: Path) -> None:
    run(job(tmp_path / "out"), workers=1)
    assert run(job(tmp_path / "out")) == [AlreadyFinishedEvent(6)]


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    for name in ("thesis.txt", "00000.bin", "tokenizer.ptok", ".00000"):
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).write_text("years of work")
        for overwrite in (False, True):
            with pytest.raises(ArgumentError, match=rf"holds other files \({name}\)"):
                run(job(folder), overwrite=overwrite)
        assert contents(folder) == {name: b"years of work"}


def test_overwriting_removes_only_files_of_jobs(tmp_path: Path) -> None:
    begin_job(tmp_path / "out")
    for name in ("00000.txt", "notes", ".hidden"):
        (tmp_path / "out" / name).write_text("mine")
    run(job(tmp_path / "out", header={"version": 2}), workers=1, overwrite=True)
    run(job(tmp_path / "one", header={"version": 2}), workers=1)
    user_files = dict.fromkeys(["00000.txt", "notes", ".hidden"], b"mine")
    assert contents(tmp_path / "out") == {**contents(tmp_path / "one"), **user_files}


@pytest.mark.parametrize("overwrite", [False, True], ids=["go on", "overwrite"])
@pytest.mark.parametrize(
    "plan", [b'{"plan": "of the house"}', b'{"version": 1, "tasks": []}', b"[]", b"\xff"], ids=repr
)
def test_a_plan_of_another_program_is_refused(tmp_path: Path, plan: bytes, overwrite: bool) -> None:
    files = {"plan.json": plan, "00000.bin": b"mine", "00000.npy": b"mine", "tokenizer.ptok": b"mine"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ArgumentError, match="plan.json is not a plan that polytok wrote"):
        run(job(tmp_path), overwrite=overwrite)
    assert contents(tmp_path) == files


def test_files_of_unknown_tasks_remain(tmp_path: Path) -> None:
    begin_job(tmp_path / "out")
    (tmp_path / "out/00006.bin").write_bytes(b"mine")
    run(job(tmp_path / "out"))
    run(job(tmp_path / "out", header={"version": 2}), overwrite=True)
    assert (tmp_path / "out/00006.bin").read_bytes() == b"mine"


def test_a_shard_without_a_record_prevents_another_job(tmp_path: Path) -> None:
    begin_job(tmp_path / "out")
    shutil.rmtree(tmp_path / "out/done")
    with pytest.raises(ArgumentError, match="holds another job"):
        run(job(tmp_path / "out", header={"version": 2}))
    assert (tmp_path / "out/00000.bin").exists()


def start_process(folder: Path, statement: str) -> subprocess.Popen[bytes]:
    """Starts Python with the test's modules, in a process group of its own."""
    code = f"from pathlib import Path; from test_corpus_jobs import *; folder = Path({str(folder)!r}); {statement}"
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        start_new_session=True,
        stderr=subprocess.PIPE,
    )


def wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


SLOW = "run(job(folder, count=4, seconds=0.05, writes=20))"


def test_two_jobs_do_not_write_one_folder_and_workers_end_with_their_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_process = start_process(tmp_path / "out", SLOW)
    wait_for(lambda: list((tmp_path / "out").glob(".0*")))
    with monkeypatch.context() as short_patience:
        short_patience.setattr("polytok.corpus.lock._TIMEOUT_SECONDS", 0)
        with pytest.raises(ArgumentError, match="another job is writing"):
            run(job(tmp_path / "out"))
    first_process.kill()
    first_process.communicate()
    run(job(tmp_path / "out", count=4, seconds=0.05, writes=20))  # waits until the workers have ended
    run(job(tmp_path / "one", count=4, seconds=0.05, writes=20), workers=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


@pytest.mark.parametrize("exists", [False, True])
def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path, exists: bool) -> None:
    folder, outside_folder = tmp_path / "out", tmp_path / "outside"
    folder.mkdir()
    if exists:
        outside_folder.write_bytes(b"kept")
    (folder / ".lock").symlink_to(outside_folder)
    with pytest.raises(FileError, match="this is a symbolic link"):
        run(job(folder))
    assert (outside_folder.read_bytes() if outside_folder.exists() else None) == (b"kept" if exists else None)


def test_workers_ignore_ctrl_c_from_their_start(tmp_path: Path) -> None:
    first_process = start_process(tmp_path / "out", SLOW)
    wait_for(lambda: corpus_kills.children(first_process.pid))
    for _ in range(20):
        for worker in corpus_kills.children(first_process.pid):
            os.kill(worker, signal.SIGINT)
        time.sleep(0.02)
    assert (first_process.communicate()[1], first_process.returncode) == (b"", 0)


def test_ctrl_c_ends_the_job_and_its_workers(tmp_path: Path) -> None:
    first_process = start_process(tmp_path / "out", SLOW)
    wait_for(lambda: list((tmp_path / "out").glob(".0*")))
    os.killpg(first_process.pid, signal.SIGINT)
    assert b"KeyboardInterrupt" in first_process.communicate()[1]
    with pytest.raises(ProcessLookupError):
        os.killpg(first_process.pid, 0)
    assert not (tmp_path / "out/.lock").exists()


def test_all_files_are_on_disk_before_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records the file of each `fsync` and the target of each rename; the manifest's rename must be last."""
    synced_files: list[str] = []
    sync, replace = os.fsync, os.replace

    def recorded_sync(descriptor: int) -> None:
        synced_files.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        sync(descriptor)

    def recorded_replace(source: Any, target: Any) -> None:
        if Path(target).name == "dataset.json":
            assert {f"0000{number}.bin" for number in range(6)} <= set(synced_files)
            synced_files.clear()
        replace(source, target)

    monkeypatch.setattr(os, "fsync", recorded_sync)
    monkeypatch.setattr(os, "replace", recorded_replace)
    run(job(tmp_path / "out"), workers=1)
    assert synced_files == ["out"]
