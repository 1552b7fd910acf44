"""The outputs of ``polytok train``: checked before anything is read, so that no training is wasted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..conversion import write
from ..errors import ArgumentError, FormatError
from ..file_names import formats_named
from ..training import TrainingReport, specs

# The formats of each kind. If kinds share a file name, the first format is the one that the name selects.
_SENTENCEPIECE = ("sentencepiece", "ptok", "huggingface", "gguf")
_BYTES = ("huggingface", "minbpe", "tiktoken", "tekken", "gguf", "ptok")
_FORMATS: dict[str, tuple[str, ...]] = {
    "wordpiece": ("wordpiece", "huggingface", "ptok"),
    "sentencepiece-bpe": (*_SENTENCEPIECE, "llama2c"),
    "sentencepiece-unigram": _SENTENCEPIECE,
    "sentencepiece-word": ("sentencepiece", "ptok"),
    "sentencepiece-char": ("sentencepiece", "ptok"),
    "longest-match": ("rwkv", "gguf", "ptok"),
}
# Formats typical of a kind: they are chosen even if a name fits others too.
_NATURAL = {"huggingface", "sentencepiece", "wordpiece", "rwkv"}


def formats(names: Sequence[str], said: Sequence[str], kind: str, options: dict[str, Any]) -> list[str]:
    """The format of each output. ``said`` are the formats given: none, one for all, or one for each output."""
    if len(said) not in (0, 1, len(names)):
        raise ArgumentError(f"{len(names)} outputs and {len(said)} formats: give one format for each, or one")
    for name in names:
        _check_place(Path(name))
    known, natural = _possible(kind, options)
    for format in said:
        if format not in known:
            raise ArgumentError(f"--kind {kind} cannot be written as {format}: choose {_choices(known)}")
    each = said if len(said) == len(names) else [*said] * len(names)
    found = list(each) if said else [_meant(Path(name), kind, known, natural) for name in names]
    _check_options(found, kind, options)
    return found


def _check_options(formats: Sequence[str], kind: str, options: dict[str, Any]) -> None:
    """Write a result trained on almost no text: some formats cannot store every pattern, or need byte pieces."""
    special = options.get("special_tokens", ())
    counted = 0 if isinstance(special, Mapping) else len(special)
    if kind == "bpe":
        tried = {**options, "vocab_size": 256 + counted, "verbose": None}
    elif kind == "wordpiece":
        tried = {**options, "vocab_size": 1}
    elif "llama2c" in formats:
        tried = {**options, "hard_vocab_limit": False}
    else:
        return
    (spec,) = specs(["a"], kind, report=TrainingReport(), **tried)
    for format in formats:
        try:
            write(spec, format)
        except FormatError as error:
            raise ArgumentError(f"--kind {kind} with these options cannot be written as {format}: {error}") from error


def _check_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise ArgumentError(f"{path}: there is no folder {path.parent}")
    if path.is_dir():
        raise ArgumentError(f"{path} is a folder: name a file in it")


def _possible(kind: str, options: dict[str, Any]) -> tuple[tuple[str, ...], set[str]]:
    """The formats that a kind can be written in with these options, and the preferred ones."""
    if kind != "bpe":
        return _FORMATS[kind], _NATURAL
    if options.get("ties") != "huggingface":
        return _BYTES, _NATURAL | ({"minbpe"} if options.get("ties") == "minbpe" else set())
    over_bytes = options.get("byte_level", True)
    return ("huggingface", "tiktoken", "gguf", "ptok") if over_bytes else ("huggingface", "ptok"), _NATURAL


def _meant(path: Path, kind: str, known: Sequence[str], natural: set[str]) -> str:
    named = formats_named(path)
    fitting = [format for format in known if format in named]
    first = [format for format in fitting if format in natural]
    if len(fitting) == 1 or first:
        return (first or fitting)[0]
    if fitting:
        raise ArgumentError(f"{path.name} may be a file of several formats: choose {_choices(fitting)}")
    if named:
        raise ArgumentError(
            f"{path.name} is the name of a {' or '.join(named)} file, which --kind {kind} cannot be written as: "
            f"choose {_choices(known)}"
        )
    raise ArgumentError(f"the name {path.name} does not tell a format: choose {_choices(known)}")


def _choices(formats: Sequence[str]) -> str:
    return " or ".join(f"--to {format}" for format in formats)
