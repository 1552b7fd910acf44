"""The options that name tokenizers, and the functions that load them."""

from __future__ import annotations

import argparse
import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import formats
from ..errors import ArgumentError, FileError, FormatError
from ..file_names import formats_named
from ..files import similar_file
from ..formats import all_formats, gguf_file
from ..formats.folder import VOCAB_AND_MERGES_FILES, WHOLE_TOKENIZER_FILES
from ..keywords import keyword
from ..loading import is_name, load, suggested_name
from ..reading.folders import files_in_folder
from ..tokenizer import Tokenizer
from . import special_tokens

_MODEL_HELP = (
    'a tokenizer file, a folder, "default" for the vocabulary that comes with polytok, or a name from '
    "`polytok info --names`"
)
_LOAD_OPTIONS = ("format", "pattern", "special_tokens", "sentencepiece_version", "name", "pre_tokenizer", "cache_dir")
_DEFAULT_MODEL = "default"
_AS_TEXT_HINT = "to read the file as text, write its name to a file for --files-from"
_NAME = re.compile(r"\w[\w.-]*")
_TEXT_SUFFIXES = (
    *(".txt", ".md", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".csv", ".tsv"),
    *(".gz", ".zst", ".bz2", ".xz"),
)
_MAX_TOKENIZER_BYTES = 256 << 20  # a larger file is not read to find out whether it is a tokenizer


def add_model_options(parser: argparse.ArgumentParser, *, has_several: bool = False) -> None:
    """Adds ``-m`` and the options of loading. With ``has_several``, ``-m`` can be repeated."""
    group = parser.add_argument_group("tokenizer")
    repeat_help = "; can be repeated, for a column each" if has_several else ""
    group.add_argument(
        "-m", "--model", action="append", default=[], dest="models", metavar="MODEL", help=_MODEL_HELP + repeat_help
    )
    format_names = [format.name for format in all_formats()]
    group.add_argument("--format", choices=format_names, help="the file's format; by default recognized from its bytes")
    group.add_argument(
        "--pattern",
        help="the split pattern for a tiktoken file whose vocabulary polytok does not know: a regular expression, or a "
        "name as in `polytok train --pattern`",
    )
    group.add_argument(
        "--special-tokens",
        action="append",
        metavar=special_tokens.METAVAR,
        type=special_tokens.parse_argument,
        help=f"a special token of a tiktoken file: {special_tokens.SYNTAX_HELP}; can be repeated",
    )
    group.add_argument(
        "--sentencepiece-version", choices=["0.2.1", "0.2.3"], help="the SentencePiece release to follow"
    )
    group.add_argument("--name", help="the vocabulary's name, if two vocabularies share the file (o200k_harmony)")
    group.add_argument(
        "--pre-tokenizer", metavar="NAME", help="llama.cpp's pre-tokenizer for a GGUF file that names an unknown one"
    )
    group.add_argument("--cache-dir", metavar="DIR", help="the folder for fetched files")


def add_model_argument(parser: argparse.ArgumentParser) -> None:
    """Adds the tokenizer as the first positional argument, for verbs about a tokenizer."""
    parser.add_argument("model", nargs="?", metavar="MODEL", help=_MODEL_HELP + "; the same as -m")


def positional_arguments(arguments: argparse.Namespace, *names: str) -> list[str]:
    """Returns the values of the positional arguments ``names`` after the tokenizer.

    With ``-m``, the first positional argument is not the tokenizer.
    """
    values: list[str] = [] if arguments.model is None else [arguments.model]
    for name in names:
        value = getattr(arguments, name)
        values += value if isinstance(value, list) else [] if value is None else [value]
    return values if arguments.models else values[1:]


def refuse_second_model(arguments: argparse.Namespace) -> None:
    """Raises `ArgumentError` if the first positional argument is a tokenizer although ``-m`` names one."""
    if arguments.models and arguments.model is not None and is_tokenizer(arguments.model):
        raise ArgumentError(
            f"{arguments.model} and -m {arguments.models[0]} both name the tokenizer, and this verb accepts one: "
            "remove one of them"
        )


def refuse_tokenizers_as_texts(arguments: argparse.Namespace) -> None:
    """Raises `ArgumentError` if an input on the command line is a tokenizer, which is hardly ever meant as a text."""
    for name in arguments.inputs or ():
        if is_tokenizer(name):
            hint = "compare with it by --against" if hasattr(arguments, "against") else "name a tokenizer with -m"
            raise ArgumentError(f"{name} is a tokenizer, not a text: {hint} {name}; {_AS_TEXT_HINT}")


def refuse_texts_as_tokenizers(names: Iterable[str]) -> None:
    """Raises `ArgumentError` for a name that is certainly a file of texts, in a verb whose arguments are tokenizers."""
    for name in names:
        if os.path.isfile(name) and _is_text_name(os.path.basename(name)) and not is_tokenizer(name):
            raise ArgumentError(f"{name} is not a tokenizer: write the texts after --on")


def model_name(arguments: argparse.Namespace) -> str:
    """Returns the name of the only tokenizer; ``default`` if none is named."""
    names = model_names(arguments)
    if len(names) > 1:
        raise ArgumentError(f"this verb accepts one tokenizer, not {len(names)}: {', '.join(names)}")
    return names[0]


def model_names(arguments: argparse.Namespace) -> list[str]:
    """Returns the names of the tokenizers; only ``default`` if none is named."""
    positional_name: str | None = getattr(arguments, "model", None)
    if arguments.models:
        return list(arguments.models)
    return [_DEFAULT_MODEL if positional_name is None else positional_name]


def take_model_of_inputs(arguments: argparse.Namespace) -> None:
    """Uses the first input as the tokenizer if it certainly is one, for verbs that read texts.

    It is one if it is not a file but the name of a tokenizer; or if it is a tokenizer's file by its name and its bytes,
    or a model's folder, and a text follows. Raises `ArgumentError` for such a file or folder if no text follows,
    because it could be the text, and `FileError` if it is a misspelt name of a tokenizer.
    """
    if arguments.models or not arguments.inputs:
        return
    first, *others = arguments.inputs
    if not is_tokenizer(first):
        _refuse_misspelt_name(first)
        return
    has_texts = bool(others or getattr(arguments, "text", None) or getattr(arguments, "ids", None))
    if os.path.exists(first) and not has_texts:
        kind = "a tokenizer file" if os.path.isfile(first) else "the folder of a tokenizer"
        raise ArgumentError(f"{first} is {kind}: to encode texts with it, use -m {first}; {_AS_TEXT_HINT}")
    arguments.models, arguments.inputs = [first], others


def _refuse_misspelt_name(name: str) -> None:
    """Raises `FileError` for an input that does not exist and is similar to the name of a tokenizer."""
    if not _NAME.fullmatch(name) or os.path.exists(name) or similar_file(name):
        return
    if suggestion := suggested_name(name):
        reason = f"no such file, and no vocabulary has this name{suggestion} `polytok info --names` lists the names"
        raise FileError(errno.ENOENT, reason, name)


def load_tokenizer(arguments: argparse.Namespace) -> Tokenizer:
    """Loads the only tokenizer that the arguments name."""
    return _load(model_name(arguments), arguments)


def load_tokenizers(arguments: argparse.Namespace) -> list[tuple[str, Tokenizer]]:
    """Loads all tokenizers that the arguments name, each with its name.

    Raises `ArgumentError` for options of loading if there are several tokenizers.
    """
    names = model_names(arguments)
    if len(names) > 1:
        for option in _LOAD_OPTIONS:
            if getattr(arguments, option) is not None:
                raise ArgumentError(
                    f"{keyword(f'{option}=')} would apply to all tokenizers: give it with one tokenizer"
                )
    return [(name, _load(name, arguments)) for name in names]


def _load(name: str, arguments: argparse.Namespace) -> Tokenizer:
    options: dict[str, Any] = {option: getattr(arguments, option) for option in _LOAD_OPTIONS}
    if options["special_tokens"] is not None:
        options["special_tokens"] = special_tokens.combine(options["special_tokens"])
    if name == _DEFAULT_MODEL and not os.path.exists(name):
        for option, value in options.items():
            if value is not None:
                raise ArgumentError(f"{keyword(f'{option}=')} needs a tokenizer file: name the file with -m")
    return load(name, **options)


def is_tokenizer(name: str) -> bool:
    """Reports whether ``name`` is the name of a tokenizer, a tokenizer's file by its name and its bytes, or the folder
    of a model."""
    if not os.path.exists(name):
        return name == _DEFAULT_MODEL or is_name(name)
    path = Path(name)
    if path.is_dir():
        return _is_model_folder(path)
    if not path.is_file() or not formats_named(path):
        return False
    try:
        metadata = gguf_file.read_metadata(name)
        if metadata is None and path.stat().st_size > _MAX_TOKENIZER_BYTES:
            return False
        format = formats.detect(metadata or path.read_bytes())
    except (OSError, FormatError):
        return False
    return format.name in formats_named(path)


def _is_model_folder(folder: Path) -> bool:
    """Reports whether a folder has the file of a tokenizer, and no file of texts.

    The folder of a published model also has texts about the model, whose names are in capital letters: README.md.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return False
    has_pair = all(name in names for name in VOCAB_AND_MERGES_FILES)
    if not has_pair and not any(_is_tokenizer_name(name) and is_tokenizer(str(folder / name)) for name in names):
        return False
    return not any(_is_text_name(os.path.basename(path)) for path in files_in_folder(str(folder)))


def _is_tokenizer_name(name: str) -> bool:
    return name in WHOLE_TOKENIZER_FILES or name.endswith((".tiktoken", ".model", ".gguf", ".ptok"))


def _is_text_name(name: str) -> bool:
    is_tokenizer_part = name in (*WHOLE_TOKENIZER_FILES, *VOCAB_AND_MERGES_FILES)
    return name.lower().endswith(_TEXT_SUFFIXES) and not is_tokenizer_part and not Path(name).stem.isupper()
