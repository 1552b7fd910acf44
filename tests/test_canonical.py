"""Tests `is_canonical` and `first_noncanonical`: encodings are canonical, and all other lists of ids are not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import format_samples as samples
import polytok
from parity.vocabularies import all_vocabularies
from polytok import EncodeError, Kind, Options, Parts, Spec, Tokenizer, Vocab
from polytok.spec import (
    BertNormalize,
    Bpe,
    ChainDecode,
    PatternSplit,
    SentencePieceNormalize,
    SpecialToken,
    Template,
    WordPiece,
    WordPieceDecode,
)
from published import every_kind
from reference_specs import DATA, needs_data
from texts import VocabularyPieces, first_lines, generate_texts

TEXTS, LINE_BYTES, LINE_STEP = 150, 10_000, 40
OPTIONS = [Options(), Options(special="all"), Options(add_special=True), Options(add_special=True, special="all")]


def wordpiece_spec() -> Spec:
    texts = ["[UNK]", "[CLS]", "[SEP]", "a", "##a", "b", "##b", "##ab", "ba", ",", "'"]
    rows = [(text.encode(), id, 0.0, Kind.NORMAL if id else Kind.UNKNOWN) for id, text in enumerate(texts)]
    return Spec(
        Vocab.from_rows(rows),
        WordPiece(),
        special=tuple(SpecialToken(text, id) for id, text in enumerate(texts[:3])),
        normalize=(BertNormalize(),),
        split=(PatternSplit(r"\s+", "removed"), PatternSplit(r"\p{P}", "isolated")),
        unknown="unk",
        post=Template.around(before=(1,), after=(2,)),
        decode=ChainDecode((WordPieceDecode(),)),
        names={"unk": 0},
    )


SMALL = {**samples.SMALL, "unigram": samples.unigram_spec, "wordpiece": wordpiece_spec}


def encoded(tokenizer: Tokenizer, text: str | bytes | Parts, options: Options | None = None) -> list[int]:
    """Returns the ids of a text; no ids if the vocabulary cannot cover the text."""
    try:
        return tokenizer.encode(text, options=options)
    except EncodeError:
        return []


# Compared with the definition: the encodings of all short texts


@pytest.mark.parametrize("name", SMALL)
def test_equal_to_a_search_through_all_short_texts(name: str) -> None:
    tokenizer = Tokenizer(SMALL[name]())
    characters = ["a", "b", " ", "z", ",", *([] if tokenizer.lossless.for_bytes else ["\u2581"])]
    texts = ["".join(text) for length in range(8) for text in itertools.product(characters, repeat=length)]
    encodings = {tuple(encoded(tokenizer, text)) for text in texts}
    ids = sorted({id for ids in encodings for id in ids})
    pieces = {id: tokenizer.id_to_piece(id).decode(errors="replace") for id in ids}
    short_lists = [
        row
        for length in range(5)
        for row in itertools.product(ids, repeat=length)
        if sum(len(pieces[id]) + 1 for id in row) <= 8
    ]
    wrong = [row for row in short_lists if tokenizer.is_canonical(row) != (row in encodings)]
    assert wrong == []
    assert len(encodings.intersection(short_lists)) > 2


# Encodings are canonical


@pytest.mark.parametrize("name", SMALL)
def test_encodings_of_small_vocabularies(name: str) -> None:
    tokenizer = Tokenizer(SMALL[name]())
    pieces = [piece for piece in tokenizer.spec.vocab.pieces() if piece]
    words = VocabularyPieces([*pieces, *(piece.replace("▁".encode(), b" ") for piece in pieces)], [b"<s>"])
    for text in (*generate_texts(1, TEXTS, words), *generate_texts(2, TEXTS, words, has_invalid_utf8=True)):
        for options in OPTIONS:
            ids = encoded(tokenizer, text, options)
            assert tokenizer.first_noncanonical(ids) is None, (text, options)


@needs_data
@every_kind
def test_encodings(name: str) -> None:
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    count = 0
    known_bytes = bytes_with_entry(tokenizer)
    for text in corpus_and_random_texts(vocabulary.pieces()):
        if not known_bytes.issuperset(text.decode(errors="replace").encode()):
            continue
        for options in OPTIONS[:3]:
            if options.special and name == "xlnet_base_cased.json" and b"<unk>" in text:
                continue  # one list with the id of unknown text both for unknown text and for a special token
            ids = encoded(tokenizer, text, options)
            assert tokenizer.first_noncanonical(ids) is None, (text, options)
            count += 1
    assert count > TEXTS


def corpus_and_random_texts(pieces: VocabularyPieces) -> Iterator[bytes]:
    for path in sorted((DATA / "corpus").glob("*.txt")):
        yield from first_lines(path, LINE_BYTES)[::LINE_STEP]
    yield from generate_texts(1, TEXTS, pieces)
    yield from generate_texts(2, TEXTS // 3, pieces, has_invalid_utf8=True)


def bytes_with_entry(tokenizer: Tokenizer) -> set[int]:
    """Returns the bytes that the vocabulary does not drop; no text can be found from the ids of a text with others."""
    if tokenizer.spec.unknown != "drop":
        return set(range(256))
    return {piece[0] for piece in tokenizer.vocab().pieces if len(piece) == 1}


# Encodings of parts are canonical


def random_parts(rng: Random, texts: list[str], special_texts: list[str]) -> Parts:
    """Returns a text in parts: random texts, and special tokens that are trusted or spelled by text from outside."""
    parts = []
    for _ in range(rng.randrange(1, 6)):
        if rng.random() < 0.5:
            parts.append((rng.choice(texts), False))
        else:
            parts.append((rng.choice(special_texts), rng.random() < 0.5))
    return Parts(parts)


@needs_data
@every_kind
def test_encodings_of_parts(name: str) -> None:
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    known_bytes, unknown_id = bytes_with_entry(tokenizer), tokenizer.unk_id
    texts = [text.decode() for text in generate_texts(5, TEXTS, vocabulary.pieces())]
    special_texts = [text for text, id in tokenizer.special_tokens.items() if id != unknown_id] or ["<|end|>"]
    rng = Random(6)
    for _ in range(2 * TEXTS):
        parts = random_parts(rng, texts, special_texts)
        if known_bytes.issuperset(parts.text.encode()):
            assert tokenizer.first_noncanonical(encoded(tokenizer, parts)) is None, parts


# Other segmentations are not canonical


@needs_data
@every_kind
def test_split_tokens_are_not_canonical(name: str) -> None:
    """Replaces one token of an encoding by two tokens with the same bytes."""
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    rng = Random(3)
    bytes_of_id = tokenizer.vocab_bytes()
    id_of_bytes = {text: id for id, text in enumerate(bytes_of_id) if text}
    count = 0
    for text in generate_texts(4, TEXTS, vocabulary.pieces()):
        ids = encoded(tokenizer, text)
        places = [place for place, id in enumerate(ids) if len(bytes_of_id[id]) > 1]
        if not places:
            continue
        place = rng.choice(places)
        piece = bytes_of_id[ids[place]]
        at = rng.randrange(1, len(piece))
        if piece[:at] in id_of_bytes and piece[at:] in id_of_bytes:
            other_ids = [*ids[:place], id_of_bytes[piece[:at]], id_of_bytes[piece[at:]], *ids[place + 1 :]]
            if tokenizer.decode_bytes(other_ids) == tokenizer.decode_bytes(ids):
                assert not tokenizer.is_canonical(other_ids), (text, other_ids)
                count += 1
    assert count > 10


@pytest.fixture(scope="module")
def default() -> Tokenizer:
    return polytok.load("default")


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(0, 32766), max_size=12))
def test_the_index_is_the_first_difference_of_a_lossless_vocabulary(default: Tokenizer, ids: list[int]) -> None:
    expected = default.encode(default.decode_bytes(ids))
    place = default.first_noncanonical(ids)
    if place is None:
        assert expected == ids
    else:
        assert expected[:place] == ids[:place] and expected[place : place + 1] != ids[place : place + 1]


# Special tokens


def test_special_tokens_stand_for_themselves(default: Tokenizer) -> None:
    end = default.eos_id
    assert end is not None
    hello, spelled = default.encode("hello"), default.encode("<|endoftext|>")
    for ids in ([end], [end, end], [*hello, end], [end, *hello, end, *hello], [*hello, *spelled], [end, *spelled, end]):
        assert default.is_canonical(ids), ids
    assert default.first_noncanonical([end, *hello, end, *b"hello", end]) == len(hello) + 2


def test_special_tokens_that_join_are_not_canonical() -> None:
    special = (SpecialToken("<a", 400), SpecialToken("b>", 401), SpecialToken("<ab>", 402))
    tokenizer = Tokenizer(samples.rank_spec(special=special))
    assert tokenizer.is_canonical([401, 400])
    assert tokenizer.first_noncanonical([97, 400, 401]) == 1
    assert tokenizer.is_canonical([402, 97])


def test_spaces_that_belong_to_a_special_token() -> None:
    special = (SpecialToken("<m>", 400, lstrip=True), SpecialToken("<n>", 401))
    tokenizer = Tokenizer(samples.rank_spec(special=special))
    assert tokenizer.first_noncanonical([97, 32, 400]) == 1
    assert tokenizer.is_canonical([97, 32, 401]) and tokenizer.is_canonical([97, 400, 32, 98])


def test_the_template() -> None:
    tokenizer = Tokenizer(wordpiece_spec())
    ids = tokenizer.encode("ab, ba", add_special=True)
    assert tokenizer.is_canonical(ids) and tokenizer.is_canonical(ids[1:-1])
    assert tokenizer.first_noncanonical([1, 3, 4, 6, 2]) == 2


# What decoding loses


def test_the_space_that_encoding_adds() -> None:
    tokenizer = Tokenizer(samples.sentencepiece_spec())
    with_space, without_space = tokenizer.piece_to_id("▁ab"), tokenizer.piece_to_id("ab")
    assert tokenizer.is_canonical([with_space])
    assert tokenizer.first_noncanonical([without_space]) == 0  # encoding adds a space before every text
    assert tokenizer.first_noncanonical([with_space, with_space, without_space, 1]) is None


def test_unknown_tokens() -> None:
    tokenizer = Tokenizer(samples.unigram_spec(normalize=(SentencePieceNormalize(add_dummy_prefix=False),)))
    assert tokenizer.is_canonical([0]) and tokenizer.is_canonical([1, 0, 2])
    assert tokenizer.first_noncanonical([1, 0, 0]) == 2  # adjacent unknown characters are one token


def test_byte_pieces() -> None:
    tokenizer = Tokenizer(samples.sentencepiece_spec())
    space, pieces = tokenizer.piece_to_id("▁"), tokenizer.pieces_to_ids([f"<0x{byte:02X}>" for byte in "世".encode()])
    assert tokenizer.is_canonical([space, *pieces])
    assert tokenizer.first_noncanonical([space, *pieces[:2]]) == 1  # a text has whole characters
    assert tokenizer.first_noncanonical([space, tokenizer.piece_to_id("<0x61>")]) is not None  # 'a' has an entry


def test_characters_cut_in_half(default: Tokenizer) -> None:
    """A text can be bytes, so a vocabulary over bytes has encodings that end within a character."""
    assert default.is_canonical(default.encode("語".encode()[:2]))


# Other values


@pytest.mark.parametrize("ids", [[-1], [32768], [2**40], [97, 32768, 104, 101], np.array([97, 40000])])
def test_ids_that_are_not_in_the_vocabulary(default: Tokenizer, ids: list[int]) -> None:
    assert default.first_noncanonical(ids) == (0 if len(ids) == 1 else 1)


def test_unknown_ids_of_a_decoder_that_skips_them() -> None:
    tokenizer = Tokenizer(replace(wordpiece_spec(), special=()))
    assert tokenizer.first_noncanonical([3, 4, 99, 3]) == 2


def test_an_earlier_difference_than_the_unknown_id(default: Tokenizer) -> None:
    assert default.first_noncanonical([*b"hello", 32768]) == 0


@pytest.mark.parametrize("values", [np.array([16720], dtype=np.uint16), (16720,), iter([16720]), range(97, 98), []])
def test_containers(default: Tokenizer, values: list[int]) -> None:
    assert default.is_canonical(values)


@pytest.mark.parametrize("values", [16720, None, "ab", [1.5], np.array(3), [True]])
def test_values_that_are_not_ids(default: Tokenizer, values: list[int]) -> None:
    with pytest.raises((TypeError, polytok.ArgumentError), match="ids"):
        default.is_canonical(values)


def test_scores_that_are_equal() -> None:
    """Equal segmentations of Unigram are decided by rounding, which a longer unknown text changes."""
    tokenizer = Tokenizer(samples.unigram_spec())
    assert tokenizer.is_canonical(tokenizer.encode("日本語 a"))


def test_bpe_of_characters_with_a_suffix() -> None:
    """CLIP's decoder prints the suffix of words."""
    rows = [
        (b"<unk>", 0, 0.0, Kind.UNKNOWN),
        *((text, 1 + n, 0.0, Kind.NORMAL) for n, text in enumerate(b"a b".split())),
    ]
    rows += [(b"a</w>", 3, 0.0, Kind.NORMAL), (b"b</w>", 4, 0.0, Kind.NORMAL), (b"ab</w>", 5, 0.0, Kind.NORMAL)]
    merges = np.array([[1, 4, 5]], dtype=np.uint32)
    model = Bpe("merges", symbols="scalars", merges=merges, word_suffix="</w>")
    split = (PatternSplit(r"\s+", "removed"),)
    tokenizer = Tokenizer(Spec(Vocab.from_rows(rows), model, split=split, unknown="unk", decode=ChainDecode(())))
    ids = tokenizer.encode("ab b aab")
    assert tokenizer.decode(ids) == "ab</w>b</w>aab</w>" and tokenizer.is_canonical(ids)
    assert tokenizer.first_noncanonical([5, 1, 4]) == 1
