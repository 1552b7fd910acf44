"""Tests SentencePiece models: reading, writing, errors, and loading written models in the package ``sentencepiece``."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from format_samples import (
    A_PIECE,
    UNKNOWN_PIECE,
    longest_spec,
    merges_spec,
    rank_spec,
    reread,
    sentencepiece_file,
    sentencepiece_spec,
    unigram_spec,
)
from polytok import Tokenizer, conversion, formats
from polytok.errors import FormatError, LossError
from polytok.spec import (
    Kind,
    PatternSplit,
    SentencePieceDecode,
    SentencePieceNormalize,
    SentencePieceVersion,
    Spec,
    SpecialToken,
    Template,
    Vocab,
)

SENTENCES = [
    "the cat sat on the mat",
    "a bat and a hat",
    "naïve café über alles",
    "日本語 テスト 文",
    "123 456 7.8",
] * 20
TRAINING_OPTIONS = {
    "bpe": {"model_type": "bpe", "vocab_size": 90},
    "bpe_bytes": {"model_type": "bpe", "vocab_size": 340, "byte_fallback": True, "pad_id": 3, "unk_surface": ""},
    "unigram": {"model_type": "unigram", "vocab_size": 60, "user_defined_symbols": ["<sep>", "cat"]},
    "unigram_suffix": {"model_type": "unigram", "vocab_size": 60, "treat_whitespace_as_suffix": True},
    "identity": {"model_type": "bpe", "vocab_size": 80, "normalization_rule_name": "identity", "bos_id": -1},
    "flags": {"model_type": "bpe", "vocab_size": 80, "add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "word": {"model_type": "word", "vocab_size": 20},
    "char": {"model_type": "char", "vocab_size": 50, "control_symbols": ["<c>"], "unk_piece": "<?>"},
}


@pytest.fixture(scope="module", params=TRAINING_OPTIONS)
def trained_model(request: pytest.FixtureRequest) -> bytes:
    sentencepiece = pytest.importorskip("sentencepiece")
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=writer,
        hard_vocab_limit=False,
        minloglevel=2,
        **TRAINING_OPTIONS[request.param],
    )
    return writer.getvalue()


def test_a_trained_model_is_written_unchanged_and_loads_in_sentencepiece(trained_model: bytes) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    old_processor = sentencepiece.SentencePieceProcessor(model_proto=trained_model)
    spec = formats.read(trained_model)
    ids = {
        "unk": old_processor.unk_id(),
        "bos": old_processor.bos_id(),
        "eos": old_processor.eos_id(),
        "pad": old_processor.pad_id(),
    }
    assert dict(spec.names) == {name: number for name, number in ids.items() if number >= 0}
    written_file = conversion.write(spec, "sentencepiece", strict=True)
    assert written_file.data == trained_model
    new_processor = sentencepiece.SentencePieceProcessor(model_proto=written_file.data)
    for text in (*SENTENCES[:5], "unknown \u2603 \U0001f600", "  two  spaces "):
        assert new_processor.encode(text) == old_processor.encode(text)
        assert new_processor.decode(new_processor.encode(text)) == old_processor.decode(old_processor.encode(text))


@pytest.mark.parametrize("make", [sentencepiece_spec, unigram_spec])
def test_a_spec_from_memory_loads_in_sentencepiece(make: Callable[..., Spec]) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    spec = make()
    written_file = conversion.write(spec, "sentencepiece", strict=True)
    processor = sentencepiece.SentencePieceProcessor(model_proto=written_file.data)
    assert [processor.id_to_piece(row).encode() for row in range(len(spec.vocab))] == spec.vocab.pieces()
    assert replace(formats.read(written_file.data), origin=spec.origin, extra={}) == spec


def test_an_edited_spec_writes_the_edit() -> None:
    spec = formats.read(conversion.write(unigram_spec(), "sentencepiece").data)
    edited_spec = replace(
        spec,
        normalize=(SentencePieceNormalize(b"", False, False, True, True),),
        decode=SentencePieceDecode(False, False, b"?", SentencePieceNormalize(b"map", False, False, False)),
    )
    reread_spec = reread(edited_spec, "sentencepiece")
    assert (reread_spec.normalize, reread_spec.decode) == (edited_spec.normalize, edited_spec.decode)


def test_unknown_fields_survive_at_every_level() -> None:
    piece = b"\x0a\x12" + b"\x0a\x05<unk>" + b"\x15\x00\x00\x00\x00" + b"\x18\x02" + b"\xc2\x0c\x01!"
    normal_fields = b"\x0a\x0a" + b"\x0a\x01a" + b"\x15\x00\x00\x80\xbf" + b"\x18\x01"
    bare = b"\x0a\x03" + b"\x0a\x01b"
    trainer = b"\x12\x0b" + b"\x20\x03" + b"\xe2\x02\x00" + b"\xc2\x0c\x03new"
    self_test = b"\x22\x02\x0a\x00"
    data = piece + normal_fields + bare + trainer + b"\x1a\x00" + self_test + b"\xc2\x0c\x03top"
    spec = formats.read(data)
    extra = spec.extra["sentencepiece"]
    assert spec.decode == SentencePieceDecode(unk_surface=b"")
    assert dict(extra["trainer_spec"]) == {"vocab_size": 3, "unknown": b"\xc2\x0c\x03new"}
    assert extra["self_test_data"] == (b"\x0a\x00",)
    assert conversion.write(spec, "sentencepiece", strict=True).data == data


def test_invalid_utf8_in_strings_survives() -> None:
    vocab = Vocab.from_rows([(b"<unk>", 0, 0.0, 2), (b"\xff\xe2\x96", 1, float("-inf"), 1)])
    extra = {"sentencepiece": {"trainer_spec": {"input": (b"\xff",)}}}
    spec = unigram_spec(vocab=vocab, sentencepiece_version="0.2.1", extra=extra)
    reread_spec = reread(spec, "sentencepiece", sentencepiece_version="0.2.1")
    assert reread_spec.vocab == vocab
    assert reread_spec.extra["sentencepiece"]["trainer_spec"]["input"] == (b"\xff",)


def test_a_bos_that_is_not_a_control_piece_is_none() -> None:
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"<s>", 1, 0.0, Kind.USER_DEFINED), (b"</s>", 2, 0.0, Kind.CONTROL)]
    reread_spec = reread(unigram_spec(vocab=Vocab.from_rows(rows)), "sentencepiece")
    assert dict(reread_spec.names) == {"unk": 0, "eos": 2}


def test_the_newest_line_makes_a_nul_piece_unused() -> None:
    base = sentencepiece_spec()
    rows = list(zip(base.vocab.pieces(), base.vocab.ids, base.vocab.scores, base.vocab.kinds, strict=True))
    vocab = Vocab.from_rows([*rows, (b"\0", len(rows), 0.0, Kind.NORMAL)])
    written_file = conversion.write(replace(base, vocab=vocab), "sentencepiece")
    assert written_file.losses == (f"vocab: 1 kind changes, in row {len(rows)}: normal becomes unused",)
    with pytest.raises(FormatError, match="must not contain NUL"):
        formats.read(written_file.data, sentencepiece_version="0.2.1")


NEWEST_LINE: tuple[SentencePieceVersion, ...] = ("0.2.3",)
BOTH_LINES: tuple[SentencePieceVersion, ...] = ("0.2.3", "0.2.1")


@pytest.mark.parametrize(
    ("data", "lines", "message"),
    [
        (sentencepiece_file(UNKNOWN_PIECE, (b"", 0.0, Kind.NORMAL)), BOTH_LINES, "a piece must not be empty"),
        (sentencepiece_file(UNKNOWN_PIECE, A_PIECE, A_PIECE), BOTH_LINES, 'piece 2 "a": the same text as piece 1'),
        (
            sentencepiece_file(UNKNOWN_PIECE, A_PIECE, (b"a", 0.0, Kind.CONTROL)),
            NEWEST_LINE,
            'piece 2 "a": the same text as piece 1',
        ),
        (
            sentencepiece_file(UNKNOWN_PIECE, A_PIECE, (b"b", 0.0, Kind.UNKNOWN)),
            BOTH_LINES,
            "a second piece of type UNKNOWN; the first is piece 0",
        ),
        (
            sentencepiece_file(UNKNOWN_PIECE, (b"<0x00>", 0.0, Kind.BYTE)),
            BOTH_LINES,
            "a piece of type BYTE, but the model has no byte_fallback",
        ),
        (
            sentencepiece_file(UNKNOWN_PIECE, (b"<0xab>", 0.0, Kind.BYTE), byte_fallback=True),
            BOTH_LINES,
            "must read <0x00> to <0xFF>, in upper",
        ),
        (sentencepiece_file(A_PIECE), BOTH_LINES, "no piece is of type UNKNOWN"),
        (
            sentencepiece_file(UNKNOWN_PIECE, A_PIECE, byte_fallback=True),
            BOTH_LINES,
            "byte_fallback needs 256 pieces of type BYTE, the model has 0",
        ),
        (sentencepiece_file(UNKNOWN_PIECE, model=1), BOTH_LINES, "needs at least one ordinary piece"),
        (
            sentencepiece_file(UNKNOWN_PIECE, (b"a", float("nan"), Kind.NORMAL), model=1),
            NEWEST_LINE,
            "the score NaN is not a finite number",
        ),
        (sentencepiece_file(UNKNOWN_PIECE, (b"a\0", 0.0, Kind.NORMAL)), BOTH_LINES, "must not contain NUL"),
        (
            sentencepiece_file(UNKNOWN_PIECE, (b"x" * 8000, 0.0, Kind.NORMAL)),
            NEWEST_LINE,
            "8000 bytes, but SentencePiece 0.2.3 allows fewer",
        ),
    ],
)
def test_models_that_sentencepiece_refuses_are_refused(
    data: bytes, lines: tuple[SentencePieceVersion, ...], message: str
) -> None:
    for line in BOTH_LINES:
        if line in lines:
            with pytest.raises(FormatError) as error_info:
                formats.read(data, sentencepiece_version=line)
            assert str(error_info.value).startswith("sentencepiece: ")
            assert message in str(error_info.value)
        else:
            formats.read(data, sentencepiece_version=line)


@pytest.mark.parametrize("model", [1, 2, 3, 4])
def test_an_unused_nul_piece_is_skipped(model: int) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    nul = (b"\0", -2.0, Kind.UNUSED)
    data = sentencepiece_file(UNKNOWN_PIECE, A_PIECE, nul, nul, (b"b", -3.0, Kind.NORMAL), model=model)
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
def test_specs_that_sentencepiece_cannot_express(spec: Spec, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        conversion.write(spec, "sentencepiece")


def test_losses_of_a_model_are_named() -> None:
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
