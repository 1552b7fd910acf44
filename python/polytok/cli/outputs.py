"""Checks the files that a verb writes: no output is an input, and a file is replaced only with ``--overwrite``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, cast

from ..errors import ArgumentError
from ..file_names import check_name, format_of, formats_named
from ..files import check_folder, companion_paths, save_all
from ..formats import all_formats
from ..reading.names import files_named, is_url
from ..values import FormatName
from .inputs import input_names
from .models import model_names

OUTPUT_HELP = "the file to write; an existing file is replaced only with --overwrite"

# The attributes of the parsed arguments that name files to read, besides the inputs and the tokenizers.
_READ_FILES = (
    "files_from",
    "against",
    "remove",
    "add",
    "add_symbols",
    "unused_in",
    "prove",
    "kind_forced_files",
    "kind_seed_sentencepieces_file",
    "kind_normalization_rule_tsv",
    "kind_denormalization_rule_tsv",
)
_DEVICES = "/dev/"


class NewFile(NamedTuple):
    """A file to write, with the files that accompany it."""

    path: Path
    data: bytes
    companions: Mapping[str, bytes]


def add_overwrite_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option ``--overwrite`` to a verb that writes files."""
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")


def format_names() -> list[str]:
    """Returns the names of all formats that can be written."""
    return [format.name for format in all_formats() if format.name != "bpe_files"]


def add_output_options(parser: argparse.ArgumentParser, *, is_required: bool) -> None:
    """Adds the options of the tokenizer file that ``convert`` and ``edit`` write."""
    parser.add_argument("-o", "--out", metavar="OUT", required=is_required, help=OUTPUT_HELP)
    add_overwrite_option(parser)
    parser.add_argument(
        "--to", choices=format_names(), help="the format to write; by default chosen by the name of OUT"
    )


def save_files(arguments: argparse.Namespace, files: Sequence[NewFile]) -> None:
    """Writes all files; none of them if `check_outputs` refuses any of them or of the files that accompany them."""
    companions = [path for file in files for path in companion_paths(file.path, file.companions)]
    check_outputs(arguments, [*(file.path for file in files), *companions])
    for file in files:
        save_all(*file)


def chosen_format(arguments: argparse.Namespace, path: Path, origin: str) -> FormatName:
    """Returns the format of ``--to``, or the format that the file's name selects for a tokenizer of the format
    ``origin``. Raises `ArgumentError` for a name that selects no format, or another format than ``--to``."""
    if arguments.to is None and not formats_named(path):
        raise ArgumentError(
            f"the name {path.name} does not select a format: choose one with --to {', '.join(format_names())}"
        )
    if arguments.to is not None:
        check_name(path, arguments.to)
    return cast("FormatName", arguments.to or format_of(path, origin))


def check_outputs(arguments: argparse.Namespace, outputs: Iterable[str | Path | None]) -> None:
    """Raises `ArgumentError` for an output that is also an input or another output, or replaces a file without
    ``--overwrite``, and `FileError` for an output whose folder cannot be created. An empty file can always be
    replaced."""
    paths = [Path(name) for name in outputs if name is not None]
    for path, other_path in combinations(paths, 2):
        if os.path.realpath(path) == os.path.realpath(other_path):
            raise ArgumentError(f"{path} would be written twice: choose different names for the outputs")
    for path in paths:
        refuse_input(arguments, path)
        refuse_existing(arguments, path)
        check_folder(path.parent)


def refuse_folder(name: str) -> None:
    """Raises `ArgumentError` if the name of a file to write is the name of a folder, existing or not."""
    if name.endswith(("/", os.sep)) or os.path.isdir(name):
        raise ArgumentError(f"{name} is a folder: name a file in it, such as {Path(name, 'tokenizer.json')}")


def refuse_existing(arguments: argparse.Namespace, path: Path) -> None:
    """Raises `ArgumentError` if a file would be replaced without ``--overwrite``."""
    if not arguments.overwrite and _has_content(path):
        raise ArgumentError(f"{path} exists: choose another name, or replace the file with --overwrite")


def refuse_input(arguments: argparse.Namespace, path: Path) -> None:
    """Raises `ArgumentError` if a file to write is one of the files that the verb reads, or is in an input folder."""
    for folder in filter(os.path.isdir, input_names(arguments)):
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            raise ArgumentError(
                f"the output {path} is in the input folder {folder}, so it would be read too: choose another folder"
            )
    if not path.is_file():
        return
    for name in _files_read(arguments):
        if os.path.exists(name) and os.path.samefile(path, name):
            other_name = "" if name == str(path) else f" ({name})"
            raise ArgumentError(
                f"the output {path} is also an input{other_name}, and would replace it: choose another name"
            )


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0 and not str(path).startswith(_DEVICES)


def _files_read(arguments: argparse.Namespace) -> Iterator[str]:
    """Yields the names of all files that the arguments name for reading, except URLs."""
    models = model_names(arguments) if hasattr(arguments, "models") else []
    named_files = [value for name in _READ_FILES if (value := getattr(arguments, name, None))]
    yield from (name for value in named_files for name in ([value] if isinstance(value, str) else value))
    for name in models:
        yield from _files_in(name) if os.path.isdir(name) else [name]
    for name in input_names(arguments):
        if name != "-" and not is_url(name):
            yield from files_named(name)


def _files_in(folder: str) -> Iterator[str]:
    """Yields the files directly in a folder, which is the folder of a tokenizer."""
    return (entry.path for entry in os.scandir(folder) if entry.is_file())
