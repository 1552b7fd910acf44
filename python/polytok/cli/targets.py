"""Chooses the formats of the files that ``polytok train`` writes, and checks them before training begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ..conversion import write
from ..errors import ArgumentError, FormatError
from ..file_names import check_name, formats_named
from ..keywords import marked_message
from ..training import TrainingReport, specs
from ..training.base import KindName
from ..training.options import check_special_tokens
from ..training.roles import ROLES, with_role_tokens
from .outputs import refuse_folder

# The formats that each kind can be written in. If a file's name fits several formats, the first of these formats is
# chosen.
_SENTENCEPIECE_FORMATS = ("sentencepiece", "ptok", "huggingface", "gguf")
_BYTE_BPE_FORMATS = ("huggingface", "minbpe", "tiktoken", "tekken", "gguf", "ptok")
_FORMATS_OF_KIND: dict[str, tuple[str, ...]] = {
    "wordpiece": ("wordpiece", "huggingface", "gguf", "ptok"),
    "sentencepiece-bpe": (*_SENTENCEPIECE_FORMATS, "llama2c"),
    "unigram": _SENTENCEPIECE_FORMATS,
    "word": ("sentencepiece", "ptok"),
    "char": ("sentencepiece", "ptok"),
    "longest-match": ("rwkv", "gguf", "ptok"),
}
# Formats that are typical of a kind, and therefore preferred if a file name fits several formats.
_PREFERRED_FORMATS = {"huggingface", "sentencepiece", "wordpiece", "rwkv"}


def choose_formats(
    names: Sequence[str], requested_formats: Sequence[str], kind: str, options: dict[str, Any]
) -> list[str]:
    """Returns the format of each output file.

    ``requested_formats`` has the formats that the user named: no format, one format for all outputs, or one for each
    output. Raises `ArgumentError` for a format that cannot hold the kind with these options, for a file name that fits
    no format, several formats or another format than the requested one, and for the path of a folder.
    """
    if len(requested_formats) not in (0, 1, len(names)):
        raise ArgumentError(
            f"{len(names)} outputs, but {len(requested_formats)} formats: name one format for each output, or one "
            "for all"
        )
    for name in names:
        refuse_folder(name)
    possible_formats, preferred_formats = _possible_formats(kind, options)
    for format in requested_formats:
        if format not in possible_formats:
            raise ArgumentError(
                f"--kind {kind} cannot be written as {format}: choose {_choices_text(possible_formats)}"
            )
    if requested_formats:
        chosen_formats = list(requested_formats) * (1 if len(requested_formats) == len(names) else len(names))
        for name, format in zip(names, chosen_formats, strict=True):
            check_name(Path(name), format)
    else:
        chosen_formats = [_format_of_name(Path(name), kind, possible_formats, preferred_formats) for name in names]
    _check_options(chosen_formats, kind, options)
    return chosen_formats


def _check_options(formats: Sequence[str], kind: str, options: dict[str, Any]) -> None:
    """Trains on a text of one letter and writes the result, to find formats that cannot store these options.

    For example, some formats cannot store every pattern. Raises `ArgumentError` if a format cannot store the options.
    """
    if kind == "bpe":
        trial_options = {**options, "vocab_size": 256 + _counted_special_tokens(options), "verbose": None}
    elif kind == "wordpiece":
        trial_options = {**options, "vocab_size": 1}
    elif "llama2c" in formats or (kind == "unigram" and "gguf" in formats):
        trial_options = {**options, "hard_vocab_limit": False}
    else:
        return
    (spec,) = specs(["a"], cast("KindName", kind), report=TrainingReport(), **trial_options)
    for format in formats:
        try:
            write(spec, format)
        except FormatError as error:
            raise ArgumentError(
                f"--kind {kind} with these options cannot be written as {format}: {marked_message(error)}"
            ) from error


def _counted_special_tokens(options: dict[str, Any]) -> int:
    """Returns the number of special tokens that are counted in the vocabulary's size."""
    text_by_role = {role: options[role] for role in ROLES if role in options}
    ids = with_role_tokens(check_special_tokens(options.get("special_tokens", ())), text_by_role)
    return sum(id is None for id in ids.values())


def _possible_formats(kind: str, options: dict[str, Any]) -> tuple[tuple[str, ...], set[str]]:
    """Returns the formats that can store a kind with these options, and the preferred formats."""
    if kind != "bpe":
        return _FORMATS_OF_KIND[kind], _PREFERRED_FORMATS
    if options.get("trainer") != "huggingface":
        return _BYTE_BPE_FORMATS, _PREFERRED_FORMATS | ({"minbpe"} if options.get("trainer") == "minbpe" else set())
    is_byte_level = options.get("byte_level", True)
    return ("huggingface", "tiktoken", "gguf", "ptok") if is_byte_level else ("huggingface", "ptok"), _PREFERRED_FORMATS


def _format_of_name(path: Path, kind: str, possible_formats: Sequence[str], preferred_formats: set[str]) -> str:
    """Returns the one of ``possible_formats`` that a file name selects. Raises `ArgumentError` if the name selects no
    format."""
    named_formats = formats_named(path)
    candidates = [format for format in possible_formats if format in named_formats]
    preferred_candidates = [format for format in candidates if format in preferred_formats]
    if len(candidates) == 1 or preferred_candidates:
        return (preferred_candidates or candidates)[0]
    if candidates:
        raise ArgumentError(f"several formats have files named {path.name}: choose {_choices_text(candidates)}")
    if named_formats:
        raise ArgumentError(
            f"{path.name} is the name of a {' or '.join(named_formats)} file, and --kind {kind} cannot be written in "
            f"that format: choose {_choices_text(possible_formats)}"
        )
    raise ArgumentError(f"the name {path.name} does not select a format: choose {_choices_text(possible_formats)}")


def _choices_text(formats: Sequence[str]) -> str:
    return " or ".join(f"--to {format}" for format in formats)
