"""Tests texts, ids and files from bug reports about tokenizers: polytok must agree with the reference on each."""

from __future__ import annotations

import base64
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tiktoken

import polytok
from format_samples import merges_spec, rank_spec, small_file
from parity import checks
from parity.checks import Outcome
from parity.references import SentencePiece
from parity.vocabularies import all_vocabularies
from polytok import FormatError, Kind, SpecError, TokenIdError, conversion
from polytok.spec import BytesDecode, ChainDecode
from published import NAMES, every_vocabulary, marked_pairs
from reference_specs import needs_data


def check(name: str, texts: list[str | bytes]) -> None:
    """Checks that polytok agrees with the references of a vocabulary on some texts."""
    vocabulary = all_vocabularies()[name]
    data = [text.encode() if isinstance(text, str) else text for text in texts]
    for reference in vocabulary.references():
        outcome = Outcome(name, reference.name, "nasty input")
        checks.encoding(outcome, vocabulary.load(), reference, data)
        assert not outcome.examples


# Long runs


def random_letters(count: int) -> str:
    return "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=count))


RUNS = {
    "carets": "^" * 100_000,
    "one letter": "a" * 100_000,
    "underscores": "_" * 50_000,
    "capitals": "Z" * 131_072,
    "line breaks": "\n" * 26_000,
    "blank lines": "\r\n" * 13_000,
    "spaces": " " * 26_000 + "x",
    "tabs and spaces": "\t " * 13_000,
    "no-break spaces": "\xa0" * 26_000,
    "digits": "7" * 26_000,
    "accents": "e" + "\u0301" * 26_000,
    "ideographs": "世" * 26_000,
    "emoji": "😀" * 26_000,
    "Hangul": "가" * 26_000,
    "random letters": random_letters(100_000),
}
LONG = 1_000_000


@needs_data
@pytest.mark.parametrize(("name", "run"), marked_pairs(NAMES, list(RUNS)))
def test_long_runs(name: str, run: str) -> None:
    tokenizer = all_vocabularies()[name].load()
    ids = tokenizer.encode(RUNS[run])
    assert tokenizer.count(RUNS[run]) == len(ids)
    check(name, [RUNS[run]])


@needs_data
@pytest.mark.parametrize("name", ["llama2", "cl100k_base", "r50k_base", "llama2c"])
def test_a_million_of_one_character(name: str) -> None:
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    for text in (b"a" * LONG, b"^" * LONG, b" " * LONG, b"\n" * LONG, random_letters(LONG).encode(), b"\xff" * LONG):
        ids = tokenizer.encode(text)
        if vocabulary.lossless == "bytes":
            assert tokenizer.decode_bytes(ids) == text


# Spaces, special tokens as text, characters that normalizers change

SPACED: list[str | bytes] = [
    *("This is 🦙.cpp", "<s>G", "<text><special> <text>", "hello !", " ...", "   leading spaces", "    indented_line"),
    *("\tx", "trailing   ", "trailing\n", " Hello", "Hello ", "This", " This", "", " ", "  ", "\n\n", "a  b   c"),
    *("<s> G</s>", "</s>", "<|endoftext|>", "<|endoftext|> x", "[INST] x [/INST]", "▁▁a", "a▁b", "Ġa"),
]
CHARACTERS: list[str | bytes] = [
    *("ｽﾅｯﾌﾟﾘﾝｸﾞ　SC-40", "？……", "\ufe30", "마실까해요", "마실까해요".encode().decode(), "T\x10his \x10\t \n", "ju\x16"),
    *("\u1106\u1161\u1109\u1175\u11af\u1101\u1161", "Hello world! Café déjà vu — 123 😊", "eBay mL NaOH pH", "i ⭢ j"),
    *("𒎗𓐍", "Cafe\u0301", " Café", "".join(map(chr, range(0x300, 0x370))), "\u0e33\u0e4d", "ﬁ ﷺ ㍿ ™", "\0", "a\0b"),
]


@needs_data
@every_vocabulary
def test_spaces_and_special_tokens_as_text(name: str) -> None:
    check(name, SPACED)


@needs_data
@every_vocabulary
def test_characters_that_normalizers_change(name: str) -> None:
    check(name, CHARACTERS)


# Invalid bytes and characters


@needs_data
@every_vocabulary
def test_surrogates(name: str) -> None:
    tokenizer = all_vocabularies()[name].load()
    assert tokenizer.encode("a\ud83d\ude00b") == tokenizer.encode("a😀b")
    for broken_text in ("\ud800", "a\udfff", "\ude00\ud83d", "\ud83d x"):
        repaired_text = broken_text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert tokenizer.encode(broken_text) == tokenizer.encode(repaired_text)
        if name in ("cl100k_base", "o200k_base"):
            (reference,) = all_vocabularies()[name].corpus_references()
            assert tokenizer.encode(broken_text) == reference.encoding.encode_ordinary(broken_text)  # type: ignore[attr-defined]


@needs_data
@every_vocabulary
def test_every_byte_and_every_truncated_character(name: str) -> None:
    characters = [character.encode() for character in "é世😀\U0010ffff"]
    truncated_characters = [character[:end] for character in characters for end in range(1, len(character))]
    single_bytes = [bytes([byte]) for byte in range(256)]
    check(
        name,
        [
            *single_bytes,
            *truncated_characters,
            *(b"a" + part + b"b" for part in truncated_characters),
            *(part + b" \n" for part in truncated_characters),
        ],
    )


@needs_data
@every_vocabulary
@pytest.mark.parametrize("text", ["A 世ab", "안녕하세요!", "👩‍👩‍👧 x", "naïve 日本語", "\ufffd�"])
def test_streaming_returns_every_character_once(name: str, text: str) -> None:
    tokenizer = all_vocabularies()[name].load()
    ids = tokenizer.encode(text)
    stream = tokenizer.decoder()
    assert "".join([*map(stream.push, ids), stream.finish()]) == tokenizer.decode(ids)


@needs_data
@every_vocabulary
def test_ids_that_do_not_exist(name: str) -> None:
    tokenizer = all_vocabularies()[name].load()
    for id in (tokenizer.vocab_size, 2**32 - 1):
        decode = tokenizer.spec.decode
        if isinstance(decode, ChainDecode) or decode == BytesDecode(skips_unknown=True):  # tokenizers does the same.
            assert tokenizer.decode([id]) == ""
            continue
        with pytest.raises(TokenIdError, match=str(id)):
            tokenizer.decode([id])
    for id in (-1, 2**32, 2**70):
        with pytest.raises((TokenIdError, OverflowError)):
            tokenizer.decode([id])


# Files


def pieces_file(*rows: tuple[bytes, float, Kind], charsmap: bytes | None = None) -> bytes:
    """Writes a SentencePiece BPE model of these pieces, field by field."""

    def field(number: int, data: bytes) -> bytes:
        return bytes([number << 3 | 2]) + varint(len(data)) + data

    pieces = [
        field(1, field(1, text) + b"\x15" + struct.pack("<f", score) + bytes([3 << 3, kind]))
        for text, score, kind in rows
    ]
    normalizer = b"" if charsmap is None else field(3, field(2, charsmap))
    return b"".join(pieces) + field(2, bytes([3 << 3, 2])) + normalizer


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


UNK = (b"<unk>", 0.0, Kind.UNKNOWN)
A = (b"a", -1.0, Kind.NORMAL)


def load_or_error(load: Callable[[], polytok.Tokenizer]) -> polytok.Tokenizer | str:
    """Returns the tokenizer, or the message of a PolytokError."""
    try:
        return load()
    except (FormatError, SpecError) as error:
        return str(error)


def test_a_text_of_4_gib_is_an_error_before_any_work() -> None:
    text = bytes(2**32 - 1)  # the system gives its pages when they are first read
    tokenizer = polytok.load("default")
    for encode in (tokenizer.encode, tokenizer.count, tokenizer.encode_array, tokenizer.spans, tokenizer.tokens):
        with pytest.raises(polytok.EncodeError, match="4 GiB or more"):
            encode(text)


def test_a_piece_of_more_than_100_kilobytes() -> None:
    long_piece = b"ab" * 60_000
    data = pieces_file(UNK, A, (b"b", -2.0, Kind.NORMAL), (long_piece, -3.0, Kind.NORMAL))
    assert "120000 bytes" in str(load_or_error(lambda: polytok.load(data)))
    older_tokenizer = polytok.load(data, sentencepiece_version="0.2.1")
    assert older_tokenizer.decode(older_tokenizer.encode(long_piece.decode())).endswith(long_piece.decode())
    ranks = conversion.write(rank_spec(), "tiktoken").data + base64.b64encode(long_piece) + b" 500\n"
    rank_tokenizer = polytok.load(ranks, pattern="", special_tokens={})
    assert rank_tokenizer.encode(long_piece) == [500]


def test_a_nul_piece() -> None:
    assert "NUL" in str(load_or_error(lambda: polytok.load(pieces_file(UNK, A, (b"\0", 0.0, Kind.NORMAL)))))
    assert "NUL" in str(
        load_or_error(
            lambda: polytok.load(pieces_file(UNK, A, (b"a\0b", 0.0, Kind.NORMAL)), sentencepiece_version="0.2.1")
        )
    )


@pytest.mark.parametrize("name", [b"<0x-1>", b"<0xZZ>", b"<0x100>", b"<0x1>", b"<0x0A", b"<0x>"])
def test_malformed_names_of_bytes(name: bytes) -> None:
    """Tests malformed byte names: an error for a byte piece, an ordinary text for a normal piece."""
    message = load_or_error(lambda: polytok.load(pieces_file(UNK, A, (name, 0.0, Kind.BYTE))))
    assert isinstance(message, str)
    tokenizer = polytok.load(pieces_file(UNK, A, (name, 0.0, Kind.NORMAL)))
    assert tokenizer.decode([2]) == name.decode()
    data = bytearray(small_file("llama2c"))
    data[4:] = data[4:].replace(b"\x06\0\0\0<0x41>", struct.pack("<I", len(name)) + name)
    llama2c = load_or_error(lambda: polytok.load(bytes(data), format="llama2c"))
    assert isinstance(llama2c, str) or llama2c.decode_bytes([3 + 0x41])


@pytest.mark.parametrize(
    "charsmap", [b"\x01", b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x04\0\0\0\0\0\0\0", b"\x00\x04\0\0" * 4]
)
def test_a_short_charsmap(charsmap: bytes) -> None:
    """Tests short charsmaps: an error, or the same text as in SentencePiece."""
    data = pieces_file(UNK, A, charsmap=charsmap)
    tokenizer_or_error = load_or_error(lambda: polytok.load(data))
    try:
        reference = SentencePiece(data)
    except Exception:
        reference = None
    if isinstance(tokenizer_or_error, polytok.Tokenizer) and reference is not None:
        assert tokenizer_or_error.encode("a bc é") == reference.encode([b"a bc \xc3\xa9"])[0].ids


def test_special_ids_outside_of_the_vocabulary() -> None:
    data = conversion.write(merges_spec(), "minbpe").data
    data_with_far_id = data.replace(b"<|a|> 301", b"<|a|> 4294967294")
    tokenizer = polytok.load(data_with_far_id)
    assert tokenizer.encode("<|a|>", special="all") == [4294967294]
    assert tokenizer.decode([4294967294]) == "<|a|>"
    assert "301" not in str(tokenizer.special_tokens)
    with pytest.raises(FormatError, match="line 5"):
        polytok.load(data.replace(b"<|a|> 301", b"<|a|> 97"))
    with pytest.raises(FormatError):
        polytok.load(data.replace(b"<|a|> 301", b"<|a|> 99999999999"))


def test_a_vocabulary_without_bos_and_eos() -> None:
    tokenizer = polytok.load(pieces_file(UNK, A))
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id) == (None, None, None)
    assert tokenizer.encode("a", add_special=True) == tokenizer.encode("a")


def test_duplicate_ids() -> None:
    doubled = conversion.write(rank_spec(), "tiktoken").data + base64.b64encode(b"zz") + b" 97\n"
    message = load_or_error(lambda: polytok.load(doubled, pattern="", special_tokens={}))
    assert isinstance(message, str)
    assert "97" in message
    duplicated_data = conversion.write(rank_spec(), "tiktoken").data + base64.b64encode(b"ab") + b" 999\n"
    assert isinstance(load_or_error(lambda: polytok.load(duplicated_data, pattern="", special_tokens={})), str)
    rwkv = b"1 'a' 1\n1 'b' 1\n"
    assert isinstance(load_or_error(lambda: polytok.load(rwkv, format="rwkv")), str)


NESTED = """
import sys, polytok
sys.path.insert(0, sys.argv[1])
from format_samples import rank_spec
from polytok import conversion
ranks = conversion.write(rank_spec(), "tiktoken").data
tokenizer = polytok.load(ranks, pattern=sys.argv[2], special_tokens={})
for text in ("a" * 30 + "!", "a" * 50_000 + "!", "b" * 1000, "ab" * 20_000):
    try:
        print(tokenizer.count(text))
    except polytok.PolytokError as error:
        print(type(error).__name__)
"""


@pytest.mark.parametrize("pattern", ["(a+)+", "(a+)+$", "(a|aa)+$", "(a*)*b", r"(?:a+)+(?!\S)", "(.*)*x"])
def test_patterns_that_backtrack_endlessly(pattern: str) -> None:
    """Tests nested repetitions: a result or a clear error, in a separate process that can be killed if it hangs."""
    command = [sys.executable, "-c", NESTED, str(Path(__file__).parent), pattern]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 0 or "SpecError" in process.stderr, process.stderr


def test_a_nested_pattern_agrees_with_tiktoken() -> None:
    spec = rank_spec()
    ranks = {piece: int(id) for piece, id in zip(spec.vocab.pieces(), spec.vocab.ids, strict=True)}
    reference = tiktoken.Encoding("nested", pat_str="(a+)+|b", mergeable_ranks=ranks, special_tokens={})
    tokenizer = polytok.load(conversion.write(spec, "tiktoken").data, pattern="(a+)+|b", special_tokens={})
    for text in ("aaa", "aabab", "abba", "xaay", ""):
        assert tokenizer.encode(text) == reference.encode_ordinary(text)
