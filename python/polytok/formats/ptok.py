"""polytok's own ``.ptok`` files: a Spec, and the tables compiled from it. The engine uses the tables without a copy.

The engine checks and maps the container (crates/polytok-core/src/native), and writes the vocabulary's columns and the
tables. This module writes and reads the other sections: ``spec``, ``special`` and ``extra`` are JSON (see
`polytok.plain`), ``data`` contains the byte strings that this JSON refers to, and ``model.merges`` contains the merges.
A file contains no code. A Spec that is written and read is equal to the original.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal

from .. import _core
from ..errors import FormatError
from ..files import read_error
from ..plain import fields_to_plain, from_plain, to_plain
from ..records import replace
from ..spec import Bpe, Spec, SpecialToken, Vocab
from .base import ReadOptions, Written

name = "ptok"
options: frozenset[str] = frozenset()

MAGIC = b"\x93ptok\r\n\0"

_FIELDS_IN_OTHER_SECTIONS = frozenset({"vocab", "special", "extra"})
_TOKEN_FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")
_EMPTY_VOCAB = Vocab.from_rows([])
"""The vocabulary of an outline."""


def refusal(data: bytes) -> str | None:
    """Accepts bytes that begin with the magic."""
    return None if data.startswith(MAGIC) else "it does not start with the magic of polytok's own files"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a file."""
    file = NativeFile(_core.NativeFile.copy(data))
    file.compile()  # compiling checks that the data is a valid Spec, and takes little time
    return file.spec()


def write(spec: Spec) -> Written:
    """Writes a file, with the tables compiled from the Spec."""
    import json  # only .ptok files need this module, but each load imports the module of this format

    import numpy as np

    from ..fingerprint import fingerprint

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
    plain_fields = fields_to_plain(outline, store_bytes, leave_out=_FIELDS_IN_OTHER_SECTIONS)
    sections = [
        ("spec", json.dumps(plain_fields, separators=(",", ":")).encode()),
        ("special", json.dumps([_token_row(token) for token in spec.special], separators=(",", ":")).encode()),
        ("extra", json.dumps(to_plain(spec.extra, store_bytes), separators=(",", ":")).encode()),
        ("data", bytes(data)),
    ]
    if merges is not None:
        sections.append(("model.merges", np.ascontiguousarray(merges).tobytes()))
    file = _core.native_write(spec, sections, fingerprint(spec))
    if not _core.NativeFile.copy(file).has_spec(spec):  # the engine has its own reader of the section spec
        raise FormatError("the engine reads another Spec from the file than was written: please report it")
    return Written(file)


def _replace_merges(plain_fields: dict[str, Any]) -> dict[str, Any]:
    """Replaces the merges in an object of the section ``spec`` with an empty column; they have a section of their
    own."""
    has_merges = plain_fields.get("$") == "Bpe" and plain_fields.get("merges") is not None
    return {**plain_fields, "merges": {"$": "tuple", "items": []}} if has_merges else plain_fields


def _token_row(token: SpecialToken) -> tuple[str, int, int]:
    return token.text, token.id, sum(1 << bit for bit, flag in enumerate(_TOKEN_FLAGS) if getattr(token, flag))


def _token_from_row(text: str, id: int, flags: int) -> SpecialToken:
    return SpecialToken(text, id, **{flag: bool(flags >> bit & 1) for bit, flag in enumerate(_TOKEN_FLAGS)})


def open_mapped(path: str | os.PathLike[str]) -> NativeFile | None:
    """Maps a file into memory; returns None if it is not a ``.ptok`` file."""
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return None
        return NativeFile(_core.NativeFile.open(path))
    except FormatError as error:
        raise FormatError(f"{name}: {os.fspath(path)}: {error}") from error
    except OSError as error:
        raise read_error(error, path) from error


class NativeFile:
    """A ``.ptok`` file whose checksum is valid. Its methods return the Spec and the tokenizer that it contains."""

    def __init__(self, file: _core.NativeFile) -> None:
        self._file = file
        fields = self._load_json("spec", _replace_merges)
        if not isinstance(fields, dict) or not isinstance(fields.get("names", {}), dict):
            raise FormatError("the section spec, or names in it, is not an object")
        try:
            self.outline = Spec(vocab=_EMPTY_VOCAB, **fields)
        except TypeError as error:
            raise FormatError(f"the section spec is not a Spec: {error}") from error

    @property
    def fingerprint(self) -> bytes:
        """The fingerprint of the Spec, as stored in the file."""
        return self._file.fingerprint()

    def spec(self) -> Spec:
        """Returns the whole Spec, with copies of the columns in the file."""
        model = self.outline.model
        if isinstance(model, Bpe) and model.merges is not None:
            merges = self._load_column("model.merges", "I")
            if merges is None or len(merges) % 3:
                raise FormatError("the section model.merges is missing or truncated")
            model = replace(model, merges=merges)
        try:
            special = tuple(_token_from_row(*row) for row in self._load_json("special"))
        except TypeError as error:
            raise FormatError(f"the section special is damaged: {error}") from error
        return replace(
            self.outline, vocab=self._load_vocab(), model=model, special=special, extra=self._load_json("extra")
        )

    def compile(self) -> _core.Tokenizer:
        """Returns the tokenizer. If another version of the engine wrote the tables, they are built again."""
        return self._file.compile()

    def _load_vocab(self) -> Vocab:
        blob = self._file.section("vocab.blob")
        offsets, ids = self._load_column("vocab.offsets", "I"), self._load_column("vocab.ids", "I")
        scores = self._load_column("vocab.wide_scores", "d")
        if scores is None:
            scores = self._load_column("vocab.scores", "f")
        kinds = self._load_column("vocab.kinds", "B")
        if blob is None or offsets is None or ids is None or scores is None or kinds is None:
            raise FormatError("a column of the vocabulary is missing")
        return Vocab(blob, offsets, ids, scores, kinds, self._load_column("vocab.active_kinds", "B"))

    def _load_column(self, section: str, typecode: Literal["I", "f", "d", "B"]) -> memoryview[Any] | None:
        data = self._file.section(section)
        if data is None:
            return None
        try:
            return memoryview(bytearray(data)).cast(typecode)
        except TypeError as error:
            raise FormatError(f"the section {section} is truncated") from error

    def _load_json(self, section: str, object_hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
        import json

        text, data = self._file.section(section), self._file.section("data")
        if text is None or data is None:
            raise FormatError(f"the section {section} or data is missing")
        try:
            return from_plain(json.loads(text, object_hook=object_hook), load_bytes=lambda at: data[slice(*at)])
        except (ValueError, RecursionError) as error:
            raise FormatError(f"the section {section} is damaged: {error}") from error
