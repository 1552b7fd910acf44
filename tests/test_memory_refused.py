"""Memory that the system refuses is a MemoryError: not an abort, not another exception, not a hang.

A library in C (refuse_memory.c) refuses chosen requests of at least 64 KiB, of Rust, Python and numpy alike. Each job
runs once for each request that it makes: first this request alone is refused, then this request and all later ones.
The job must return the result that it returns with enough memory, or raise MemoryError and then return this result when
it runs again with enough memory. A refusal that is not handled ends the process, so the jobs of a group run in one
child process, with RUST_BACKTRACE=1.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polytok
from corpus_kills import contents, write_inputs
from polytok import corpus
from polytok.values import FormatName

HERE = Path(__file__).parent

# The smallest request that is refused, in bytes.
SMALLEST = 1 << 16

# The jobs of these groups make many requests: only every n-th is refused. `make test-slow` refuses all.
STRIDES = {"bpe": 2, "unigram": 2, "wordpiece": 2, "training": 5, "many": 4, "saving": 5, "corpora": 5}

Job = Callable[[], object]

TEXT = "".join(["the winter in w7 ", "thé 中文中 ", "12345 ", "\U0010ffffx\n"][n % 4] + str(n) for n in range(3000))
LONG_TEXT = TEXT + " " * 20_000 + "a" * 20_000 + "é" * 20_000
LINES = LONG_TEXT.split("\n")


def _digest(value: object) -> str:
    """Returns a hash of a result; arrays, lists and folders are hashed by their contents."""
    if isinstance(value, Path):
        return _digest(sorted(contents(value).items()))
    if isinstance(value, (list, tuple)):
        return _digest("".join(map(_digest, value)))
    data = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
    return hashlib.sha256(data).hexdigest()


def _vocabularies() -> dict[str, polytok.Tokenizer]:
    """Small tokenizers of several families, trained on the text."""
    return {
        "bpe": polytok.train(LINES, kind="bpe", vocab_size=600),
        "unigram": polytok.train(LINES, kind="unigram", vocab_size=300),
        "wordpiece": polytok.train(LINES, kind="wordpiece", vocab_size=400),
    }


def _encoding_jobs(tokenizer: polytok.Tokenizer) -> dict[str, Job]:
    ids = tokenizer.encode(LONG_TEXT)
    array = tokenizer.encode_array(LONG_TEXT)
    rows = [tokenizer.encode(line) for line in LINES]
    data = LONG_TEXT.encode()

    def stream() -> object:
        decoder = tokenizer.decoder()
        return [decoder.push(ids[at : at + 40_000]) for at in range(0, len(ids), 40_000)] + [decoder.finish()]

    def chunks() -> object:
        encoder = tokenizer.encoder()
        found = [encoder.push(LONG_TEXT[at : at + 50_000]) for at in range(0, len(LONG_TEXT), 50_000)]
        return [*found, encoder.finish()]

    return {
        "encode": lambda: tokenizer.encode(LONG_TEXT),
        "encode of bytes": lambda: tokenizer.encode(data),
        "encode with special tokens refused": lambda: tokenizer.encode(LONG_TEXT, reject_special=True),
        "encode_array": lambda: tokenizer.encode_array(LONG_TEXT),
        "spans": lambda: list(tokenizer.spans(LONG_TEXT)),
        "tokens": lambda: tokenizer.tokens(LONG_TEXT),
        "count": lambda: tokenizer.count(LONG_TEXT),
        "encode_batch": lambda: list(tokenizer.encode_batch([*LINES, LONG_TEXT])),
        "count_batch": lambda: tokenizer.count_batch([*LINES, LONG_TEXT]),
        "encoding": lambda: tokenizer.encoding(LONG_TEXT).ids,
        "decode": lambda: tokenizer.decode(ids),
        "decode of an array": lambda: tokenizer.decode(array),
        "decode_bytes": lambda: tokenizer.decode_bytes(ids),
        "decode_batch": lambda: tokenizer.decode_batch([*rows, ids]),
        "vocab": lambda: [entry.piece for entry in tokenizer.vocab()],
        "decode_with_offsets": lambda: tokenizer.decode_with_offsets(ids),
        "stream": stream,
        "chunks": chunks,
    }


def _file_jobs(tokenizers: dict[str, polytok.Tokenizer], folder: Path) -> dict[str, Job]:
    jobs: dict[str, Job] = {}
    for name, tokenizer in tokenizers.items():
        for ending in ["ptok", "json"]:
            path = folder / f"{name}.{ending}"
            tokenizer.save(path)
            jobs[f"load {path.name}"] = lambda path=path: polytok.load(path).encode(TEXT[:1000])
    return jobs


def _many_jobs(folder: Path) -> dict[str, Job]:
    """Jobs with thousands of small items, whose lists are long."""
    words = [f"<{n}>" for n in range(9_000)]
    spec = polytok.train(LINES, kind="bpe", vocab_size=9_300, special_tokens=words).spec
    tokenizer, unigram = polytok.Tokenizer(spec), polytok.train(LINES, kind="unigram", vocab_size=300)
    default = polytok.load("default")
    one = tokenizer.encode("a")[0]
    parts = polytok.Parts([(word, n % 2 == 0) for n, word in enumerate(words)])
    tokenizer.encode(parts)
    path = folder / "many.gguf"
    default.save(path)

    def decoders() -> object:
        streams = tokenizer.decoders(9_000)
        lists = [streams.push([one] * 9_000), streams.push([[one, one]] * 9_000)]
        return [lists, streams.stopped, streams.consumed]

    def text_counts() -> object:
        return polytok.count_words(words * 2, kind="bpe").words("most_frequent").to_list()

    def changes() -> object:
        text = default.incremental(LONG_TEXT + "a" * 90_000 + LONG_TEXT)
        text.set_text(LONG_TEXT[:5] + "changed" + LONG_TEXT[9:])
        text.append(TEXT)
        return [text.ids, text.copy().ids]

    return {
        "decoders": decoders,
        "decoder with stop texts": lambda: tokenizer.decoder(stop=words).push([one]),
        "ids that do not exist": lambda: tokenizer.decoder(unknown="skip").push([-1] * 20_000),
        "parts": lambda: tokenizer.encode(polytok.Parts(list(parts))),
        "special tokens": lambda: tokenizer.special_tokens,
        "texts of special tokens": lambda: tokenizer.encoding("".join(words), special="all").tokens,
        "segmentations": lambda: unigram.nbest(TEXT, 2),
        "a sample": lambda: unigram.sample(TEXT, alpha=0.5, seed=1),
        "compile": lambda: polytok.Tokenizer(spec).count("a"),
        "gguf": lambda: polytok.load(path).count("a"),
        "counted words": text_counts,
        "a text that changes": changes,
    }


def _saving_jobs(folder: Path) -> dict[str, Job]:
    """Jobs that replace a file. If they fail, the old file stays, and no other file."""
    words = [f"<{n}>" for n in range(1_200)]
    tokenizers = {
        "bpe": polytok.train(LINES, kind="bpe", vocab_size=1_500, special_tokens=words),
        "unigram": polytok.train(LINES, kind="unigram", vocab_size=1_500, control_symbols=words, byte_fallback=False),
        "default": polytok.load("default"),
    }

    def save(tokenizer: polytok.Tokenizer, path: Path, to: FormatName) -> Path:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"old")
        try:
            tokenizer.save(path, to)
        except MemoryError:
            assert path.stat().st_size == 3, "the old file is lost"
            raise
        return path.parent

    names: list[tuple[str, FormatName]] = [
        *(("bpe", "ptok"), ("bpe", "huggingface"), ("bpe", "gguf"), ("default", "tiktoken")),
        *(("unigram", "sentencepiece"), ("unigram", "huggingface"), ("unigram", "gguf")),
    ]
    return {
        f"save {kind} as {to}": partial(save, tokenizers[kind], folder / f"{kind} {to}" / f"file.{to}", to)
        for kind, to in names
    }


def _corpus_jobs(folder: Path) -> dict[str, Job]:
    """Jobs over files of every kind. Each call continues the call before, if that one failed."""
    inputs = write_inputs(folder / "inputs", 300_000)

    def tokenize(to: corpus.Output, **options: Any) -> Path:
        out = folder / f"{to} {options}"
        if (out / "manifest.json").exists():
            shutil.rmtree(out)
        corpus.tokenize(inputs, "default", out, to=to, lines=True, workers=1, shard_size=200_000, eos="auto", **options)
        return out

    return {
        "megatron": partial(tokenize, "megatron", documents=True),
        "npy": partial(tokenize, "npy", shuffle="all"),
        "parquet": partial(tokenize, "parquet"),
        "arrow": partial(tokenize, "arrow", threads=2),
    }


def _training_jobs() -> dict[str, Job]:
    def train(kind: str) -> Job:
        return lambda: polytok.train(LINES, kind=kind, vocab_size=400).encode(TEXT[:1000])

    return {kind: train(kind) for kind in ["bpe", "unigram", "sentencepiece-bpe", "wordpiece", "longest-match"]}


def _jobs(group: str, folder: Path) -> dict[str, Job]:
    """The jobs of a group."""
    if group == "training":
        return _training_jobs()
    if group == "many":
        return _many_jobs(folder)
    if group == "saving":
        return _saving_jobs(folder)
    if group == "corpora":
        return _corpus_jobs(folder)
    tokenizers = _vocabularies()
    return _file_jobs(tokenizers, folder) if group == "files" else _encoding_jobs(tokenizers[group])


def _run_group(group: str, folder: Path, library: str, stride: int) -> None:
    """Runs each job of a group with every ``stride``-th of its requests refused. Runs in the child process."""
    memory: Any = ctypes.CDLL(library)

    def refuse(first: int, end: int) -> None:
        memory.refuse_memory(ctypes.c_size_t(SMALLEST), ctypes.c_long(first), ctypes.c_long(end))

    for name, job in _jobs(group, folder).items():
        job()  # later calls use the caches and files of the first
        refuse(sys.maxsize, sys.maxsize)
        result = job()
        requests, expected = memory.allow_memory(), _digest(result)
        errors = 0
        for first in range(0, requests, stride):
            for end in [first + 1, sys.maxsize]:
                print("run", name, first, "of", requests, "alone" if end == first + 1 else "and later", flush=True)
                refuse(first, end)
                try:
                    result = job()
                except MemoryError:
                    memory.allow_memory()
                    errors += 1
                    assert _digest(job()) == expected, f"{name}, again"
                else:
                    memory.allow_memory()
                    assert _digest(result) == expected, name
        print("job", name, requests, "requests", errors, "errors", flush=True)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and glibc")
    path = tmp_path_factory.mktemp("refuse") / "refuse_memory.so"
    build = [compiler, "-O1", "-shared", "-fPIC", "-o", str(path), str(HERE / "refuse_memory.c")]
    if subprocess.run(build, capture_output=True, check=False).returncode != 0:
        pytest.skip("the C library does not have the functions that are replaced")
    return path


def _check_group(group: str, folder: Path, library: Path, stride: int) -> None:
    environment = {**os.environ, "LD_PRELOAD": str(library), "RUST_BACKTRACE": "1"}
    command = [sys.executable, __file__, group, str(folder), str(library), str(stride)]
    child = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert child.returncode == 0, (child.returncode, child.stdout[-300:], child.stderr[-2000:])
    assert "errors" in child.stdout


@pytest.mark.parametrize("group", ["files", *STRIDES])
def test_refused_memory_is_a_memory_error(group: str, library: Path, tmp_path: Path) -> None:
    _check_group(group, tmp_path, library, STRIDES.get(group, 1))


@pytest.mark.slow
@pytest.mark.parametrize("group", STRIDES)
def test_every_refused_request_is_a_memory_error(group: str, library: Path, tmp_path: Path) -> None:
    _check_group(group, tmp_path, library, 1)


LIMITED = """
import resource, sys
import polytok
tokenizer = polytok.load("default")
getattr(tokenizer, sys.argv[1])("warm up " * 10_000)
text = sys.argv[2] * 1_000_000
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[3]) * 2**20, resource.RLIM_INFINITY))
try:
    getattr(tokenizer, sys.argv[1])(text)
except MemoryError as error:
    print("refused", str(error) != "")
else:
    print("done")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc")
@pytest.mark.parametrize("method", ["encode", "encode_array", "spans", "count"])
@pytest.mark.parametrize("piece", ["winter is coming, ", "зима близко "])
def test_a_limited_process_gets_a_memory_error(method: str, piece: str) -> None:
    outcomes = []
    for megabytes in [1, 20, 60]:
        command = [sys.executable, "-c", LIMITED, method, piece, str(megabytes)]
        child = subprocess.run(
            command, env={**os.environ, "RUST_BACKTRACE": "1"}, capture_output=True, text=True, timeout=120, check=False
        )
        assert child.returncode == 0, (megabytes, child.returncode, child.stderr[-2000:])
        outcomes.append(child.stdout.split()[0])
    assert set(outcomes) <= {"refused", "done"}
    assert outcomes[0] == "refused" or method == "count"


SPECIAL_TOKENS = """
import resource, sys
import polytok
words = [f"<|{n}|>" for n in range(9_000)]
tokenizer = polytok.train(["a b"], kind="bpe", vocab_size=9_257, special_tokens=words)
tokenizer.encode("warm up", special=words[:1])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]) * 2**20, resource.RLIM_INFINITY))
try:
    print("done", tokenizer.count("".join(words), special="all"), tokenizer.count("a", reject_special=True))
except MemoryError:
    print("refused")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc")
def test_a_limited_process_compiles_special_tokens_or_gets_a_memory_error() -> None:
    """Tests limits at which memory is refused for the automaton of the special tokens, which another crate builds."""
    outcomes = []
    for megabytes in [0, 1, 2, 3, 4, 256]:
        command = [sys.executable, "-c", SPECIAL_TOKENS, str(megabytes)]
        child = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert child.returncode == 0, (megabytes, child.returncode, child.stderr[-2000:])
        outcomes.append(child.stdout.strip())
    assert outcomes[0] == "refused" and outcomes[-1] == "done 9000 1"


if __name__ == "__main__":
    _run_group(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
