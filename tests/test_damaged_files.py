"""Tests damaged files: loading returns a working tokenizer or raises PolytokError, and memory stays in proportion.

Set POLYTOK_FLIPS to try more flips per small file than the default.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

import gguf_samples
from format_samples import REAL, SMALL, real, small_file
from polytok import Tokenizer, byte_level, conversion, formats
from polytok.errors import EncodeError, FormatError, PolytokError, SpecError
from polytok.spec import Spec

FLIPS = int(os.environ.get("POLYTOK_FLIPS", "1000"))
SECONDS_FOR_REAL_FILES = 3
MAX_ENDS = 800

BYTE_LEVEL = list(byte_level.BYTES)
BPE_MODEL = {"type": "BPE", "vocab": {text: id for id, text in enumerate([*BYTE_LEVEL, "th", "the", "<unk>"])}}
BPE_MODEL |= {"merges": [["t", "h"], ["th", "e"]], "unk_token": "<unk>", "dropout": None}
WORD_PIECE = {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 1, "##b": 2, "1": 3}, "unk_token": "[UNK]"}
WORD_PIECE |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
UNIGRAM = {"type": "Unigram", "vocab": [["<unk>", 0.0], ["a", -1.5], ["\u2581b", -2.5], ["<0x20>", -9]], "unk_id": 0}


def huggingface_file(model: dict[str, Any], **parts: Any) -> bytes:
    flags = {"single_word": False, "lstrip": True, "rstrip": False, "normalized": True}
    added = [{"id": len(model["vocab"]), "content": "<s>", "special": True, **flags}]
    document = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, **parts, "model": model}
    return json.dumps(document).encode()


def template(id: int) -> dict[str, Any]:
    bos = {"id": "<s>", "ids": [id], "tokens": ["<s>"]}
    single_template = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {"type": "TemplateProcessing", "single": single_template, "pair": [], "special_tokens": {"<s>": bos}}


def metaspace(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "replacement": "\u2581", "prepend_scheme": "first", **more}


def pattern(regex: str) -> dict[str, Any]:
    return {"Regex": regex}


VOCAB_TXT = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n\u4e16\n1\n".encode()
BPE_FILES = {
    "vocab.json": json.dumps(BPE_MODEL["vocab"]).encode(),
    "merges.txt": b"#version: 0.2\nt h\nth e\n",
    "tokenizer_config.json": b'{"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": true, "bos_token": "<s>"}',
}
SMALL_FILES: dict[str, Callable[[], tuple[str, bytes]]] = {
    **{name: lambda name=name: (name, small_file(name)) for name in SMALL},  # type: ignore[misc]
    **{
        f"gguf {name}": lambda name=name: ("gguf", gguf_samples.file(gguf_samples.SMALL_VOCABULARIES[name]))  # type: ignore[misc]
        for name in ("spm", "bpe", "gemma", "wpm", "ugm", "rwkv", "plamo2")
    },
    "huggingface bpe": lambda: (
        "huggingface",
        huggingface_file(
            BPE_MODEL,
            normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
            pre_tokenizer={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            post_processor=template(259),
            decoder={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        ),
    ),
    "huggingface wordpiece": lambda: (
        "huggingface",
        huggingface_file(
            WORD_PIECE,
            normalizer={
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None,
                "lowercase": True,
            },
            pre_tokenizer={
                "type": "Split",
                "pattern": pattern(r"\s+|\p{N}"),
                "behavior": "MergedWithNext",
                "invert": False,
            },
            decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
        ),
    ),
    "huggingface unigram": lambda: (
        "huggingface",
        huggingface_file(
            UNIGRAM,
            normalizer={"type": "Replace", "pattern": pattern(" {2,}"), "content": " "},
            pre_tokenizer=metaspace("Metaspace", split=True),
            post_processor=template(4),
            decoder={
                "type": "Sequence",
                "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}, metaspace("Metaspace", split=True)],
            },
        ),
    ),
    "wordpiece": lambda: ("wordpiece", VOCAB_TXT),
    "ptok": lambda: ("ptok", conversion.write(SMALL["minbpe"](), "ptok").data),
    "ptok of scores": lambda: ("ptok", conversion.write(SMALL["sentencepiece"](), "ptok").data),
}
REAL_FILES = {
    **{path: found[0] for path, found in REAL.items()},
    **{f"gguf/ggml-vocab-{name}.gguf": "gguf" for name in ("bert-bge", "falcon", "llama-spm")},
    **{f"huggingface/{name}.json": "huggingface" for name in ("bert_base_cased", "gpt2", "llama2", "xlnet_base_cased")},
}


def load_and_use(data: bytes, format_name: str | None, siblings: dict[str, bytes] | None = None) -> Spec | PolytokError:
    """Loads and uses a file, and returns the outcome; any exception other than PolytokError fails the test."""
    options: dict[str, Any] = {"pattern": "", "special_tokens": {}} if format_name == "tiktoken" else {}
    try:
        spec = formats.read(data, format=format_name, siblings=siblings, **options)
        use_tokenizer(Tokenizer(spec))
    except PolytokError as error:
        return error
    return spec


def use_tokenizer(tokenizer: Tokenizer) -> None:
    """Encodes, decodes and counts a few texts; a text that the vocabulary cannot encode is an EncodeError."""
    text = "a <s> \u2581b\u00e9 \u4e16\u754c 12\n"
    with contextlib.suppress(EncodeError):
        ids = tokenizer.encode(text, special="all", add_special=True)
        tokenizer.tokens(text)
        tokenizer.decode(ids)


def ends(data: bytes) -> range:
    """Returns the places at which a file is truncated: all of a short file, and at most ``MAX_ENDS``."""
    return range(0, len(data), 1 + len(data) // MAX_ENDS)


def flip_bytes(data: bytes, rng: random.Random, count: int) -> bytes:
    damaged_data = bytearray(data)
    for _ in range(count):
        damaged_data[rng.randrange(len(damaged_data))] = rng.randrange(256)
    return bytes(damaged_data)


@pytest.mark.parametrize("name", SMALL_FILES)
def test_flipped_bytes(name: str) -> None:
    format_name, data = SMALL_FILES[name]()
    rng = random.Random(name)
    for number in range(FLIPS if name in SMALL else FLIPS // 10):
        damaged_data = flip_bytes(data, rng, 1 + number % 3)
        result = load_and_use(damaged_data, format_name if number % 2 else None)
        if isinstance(result, Spec) and number % 16 == 0:
            check_writing(result)


def check_writing(spec: Spec) -> None:
    try:
        written_file = conversion.write(spec, spec.origin.format)
    except PolytokError:
        return
    reread_spec = load_and_use(written_file.data, spec.origin.format)
    assert isinstance(reread_spec, Spec)
    assert reread_spec.vocab == spec.vocab


@pytest.mark.parametrize("name", SMALL_FILES)
def test_truncated_small_files(name: str) -> None:
    format_name, data = SMALL_FILES[name]()
    for end in ends(data):
        load_and_use(data[:end], format_name)


@pytest.mark.parametrize("damaged", ["vocab.json", "merges.txt", "tokenizer_config.json"])
def test_files_that_load_together(damaged: str) -> None:
    rng = random.Random(damaged)
    data = BPE_FILES[damaged]
    for changed_data in [
        *(data[:end] for end in ends(data)),
        *(flip_bytes(data, rng, 2) for _ in range(FLIPS // 20)),
    ]:
        files = {**BPE_FILES, damaged: changed_data}
        load_and_use(files["vocab.json"], "bpe_files", files)
        load_and_use(VOCAB_TXT, "wordpiece", files)


@pytest.mark.parametrize("path", REAL_FILES)
def test_truncated_real_files(path: str) -> None:
    data = real(path)
    for percent in range(0, 100, 3):
        cut = data[: len(data) * percent // 100]
        load_and_use(cut, None)
        if percent % 9 == 0:
            load_and_use(cut, REAL_FILES[path])


def test_flipped_bytes_of_real_files() -> None:
    files = [(real(path), format_name) for path, format_name in REAL_FILES.items()]
    rng = random.Random(0)
    end = time.monotonic() + SECONDS_FOR_REAL_FILES
    while time.monotonic() < end:
        data, format_name = rng.choice(files)
        load_and_use(flip_bytes(data, rng, rng.choice((1, 10, 100))), format_name)


@pytest.mark.parametrize("name", SMALL_FILES)
def test_random_bytes_after_a_valid_start(name: str) -> None:
    format_name, data = SMALL_FILES[name]()
    rng = random.Random(1)
    for _ in range(500):
        load_and_use(data[: rng.randrange(len(data))] + rng.randbytes(rng.randrange(300)), format_name)


SIZE = 2**20


def distinct_records(record: Callable[[bytes], bytes], count: int) -> bytes:
    """Returns ``count`` records, each with a different text of four letters."""
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
    "sentencepiece: small pieces": (
        "sentencepiece",
        lambda: distinct_records(lambda t: b"\x0a\x06\x0a\x04" + t, SIZE // 8),
    ),
    "sentencepiece: unknown fields in each piece": (
        "sentencepiece",
        lambda: distinct_records(lambda text: b"\x0a\x08\x0a\x04" + text + b"\x20\x00", SIZE // 10),
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
        lambda: b"minbpe v1\n\n4294967294\n" + distinct_records(lambda text: text + b" 300\n", SIZE // 9),
    ),
    "minbpe: small merges": (
        "minbpe",
        lambda: b"minbpe v1\n\n0\n" + b"".join(b"%d %d\n" % (i % 256, i // 256) for i in range(2**16)),
    ),
    "gguf: small keys": (
        "gguf",
        lambda: b"GGUF" + struct.pack("<IQQ", 3, 0, 2**16) + distinct_records(lambda text: KEY + text + BOOL, 2**16),
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
    "tiktoken: small tokens": ("tiktoken", lambda: distinct_records(lambda text: text + b" 1\n", SIZE // 7)),
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
    "huggingface: nested arrays": ("huggingface", lambda: b'{"model": ' + b"[" * SIZE),
    "huggingface: nested arrays beside the model": (
        "huggingface",
        lambda: nested_normalizers(b"[" * SIZE + b"]" * SIZE),
    ),
    "huggingface: nested Sequences": (
        "huggingface",
        lambda: nested_normalizers(b'{"type":"Sequence","normalizers":[' * (SIZE // 34) + b"]}" * (SIZE // 34)),
    ),
    "huggingface: an id near 2^32": (
        "huggingface",
        lambda: huggingface_file({**BPE_MODEL, "vocab": {"a": 0, "b": 2**32 - 2}, "merges": []}),
    ),
    "huggingface: small entries": (
        "huggingface",
        lambda: huggingface_file({**BPE_MODEL, "vocab": {f"{id:x}": id for id in range(SIZE // 15)}, "merges": []}),
    ),
    "huggingface: the same merge": (
        "huggingface",
        lambda: huggingface_file({**BPE_MODEL, "merges": ["t h"] * (SIZE // 7)}),
    ),
    "huggingface: many steps": (
        "huggingface",
        lambda: huggingface_file(BPE_MODEL, normalizer=sequence({"type": "Lowercase"}, SIZE // 24)),
    ),
    "huggingface: ids in templates": (
        "huggingface",
        lambda: huggingface_file(BPE_MODEL, post_processor=many_ids(10_000)),
    ),
    "huggingface: a long number": ("huggingface", lambda: nested_normalizers(b"9" * SIZE)),
    "wordpiece: line feeds": ("wordpiece", lambda: b"[UNK]" + b"\n" * SIZE),
    "wordpiece: one long token": ("wordpiece", lambda: b"[UNK]\n" + b"a" * SIZE),
    "ptok: all ones": ("ptok", lambda: b"\x93ptok\r\n\0" + b"\xff" * SIZE),
    "gguf: escapes of RWKV": (
        "gguf",
        lambda: gguf_rows(
            "rwkv", [("<s>", gguf_samples.CONTROL, 0.0), ("\\\\" * (SIZE // 2), gguf_samples.NORMAL, 0.0)]
        ),
    ),
    "gguf: entries that are each other's beginnings": (
        "gguf",
        lambda: gguf_rows("llama", [("<unk>", 2, 0.0), *(("a" * size, 1, -1.0 * size) for size in range(1, 1400))]),
    ),
    "gguf: a long token": ("gguf", lambda: gguf_rows("llama", [("<unk>", 2, 0.0), ("a" * SIZE, 1, 0.0)])),
}


MORE_MEMORY = {
    "gguf: entries that are each other's beginnings": 30,
    "wordpiece: one long token": 25,
    "gguf: escapes of RWKV": 25,
    "minbpe: small merges": 25,
}
"""The memory limits of some files, in multiples of the file's size; other files have a lower limit.

In the first file, an entry has a pair for each split in two, and each pair takes more than 20 bytes. In the last, eight
bytes are a row and a pair, and the table of pairs has room for twice as many. The others were measured at 19.9 to 20.2
times the size of the file.
"""


def nested_normalizers(value: bytes) -> bytes:
    return huggingface_file(BPE_MODEL, normalizer=0).replace(b'"normalizer": 0', b'"normalizer": ' + value)


def sequence(component: dict[str, Any], count: int) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": [component] * count}


def many_ids(count: int) -> dict[str, Any]:
    """Returns a template that inserts the ids of one token many times."""
    post_processor = template(259)
    post_processor["special_tokens"]["<s>"] |= {"ids": [259] * count, "tokens": ["<s>"] * count}
    return {**post_processor, "single": [post_processor["single"][0]] * count}


def gguf_rows(model: str, rows: gguf_samples.Rows) -> bytes:
    return gguf_samples.file(gguf_samples.vocabulary(model, rows))


def replace_normalizer(found: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": found}, "content": content}


EXPLODING: dict[str, dict[str, Any]] = {
    "a long text between all characters": {"normalizer": replace_normalizer("", "x" * SIZE)},
    "a long text for a character": {"normalizer": replace_normalizer("a", "x" * SIZE)},
    "doubling": {"normalizer": sequence(replace_normalizer("a", "aa"), 64)},
    "bytes as characters": {"normalizer": sequence({"type": "ByteLevel"}, 64)},
    "bytes as characters of pieces": {
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}]
            * 64,
        }
    },
}


@pytest.mark.parametrize("name", EXPLODING)
def test_rules_that_expand_a_text_too_much_are_refused(name: str) -> None:
    model = {**BPE_MODEL, "vocab": {**BPE_MODEL["vocab"], "<s>": 999}}
    data = huggingface_file(model, **EXPLODING[name]).replace(b'"normalized": true', b'"normalized": false')
    tokenizer = Tokenizer(formats.read(data))
    for text in ("a \u00e9 a" * 2**12, "a \u00e9 a"):
        for encode in (tokenizer.encode, tokenizer.tokens, tokenizer.count):
            with pytest.raises(EncodeError, match="to more than 32 times its length"):
                encode(text)


@pytest.mark.parametrize("count", [1, 64])
def test_decoders_that_expand_a_text_too_much_are_refused(count: int) -> None:
    step = {**replace_normalizer("a", "aa" if count > 1 else "x" * SIZE)}
    vocab = {"a" * 2**8: 0, "b": 1}
    decoder = {"type": "Sequence", "decoders": [step] * count}
    tokenizer = Tokenizer(formats.read(huggingface_file({**BPE_MODEL, "vocab": vocab, "merges": []}, decoder=decoder)))
    assert tokenizer.decode([1, 1, 1]) == "bbb"
    for ids in ([0], [1, 0, 1]):
        with pytest.raises(EncodeError, match="decoding expands the text to more than 32 times"):
            tokenizer.decode(ids)


def test_a_template_can_repeat_a_text_only_a_few_times() -> None:
    slots = {**template(259), "single": [{"Sequence": {"id": "A", "type_id": 0}}] * 17}
    with pytest.raises(SpecError, match="has the text 17 times"):
        Tokenizer(formats.read(huggingface_file(BPE_MODEL, post_processor=slots)))
    with pytest.raises(FormatError, match="single inserts more than 65536 ids"):
        formats.read(huggingface_file(BPE_MODEL, post_processor=many_ids(1_000)))


def test_a_file_can_list_only_256_steps() -> None:
    # Reading adds a step: bytes that are not UTF-8 are replaced.
    steps = formats.read(huggingface_file(BPE_MODEL, normalizer=sequence({"type": "Lowercase"}, 255)))
    assert Tokenizer(steps).encode("A") == Tokenizer(steps).encode("a")
    with pytest.raises(SpecError, match="normalize: 257 steps; at most 256 are allowed"):
        Tokenizer(formats.read(huggingface_file(BPE_MODEL, normalizer=sequence({"type": "Lowercase"}, 256))))


@pytest.mark.parametrize("name", HOSTILE)
def test_loading_hostile_files_ends(name: str) -> None:
    format_name, make = HOSTILE[name]
    data = make()
    for chosen_format in (format_name, None):
        load_and_use(data, chosen_format)


MEASURE = """
import re, sys
sys.path.insert(0, sys.argv[2])
from test_damaged_files import HOSTILE, SMALL_FILES, load_and_use
format_name, make = HOSTILE[sys.argv[1]]
_, small = next(made for made in (each() for each in SMALL_FILES.values()) if made[0] == format_name)
load_and_use(small, format_name)
data = make()
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
open("/proc/self/clear_refs", "w").write("5")
before = peak()
load_and_use(data, format_name)
# For a file of 300 bytes, memory per byte would measure the heap's growth step of 64 KB, not the loader.
print(max(0, peak() - before - (1 << 16)) / len(data))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the peak can be reset on Linux only")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_need_little_memory(name: str) -> None:
    assert peak_per_byte(name) < MORE_MEMORY.get(name, 20)


def peak_per_byte(name: str) -> float:
    """Returns the growth of the peak memory, in multiples of the file's size."""
    command = [sys.executable, "-c", MEASURE, name, os.path.dirname(__file__)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
