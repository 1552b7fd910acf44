"""Vocabularies, ids and jobs that no later version may change, and the program that stores those of one version.

Each folder tests/data/VERSION has, as that version wrote them, `.ptok` files of trained vocabularies and of small
models of other formats (compressed), the ids of fixed texts (`ids.json`), and the folders of an unfinished job (`job/`)
and of a finished one (`dataset/`). tests/test_stability.py compares every later version with all of these folders.
Before a release:

    PYTHONPATH=tests python tests/golden_samples.py tests/data/VERSION

A folder that exists is never written again.
"""

from __future__ import annotations

import datetime
import gzip
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import polytok
from format_samples import SMALL, longest_spec, unigram_spec
from polytok import EncodeError, Spec, Tokenizer, corpus
from polytok.formats import ptok

DATA = Path(__file__).parent / "data"

TRAINING_TEXTS = [
    "A tokenizer cuts a text into pieces and gives each piece a number. The numbers are called ids.",
    "The same text always has the same ids, and the ids always give the same text again.",
    "Whoever trains a model on these ids depends on this: other ids would be other words to the model.",
    "Lower, lowest, newer, newest, wider, widest: endings that occur often become tokens of their own.",
    "for index in range(10):\n    print(index, index * index)\n",
    "Prices rose from 1,250.00 to 1,399.95 in 2024, and then to 1,400.",
    "Der Zug nach Köln fährt über die Brücke; die Bäume blühen schon.",
    "Où est passé le café ? Le garçon l'a déjà bu, bien sûr.",
    "Река течёт медленно, и лодка стоит у берега. Река широка.",
    "猫は窓の外を見ている。鳥が木の上で鳴いている。猫は静かだ。",
    "길을 걷다가 오래된 책방을 보았다. 책방은 조용했다.",
    "नदी के किनारे एक पुराना पेड़ है। पेड़ बड़ा है।",
    "البيت القديم عند النهر، والنهر طويل.",
    "🙂 👍🏽 👩‍🚀 — signs, too, are text … “quoted” and ‘so on’.",
]
TEXTS = [
    "",
    " ",
    "The newest tokenizer gives the lowest ids.",
    "  two spaces,\ttabs\n\n\nand lines\r\n",
    "don't DON'T don’t camelCase HTTPServer snake_case",
    "1234567890 3.14159 1,399.95",
    "Der Fluß fließt über Köln; e\u0301 é Å",
    "река 猫は 책방 नदी النهر",
    "👩‍🚀🙂 \u200d \ufeff \x00 \u2581 \U0010ffff",
    "<|endoftext|> <s> [CLS] </s>",
    "abab a b  ab é" * 8,
    "a" * 70 + " " * 70 + "!" * 70,
    *TRAINING_TEXTS[::4],
]
TRAINED: dict[str, dict[str, Any]] = {
    "bpe": {"vocab_size": 400, "special_tokens": ["<|endoftext|>"]},
    "wordpiece": {"vocab_size": 300},
    "sentencepiece-bpe": {"vocab_size": 500},
    "unigram": {"vocab_size": 460},
    "word": {"vocab_size": 60, "byte_fallback": False},
    "char": {"vocab_size": 400},
    "longest-match": {"vocab_size": 400},
}
"""The options with which each kind is trained on TRAINING_TEXTS."""

MADE = {
    **{name: SMALL[name] for name in ("minbpe", "tekken", "huggingface", "gguf", "llama2c")},
    "rwkv": longest_spec,
    "sentencepiece-unigram": unigram_spec,
}
"""Functions that return models which are not trained here."""


def train(kind: Any) -> Tokenizer:
    """Trains a vocabulary on TRAINING_TEXTS."""
    return polytok.train(TRAINING_TEXTS, kind, threads=2, **TRAINED[kind])


def answers(tokenizer: Tokenizer, texts: list[str]) -> dict[str, Any]:
    """Returns the ids of each text, None if the model cannot encode it, and hashes: of the offsets, of the decoded
    bytes, and of the ids of a text that is long enough for every table and SIMD instruction to be used."""
    ids = [_encode(tokenizer, text) for text in texts]
    encoded = [(text, text_ids) for text, text_ids in zip(texts, ids, strict=True) if text_ids is not None]
    spans = [[column.tolist() for column in tokenizer.spans(text, special="all")] for text, _ in encoded]
    decoded = b"\n".join(tokenizer.decode_bytes(text_ids) for _, text_ids in encoded)
    long_text = " ".join(text for text, _ in encoded) * 100
    return {
        "fingerprint": tokenizer.fingerprint,
        "ids": ids,
        "long": hashlib.sha256(json.dumps(tokenizer.encode(long_text)).encode()).hexdigest(),
        "spans": hashlib.sha256(json.dumps(spans).encode()).hexdigest(),
        "decoded": hashlib.sha256(decoded).hexdigest(),
    }


def _encode(tokenizer: Tokenizer, text: str) -> list[int] | None:
    try:
        return tokenizer.encode(text, special="all", add_special=True)
    except EncodeError:
        return None


# A job whose inputs are at URLs, so that its plan has no path and no time of this machine

JOB_SOURCES = {"one.txt": TRAINING_TEXTS[:6], "two.txt": TRAINING_TEXTS[6:10], "three.txt": TRAINING_TEXTS[10:]}


@contextmanager
def job_inputs() -> Iterator[str]:
    """Writes the inputs of the job to fsspec's memory, and yields their pattern."""
    import fsspec

    filesystem = fsspec.filesystem("memory")
    for name, lines in JOB_SOURCES.items():
        filesystem.pipe(f"/golden/{name}", "\n".join(lines).encode())
        filesystem.store[f"/golden/{name}"].created = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    try:
        yield "memory://golden/*.txt"
    finally:
        filesystem.rm("/golden", recursive=True)


def run_job(inputs: str, tokenizer: Tokenizer, folder: Path) -> corpus.Report:
    """Runs the job, or the rest of it."""
    return corpus.tokenize(inputs, tokenizer, folder, lines=True, workers=1, shard_size=600, eos="<|endoftext|>")


def begin_job(tokenizer: Tokenizer, folder: Path) -> None:
    """Runs the job until it has written all shards except the last."""
    from polytok.corpus.journal import Journal

    write_record = Journal.write_record

    def stop_at_the_last(journal: Journal, identity: str, record: dict[str, Any]) -> None:
        if record["number"] == len(JOB_SOURCES) - 1:
            raise KeyboardInterrupt
        write_record(journal, identity, record)

    with job_inputs() as inputs, mock.patch.object(Journal, "write_record", stop_at_the_last):
        try:
            run_job(inputs, tokenizer, folder)
        except KeyboardInterrupt:
            return
    raise AssertionError("the job has not stopped")


def write(folder: Path) -> None:
    """Writes the files of this version."""
    folder.mkdir(parents=True)
    trained_specs: dict[str, Spec] = {kind: train(kind).spec for kind in TRAINED}
    for name, spec in {**trained_specs, **{name: make() for name, make in MADE.items()}}.items():
        (folder / f"{name}.ptok.gz").write_bytes(gzip.compress(ptok.write(spec).data, mtime=0))
    tokenizers = {path.name.removesuffix(".ptok.gz"): load(path) for path in sorted(folder.glob("*.ptok.gz"))}
    tokenizers["default"] = polytok.load("default")
    vocabularies = {name: answers(tokenizer, TEXTS) for name, tokenizer in tokenizers.items()}
    text = json.dumps({"texts": TEXTS, "vocabularies": vocabularies}, ensure_ascii=True)
    (folder / "ids.json").write_text(text.replace('}, "', '},\n"').replace("], [", "],\n["), encoding="utf-8")
    begin_job(tokenizers["longest-match"], folder / "job")
    with job_inputs() as inputs:
        run_job(inputs, tokenizers["longest-match"], folder / "dataset")


def load(path: Path) -> Tokenizer:
    """Loads a compressed `.ptok` file."""
    return polytok.load(gzip.decompress(path.read_bytes()))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
