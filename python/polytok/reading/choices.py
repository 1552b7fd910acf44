"""How files are read: the choices, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ..checks import one_of
from ..errors import ArgumentError

Format = Literal["text", "jsonl", "parquet", "arrow"]
Unit = Literal["file", "line", "separator"]
Invalid = Literal["error", "replace", "skip", "keep"]
Choice = Literal["error", "skip"]

_MAY_LACK = ("format", "invalid")


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read.

    * ``format``: ``text``, ``jsonl``, ``parquet`` or ``arrow``; None goes by the name of each file, Parquet and Arrow
      files also by their first bytes. Compression (gzip, zstd, bzip2, xz) is told by the first bytes.
    * ``field``: where the text stands in a JSON object, a record, or a Parquet or Arrow file; ``a.b`` is the field b
      of a.
    * ``unit``: whether a text file is one text, or each of its lines (without its line feed) is, or each stretch
      between two ``separator``.
    * ``invalid``: what becomes of a text that is no UTF-8: an ``error``, U+FFFD for what is no character (``replace``),
      left out and reported (``skip``), or taken as it is (``keep``), which only kinds over bytes can. By default
      ``keep`` for those and ``error`` for others. Lone surrogates of a ``str`` are U+FFFD in any case but the first.
    * ``records``: whether a broken line, or one without the field, is an ``error`` or left out and reported (``skip``).
    * ``broken``: whether a file that is damaged or cut short is an ``error``, or read up to the damage, and what is
      lost reported (``skip``).
    """

    format: Format | None = None
    field: str = "text"
    unit: Unit = "file"
    separator: str | None = None
    invalid: Invalid | None = None
    records: Choice = "error"
    broken: Choice = "error"

    def __post_init__(self) -> None:
        """Raises `ArgumentError` for a value that is none of those."""
        kinds = {"format": Format, "unit": Unit, "invalid": Invalid, "records": Choice, "broken": Choice}
        for name, kind in kinds.items():
            may_lack = (None,) if name in _MAY_LACK else ()
            one_of(name, getattr(self, name), (*get_args(kind), *may_lack))
        if not isinstance(self.field, str) or not self.field:
            raise ArgumentError(f"field={self.field!r} is no name of a field")
        if (self.unit == "separator") != (self.separator is not None):
            raise ArgumentError("unit='separator' and separator= belong together")
        if self.separator is not None and (not isinstance(self.separator, str) or not self.separator):
            raise ArgumentError(f"separator={self.separator!r} is no text that could separate others")

    @property
    def names(self) -> list[str]:
        """The field, from the outside in."""
        return self.field.split(".")
