"""How files are read: the options, as plain data."""

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

    * ``format``: ``text``, ``jsonl``, ``parquet`` or ``arrow``; None uses the name of each file, and for Parquet and
      Arrow also its first bytes. Compression (gzip, zstd, bzip2, xz) is detected by the first bytes.
    * ``field``: the place of the text in a JSON object, a record, or a Parquet or Arrow file; ``a.b`` is the field b of
      a.
    * ``unit``: whether a text is a whole text file, each of its lines (without its line feed), or each range between
      two occurrences of ``separator``.
    * ``invalid``: how to treat text that is not UTF-8: raise an ``error``, replace invalid bytes with U+FFFD
      (``replace``), skip the text and report it (``skip``), or keep its bytes (``keep``), which only kinds over bytes
      can do. The default is ``keep`` for those and ``error`` for others. Lone surrogates of a ``str`` become U+FFFD,
      except with ``error``.
    * ``records``: whether a broken line, or one without the field, is an ``error`` or is skipped and reported
      (``skip``).
    * ``broken``: whether a damaged or truncated file is an ``error``, or is read up to the damage, with the loss
      reported (``skip``).
    """

    format: Format | None = None
    field: str = "text"
    unit: Unit = "file"
    separator: str | None = None
    invalid: Invalid | None = None
    records: Choice = "error"
    broken: Choice = "error"

    def __post_init__(self) -> None:
        """Raises `ArgumentError` for an invalid value."""
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
