"""Tests the files of llama2.c, RWKV and minbpe: contents, writing, losses and errors."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from format_samples import (
    longest_spec,
    merges_spec,
    rank_spec,
    real,
    reread,
    sentencepiece_spec,
    small_file,
    unigram_spec,
)
from polytok import conversion, formats
from polytok.errors import FormatError
from polytok.spec import Longest, PatternSplit, Spec, SpecialToken, Vocab

# llama2.c


def test_llama2c_kinds_and_layout() -> None:
    spec = formats.read(small_file("llama2c"))
    assert [spec.vocab.piece(row) for row in (0, 1, 2, 68, 259, 266)] == [
        b"<unk>", b"\n<s>\n", b"\n</s>\n", b"<0x41>", b"  ", "é".encode(),
    ]  # fmt: skip
    assert spec.vocab.kinds.tolist() == [2, 3, 3, *[6] * 256, *[1] * 8]
    assert conversion.write(spec, "llama2c", strict=True).data == small_file("llama2c")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (unigram_spec(), "llama2.c merges by score"),
        (sentencepiece_spec(vocab=unigram_spec().vocab), "id 1 must be of kind CONTROL"),
        (sentencepiece_spec(names={"unk": 0, "bos": 2, "eos": 1}), "for unk, bos and eos"),
        (sentencepiece_spec(vocab=rank_spec().vocab), "row 257 has the id 300"),
    ],
)
def test_specs_that_llama2c_cannot_express(spec: Spec, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        conversion.write(spec, "llama2c")


def test_llama2c_needs_its_first_tokens() -> None:
    with pytest.raises(FormatError, match="llama2c: the file has 1 tokens, but llama2.c needs at least 259"):
        formats.read(b"\1\0\0\0" + b"\0\0\0\0" + b"\1\0\0\0" + b"a")


def test_llama2_exports_the_same_file_as_llama2c() -> None:
    written_file = conversion.write(formats.read(real("sentencepiece/llama2.model")), "llama2c")
    assert written_file.data == real("llama2c/tokenizer.bin")
    assert "normalize: U+2581 in a text is no longer a space" in written_file.losses


# RWKV


def test_rwkv_special_token() -> None:
    data = small_file("rwkv")
    assert formats.read(data).special == (SpecialToken("<|endoftext|>", 0),)
    assert formats.read(data, special_tokens={}).special == ()
    assert formats.read(data, special_tokens={"<x>": 65530}).special == (SpecialToken("<x>", 65530),)
    spec = formats.read(b"0 'a' 1\n")
    assert (spec.special, dict(spec.names)) == ((), {})


def test_rwkv_round_trip_and_losses() -> None:
    spec = longest_spec()
    reread_spec = reread(spec, "rwkv")
    assert replace(reread_spec, origin=spec.origin) == spec
    losses = conversion.write(replace(spec, special=(SpecialToken("<x>", 9),)), "rwkv").losses
    assert len(losses) == 1 and losses[0].startswith("special: ")
    with pytest.raises(FormatError, match="longest token that fits"):
        conversion.write(rank_spec(), "rwkv")


def test_rwkv_literals_equal_those_of_python() -> None:
    data = real("rwkv/rwkv_vocab_v20230424.txt")
    spec = formats.read(data)
    for line, piece in zip(data.decode().splitlines(), spec.vocab.pieces(), strict=True):
        value = ast.literal_eval(line[line.index(" ") + 1 : line.rindex(" ")])
        assert (value.encode() if isinstance(value, str) else value) == piece


def test_a_longest_model_stays_one() -> None:
    assert reread(longest_spec(), "rwkv").model == Longest()


# minbpe


def test_minbpe_file() -> None:
    written_file = conversion.write(merges_spec(), "minbpe", strict=True)
    assert written_file.data == (
        b"minbpe v1\n" rb"\p{L}+| ?\S+|\s+" b"\n2\n<|endoftext|> 300\n<|a|> 301\n97 98\n256 256\n240 159\n"
    )
    view = written_file.companions[".vocab"].decode().split("\n")
    assert view[:2] == ["[\\u0000] 0", "[\\u0001] 1"]
    assert view[97] == "[a] 97"
    assert view[255:] == [
        "[\ufffd] 255",
        "[a][b] -> [ab] 256",
        "[ab][ab] -> [abab] 257",
        "[\ufffd][\ufffd] -> [\ufffd] 258",
        "[<|endoftext|>] 300",
        "[<|a|>] 301",
        "",
    ]
    assert replace(formats.read(written_file.data), origin=merges_spec().origin) == merges_spec()


def test_minbpe_basic_has_no_split() -> None:
    spec = formats.read(b"minbpe v1\r\n\r\n0\r\n97 98")
    assert (spec.split, spec.special, spec.vocab.piece(256)) == ((), (), b"ab")
    assert conversion.write(spec, "minbpe", strict=True).data == b"minbpe v1\n\n0\n97 98\n"


def test_minbpe_losses() -> None:
    spec = merges_spec(split=(PatternSplit(" a|b"),), special=(SpecialToken("a b", 300), SpecialToken("c", 301)))
    losses = conversion.write(spec, "minbpe").losses
    assert [loss.split(":")[0] for loss in losses] == ["special", "split"]
    assert "white space" in losses[0] and "stripped" in losses[1]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (longest_spec(), "minbpe merges bytes; it cannot run"),
        (rank_spec(), "row 257 has the id 300"),
        (merges_spec(split=(PatternSplit("a\nb"),)), "line break"),
        (merges_spec(split=(PatternSplit("a"), PatternSplit("b"))), "at most one pattern"),
        (merges_spec(vocab=rank_spec().vocab), "row 257 has the id 300"),
        (merges_spec(vocab=Vocab.from_rows([(b"a", 0, 0.0, 1)])), "numbers the 256 bytes first"),
    ],
)
def test_specs_that_minbpe_cannot_express(spec: Spec, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        conversion.write(spec, "minbpe")
