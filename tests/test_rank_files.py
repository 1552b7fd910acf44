"""Tests rank files that are recognized by the files in their folder, and GPT-2's first pair of files."""

from __future__ import annotations

import base64
import importlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

import polytok
from format_samples import rank_spec, real, small_file
from polytok import FormatError, Tokenizer, conversion, formats
from polytok.byte_level import BYTES
from polytok.formats import gpt2_pair
from polytok.formats.tiktoken_families import KIMI, PROGRAMS
from polytok.formats.tiktoken_known import LLAMA3, O200K
from polytok.patterns import QWEN2
from polytok.spec import PatternSplit, Template

SIZE = len(rank_spec().vocab)
KIMI_CONFIG = {
    "tokenizer_class": "TikTokenTokenizer",
    "auto_map": {"AutoTokenizer": ["tokenization_kimi.TikTokenTokenizer", None]},
    "added_tokens_decoder": {
        str(SIZE): {"content": "[BOS]", "special": True},
        str(SIZE + 1): {"content": "[EOS]", "special": True},
        str(SIZE + 2): {"content": "<|im_end|>", "special": True},
        str(SIZE + 5): {"content": "<|sep|>", "special": False},
        "7": {"content": "<|of no use|>"},
    },
    "bos_token": "[BOS]",
    "eos_token": {"content": "[EOS]"},
    "unk_token": None,
}
QWEN_CONFIG = {"auto_map": {"AutoTokenizer": ["Qwen/Qwen-7B--tokenization_qwen.QWenTokenizer", None]}}


def files_in_folder(config: Any, /, **files: Any) -> dict[str, bytes]:
    return {"tokenizer_config.json": json.dumps(config).encode()} | {
        f"{name}.json": json.dumps(value).encode() for name, value in files.items()
    }


# Lines

WHISPER = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BYTE_LINES = [base64.b64encode(bytes([byte])) + b" %d" % byte for byte in range(256)]
MERGED_LINES = [base64.b64encode(text) + b" %d" % (256 + rank) for rank, text in enumerate([b" a", b"ab", b" ab"])]
LINES = [*BYTE_LINES, *MERGED_LINES]


@pytest.mark.parametrize(
    "data",
    [
        b"\n".join([*LINES, b"= 259"]) + b"\n",
        b"\n".join([b"= 259", *LINES]) + b"\n",
        b"\n".join([*BYTE_LINES, b"= 300", *MERGED_LINES]),
        b"\r\n".join(LINES) + b"\r\n",
        b"\r".join(LINES),
        b"\n\n".join(LINES) + b"\n\n\n",
        b"\n".join(line.replace(b" ", b"\t  ") + b" " for line in LINES),
        b"\n".join(reversed(LINES)),
        b"\n".join([*LINES, base64.b64encode(b" abab") + b" 300", base64.b64encode(b"never reached") + b" 4000000000"]),
    ],
    ids=["empty last", "empty first", "empty within", "CRLF", "CR", "blank lines", "spaces", "backwards", "gaps"],
)
def test_lines_are_read_as_in_tiktoken(data: bytes, tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    path = tmp_path / "x.tiktoken"
    path.write_bytes(data)
    ranks = importlib.import_module("tiktoken.load").load_tiktoken_bpe(str(path))
    reference = tiktoken.Encoding("x", pat_str=WHISPER, mergeable_ranks=ranks, special_tokens={"<|x|>": 5000})
    options: dict[str, Any] = {"pattern": WHISPER, "special_tokens": {"<|x|>": 5000}}
    tokenizer = polytok.load(path, **options)
    assert {
        bytes(piece): id for piece, id in zip(tokenizer.spec.vocab.pieces(), tokenizer.spec.vocab.ids, strict=True)
    } == ranks
    for text in ("", "ab ab abab", " never reached\n\n x", "é" * 9):
        ids = tokenizer.encode(text)
        assert ids == reference.encode_ordinary(text)
        with_empty = [id for pair in zip(ids, [ranks.get(b"", 5000)] * len(ids), strict=True) for id in pair]
        assert tokenizer.decode(with_empty) == reference.decode(with_empty)
    tokenizer.save(path)
    assert polytok.load(path, **options).spec.vocab == tokenizer.spec.vocab


def test_an_empty_token_is_written_unchanged(tmp_path: Path) -> None:
    data = b"\n".join([*LINES, b"= 259", b""])
    assert conversion.write(formats.read(data, pattern="", special_tokens={}), "tiktoken").data == data


# Families named by the configuration


def test_kimi_names_come_from_the_configuration() -> None:
    spec = formats.read(small_file("tiktoken"), siblings=files_in_folder(KIMI_CONFIG))
    texts = {token.text: token.id for token in spec.special}
    assert sorted(texts.values()) == list(range(SIZE, SIZE + 256))
    assert (texts["<|im_end|>"], texts["<|sep|>"]) == (SIZE + 2, SIZE + 5)
    assert texts[f"<|reserved_token_{SIZE + 3}|>"] == SIZE + 3
    assert dict(spec.names) == {"bos": SIZE, "eos": SIZE + 1}
    assert (spec.split, spec.post) == ((PatternSplit(KIMI),), Template())


def test_qwen() -> None:
    spec = formats.read(small_file("tiktoken"), siblings=files_in_folder(QWEN_CONFIG, config={"vocab_size": 151936}))
    texts = {token.text: token.id for token in spec.special}
    assert (texts["<|endoftext|>"], texts["<|im_end|>"], texts["<|extra_204|>"]) == (151643, 151645, 151850)
    assert (len(texts), spec.split) == (208, (PatternSplit(QWEN2),))
    with_images = formats.read(small_file("tiktoken"), siblings=files_in_folder(QWEN_CONFIG, config={"visual": {}}))
    assert {token.text: token.id for token in with_images.special}["<imgpad>"] == 151859


def test_files_in_the_folder_of_a_path_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tiktoken.model"
    path.write_bytes(small_file("tiktoken"))
    with pytest.raises(FormatError, match="from a folder that contains its tokenizer_config.json too"):
        polytok.load(path)
    for name, data in files_in_folder(KIMI_CONFIG).items():
        (tmp_path / name).write_bytes(data)
    assert polytok.load(path).piece_to_id("<|im_end|>") == SIZE + 2


def test_a_known_file_needs_no_configuration() -> None:
    spec = formats.read(real("tiktoken/llama3_tokenizer.model"), siblings=files_in_folder(KIMI_CONFIG))
    assert spec.origin.name == "llama3"


def test_options_override_the_configuration() -> None:
    siblings = files_in_folder(KIMI_CONFIG)
    assert formats.read(small_file("tiktoken"), siblings=siblings, pattern="x").split == (PatternSplit("x"),)
    both_options: dict[str, Any] = {"pattern": "x", "special_tokens": {}}
    other_files = {"tokenizer_config.json": b"broken"}
    assert formats.read(small_file("tiktoken"), siblings=other_files, **both_options).special == ()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"auto_map": {"AutoTokenizer": "tokenization_mine.Mine"}},
            "the class 'tokenization_mine.Mine' for the rank file; known are",
        ),
        ({}, "is not known to polytok"),
        ({"auto_map": {"AutoTokenizer": [None]}}, "is not known to polytok"),
        ({"auto_map": []}, "is not known to polytok"),
        ([], "tokenizer_config.json in the same folder is not a JSON object"),
    ],
)
def test_other_configurations(config: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        formats.read(small_file("tiktoken"), siblings=files_in_folder(config))


def test_a_broken_configuration() -> None:
    for broken in (b"{", b"\xff", b"[" * 10**6):
        with pytest.raises(FormatError, match=r"tokenizer_config\.json in the same folder cannot be read"):
            formats.read(small_file("tiktoken"), siblings={"tokenizer_config.json": broken})


# Patterns of the families, compared with tiktoken


SCRIPTS = "aZéßÀǅʰªאあ中文〇々\u0301\u0345 \t\n\r\u00a0\u3000\u20280123٣Ⅷ'!?-_/.,😀🤦🏽‍♂️ſK'"
WORDS = [
    "'s",
    "'LL",
    "I'm",
    "don't",
    "ſ",
    "\r\n",
    "中",
    "文a",
    "A中b",
    "日本語",
    "x\u0301",
    "Éa",
    "12345",
    "  ",
    "「",
    "々a",
    "〇1",
]


@pytest.mark.parametrize("pattern", [KIMI, QWEN2], ids=["kimi", "qwen"])
def test_patterns(pattern: str) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    texts = [f"{a}{b}".encode() for a in "aé中 " for b in "aé中 1'"]
    ranks |= {text: number for number, text in enumerate(dict.fromkeys(texts), start=256)}
    reference = tiktoken.Encoding("t", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    data = b"".join(base64.b64encode(text) + b" %d\n" % rank for text, rank in ranks.items())
    tokenizer = Tokenizer(formats.read(data, pattern=pattern, special_tokens={}))
    rng = random.Random(5)
    for _ in range(5000):
        parts = [rng.choice(SCRIPTS) if rng.random() < 0.7 else rng.choice(WORDS) for _ in range(rng.randrange(12))]
        text = "".join(parts)
        assert tokenizer.encode(text) == reference.encode_ordinary(text), text


@pytest.mark.parametrize("config", [KIMI_CONFIG, QWEN_CONFIG], ids=["kimi", "qwen"])
def test_a_family_encodes(config: Any) -> None:
    tokenizer = Tokenizer(formats.read(small_file("tiktoken"), siblings=files_in_folder(config)))
    text = "中文abÀé 12345's\r\n  x<|im_end|>"
    assert tokenizer.decode(tokenizer.encode(text, special="all")) == text
    assert tokenizer.piece_to_id("<|im_end|>") in tokenizer.encode(text, special="all")
    assert tokenizer.lossless.for_bytes


def test_the_table_of_families() -> None:
    assert len({family.class_name for family in PROGRAMS}) == len(PROGRAMS)
    assert KIMI.count("&&") == 4 and LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}") == QWEN2
    assert KIMI.replace("&&[^\\p{Han}]", "").replace("[\\r\\n]*|", "[\\r\\n/]*|") == f"[\\p{{Han}}]+|{O200K}"


# GPT-2's pair


def pair_files(*merges: str, **changes: int) -> tuple[bytes, bytes]:
    """Returns a small pair of files with the 256 bytes and some merges."""
    texts = [*BYTES, *(merge.replace(" ", "") for merge in merges)]
    ids = {text: number for number, text in enumerate(texts)} | {"<|endoftext|>": len(texts)} | changes
    return ("#version: 0.2\n" + "".join(f"{merge}\n" for merge in merges)).encode(), json.dumps(ids).encode()


GIVEN: dict[str, Any] = {"pattern": r" ?\S+|\s+", "special_tokens": {"<|endoftext|>": 259}}


def test_a_pair_loads_by_folder_and_by_either_path(tmp_path: Path) -> None:
    for name, data in zip(
        (gpt2_pair.MERGES_FILE, gpt2_pair.ENCODER_FILE), pair_files("a b", "Ġ ab", "é é"), strict=True
    ):
        (tmp_path / name).write_bytes(data)
    for path in (tmp_path, tmp_path / "vocab.bpe", tmp_path / "encoder.json"):
        tokenizer = polytok.load(path, **GIVEN)
        assert tokenizer.spec.vocab.pieces()[256:] == [b"ab", b" ab", b"\xe9\xe9"]
        assert tokenizer.encode("ab ab") == [256, 257]
        assert (tokenizer.spec.origin.format, tokenizer.eos_id) == ("tiktoken", 259)
    with pytest.raises(FormatError, match="this is not GPT-2's"):
        polytok.load(tmp_path)
    tokenizer.save(tmp_path / "x.tiktoken")
    assert polytok.load(tmp_path / "x.tiktoken", **GIVEN).spec.vocab == tokenizer.spec.vocab


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ((b"a b\n", pair_files()[1]), "vocab.bpe: line 1 does not begin with #version"),
        (pair_files("a b", "a b"), "line 3: the token 'ab' repeats"),
        (pair_files("a bc"), "line 2 is not a pair of tokens of earlier lines: 'a bc'"),
        (pair_files("a b c"), "line 2 is not a pair of tokens of earlier lines"),
        ((pair_files("a b")[0], pair_files("a c")[1]), "encoder.json and vocab.bpe do not have the same tokens"),
        (pair_files("a b", ab=7), "encoder.json and vocab.bpe do not have the same tokens"),
        ((b"#version\n\xff", b""), "vocab.bpe: not UTF-8 at byte 9"),
        ((pair_files()[0], b"[]"), "encoder.json is not a JSON object"),
        ((pair_files()[0], b"{"), "encoder.json cannot be read"),
    ],
)
def test_wrong_pairs_are_errors(files: tuple[bytes, bytes], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        gpt2_pair.read(*files, formats.ReadOptions(**GIVEN))


def test_a_folder_with_its_configuration(tmp_path: Path) -> None:
    for name, data in {"tiktoken.model": small_file("tiktoken"), **files_in_folder(KIMI_CONFIG)}.items():
        (tmp_path / name).write_bytes(data)
    tokenizer = polytok.load(tmp_path)
    assert (tokenizer.piece_to_id("<|im_end|>"), tokenizer.spec.origin.name) == (SIZE + 2, tmp_path.name)
