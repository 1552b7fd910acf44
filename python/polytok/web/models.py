"""The tokenizers of a page: those that the command named, and files that were dropped on the page."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from ..errors import ArgumentError
from ..files import distinct_ends
from ..loading import load
from ..resources import return_free_memory
from ..tokenizer import Tokenizer

MAX_UPLOADS = 16
"""The most dropped files that are kept; then the oldest is forgotten."""


@dataclass(frozen=True, slots=True)
class Model:
    """A tokenizer of the page. ``key`` is its name in requests, which is never a path."""

    key: str
    name: str
    tokenizer: Tokenizer
    is_upload: bool

    def to_json(self) -> dict[str, object]:
        spec = self.tokenizer.spec
        return {
            "key": self.key,
            "name": self.name,
            "format": spec.origin.format,
            "size": self.tokenizer.vocab_size,
            "upload": self.is_upload,
            "chat": self.tokenizer.chat_template is not None,
        }


class Models:
    """The models by their keys; threads can use it at the same time."""

    def __init__(self, tokenizers: Iterable[tuple[str, Tokenizer]]) -> None:
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._models: dict[str, Model] = {}
        rows = list(tokenizers)
        for name, (_, tokenizer) in zip(distinct_ends([name for name, _ in rows]), rows, strict=True):
            self._add(name, tokenizer, is_upload=False)

    def _add(self, name: str, tokenizer: Tokenizer, *, is_upload: bool) -> Model:
        with self._lock:
            model = Model(f"m{next(self._numbers)}", name, tokenizer, is_upload)
            self._models[model.key] = model
            uploads = [key for key, model in self._models.items() if model.is_upload]
            for key in uploads[:-MAX_UPLOADS]:
                del self._models[key]
        return model

    def upload(self, name: str, data: bytes) -> Model:
        """Loads a file that was dropped on the page. Raises `FormatError` if it is no tokenizer."""
        return self._add(name, load(data), is_upload=True)

    def remove(self, key: str) -> None:
        """Forgets a dropped file; its memory is given back when the last request that uses it has ended."""
        with self._lock:
            if key in self._models and self._models[key].is_upload:
                del self._models[key]
        return_free_memory()

    def get(self, key: object) -> Model:
        """Returns a model. Raises `ArgumentError` if it was removed."""
        with self._lock:
            model = self._models.get(key) if isinstance(key, str) else None
        if model is None:
            raise ArgumentError("this tokenizer was removed: drop its file on the page again")
        return model

    def list(self) -> list[Model]:
        """Returns the models in the order in which they were added."""
        with self._lock:
            return list(self._models.values())
