"""polytok's own ``.ptok`` files: a Spec and the tables compiled from it, which the engine uses directly in the file.

The engine checks and maps the container (crates/polytok-core/src/native). This module writes and reads the sections
``spec``, ``special`` and ``extra`` (JSON, see `polytok.plain`), ``data`` (their byte strings) and ``model.merges``; the
engine writes the columns of the vocabulary and its tables. No code in a file is executed. A Spec that is written and
read again is equal to the original.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import _core
from ..errors import FileError, FormatError
from ..fingerprint import fingerprint
from ..plain import fields_to_plain, from_plain, to_plain
from ..spec import Bpe, Spec, SpecialToken, Vocab
from .base import ReadOptions, Written

if TYPE_CHECKING:
    import numpy.typing as npt

name = "ptok"
options: frozenset[str] = frozenset()

MAGIC = b"\x93ptok\r\n\0"

_OTHER_SECTIONS = frozenset({"vocab", "special", "extra"})
_FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")
_NO_COLUMN: Any = ()
_NO_VOCAB = Vocab(b"", _NO_COLUMN, _NO_COLUMN, _NO_COLUMN, _NO_COLUMN)
"""The empty vocabulary of an outline. Its columns are not arrays, so that opening a file does not import numpy."""


def refusal(data: bytes) -> str | None:
    """Accepts bytes that begin with the magic."""
    return None if data.startswith(MAGIC) else "it does not start with the magic of polytok's own files"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a file."""
    file = NativeFile(_core.NativeFile.copy(data))
    file.compile()  # compiling is fast, and refuses data that is not a valid Spec
    return file.spec()


def write(spec: Spec) -> Written:
    """Writes a file, with the tables compiled from the Spec."""
    import numpy as np

    data = bytearray()

    def store_bytes(byte_string: bytes) -> list[int]:
        data.extend(byte_string)
        return [len(data) - len(byte_string), len(data)]

    merges, outline = None, spec
    if isinstance(spec.model, Bpe) and spec.model.merges is not None:
        merges, outline = (
            spec.model.merges,
            replace(spec, model=replace(spec.model, merges=np.zeros((0, 3), dtype=np.uint32))),
        )
    plain_fields = fields_to_plain(outline, store_bytes, leave_out=_OTHER_SECTIONS)
    sections = [
        ("spec", json.dumps(plain_fields, separators=(",", ":")).encode()),
        ("special", json.dumps([_token_row(token) for token in spec.special], separators=(",", ":")).encode()),
        ("extra", json.dumps(to_plain(spec.extra, store_bytes), separators=(",", ":")).encode()),
        ("data", bytes(data)),
    ]
    if merges is not None:
        sections.append(("model.merges", np.ascontiguousarray(merges).tobytes()))
    return Written(_core.native_write(spec, sections, fingerprint(spec)))


def _without_merges(plain_fields: dict[str, Any]) -> dict[str, Any]:
    """Returns an object of the section spec, with an empty column for merges, which have a section of their own."""
    has_merges = plain_fields.get("$") == "Bpe" and plain_fields.get("merges") is not None
    return {**plain_fields, "merges": {"$": "tuple", "items": []}} if has_merges else plain_fields


def _token_row(token: SpecialToken) -> tuple[str, int, int]:
    return token.text, token.id, sum(1 << bit for bit, flag in enumerate(_FLAGS) if getattr(token, flag))


def _token_from_row(text: str, id: int, flags: int) -> SpecialToken:
    return SpecialToken(text, id, **{flag: bool(flags >> bit & 1) for bit, flag in enumerate(_FLAGS)})


def open_mapped(path: str | os.PathLike[str]) -> NativeFile | None:
    """Maps a file and returns it; None if it is not a ``.ptok`` file."""
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return None
        return NativeFile(_core.NativeFile.open(path))
    except FormatError as error:
        raise FormatError(f"{name}: {os.fspath(path)}: {error}") from error
    except OSError as error:
        raise FileError(error.errno, f"cannot read the tokenizer file: {error.strerror}", os.fspath(path)) from error


class NativeFile:
    """A file with a valid checksum, with methods that return the tokenizer and the Spec in the file."""

    def __init__(self, file: _core.NativeFile) -> None:
        self._file = file
        fields = self._json("spec", _without_merges)
        if not isinstance(fields, dict) or not isinstance(fields.get("names", {}), dict):
            raise FormatError("the section spec, or names in it, is not an object")
        try:
            self.outline = Spec(vocab=_NO_VOCAB, **fields)
        except TypeError as error:
            raise FormatError(f"the section spec is not a Spec: {error}") from error

    @property
    def fingerprint(self) -> bytes:
        """The fingerprint of the Spec, as stored in the file."""
        return self._file.fingerprint()

    def spec(self) -> Spec:
        """Returns the whole Spec, whose columns are copies."""
        model = self.outline.model
        if isinstance(model, Bpe) and model.merges is not None:
            merges = self._column("model.merges", "uint32")
            if merges is None or len(merges) % 3:
                raise FormatError("the section model.merges is missing or truncated")
            model = replace(model, merges=merges.reshape(-1, 3))
        try:
            special = tuple(_token_from_row(*row) for row in self._json("special"))
        except TypeError as error:
            raise FormatError(f"the section special is damaged: {error}") from error
        return replace(self.outline, vocab=self._vocab(), model=model, special=special, extra=self._json("extra"))

    def compile(self) -> _core.Tokenizer:
        """Returns the tokenizer. Tables of another version of the engine are compiled again."""
        try:
            return self._file.compile(self.outline) if self._file.has_tables() else _core.Tokenizer(self.spec())
        except (AttributeError, OverflowError, TypeError) as error:
            raise FormatError(f"the section spec is not a Spec: {error}") from error

    def _vocab(self) -> Vocab:
        blob = self._file.section("vocab.blob")
        offsets, ids = self._column("vocab.offsets", "uint32"), self._column("vocab.ids", "uint32")
        scores = self._column("vocab.wide_scores", "float64")
        if scores is None:
            scores = self._column("vocab.scores", "float32")
        kinds = self._column("vocab.kinds", "uint8")
        if blob is None or offsets is None or ids is None or scores is None or kinds is None:
            raise FormatError("a column of the vocabulary is missing")
        return Vocab(blob, offsets, ids, scores, kinds, self._column("vocab.active_kinds", "uint8"))

    def _column(self, section: str, dtype: str) -> npt.NDArray[Any] | None:
        data = self._file.section(section)
        if data is None:
            return None
        import numpy as np

        if len(data) % np.dtype(dtype).itemsize:
            raise FormatError(f"the section {section} is truncated")
        column: npt.NDArray[Any] = np.frombuffer(data, dtype=dtype).copy()
        return column

    def _json(self, section: str, object_hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
        text, data = self._file.section(section), self._file.section("data")
        if text is None or data is None:
            raise FormatError(f"the section {section} or data is missing")
        try:
            return from_plain(json.loads(text, object_hook=object_hook), load_bytes=lambda at: data[slice(*at)])
        except (ValueError, RecursionError) as error:
            raise FormatError(f"the section {section} is damaged: {error}") from error
