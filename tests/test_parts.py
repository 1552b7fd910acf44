"""Tests `polytok.Parts`: a text in parts, each trusted or not."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from format_samples import VOCAB
from polytok import Kind, Parts, Spec, Tokenizer, Vocab, reference
from polytok.errors import ArgumentError
from polytok.guard import guard_spec, marked_ids, marks_nothing
from polytok.spec import (
    Bpe,
    Char,
    Insert,
    Longest,
    Lowercase,
    SentencePieceNormalize,
    Slot,
    SpecialToken,
    Template,
    Unigram,
)
from published import marked_kinds
from tokenizer_samples import rank_spec

TOKENIZER = polytok.load("default")
# Includes halves of surrogate pairs, which can be in different parts.
TEXT = st.text(st.sampled_from("ab é世😀\ud83d\ude00"), max_size=4)
PAIRS = st.lists(st.tuples(TEXT, st.booleans()), max_size=6)


def repaired(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_pair(text: str) -> bool:
    """Reports whether a text of two characters is a surrogate pair."""
    return "\ud800" <= text[0] < "\udc00" <= text[1] < "\ue000"


# The class


@given(PAIRS, PAIRS)
def test_parts_are_a_sequence_of_pairs(pairs: list[tuple[str, bool]], others: list[tuple[str, bool]]) -> None:
    parts = Parts(pairs)
    assert parts.text == "".join(text for text, _ in pairs)
    assert (list(parts), len(parts)) == (pairs, len(pairs))
    assert list(parts + Parts(others)) == pairs + others
    assert (parts == Parts(others)) == (pairs == others)
    assert hash(parts) == hash(Parts(iter(pairs)))
    assert eval(repr(parts)) == parts
    assert pickle.loads(pickle.dumps(parts)) == parts


def test_parts_are_immutable() -> None:
    parts = Parts([("a", True)])
    with pytest.raises(AttributeError):
        parts.text = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        parts._pairs = ()
    assert parts != "a"
    with pytest.raises(TypeError):
        parts + "a"  # type: ignore[operator]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("text", TypeError, "parts='text' is a single text: pass pairs of text and trust, such as [('text', False)]"),
        (1, TypeError, "parts=1 is not a list of pairs"),
        (["ab"], TypeError, "parts[0]='ab' is not a pair of a text and True or False"),
        ([("a", True), ("a",)], TypeError, "parts[1]=('a',) is not a pair of a text and True or False"),
        ([(b"a", True)], TypeError, "parts[0] has the text b'a', which is not a str; decode bytes first"),
        ([("a", 1)], ArgumentError, "parts[0] has the trust 1, which is neither True nor False"),
    ],
)
def test_wrong_parts_are_named(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        Parts(value)
    assert message in str(raised.value)


# The part of each token


@given(PAIRS)
def test_each_character_belongs_to_its_part(pairs: list[tuple[str, bool]]) -> None:
    """The first half of a surrogate pair decides to which part the character belongs."""
    text = "".join(text for text, _ in pairs)
    size = len(repaired(text))
    starts = np.arange(size, dtype=np.uint32)
    index = Parts(pairs).index(polytok.Spans(starts, starts, starts + 1, starts, starts + 1))
    part_of_unit = [part for part, (text, _) in enumerate(pairs) for _ in text]
    second_halves = {at for at in range(1, len(text)) if is_pair(text[at - 1 : at + 1])}
    units = [at for at in range(len(text)) if at not in second_halves]
    assert index.tolist() == [part_of_unit[at] for at in units]


def test_tokens_over_parts_and_tokens_without_text() -> None:
    parts = Parts([("", True), ("th", False), ("e", True), ("", True), (" é", False)])
    spans = polytok.Spans(*(np.array(column, np.uint32) for column in ([0] * 4, [0, 0, 3, 3], [0, 3, 5, 3], [], [])))
    index = parts.index(spans)
    assert index.dtype == np.int64
    assert index.tolist() == [-1, 1, 4, -1]


def test_wrong_spans_are_named() -> None:
    parts = Parts([("ab", True)])
    with pytest.raises(TypeError, match="spans=1 has no columns starts and ends"):
        parts.index(1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="the spans reach from 0 to 3, but the text has 2 characters"):
        parts.index(TOKENIZER.spans("abc"))


# Encoding: the laws of docs/trust.md


def runs_of(parts: Parts) -> list[tuple[int, int]]:
    """Returns the trusted runs of a text in bytes, for the twin. The text has no surrogates."""
    runs: list[tuple[int, int]] = []
    at = 0
    for text, trusted in parts:
        size = len(text.encode())
        if trusted and size:
            is_adjacent = runs and runs[-1][1] == at
            runs.append((runs.pop()[0] if is_adjacent else at, at + size))
        at += size
    return runs


def check_laws(tokenizer: Tokenizer, parts: Parts) -> None:
    """Checks the laws that hold for every text in parts."""
    text = parts.text
    pairs = list(parts)
    ids = outcome(tokenizer, parts)
    # All methods agree.
    if isinstance(ids, list):
        spans = tokenizer.spans(parts)
        tokens = tokenizer.tokens(parts)
        assert spans.ids.tolist() == ids
        assert tokenizer.encode_array(parts).tolist() == ids
        assert tokenizer.count(parts) == len(ids)
        assert tokenizer.encode_batch([text, parts, parts], threads=2).to_list()[1:] == [ids, ids]
        assert [(t.start, t.end, t.byte_start, t.byte_end) for t in tokens] == [
            *zip(*(column.tolist() for column in spans[1:]), strict=True)
        ]
        check_special_tokens_are_trusted(tokenizer, parts, spans)
    # Only the runs of trusted text count, not the parts.
    split_pairs = [
        (part, trusted) for text, trusted in pairs for part in (text[: len(text) // 2], text[len(text) // 2 :])
    ]
    assert outcome(tokenizer, Parts(split_pairs)) == ids
    # A text that is trusted as a whole is encoded with all special tokens.
    assert outcome(tokenizer, Parts([(text, True) for text, _ in pairs])) == outcome(tokenizer, text, special="all")


def check_special_tokens_are_trusted(tokenizer: Tokenizer, parts: Parts, spans: polytok.Spans) -> None:
    """Checks that no special or added token covers a character that is not trusted, except by the white space that the
    token can take on both sides."""
    marked = MARKED[tokenizer]
    trusted = [trusted for text, trusted in parts for _ in text]
    for token_id, start, end in zip(*(column.tolist() for column in spans[:3]), strict=True):
        if token_id in marked:
            covered = [at for at in range(start, end) if not parts.text[at].isspace()]
            assert all(trusted[at] for at in covered), (parts, token_id, start, end)


def outcome(tokenizer: Tokenizer, text: str | Parts, **options: Any) -> list[int] | str:
    """Returns the ids of a text, or the error."""
    try:
        return tokenizer.encode(text, **options)
    except polytok.EncodeError as error:
        return str(error)


MARKED: dict[Tokenizer, set[int]] = {}
"""The ids of each tokenizer that text from outside must not have."""


def tokenizer_of(spec: Spec) -> Tokenizer:
    rows = zip(spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True)
    tokenizer = Tokenizer(spec)
    MARKED[tokenizer] = marked_ids(spec) - {id for id, kind in rows if kind == Kind.UNKNOWN}
    return tokenizer


def marks_of(tokenizer: Tokenizer) -> list[str]:
    """Returns the texts of all special, added and user-defined tokens."""
    spec = tokenizer.spec
    pieces = zip(spec.vocab.pieces(), spec.vocab.kinds.tolist(), strict=True)
    user_defined = [piece.decode("utf-8", "replace") for piece, kind in pieces if kind == Kind.USER_DEFINED]
    return [text for text in (*tokenizer.special_tokens, *user_defined) if text and is_utf8(text)]


def is_utf8(text: str) -> bool:
    return text.encode("utf-8", "replace").decode() == text


def random_parts(rng: Random, pieces: list[str], marks: list[str]) -> Parts:
    """Returns parts of vocabulary pieces, and of special tokens that are whole, in halves over a seam, or joined."""
    texts = []
    for _ in range(rng.randrange(1, 9)):
        text = rng.choice(rng.choice([pieces, marks, [" ", "  ", "\n", "a", "", "1"]]) or [""])
        cut = rng.randrange(len(text) + 1) if rng.random() < 0.3 else len(text)
        texts += [text[:cut], text[cut:]] if rng.random() < 0.8 else [text[:cut]]
    return Parts([(text, rng.random() < 0.5) for text in texts])


def without_marks(rng: Random, pieces: list[str], marks: list[str]) -> str | None:
    """Returns a text in which no special token occurs; None if the random text has one."""
    text = "".join(rng.choice(pieces) for _ in range(rng.randrange(12)))
    return None if any(mark in text for mark in marks if not marks_nothing(mark, True) and len(mark) > 1) else text


def pieces_of(tokenizer: Tokenizer) -> list[str]:
    decoded = [piece.decode("utf-8", "replace").replace("\u2581", " ") for piece in tokenizer.spec.vocab.pieces()]
    return [piece for piece in decoded if "\ufffd" not in piece][:20_000]


FILES = sorted(
    path for path in VOCAB.rglob("*") if path.suffix in {".gguf", ".json", ".txt", ".model", ".bin", ".tiktoken"}
)


@pytest.mark.parametrize("path", marked_kinds(FILES), ids=[str(path.relative_to(VOCAB)) for path in FILES])
def test_laws_of_published_vocabularies(path: Path) -> None:
    try:
        spec = polytok.load(path).spec
    except polytok.FormatError:
        pytest.skip("the file needs options")
    tokenizer = tokenizer_of(spec)
    pieces, marks = pieces_of(tokenizer), marks_of(tokenizer)
    rng = Random(path.name)
    for _ in range(300):
        check_laws(tokenizer, random_parts(rng, pieces, marks))
        if (text := without_marks(rng, pieces, marks)) is not None:
            plain = outcome(tokenizer, text)
            assert outcome(tokenizer, Parts([(text, False)])) == plain, text
            cut = rng.randrange(len(text) + 1)
            assert outcome(tokenizer, Parts([(text[:cut], True), (text[cut:], False)])) == plain, text


# Small vocabularies, against the twin


SYMBOLS = ["a", "b", "ab", "<x>", "<x", ">", "<xy>", "xy", "y>", "<", " ", "  ", "\n", "é", "1"]
MARKS = ["<x>", "<xy>", "ab", "  ", "\n\n", "1", "x>a"]


def rows_of(kinds: dict[str, Kind]) -> Vocab:
    texts = dict.fromkeys([*SYMBOLS, *MARKS, "x", "y", "x>", "\u2581", "\u2581a", "\u2581<", "<x>a", "ba"])
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"<s>", 1, 0.0, Kind.CONTROL)]
    rows += [
        (text.encode(), at + 2, -1.0 - at / 8, kinds.get(text, Kind.NORMAL))
        for at, text in enumerate(texts)
        if text != " "
    ]
    return Vocab.from_rows(rows)


def small_specs() -> dict[str, Spec]:
    user_defined = dict.fromkeys(MARKS, Kind.USER_DEFINED)
    control = dict.fromkeys(MARKS, Kind.CONTROL)
    escape = SentencePieceNormalize(add_dummy_prefix=True, remove_extra_whitespaces=False, escape_whitespaces=True)
    listed = tuple(SpecialToken(text, 500 + at, special=at % 2 == 0) for at, text in enumerate(MARKS))
    ranks = rank_spec(b"<x", b"<x>", b"ab", b"xy", b"<xy>")
    return {
        "BPE": Spec(rows_of(user_defined), Bpe("score", "chars"), normalize=(escape,), unknown="unk"),
        "Unigram": Spec(rows_of(user_defined), Unigram(), normalize=(escape,), unknown="unk"),
        "Char": Spec(rows_of(user_defined), Char(), normalize=(escape,), unknown="unk"),
        "control": Spec(rows_of(control), Bpe("score", "chars"), normalize=(escape,), unknown="unk"),
        "ranks": replace(ranks, special=listed),
        "ranks, listed": replace(ranks, special=listed, matching="listed"),
        "ranks, listed entries": replace(
            ranks, special=(SpecialToken("<x>", 257), SpecialToken("ab", 258, special=False))
        ),
        "longest": Spec(rows_of({}), Longest(), special=listed, unknown="unk"),
    }


SPECS = {name: tokenizer_of(spec) for name, spec in small_specs().items()}
SMALL_PARTS = st.lists(
    st.tuples(st.lists(st.sampled_from(SYMBOLS), max_size=5).map("".join), st.booleans()), max_size=6
)


@pytest.mark.parametrize("name", SPECS)
@given(pairs=SMALL_PARTS)
@settings(max_examples=300, deadline=None)
def test_encoding_equals_the_twin(name: str, pairs: list[tuple[str, bool]]) -> None:
    tokenizer, parts = SPECS[name], Parts(pairs)
    check_laws(tokenizer, parts)
    try:
        expected = reference.tokens(tokenizer.spec, parts.text, trusted=runs_of(parts))
    except polytok.EncodeError:
        assert isinstance(outcome(tokenizer, parts), str)
        return
    assert outcome(tokenizer, parts) == [token.id for token in expected]
    spans = tokenizer.spans(parts)
    assert list(zip(spans.byte_starts.tolist(), spans.byte_ends.tolist(), strict=True)) == [
        (token.start, token.end) for token in expected
    ]


TWIN_FILES = [path for path in FILES if path.parent.name in {"sentencepiece", "llama2c", "rwkv"}]


@pytest.mark.parametrize("path", marked_kinds(TWIN_FILES), ids=[path.name for path in TWIN_FILES])
def test_published_vocabularies_equal_the_twin(path: Path) -> None:
    tokenizer = polytok.load(path)
    pieces, marks = pieces_of(tokenizer), marks_of(tokenizer)
    rng = Random(path.name)
    for _ in range(40):
        parts = random_parts(rng, pieces, marks)
        expected = [token.id for token in reference.tokens(tokenizer.spec, parts.text, trusted=runs_of(parts))]
        assert tokenizer.encode(parts) == expected, parts


# User-defined pieces that a normalizer changes


@pytest.mark.parametrize("model", [Bpe("score", "chars"), Unigram(), Char()])
def test_user_defined_pieces_of_normalized_text(model: Bpe | Unigram | Char) -> None:
    """A normalizer without SentencePiece's rules changes user-defined pieces, too: `<X>` is found as `<x>`."""
    kinds = {"<x>": Kind.USER_DEFINED, "<X>": Kind.USER_DEFINED}
    tokenizer = tokenizer_of(Spec(rows_of(kinds), model, normalize=(Lowercase(),), unknown="unk"))
    (id,) = tokenizer.encode("<x>")
    plain = tokenizer.encode("<x")
    for text in ("<x>", "<X>"):
        assert tokenizer.encode(Parts([(text, True), ("A", False)])) == tokenizer.encode("<x>a")
        assert tokenizer.encode(Parts([(text, False), ("<", True)]))[: len(plain)] == plain
        assert id not in tokenizer.encode(Parts([(text, False), ("<", True)]))
    rng = Random(7)
    for _ in range(300):
        check_laws(tokenizer, random_parts(rng, [*SYMBOLS, "A", "É"], ["<x>", "<X>"]))


# Hugging Face's flags


FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
FLAG_TOKEN = st.tuples(
    st.sampled_from(["<x>", "<x", "x>a", " a", "a ", "AB", "\n", "  "]),
    st.fixed_dictionaries({flag: st.booleans() for flag in FLAGS}),
)
FLAG_TEXT = st.lists(st.sampled_from(["<x>", "<x", ">", "a", " ", "\n", "A", "B", "b", "é", "\u3000"]), max_size=5).map(
    "".join
)


@given(
    tokens=st.lists(FLAG_TOKEN, min_size=1, max_size=4, unique_by=lambda token: token[0].lower()),
    is_lowercase=st.booleans(),
    pairs=st.lists(st.lists(st.tuples(FLAG_TEXT, st.booleans()), max_size=6), min_size=1, max_size=8),
)
@settings(max_examples=300, deadline=None)
def test_flags_of_added_tokens(
    tokens: list[tuple[str, dict[str, bool]]], is_lowercase: bool, pairs: list[list[tuple[str, bool]]]
) -> None:
    special = tuple(SpecialToken(text, 300 + at, **flags) for at, (text, flags) in enumerate(tokens))
    spec = replace(rank_spec(b"<x", b"ab"), special=special, normalize=(Lowercase(),) if is_lowercase else ())
    tokenizer = tokenizer_of(spec)
    for parts in map(Parts, pairs):
        check_laws(tokenizer, parts)


def flag_tokenizer(**flags: bool) -> Tokenizer:
    return Tokenizer(replace(rank_spec(), special=(SpecialToken("<x>", 300, **flags), SpecialToken("<xyz>", 301))))


@pytest.mark.parametrize("is_strip", [True, False])
def test_white_space_beside_a_token_can_be_untrusted(is_strip: bool) -> None:
    tokenizer = flag_tokenizer(lstrip=is_strip, rstrip=is_strip)
    ids = tokenizer.encode(Parts([("a \n", False), ("<x>", True), ("  b", False)]))
    assert ids == ([97, 300, 98] if is_strip else [97, 32, 10, 300, 32, 32, 98])


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a  \nb", [97, 300, 98]),  # as in tokenizers 0.23, which panics at the other texts
        ("a  \n\nb", [97, 300, 301, 98]),
        ("a  \n\n\nb", [97, 300, 301, 301, 98]),
        ("  \n x", [300, 32, 120]),
    ],
)
def test_white_space_that_belongs_to_two_tokens(text: str, ids: list[int]) -> None:
    """The white space after the first token contains the second, which then has no text of its own left."""
    special = (SpecialToken("  ", 300, rstrip=True), SpecialToken("\n", 301, lstrip=True))
    tokenizer = Tokenizer(replace(rank_spec(), special=special))
    assert tokenizer.encode(text, special="all") == ids
    assert tokenizer.encode(Parts([(text, True), ("b", False)])) == [*ids, 98]


def test_a_longer_token_does_not_hide_a_shorter_one() -> None:
    tokenizer = Tokenizer(replace(rank_spec(), special=(SpecialToken("<x>", 300), SpecialToken("<x>yz", 301))))
    assert tokenizer.encode(Parts([("<x>", True), ("yz", False)])) == [300, 121, 122]
    assert tokenizer.encode(Parts([("<x>y", True), ("z", False)])) == [300, 121, 122]
    assert tokenizer.encode(Parts([("<x>y", True), ("z", True)])) == [301]
    assert tokenizer.encode(Parts([("<", True), ("x>", False)])) == [60, 120, 62]


def test_the_text_around_a_token_decides_about_single_words() -> None:
    tokenizer = flag_tokenizer(single_word=True)
    assert tokenizer.encode(Parts([("a", False), ("<x>", True)])) == [97, 60, 120, 62]
    assert tokenizer.encode(Parts([(".", False), ("<x>", True)])) == [46, 300]


def test_normalized_tokens_are_found_where_their_original_is_trusted() -> None:
    spec = replace(rank_spec(), special=(SpecialToken("<x>", 300, normalized=True),), normalize=(Lowercase(),))
    tokenizer = Tokenizer(spec)
    assert tokenizer.encode(Parts([("<X>", True), ("<x>", False), ("É", False), ("<X>", True)]))[::3][0] == 300
    assert tokenizer.encode(Parts([("<X>", False)])) == [60, 120, 62]
    assert tokenizer.encode(Parts([("é<X", True), (">", False)])) == [195, 169, 60, 120, 62]


# Guards


def test_entries_that_a_model_forms_are_hidden() -> None:
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"</s>", 1, 0.0, Kind.NORMAL)]
    rows += [(char.encode(), 2 + at, -2.0, Kind.NORMAL) for at, char in enumerate("</s>a")]
    spec = Spec(Vocab.from_rows(rows), Unigram("huggingface"), special=(SpecialToken("</s>", 1),), unknown="unk")
    tokenizer = Tokenizer(spec)
    assert tokenizer.encode("a</s>") == [6, 1]
    assert tokenizer.encode(Parts([("a</s>", False), ("</s>", True), ("a", False)])) == [6, 2, 3, 4, 5, 1, 6]
    assert [t.piece for t in tokenizer.tokens(Parts([("</s>", True), ("é<unk>", False)]))][:2] == [
        b"</s>",
        "é<".encode()[:2],
    ]


def test_a_vocabulary_without_such_entries_needs_no_guard() -> None:
    assert guard_spec(TOKENIZER.spec) is None
    assert guard_spec(rank_spec(b"ab", special={"<x>": 300})) is None
    assert guard_spec(rank_spec(b"<x>", special={"<x>": 256})) is not None


def test_the_caches_of_a_guard_count() -> None:
    tokenizer = Tokenizer(rank_spec(b"<x>", special={"<x>": 256}))
    tokenizer.cache_limit = 1 << 20
    tokenizer.encode(Parts([("some words to cache, not trusted", False), ("a", True)]))
    assert tokenizer.cache_bytes > 0
    tokenizer.clear_cache()
    assert tokenizer.cache_bytes == 0
    tokenizer.cache_limit = 0


def test_a_loaded_native_file_has_a_guard(tmp_path: Path) -> None:
    Tokenizer(rank_spec(b"<x>", special={"<x>": 256})).save(tmp_path / "t.ptok")
    for tokenizer in (polytok.load(tmp_path / "t.ptok"), pickle.loads(pickle.dumps(polytok.load(tmp_path / "t.ptok")))):
        assert tokenizer.encode(Parts([("<x>", False), ("<x>", True)])) == [60, 120, 62, 256]


# Options and errors


def test_surrogates_are_repaired_over_seams() -> None:
    tokenizer = Tokenizer(rank_spec(special={"😀": 300, "\ufffd!": 301}))
    pair = [("\ud83d", True), ("\ude00", True)]
    assert tokenizer.encode(Parts(pair)) == [300]
    assert tokenizer.encode(Parts([pair[0], ("\ude00", False)])) == [*"😀".encode()]
    assert tokenizer.encode(Parts([("\ud83d", True), ("!", True)])) == [301]
    parts = Parts([("a\ud83d", False), ("\ude00b", True)])
    assert parts.index(tokenizer.spans(parts)).tolist() == [0, 0, 0, 0, 0, 1]


def test_the_template_is_added_around_parts() -> None:
    tokenizer = Tokenizer(replace(rank_spec(special={"<s>": 300}), post=Template((Insert((300,)), Slot()))))
    parts = Parts([("<s>", False), ("<s>", True)])
    assert tokenizer.encode(parts, add_special=True) == [300, 60, 115, 62, 300]
    assert parts.index(tokenizer.spans(parts, add_special=True)).tolist() == [-1, 0, 0, 0, 1]
    encoding = tokenizer.encoding(parts, parts, add_special=False)
    assert encoding.ids == [60, 115, 62, 300] * 2
    assert tokenizer.encodings([parts, "a"])[0].offsets == [(0, 1), (1, 2), (2, 3), (3, 6)]


def test_special_tokens_cannot_be_named() -> None:
    parts = Parts([("<|endoftext|>", False), ("<|endoftext|>", True)])
    ids = TOKENIZER.encode(parts)
    assert TOKENIZER.encode(parts, special="all") == TOKENIZER.encode(parts, special=()) == ids
    for call in (
        TOKENIZER.encode,
        TOKENIZER.encoding,
        lambda text, **options: TOKENIZER.encode_batch([text], **options),
    ):
        with pytest.raises(ArgumentError, match="special= names special tokens, but in a polytok.Parts all are"):
            call(parts, special={"<|endoftext|>"})


def test_special_tokens_outside_of_trusted_text_are_rejected() -> None:
    trusted, untrusted = ("<|endoftext|>", True), ("<|endoftext|>", False)
    assert TOKENIZER.encode(Parts([("a", False), trusted]), reject_special=True) == [97, 32767]
    for parts in (Parts([untrusted]), Parts([trusted, ("<|endof", True), ("text|>", False)])):
        with pytest.raises(polytok.SpecialTokenError, match="the special token .* where not all of it is trusted"):
            TOKENIZER.encode(parts, reject_special=True)
        with pytest.raises(polytok.SpecialTokenError):
            TOKENIZER.encode_batch(["a", parts], reject_special=True)


def test_other_methods_refuse_parts() -> None:
    parts = Parts([("a", True)])
    for call in (lambda: TOKENIZER.nbest(parts, 2), lambda: TOKENIZER.entropy(parts)):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="text is a polytok.Parts, which this function does not accept"):
            call()
    with pytest.raises(TypeError, match="is a single text: use encode for one text"):
        TOKENIZER.encode_batch(parts)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is not a list of words"):
        TOKENIZER.encoding(parts, pretokenized=True)


def test_empty_parts() -> None:
    assert TOKENIZER.encode(Parts([])) == TOKENIZER.encode(Parts([("", False)])) == []
    assert Parts([]).index(TOKENIZER.spans(Parts([]))).tolist() == []
