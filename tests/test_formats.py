"""Files to Specs and back: real files, small ones, what the reference programs make of what is written, and errors."""

from __future__ import annotations

import ast
import base64
import importlib
import itertools
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from format_samples import (
    REAL,
    SMALL,
    longest_spec,
    merges_spec,
    rank_spec,
    real,
    sentencepiece_spec,
    small_file,
    unigram_spec,
)
from polytok import Tokenizer, conversion, formats
from polytok.errors import ArgumentError, FormatError, LossError
from polytok.formats.tiktoken_known import KNOWN
from polytok.spec import (
    Kind,
    Line,
    Longest,
    PatternSplit,
    SentencePieceDecode,
    SentencePieceNormalize,
    Spec,
    SpecialToken,
    Template,
    Vocab,
)


def reread(spec: Spec, format_name: str, **options: Any) -> Spec:
    return formats.read(conversion.write(spec, format_name).data, **options)


# The table


def test_the_table_names_every_module() -> None:
    modules = [importlib.import_module(f"polytok.formats.{row.name}") for row in pkgutil.iter_modules(formats.__path__)]
    known = {row.name for row in formats.all_formats()}
    assert {module.name for module in modules if hasattr(module, "refusal")} == known


def test_an_unknown_format_name_lists_the_known_ones() -> None:
    with pytest.raises(ArgumentError, match=", ".join(row.name for row in formats.all_formats())):
        formats.read(b"", format="gguf9")


# Real files


@pytest.mark.parametrize("path", REAL)
def test_a_real_file_comes_back_byte_for_byte(path: str) -> None:
    data = real(path)
    format_name, size = REAL[path]
    spec = formats.read(data)
    assert (spec.origin.format, len(spec.vocab)) == (format_name, size)
    written = conversion.write(spec, format_name, strict=True)
    assert written.losses == ()
    assert written.data == data
    assert formats.read(written.data) == spec


@pytest.mark.parametrize("path", REAL)
def test_a_real_file_is_of_one_format(path: str) -> None:
    data = real(path)
    assert [module.name for module in formats.all_formats() if module.refusal(data) is None] == [REAL[path][0]]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("sentencepiece/grok1.model", {"pad": 0, "bos": 1, "eos": 2, "unk": 3}),
        ("sentencepiece/llama2.model", {"unk": 0, "bos": 1, "eos": 2}),
        ("sentencepiece/nai-t5.model", {"pad": 0, "eos": 1, "unk": 2}),
        ("sentencepiece/xlnet_base_cased.model", {"unk": 0, "bos": 1, "eos": 2, "pad": 5}),
        ("llama2c/tokenizer.bin", {"unk": 0, "bos": 1, "eos": 2}),
        ("rwkv/rwkv_vocab_v20230424.txt", {"eos": 0}),
        ("tiktoken/p50k_base.tiktoken", {"eos": 50256}),
        ("tiktoken/llama3_tokenizer.model", {"bos": 128000, "eos": 128001, "pad": 128004}),
        ("tiktoken/llama4.tiktoken", {"bos": 200000, "eos": 200001, "pad": 200018}),
    ],
)
def test_names_and_template(path: str, names: dict[str, int]) -> None:
    spec = formats.read(real(path))
    assert dict(spec.names) == names
    assert spec.post == Template.around(before=(names["bos"],) if "bos" in names else ())


def test_llama2_exports_as_llama2c_does() -> None:
    written = conversion.write(formats.read(real("sentencepiece/llama2.model")), "llama2c")
    assert written.data == real("llama2c/tokenizer.bin")
    assert "normalize: U+2581 in a text is no longer a space" in written.losses


def test_rwkv_literals_are_what_python_makes_of_them() -> None:
    data = real("rwkv/rwkv_vocab_v20230424.txt")
    spec = formats.read(data)
    for line, piece in zip(data.decode().splitlines(), spec.vocab.pieces(), strict=True):
        value = ast.literal_eval(line[line.index(" ") + 1 : line.rindex(" ")])
        assert (value.encode() if isinstance(value, str) else value) == piece


# SentencePiece


SENTENCES = [
    "the cat sat on the mat",
    "a bat and a hat",
    "naïve café über alles",
    "日本語 テスト 文",
    "123 456 7.8",
] * 20
TRAININGS = {
    "bpe": {"model_type": "bpe", "vocab_size": 90},
    "bpe_bytes": {"model_type": "bpe", "vocab_size": 340, "byte_fallback": True, "pad_id": 3, "unk_surface": ""},
    "unigram": {"model_type": "unigram", "vocab_size": 60, "user_defined_symbols": ["<sep>", "cat"]},
    "unigram_suffix": {"model_type": "unigram", "vocab_size": 60, "treat_whitespace_as_suffix": True},
    "identity": {"model_type": "bpe", "vocab_size": 80, "normalization_rule_name": "identity", "bos_id": -1},
    "flags": {"model_type": "bpe", "vocab_size": 80, "add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "word": {"model_type": "word", "vocab_size": 20},
    "char": {"model_type": "char", "vocab_size": 50, "control_symbols": ["<c>"], "unk_piece": "<?>"},
}


@pytest.fixture(scope="module", params=TRAININGS)
def trained(request: pytest.FixtureRequest) -> bytes:
    sentencepiece = pytest.importorskip("sentencepiece")
    import io

    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=writer,
        hard_vocab_limit=False,
        minloglevel=2,
        **TRAININGS[request.param],
    )
    return writer.getvalue()


def test_a_trained_model_comes_back_and_loads_in_sentencepiece(trained: bytes) -> None:
    import sentencepiece

    before = sentencepiece.SentencePieceProcessor(model_proto=trained)
    spec = formats.read(trained)
    ids = {"unk": before.unk_id(), "bos": before.bos_id(), "eos": before.eos_id(), "pad": before.pad_id()}
    assert dict(spec.names) == {name: number for name, number in ids.items() if number >= 0}
    written = conversion.write(spec, "sentencepiece", strict=True)
    assert written.data == trained
    after = sentencepiece.SentencePieceProcessor(model_proto=written.data)
    for text in (*SENTENCES[:5], "unknown \u2603 \U0001f600", "  two  spaces "):
        assert after.encode(text) == before.encode(text)
        assert after.decode(after.encode(text)) == before.decode(before.encode(text))


@pytest.mark.parametrize("make", [sentencepiece_spec, unigram_spec])
def test_a_spec_from_memory_loads_in_sentencepiece(make: Callable[..., Spec]) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    spec = make()
    written = conversion.write(spec, "sentencepiece", strict=True)
    processor = sentencepiece.SentencePieceProcessor(model_proto=written.data)
    assert [processor.id_to_piece(row).encode() for row in range(len(spec.vocab))] == spec.vocab.pieces()
    assert replace(formats.read(written.data), origin=spec.origin, extra={}) == spec


def test_an_edited_spec_writes_the_edit() -> None:
    spec = formats.read(conversion.write(unigram_spec(), "sentencepiece").data)
    edited = replace(
        spec,
        normalize=(SentencePieceNormalize(b"", False, False, True, True),),
        decode=SentencePieceDecode(False, False, b"?", SentencePieceNormalize(b"map", False, False, False)),
    )
    again = reread(edited, "sentencepiece")
    assert (again.normalize, again.decode) == (edited.normalize, edited.decode)


def test_unknown_fields_survive_at_every_level() -> None:
    piece = b"\x0a\x12" + b"\x0a\x05<unk>" + b"\x15\x00\x00\x00\x00" + b"\x18\x02" + b"\xc2\x0c\x01!"
    normal = b"\x0a\x0a" + b"\x0a\x01a" + b"\x15\x00\x00\x80\xbf" + b"\x18\x01"
    bare = b"\x0a\x03" + b"\x0a\x01b"
    trainer = b"\x12\x0b" + b"\x20\x03" + b"\xe2\x02\x00" + b"\xc2\x0c\x03new"
    self_test = b"\x22\x02\x0a\x00"
    data = piece + normal + bare + trainer + b"\x1a\x00" + self_test + b"\xc2\x0c\x03top"
    spec = formats.read(data)
    kept = spec.extra["sentencepiece"]
    assert spec.decode == SentencePieceDecode(unk_surface=b"")
    assert dict(kept["trainer_spec"]) == {"vocab_size": 3, "unknown": b"\xc2\x0c\x03new"}
    assert kept["self_test_data"] == (b"\x0a\x00",)
    assert conversion.write(spec, "sentencepiece", strict=True).data == data


def test_invalid_utf8_in_strings_survives() -> None:
    vocab = Vocab.from_rows([(b"<unk>", 0, 0.0, 2), (b"\xff\xe2\x96", 1, float("-inf"), 1)])
    extra = {"sentencepiece": {"trainer_spec": {"input": (b"\xff",)}}}
    spec = unigram_spec(vocab=vocab, line="0.2.1", extra=extra)
    again = reread(spec, "sentencepiece", line="0.2.1")
    assert again.vocab == vocab
    assert again.extra["sentencepiece"]["trainer_spec"]["input"] == (b"\xff",)


def test_a_bos_that_is_not_a_control_piece_is_none() -> None:
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"<s>", 1, 0.0, Kind.USER_DEFINED), (b"</s>", 2, 0.0, Kind.CONTROL)]
    again = reread(unigram_spec(vocab=Vocab.from_rows(rows)), "sentencepiece")
    assert dict(again.names) == {"unk": 0, "eos": 2}


def test_a_nul_piece_is_retired_by_the_newest_line() -> None:
    base = sentencepiece_spec()
    rows = list(zip(base.vocab.pieces(), base.vocab.ids, base.vocab.scores, base.vocab.kinds, strict=True))
    vocab = Vocab.from_rows([*rows, (b"\0", len(rows), 0.0, Kind.NORMAL)])
    written = conversion.write(replace(base, vocab=vocab), "sentencepiece")
    assert written.losses == (f"vocab: 1 kinds change, the first in row {len(rows)}: 1 becomes 5",)
    with pytest.raises(FormatError, match="must not contain NUL"):
        formats.read(written.data, line="0.2.1")


def pieces(*rows: tuple[bytes, float, Kind], model: int = 2, byte_fallback: bool = False) -> bytes:
    """A model file without any check."""
    from polytok import _core

    vocab = Vocab.from_rows([(text, number, score, kind) for number, (text, score, kind) in enumerate(rows)])
    return _core.sentencepiece_write(vocab, b"") + bytes([0x12, 5, 0x18, model, 0x98, 0x02, byte_fallback])


UNK = (b"<unk>", 0.0, Kind.UNKNOWN)
A = (b"a", -1.0, Kind.NORMAL)
NEW: tuple[Line, ...] = ("0.2.3",)
BOTH: tuple[Line, ...] = ("0.2.3", "0.2.1")


@pytest.mark.parametrize(
    ("data", "lines", "message"),
    [
        (pieces(UNK, (b"", 0.0, Kind.NORMAL)), BOTH, "a piece must not be empty"),
        (pieces(UNK, A, A), BOTH, 'piece 2 "a": the same text as piece 1'),
        (pieces(UNK, A, (b"a", 0.0, Kind.CONTROL)), NEW, 'piece 2 "a": the same text as piece 1'),
        (pieces(UNK, A, (b"b", 0.0, Kind.UNKNOWN)), BOTH, "a second piece of type UNKNOWN; the first is piece 0"),
        (pieces(UNK, (b"<0x00>", 0.0, Kind.BYTE)), BOTH, "a piece of type BYTE, but the model has no byte_fallback"),
        (pieces(UNK, (b"<0xab>", 0.0, Kind.BYTE), byte_fallback=True), BOTH, "must read <0x00> to <0xFF>, in upper"),
        (pieces(A), BOTH, "no piece is of type UNKNOWN"),
        (pieces(UNK, A, byte_fallback=True), BOTH, "byte_fallback needs 256 pieces of type BYTE, the model has 0"),
        (pieces(UNK, model=1), BOTH, "needs at least one ordinary piece"),
        (pieces(UNK, (b"a", float("nan"), Kind.NORMAL), model=1), NEW, "the score NaN is not a finite number"),
        (pieces(UNK, (b"a\0", 0.0, Kind.NORMAL)), BOTH, "must not contain NUL"),
        (pieces(UNK, (b"x" * 8000, 0.0, Kind.NORMAL)), NEW, "8000 bytes, where SentencePiece 0.2.3 allows fewer"),
    ],
)
def test_models_that_sentencepiece_does_not_load(data: bytes, lines: tuple[Line, ...], message: str) -> None:
    for line in BOTH:
        if line in lines:
            with pytest.raises(FormatError) as caught:
                formats.read(data, line=line)
            assert str(caught.value).startswith("sentencepiece: ")
            assert message in str(caught.value)
        else:
            formats.read(data, line=line)


@pytest.mark.parametrize("model", [1, 2, 3, 4])
def test_an_unused_nul_piece_is_skipped(model: int) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    nul = (b"\0", -2.0, Kind.UNUSED)
    data = pieces(UNK, A, nul, nul, (b"b", -3.0, Kind.NORMAL), model=model)
    reference = sentencepiece.SentencePieceProcessor(model_proto=data)
    tokenizer = Tokenizer(formats.read(data))
    for text in ("ab", "a\0b", "\0", "a \0\0 b"):
        assert tokenizer.encode(text) == reference.encode(text)
    for id in range(5):
        assert tokenizer.decode([id]) == reference.decode([id])
    assert conversion.write(tokenizer.spec, "sentencepiece").data == data


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (merges_spec(), "no model like"),
        (unigram_spec(normalize=()), "exactly one normalize step"),
        (unigram_spec(decode=longest_spec().decode), "cannot have the decoder"),
        (unigram_spec(unknown="error"), "unknown='error' cannot be expressed"),
        (unigram_spec(vocab=rank_spec().vocab), "row 257 has the id 300"),
        (unigram_spec(vocab=Vocab.from_rows([(b"a", 0, 0.0, 1)])), "no piece is of type UNKNOWN"),
        (unigram_spec(extra={"sentencepiece": {"trainer_spec": {"sise": 1}}}), "'sise' = 1 does not fit"),
        (unigram_spec(extra={"sentencepiece": {"trainer_spec": {"input": 1}}}), "'input' = 1 does not fit"),
    ],
)
def test_what_a_model_cannot_express(spec: Spec, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        conversion.write(spec, "sentencepiece")


def test_what_a_model_does_not_carry_is_named() -> None:
    spec = unigram_spec(
        vocab=replace(unigram_spec().vocab, active_kinds=np.array([2, 5, 4], dtype=np.uint8)),
        special=(SpecialToken("<x>", 9),),
        split=(PatternSplit("x"),),
        post=Template.around(after=(2,)),
        names={"eos": 2},
        extra={"gguf": 1},
    )
    losses = conversion.write(spec, "sentencepiece").losses
    assert [loss.split(":")[0] for loss in losses] == ["vocab", "special", "split", "post", "names", "names", "extra"]
    with pytest.raises(LossError, match=r"cannot carry all of this tokenizer:\n  vocab: the restriction"):
        conversion.write(spec, "sentencepiece", strict=True)


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
def test_what_llama2c_cannot_express(spec: Spec, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        conversion.write(spec, "llama2c")


def test_llama2c_counts_on_its_first_tokens() -> None:
    with pytest.raises(FormatError, match="llama2c: 1 tokens, but llama2.c needs at least 259"):
        formats.read(b"\1\0\0\0" + b"\0\0\0\0" + b"\1\0\0\0" + b"a")


# RWKV


def test_rwkv_special_token() -> None:
    data = small_file("rwkv")
    assert formats.read(data).special == (SpecialToken("<|endoftext|>", 0),)
    assert formats.read(data, special_tokens={}).special == ()
    assert formats.read(data, special_tokens={"<x>": 65530}).special == (SpecialToken("<x>", 65530),)
    taken = formats.read(b"0 'a' 1\n")
    assert (taken.special, dict(taken.names)) == ((), {})


def test_rwkv_round_trip_and_losses() -> None:
    spec = longest_spec()
    again = reread(spec, "rwkv")
    assert replace(again, origin=spec.origin) == spec
    losses = conversion.write(replace(spec, special=(SpecialToken("<x>", 9),)), "rwkv").losses
    assert len(losses) == 1 and losses[0].startswith("special: ")
    with pytest.raises(FormatError, match="longest token that fits"):
        conversion.write(rank_spec(), "rwkv")


# minbpe


def test_minbpe_file() -> None:
    written = conversion.write(merges_spec(), "minbpe", strict=True)
    assert written.data == (
        b"minbpe v1\n" rb"\p{L}+| ?\S+|\s+" b"\n2\n<|endoftext|> 300\n<|a|> 301\n97 98\n256 256\n240 159\n"
    )
    view = written.companions[".vocab"].decode().split("\n")
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
    assert replace(formats.read(written.data), origin=merges_spec().origin) == merges_spec()


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
def test_what_minbpe_cannot_express(spec: Spec, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        conversion.write(spec, "minbpe")


# tiktoken


@pytest.mark.parametrize("known", [row for row in KNOWN if not row.name.startswith("llama")], ids=lambda row: row.name)
def test_known_vocabularies_are_tiktokens(known: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    files: list[tuple[str, str]] = []

    def no_download(url: str, expected_hash: str) -> dict[bytes, int]:
        files.append((url, expected_hash))
        return {}

    monkeypatch.setattr(public, "load_tiktoken_bpe", no_download)
    theirs = getattr(public, known.name)()
    assert theirs["pat_str"] == known.scheme.pattern
    assert theirs["special_tokens"] == dict(known.scheme.special_tokens)
    assert files[-1] == (known.address, known.sha256)


def test_known_llama_special_tokens() -> None:
    llama3, llama30, llama4 = (row.scheme.special_tokens for row in KNOWN if row.name.startswith("llama"))
    assert sorted(llama3.values()) == sorted(llama30.values()) == list(range(128000, 128256))
    assert sorted(llama4.values()) == list(range(200000, 202048))
    assert (llama3["<|eot_id|>"], llama3["<|reserved_special_token_245|>"]) == (128009, 128255)
    assert (llama30["<|eot_id|>"], llama30["<|reserved_special_token_5|>"]) == (128009, 128010)
    assert llama30["<|start_header_id|>"] == 128006
    assert (llama4["<|image_start|>"], llama4["<|patch|>"], llama4["<|image|>"]) == (200080, 200092, 200090)
    assert (llama4["<|vision_reserved_special_token_1047|>"], llama4["<|reasoning_thinking_end|>"]) == (201133, 201143)
    assert llama4["<|text_post_train_reserved_special_token_68|>"] == 200079


def test_one_file_of_two_vocabularies() -> None:
    data = real("tiktoken/o200k_base.tiktoken")
    assert formats.read(data).origin.name == "o200k_base"
    harmony = formats.read(data, name="o200k_harmony")
    assert harmony.origin.name == "o200k_harmony"
    assert SpecialToken("<|call|>", 200012) in harmony.special
    assert [loss.split(":")[0] for loss in conversion.write(harmony, "tiktoken").losses] == ["special"]
    with pytest.raises(ArgumentError, match="not the file of that vocabulary"):
        formats.read(data, name="llama3")
    with pytest.raises(ArgumentError, match="the file of 'o200k_base' or 'o200k_harmony'"):
        formats.read(data, name="mine")


def test_the_caller_overrides_what_is_known() -> None:
    data = real("tiktoken/r50k_base.tiktoken")
    spec = formats.read(data, pattern=r"\S+|\s+", special_tokens={"<x>": 60000})
    assert (spec.split, spec.special) == ((PatternSplit(r"\S+|\s+"),), (SpecialToken("<x>", 60000),))
    assert (spec.origin.name, dict(spec.names)) == (None, {})
    losses = conversion.write(spec, "tiktoken").losses
    assert [loss.split(":")[0] for loss in losses] == ["special", "split", "names"]


def test_an_unknown_rank_file_needs_both() -> None:
    data = small_file("tiktoken")
    half_given: list[dict[str, Any]] = [{}, {"pattern": "x"}, {"special_tokens": {}}]
    for given in half_given:
        with pytest.raises(FormatError, match=r"give both: pattern=r'...', special_tokens="):
            formats.read(data, **given)
    spec = formats.read(data, pattern=r"\S+", special_tokens={"<|endoftext|>": 301}, name="mine")
    assert (spec.origin.name, dict(spec.names)) == ("mine", {"eos": 301})
    plain = formats.read(data, pattern="", special_tokens={})
    assert replace(plain, origin=rank_spec().origin) == rank_spec()
    assert conversion.write(plain, "tiktoken", strict=True).data == data


def test_a_written_rank_file_loads_in_tiktoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = pytest.importorskip("tiktoken.load")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    path = tmp_path / "small.tiktoken"
    path.write_bytes(small_file("tiktoken"))
    vocab = rank_spec().vocab
    assert load.load_tiktoken_bpe(str(path)) == dict(zip(vocab.pieces(), vocab.ids.tolist(), strict=True))


def test_a_rank_file_need_not_be_sorted() -> None:
    data = b"YQ== 5\nYg== 0\n"
    spec = formats.read(data, pattern="", special_tokens={})
    assert (spec.vocab.pieces(), spec.vocab.ids.tolist()) == ([b"a", b"b"], [5, 0])
    assert conversion.write(spec, "tiktoken").data == data


def test_tiktoken_cannot_express_other_models() -> None:
    with pytest.raises(FormatError, match="tiktoken merges bytes; it cannot run"):
        conversion.write(longest_spec(), "tiktoken")


@pytest.mark.parametrize("tokens", [{"": 1}, {"<x>": -1}, {"<x>": 2**32}, {"<x>": True}, {"<x>": "1"}, {1: 1}])
def test_special_tokens_are_checked(tokens: Any) -> None:
    with pytest.raises(ArgumentError, match="special_tokens"):
        formats.read(small_file("tiktoken"), pattern="", special_tokens=tokens)


# Detection and options


@pytest.mark.parametrize("format_name", SMALL)
def test_a_small_file_is_of_one_format(format_name: str) -> None:
    assert formats.detect(small_file(format_name)).name == format_name


@pytest.mark.parametrize("data", [b"", b"\n", b"hello world\n", b"{}", b"\x00" * 100, b"\xff" * 9])
def test_unknown_bytes_name_what_was_tried(data: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        formats.read(data)
    message = str(caught.value)
    assert message.startswith(f"no format recognises these {len(data)} bytes:")
    assert all(f"\n  {module.name}: " in message for module in formats.all_formats())


def test_ambiguous_bytes_ask_for_the_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats.llama2c, "refusal", lambda _data: None)
    with pytest.raises(FormatError, match="choose with format='llama2c' or format='tiktoken'"):
        formats.read(small_file("tiktoken"))


@pytest.mark.parametrize(
    ("format_name", "option"),
    [(name, option) for name in ("sentencepiece", "llama2c", "minbpe") for option in ("pattern", "special_tokens")]
    + [("llama2c", "line"), ("tiktoken", "line"), ("rwkv", "pattern")],
)
def test_an_option_without_meaning_is_an_error(format_name: str, option: str) -> None:
    values: dict[str, Any] = {"pattern": "x", "special_tokens": {}, "line": "0.2.1"}
    with pytest.raises(ArgumentError, match=f"{option}= has no effect on a {format_name} file"):
        formats.read(small_file(format_name), **{option: values[option]})


def test_the_line_is_checked_and_kept() -> None:
    data = small_file("sentencepiece")
    assert formats.read(data).line == "0.2.3"
    assert formats.read(data, line="0.2.1").line == "0.2.1"
    assert conversion.write(formats.read(data, line="0.2.1"), "sentencepiece", strict=True).data == data
    with pytest.raises(ArgumentError, match="line is '0.1'"):
        formats.read(data, line="0.1")  # type: ignore[arg-type]


# Files that are wrong


@pytest.mark.parametrize(
    ("format_name", "data", "message"),
    [
        ("sentencepiece", b"\x0a\x05ab", "a field of 5 bytes, but 2 are left (byte 2)"),
        ("sentencepiece", b"\x0a\x02\x0a\x05", "piece 0 (byte 0): not a protobuf message: a field of 5 bytes"),
        ("sentencepiece", pieces(UNK, A) + b"\x12\x02\x0a\x09", "are not valid protobuf"),
        ("llama2c", b"\0", "shorter than its header"),
        ("llama2c", b"\1\0\0\0\0\0\0\0\1\0\0\0", "token 0 (byte 4): the file ends within it"),
        ("rwkv", b"", "no tokens"),
        ("rwkv", b"1 'a' 1\n2 'b' 2\n", "line 2: the token has 1 bytes, not 2"),
        ("rwkv", b"1 '\\N{BULLET}' 3\n", "\\N{…} escapes are not read"),
        ("minbpe", b"minbpe v2\n", "line 1: the version is not `minbpe v1`"),
        ("minbpe", b"minbpe v1\n", "line 2: the file ends before the pattern"),
        ("minbpe", b"minbpe v1\n\xff\n", "line 2: the pattern is not UTF-8"),
        ("minbpe", b"minbpe v1\n\nx\n", "line 3: 'x' is not a number"),
        ("minbpe", b"minbpe v1\n\n-1\n", "line 3: '-1' is not a number"),
        ("minbpe", b"minbpe v1\n\n2\n<a> 300\n", "line 5: the file ends before the last special token"),
        ("minbpe", b"minbpe v1\n\n1\n<a> b 300\n", "line 4: a special token is a text without white space and an id"),
        ("minbpe", b"minbpe v1\n\n1\n<a> 4294967295\n", "line 4: '4294967295' is not a number from 0 to 4294967294"),
        ("minbpe", b"minbpe v1\n\n1\n<a> 97\n", "line 4: the special token '<a>' has the id of token 97"),
        ("minbpe", b"minbpe v1\n\n2\n<a> 300\n<a> 301\n", "line 5: the special token '<a>' repeats"),
        ("minbpe", b"minbpe v1\n\n1\n<a> 300\n97 256\n", "line 5: the id 256 does not exist yet"),
        ("minbpe", b"minbpe v1\n\n0\n97 98\n97 98\n", "line 5: the pair of line 4 again"),
        ("tiktoken", b"\n", "no tokens"),
        ("tiktoken", b"YQ== 0\nYQ==0\n", "line 2: not two fields"),
        ("tiktoken", b"YQ== 0\nY-== 1\n", "line 2: the first field is not base64"),
        ("tiktoken", b"YQ== 0\nYQ== 1\n", 'line 2: the token "a" again, first on line 1'),
    ],
)
def test_errors_say_where(format_name: str, data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        formats.read(data, format=format_name)
    assert str(caught.value).startswith(f"{format_name}: ")
    assert message in str(caught.value)


def test_base64_is_the_standard_one() -> None:
    for length in itertools.chain(range(1, 70), (3000,)):
        text = bytes(range(256)) * 12
        data = base64.b64encode(text[:length]) + b" 7\n"
        spec = formats.read(data, pattern="", special_tokens={})
        assert spec.vocab.blob == text[:length]
        assert conversion.write(spec, "tiktoken").data == data


def test_a_longest_model_stays_one() -> None:
    assert reread(longest_spec(), "rwkv").model == Longest()
