"""SentencePieceNormalizer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ... import _core
from ...errors import ArgumentError, PolytokError
from ...formats.sentencepiece_proto import parse, serialize
from ...records import replace
from ...spec import SentencePieceNormalize
from ...training.sentencepiece.normalization import named_charsmap
from .lines import is_old, line, value_error
from .model import Model
from .names import with_snake_case
from .normalizing import NormalizingEngine
from .processor import normalized

_FLAGS = ("add_dummy_prefix", "escape_whitespaces", "remove_extra_whitespaces")


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
        norm_map: Sequence[tuple[str, str]] | None = None,
        add_dummy_prefix: bool | None = None,
        escape_whitespaces: bool | None = None,
        remove_extra_whitespaces: bool | None = None,
    ) -> None:
        self._name = ""
        if model_file:
            self._step = _step_of_model(_read(model_file))
        elif model_proto:
            self._step = _step_of_model(_serialized(model_proto))
        elif normalizer_spec:
            self._step = _step_of_spec(_serialized(normalizer_spec))
        elif rule_tsv:
            self._step = SentencePieceNormalize(_compiled(_read(rule_tsv).decode("utf-8")))
            self._name = "user_defined"
        elif rule_name:
            self._step, self._name = SentencePieceNormalize(_named(rule_name)), rule_name
        elif norm_map:
            self._step = SentencePieceNormalize(_compiled(_rules(norm_map)))
        else:
            raise value_error("no model is specified")
        given = dict(zip(_FLAGS, (add_dummy_prefix, escape_whitespaces, remove_extra_whitespaces), strict=True))
        flags: dict[str, Any] = {name: bool(value) for name, value in given.items() if value is not None or is_old()}
        self._step = replace(self._step, **flags)

    def Normalize(self, input: Any, with_offsets: Any = None) -> Any:
        """Returns the normalized text, or of each text of a list; with offsets, also the place of each character in
        the text."""
        if isinstance(input, list):
            return [self.Normalize(text, with_offsets) for text in input]
        return normalized(self._engine, input, bool(with_offsets))

    @cached_property
    def _engine(self) -> NormalizingEngine:
        return NormalizingEngine(self._step)

    def serialized_model_proto(self) -> bytes:
        """Returns the bytes of a model that has only this normalizer."""
        return serialize({"normalizer_spec": self._fields()})

    def serialized_normalizer_spec(self) -> bytes:
        """Returns the bytes of the message NormalizerSpec."""
        from .sentencepiece_model_pb2 import NormalizerSpec

        fields = self._fields()
        if "name" in fields:
            fields["name"] = self._name
        message: bytes = NormalizerSpec(**fields).SerializeToString()
        return message

    def _fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": self._name.encode()} if self._name else {}
        if self._step.charsmap:
            fields["precompiled_charsmap"] = self._step.charsmap
        return {**fields, **{name: False for name in _FLAGS if not getattr(self._step, name)}}

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, serialized_model_proto: bytes) -> None:
        fields = parse(serialized_model_proto).get("normalizer_spec", {})
        self._name = fields.get("name", b"").decode()
        self._step = _step_of_fields(fields)


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        message = f'"{os.fspath(path)}": {error.strerror}'
        raise (OSError(f"Not found: {message}") if is_old() else RuntimeError(f"NOT_FOUND: {message}")) from error


def _serialized(message: Any) -> bytes:
    data: bytes = message.SerializeToString() if hasattr(message, "SerializeToString") else message
    return data


def _step_of_model(data: bytes) -> SentencePieceNormalize:
    try:
        return Model(data).normalizer
    except RuntimeError:
        fields = parse(data).get("normalizer_spec")  # a normalizer's own model has no pieces
        if fields is None:
            raise
        return _step_of_fields(fields)


def _step_of_spec(data: bytes) -> SentencePieceNormalize:
    from .sentencepiece_model_pb2 import NormalizerSpec

    message = NormalizerSpec.FromString(data)
    return SentencePieceNormalize(message.precompiled_charsmap, **{name: getattr(message, name) for name in _FLAGS})


def _step_of_fields(fields: dict[str, Any]) -> SentencePieceNormalize:
    return SentencePieceNormalize(
        fields.get("precompiled_charsmap", b""), **{name: fields.get(name, True) for name in _FLAGS}
    )


def _named(name: str) -> bytes:
    try:
        return named_charsmap(name, line())
    except PolytokError as error:
        raise RuntimeError(f"NOT_FOUND: No precompiled charsmap is found: {name}") from error


def _compiled(rules: str) -> bytes:
    try:
        return _core.sentencepiece_compile_rules(rules)
    except ArgumentError as error:
        raise RuntimeError(f"INTERNAL: {error}") from error


def _rules(pairs: Iterable[tuple[str, str]]) -> str:
    """Returns the lines of a file of rules: hexadecimal code points, a tab, and their replacement."""
    if isinstance(pairs, dict) or not all(isinstance(text, str) for pair in pairs for text in pair):
        raise TypeError("norm_map must be a list of pairs of str: text and replacement")
    return "".join(
        "\t".join(" ".join(f"{ord(char):X}" for char in text) for text in (source, target)) + "\n"
        for source, target in pairs
    )
