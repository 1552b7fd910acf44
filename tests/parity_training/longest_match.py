"""Compares trained longest-match vocabularies with pyrwkv-tokenizer, which must return the same ids."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import polytok
import texts
from optional_packages import has_rwkv_package, rwkv_package
from parity_training.cases import Case
from reference_specs import DATA

BYTES = 1 << 20
GENERATED = 2000
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {"vocab_size": 2000},
    "crossing, with kaomoji": {"vocab_size": 2000, "pattern": None, "kaomoji": True},
    "whole characters, short": {"vocab_size": 1200, "whole_characters": True, "max_piece_length": 4, "min_count": 2},
    "any bytes": {"vocab_size": 2000, "forced": [b"\xff\xfe", b"a\xc3", b"\xf0\x9f", "\u2028'\"\n".encode()]},
}


def cases() -> Iterator[Case]:
    """Yields a case for every file of the corpus with every set of options; none without the package."""
    if not has_rwkv_package():
        return
    package = f"pyrwkv-tokenizer {metadata.version('pyrwkv-tokenizer')}"
    for path in sorted((DATA / "corpus").glob("[!u]*.txt")):  # hardly any string occurs twice in utf8_sequence
        for name, options in OPTIONS.items():
            what = "longest-match: ids by the file that is written"
            yield Case(package, what, f"{path.name}, {name}", partial(difference, path, options))


def difference(path: Path, options: dict[str, Any]) -> str | None:
    with path.open("rb") as file:
        data = file.read(BYTES)
    tokenizer = polytok.train([data], "longest-match", **options)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(Path(folder) / "vocab", "rwkv")
        theirs = rwkv_package().WorldTokenizer(str(Path(folder) / "vocab"))
    words = texts.VocabularyPieces(tokenizer.spec.vocab.pieces())
    for some in (*data.splitlines(keepends=True), *texts.generate_texts(1, GENERATED, words)):
        text = some.decode(errors="ignore")
        if tokenizer.encode(text) != theirs.encode(text):
            return f"{text!r}"
    return None
