"""Damaged files: every outcome is a working tokenizer or a PolytokError, in memory that a file of that size may take.

Set POLYTOK_FLIPS to try more flips per small file than the default.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from format_samples import REAL, SMALL, real, small_file
from polytok import Tokenizer, formats
from polytok.errors import EncodeError, PolytokError
from polytok.spec import Spec

FLIPS = int(os.environ.get("POLYTOK_FLIPS", "10000"))
SECONDS_FOR_REAL_FILES = 20


def outcome(data: bytes, format_name: str | None) -> Spec | PolytokError:
    """What loading and using a file gives; any other exception is the failure that these tests look for."""
    options = {"pattern": "", "special_tokens": {}} if format_name == "tiktoken" else {}
    try:
        spec = formats.read(data, format=format_name, **options)  # type: ignore[arg-type]
        use(Tokenizer(spec))
    except PolytokError as error:
        return error
    return spec


def use(tokenizer: Tokenizer) -> None:
    """Encode, decode and count a little; a text that the vocabulary cannot hold is an EncodeError."""
    text = "a <s> \u2581b\u00e9 \u4e16\u754c 12\n"
    with contextlib.suppress(EncodeError):
        ids = tokenizer.encode(text, special="all", add_special=True)
        tokenizer.tokens(text)
        tokenizer.decode(ids)


def flipped(data: bytes, rng: random.Random, count: int) -> bytes:
    damaged = bytearray(data)
    for _ in range(count):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    return bytes(damaged)


@pytest.mark.parametrize("format_name", SMALL)
def test_flipped_bytes(format_name: str) -> None:
    data = small_file(format_name)
    rng = random.Random(format_name)
    for number in range(FLIPS):
        damaged = flipped(data, rng, 1 + number % 3)
        result = outcome(damaged, format_name if number % 2 else None)
        if isinstance(result, Spec) and number % 16 == 0:
            check_that_it_writes(result)


def check_that_it_writes(spec: Spec) -> None:
    try:
        written = formats.write(spec, spec.origin.format)
    except PolytokError:
        return
    again = outcome(written.data, spec.origin.format)
    assert isinstance(again, Spec)
    assert again.vocab == spec.vocab


@pytest.mark.parametrize("format_name", SMALL)
def test_small_files_cut_anywhere(format_name: str) -> None:
    data = small_file(format_name)
    for end in range(len(data)):
        outcome(data[:end], format_name)


@pytest.mark.parametrize("path", REAL)
def test_real_files_cut_at_every_percent(path: str) -> None:
    data = real(path)
    for percent in range(100):
        cut = data[: len(data) * percent // 100]
        outcome(cut, None)
        if percent % 10 == 0:
            outcome(cut, REAL[path][0])


def test_flipped_bytes_of_real_files() -> None:
    files = [(real(path), REAL[path][0]) for path in REAL]
    rng = random.Random(0)
    end = time.monotonic() + SECONDS_FOR_REAL_FILES
    while time.monotonic() < end:
        data, format_name = rng.choice(files)
        outcome(flipped(data, rng, rng.choice((1, 10, 100))), format_name)


@pytest.mark.parametrize("format_name", SMALL)
def test_random_bytes_after_a_true_start(format_name: str) -> None:
    data = small_file(format_name)
    rng = random.Random(1)
    for _ in range(500):
        outcome(data[: rng.randrange(len(data))] + rng.randbytes(rng.randrange(300)), format_name)


SIZE = 2**20


def distinct(record: Callable[[bytes], bytes], count: int) -> bytes:
    """A record for each of many different texts of four letters."""
    texts = map(bytes, itertools.islice(itertools.product(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJ", repeat=4), count))
    return b"".join(map(record, texts))


TEKKEN_VOCAB = b'{"vocab": [{"rank": '
TEKKEN_CONFIG = (
    b'"config": {"pattern": "x", "version": "v3", "default_num_special_tokens": 1, "default_vocab_size": 100000}'
)
KEY, BOOL = struct.pack("<Q", 4), struct.pack("<IB", 7, 1)
A_PIECE = b"\x0a\x03\x0a\x01a"
HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "sentencepiece: the same piece": ("sentencepiece", lambda: A_PIECE * (SIZE // 5)),
    "sentencepiece: small pieces": ("sentencepiece", lambda: distinct(lambda t: b"\x0a\x06\x0a\x04" + t, SIZE // 8)),
    "sentencepiece: unknown fields in each piece": (
        "sentencepiece",
        lambda: distinct(lambda text: b"\x0a\x08\x0a\x04" + text + b"\x20\x00", SIZE // 10),
    ),
    "sentencepiece: empty pieces": ("sentencepiece", lambda: b"\x0a\x00" * (SIZE // 2)),
    "sentencepiece: nested groups": ("sentencepiece", lambda: A_PIECE + b"\x33" * SIZE),
    "sentencepiece: groups in the trainer's spec": (
        "sentencepiece",
        lambda: A_PIECE + b"\x12\x80\x80\x40" + b"\x33" * 2**20,
    ),
    "sentencepiece: a length beyond the file": (
        "sentencepiece",
        lambda: b"\x0a\xff\xff\xff\xff\x0f" + b"a" * SIZE,
    ),
    "sentencepiece: many messages": ("sentencepiece", lambda: A_PIECE + b"\x12\x00" * (SIZE // 2)),
    "sentencepiece: many strings": ("sentencepiece", lambda: A_PIECE + b"\x12\x02\x0a\x00" * (SIZE // 4)),
    "llama2c: a length beyond the file": (
        "llama2c",
        lambda: b"\xff\xff\xff\xff" + b"\0\0\0\0\xff\xff\xff\xff" + b"a" * SIZE,
    ),
    "llama2c: small tokens": ("llama2c", lambda: b"\1\0\0\0" + b"\0\0\0\0\1\0\0\0a" * (SIZE // 9)),
    "rwkv: escapes": ("rwkv", lambda: b"1 '" + b"\\\\" * (SIZE // 2) + b"' 1"),
    "rwkv: quotes": ("rwkv", lambda: b"1 '" + b"' " * (SIZE // 2)),
    "rwkv: small tokens": (
        "rwkv",
        lambda: b"".join(b"%d '%c%c' %d\n" % (i, 97 + i % 26, 97 + i // 26 % 26, 2) for i in range(SIZE // 12)),
    ),
    "minbpe: doubling": (
        "minbpe",
        lambda: b"minbpe v1\n\n0\n97 97\n" + b"".join(b"%d %d\n" % (i, i) for i in range(256, SIZE // 12)),
    ),
    "minbpe: a number of special tokens": (
        "minbpe",
        lambda: b"minbpe v1\n\n4294967294\n" + distinct(lambda text: text + b" 300\n", SIZE // 9),
    ),
    "minbpe: small merges": (
        "minbpe",
        lambda: b"minbpe v1\n\n0\n" + b"".join(b"%d %d\n" % (i % 256, i // 256) for i in range(2**16)),
    ),
    "gguf: small keys": (
        "gguf",
        lambda: b"GGUF" + struct.pack("<IQQ", 3, 0, 2**16) + distinct(lambda text: KEY + text + BOOL, 2**16),
    ),
    "gguf: empty strings": (
        "gguf",
        lambda: (
            b"GGUF"
            + struct.pack("<IQQQ", 3, 0, 1, 21)
            + b"tokenizer.ggml.tokens"
            + struct.pack("<IIQ", 9, 8, SIZE // 8)
            + bytes(SIZE)
        ),
    ),
    "tiktoken: line feeds": ("tiktoken", lambda: b"\n" * SIZE),
    "tiktoken: white space": ("tiktoken", lambda: b"YQ==" + b" " * SIZE + b"1"),
    "tiktoken: one long token": ("tiktoken", lambda: b"YWFh" * (SIZE // 4) + b" 1"),
    "tiktoken: small tokens": ("tiktoken", lambda: distinct(lambda text: text + b" 1\n", SIZE // 7)),
    "tekken: nested arrays in the vocabulary": ("tekken", lambda: TEKKEN_VOCAB + b"[" * SIZE),
    "tekken: nested arrays beside it": (
        "tekken",
        lambda: TEKKEN_VOCAB + b'}], "image": ' + b"[" * SIZE + b"]" * SIZE + b"}",
    ),
    "tekken: a long rank": ("tekken", lambda: TEKKEN_VOCAB + b"9" * SIZE + b"}]}"),
    "tekken: a long number": ("tekken", lambda: TEKKEN_VOCAB + b'0}], "audio": ' + b"9" * SIZE + b"}"),
    "tekken: small entries": (
        "tekken",
        lambda: TEKKEN_VOCAB + b"0}" + b",0" * (SIZE // 2) + b"]," + TEKKEN_CONFIG + b"}",
    ),
    "tekken: special tokens that it does not name": (
        "tekken",
        lambda: TEKKEN_VOCAB + b"0}" + b" " * SIZE + b"]," + TEKKEN_CONFIG.replace(b" 1,", b" 65536,") + b"}",
    ),
    "tekken: small special tokens": (
        "tekken",
        lambda: TEKKEN_VOCAB + b'0}], "special_tokens": [0' + b",0" * (SIZE // 2) + b"]," + TEKKEN_CONFIG + b"}",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_come_to_an_end(name: str) -> None:
    format_name, make = HOSTILE[name]
    data = make()
    for chosen in (format_name, None):
        outcome(data, chosen)


MEASURE = """
import re, sys
sys.path.insert(0, sys.argv[2])
from test_damaged_files import HOSTILE, outcome
from format_samples import small_file
format_name, make = HOSTILE[sys.argv[1]]
outcome(small_file(format_name), format_name)
data = make()
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
open("/proc/self/clear_refs", "w").write("5")
before = peak()
outcome(data, format_name)
print((peak() - before) / len(data))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the peak can be reset on Linux only")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_take_little_memory(name: str) -> None:
    assert peak_per_byte(name) < 20


def peak_per_byte(name: str) -> float:
    """By how many times the file's size the peak grows."""
    command = [sys.executable, "-c", MEASURE, name, os.path.dirname(__file__)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
