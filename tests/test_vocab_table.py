"""Tests the vocabulary by ids: the table, the merges, and the conversions between ids and pieces."""

from __future__ import annotations

import numpy as np
import pytest

import polytok
from format_samples import VOCAB, merges_spec, rank_spec, sentencepiece_spec, unigram_spec
from polytok import Kind, Merge, Tokenizer
from polytok.spec import Spec, SpecialToken, Vocab, WordLevel

NAMES = (
    *(
        "gguf/ggml-vocab-phi-3.gguf",
        "gguf/ggml-vocab-mpt.gguf",
        "huggingface/llama2.json",
        "huggingface/clip_base.json",
    ),
    *("huggingface/modernbert.json", "huggingface/xlnet_base_cased.json", "llama2c/tokenizer.bin"),
    *("rwkv/rwkv_vocab_v20230424.txt", "sentencepiece/llama2.model", "sentencepiece/nai-t5.model"),
    *("tekken/mistral2410_rebuilt.json", "tiktoken/p50k_base.tiktoken", "tiktoken/cl100k_base.tiktoken"),
)
REAL = [
    pytest.param(name, id=name, marks=pytest.mark.skipif(not (VOCAB / name).exists(), reason="no data"))
    for name in NAMES
]


@pytest.mark.parametrize("name", REAL)
def test_the_table_has_one_row_for_each_id(name: str) -> None:
    tokenizer = polytok.load(VOCAB / name)
    table = tokenizer.vocab()
    entries = list(table)
    ids = [entry.id for entry in entries]
    assert ids == sorted(set(ids)) == table.ids.tolist()
    assert ids[-1] == tokenizer.vocab_size - 1
    assert [entry.piece for entry in entries] == tokenizer.ids_to_pieces(ids) == table.pieces
    unused_ids = set(range(tokenizer.vocab_size)) - set(ids)
    assert not any(id in table for id in unused_ids)
    for id in unused_ids:
        with pytest.raises(polytok.TokenIdError):
            tokenizer.id_to_piece(id)
    assert {entry.text for entry in entries if entry.special} <= set(tokenizer.special_tokens)
    listed_ids = {token.id for token in tokenizer.spec.special if token.special}
    assert listed_ids <= {entry.id for entry in entries if entry.special}


def test_rows_of_the_file_are_not_ids() -> None:
    if not (path := VOCAB / "rwkv" / "rwkv_vocab_v20230424.txt").exists():
        pytest.skip("no data")
    tokenizer = polytok.load(path)
    assert tokenizer.spec.vocab.piece(33) == b"!"
    assert tokenizer.vocab()[33].piece == tokenizer.id_to_piece(33) == b" "
    assert tokenizer.vocab()[0] == (0, b"<|endoftext|>", "<|endoftext|>", Kind.CONTROL, None, None, True)


def test_special_tokens_occur_once() -> None:
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"<s>", 1, 0.0, Kind.NORMAL), (b"a", 2, 0.0, Kind.NORMAL)]
    rows += [(b"<b>", 3, 0.0, Kind.NORMAL), (b"\xff", 9, 0.0, Kind.BYTE)]
    special = (SpecialToken("<unk>", 0), SpecialToken("<s>", 1), SpecialToken("<b>", 3, special=False))
    special += (SpecialToken("<c>", 5), SpecialToken("<other name>", 5), SpecialToken("<d>", 4, special=False))
    table = Tokenizer(Spec(Vocab.from_rows(rows), WordLevel(), special=special, unknown="unk")).vocab()
    assert [(entry.id, entry.text, entry.kind, entry.special) for entry in table] == [
        (0, "<unk>", Kind.UNKNOWN, True),
        (1, "<s>", Kind.CONTROL, True),
        (2, "a", Kind.NORMAL, False),
        (3, "<b>", Kind.USER_DEFINED, False),
        (4, "<d>", Kind.USER_DEFINED, False),
        (5, "<c>", Kind.CONTROL, True),
        (9, "\ufffd", Kind.BYTE, False),
    ]
    assert [id in table for id in (5, 6, 10, -1)] == [True, False, False, False]
    assert table.get(8) is table.get(-1) is None
    with pytest.raises(polytok.TokenIdError, match="no entry with the id 8"):
        table[8]
    assert repr(table) == "<polytok.VocabTable of 7 entries>"


def test_scores_and_ranks() -> None:
    unigram = Tokenizer(unigram_spec()).vocab()
    assert unigram.ranks is None
    assert unigram.scores is not None
    assert unigram.scores.tolist() == unigram_spec().vocab.scores.tolist()
    assert [np.float32(entry.score or 0.0) for entry in unigram] == unigram.scores.tolist()
    ranks = Tokenizer(rank_spec(special=(SpecialToken("<a>", 301),))).vocab()
    assert ranks.scores is None
    assert ranks.ranks is not None
    assert ranks.ranks.tolist() == [*ranks.ids[:-1].tolist(), -1]
    assert (ranks[301].score, ranks[301].rank) == (None, None)
    merged = Tokenizer(merges_spec())
    assert {merge.id: merge.rank for merge in merged.merges()} == {
        entry.id: entry.rank for entry in merged.vocab() if entry.rank is not None
    }


def test_merges_of_a_list_are_the_list() -> None:
    spec = merges_spec()
    tokenizer = Tokenizer(spec)
    merges = tokenizer.merges()
    assert [[merge.left_id, merge.right_id, merge.id] for merge in merges] == spec.model.merges.tolist()  # type: ignore[union-attr]
    assert [merge.rank for merge in merges] == list(range(len(merges)))
    assert all(merge.piece == merge.left + merge.right == tokenizer.id_to_piece(merge.id) for merge in merges)


def test_merges_by_score() -> None:
    tokenizer = Tokenizer(sentencepiece_spec())
    merges = tokenizer.merges()
    scores = [merge.score for merge in merges]
    assert scores == sorted(scores, key=lambda score: -(score or 0.0))
    assert all(merge.piece == merge.left + merge.right for merge in merges)
    assert all(tokenizer.vocab()[merge.id].score == merge.score for merge in merges)


def test_merges_with_characters_that_have_no_entry() -> None:
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), ("éa".encode(), 1, -1.0, Kind.NORMAL)]
    rows += [("éab".encode(), 2, -2.0, Kind.NORMAL), ("céab".encode(), 3, -3.0, Kind.NORMAL)]
    spec = Spec(Vocab.from_rows(rows), polytok.spec.Bpe("score", symbols="chars"), unknown="unk")
    assert Tokenizer(spec).merges() == [
        Merge(0, "é".encode(), b"a", "éa".encode(), None, None, 1, -1.0),
        Merge(1, "éa".encode(), b"b", "éab".encode(), 1, None, 2, -2.0),
        Merge(2, b"c", "éab".encode(), "céab".encode(), None, 2, 3, -3.0),
    ]


@pytest.mark.skipif(not (VOCAB / "llama2c" / "tokenizer.bin").exists(), reason="no data")
def test_llama2c_has_the_merges_of_its_sentencepiece_model() -> None:
    ids = [
        [(merge.left_id, merge.right_id, merge.id) for merge in polytok.load(VOCAB / name).merges()]
        for name in ("llama2c/tokenizer.bin", "sentencepiece/llama2.model")
    ]
    assert ids[0] == ids[1]


def test_models_without_merges() -> None:
    with pytest.raises(polytok.ArgumentError, match="has no merges: its model is Unigram"):
        Tokenizer(unigram_spec()).merges()


def test_pieces_and_ids() -> None:
    tokenizer = Tokenizer(sentencepiece_spec())
    ids = tokenizer.vocab().ids
    assert tokenizer.pieces_to_ids(tokenizer.ids_to_pieces(ids)) == ids.tolist()
    assert tokenizer.ids_to_pieces(iter([0])) == [tokenizer.id_to_piece(0)]
    assert tokenizer.pieces_to_ids(["<s>", "no such piece"], unknown="unk") == [1, tokenizer.unk_id]
    assert tokenizer.pieces_to_ids([b"<s>", "no such piece"], unknown=None) == [1, None]
    assert tokenizer.piece_to_id("no such piece", unknown=None) is None
    assert tokenizer.ids_to_pieces(tokenizer.pieces_to_ids(["<s>", "no such piece"], None)) == [b"<s>", None]
    assert tokenizer.pieces_to_ids(["<s>", "no such piece"], unknown=-1) == [1, -1]
    with pytest.raises(polytok.TokenIdError, match=r"id -1 is not in the vocabulary; the piece of None is None"):
        tokenizer.ids_to_pieces([1, -1])
    with pytest.raises(polytok.PieceError, match="'no such piece' is not a piece"):
        tokenizer.pieces_to_ids(["<s>", "no such piece"])
    with pytest.raises(TypeError, match="piece_to_id for one piece"):
        tokenizer.pieces_to_ids("<s>")
    with pytest.raises(polytok.ArgumentError, match="unknown='no' is not"):
        tokenizer.piece_to_id("<s>", unknown="no")  # type: ignore[call-overload]
    with pytest.raises(polytok.ArgumentError, match="unknown=True is not"):
        tokenizer.piece_to_id("<s>", unknown=True)
    with pytest.raises(polytok.ArgumentError, match="no unknown token; use unknown=None"):
        Tokenizer(rank_spec()).piece_to_id("a", unknown="unk")


def test_pieces_that_other_packages_write_differently() -> None:
    default = polytok.load("default")
    for piece in ("Ġthe", "▁the"):
        with pytest.raises(polytok.PieceError, match=f"{piece!r} is not a piece .*; write ' the', because the pieces"):
            default.piece_to_id(piece)
    with pytest.raises(polytok.PieceError, match="vocabulary$"):
        default.piece_to_id("Ġno such piece")
    marked_piece = next(entry.text for entry in Tokenizer(sentencepiece_spec()).vocab() if entry.text.startswith("▁"))
    with pytest.raises(polytok.PieceError, match=f"; write {marked_piece!r}$"):
        Tokenizer(sentencepiece_spec()).piece_to_id(marked_piece.replace("▁", " "))
