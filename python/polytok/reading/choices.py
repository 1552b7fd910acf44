"""The options of reading files, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ..checks import one_of
from ..errors import ArgumentError

Format = Literal["text", "jsonl", "parquet", "arrow"]
Unit = Literal["file", "line", "separator"]
Invalid = Literal["error", "replace", "skip", "keep"]
Choice = Literal["error", "skip"]

_OPTIONAL_FIELDS = ("format", "invalid")


@dataclass(frozen=True, slots=True)
class Reading:
    """The options of reading files.

    * ``format``: ``text``, ``jsonl``, ``parquet`` or ``arrow``; by default, the name of a file selects its format, and
      Parquet and Arrow files are also recognized by their first bytes. Compression (gzip, zstd, bzip2, xz) is always
      recognized by the first bytes.
    * ``field``: the name of the field with the text, in JSON objects and tables; ``a.b`` is field b of the object a.
    * ``unit``: what one text of a text file is: the whole file (``file``), each line without its line feed (``line``),
      or the texts between occurrences of ``separator`` (``separator``).
    * ``separator``: the string between two texts, for the unit ``separator``.
    * ``invalid``: how to treat a text that is not UTF-8: raise an error (``error``), replace invalid bytes with U+FFFD
      (``replace``), skip and report the text (``skip``), or keep its bytes (``keep``). ``keep`` is allowed only for
      models whose symbols are bytes, and is their default; the default of other models is ``error``. Except with
      ``error``, lone surrogates of a ``str`` are replaced with U+FFFD.
    * ``records``: how to treat an invalid record, and a record without the field: raise an error (``error``), or skip
      and report the record (``skip``).
    * ``broken``: how to treat a damaged or truncated file: raise an error (``error``), or read the texts before the
      damage and report the damage (``skip``).
    """

    format: Format | None = None
    field: str = "text"
    unit: Unit = "file"
    separator: str | None = None
    invalid: Invalid | None = None
    records: Choice = "error"
    broken: Choice = "error"

    def __post_init__(self) -> None:
        """Checks all values. Raises `ArgumentError` for an invalid value."""
        literal_types = {"format": Format, "unit": Unit, "invalid": Invalid, "records": Choice, "broken": Choice}
        for name, literal_type in literal_types.items():
            default_values = (None,) if name in _OPTIONAL_FIELDS else ()
            one_of(name, getattr(self, name), (*get_args(literal_type), *default_values))
        if not isinstance(self.field, str) or not self.field:
            raise ArgumentError(f"field={self.field!r} is not the name of a field")
        if (self.unit == "separator") != (self.separator is not None):
            raise ArgumentError("unit='separator' needs separator=, and separator= needs unit='separator'")
        if self.separator is not None and (not isinstance(self.separator, str) or not self.separator):
            raise ArgumentError(f"separator={self.separator!r} is not a text of at least one character")

    @property
    def names(self) -> list[str]:
        """The parts of the field's name, from the outermost object to the innermost."""
        return self.field.split(".")
