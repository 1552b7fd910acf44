"""Tests the engine with golden encodings: SentencePiece's conformance vectors, and kitoken's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import polytok
import reference_specs as specs
from polytok import EncodeError, Tokenizer
from polytok.spec import SentencePieceVersion
from reference_specs import DATA, GOLDEN_MODELS, is_same_in_both_blobs, needs_data
from test_reference import LINES

# SentencePiece's vectors


@needs_data
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("model", GOLDEN_MODELS, ids=lambda model: model["name"])
def test_sentencepiece_vectors(model: dict[str, Any], line: SentencePieceVersion) -> None:
    blob = b"" if model["rule"] == "identity" else specs.charsmap(model["rule"])
    tokenizer = Tokenizer(specs.sentencepiece_spec(specs.golden_model_proto(model, blob), line))
    for case in model["encode_tests"]:
        text = case["input"] if isinstance(case["input"], str) else bytes.fromhex(case["input"]["hex"])
        expect = case.get("expect_0.2.3", case["expect"]) if line == "0.2.3" else case["expect"]
        if is_same_in_both_blobs(model["rule"], text):
            check_vector(tokenizer, text, expect)
        else:
            assert tokenizer.encode(text) != expect["ids"] or "ids" not in expect
    for case in model["decode_tests"]:
        ids = [tokenizer.piece_to_id(piece) for piece in case["pieces"] if is_entry(tokenizer, piece)]
        if len(ids) == len(case["pieces"]):
            assert tokenizer.decode(ids) == case["expect"], case


def is_entry(tokenizer: Tokenizer, piece: str) -> bool:
    """Reports whether a piece is in the vocabulary; only the twin's test decodes other pieces, by their names."""
    return piece.encode() in tokenizer.spec.vocab.pieces()


def check_vector(tokenizer: Tokenizer, text: str | bytes, expect: dict[str, Any]) -> None:
    if "pieces" in expect and expect["pieces"] is None:  # the reference drops an error here
        with pytest.raises(EncodeError, match="control symbol"):
            tokenizer.encode(text)
        return
    tokens = tokenizer.tokens(text)
    assert tokenizer.encode(text) == [token.id for token in tokens] == expect["ids"], text
    if "pieces" in expect:
        assert [token.piece.decode() for token in tokens] == expect["pieces"], text
        assert [[token.byte_start, token.byte_end] for token in tokens] == expect["spans"], text


# kitoken's files

KITOKEN = DATA / "golden/kitoken"
FILES = {
    "sentencepiece": "{}.model",
    "tiktoken": "{}.tiktoken",
    "tekken": "{}_rebuilt.json",
    "tokenizers": "{}.json",
}
FOLDERS = {"tokenizers": "huggingface"}
REBUILT = {"llama32": "llama32_rebuilt"}
ESCAPES = {"\\n": "\n", "\\s": " ", "\\x": ""}


def golden_cases() -> list[tuple[str, str]]:
    """Returns every pair of a folder and a vocabulary with golden files."""
    folders = ("sentencepiece", "tiktoken", "tekken", "tokenizers")
    return [
        (folder, path.stem.split("_tokens_")[1])
        for folder in folders
        for path in sorted((KITOKEN / folder).glob("small_tokens_*"))
    ]


def load(folder: str, name: str) -> Tokenizer:
    return polytok.load(DATA / "vocab" / FOLDERS.get(folder, folder) / FILES[folder].format(REBUILT.get(name, name)))


def file_lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").split("\n") if line]


def unescape(line: str) -> str:
    for escape, text in ESCAPES.items():
        line = line.replace(escape, text)
    return line


def golden_texts(kind: str) -> list[str]:
    path = KITOKEN / f"{kind}_input.txt"
    if kind == "utf8":
        return [path.read_text("utf-8")]
    return [unescape(line) for line in file_lines(path)]


def golden_ids(folder: str, kind: str, name: str) -> list[list[int]]:
    rows = [[int(id) for id in line.split(",")] for line in file_lines(KITOKEN / folder / f"{kind}_tokens_{name}.txt")]
    return rows if kind != "utf8" else [[id for row in rows for id in row]]


@needs_data
@pytest.mark.parametrize("kind", ["small", "mixed", "utf8"])
@pytest.mark.parametrize(("folder", "name"), golden_cases())
def test_kitoken(folder: str, name: str, kind: str) -> None:
    tokenizer = load(folder, name)
    expected = golden_ids(folder, kind, name)
    inputs = golden_texts(kind)
    special = "all" if folder in ("tiktoken", "tokenizers") else ()
    assert len(inputs) == len(expected) > 0
    outputs = inputs
    decoded_path = KITOKEN / folder / f"{kind}_output_{name}.txt"
    if decoded_path.exists():
        outputs = (
            [decoded_path.read_text("utf-8")]
            if kind == "utf8"
            else [unescape(line) for line in file_lines(decoded_path)]
        )
    for text, row, output in zip(inputs, expected, outputs, strict=True):
        assert tokenizer.encode(text, special=special) == row, text
        assert tokenizer.decode(row) == output
