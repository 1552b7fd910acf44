"""The options of reading inputs, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypedDict, get_args

from ..checked import checked_fields
from ..checks import flag, number, one_of
from ..errors import ArgumentError
from ..keywords import keyword

Format = Literal["text", "jsonl", "parquet", "arrow"]
BadBytes = Literal["error", "replace", "skip", "keep"]
ErrorOrSkip = Literal["error", "skip"]

MAX_RECORD_BYTES = 1 << 30

_DEFAULTS_OF_LATER_OPTIONS = {"max_record_bytes": MAX_RECORD_BYTES}
"""The options that were added after the first version that wrote plans of jobs. A plan has them only if they differ
from their default, so that a job that an earlier version began has the same plan in later versions."""


class InputKeywords(TypedDict, total=False):
    """The fields of `InputOptions` as keyword arguments."""

    input_format: Format | None
    field: str
    lines: bool
    separator: str | None
    bad_bytes: BadBytes | None
    bad_records: ErrorOrSkip
    max_record_bytes: int
    damaged_files: ErrorOrSkip


@checked_fields
@dataclass(frozen=True, slots=True)
class InputOptions:
    """The options of reading inputs.

    * ``input_format``: ``text``, ``jsonl``, ``parquet`` or ``arrow``; by default, the name of a file selects its
      format, and Parquet and Arrow files are also recognized by their first bytes. Compression (gzip, zstd, bzip2, xz)
      is always recognized by the first bytes.
    * ``field``: the name of the field with the text, in JSON objects and tables; ``a.b`` is field b of the object a.
    * ``lines``: each line of a text file, without its line feed, is a text. By default, a file is one text.
    * ``separator``: a text file contains several texts, with this string between them.
    * ``bad_bytes``: how to treat a text that is not UTF-8: raise an error (``error``), replace invalid bytes with
      U+FFFD (``replace``), skip and report the text (``skip``), or keep its bytes (``keep``). ``keep`` is allowed only
      for models whose symbols are bytes, and is their default; the default of other models is ``error``. Except with
      ``error``, lone surrogates of a ``str`` are replaced with U+FFFD.
    * ``bad_records``: how to treat an invalid record, a record without the field, and a record that is longer than
      ``max_record_bytes``: raise an error (``error``), or skip and report the record (``skip``).
    * ``max_record_bytes``: the maximum length of a record after decompression, by default 1 GiB. A record is a JSON
      line with all its fields, a row of a table with the columns that are read, a line, a text between separators, or a
      text file. A text file that is read in parts is not limited, but a part of it that must be in memory is.
    * ``damaged_files``: how to treat a damaged or truncated file: raise an error (``error``), or read the texts before
      the damage and report the damage (``skip``).
    """

    input_format: Format | None = None
    field: str = "text"
    lines: bool = False
    separator: str | None = None
    bad_bytes: BadBytes | None = None
    bad_records: ErrorOrSkip = "error"
    max_record_bytes: int = MAX_RECORD_BYTES
    damaged_files: ErrorOrSkip = "error"

    def __post_init__(self) -> None:
        """Checks all values. Raises `ArgumentError` for an invalid value."""
        one_of("input_format", self.input_format, (*get_args(Format), None))
        one_of("bad_bytes", self.bad_bytes, (*get_args(BadBytes), None))
        one_of("bad_records", self.bad_records, get_args(ErrorOrSkip))
        one_of("damaged_files", self.damaged_files, get_args(ErrorOrSkip))
        number("max_record_bytes", self.max_record_bytes, least=1)
        flag("lines", self.lines)
        if not isinstance(self.field, str) or not self.field:
            raise ArgumentError(f"{keyword('field', self.field)} is not the name of a field")
        if self.separator is not None and (not isinstance(self.separator, str) or not self.separator):
            raise ArgumentError(f"{keyword('separator', self.separator)} is not a text of at least one character")
        if self.separator is not None and self.lines:
            raise ArgumentError(
                f"{keyword('lines', True)} and {keyword('separator=')} exclude each other: remove one of them"
            )

    def to_json(self) -> dict[str, Any]:
        """Returns the options as a JSON value, as plans of jobs have them."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in _DEFAULTS_OF_LATER_OPTIONS or value != _DEFAULTS_OF_LATER_OPTIONS[name]
        }

    @property
    def is_whole_file(self) -> bool:
        """Whether a text file is a single text."""
        return not self.lines and self.separator is None

    @property
    def names(self) -> list[str]:
        """The parts of the field's name, from the outermost object to the innermost."""
        return self.field.split(".")


def split_keywords(
    input_options: InputOptions | None, keywords: Mapping[str, Any]
) -> tuple[InputOptions, dict[str, Any]]:
    """Splits keyword arguments into the options of reading, which can also be passed together, and all others.

    Raises `TypeError` if options of reading are passed both as keywords and together, and `ArgumentError` if
    ``input_options`` is not an `InputOptions`.

    >>> split_keywords(None, {"lines": True, "kind": "bpe"})[1]
    {'kind': 'bpe'}
    """
    names = InputKeywords.__annotations__.keys() & keywords.keys()
    other_keywords = {name: value for name, value in keywords.items() if name not in names}
    if input_options is None:
        return InputOptions(**{name: keywords[name] for name in names}), other_keywords
    if names:
        raise TypeError(f"input_options= and {', '.join(sorted(names))}= set the same options; pass only one of them")
    if not isinstance(input_options, InputOptions):
        raise ArgumentError(f"input_options={input_options!r} is not a polytok.InputOptions")
    return input_options, other_keywords
