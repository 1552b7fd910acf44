"""Tests documents by index in any kind of dataset, their inputs, and the status of unfinished jobs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polytok
from polytok import ArgumentError, FileError, corpus
from polytok.cli import main
from polytok.cli.continuing import continuing_command
from polytok.corpus.permutation import permute
from polytok.corpus.run import local

KINDS = ["megatron", "flat", "npy", "parquet", "arrow"]
TOKENIZER = polytok.load("default")


def write_inputs(folder: Path) -> dict[str, str]:
    """Writes three files of lines, and returns the file of each line."""
    sources = {}
    for name in ("a", "b", "c"):
        lines = [f"{name} line {number} 漢字" for number in range(40)]
        path = folder / f"{name}.txt"
        path.write_text("\n".join(lines), "utf-8")
        sources.update(dict.fromkeys(lines, str(path)))
    return sources


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(list(map(str, arguments)))
    return code, capsys.readouterr().out


# Documents by index


@pytest.mark.parametrize("shuffle", [0, 16])
@pytest.mark.parametrize("kind", KINDS)
def test_every_document_has_its_input(tmp_path: Path, kind: str, shuffle: int) -> None:
    sources = write_inputs(tmp_path)
    out = tmp_path / "out"
    options: dict[str, Any] = {"lines": True, "to": kind, "shuffle": shuffle, "seed": 2**64 - 1, "shard_size": 900}
    corpus.tokenize(f"{tmp_path}/*.txt", TOKENIZER, out, workers=1, **options)
    documents = list(corpus.read_documents(out, range(120)))
    texts = [TOKENIZER.decode(document.ids) for document in documents]
    assert [document.index for document in documents] == list(range(120)) and set(texts) == set(sources)
    assert [document.source for document in documents] == [sources[text] for text in texts]
    (last,) = corpus.read_documents(out, [-1])
    assert last.index == 119 and last.ids.tolist() == documents[-1].ids.tolist()
    for index in (120, -121):
        with pytest.raises(IndexError, match=f"document {index} is out of range: the dataset has 120 documents"):
            list(corpus.read_documents(out, [index]))
    merged = corpus.merge([out, out], tmp_path / "merged")
    assert len(merged.sources) == 6 and corpus.verify(tmp_path / "merged") == ()
    merged_sources = [document.source for document in corpus.read_documents(tmp_path / "merged", range(240))]
    assert merged_sources == [document.source for document in documents] * 2


def test_columns_are_shown_with_their_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [{"text": f"text {number}", "url": f"u{number}"} for number in range(30)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    corpus.tokenize(tmp_path / "a.jsonl", TOKENIZER, tmp_path / "out", to="parquet", columns=["url"], workers=1)
    (document,) = corpus.read_documents(tmp_path / "out", [7])
    assert dict(document.columns) == {"url": "u7"} and TOKENIZER.decode(document.ids) == "text 7"
    assert "url: u7" in run(capsys, "corpus", "show", tmp_path / "out", "--doc", 7)[1]


def test_the_document_at_a_token_position_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("one two\nto be or not to be\n")
    out = tmp_path / "out"
    corpus.tokenize(tmp_path / "a.txt", TOKENIZER, out, lines=True, documents=True, workers=1)
    first_length = len(corpus.open(out)[0])
    arguments = ("corpus", "show", out, "--position", 0, "--position", first_length + 1)
    code, output = run(capsys, *arguments)
    assert code == 0 and "[document 0, " in output and "[document 1, " in output
    assert "token 0 one, " in output and "token 1 ␣be, " in output and "position: 8" in output
    assert [value["offset"] for value in json.loads(run(capsys, *arguments, "--json")[1])] == [0, 1]
    assert run(capsys, "corpus", "show", out, "--position", 99)[0] == 2
    assert run(capsys, "corpus", "show", out, "--position", 0, "--seed", 1)[0] == 2


def test_samples_are_different_documents(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    corpus.tokenize(f"{tmp_path}/*.txt", TOKENIZER, tmp_path / "out", lines=True, workers=1)
    samples = [[document.index for document in corpus.sample(tmp_path / "out", 9, seed=seed)] for seed in range(60)]
    assert all(indices == sorted(set(indices)) and len(indices) == 9 for indices in samples)
    assert corpus.sample(tmp_path / "out", 9, seed=3)[0].index == samples[3][0]
    assert len(corpus.sample(tmp_path / "out", 500)) == 120 and corpus.sample(tmp_path / "out", 0) == []
    assert len({index for indices in samples for index in indices}) > 110
    with pytest.raises(ArgumentError, match="sample=-1"):
        corpus.sample(tmp_path / "out", -1)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 4096, 4097, 10_000])
def test_permutations(count: int) -> None:
    images = permute(range(count), count, 5, 1)
    assert sorted(images.tolist()) == list(range(count))
    assert images[count // 2] == permute([count // 2], count, 5, 1)[0]
    if count > 7:
        assert images.tolist() != permute(range(count), count, 5, 2).tolist() != list(range(count))


@pytest.mark.parametrize("count", [6, 5000])
def test_permutations_are_uniform(count: int) -> None:
    """Compares where numbers go with equal chances, by a chi-square test of 25 degrees of freedom."""
    cells, positions = np.zeros((6, 6)), np.arange(count) * 6 // count
    for seed in range(3000 // count + 100):
        np.add.at(cells, (positions, permute(range(count), count, seed) * 6 // count), 1)
    expected = cells.sum() / 36
    assert ((cells - expected) ** 2 / expected).sum() < 60


# The command


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources, out = write_inputs(tmp_path), tmp_path / "out"
    corpus.tokenize(f"{tmp_path}/*.txt", TOKENIZER, out, lines=True, eos="auto", workers=1)
    code, output = run(capsys, "corpus", "show", out, "--doc", 0, "--doc", -1)
    assert code == 0 and output.startswith(f"[document 0, 9 tokens, {tmp_path}/a.txt]\na line 0 漢字<|endoftext|>\n")
    assert "[document 119," in output and "c line 39" in output
    assert "␣line ␣ 0" in run(capsys, "corpus", "show", out, "--doc", 0, "--tokens")[1]
    code, output = run(capsys, "corpus", "show", out, "--sample", 4, "--seed", 1, "--json", "--tokens")
    values = json.loads(output)
    assert code == 0 and len(values) == 4
    for value in values:
        assert value["source"] == sources[value["text"].removesuffix("<|endoftext|>")]
        assert value["tokens"] == len(value["ids"]) == len(value["pieces"])
    assert len(run(capsys, "corpus", "show", out)[1].split("[document")) == 6
    assert main(["corpus", "show", str(out), "--doc", "120"]) == 2
    assert "document 120 is out of range" in capsys.readouterr().err


def test_show_escapes_control_characters_and_limits_long_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("one\n\ttwo\x1b[2J" + "x" * 3000)
    corpus.tokenize(tmp_path / "a.txt", TOKENIZER, tmp_path / "out", workers=1)
    output = run(capsys, "corpus", "show", tmp_path / "out")[1]
    assert "one\n\ttwo\\u001b[2J" in output and "\x1b" not in output
    assert output.rstrip().endswith("x… (1,012 more characters)")


@pytest.mark.parametrize(("subverb", "options"), [("verify", []), ("merge", ["-o"]), ("export", ["-o"])])
def test_reports_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str], subverb: str, options: list[str]) -> None:
    write_inputs(tmp_path)
    corpus.tokenize(f"{tmp_path}/*.txt", TOKENIZER, tmp_path / "out", lines=True, workers=1)
    names = [*options, tmp_path / "new"] if options else []
    code, output = run(capsys, "corpus", subverb, tmp_path / "out", "--json", *names)
    value = json.loads(output)
    assert code == 0
    if subverb == "merge":
        assert value["totals"]["documents"] == 120
    else:
        assert [file["name"] for file in value] == (["new.bin", "new.idx"] if subverb == "export" else [])


# Unfinished jobs


def interrupt_job(
    inputs: object, out: Path, monkeypatch: pytest.MonkeyPatch, task_count: int = 2, **options: Any
) -> None:
    """Runs a job until ``task_count`` of its tasks are done."""
    done_events = []

    class Interruption(Exception):
        pass

    def stop(event: Any) -> None:
        done_events.append(event)
        if sum(isinstance(event, local.TaskDoneEvent) for event in done_events) == task_count:
            raise Interruption

    run_tasks = local._run_in_this_process

    def run_some(program: Any, assignments: Any, listen: Any) -> None:
        run_tasks(program, assignments, lambda event: (listen(event), stop(event)))

    with monkeypatch.context() as patch:
        patch.setattr(local, "_run_in_this_process", run_some)
        with pytest.raises(Interruption):
            corpus.tokenize(inputs, TOKENIZER, out, workers=1, **options)


def test_the_status_of_an_unfinished_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_inputs(tmp_path)
    out = tmp_path / "out"
    options: dict[str, Any] = {"lines": True, "eos": "<|endoftext|>", "shuffle": 7, "shard_size": 400}
    interrupt_job(f"{tmp_path}/*.txt", out, monkeypatch, **options)
    status = corpus.job_status(out)
    assert status.tasks_done == 2 and status.tasks == 6 and 0 < status.input_bytes_done < status.input_bytes
    assert 0 < status.documents < 120 and status.tokens > status.documents
    with pytest.raises(FileError, match="the job in this folder is not finished.*polytok corpus info"):
        corpus.open(out)
    assert "tasks      2 of 6 done" in run(capsys, "corpus", "info", out)[1]
    value = json.loads(run(capsys, "corpus", "info", out, "--json")[1])
    assert value["finished"] is False and value["documents"] == status.documents
    assert value["continue"] == continuing_command(status.plan, out)
    assert run(capsys, *shlex.split(value["continue"])[1:], "--workers", 1, "-q")[0] == 0
    assert corpus.open(out).documents == 120 and corpus.verify(out) == ()
    status, totals = corpus.job_status(out), corpus.open(out).manifest.totals
    assert (status.tasks_done, status.tasks, status.input_bytes_done) == (6, 6, status.input_bytes)
    assert (status.documents, status.tokens, status.text_bytes) == (120, totals.tokens, totals.text_bytes)


def test_a_continued_job_shows_what_is_done_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_inputs(tmp_path)
    out, calls, running = tmp_path / "out", [], []
    options: dict[str, Any] = {"lines": True, "shard_size": 400}
    interrupt_job(f"{tmp_path}/*.txt", out, monkeypatch, **options)
    status = corpus.job_status(out)
    assert not status.running and "unfinished job" in run(capsys, "corpus", "info", out)[1]

    def report_progress(stage: str, done: int, total: int) -> None:
        calls.append((stage, done, total))
        running.append(corpus.job_status(out).running and run(capsys, "corpus", "info", out)[1])

    corpus.tokenize(f"{tmp_path}/*.txt", TOKENIZER, out, workers=1, progress=report_progress, **options)
    counts = [(done, total) for stage, done, total in calls if stage == "tokenizing"]
    assert counts[0] == (status.input_bytes_done, status.input_bytes)
    assert counts[-1] == (status.input_bytes, status.input_bytes)
    assert all(text.startswith("running job") and "continue" not in text for text in running)


def test_the_command_that_continues_a_job_has_all_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    for number in range(60):
        (tmp_path / f"in/{number}.txt").write_text(f"text {number}")
    interrupt_job(tmp_path / "in", tmp_path / "out", monkeypatch, shard_size=40)
    command = shlex.split(continuing_command(corpus.job_status(tmp_path / "out").plan, tmp_path / "out"))
    assert len([word for word in command if word.endswith(".txt")]) == 60
    assert main([*command[1:], "--workers", "1", "--quiet"]) == 0


def test_commands_that_continue_a_job_have_all_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a b.jsonl").write_text('{"c": "one", "u": "x"}\n' * 40)
    options: dict[str, Any] = {
        "field": "c", "bad_records": "skip", "special": "all", "to": "parquet", "columns": ["u"], "min_tokens": 1,
        "max_tokens": 9, "long_documents": "split", "shard_size": 100, "seed": 4,
    }  # fmt: skip
    interrupt_job(tmp_path / "a b.jsonl", tmp_path / "out", monkeypatch, **options)
    command = continuing_command(corpus.job_status(tmp_path / "out").plan, tmp_path / "out")
    assert main([*shlex.split(command)[1:], "--workers", "1", "--quiet"]) == 0
    (tmp_path / "a.txt").write_text("one\n\ntwo\n\nthree\n\nfour")
    interrupt_job(
        tmp_path / "a.txt", tmp_path / "two", monkeypatch, separator="e\n", special=["<|endoftext|>"], shard_size=6
    )
    command = continuing_command(corpus.job_status(tmp_path / "two").plan, tmp_path / "two")
    assert main([*shlex.split(command)[1:], "--workers", "1", "--quiet"]) == 0


def test_a_folder_without_a_job_has_no_status(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no job has written this folder"):
        corpus.job_status(tmp_path)
