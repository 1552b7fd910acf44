"""Tests GGUF: llama.cpp's test vectors, its twin, every family of vocabularies, damaged files, written files."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import polytok
import texts
from gguf_samples import (
    ARRAY,
    BYTE,
    CONTROL,
    FOLDER,
    NORMAL,
    REAL_FILES,
    SMALL_VOCABULARIES,
    STRING,
    Typed,
    bpe,
    file,
    gemma,
    plamo2,
    spm,
    vocabulary,
    wpm,
)
from polytok import conversion, formats
from polytok.errors import ArgumentError, EncodeError, FormatError
from polytok.formats import gguf_pretokenizers as known
from polytok.reference import gguf, llama_cpp
from polytok.reference.llama_cpp_split import split
from polytok.reference.llama_cpp_unicode import code_points
from polytok.spec import Spec, Vocab, WordLevel
from texts import VocabularyPieces

SEPARATOR = "\n__ggml_vocab_test__\n"
NAMES = [path.name for path in REAL_FILES]
COUNT = 150


def load_both(data: bytes) -> tuple[polytok.Tokenizer, llama_cpp.LlamaCpp]:
    return polytok.load(data), llama_cpp.LlamaCpp(gguf.parse(data))


def vocabulary_pieces(twin: llama_cpp.LlamaCpp) -> VocabularyPieces:
    pieces = [text.replace("▁".encode(), b" ") for text in twin.texts]
    return VocabularyPieces(pieces, [twin.texts[id] for id in twin.special] or [b"<s>"])


def compare(tokenizer: polytok.Tokenizer, twin: llama_cpp.LlamaCpp, samples: Sequence[bytes]) -> None:
    """Compares encoding with and without special tokens, and decoding of the ids."""
    for number, text in enumerate(samples):
        special, add = number % 2 == 0, number % 3 == 0
        if is_known_to_differ(twin, text):
            continue
        ids = tokenizer.encode(text, special="all" if special else (), add_special=add)
        assert ids == twin.tokenize(text, parse_special=special, add_special=add), text
        for skip in (False, True) if twin.model != "whitespace" else ():
            assert tokenizer.decode_bytes(ids, skip_special=skip) == twin.detokenize(ids, skip_special=skip), ids


def is_known_to_differ(twin: llama_cpp.LlamaCpp, text: bytes) -> bool:
    """Reports whether tests/parity/known.py lists the text: surrogates, large numbers, lines equal to a token."""
    codes = code_points(text)
    is_spelled = twin.pre.newline_tokens and any(b"<" in line for line in text.split(b"\n"))
    return is_spelled or any(0xD800 <= code < 0xE000 or code > 0x10FFFF for code in codes)


def random_texts(twin: llama_cpp.LlamaCpp, seed: int, *, has_invalid_utf8: bool = False) -> list[bytes]:
    max_length = 400
    generated_texts = texts.generate_texts(seed, COUNT, vocabulary_pieces(twin), has_invalid_utf8=has_invalid_utf8)
    truncated_texts = (text[:max_length] for text in generated_texts)
    return list(truncated_texts if has_invalid_utf8 else map(texts.drop_invalid_utf8, truncated_texts))


@pytest.mark.skipif(not REAL_FILES, reason=f"no files in {FOLDER}")
@pytest.mark.parametrize("name", NAMES)
def test_llama_cpps_own_vectors(name: str) -> None:
    tokenizer, twin = load_both((FOLDER / name).read_bytes())
    for string, expected in vectors(name):
        assert twin.tokenize(string.encode()) == expected
        assert tokenizer.encode(string) == expected


def vectors(name: str) -> list[tuple[str, list[int]]]:
    """Returns llama.cpp's test strings and their ids."""
    strings = (FOLDER / f"{name}.inp").read_bytes().decode().split(SEPARATOR)
    lines = (FOLDER / f"{name}.out").read_text().split("\n")
    strings, lines = strings[: len(strings) - (strings[-1] == "")], lines[: len(lines) - (lines[-1] == "")]
    assert len(strings) == len(lines) == 46
    return [(string, [int(number) for number in line.split()]) for string, line in zip(strings, lines, strict=True)]


@pytest.mark.skipif(not REAL_FILES, reason=f"no files in {FOLDER}")
@pytest.mark.parametrize("source", ["tiktoken/llama3_tokenizer.model", "huggingface/llama32_rebuilt.json"])
def test_vectors_of_a_converted_vocabulary(source: str, tmp_path: Path) -> None:
    """Tests Llama 3's vectors with a GGUF file converted from another format, because the data has none."""
    polytok.load(FOLDER.parent / source).save(tmp_path / "llama3.gguf")
    tokenizer = polytok.load(tmp_path / "llama3.gguf")
    twin = llama_cpp.LlamaCpp(gguf.parse((tmp_path / "llama3.gguf").read_bytes()))
    for string, expected in vectors("ggml-vocab-llama-bpe.gguf"):
        assert tokenizer.encode(string) == twin.tokenize(string.encode()) == expected


@pytest.mark.parametrize("name", NAMES)
def test_real_files_and_the_twin(name: str) -> None:
    tokenizer, twin = load_both((FOLDER / name).read_bytes())
    compare(tokenizer, twin, random_texts(twin, 1))
    compare(tokenizer, twin, random_texts(twin, 2, has_invalid_utf8=True))
    for path in sorted((FOLDER.parents[1] / "corpus").glob("*.txt")):
        compare(
            tokenizer, twin, [line[:300].decode(errors="ignore").encode() for line in texts.first_lines(path, 1500)]
        )


@pytest.mark.parametrize("name", NAMES)
def test_real_files_are_written_byte_for_byte(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    written_file = conversion.write(formats.read(data), "gguf", strict=True)
    assert written_file.data == data


@pytest.mark.parametrize("name", SMALL_VOCABULARIES)
def test_every_family_and_the_twin(name: str) -> None:
    data = file(SMALL_VOCABULARIES[name])
    tokenizer, twin = load_both(data)
    for seed in range(3):
        compare(tokenizer, twin, random_texts(twin, seed))
        compare(tokenizer, twin, random_texts(twin, seed, has_invalid_utf8=True))
    assert conversion.write(tokenizer.spec, "gguf", strict=True).data == data


@pytest.mark.parametrize("name", [*known.EXPRESSIONS])
def test_pre_tokenizers_and_the_twin(name: str) -> None:
    """Tests the pieces of the split by the spans of tokens: every piece is one unknown token."""
    steps = known.steps(known.PreTokenizer(name))
    vocab = Vocab.from_rows([(b"<unk>", 0, 0.0, 2)])
    tokenizer = polytok.Tokenizer(Spec(vocab, WordLevel(), split=steps, unknown="unk"))
    for text in pre_tokenizer_texts(name):
        pieces = split(known.EXPRESSIONS[name], [ord(character) for character in text])
        if name == "whitespace":
            pieces = [piece for piece in pieces if not chr(piece[0]).isspace()]
        data = text.encode()
        actual = [data[token.byte_start : token.byte_end].decode() for token in tokenizer.tokens(text)]
        assert actual == ["".join(map(chr, piece)) for piece in pieces], text


def pre_tokenizer_texts(name: str) -> list[str]:
    pick = random.Random(name)
    alphabet = [*"abAB 12345'sStTrReEvVmMlLdD\n\r\t.,!~$^`|/#()_-éÉ中あ가\u0301Ⅷ\u00a0\u3000\u2028ſK😀。ʰªﬁａｶกක\x85’…"]
    alphabet += ["\U0002a6df", "\u0378", "IMGIMGAZ", "<sentinel:1>"] + ["٣", "０"] * (name != "superbpe")
    random_strings = ["".join(pick.choices(alphabet, k=pick.randrange(1, 24))) for _ in range(1500)]
    unicode = texts.generate_texts(3, 500, VocabularyPieces([b" the", b"12"]))
    unicode_texts = [text.decode() for text in unicode] if name != "superbpe" else []
    return random_strings + [
        text for text in unicode_texts if not any(chr(code) in text for code in (0x1C, 0x1D, 0x1E, 0x1F))
    ]


def test_unknown_pre_tokenizers_are_named() -> None:
    data = file(bpe("llama-bpee"))
    with pytest.raises(FormatError, match=r"'llama-bpee' is not known; .* llama-bpe, .*pre_tokenizer="):
        polytok.load(data)
    tokenizer = polytok.load(data, pre_tokenizer="llama-bpe")
    assert tokenizer.spec.split == polytok.load(file(bpe("llama-bpe"))).spec.split
    assert conversion.write(tokenizer.spec, "gguf").data == data
    with pytest.raises(FormatError, match="'nothing' is not known"):
        polytok.load(data, pre_tokenizer="nothing")
    with pytest.raises(ArgumentError, match="pre_tokenizer= has no effect"):
        polytok.load(b"YQ== 0\n", format="tiktoken", pattern="", pre_tokenizer="gpt-2")


def test_changed_specs_are_written() -> None:
    from dataclasses import replace

    spec = formats.read(file(spm()))
    changed_spec = replace(spec, names={**spec.names, "eos": 5}, post=polytok.spec.Template.around((), (5,)))
    reread_spec = formats.read(conversion.write(changed_spec, "gguf", strict=True).data)
    assert (reread_spec.names["eos"], reread_spec.post) == (5, changed_spec.post)
    assert reread_spec.extra["gguf"]["keys"]["tokenizer.ggml.eos_token_id"][3] == struct.pack("<I", 5)


@pytest.mark.parametrize("name", SMALL_VOCABULARIES)
def test_specs_without_their_file_are_written(name: str) -> None:
    from dataclasses import replace

    spec = formats.read(file(SMALL_VOCABULARIES[name]))
    reread_spec = formats.read(conversion.write(replace(spec, extra={}), "gguf").data)
    expected_spec = replace(spec, extra={})
    for part in ("model", "normalize", "split", "unknown", "post", "decode", "names", "matching"):
        assert getattr(reread_spec, part) == getattr(expected_spec, part), part
    assert reread_spec.vocab.pieces() == expected_spec.vocab.pieces()


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("order", ["<", ">"])
def test_versions_and_byte_orders(version: int, order: str) -> None:
    keys = {**spm(), "other.float": 1.5, "other.list": [1, 2], "other.long": Typed(10, 2**40), "other.text": b"\xff"}
    data = file(keys, version=version, order=order)
    spec = formats.read(data)
    assert spec.vocab == formats.read(file(spm())).vocab
    assert conversion.write(spec, "gguf", strict=True).data == data


def test_tensors_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(file(spm()))
    os.truncate(path, 1 << 36)
    assert polytok.load(path).encode("the") == polytok.load(file(spm())).encode("the")


def test_the_gguf_package_reads_written_files(tmp_path: Path) -> None:
    package = pytest.importorskip("gguf")
    path = tmp_path / "vocab.gguf"
    for keys in SMALL_VOCABULARIES.values():
        spec = formats.read(file(keys))
        path.write_bytes(conversion.write(spec, "gguf").data)
        fields = package.GGUFReader(path).fields
        tokens = fields["tokenizer.ggml.tokens"]
        assert [bytes(tokens.parts[at]) for at in tokens.data] == [
            text.encode() if isinstance(text, str) else text for text in keys["tokenizer.ggml.tokens"]
        ]


def file_with_key(key: str, value: Any) -> bytes:
    return file({**spm(), key: value})


PREFIX = "tokenizer.ggml."
REFUSED: dict[str, tuple[bytes, str]] = {
    "no model": (file({"a": 1}), "tokenizer.ggml.model is missing"),
    "a strange model": (file_with_key(f"{PREFIX}model", "none"), "'none'; polytok reads the models"),
    "a model of another type": (file_with_key(f"{PREFIX}model", 7), "model is a uint32, not a string"),
    "no tokens": (file({f"{PREFIX}model": "llama"}), "tokens is missing"),
    "empty tokens": (file_with_key(f"{PREFIX}tokens", []), "tokens is empty"),
    "numbers for tokens": (file_with_key(f"{PREFIX}tokens", [1, 2]), "an array of int32, not an array of string"),
    "few types": (file_with_key(f"{PREFIX}token_type", [1, 2]), "token_type has 2 elements"),
    "types of another type": (
        file_with_key(f"{PREFIX}token_type", [1.0]),
        "an array of float32, not an array of int32",
    ),
    "few scores": (file_with_key(f"{PREFIX}scores", [1.0]), "scores has 1 elements"),
    "the same token twice": (
        file(vocabulary("llama", [("a", NORMAL, 0.0), ("b", NORMAL, 0.0), ("a", NORMAL, 0.0)])),
        "ids 0 and 2 have the same text",
    ),
    "no merges": (file({k: v for k, v in bpe().items() if k != f"{PREFIX}merges"}), "merges is missing"),
    "a merge to nothing": (file(bpe(merges=["a z", "z a"])), "merge 0, .*merges to .*not a token"),
    "BOS without an id": (file(bpe(bos_token_id=None, pre="glm4", add_bos_token=True)), "add_bos_token is true"),
    "a text for a flag": (file_with_key(f"{PREFIX}add_bos_token", "yes"), "add_bos_token is a string, not a bool"),
    "a cut charsmap": (
        file({**SMALL_VOCABULARIES["ugm"], f"{PREFIX}precompiled_charsmap": Typed(ARRAY, [9, 0, 0, 0, 1], 0)}),
        "precompiled_charsmap is truncated",
    ),
    "PLaMo-2 without bytes": (
        file(vocabulary("plamo2", [("a", NORMAL, 0.0), ("<0x00>", BYTE, 0.0), ("b", CONTROL, 0.0)])),
        "all 256 byte tokens",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_files_are_refused(name: str) -> None:
    data, message = REFUSED[name]
    with pytest.raises(FormatError, match=message):
        formats.read(data, format="gguf")


HEAD = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k"
HOSTILE = {
    "many keys": (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63), "byte 16: 9223372036854775808 keys"),
    "a long key": (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**63), "byte 24"),
    "a long array": (HEAD + struct.pack("<IIQ", ARRAY, STRING, 2**63), '"k": byte 49: 9223372036854775808 elements'),
    "a long array of numbers": (HEAD + struct.pack("<IIQ", ARRAY, 10, 2**61), "2305843009213693952 elements"),
    "arrays in arrays": (HEAD + struct.pack("<IIQ", ARRAY, ARRAY, 1), "an array of arrays"),
    "a strange type": (HEAD + struct.pack("<I", 99), "GGUF has no type 99"),
    "a key twice": (
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + (struct.pack("<Q", 1) + b"k" + struct.pack("<IB", 7, 1)) * 2,
        '"k" occurs twice',
    ),
    "version 1": (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
    "nothing": (b"GGUF", "byte 4"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_containers(name: str, tmp_path: Path) -> None:
    data, message = HOSTILE[name]
    with pytest.raises(FormatError, match=message):
        formats.read(data)
    path = tmp_path / "hostile.gguf"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=message):
        polytok.load(path)


def test_files_truncated_anywhere() -> None:
    data = file(wpm())
    for end in range(len(data)):
        with pytest.raises(FormatError):
            formats.read(data[:end], format="gguf")


@pytest.mark.parametrize("name", ["gemma", "plamo2", "rwkv", "ugm as T5", "wpm", "bpe"])
def test_flipped_bytes(name: str) -> None:
    data = file(SMALL_VOCABULARIES[name])
    pick = random.Random(name)
    for _ in range(600):
        damaged_data = bytearray(data)
        for _ in range(pick.randrange(1, 4)):
            damaged_data[pick.randrange(len(damaged_data))] = pick.randrange(256)
        try:
            tokenizer = polytok.load(bytes(damaged_data), format="gguf")
            tokenizer.decode(tokenizer.encode("a <s> the\n日 12", special="all", add_special=True))
        except polytok.PolytokError:
            continue


def test_special_tokens_by_their_texts() -> None:
    """Tests that tokens with certain texts are control tokens, and that others are always decoded."""
    rows = [("<|im_end|>", NORMAL, 0.0), ("<|start|>", CONTROL, 0.0), ("<|end|>", CONTROL, 0.0), ("x", NORMAL, 0.0)]
    rows += [("<|return|>", CONTROL, 0.0), ("<|call|>", CONTROL, 0.0), ("<PRE>", NORMAL, 0.0), *[("y", NORMAL, 0.0)]]
    spec = formats.read(file(vocabulary("llama", rows)))
    assert {token.text: token.special for token in spec.special} == {
        "<|im_end|>": True, "<|start|>": False, "<|end|>": False, "<|return|>": True, "<|call|>": True, "<PRE>": True,
    }  # fmt: skip
    named = formats.read(file(vocabulary("llama", rows, fim_pre_token_id=3)))
    assert "<PRE>" not in {token.text for token in named.special}


def test_gemma_newlines_are_one_token_if_it_exists() -> None:
    tokenizer, twin = load_both(file(gemma()))
    for text in (b"\n", b"\n\n", b"\n\n\n", b"a\n\nb"):
        assert tokenizer.encode(text) == twin.tokenize(text)


def test_plamo2_skips_a_byte_order_mark() -> None:
    tokenizer, twin = load_both(file(plamo2()))
    for text in ("\ufeffthe", "\ufeff", "a\ufeff"):
        assert tokenizer.encode(text) == twin.tokenize(text.encode())


def test_bytes_that_are_entries_of_their_own() -> None:
    """Tests that the byte token is the entry `<0xHH>` of any type, or else the entry with the byte as its text."""
    rows = [
        ("<unk>", 2, 0.0),
        ("<0xC3>", NORMAL, 0.0),
        (b"\xc3", NORMAL, 0.0),
        (b"\xa9", NORMAL, 0.0),
        ("▁", NORMAL, 0.0),
    ]
    tokenizer, twin = load_both(file(vocabulary("llama", [*rows, ("<0xe4>", BYTE, 0.0)])))
    assert tokenizer.encode("é") == twin.tokenize("é".encode()) == [4, 1, 3]
    with pytest.raises(EncodeError, match="no entry for the byte 0xA4"):
        tokenizer.encode("ä中")


def test_characters_that_represent_no_byte_are_reported() -> None:
    tokenizer, twin = load_both(file(bpe()))
    for id in range(len(twin.texts)):
        if not twin.attributes[id] & llama_cpp.SPECIAL:
            assert tokenizer.decode_bytes([id]) == twin.detokenize([id]), twin.texts[id]
    assert tokenizer.decode([tokenizer.spec.vocab.pieces().index("▁foreign".encode())]) == (
        "[UNK_BYTE_0xe29681▁foreign]foreign"
    )
