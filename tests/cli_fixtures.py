"""The tokenizer files and the text that tests of the command use; a plugin of pytest."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
import sentencepiece

from cli_process import TEXT

SENTENCES = [
    "the dog runs over the hill",
    "a dog and a cat",
    "der Hund läuft",
    "many small words are here",
    "x y z",
] * 20
SPECIAL = '{"<|end|>": 256}'


def message(number: int, data: bytes) -> bytes:
    """Returns a short protobuf field of bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a BPE model with byte fallback that is lossless except for U+2581."""
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=file,
        model_type="bpe",
        vocab_size=320,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        user_defined_symbols=["@@"],
        minloglevel=2,
    )
    path = tmp_path_factory.mktemp("models") / "small.model"
    sample = message(1, b"a dog") + message(2, "▁a ▁dog".encode())
    path.write_bytes(file.getvalue() + message(4, message(1, sample)))
    return path


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns the options that name a rank file of the 256 bytes."""
    path = tmp_path_factory.mktemp("models") / "bytes.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256)))
    return ["-m", str(path), "--pattern", r"\s+|\S+", "--special-tokens", SPECIAL]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    return path
