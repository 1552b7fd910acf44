"""Tests the inputs of corpus jobs: the expansion of names, and the detection of changed files."""

from __future__ import annotations

import errno
import importlib
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import polytok
from local_server import Answer, Server, redirect, send, serving, truncated_answer
from polytok import ArgumentError, FileError, InputOptions
from polytok.corpus.documents import documents
from polytok.corpus.plan import Plan, plan
from polytok.corpus.sources import Source, sources
from polytok.reading import remote
from polytok.reading.names import read_name_list

LINES = InputOptions(lines=True)


def source_names(sources: tuple[Source, ...]) -> list[str]:
    return [os.path.basename(source.name) for source in sources]


def read_plan(planned: Plan, input_options: InputOptions = LINES) -> list[bytes | None]:
    parts = [part for task in planned.tasks for part in task.parts]
    blocks = [block for part in parts for block in documents(part, planned.sources[part.source], input_options)]
    return [text for block in blocks for text in block.texts.to_list()]


def test_names_patterns_and_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("b.txt", "a.txt", "deep/c.txt", "deep/er/d.txt", "[e].txt"):
        (tmp_path / name).write_text("text")
    monkeypatch.chdir(tmp_path)
    assert source_names(sources(["b.txt", Path("a.txt")])) == ["b.txt", "a.txt"]
    assert source_names(sources("[ab].txt")) == ["a.txt", "b.txt"]
    assert source_names(sources("[e].txt")) == ["[e].txt"]
    assert source_names(sources("**/*.txt")) == ["[e].txt", "a.txt", "b.txt", "c.txt", "d.txt"]
    assert sources("a.txt") == sources(tmp_path / "a.txt") == sources(f"file://{tmp_path}/a.txt")
    assert sources("a.txt")[0].name == str(tmp_path / "a.txt")
    Path("list").write_text("b.txt\n\n[a].txt\n")
    assert source_names(sources(read_name_list("list"))) == ["b.txt", "a.txt"]


def test_invalid_inputs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("out", "empty"):
        (tmp_path / name).mkdir()
    for name in ("a.txt", "out/b.txt"):
        (tmp_path / name).write_text("text")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.txt").symlink_to(tmp_path / "out" / "b.txt")
    monkeypatch.chdir(tmp_path)
    invalid_inputs: list[tuple[Any, type[Exception], str]] = [
        ([], ArgumentError, "no input"),
        ("*.csv", ArgumentError, r"no file matches '\*\.csv'"),
        (["a.txt", "*.txt"], ArgumentError, r"a\.txt is named twice"),
        ("-", ArgumentError, "standard input"),
        ("pipe", ArgumentError, "pipe is not a regular file"),
        ("empty", ArgumentError, "no file is in the folder 'empty'"),
        ("absent", FileError, "cannot read.*absent"),
        ("nobody://a", ArgumentError, "cannot open nobody://a"),
    ]
    for inputs, kind, message in invalid_inputs:
        with pytest.raises(kind, match=message):
            sources(inputs)
    assert [source.name for source in sources("out")] == [str(tmp_path / "out" / "b.txt")]
    for inputs in ("out", "out/*", "link.txt"):
        with pytest.raises(ArgumentError, match="in the output folder"):
            plan(inputs, output_folder="out")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/c.txt").write_text("text")
    for inputs in ("in", Path("in"), "./in/", "in/**", "in/**/*.json", f"file://{tmp_path}/in"):
        for folder in ("in/new", "in/new/er", f"file://{tmp_path}/in/new"):
            with pytest.raises(ArgumentError, match="is in the input folder .*in.*: choose another output folder"):
                plan(inputs, output_folder=folder)
    for inputs in ("in/*", "in/**/*.txt", "in/c.txt"):
        assert plan(inputs, output_folder="in/new").tasks and plan(inputs, output_folder="inner").tasks
    assert plan("a.txt", output_folder="out").tasks and plan("out/b.txt", output_folder="ou").tasks
    with pytest.raises(FileError, match="list of files"):
        read_name_list("absent")
    with pytest.raises(ArgumentError, match="shard_size=0"):
        plan("a.txt", shard_size=0)


def test_a_file_that_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    planned = plan(path, LINES)
    os.utime(path, ns=(1, 1))
    with pytest.raises(FileError, match=r"changed since the job was planned.*a\.txt"):
        read_plan(planned)
    planned = plan(path, LINES)
    blocks = documents(planned.tasks[0].parts[0], planned.sources[0], LINES)
    next(blocks)
    with open(path, "a") as file:
        file.write("three")
    with pytest.raises(FileError, match="changed since"):
        list(blocks)
    path.unlink()
    with pytest.raises(FileError, match=r"cannot read.*a\.txt"):
        read_plan(planned)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_file_that_a_pipe_has_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    planned = plan(path, LINES)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(FileError, match=r"changed since the job was planned.*a\.txt"):
        read_plan(planned)


def test_folders_that_are_nested_deeply(tmp_path: Path) -> None:
    nested_folders = [f"{tmp_path}/a{'/b' * depth}" for depth in range(1200)]
    for folder in nested_folders:
        os.mkdir(folder)
    path = Path(nested_folders[-1], "x.txt")
    path.write_text("x")
    try:
        assert [source.name for source in sources(tmp_path / "a")] == [str(path)]
        with pytest.raises(ArgumentError, match="nested too deeply: name the folder, without"):
            sources(tmp_path / "a/**")
    finally:  # pytest cannot remove such folders
        path.unlink()
        for folder in reversed(nested_folders):
            os.rmdir(folder)


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(FileError, match="cannot read: Permission denied") as error_info:
        sources(tmp_path)
    assert error_info.value.filename == str(tmp_path)


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that cannot be read")
def test_a_file_that_cannot_be_read() -> None:
    with pytest.raises(FileError, match="cannot read: .*/proc/self/mem"):
        read_plan(plan("/proc/self/mem", LINES))


@pytest.fixture
def memory() -> Iterator[Any]:
    """Returns fsspec's file system in memory."""
    files = pytest.importorskip("fsspec").filesystem("memory")
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]


def test_urls(memory: Any, tmp_path: Path) -> None:
    lines = [f"line {number}".encode() for number in range(1000)]
    for name in ("/in/b.txt", "/in/a.txt", "/in/deep/c.txt"):
        memory.pipe(name, b"\n".join(lines))
    planned = plan("memory://in/*.txt", LINES, 1000)
    assert source_names(planned.sources) == ["a.txt", "b.txt"] and len(planned.tasks) == 18
    assert read_plan(planned) == lines * 2
    assert read_plan(plan("memory://in/b.txt", LINES)) == lines
    memory.pipe("/in/a.txt", b"else")
    with pytest.raises(FileError, match=r"changed since the job was planned.*memory://"):
        read_plan(planned)
    with pytest.raises(FileError, match="cannot read: No such file.*in/absent"):
        plan("memory://in/absent")
    with pytest.raises(FileError, match="folder"):
        plan("memory://in/deep")
    with pytest.raises(ArgumentError, match="in the output folder"):
        plan("memory://in/*.txt", output_folder="memory://in/")
    with pytest.raises(ArgumentError, match=r"no file matches 'memory://in/\*\.csv'"):
        plan("memory://in/*.csv")
    url = "memory://in/b.txt"
    assert polytok.count_words(url, split=r"\w+", input_options=LINES).words("most_frequent").to_list()[0] == (
        b"line",
        1000,
    )


def test_without_fsspec_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_import(name: str) -> None:
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(importlib, "import_module", fail_import)
    with pytest.raises(ArgumentError, match=r"polytok\[remote\]"):
        sources("s3://bucket/a.txt")


@pytest.fixture
def web() -> Iterator[Server]:
    pytest.importorskip("aiohttp")
    with serving() as server:
        yield server


def answer_ranges(body: bytes, stamp: str) -> Any:
    """Returns an answer that sends the requested range of bytes."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        start, _, end = handler.headers.get("Range", "").removeprefix("bytes=").partition("-")
        byte_range = slice(int(start), int(end) + 1) if start else slice(None)
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(body[byte_range])))
        handler.send_header("Accept-Ranges", "bytes")
        handler.send_header("ETag", stamp)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{end}/{len(body)}")
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body[byte_range])

    return answer


def test_files_of_a_web_server(web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"line {number}".encode() for number in range(5000)]
    body = b"\n".join(lines)
    monkeypatch.setattr(remote, "_READ_AHEAD_BYTES", 5000)
    web.answers["/ranges.txt"] = answer_ranges(body, '"one"')
    web.answers["/whole.txt"] = lambda handler: send(handler, body, ETag='"one"')
    ranges_url, whole_url = (f"{web.address}/{name}.txt" for name in ("ranges", "whole"))
    assert len(plan(ranges_url, LINES, 10_000).tasks) == 5 and len(plan(whole_url, LINES, 10_000).tasks) == 1
    for url in (ranges_url, whole_url):
        assert read_plan(plan(url, LINES, 10_000)) == lines
    planned = plan(ranges_url, LINES)
    answer = web.answers["/ranges.txt"] = answer_ranges(body, '"two"')
    with pytest.raises(FileError, match=r"changed since.*one.*two"):
        read_plan(planned)
    planned = plan(ranges_url, LINES)
    web.answers["/ranges.txt"] = lambda handler: (
        handler.send_error(503) if handler.command == "GET" else answer(handler)
    )
    with pytest.raises(FileError, match=r"cannot read.*ranges\.txt"):
        read_plan(planned)
    with pytest.raises(FileError, match=r"cannot read.*absent"):
        plan(f"{web.address}/absent.txt")


def test_errors_of_a_web_server_are_not_missing_files(web: Server) -> None:
    web.answers["/a.txt"] = lambda handler: handler.send_error(503)
    with pytest.raises(FileError, match="503, message='Service Unavailable'"):
        plan(f"{web.address}/a.txt")
    web.answers["/a.txt"] = redirect("/a.txt")
    with pytest.raises(FileError, match=r"cannot read.*a\.txt") as error_info:
        plan(f"{web.address}/a.txt")
    assert error_info.value.errno == errno.EIO
    with pytest.raises(FileError, match=os.strerror(errno.ENOENT)) as error_info:
        plan(f"{web.address}/absent.txt")
    assert error_info.value.errno == errno.ENOENT
    with serving() as stopped_server:
        pass
    with pytest.raises(FileError, match="Connect call failed") as error_info:
        plan(f"{stopped_server.address}/a.txt")
    assert error_info.value.errno == errno.ECONNREFUSED


def never_answer(_handler: BaseHTTPRequestHandler) -> None:
    time.sleep(3)


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Announces ten terabytes and sends twenty bytes in a second."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(10**13))
    handler.end_headers()
    with suppress(OSError):
        while handler.command != "HEAD":
            handler.wfile.write(b"a")
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (never_answer, "cannot read: Timeout on reading"),
        (drip, r"cannot read: only \d+ bytes arrived in \d+ seconds; copy the file to this machine"),
        (truncated_answer(b"a" * 100), "cannot read: .*payload is not completed"),
        (redirect("file:///etc/passwd"), "cannot read: file:///etc/passwd"),
    ],
    ids=["silent", "slow", "truncated", "to a file"],
)
def test_hostile_web_servers(web: Server, monkeypatch: pytest.MonkeyPatch, answer: Answer, message: str) -> None:
    monkeypatch.setattr(remote, "_SILENT_SECONDS", 1.0)
    monkeypatch.setattr(remote, "_SLOW_SECONDS", 1.5)
    web.answers["/a.txt"] = answer
    with pytest.raises(FileError, match=message):
        read_plan(plan(f"{web.address}/a.txt"))


def test_a_slow_request_for_a_range_says_so(web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_SLOW_SECONDS", 0.3)
    web.answers["/a.txt"] = drip
    with (
        pytest.raises(FileError, match=r"cannot read: the server did not answer in time \(FSTimeoutError\)"),
        remote.open_url(f"{web.address}/a.txt", can_seek=True) as file,
        remote.translate_errors("a.txt"),
    ):
        file.read()


def test_a_file_that_arrives_steadily_can_take_any_time(web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def send_steadily(handler: BaseHTTPRequestHandler) -> None:
        send(handler, b"", length=10 * 2**16)
        for _ in range(10 if handler.command == "GET" else 0):
            handler.wfile.write(b"a" * 2**16)
            time.sleep(0.2)

    monkeypatch.setattr(remote, "_SLOW_SECONDS", 1.0)
    web.answers["/a.txt"] = send_steadily
    assert read_plan(plan(f"{web.address}/a.txt")) == [b"a" * (10 * 2**16)]


def test_the_limits_of_fsspecs_configuration_come_first(web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec.config
    from aiohttp import ClientTimeout

    monkeypatch.setattr(remote, "_SILENT_SECONDS", 0.1)
    web.answers["/a.txt"] = lambda handler: (time.sleep(0.3), send(handler, b"text"))[1]
    with pytest.raises(FileError, match="Timeout on reading"):
        plan(f"{web.address}/a.txt")
    monkeypatch.setitem(fsspec.config.conf, "https", {"client_kwargs": {"timeout": ClientTimeout(total=9)}})
    assert read_plan(plan(f"{web.address}/a.txt")) == [b"text"]
