"""Reads the folder of a published model: the tokenizer's file, with the configuration files in the same folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import FormatError
from ..files import Siblings
from ..keywords import marked_message
from ..records import replace
from ..spec import SentencePieceVersion, Spec
from .base import Pattern, SpecialTokens

if TYPE_CHECKING:
    from pathlib import Path

WHOLE_TOKENIZER_FILES = (
    *("tokenizer.json", "tekken.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "tiktoken.model"),
    *("qwen.tiktoken", "tokenizer.ptok", "tokenizer.gguf", "vocab.txt"),
)
"""The names of files that contain a whole tokenizer, in the order in which they are searched."""
VOCAB_AND_MERGES_FILES = ("vocab.json", "merges.txt")
"""The names of two files that are read together if the folder has no whole tokenizer, or only vocab.txt."""


def read_folder(
    folder: Path,
    *,
    name: str | None = None,
    pattern: Pattern | None = None,
    special_tokens: SpecialTokens | None = None,
    sentencepiece_version: SentencePieceVersion | None = None,
    read_format: Callable[..., Spec] | None = None,
) -> Spec:
    """Reads the tokenizer of a folder; raises FormatError with the names of the files that were searched."""
    from . import read as read_bytes

    siblings = Siblings(folder)
    options: dict[str, Any] = {
        "pattern": pattern,
        "special_tokens": special_tokens,
        "sentencepiece_version": sentencepiece_version,
    }
    for file in _files_to_read(siblings):
        try:
            spec = (read_format or read_bytes)(siblings[file], siblings=siblings, **options)
        except FormatError as error:
            raise FormatError(f"{file}: {marked_message(error)}") from error
        return replace(spec, origin=replace(spec.origin, name=name or spec.origin.name or folder.name))
    if len(rank_file_names := sorted(_rank_files(siblings))) > 1:
        names = ", ".join(rank_file_names)
        raise FormatError(f"the folder {folder} has {len(rank_file_names)} tiktoken files, {names}: name one of them")
    searched_names = ", ".join((*WHOLE_TOKENIZER_FILES, " with ".join(VOCAB_AND_MERGES_FILES)))
    raise FormatError(
        f"the folder {folder} has no tokenizer file of a known name: none of {searched_names}; "
        "download the tokenizer's file too, or name the file itself if it has another name"
    )


def _files_to_read(siblings: Siblings) -> list[str]:
    """Returns a list of at most one name: the file of the folder to read."""
    present_names = [file for file in WHOLE_TOKENIZER_FILES if file in siblings]
    if not present_names or present_names == ["vocab.txt"]:
        present_names = (
            [VOCAB_AND_MERGES_FILES[0]] if all(file in siblings for file in VOCAB_AND_MERGES_FILES) else present_names
        )
    rank_file_names = _rank_files(siblings) if not present_names else []
    return (present_names or (rank_file_names if len(rank_file_names) == 1 else []))[:1]


def _rank_files(siblings: Siblings) -> list[str]:
    return [file for file in siblings if file.endswith(".tiktoken")]
