"""The files of models: vocab.json and lists of lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def sorted_vocab(vocab: Mapping[str, int]) -> dict[str, int]:
    """Returns a vocabulary in the order of ids."""
    return dict(sorted(vocab.items(), key=lambda item: item[1]))


def compact_json(value: Any) -> str:
    """Returns JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_text(path: str) -> str:
    """Reads a text file; raises a plain Exception if it cannot be read, as the original does."""
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            return file.read()
    except OSError as error:
        raise Exception(f"Error while reading file: {error.strerror} (os error {error.errno})") from None


def read_vocab(path: str) -> dict[str, int]:
    """Reads vocab.json."""
    vocab: dict[str, int] = json.loads(read_text(path))
    return vocab
