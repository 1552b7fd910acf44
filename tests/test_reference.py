"""Tests the twins against their packages: SentencePiece 0.2.3, tiktoken, RWKV; and examples with known ids."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tiktoken
from sentencepiece import sentencepiece_model_pb2, sentencepiece_pb2

import reference_specs as specs
from optional_packages import rwkv_package
from polytok import reference
from polytok import spec as s
from polytok.errors import ArgumentError, EncodeError, SpecError, SpecialTokenError, TokenIdError
from polytok.reference import RefToken, sentencepiece_decode, utf8
from polytok.reference.sentencepiece_normalize import normalize
from polytok.reference.vocabulary import vocabulary
from reference_specs import DATA, GOLDEN_MODELS, is_same_in_both_blobs, needs_data, random_model

LINES: tuple[s.Line, ...] = ("0.2.1", "0.2.3")
NASTY = (
    "▁|  |\0|\ufffd|\u200b|\uff76\uff9e|a\u0302\u0301|\t|\r\n|™|ﬁ|é|日本|😀|<s>|<unk>|<0x41>|\uff5e|\u3000|\u00a8"
    "|\u1112|\u1161|\u11ab|'s|'\u017f|'LL|1234|\u2028|\x85|\x1c|²|ǅ|!!|\n \n|\u0378"
)
NASTY_BYTES = NASTY.encode().split(b"|")
INVALID = [b"\xff", b"\xe3\x81", b"\xed\xa0\x80", b"\x80", b"\xf0\x9f", b"\xc0\xaf"]


def corpus_lines(seed: int, per_file: int) -> Iterator[bytes]:
    """Yields whole or truncated lines from random positions in the corpus."""
    rng = random.Random(seed)
    for path in sorted((DATA / "corpus").iterdir()):
        with path.open("rb") as file:
            for _ in range(per_file):
                file.seek(rng.randrange(path.stat().st_size))
                yield file.read(4000).split(b"\n", 1)[-1].split(b"\n\n", 1)[0][: rng.randrange(200)]


def random_texts(seed: int, count: int, pieces: list[bytes], *, bad: bool) -> Iterator[bytes]:
    """Yields random sequences of vocabulary entries and difficult strings."""
    rng = random.Random(seed)
    for _ in range(count):
        parts = [rng.choice(pieces if rng.random() < 0.6 else NASTY_BYTES) for _ in range(rng.randrange(12))]
        if bad:
            parts.insert(rng.randrange(len(parts) + 1), rng.choice(INVALID))
        yield b"".join(parts)[:200]


def as_rows(tokens: list[RefToken]) -> list[tuple[int, str, int, int]]:
    return [(token.id, token.piece.decode(), token.start, token.end) for token in tokens]


# SentencePiece


@needs_data
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("model", GOLDEN_MODELS, ids=lambda model: model["name"])
def test_the_golden_vectors(model: dict[str, Any], line: s.Line) -> None:
    blob = b"" if model["rule"] == "identity" else specs.charsmap(model["rule"])
    spec = specs.sentencepiece_spec(specs.golden_model_proto(model, blob), line)
    for case in model["encode_tests"]:
        text = case["input"] if isinstance(case["input"], str) else bytes.fromhex(case["input"]["hex"])
        if is_same_in_both_blobs(model["rule"], text):
            check_vector(spec, text, case.get("expect_0.2.3", case["expect"]) if line == "0.2.3" else case["expect"])
    words = vocabulary(spec.vocab)
    assert isinstance(spec.decode, s.SentencePieceDecode)
    for case in model["decode_tests"]:
        pieces = [piece.encode() for piece in case["pieces"]]
        assert sentencepiece_decode.decode_pieces(words, spec.decode, pieces).decode() == case["expect"], case


def check_vector(spec: s.Spec, text: str | bytes, expect: dict[str, Any]) -> None:
    data = text.encode() if isinstance(text, str) else text
    (step,) = spec.normalize
    assert isinstance(step, s.SentencePieceNormalize)
    assert normalize(step, data, vocabulary(spec.vocab).user_defined).text.hex() == expect["normalized_hex"]
    if "pieces" in expect and expect["pieces"] is None:
        with pytest.raises(EncodeError, match="control symbol"):
            reference.encode(spec, text)
        return
    tokens = reference.tokens(spec, text)
    assert [token.id for token in tokens] == expect["ids"], text
    if "pieces" in expect:
        assert [token.piece.decode() for token in tokens] == expect["pieces"], text
        assert [[token.start, token.end] for token in tokens] == expect["spans"], text


@needs_data
def test_the_number_of_vectors_and_those_that_the_newer_blob_changes() -> None:
    cases = [(model["rule"], case["input"]) for model in GOLDEN_MODELS for case in model["encode_tests"]]
    texts = [(rule, text if isinstance(text, str) else bytes.fromhex(text["hex"])) for rule, text in cases]
    assert len(texts) == 774
    assert sum(not is_same_in_both_blobs(*case) for case in texts) == 8
    assert sum(len(model["decode_tests"]) for model in GOLDEN_MODELS) == 90
    step = s.SentencePieceNormalize(specs.charsmap("nmt_nfkc"), False, False, False)
    assert normalize(step, "\u061c".encode()).text == b" "  # the blob of 0.2.1 does not change it


def check_sentencepiece(proto: Any, texts: list[bytes], seed: int) -> None:
    """Compares ids, pieces, spans and decoding of one model with the package."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())
    spec = specs.sentencepiece_spec(proto)
    rng = random.Random(seed)
    for text in texts:
        answer = sentencepiece_pb2.SentencePieceText()
        answer.ParseFromString(processor.encode(text, out_type="serialized_proto"))
        expect = [(piece.id, piece.piece, piece.begin, piece.end) for piece in answer.pieces]
        assert as_rows(reference.tokens(spec, text)) == expect, text
        for ids in ([row[0] for row in expect], [rng.randrange(len(proto.pieces)) for _ in range(6)]):
            assert reference.decode(spec, ids) == processor.decode(ids), ids


@needs_data
@pytest.mark.parametrize("name", sorted(path.name for path in (DATA / "vocab/sentencepiece").glob("*.model")))
def test_real_models_agree_with_sentencepiece(name: str) -> None:
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString((DATA / "vocab/sentencepiece" / name).read_bytes())
    pieces = [piece.piece.encode() for piece in proto.pieces]
    random_strings = list(random_texts(1, 60, pieces, bad=False)) + list(random_texts(2, 20, pieces, bad=True))
    spaced = [text.replace("▁".encode(), b" ") for text in random_strings]
    check_sentencepiece(proto, [*corpus_lines(3, 4), *random_strings, *spaced], seed=4)


def test_random_models_agree_with_sentencepiece() -> None:
    rng = random.Random(5)
    for seed in range(150):
        model = random_model(rng)
        if model["model_type"] == "UNIGRAM" and all(piece[2] == s.Kind.CONTROL for piece in model["pieces"]):
            continue  # loading refuses this model
        rule = rng.choice(["identity", "nmt_nfkc", "nfkc_cf"])
        proto = specs.golden_model_proto(model, b"" if rule == "identity" else specs.charsmap(rule))
        pieces = [piece[0].encode() for piece in model["pieces"]]
        texts = [*random_texts(seed, 8, pieces, bad=False), *random_texts(seed + 1, 4, pieces, bad=True)]
        check_sentencepiece(proto, texts, seed)


def test_unused_pieces_are_split_to_the_same_depth_as_in_sentencepiece() -> None:
    for depth in (100, 101, 102, 130):
        chain = [["a" + "b" * k, float(-k), s.Kind.UNUSED] for k in range(1, depth + 1)]
        model = random_model(random.Random(1)) | {"model_type": "BPE", "pieces": [["a", 0, 1], ["b", 0, 1], *chain]}
        check_sentencepiece(specs.golden_model_proto(model, b""), [chain[-1][0].encode()], seed=1)


@needs_data
def test_long_texts_round_as_in_sentencepiece() -> None:
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString((DATA / "vocab/sentencepiece/xlnet_base_cased.model").read_bytes())
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())
    text = (DATA / "corpus/europe.txt").read_bytes()[:60_000].decode(errors="ignore")
    newest_ids, older_ids = (
        reference.encode(specs.sentencepiece_spec(proto, line), text) for line in ("0.2.3", "0.2.1")
    )
    assert newest_ids == processor.encode(text)
    assert newest_ids != older_ids  # one program adds in float32, the other in float64


def test_a_restricted_vocabulary() -> None:
    """Tests the ids of 0.2.1 after ``set_vocabulary(["ab"])``: bytes are encoded, but decode to their names."""
    model: dict[str, Any] = {
        "pieces": [["a", -5, 1], ["b", -6, 1], ["c", -7, 1], ["ab", -1, 1], ["abc", -2, 1]],
        "model_type": "BPE",
    }
    flags = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces", "treat_whitespace_as_suffix")
    model |= {"byte_fallback": True, "unk_surface": None, **dict.fromkeys(flags, False)}
    spec = specs.sentencepiece_spec(specs.golden_model_proto(model, b""), "0.2.1")
    assert reference.encode(spec, "abcé") == [263, 198, 172]
    kinds = [
        s.Kind.UNKNOWN,
        s.Kind.CONTROL,
        s.Kind.CONTROL,
        *[s.Kind.UNUSED] * 256,
        *[s.Kind.NORMAL] * 4,
        s.Kind.UNUSED,
    ]
    restricted_spec = replace(spec, vocab=replace(spec.vocab, active_kinds=np.array(kinds, np.uint8)))
    assert reference.encode(restricted_spec, "abcé") == [262, 261, 198, 172]
    assert reference.decode(restricted_spec, [262, 261, 198, 172]) == "abc<0xC3><0xA9>"


@needs_data
def test_llama2() -> None:
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString((DATA / "vocab/sentencepiece/llama2.model").read_bytes())
    spec = specs.sentencepiece_spec(proto)
    assert reference.encode(spec, "I love you, baby") == [306, 5360, 366, 29892, 24354]
    assert reference.tokens(spec, "a</s>b", special={"</s>"}) == [
        RefToken(263, "▁a".encode(), 0, 1),
        RefToken(2, b"</s>", 1, 5),
        RefToken(289, "▁b".encode(), 5, 6),  # a separate text, with its own dummy prefix
    ]


# tiktoken

ENCODINGS = {
    "cl100k_base.tiktoken": (specs.CL100K, {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|fim|>": 100300}),
    "p50k_base.tiktoken": (specs.R50K, {"<|endoftext|>": 50256}),
    "o200k_base.tiktoken": (specs.O200K, {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
    "llama3_tokenizer.model": (specs.CL100K, {"<|begin_of_text|>": 128000, "<|end_of_text|>": 128001}),
}


@needs_data
@pytest.mark.parametrize("name", ENCODINGS)
def test_agreement_with_tiktoken(name: str) -> None:
    pattern, special = ENCODINGS[name]
    ranks = specs.tiktoken_ranks(name)
    spec = specs.tiktoken_spec(ranks, pattern, special)
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    entries = list(ranks)
    rng = random.Random(6)
    for data in [*corpus_lines(7, 6), *random_texts(8, 200, entries, bad=False)]:
        text = data.decode(errors="ignore")
        ids = encoding.encode_ordinary(text)
        assert reference.encode(spec, text) == ids, text
        assert reference.decode_bytes(spec, ids) == encoding.decode_bytes(ids)
        at = rng.randrange(len(text) + 1)
        marked_text = text[:at] + rng.choice(list(special)) + text[at:]
        assert reference.encode(spec, marked_text, special="all") == encoding.encode(
            marked_text, allowed_special="all"
        ), marked_text
        allowed_special = {rng.choice(list(special))}
        expect = encoding.encode(marked_text, allowed_special=allowed_special, disallowed_special=())
        assert reference.encode(spec, marked_text, special=allowed_special) == expect, marked_text
    for data in [*corpus_lines(9, 6), *random_texts(10, 300, entries, bad=True)]:
        tokens = reference.tokens(spec, data)
        assert [token.id for token in tokens] == encoding._encode_bytes(data), data
        assert all(data[token.start : token.end] == token.piece for token in tokens)


@needs_data
def test_cl100k() -> None:
    spec = specs.tiktoken_spec(specs.tiktoken_ranks("cl100k_base.tiktoken"), specs.CL100K, {"<|endoftext|>": 100257})
    expect = [15339, 4513, 12340, 30, 320, 31495, 230, 75265, 243, 92245, 16715, 57037]
    assert reference.encode(spec, "hello123!!!? (안녕하세요!) 😉") == expect
    # Special tokens are found first; the rule for invalid bytes applies to the text between them.
    eot = b"<|endoftext|>"
    assert reference.encode(spec, b"a \n" + eot + b"b\xff" + eot, special="all") == [
        *reference.encode(spec, "a \n"),
        100257,
        *reference.encode(spec, b"b\xff"),
        100257,
    ]


# RWKV, llama2.c


@needs_data
def test_agreement_with_rwkv() -> None:
    spec = specs.rwkv_spec()
    rwkv_tokenizer = rwkv_package().RWKVTokenizer()
    assert reference.encode(spec, "吾輩は猫である。") == [11080, 17065, 10139, 14398, 58552, 10080]
    for data in [*corpus_lines(11, 10), *random_texts(12, 500, spec.vocab.pieces(), bad=True)]:
        text = data.decode(errors="ignore")
        assert reference.encode(spec, text) == rwkv_tokenizer.encode(text), text
        assert reference.decode_bytes(spec, reference.encode(spec, data)) == data
    assert reference.encode(spec, "a<|endoftext|>", special="all") == [98, 0]
    assert reference.decode(spec, [98, 0]) == "a<|endoftext|>"


@needs_data
def test_llama2c_is_llama2() -> None:
    spec = specs.llama2c_spec((DATA / "vocab/llama2c/tokenizer.bin").read_bytes())
    processor = sentencepiece.SentencePieceProcessor(model_file=str(DATA / "vocab/sentencepiece/llama2.model"))
    assert reference.encode(spec, "Hello", add_special=True) == [1, 15043]
    for data in corpus_lines(13, 8):
        text = data.decode(errors="ignore").replace("▁", "")
        ids = processor.encode(text)
        assert reference.encode(spec, text) == ids, text
        assert reference.decode(spec, ids) == text


def llama2c_spec(*pieces: tuple[str, float]) -> s.Spec:
    rows = [(b"<unk>", 0, 0.0, 2), (b"\n<s>\n", 1, 0.0, 3), (b"\n</s>\n", 2, 0.0, 3)]
    rows += [(b"<0x%02X>" % byte, byte + 3, 0.0, 6) for byte in range(256)]
    rows += [(piece.encode(), 259 + i, score, 1) for i, (piece, score) in enumerate(pieces)]
    return s.Spec(
        s.Vocab.from_rows(rows),
        s.Bpe(priority="score", symbols="groups"),
        normalize=(s.PrefixSpace(),),
        unknown="bytes",
        decode=s.Llama2cDecode(),
    )


def test_llama2c_groups_and_merges() -> None:
    spec = llama2c_spec((" ", 0), ("a", 0), (" a", -1e10), ("aa", -9.9e9), ("<0x01><0x02>", 0), ("é", 0))
    assert reference.encode(spec, "aa") == [259, 262]  # " a" scores too low to be merged
    assert reference.encode(spec, "\x01\x02") == [259, 263]  # byte entries merge by their texts
    assert reference.encode(spec, b"\x80") == [259, 0x83]  # a continuation byte does not merge with the space before it
    assert reference.encode(spec, b"a\x80\x80\x80\x80") == [259, 0x64, 0x83, 0x83, 0x83, 0x83]
    assert reference.encode(spec, "é\0a") == [259, 264, 3, 260]
    assert reference.encode(spec, "") == []


def test_llama2c_decoding() -> None:
    spec = llama2c_spec((" a", 0), ("<0x4", 0), (" <0x41z", 0), ("<0xg", 0), ("  b", 0))
    assert reference.decode(spec, [259, 259]) == "a a"
    assert reference.decode(spec, [1, 263, 1, 263]) == " b\n<s>\n b"
    assert reference.decode_bytes(spec, [260, 261, 262, 0xFF + 3]) == b"\x04 <0x41z<0xg\xff"
    assert reference.decode_bytes(spec, [261]) == b"A"


# minbpe


def test_the_example_of_byte_pair_encoding() -> None:
    spec = reference.train("aaabdaaabac", 256 + 3)
    assert reference.encode(spec, "aaabdaaabac") == [258, 100, 258, 97, 99]
    assert reference.decode(spec, [258, 100, 258, 97, 99]) == "aaabdaaabac"
    assert reference.encode(spec, b"\xffaaab") == [255, 258]


def test_training_by_chunks() -> None:
    spec = reference.train("ab ab, cd", 256 + 2, pattern=r"\w+")
    assert spec.vocab.pieces()[256:] == [b"ab", b"cd"]
    assert reference.encode(spec, "abcd!ab") == [256, 257, 256]  # text that the pattern does not match is dropped
    with pytest.raises(ArgumentError, match="2 merges, not 3"):
        reference.train("ab ab, cd", 256 + 3, pattern=r"\w+")
    with pytest.raises(ArgumentError, match="at least 256"):
        reference.train("ab", 255)


# Rules for all vocabularies


def tiny_spec(priority: str, *special: tuple[str, int]) -> s.Spec:
    return s.Spec(
        s.Vocab.from_rows((bytes([byte]), byte, 0.0, s.Kind.NORMAL) for byte in b"<>ab"),
        s.Bpe(priority="merges", merges=np.zeros((0, 3), np.uint32))
        if priority == "merges"
        else s.Bpe(priority="rank"),
        matching="listed" if priority == "merges" else "longest",
        special=tuple(s.SpecialToken(*token) for token in special),
    )


def test_special_tokens() -> None:
    pair = ("<a", 300), ("<a>", 301)
    assert reference.encode(tiny_spec("rank", *pair), "<a>b") == [60, 97, 62, 98]
    assert reference.encode(tiny_spec("rank", *pair), "<a>b", special="all") == [301, 98]
    assert reference.encode(tiny_spec("merges", *pair), "<a>b", special="all") == [300, 62, 98]
    assert reference.encode(tiny_spec("rank", *pair), "<a>b", special=["<a"]) == [300, 62, 98]
    with pytest.raises(SpecialTokenError, match="<b>"):
        reference.encode(tiny_spec("rank", *pair), "<a>b", special={"<b>"})


def test_errors_name_the_byte_and_the_id() -> None:
    with pytest.raises(EncodeError, match="0x63 at offset 2"):
        reference.encode(tiny_spec("rank"), "abc")
    with pytest.raises(TokenIdError, match="7"):
        reference.decode(tiny_spec("rank"), [7])


def test_steps_without_a_twin_are_refused() -> None:
    with pytest.raises(SpecError, match="do not normalize by"):
        reference.encode(replace(tiny_spec("rank"), normalize=(s.Lowercase(),)), "abc")
    with pytest.raises(SpecError, match="do not split by"):
        reference.encode(replace(tiny_spec("rank"), split=(s.ScriptSplit(),)), "abc")


def test_characters() -> None:
    assert [utf8.decode_strict(b"\xe3\x81", at) for at in (0, 1)] == [(None, 1), (None, 2)]
    assert utf8.decode_strict("\ufffd".encode(), 0) == ("\ufffd", 3)
    assert utf8.decode_strict(b"\xed\xa0\x80", 0) == (None, 1)
    assert utf8.char_end(b"\xf8abcd", 0) == 4
