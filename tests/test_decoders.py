"""Tests Hugging Face's decoders: every step and chains of steps against tokenizers, and streams against whole lists."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from polytok.spec import (
    BpeDecode,
    ByteFallbackDecode,
    ByteLevelDecode,
    BytesDecode,
    ChainDecode,
    CtcDecode,
    DecodeStep,
    FuseDecode,
    Kind,
    Longest,
    MetaspaceDecode,
    ReplaceDecode,
    Spec,
    SpecialToken,
    StripDecode,
    Vocab,
    WordPieceDecode,
)

tokenizers = pytest.importorskip("tokenizers")
decoders, pre_tokenizers = tokenizers.decoders, tokenizers.pre_tokenizers

TOKENS = (
    *(
        "a",
        "b",
        "ab",
        "aa",
        "aab",
        "xx",
        "xxx",
        "x",
        "é",
        "世",
        "😀",
        " ",
        "  ",
        " a",
        "a ",
        "\n",
        "\0",
        "<pad>",
        "|",
        "||",
        "",
    ),
    *("▁", "▁▁", "▁a", "a▁", "▁a▁b", "##", "##a", "###", "a##", "## .", "</w>", "a</w>", "a</w>b</w>", "</w></w>"),
    *(
        ".",
        "?",
        "!",
        ",",
        "'",
        "' ",
        "n't",
        "'m",
        "do",
        "not",
        "do not",
        " do not",
        "'s",
        "'ve",
        "'re",
        "a ' b",
        " '",
        "s",
    ),
    *(
        "<0x61>",
        "<0xE4>",
        "<0xB8>",
        "<0x96>",
        "<0xff>",
        "<0x0A>",
        "<0x+1>",
        "<0x-1>",
        "<0xGG>",
        "<0x1>",
        "<0x111>",
        "<0xé>",
    ),
    *(
        "Ġ",
        "Ġa",
        "Ċ",
        "ä¸",
        "ĸ",
        "ä",
        "¸",
        "Ã",
        "©",
        "Ã©",
        "Ãé",
        "Ġ ",
        "ÿ",
        "ð",
        "ŁĺĢ",
        "x<pad>x",
        "\u2028",
        "<",
        "<0x",
        "41>",
    ),
)
STEPS: tuple[tuple[DecodeStep, object], ...] = (
    (ByteLevelDecode(), decoders.ByteLevel()),
    (BpeDecode(), decoders.BPEDecoder()),
    (BpeDecode("a"), decoders.BPEDecoder(suffix="a")),
    (BpeDecode(""), decoders.BPEDecoder(suffix="")),
    (WordPieceDecode(), decoders.WordPiece()),
    (WordPieceDecode("##", False), decoders.WordPiece(cleanup=False)),
    (WordPieceDecode(""), decoders.WordPiece(prefix="")),
    (MetaspaceDecode(), decoders.Metaspace()),
    (MetaspaceDecode("a", "first"), decoders.Metaspace("a", "first")),
    (MetaspaceDecode(prepend="never"), decoders.Metaspace(prepend_scheme="never")),
    (CtcDecode(), decoders.CTC()),
    (CtcDecode("a", "b", False), decoders.CTC("a", "b", False)),
    (CtcDecode("", ""), decoders.CTC("", "")),
    (ReplaceDecode("▁", " "), decoders.Replace("▁", " ")),
    (ReplaceDecode("aab", "$0"), decoders.Replace("aab", "$0")),
    (ReplaceDecode("aa", ""), decoders.Replace("aa", "")),
    (ReplaceDecode("", "-"), decoders.Replace("", "-")),
    (ReplaceDecode("a*", "<$1>", is_regex=True), decoders.Replace(tokenizers.Regex("a*"), "<$1>")),
    (ReplaceDecode(r"\s+|a(?=b)", "_", is_regex=True), decoders.Replace(tokenizers.Regex(r"\s+|a(?=b)"), "_")),
    (StripDecode(" ", 1, 0), decoders.Strip(" ", 1, 0)),
    (StripDecode("x", 2, 0), decoders.Strip("x", 2, 0)),
    (StripDecode("世", 1, 0), decoders.Strip("世", 1, 0)),
    (ByteFallbackDecode(), decoders.ByteFallback()),
    (FuseDecode(), decoders.Fuse()),
)
NAMES = [f"{step.kind}-{i}" for i, (step, _) in enumerate(STEPS)]
LLAMA = ChainDecode((ReplaceDecode("▁", " "), ByteFallbackDecode(), FuseDecode(), StripDecode(" ", 1, 0)))

ids_lists = st.lists(st.integers(0, len(TOKENS) - 1), max_size=30)


def make(decode: ChainDecode, pieces: Sequence[bytes], special: Sequence[SpecialToken] = ()) -> polytok.Tokenizer:
    """Returns a tokenizer whose ids are the indices of the pieces."""
    vocab = Vocab.from_rows((piece, i, 0.0, Kind.NORMAL) for i, piece in enumerate(pieces))
    return polytok.Tokenizer(Spec(vocab, Longest(), tuple(special), decode=decode))


def tokenizer_of_tokens(*steps: DecodeStep) -> polytok.Tokenizer:
    """Returns a tokenizer of all tokens with these steps."""
    return make(ChainDecode(steps), [token.encode() for token in TOKENS])


def decode_stream(tokenizer: polytok.Tokenizer, ids: Sequence[int]) -> str:
    """Decodes by a stream that gets one id at a time."""
    stream = tokenizer.decoder()
    return "".join([*(stream.push(id) for id in ids), stream.finish()])


def check(tokenizer: polytok.Tokenizer, reference: object, ids: Sequence[int]) -> None:
    """Checks that decoding the whole list, decoding a stream, decoding with offsets and the reference agree."""
    expected = reference.decode([TOKENS[id] for id in ids])  # type: ignore[attr-defined]
    assert tokenizer.decode(ids) == expected
    assert decode_stream(tokenizer, ids) == expected
    decoded = tokenizer.decode_with_offsets(ids)
    assert decoded.text == expected
    assert "".join(decoded.pieces) == expected or not ids  # some chains write text without ids


@pytest.mark.parametrize(("step", "reference"), STEPS, ids=NAMES)
def test_each_step(step: DecodeStep, reference: object) -> None:
    tokenizer = tokenizer_of_tokens(step)
    rng = random.Random(1)
    for id in range(len(TOKENS)):
        check(tokenizer, reference, [id])
    for _ in range(2000):
        check(tokenizer, reference, [rng.randrange(len(TOKENS)) for _ in range(rng.randrange(12))])


@given(st.lists(st.integers(0, len(STEPS) - 1), max_size=5), st.lists(ids_lists, min_size=20, max_size=20))
@settings(max_examples=300, deadline=None)
def test_chains(chosen: list[int], lists: list[list[int]]) -> None:
    tokenizer = tokenizer_of_tokens(*(STEPS[i][0] for i in chosen))
    reference = decoders.Sequence([STEPS[i][1] for i in chosen])
    for ids in lists:
        check(tokenizer, reference, ids)


@given(ids_lists)
def test_the_chain_of_llama(ids: list[int]) -> None:
    reference = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    check(make(LLAMA, [token.encode() for token in TOKENS]), reference, ids)


@pytest.mark.parametrize(
    ("start", "stop", "token", "expected"),
    [
        (0, 5, "xx", ""),
        (1, 1, "x", ""),
        (2, 2, "xxx", ""),
        (2, 2, "xxax", "a"),
        (0, 1, "", ""),
        (0, 2, "axxx", "ax"),
        (1, 2, "xax", "a"),
    ],
)
@pytest.mark.parametrize("fused", [False, True])
def test_strip_removes_at_most_the_whole_token(start: int, stop: int, token: str, expected: str, fused: bool) -> None:
    """Tests Strip with long limits; the reference panics for most of these limits."""
    strip = StripDecode("x", start, stop)
    steps: tuple[DecodeStep, ...] = (FuseDecode(), strip) if fused else (strip,)
    tokenizer = make(ChainDecode(steps), [b"x", b"a", b"ax", token.encode() or b"-"])
    ids = ["xa".index(c) for c in token] if fused else [3] * bool(token)
    assert tokenizer.decode(ids) == decode_stream(tokenizer, ids) == expected


def test_without_a_chain_tokens_are_joined_with_spaces() -> None:
    tokenizer = make(ChainDecode(None), [b"a", b"", b"b"])
    assert tokenizer.decode([0, 1, 2, 1, 0]) == decode_stream(tokenizer, [0, 1, 2, 1, 0]) == "a  b  a"
    assert tokenizer.decode([1, 1]) == " "
    assert tokenizer.decode([]) == ""


def test_unknown_ids_are_skipped() -> None:
    assert make(LLAMA, ["▁a".encode(), b"b"]).decode([0, 99, 1, 2**31]) == "ab"


def test_added_tokens_have_priority_and_special_ones_can_be_skipped() -> None:
    special = [SpecialToken("<s>", 1), SpecialToken("▁add", 7, special=False), SpecialToken("</s>", 8)]
    tokenizer = make(LLAMA, [b"a", b"row", b"b"], special)
    assert tokenizer.decode([0, 1, 7, 2, 8]) == "a<s> addb</s>"
    assert tokenizer.decode([0, 1, 7, 2, 8], skip_special=True) == "a addb"


def test_byte_level_rows_are_bytes() -> None:
    """Tests that Ġ in an added token decodes to a space, and a token with a foreign character to itself."""
    special = [SpecialToken("Ġé!", 4), SpecialToken("Ġ世", 5)]
    tokenizer = make(
        ChainDecode((ByteLevelDecode(),), byte_level=True), [b" a", b"\xe4\xb8", b"\x96", b"\xff"], special
    )
    assert tokenizer.decode_bytes([0, 1, 2, 3, 4, 5]) == " a世".encode() + b"\xff" + b" \xe9!" + "Ġ世".encode()
    assert make(ChainDecode((), byte_level=True), [b" a\xff"]).decode([0]) == "Ġaÿ"


def test_streams_of_fused_text_keep_only_text_that_can_change() -> None:
    tokenizer = tokenizer_of_tokens(FuseDecode(), ReplaceDecode("aab", "-"), StripDecode("x", 1, 2))
    stream = tokenizer.decoder()
    pushed_texts = [(token, stream.push(TOKENS.index(token))) for token in ("x", "b", "aa", "aab", "xxx", "a", "xx")]
    assert pushed_texts == [("x", ""), ("b", "b"), ("aa", ""), ("aab", "aa-"), ("xxx", "x"), ("a", ""), ("xx", "xxa")]
    assert stream.finish() == ""


def test_long_inputs_take_linear_time() -> None:
    ids = np.tile(np.array([TOKENS.index("aa"), TOKENS.index("<0xE4>")]), 50_000)
    for steps in ((FuseDecode(), ReplaceDecode("a" * 5000 + "b", "")), (ByteFallbackDecode(), FuseDecode())):
        assert len(tokenizer_of_tokens(*steps).decode(ids)) >= 150_000


def test_ids_without_a_token_decode_to_nothing() -> None:
    """Tests that ids without a token decode to nothing, as in ``tokenizers``, with chains and with plain bytes."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    reference = tokenizers.Tokenizer(tokenizers.models.BPE({letter: id for id, letter in enumerate(alphabet)}, []))
    reference.pre_tokenizer, reference.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    of_bytes = polytok.load(reference.to_str().encode())
    assert of_bytes.spec.decode == BytesDecode(skips_unknown=True)
    first_ids = of_bytes.encode("ab")
    ids = [9999, *first_ids, 1 << 31, *first_ids]
    assert of_bytes.decode(ids) == reference.decode(ids) == "abab"
    stream = of_bytes.decoder()
    assert "".join(map(stream.push, ids)) + stream.finish() == "abab"
    assert tokenizer_of_tokens(FuseDecode()).decode([9999, TOKENS.index("x")]) == "x"
    plain_tokenizer = polytok.Tokenizer(replace(of_bytes.spec, decode=BytesDecode()))
    with pytest.raises(polytok.TokenIdError, match="9999"):
        plain_tokenizer.decode(ids)
