"""The models of tokenizers 0.23: tokenizers.models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from .component import Component, Field


class Model(Component):
    """The base of all models: tokenizers.models.Model. A model of a file reads its JSON when it is first asked for."""

    family = "model"
    _fields: dict[str, Any] | None
    _read: Callable[[], dict[str, Any]] | None = None
    _tokens: tuple[dict[str, int], dict[int, str]] | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON of the model, without its type."""
        if self._fields is None:
            read_fields = self._read() if self._read else {}
            self._fields = {
                **self.defaults,
                **{name: read_fields[name] for name in self.defaults if name in read_fields},
            }
        return self._fields

    @fields.setter
    def fields(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def change(self, name: str, value: Any) -> None:
        super().change(name, value)
        self._tokens = None

    def copy(self) -> Model:
        copy: Model = Model.__new__(type(self))
        copy._fields = None if self._fields is None else dict(self._fields)
        copy._read, copy._tokens = self._read, self._tokens
        return copy

    def tokens(self) -> tuple[dict[str, int], dict[int, str]]:
        """Returns the ids of the entries by their texts, and the opposite."""
        if self._tokens is None:
            ids = self._ids()
            self._tokens = ids, {id: token for token, id in ids.items()}
        return self._tokens

    def _ids(self) -> dict[str, int]:
        ids: dict[str, int] = self.fields["vocab"]
        return ids

    def token_to_id(self, token: str) -> int | None:
        return self.tokens()[0].get(token)

    def id_to_token(self, id: int) -> str | None:
        return self.tokens()[1].get(id)


def model_of_file(name: str, read: Callable[[], dict[str, Any]]) -> Model:
    """Returns a model of this type; ``read`` returns its JSON."""
    cls: Any = Component.classes["model"][name]
    model: Model = cls.__new__(cls)
    model._fields, model._read = None, lambda: canonical_model(read())
    return model


class BPE(Model):
    defaults: ClassVar[Mapping[str, Any]] = {
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {},
        "merges": [],
    }
    dropout, unk_token, continuing_subword_prefix, end_of_word_suffix = Field(), Field(), Field(), Field()
    fuse_unk, byte_fallback, ignore_merges = Field(), Field(), Field()


class WordPiece(Model):
    defaults: ClassVar[Mapping[str, Any]] = {
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {},
    }
    unk_token, continuing_subword_prefix, max_input_chars_per_word = Field(), Field(), Field()


class WordLevel(Model):
    defaults: ClassVar[Mapping[str, Any]] = {"vocab": {}, "unk_token": "<unk>"}
    unk_token = Field()


class Unigram(Model):
    defaults: ClassVar[Mapping[str, Any]] = {"unk_id": 0, "vocab": [["<unk>", 0.0]], "byte_fallback": False}

    def _ids(self) -> dict[str, int]:
        return {token: row for row, (token, _) in enumerate(self.fields["vocab"])}


def canonical_model(value: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON of a model as the original writes it: entries in the order of ids, merges as pairs."""
    vocab = value["vocab"]
    if isinstance(vocab, dict):
        value = {**value, "vocab": dict(sorted(vocab.items(), key=lambda item: item[1]))}
    merges = value.get("merges")
    if merges and isinstance(merges[0], str):
        value = {**value, "merges": [merge.split(" ") for merge in merges]}
    return value
