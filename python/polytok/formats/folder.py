"""A folder as models are published in: the tokenizer's file with its configuration beside it."""

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
"""Files that hold a tokenizer; the first that is there counts."""
PAIR = ("vocab.json", "merges.txt")
"""Or these two, if none of them but vocab.txt is there."""


def read_folder(
    folder: Path,
    *,
    name: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    line: Line | None = None,
    read: Callable[..., Spec] | None = None,
) -> Spec:
    """The tokenizer of a folder; FormatError names what was looked for."""
    from . import read as read_bytes

    siblings = Siblings(folder)
    said: dict[str, Any] = {"pattern": pattern, "special_tokens": special_tokens, "line": line}
    for file in _candidates(siblings):
        spec = (read or read_bytes)(siblings[file], siblings=siblings, **said)
        return replace(spec, origin=replace(spec.origin, name=name or spec.origin.name or folder.name))
    looked_for = ", ".join((*ONE_FILE, " with ".join(PAIR)))
    raise FormatError(f"the folder {folder} has no tokenizer that is known: none of {looked_for}")


def _candidates(siblings: Siblings) -> list[str]:
    """The file to read, if there is one."""
    found = [file for file in ONE_FILE if file in siblings]
    if not found or found == ["vocab.txt"]:
        found = [PAIR[0]] if all(file in siblings for file in PAIR) else found
    more = [file for file in siblings if file.endswith(".tiktoken")] if not found else []
    return (found or (more if len(more) == 1 else []))[:1]
