"""Tests that the command never replaces an input, and replaces other files only with --overwrite."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import polytok
from polytok.cli import main

LISTING = "\n".join(f"{byte + 1} {bytes([byte])!r} 1" for byte in range(256)) + "\n257 'the' 3\n"
# The arguments of each verb that writes a file; {out} is the output.
CALLS = {
    "encode": "encode -m v.txt en.txt -o {out}",
    "encode npy": "encode -m v.txt en.txt --to npy -o {out}",
    "vocab": "vocab -m v.txt --never-used en.txt -o {out}",
    "convert": "convert v.txt {out} --to ptok",
    "convert -m": "convert -m v.txt {out} en.txt --to ptok",
    "convert folder": "convert folder {out} --to ptok",
    "edit": "edit v.txt -o {out} --to rwkv --add list.txt --remove-least-used 1 en.txt",
    "edit map": "edit v.txt -o new.txt --to rwkv --add list.txt --id-map {out}",
    "train": "train en.txt --vocab-size 258 -o {out} --to ptok",
    "train longest": "train en.txt --kind longest-match --forced-files list.txt --vocab-size 258 -o {out} --to ptok",
    "count-words": "count-words --files-from names.txt -o {out}",
    "count-words job": "count-words en.txt --workers 1 -o {out}",
}
INPUTS = ("v.txt", "en.txt", "list.txt", "names.txt", "folder/v.txt")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the current folder, with a tokenizer and texts."""
    (tmp_path / "v.txt").write_text(LISTING)
    (tmp_path / "en.txt").write_text("the theme of the thesis\n" * 9)
    (tmp_path / "list.txt").write_text("thesis\n")
    (tmp_path / "names.txt").write_text("en.txt\n")
    (tmp_path / "folder").mkdir()
    polytok.load("default").save(tmp_path / "folder/tokenizer.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(name: str, out: str, *options: str) -> int:
    try:
        return main([*CALLS[name].format(out=out).split(), *options, *(["-q"] if "count" in name else [])])
    except SystemExit as error:
        return int(error.code or 0)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["convert", "convert -m", "train"])
@pytest.mark.parametrize("out", ["missing/", "folder"])
def test_a_folder_is_not_a_file_to_write(name: str, out: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    assert call(name, out) == 2
    assert f"{out} is a folder: name a file in it, such as" in capsys.readouterr().err
    assert contents(folder) == before


@pytest.mark.parametrize("name", CALLS)
def test_an_existing_file_is_replaced_only_with_overwrite(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "old").write_text("something else")
    old_contents = contents(folder)
    assert call(name, "old") == 2
    assert "old exists: choose another name, or replace the file with --overwrite" in capsys.readouterr().err
    assert contents(folder) == old_contents
    assert call(name, "old", "--overwrite") == 0
    assert (folder / "old").read_text(errors="replace") != "something else"


@pytest.mark.parametrize("name", CALLS)
def test_an_empty_file_is_replaced(name: str, folder: Path) -> None:
    (folder / "empty").touch()
    assert call(name, "empty") == 0 and (folder / "empty").stat().st_size


@pytest.mark.parametrize("name", CALLS)
def test_missing_folders_are_created(name: str, folder: Path) -> None:
    assert call(name, "new/folder/out") == 0 and (folder / "new/folder/out").stat().st_size


@pytest.mark.parametrize("name", CALLS)
def test_a_refused_command_creates_no_folder(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for input in ("en.txt", "v.txt"):
        (folder / input).unlink()
    shutil.rmtree(folder / "folder")
    old_contents = contents(folder)
    assert call(name, "missing/folder/out") == 2
    assert not (folder / "missing").exists() and contents(folder) == old_contents


@pytest.mark.parametrize("name", CALLS)
def test_a_folder_that_cannot_be_created_is_an_error(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(name, "names.txt/folder/out") == 2
    error = "names.txt/folder: cannot create the folder: names.txt is not a folder"
    assert error in capsys.readouterr().err


def test_datasets_are_written_to_new_folders(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenize = ["tokenize", "-m", "v.txt", "-q", "--json-log", "new/logs/log.jsonl"]
    assert main([*tokenize, "en.txt", "-o", "new/tokens"]) == 0
    assert (folder / "new/tokens/dataset.json").is_file() and (folder / "new/logs/log.jsonl").stat().st_size
    assert main(["corpus", "merge", "new/tokens", "new/tokens", "-o", "merged/two/twice"]) == 0
    assert main(["corpus", "export", "new/tokens", "-o", "exported/one/train"]) == 0
    assert main(["corpus", "mix", "new/tokens=1", "-o", "mixed/one/mixture", "-q"]) == 0
    shutil.rmtree(folder / "new/logs")
    assert main([*tokenize, "missing.txt", "-o", "other/tokens"]) == 2
    (folder / "new/tokens/00000.bin").unlink()
    assert main(["corpus", "merge", "new/tokens", "-o", "other/two/twice"]) == 2
    assert main(["corpus", "export", "new/tokens", "-o", "other/one/train"]) == 2
    assert not (folder / "other").exists() and not (folder / "new/logs").exists()


@pytest.mark.parametrize("name", CALLS)
def test_an_input_is_never_replaced(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = CALLS[name].split()
    shutil.rmtree("other", ignore_errors=True)
    os.mkdir("other")
    inputs = [word for word in arguments if word in INPUTS] or ["folder/tokenizer.json"]
    for input in [*inputs, *(["en.txt"] if "names.txt" in arguments else [])]:
        os.symlink(folder / input, "other/link")
        os.link(folder / input, "other/hard")
        old_contents = contents(folder)
        for out in (input, f"./other/../{input}", str(folder / input), "other/link", "other/hard"):
            assert call(name, out, "--overwrite") == 2
            assert "is also an input" in capsys.readouterr().err
            assert contents(folder) == old_contents
        os.unlink("other/link")
        os.unlink("other/hard")


def test_the_log_of_tokenize_is_no_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokenize", "-m", "v.txt", "en.txt", "-o", "tokens", "--json-log", "en.txt", "-q"]) == 2
    assert "is also an input" in capsys.readouterr().err and not (folder / "tokens").exists()


def test_an_output_in_an_input_folder_would_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "texts").mkdir()
    (folder / "texts/a.txt").write_text("the")
    for out in ("texts/out.txt", "texts/../texts/out.txt"):
        assert main(["encode", "-m", "v.txt", "texts", "-o", out]) == 2
        assert "is in the input folder texts" in capsys.readouterr().err
    assert sorted(os.listdir("texts")) == ["a.txt"]


def test_a_file_beside_an_output_is_checked_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "words.vocab").write_text("the theme of the thesis")
    arguments = ["train", "words.vocab", "--vocab-size", "258", "--to", "minbpe", "-o", "words.model"]
    assert main(arguments) == 2
    assert "words.vocab is also an input" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 2
    assert not (folder / "words.model").exists()
    assert (folder / "words.vocab").read_text() == "the theme of the thesis"


def test_two_outputs_have_different_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = ["train", "en.txt", "--vocab-size", "258", "--to", "ptok"]
    for arguments in ([*train, "-o", "a", "-o", "./a"], ["edit", "v.txt", "-o", "a", "--id-map", "a"]):
        assert main(arguments) == 2
        assert "a would be written twice: choose different names" in capsys.readouterr().err


def test_export_replaces_files_only_with_overwrite(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokenize", "-m", "v.txt", "en.txt", "-o", "tokens", "-q"]) == 0
    (folder / "train.idx").write_text("something else")
    arguments = ["corpus", "export", "tokens", "-o", "train", "-q"]
    assert main(arguments) == 2 and "train.idx exists" in capsys.readouterr().err
    assert not (folder / "train.bin").exists()
    assert main([*arguments, "--overwrite"]) == 0 and (folder / "train.bin").stat().st_size
