"""Reads the folder of a published model: the tokenizer's file, with the configuration files in the same folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..files import Siblings
from ..spec import Line, Spec

ONE_FILE = (
    *("tokenizer.json", "tekken.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "tiktoken.model"),
    *("qwen.tiktoken", "tokenizer.ptok", "tokenizer.gguf", "vocab.txt"),
)
"""The names of files that contain a whole tokenizer; the first one that is present is read."""
PAIR = ("vocab.json", "merges.txt")
"""The names of two files that are read together if no file of ONE_FILE is present, or only vocab.txt."""


def read_folder(
    folder: Path,
    *,
    name: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    line: Line | None = None,
    read_format: Callable[..., Spec] | None = None,
) -> Spec:
    """Reads the tokenizer of a folder; raises FormatError with the names of the files that were searched."""
    from . import read as read_bytes

    siblings = Siblings(folder)
    options: dict[str, Any] = {"pattern": pattern, "special_tokens": special_tokens, "line": line}
    for file in _files_to_read(siblings):
        spec = (read_format or read_bytes)(siblings[file], siblings=siblings, **options)
        return replace(spec, origin=replace(spec.origin, name=name or spec.origin.name or folder.name))
    searched_names = ", ".join((*ONE_FILE, " with ".join(PAIR)))
    raise FormatError(f"the folder {folder} has no tokenizer file of a known name: none of {searched_names}")


def _files_to_read(siblings: Siblings) -> list[str]:
    """Returns a list with the name of the file to read; an empty list if the folder has no such file."""
    present_files = [file for file in ONE_FILE if file in siblings]
    if not present_files or present_files == ["vocab.txt"]:
        present_files = [PAIR[0]] if all(file in siblings for file in PAIR) else present_files
    rank_files = [file for file in siblings if file.endswith(".tiktoken")] if not present_files else []
    return (present_files or (rank_files if len(rank_files) == 1 else []))[:1]
