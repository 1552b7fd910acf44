"""Tests jobs on an object store that is a server of its own: S3, as moto implements it."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import corpus_kills
from cli_process import ENVIRONMENT
from polytok import ArgumentError
from polytok.corpus import tokenize

BUCKET = "s3://bucket"
ROWS = 2000


@pytest.fixture(scope="module")
def store() -> Iterator[Any]:
    """Runs a server, and yields fsspec's file system for it. Processes of the test find the server by their
    environment."""
    s3fs, server_module = pytest.importorskip("s3fs"), pytest.importorskip("moto.server")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    variables = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()
        filesystem = s3fs.S3FileSystem()
        filesystem.mkdir("bucket")
        yield filesystem
        s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


@pytest.fixture(scope="module")
def inputs(store: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes the inputs to a local folder and to the store."""
    folder = tmp_path_factory.mktemp("inputs")
    for name in "abc":
        lines = [json.dumps({"text": f"{name} the words of row {row}"}) for row in range(ROWS)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
        store.pipe(f"bucket/in/{name}.jsonl", "\n".join(lines).encode())
    return folder


def contents(store: Any, folder: str) -> dict[str, bytes]:
    store.invalidate_cache()
    return {path.removeprefix(f"bucket/{folder}/"): store.cat_file(path) for path in store.find(f"bucket/{folder}")}


def start(out: str, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "polytok", "tokenize", f"{BUCKET}/in/*.jsonl", "-m", "default", "--quiet"]
    return subprocess.Popen(
        [*command, "--workers", "2", "--shard-size", "20000", "-o", f"{BUCKET}/{out}", *options],
        env={**ENVIRONMENT, **os.environ, "PYTHONPATH": ENVIRONMENT["PYTHONPATH"]},
        stderr=subprocess.PIPE,
    )


@pytest.fixture(scope="module")
def expected(store: Any, inputs: Path) -> dict[str, bytes]:
    """Returns the folder of a job that nothing disturbs."""
    tokenize(f"{BUCKET}/in/*.jsonl", "default", f"{BUCKET}/undisturbed", workers=1, shard_size=20_000)
    return contents(store, "undisturbed")


def test_a_job_reads_and_writes_objects(store: Any, inputs: Path, expected: dict[str, bytes], tmp_path: Path) -> None:
    tokenize(inputs, "default", tmp_path / "out", workers=1, shard_size=20_000)
    local = corpus_kills.contents(tmp_path / "out")
    named_by_input = {"plan.json", "dataset.json"}
    assert local.keys() == expected.keys() and len(local) > 12
    assert {name for name in local if local[name] != expected[name]} == named_by_input


def test_a_killed_job_is_continued(store: Any, expected: dict[str, bytes]) -> None:
    process = start("killed")
    while process.poll() is None and not store.exists("bucket/killed/done"):
        store.invalidate_cache()
    process.kill()
    process.communicate()
    tokenize(f"{BUCKET}/in/*.jsonl", "default", f"{BUCKET}/killed", workers=1, shard_size=20_000)
    assert contents(store, "killed") == expected


def test_two_runs_of_one_job_at_the_same_time(store: Any, expected: dict[str, bytes]) -> None:
    processes = [start("twice") for _ in range(2)]
    errors = [process.communicate()[1].decode() for process in processes]
    assert errors == ["", ""] and contents(store, "twice") == expected


def test_of_two_jobs_in_one_folder_the_second_is_refused(store: Any, expected: dict[str, bytes]) -> None:
    processes = [start("both"), start("both", "--eos")]
    errors = [process.communicate()[1].decode() for process in processes]
    codes = [process.returncode for process in processes]
    assert sorted(codes) == [0, 2], errors
    assert f"{BUCKET}/both holds another job; the differences are" in errors[codes.index(2)]
    options: dict[str, Any] = {"eos": "auto"} if codes[1] == 0 else {}
    tokenize(f"{BUCKET}/in/*.jsonl", "default", f"{BUCKET}/alone", workers=1, shard_size=20_000, **options)
    assert contents(store, "both") == contents(store, "alone")


def test_only_one_of_many_writers_creates_a_plan(store: Any, inputs: Path) -> None:
    def begin(max_tokens: int) -> str:
        try:
            tokenize(
                f"{BUCKET}/in/a.jsonl", "default", f"{BUCKET}/many", workers=1, max_tokens=max_tokens, progress=False
            )
        except ArgumentError as error:
            return str(error)
        return "done"

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(begin, range(3, 7)))
    assert results.count("done") == 1
    assert all("holds another job" in result for result in results if result != "done"), results
    (winner,) = [max_tokens for max_tokens, result in zip(range(3, 7), results, strict=True) if result == "done"]
    tokenize(f"{BUCKET}/in/a.jsonl", "default", f"{BUCKET}/one", workers=1, max_tokens=winner)
    assert contents(store, "many") == contents(store, "one")
