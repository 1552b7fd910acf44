"""The files of a folder with a ``.gitignore`` are those that git lists as untracked."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from polytok.errors import ArgumentError
from polytok.reading.folders import files_in_folder

_FILES = [
    "k.txt",
    "top.txt",
    "foo/k.txt",
    "foo/o.txt",
    "foo/sub/k.txt",
    "foo/sub/deep/k.txt",
    "bar/k.txt",
    "bar/o.txt",
    "zed/k.txt",
    "zed/o.txt",
    "a/foo/k.txt",
    "a/bar/o.txt",
    "a/zed/k.txt",
    "a/zed/x/k.txt",
]
_PATTERNS = {
    "contents of a folder": (
        "/foo/**\n!/foo/k.txt",
        "bar/**\n!bar/k.txt",
        "**/zed/**\n!**/zed/k.txt",
        "foo/**/",
        "foo/**/*\n!foo/k.txt",
        "foo/*\n!foo/k.txt",
        "foo/**/**\n!foo/k.txt",
        "*/**\n!*/k.txt",
    ),
    "folders": (
        "foo/\n!foo/k.txt",
        "*/\n!foo/",
        "*\n!*/\n!*.txt",
        "**\n!*/\n!k.txt",
        "/**\n!/k.txt",
        "zed\n!/zed",
        "foo/k.txt/",
        "/*\n!/foo/\n/foo/**\n!/foo/sub/",
        "a/**\n!a/zed/\n!a/zed/k.txt",
        "foo/**\n!foo/sub/",
    ),
    "stars": (
        "**/k.txt",
        "**/foo/**",
        "a/**/k.txt\n!a/zed/k.txt",
        "a/*/k.txt",
        "[f]**/k.txt",
        "foo/**k.txt",
        "foo/**/sub/**/k.txt",
        "/f**\n!foo/k.txt",
        "foo/?.txt",
        "*.txt\n!k.txt",
        "***",
        "!*",
    ),
    "brackets": (
        "foo/[k-o].txt",
        "foo/[!k].txt",
        "foo[/]k.txt",
        "fo[o/k.txt",
        "fo[o-]",
        "foo/[]k].txt",
        "z[^a]d",
    ),
    "lines": (
        "foo/** \n!foo/k.txt",
        "foo/**\\ ",
        "foo/**\r",
        "#foo\nbar/**",
        "\\!foo",
        "foo/\\**",
        "/",
        "//",
        "foo\\",
        "/foo//k.txt",
        "\ufefffoo/k.txt",
        "  foo/**",
    ),
}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("kind", _PATTERNS)
def test_the_files_are_those_that_git_lists(kind: str, tmp_path: Path) -> None:
    for name in _FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for patterns in _PATTERNS[kind]:
        (tmp_path / ".gitignore").write_text(f"{patterns}\n", "utf-8", newline="")
        assert _names(tmp_path) == _names_of_git(tmp_path), patterns


def test_a_folder_in_an_excluded_folder_is_read_if_it_is_named(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "out/in").mkdir(parents=True)
    (tmp_path / "out/in/a.log").write_text("x")
    (tmp_path / ".gitignore").write_text("out\n*.log\n")
    assert _names(tmp_path / "out/in") == ["a.log"]


def _names(folder: Path) -> list[str]:
    with contextlib.suppress(ArgumentError):  # everything is left out
        return sorted(os.path.relpath(path, folder) for path in files_in_folder(str(folder)))
    return []


def _names_of_git(folder: Path) -> list[str]:
    command = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    output = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in output.split("\0") if name and not name.startswith("."))
