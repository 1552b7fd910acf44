"""SentencePieceNormalizer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import PolytokError
from ...formats.sentencepiece_proto import parse, serialize
from ...spec import SentencePieceNormalize
from ...training.sentencepiece.normalization import named_charsmap
from .lines import is_old, line, value_error
from .names import with_snake_case
from .normalizing import NormalizingEngine, normalized
from .rules import compile_pairs, compile_rules, decompile

_FLAGS = ("add_dummy_prefix", "escape_whitespaces", "remove_extra_whitespaces")
_TEXTS = ("name", "normalization_rule_tsv")


@with_snake_case
class SentencePieceNormalizer:
    """sentencepiece.SentencePieceNormalizer: the normalizer of a model, or one of rules."""

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: Any = None,
        normalizer_spec: Any = None,
        rule_tsv: str | os.PathLike[str] | None = None,
        rule_name: str | None = None,
        norm_map: Sequence[tuple[str | bytes, str | bytes]] | None = None,
        add_dummy_prefix: bool | None = None,
        escape_whitespaces: bool | None = None,
        remove_extra_whitespaces: bool | None = None,
    ) -> None:
        if model_file:
            self.fields = _fields_of_model(_read(model_file))
        elif model_proto:
            self.fields = _fields_of_model(_serialized(model_proto))
        elif normalizer_spec:
            self.fields = _fields_of_spec(_serialized(normalizer_spec))
        elif rule_tsv:
            self.fields = _fields_of_rules(rule_tsv)
        elif rule_name:
            self.fields = {"name": rule_name.encode(), "precompiled_charsmap": _named(rule_name)}
        elif norm_map:
            self.fields = {"precompiled_charsmap": compile_pairs(norm_map)}
        else:
            raise value_error("no model is specified")
        given = dict(zip(_FLAGS, (add_dummy_prefix, escape_whitespaces, remove_extra_whitespaces), strict=True))
        flags: dict[str, Any] = {name: bool(value) for name, value in given.items() if value is not None or is_old()}
        self.fields.update(flags)

    Init = __init__

    def LoadFromFile(self, filename: str | os.PathLike[str]) -> bool:
        """Loads the normalizer of a model; only 0.2.1 has this method."""
        return self._load(_fields_of_model(_read(filename)))

    def LoadFromSerializedProto(self, serialized: Any) -> bool:
        """Loads the normalizer of a model's bytes; only 0.2.1 has this method."""
        return self._load(_fields_of_model(_serialized(serialized)))

    def LoadFromRuleTSV(self, filename: str | os.PathLike[str]) -> bool:
        """Loads a file of rules; only 0.2.1 has this method."""
        return self._load(_fields_of_rules(filename))

    def LoadFromRuleName(self, name: str) -> bool:
        """Loads the rules with a name; only 0.2.1 has this method."""
        return self._load({"name": name.encode(), "precompiled_charsmap": _named(name)})

    def _load(self, fields: dict[str, Any]) -> bool:
        self.fields = fields
        self.__dict__.pop("_engine", None)
        return True

    def Normalize(self, input: Any, with_offsets: Any = None) -> Any:
        """Returns the normalized text, or of each text of a list; with offsets, also the place of each character in
        the text."""
        if isinstance(input, list):
            return [self.Normalize(text, with_offsets) for text in input]
        return normalized(self._engine, input, with_offsets)

    def Decompile(self) -> list[tuple[str, str]]:
        """Returns the rules: each text and its replacement, in the order of the texts."""
        return decompile(self.fields.get("precompiled_charsmap", b""))

    @cached_property
    def _engine(self) -> NormalizingEngine:
        return NormalizingEngine.of_step(self.step)

    @property
    def step(self) -> SentencePieceNormalize:
        """The step of a Spec that normalizes in the same way."""
        flags = {name: self.fields.get(name, True) for name in _FLAGS}
        return SentencePieceNormalize(self.fields.get("precompiled_charsmap", b""), **flags)

    def serialized_model_proto(self) -> bytes:
        """Returns the bytes of a model that has only this normalizer."""
        return serialize({"normalizer_spec": self.fields})

    def serialized_normalizer_spec(self) -> bytes:
        """Returns the bytes of the message NormalizerSpec."""
        from .sentencepiece_model_pb2 import NormalizerSpec

        texts = {name: os.fsdecode(self.fields[name]) for name in _TEXTS if name in self.fields}
        message: bytes = NormalizerSpec(**{**self.fields, **texts}).SerializeToString()
        return message

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, serialized_model_proto: bytes) -> None:
        self.fields = _fields_of_model(serialized_model_proto)


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        message = f'"{os.fspath(path)}": {error.strerror}'
        raise (OSError(f"Not found: {message}") if is_old() else RuntimeError(f"NOT_FOUND: {message}")) from error


def _serialized(message: Any) -> bytes:
    data: bytes = message.SerializeToString() if hasattr(message, "SerializeToString") else message
    return data


def _fields_of_model(data: bytes) -> dict[str, Any]:
    """Returns the fields of a model's normalizer; those that the model does not have are the defaults."""
    try:
        return dict(parse(data).get("normalizer_spec", {}))
    except PolytokError as error:
        raise RuntimeError(f"INTERNAL: this is not a model of SentencePiece: {error}") from error


def _fields_of_spec(data: bytes) -> dict[str, Any]:
    from .sentencepiece_model_pb2 import NormalizerSpec

    message = NormalizerSpec.FromString(data)
    fields = {field.name: value for field, value in message.ListFields()}
    return {**fields, **{name: os.fsencode(fields[name]) for name in _TEXTS if name in fields}}


def _fields_of_rules(path: str | os.PathLike[str]) -> dict[str, Any]:
    return {
        "name": b"user_defined",
        "precompiled_charsmap": compile_rules(_read(path).decode("utf-8")),
        "normalization_rule_tsv": os.fsencode(path),
    }


def _named(name: str) -> bytes:
    try:
        return named_charsmap(name, line())
    except PolytokError as error:
        raise RuntimeError(f"NOT_FOUND: No precompiled charsmap is found: {name}") from error
