"""The models of tokenizers 0.23: tokenizers.models."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import EncodeError
from ...formats.huggingface import ModelColumns, read_model
from . import alone
from .arguments import text, unsigned, warn_unknown
from .component import Component, Field
from .token import Token
from .vocab_files import compact_json, read_text, read_vocab, sorted_vocab

if TYPE_CHECKING:
    from .trainers import Trainer

_BPE_OPTIONS = (
    *("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"),
    *("fuse_unk", "byte_fallback", "ignore_merges"),
)


class _Setting(Field):
    """A field that a model of a file has before the file's JSON is read."""

    def __get__(self, model: Any, owner: type) -> Any:
        if model is not None and model.is_unread and model._settings is not None:
            return model._settings.get(self.name, model.defaults[self.name])
        return super().__get__(model, owner)


class Model(Component):
    """The base of all models: tokenizers.models.Model. A model of a file reads its JSON when it is first needed."""

    family = "model"
    _fields: dict[str, Any] | None
    _settings: Mapping[str, Any] | None = None
    """The JSON of a model of a file, without its entries."""
    _read: Callable[[], dict[str, Any]] | None = None
    _file: bytes | None = None
    _tokens: tuple[dict[str, int], dict[int, str]] | None = None
    _columns: ModelColumns | None = None

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
        self._forget()

    def _forget(self) -> None:
        """Forgets what was derived from the fields before a change."""
        self._file = self._tokens = self._columns = None

    @property
    def is_unread(self) -> bool:
        """Whether the JSON of the file has not been read yet."""
        return self._fields is None

    def change(self, name: str, value: Any) -> None:
        super().change(name, value)
        self._forget()

    def replace(self, fields: dict[str, Any]) -> None:
        """Replaces all fields, after training."""
        self.fields = fields
        self.changed()

    def copy(self) -> Model:
        copy: Model = Model.__new__(type(self))
        copy._fields = None if self._fields is None else dict(self._fields)
        copy._read, copy._settings, copy._tokens = self._read, self._settings, self._tokens
        copy._file, copy._columns = self._file, self._columns
        return copy

    def columns(self) -> ModelColumns:
        """Returns what the engine needs of the model; the same object until the model is changed."""
        if self._columns is None:
            data = self._file or json.dumps({"added_tokens": [], "model": self.json()}).encode()
            self._columns = read_model(data)
        return self._columns

    def tokens(self) -> tuple[dict[str, int], dict[int, str]]:
        """Returns the ids of the entries by their texts, and the opposite."""
        if self._tokens is None:
            ids = self._ids()
            self._tokens = ids, {id: token for token, id in ids.items()}
        return self._tokens

    def _ids(self) -> dict[str, int]:
        ids: dict[str, int] = self.fields["vocab"]
        return ids

    def _files(self) -> dict[str, str]:
        """Returns the model's own files by their names."""
        raise NotImplementedError

    def save(self, folder: str, prefix: str | None = None, name: str | None = None) -> list[str]:
        """Writes the model's files to a folder."""
        if name is not None:
            renamed = "Deprecated in 0.10.0: Parameter `name` of Model.save has been renamed `prefix`"
            warnings.warn(renamed, DeprecationWarning, stacklevel=2)
        start = prefix if prefix is not None else name
        paths = {
            os.path.join(folder, f"{start}-{file}" if start else file): data for file, data in self._files().items()
        }
        for path, data in paths.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(data)
        return list(paths)

    def tokenize(self, sequence: str) -> list[Token]:
        """Returns the tokens of a piece."""
        try:
            return [Token(*fields) for fields in alone.tokenize(self.__getstate__(), text(sequence))]
        except EncodeError as error:
            raise self.encoding_error(error) from error

    def encoding_error(self, error: EncodeError) -> Exception:
        """Returns the error that the original raises for text without a token, if this is the reason of an error."""
        reason = self._unknown_reason()
        return error if reason is None else Exception(reason)

    def _unknown_reason(self) -> str | None:
        """Returns why the model has no token for unknown text, or None if it has one."""
        if self.fields["unk_token"] in self.tokens()[0]:
            return None
        return f"{type(self).__name__} error: Missing [UNK] token from the vocabulary"

    def token_to_id(self, token: str) -> int | None:
        return self.tokens()[0].get(token)

    def id_to_token(self, id: int) -> str | None:
        return self.tokens()[1].get(id)

    def get_trainer(self) -> Trainer:
        """Returns the trainer of this type of model, with its default options."""
        from .trainers import default_trainer

        return default_trainer(self)


class _CachedModel(Model):
    """A model whose cache can be changed in the original. polytok's cache has a limit of its own."""

    def _clear_cache(self) -> None:
        """Does nothing: the cache never affects a result."""

    def _resize_cache(self, capacity: int) -> None:
        """Does nothing: the cache never affects a result."""
        unsigned(capacity)


def model_of_file(
    name: str, data: bytes, read: Callable[[], dict[str, Any]], settings: Mapping[str, Any] | None
) -> Model:
    """Returns a model of this type.

    ``data`` is the tokenizer.json, ``read`` returns the model's JSON in it, and ``settings`` are its fields except the
    entries.
    """
    cls: Any = Component.classes["model"][name]
    model: Model = cls.__new__(cls)
    model._file, model._fields, model._read = data, None, lambda: canonical_model(read())
    model._settings = settings
    return model


class BPE(_CachedModel):
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
    dropout, unk_token, continuing_subword_prefix, end_of_word_suffix = _Setting(), _Setting(), _Setting(), _Setting()
    fuse_unk, byte_fallback, ignore_merges = _Setting(), _Setting(), _Setting()

    def __init__(
        self,
        vocab: Mapping[str, int] | str | None = None,
        merges: Sequence[tuple[str, str]] | str | None = None,
        **kwargs: Any,
    ) -> None:
        if (vocab is None) != (merges is None):
            raise ValueError("`vocab` and `merges` must be both specified")
        if isinstance(vocab, str) and isinstance(merges, str):
            vocab, merges = self.read_file(vocab, merges)
        pairs = merges or ()
        if isinstance(vocab, str) or isinstance(pairs, str):
            raise TypeError("`vocab` and `merges` must be both be from memory or both filenames")
        warn_unknown(kwargs, ("cache_capacity", *_BPE_OPTIONS))
        dropout = kwargs.get("dropout")
        if dropout is not None and not 0 <= dropout <= 1:
            raise ValueError("The `dropout` must be between 0 and 1, inclusive")
        options = {name: kwargs[name] for name in _BPE_OPTIONS if name in kwargs}
        self.fields = {**self.defaults, **options, "vocab": sorted_vocab(vocab or {}), "merges": list(map(list, pairs))}

    @classmethod
    def from_file(cls, vocab: str, merges: str, **kwargs: Any) -> BPE:
        """Reads vocab.json and merges.txt."""
        return cls(*cls.read_file(vocab, merges), **kwargs)

    @staticmethod
    def read_file(vocab: str, merges: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """Reads vocab.json and merges.txt."""
        lines = read_text(merges).splitlines()
        pairs = [line.split(" ") for line in lines if line and not line.startswith("#version")]
        for number, pair in enumerate(pairs):
            if len(pair) != 2:
                raise Exception(f"Merges text file invalid at line {number + 1}")
        return read_vocab(vocab), [(left, right) for left, right in pairs]

    def json(self) -> dict[str, Any]:
        return {**super().json(), "merges": self._pairs()}

    def _unknown_reason(self) -> str | None:
        unknown = self.fields["unk_token"]
        has_no_entry = unknown is not None and unknown not in self.tokens()[0]
        return f"Unk token `{unknown}` not found in the vocabulary" if has_no_entry else None

    def _pairs(self) -> list[list[str]]:
        """Returns the merges as pairs; older files have texts with a space."""
        merges: list[Any] = self.fields["merges"]
        if merges and isinstance(merges[0], str):
            merges = self.fields["merges"] = [merge.split(" ") for merge in merges]
        return merges

    def _files(self) -> dict[str, str]:
        merges = "".join(f"{left} {right}\n" for left, right in self._pairs())
        return {"vocab.json": compact_json(self._ids()), "merges.txt": f"#version: 0.2\n{merges}"}


class WordPiece(Model):
    defaults: ClassVar[Mapping[str, Any]] = {
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {},
    }
    unk_token, continuing_subword_prefix, max_input_chars_per_word = _Setting(), _Setting(), _Setting()

    def __init__(self, vocab: Mapping[str, int] | str | None = None, **kwargs: Any) -> None:
        if isinstance(vocab, str):
            vocab = self.read_file(vocab)
        names = ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word")
        warn_unknown(kwargs, names)
        options = {name: kwargs[name] for name in names if name in kwargs}
        self.fields = {**self.defaults, **options, "vocab": sorted_vocab(vocab or {})}

    @classmethod
    def from_file(cls, vocab: str, **kwargs: Any) -> WordPiece:
        """Reads vocab.txt."""
        return cls(cls.read_file(vocab), **kwargs)

    @staticmethod
    def read_file(vocab: str) -> dict[str, int]:
        """Reads vocab.txt."""
        return {line.rstrip(): row for row, line in enumerate(read_text(vocab).split("\n")[:-1])}

    def _files(self) -> dict[str, str]:
        return {"vocab.txt": "".join(f"{token}\n" for token in self._ids())}


class WordLevel(Model):
    defaults: ClassVar[Mapping[str, Any]] = {"vocab": {}, "unk_token": "<unk>"}
    unk_token = _Setting()

    def __init__(self, vocab: Mapping[str, int] | str | None = None, unk_token: str | None = None) -> None:
        if isinstance(vocab, str):
            vocab = self.read_file(vocab)
        self.fields = {"vocab": sorted_vocab(vocab or {}), "unk_token": "<unk>" if unk_token is None else unk_token}

    @classmethod
    def from_file(cls, vocab: str, unk_token: str | None = None) -> WordLevel:
        """Reads vocab.json."""
        return cls(cls.read_file(vocab), unk_token)

    @staticmethod
    def read_file(vocab: str) -> dict[str, int]:
        """Reads vocab.json."""
        return read_vocab(vocab)

    def _files(self) -> dict[str, str]:
        return {"vocab.json": compact_json(self._ids())}


class Unigram(_CachedModel):
    defaults: ClassVar[Mapping[str, Any]] = {"unk_id": 0, "vocab": [["<unk>", 0.0]], "byte_fallback": False}
    alpha: float | None = None
    nbest_size: int | None = None

    def __init__(
        self,
        vocab: Sequence[tuple[str, float]] | None = None,
        unk_id: int | None = None,
        byte_fallback: bool | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
    ) -> None:
        if vocab is None and unk_id is None and byte_fallback is None:
            self.fields = {**self.defaults, "vocab": [["<unk>", 0.0]]}
        elif vocab is None:
            raise ValueError("`vocab` and `unk_id` must be both specified")
        else:
            pieces = [[text(piece), float(score)] for piece, score in vocab]
            self.fields = {"unk_id": unk_id, "vocab": pieces, "byte_fallback": bool(byte_fallback)}
        self.alpha, self.nbest_size = alpha, nbest_size

    def replace(self, fields: dict[str, Any]) -> None:
        super().replace(fields)
        self.alpha = self.nbest_size = None

    def _unknown_reason(self) -> str | None:
        return "Encountered an unknown token but `unk_id` is missing" if self.fields["unk_id"] is None else None

    def _files(self) -> dict[str, str]:
        return {"unigram.json": compact_json(self.json())}

    def _ids(self) -> dict[str, int]:
        return {token: row for row, (token, _) in enumerate(self.fields["vocab"])}


def canonical_model(value: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON of a model with its entries in the order of ids, as the original writes them."""
    vocab = value["vocab"]
    if isinstance(vocab, dict):
        ids = list(vocab.values())
        if ids != sorted(ids):
            value = {**value, "vocab": dict(sorted(vocab.items(), key=lambda item: item[1]))}
    return value
