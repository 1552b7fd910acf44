"""Tests the verbs that read texts and ids, in a process of their own: outputs, inputs, bytes."""

from __future__ import annotations

import gzip
import io
import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polytok
from cli_process import ENVIRONMENT, TEXT, command, error_of, run
from local_server import serving
from polytok.cli import main

pytest_plugins = ("cli_fixtures",)


# encode


def test_encode_ids(model: Path, text: Path) -> None:
    ids = polytok.load(model).encode(TEXT)
    expected = (" ".join(map(str, ids)) + "\n").encode()
    assert run("encode", "-m", model, text) == expected
    assert run("encode", "-m", model, stdin=TEXT.encode()) == expected
    assert run("encode", "-m", model, "-", text, stdin=TEXT.encode()) == expected * 2


def test_encode_lines(model: Path, text: Path) -> None:
    rows = run("encode", "-m", model, "--lines", text).decode().split("\n")
    assert [list(map(int, row.split())) for row in rows[:-1]] == [
        polytok.load(model).encode(line) for line in TEXT.split("\n")
    ]
    assert run("encode", "-m", model, "--lines", stdin=b"") == b""
    assert run("encode", "-m", model, "--lines", stdin=b"\n\n") == b"\n\n"
    assert run("encode", "-m", model, stdin=b"") == b"\n"


def test_encode_json(model: Path, text: Path) -> None:
    tokens = polytok.load(model).tokens(TEXT)
    record = json.loads(run("encode", "-m", model, "--to", "json", text))
    assert record["ids"] == [token.id for token in tokens]
    assert record["pieces"] == [token.piece.decode() for token in tokens]
    assert record["spans"] == [[token.start, token.end] for token in tokens]
    assert record["byte_spans"] == [[token.byte_start, token.byte_end] for token in tokens]
    lines = run("encode", "-m", model, "--to", "json", "--lines", text).splitlines()
    assert len(lines) == TEXT.count("\n") + 1
    assert all(json.loads(line)["ids"] is not None for line in lines)


def test_json_pieces_that_are_not_utf8_are_bytes(ranks: list[str]) -> None:
    record = json.loads(run("encode", *ranks, "--to", "json", stdin=b"a\xff"))
    assert record["pieces"] == ["a", [255]]


def test_encode_pieces(ranks: list[str]) -> None:
    assert run("encode", *ranks, "--to", "pieces", stdin=b"a \n\\\xff") == "a ␣ \\n \\\\ \\xff\n".encode()


def test_special_tokens_and_pieces_have_colours(ranks: list[str]) -> None:
    colored = run("encode", *ranks, "--to", "pieces", "--color=always", "--special=all", stdin=b"ab<|end|>").decode()
    first, second, special = (part[: part.index("m")] for part in colored.split("\x1b[")[1::2])
    assert len({first, second, special}) == 3
    for options in (["--color=auto"], ["--color=never"]):
        assert b"\x1b" not in run("encode", *ranks, "--to", "pieces", *options, stdin=b"ab")


@pytest.mark.parametrize(
    ("options", "variables", "is_colored"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"TERM": "dumb"}, False),
        (["--color=never"], {}, False),
        (["--color=always"], {"NO_COLOR": "1"}, True),
    ],
)
def test_a_terminal(ranks: list[str], options: list[str], variables: dict[str, str], is_colored: bool) -> None:
    """In a terminal the pieces are shown, with or without colours."""
    our_end, their_end = pty.openpty()
    process = subprocess.Popen(
        command("encode", *ranks, *options), stdin=subprocess.PIPE, stdout=their_end, env={**ENVIRONMENT, **variables}
    )
    process.communicate(b"a b", timeout=60)
    os.close(their_end)
    shown_bytes = os.read(our_end, 10_000)
    os.close(our_end)
    assert process.returncode == 0
    assert "␣".encode() in shown_bytes
    assert (b"\x1b[" in shown_bytes) == is_colored


def test_encode_npy(model: Path, text: Path, tmp_path: Path) -> None:
    expected = polytok.load(model).encode_array(TEXT)
    out = tmp_path / "ids.npy"
    assert run("encode", "-m", model, text, "-o", out) == b""
    for array in (np.load(out), np.load(io.BytesIO(run("encode", "-m", model, "--to", "npy", text)))):
        assert array.dtype == expected.dtype
        assert np.array_equal(array, expected)
    run("encode", "-m", model, "--to", "npy", "--lines", text, text, "-o", out, "--overwrite")
    lines = polytok.load(model).encode_batch(TEXT.split("\n") * 2)
    assert np.array_equal(np.load(out), lines.ids)
    run("encode", "-m", model, "--lines", "-o", out, "--overwrite")
    assert np.load(out).shape == (0,)


def test_encode_reads_a_long_text_in_parts(tmp_path: Path) -> None:
    path, out = tmp_path / "long.txt", tmp_path / "ids.npy"
    text = "".join(f"Zeile {number}: héllo wörld, 世界!\n" for number in range(250_000))  # more than two parts
    path.write_text(text, encoding="utf-8")
    expected = polytok.load("default").encode_array(text, add_special=True)
    run("encode", "--add-special", path, "-o", out)
    assert np.array_equal(np.load(out), expected)
    lines = run("encode", "--add-special", path, "--text", "a").split(b"\n")
    assert [line.split(b" ") for line in lines[:2]] == [[b"97"], [b"%d" % id for id in expected.tolist()]]


def test_output_files_are_replaced_completely_or_not_at_all(model: Path, text: Path, tmp_path: Path) -> None:
    out = tmp_path / "ids.txt"
    run("encode", "-m", model, text, "-o", out)
    old_content = out.read_bytes()
    assert old_content == run("encode", "-m", model, text)
    assert "no-such-file" in error_of("encode", "-m", model, text, "no-such-file", "-o", out, "--overwrite")
    assert out.read_bytes() == old_content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.txt", "text.txt"]
    assert str(out / "no") in error_of("encode", "-m", model, text, "-o", out / "no" / "ids.npy")
    assert run("encode", "-m", model, text, "-o", "/dev/null") == b""
    assert not Path("/dev/null").is_file()


def test_special_tokens(ranks: list[str], model: Path) -> None:
    stdin = b"<|end|>"
    plain_ids = " ".join(map(str, stdin)).encode() + b"\n"
    assert run("encode", *ranks, stdin=stdin) == plain_ids
    for option in ("all", "<|end|>"):
        assert run("encode", *ranks, "--special", option, stdin=stdin) == b"256\n"
        assert run("encode", *ranks, "--special", option, "--reject-special", stdin=stdin) == b"256\n"
    error = error_of("encode", *ranks, "--reject-special", stdin=stdin)
    assert "--special '<|end|>' or --special all, or encode it as plain text with no --reject-special" in error
    assert "not a special token" in error_of("encode", *ranks, "--special", "<|no|>", stdin=stdin)
    bos = polytok.load(model).bos_id
    assert run("encode", "-m", model, "--add-special", stdin=b"").decode() == f"{bos}\n"


# decode


@pytest.mark.parametrize(
    "stdin", [b"97 98 10", b"[97, 98, 10]", b"97,98,\t10", b"97\n98\n\n10\n", b" [ 97 98\r\n10 ] "]
)
def test_decode_text(ranks: list[str], stdin: bytes) -> None:
    assert run("decode", *ranks, stdin=stdin) == b"ab\n"


def test_decode_is_exact_for_bytes(ranks: list[str], tmp_path: Path) -> None:
    data = bytes(range(256)) * 3 + "日".encode() * 2
    path = tmp_path / "data"
    path.write_bytes(data)
    ids = run("encode", *ranks, path)
    assert run("decode", *ranks, stdin=ids) == data
    run("encode", *ranks, path, "-o", tmp_path / "ids.npy")
    assert run("decode", *ranks, tmp_path / "ids.npy") == data
    assert run("decode", *ranks, stdin=(tmp_path / "ids.npy").read_bytes()) == data
    assert run("decode", *ranks, "--errors", "replace", stdin=ids) == data.decode(errors="replace").encode()
    assert run("decode", *ranks, "--errors", "ignore", stdin=ids) == data.decode(errors="ignore").encode()
    assert "utf-8" in error_of("decode", *ranks, "--errors", "strict", stdin=ids)


def test_lines_round_trip(model: Path) -> None:
    stdin = b"one\n\n two \nthree\r\n"
    ids = run("encode", "-m", model, "--lines", stdin=stdin)
    assert run("decode", "-m", model, "--lines", stdin=ids) == stdin


@pytest.mark.parametrize("ids", [["97", "98"], ["97 98"], ["97,98"], ["[97, 98]"], ["97", "--ids", "98"]])
def test_decode_ids_of_the_command_line(ranks: list[str], ids: list[str], tmp_path: Path) -> None:
    assert run("decode", *ranks, "--ids", *ids) == b"ab"
    (tmp_path / "ids").write_text("99")
    assert run("decode", tmp_path / "ids", *ranks, "--ids", *ids) == b"abc"
    error = error_of("decode", *ranks, *(word for word in ids if word != "--ids"))
    assert error == f"polytok: {ids[0]}: no such file; for ids on the command line, use --ids 97 98\n"


def test_decode_lines_and_json_of_ids(ranks: list[str]) -> None:
    assert run("decode", *ranks, "--lines", "--ids", "97", "98", "--ids", "99") == b"ab\nc\n"
    assert json.loads(run("decode", *ranks, "--json", "--ids", "97")) == [{"file": "--ids", "text": "a"}]
    assert error_of("decode", *ranks, "--ids", "x").startswith("polytok: --ids: after byte 0: 'x' is not an id")


def test_decode_skips_special(ranks: list[str]) -> None:
    assert run("decode", *ranks, stdin=b"97 256 98") == b"a<|end|>b"
    assert run("decode", *ranks, "--skip-special", stdin=b"97 256 98") == b"ab"


@pytest.mark.parametrize("separator", ["\n", " ", ","])
def test_decode_large_text(ranks: list[str], separator: str, tmp_path: Path) -> None:
    """Tests that numbers are not split at the end of a block."""
    data = bytes(np.random.default_rng(1).integers(0, 256, 1_000_000, dtype=np.uint8))
    path = tmp_path / "ids"
    path.write_text(separator.join(map(str, data)))
    assert run("decode", *ranks, path) == data


def test_decode_writes_text_as_ids_arrive(ranks: list[str]) -> None:
    process = subprocess.Popen(
        command("decode", *ranks), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"97 9")
    process.stdin.flush()
    assert process.stdout.read(1) == b"a"
    process.stdin.write(b"8")
    process.stdin.close()
    assert process.stdout.read() == b"b"
    assert process.wait(60) == 0
    process.stdout.close()


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize("dtype", ["u1", "<i8", ">u4", "i4"])
def test_decode_npy_types(ranks: list[str], dtype: str) -> None:
    assert run("decode", *ranks, stdin=npy(np.array([97, 98], dtype=dtype))) == b"ab"


@pytest.mark.parametrize("data", [npy(np.array([97, 98])), b"[97, 98]"])
def test_decode_reads_urls(data: bytes, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://decode/ids", "wb") as file:
        file.write(data)
    with serving() as server:
        server.answers["/ids"] = data
        assert main(["decode", "memory://decode/ids", f"{server.address}/ids"]) == 0
    assert capfdbinary.readouterr().out == b"abab"


@pytest.mark.parametrize(
    "stdin",
    [
        b"97 x",
        b"-1",
        b"1.5",
        b"9" * 40,
        b"9" * 3_000_000,
        b"999",
        "１".encode(),
        npy(np.array([-1])),
        npy(np.zeros(2)),
        npy(np.zeros((2, 2), dtype=int)),
        npy(np.array([97] * 9))[:-3],
        b"\x93NUMPY",
        b"\x93NUMPY\x09\x00",
    ],
)
def test_decode_refuses(ranks: list[str], stdin: bytes) -> None:
    assert error_of("decode", *ranks, stdin=stdin).startswith("polytok: ")


# count


def test_count(model: Path, text: Path, tmp_path: Path) -> None:
    other_path = tmp_path / "other.txt"
    other_path.write_bytes(b"dog")
    tokenizer = polytok.load(model)
    tokens = [tokenizer.count(TEXT), tokenizer.count("dog")]
    report = json.loads(run("count", "-m", model, "--json", text, other_path))
    assert [row["tokens"] for row in report["rows"]] == [{str(model): count} for count in tokens]
    assert report["total"]["tokens"] == {str(model): sum(tokens)}
    assert report["total"]["characters"] == len(TEXT) + 3
    assert report["total"]["bytes"] == len(TEXT.encode()) + 3
    assert [row["file"] for row in report["rows"]] == [str(text), str(other_path)]
    table = run("count", "-m", model, text, other_path).decode().splitlines()
    assert [row.split()[2] for row in table[1:]] == [*map(str, tokens), str(sum(tokens))]
    assert run("count", "-m", model).decode().splitlines()[1].split() == ["0", "0", "0", "-", "-"]
    lines = json.loads(run("count", "-m", model, "--json", "--lines", "--add-special", text))["total"]
    assert lines["tokens"][str(model)] == sum(tokenizer.count(line, add_special=True) for line in TEXT.split("\n"))


def test_count_with_several_tokenizers(model: Path, text: Path) -> None:
    expected = [polytok.load(model).count(TEXT), polytok.load("default").count(TEXT)]
    report = json.loads(run("count", "-m", model, "-m", "default", "--json", text))
    assert list(report["total"]["tokens"].items()) == [(str(model), expected[0]), ("default", expected[1])]
    twice = run("count", "-m", "default", "-m", "default", text)
    assert twice == run("count", "-m", "default", text)
    head, row = run("count", "-m", model, "-m", "default", text).decode().splitlines()
    assert head.split() == ["bytes", "characters", model.name, "bytes/token", "default", "bytes/token", "file"]
    assert row.split()[2::2] == [*map(str, expected), str(text)]
    assert "--format would apply to all tokenizers" in error_of(
        *("count", "-m", model, "-m", "default", "--format", "sentencepiece", text), code=2
    )


def test_count_by_folder_and_field(tmp_path: Path) -> None:
    for name, content in (("a/one.txt", "x"), ("a/b/two.txt", "xy"), ("a/b/three.log", "z"), ("c/four.txt", "")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "a/.gitignore").write_text("*.log\n")
    rows = json.loads(run("count", "--json", "--by", "folder", tmp_path))["rows"]
    assert [(Path(row["folder"]).name, row["bytes"]) for row in rows] == [("b", 2), ("a", 1), ("c", 0)]
    lines = [{"text": "x", "lang": "en"}, {"text": "yy", "lang": "de"}, {"text": "zzz"}, {"text": "é", "lang": "en"}]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    rows = json.loads(run("count", "--json", "--by", "lang", path))["rows"]
    assert [(row["value"], row["bytes"], row["characters"]) for row in rows] == [
        ("en", 3, 2),
        ("de", 2, 2),
        ("(none)", 3, 3),
    ]


def test_hidden_files_of_a_folder_are_not_read(tmp_path: Path) -> None:
    for name in ("a.txt", ".hidden", ".git/config", ".cache/b.txt", "c/.d.txt", "c/e.txt", ".gitignore"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("e.txt\n" if name == ".gitignore" else "x")

    def names(argument: str) -> list[str]:
        rows = json.loads(run("count", "--json", f"{tmp_path}/{argument}"))["rows"]
        return [str(Path(row["file"]).relative_to(tmp_path)) for row in rows]

    assert names("") == ["a.txt"]
    assert names("**") == ["a.txt", "c/e.txt"]
    assert names(".h*") == names(".hidden") == [".hidden"]
    assert names(".cache") == [".cache/b.txt"]


@pytest.mark.parametrize(("message", "printed"), [("no room", "no room"), ("", "the system refused memory")])
def test_refused_memory_is_an_error_without_a_traceback(
    message: str, printed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MemoryError(message)

    monkeypatch.setattr(polytok.Tokenizer, "count_batch", refuse)
    monkeypatch.setattr(polytok.Tokenizer, "count", refuse)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a text")))
    assert main(["count"]) == 2
    assert capsys.readouterr().err.startswith(f"polytok: {printed}")


def test_the_repository_excludes_files_of_a_subfolder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("repo/.git/config", "repo/texts/a.txt", "repo/texts/b.log", "repo/texts/in/c.tmp", "repo/out/d.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "repo/.gitignore").write_text("*.log\n/texts/in/*\nout/\n")
    (tmp_path / ".gitignore").write_text("*.txt\n")  # outside the repository

    def names(argument: str) -> list[str]:
        return [Path(row["file"]).name for row in json.loads(run("count", "--json", argument))["rows"]]

    assert names(f"{tmp_path}/repo") == names(f"{tmp_path}/repo/texts") == ["a.txt"]
    assert names(f"{tmp_path}/repo/out") == ["d.log"]  # a folder that is named itself
    error = error_of("count", f"{tmp_path}/repo/texts/in", code=2)
    assert f"{tmp_path}/repo/texts/in/c.tmp (in {tmp_path}/repo/.gitignore)" in error
    assert f"write a pattern such as '{tmp_path}/repo/texts/in/*'" in error
    monkeypatch.chdir(tmp_path / "repo/texts")
    assert names(".") == ["a.txt"]


def test_a_folder_of_hidden_files(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f".{number}").touch()
    error = error_of("count", tmp_path, code=2)
    assert f"everything in the folder '{tmp_path}' is left out: {tmp_path}/.0 (hidden), " in error
    assert f"{tmp_path}/.2 (hidden) and 2 more; to read such files, name them" in error


def test_count_with_a_maximum(text: Path) -> None:
    assert f"{text}: " in error_of("count", "--max", "3", text, code=1)
    run("count", "--max", "1000", text)


def test_the_maximum_is_for_each_text_and_each_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a", "lang": "en"}\n{"text": "b c d e", "lang": "en"}\n')
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        polytok.train(["abcde"], vocab_size=256).save(tmp_path / folder / "tokenizer.json")
    models = [argument for folder in ("x", "y") for argument in ("-m", f"{tmp_path}/{folder}/tokenizer.json")]
    run("count", "--max", "7", path, *models)
    for by in ("file", "lang"):
        message = error_of("count", "--by", by, "--max", "6", path, *models, code=1)
        for folder in ("x", "y"):
            assert f"polytok: {path}:2: 7 tokens of {folder}/tokenizer.json, more than 6" in message


def test_a_file_that_is_named_twice_is_counted_once(text: Path) -> None:
    arguments = ("count", text, f"{text.parent}/./{text.name}", "--json")
    assert f"{text.name} is named twice and read once" in error_of(*arguments, code=0)


# inputs


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_inputs_of_every_kind_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"texts.jsonl{suffix}"
    data = b'{"a": {"b": "one"}}\n{"a": {"b": "two"}}\n'
    path.write_bytes(gzip.compress(data) if suffix else data)
    expected = "".join(f"{' '.join(map(str, polytok.load('default').encode(text)))}\n" for text in ("one", "two"))
    for arguments in ((path,), (f"{tmp_path}/*.jsonl*",), (tmp_path,)):
        assert run("encode", "--field", "a.b", *arguments).decode() == expected
    (tmp_path / "list").write_text(f"{path}\n")
    assert run("encode", "--field", "a.b", "--files-from", tmp_path / "list").decode() == expected
    assert run("encode", "--text", "one", "--text", "two").decode() == expected


def test_skipped_texts_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b'{"text": "one"}\n{"txt": "two"}\n')
    assert "--bad-records skip skips such records" in error_of("count", path)
    process = subprocess.run(command("count", "--bad-records", "skip", path), capture_output=True, env=ENVIRONMENT)
    assert process.returncode == 0
    assert process.stderr.decode() == f"polytok: 1 text was skipped\n  no field 'text': 1, e.g. at {path}:2\n"
