"""The trace of a text has the ids of `encode`, and shows how each step came to them."""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import format_samples
import gguf_samples
import polytok
from polytok import ArgumentError, Kind, Options, SpecError, SpecialTokenError, TokenIdError, Tokenizer
from polytok.reference import bpe
from polytok.reference.vocabulary import vocabulary
from polytok.spec import Bpe, Metaspace, PatternSplit, Replace, SentencePieceVersion, SpecialToken, Strip
from polytok.trace import BpeWalk, Change, LongestWalk, Merged, Piece, Trace, UnigramWalk, WordPieceWalk
from polytok.trace.alternatives import alternatives
from published import every_file
from test_twins import sentencepiece_models
from trace_samples import SAMPLES, compare, random_document

needs_data = pytest.mark.skipif(not format_samples.VOCAB.is_dir(), reason="no test data")


def load(path: str) -> Tokenizer:
    return polytok.load(format_samples.VOCAB / path)


def merges(piece: Piece) -> list[tuple[str, str]]:
    """Returns the pairs that were merged, in order, as texts."""
    assert isinstance(piece.walk, BpeWalk)
    texts = [piece.text[symbol.start : symbol.end].decode("latin-1") for symbol in piece.walk.symbols]
    events = [event for event in piece.walk.events if isinstance(event, Merged)]
    return [(texts[event.left], texts[event.right]) for event in events]


def merges_by_definition(text: bytes, start: list[bytes], order: dict[bytes, float]) -> list[tuple[str, str]]:
    """Returns the pairs that the definition of BPE merges: always the leftmost of the best ones."""
    steps: list[tuple[str, str]] = []

    def join(left: bytes, right: bytes) -> bytes:
        steps.append((left.decode("latin-1"), right.decode("latin-1")))
        return left + right

    assert b"".join(start) == text
    bpe.merge(start, lambda left, right: order.get(left + right), join)
    return steps


def characters(text: bytes) -> list[bytes]:
    return [character.encode() for character in text.decode()]


def order_by_score(tokenizer: Tokenizer) -> dict[bytes, float]:
    vocab = tokenizer.spec.vocab
    return {piece: -score for piece, score in reversed(list(zip(vocab.pieces(), vocab.scores.tolist(), strict=True)))}


# The five walks of the issue that people step through with a debugger


@needs_data
def test_the_walk_through_the_queue_of_llama_2() -> None:
    tokenizer = load("sentencepiece/llama2.model")
    trace = tokenizer.trace("I love you, baby")
    [piece] = trace.pieces
    assert piece.text.decode() == "▁I▁love▁you,▁baby"
    assert [tokenizer.id_to_piece(id).decode() for id in trace.ids] == ["▁I", "▁love", "▁you", ",", "▁baby"]
    assert merges(piece) == merges_by_definition(piece.text, characters(piece.text), order_by_score(tokenizer))
    assert [f"{left}{right}".encode("latin-1").decode() for left, right in merges(piece)] == [
        *("ou", "▁b", "▁l", "▁I", "▁y", "ve", "▁you", "ab", "▁lo", "▁love", "aby", "▁baby"),
    ]
    assert isinstance(piece.walk, BpeWalk)
    stale = [(event.left, event.right, event.step) for event in piece.walk.events if event.kind == "stale"]
    assert stale == [(3, 4, 3), (4, 5, 6), (4, 22, 9), (15, 16, 8), (13, 14, 2), (8, 17, 5), (8, 9, 1), (18, 14, 8)]
    [change, *_] = trace.parts[0].normalize[0].changes
    assert change == Change(0, 0, 0, 3)


@needs_data
def test_the_walk_through_cl100k() -> None:
    tokenizer = load("tiktoken/cl100k_base.tiktoken")
    trace = tokenizer.trace("hello123!!!? (안녕하세요!) 😉")
    assert trace.ids == (15339, 4513, 12340, 30, 320, 31495, 230, 75265, 243, 92245, 16715, 57037)
    assert [piece.text.decode() for piece in trace.pieces] == ["hello", "123", "!!!?", " (", "안녕하세요", "!)", " 😉"]
    assert [piece.alternative for piece in trace.parts[0].split[0].pieces] == [1, 2, 3, 3, 1, 3, 3]
    assert trace.parts[0].split[0].pieces[1].alternative_text == r"\p{N}{1,3}+"
    walks = [piece.walk for piece in trace.pieces]
    assert [walk.whole_piece for walk in walks if isinstance(walk, BpeWalk)] == [
        *(15339, 4513, None, 320, None, 16715, 57037),
    ]
    ranks = dict(zip(tokenizer.spec.vocab.pieces(), tokenizer.spec.vocab.ids.tolist(), strict=True))
    for piece in (trace.pieces[2], trace.pieces[4]):
        single_bytes = [bytes([byte]) for byte in piece.text]
        assert merges(piece) == merges_by_definition(piece.text, single_bytes, ranks)
    assert merges(trace.pieces[2]) == [("!", "!"), ("!!", "!")]
    assert len(merges(trace.pieces[4])) == 10


@needs_data
def test_the_walk_through_llama2c() -> None:
    tokenizer = load("llama2c/tokenizer.bin")
    trace = tokenizer.trace("Hello")
    assert trace.ids == (15043,)
    [piece] = trace.pieces
    assert merges(piece) == [("e", "l"), (" ", "H"), ("l", "o"), ("el", "lo"), (" H", "ello")]
    assert merges(piece) == merges_by_definition(b" Hello", characters(b" Hello"), order_by_score(tokenizer))


@needs_data
def test_the_walk_through_rwkv() -> None:
    tokenizer = load("rwkv/rwkv_vocab_v20230424.txt")
    trace = tokenizer.trace("吾輩は猫である。")
    assert trace.ids == (11080, 17065, 10139, 14398, 58552, 10080)
    walk = trace.pieces[0].walk
    assert isinstance(walk, LongestWalk)
    entries = set(tokenizer.spec.vocab.pieces())
    text = trace.text
    for position in walk.positions:
        ends = [end for end in range(position.start + 1, len(text) + 1) if text[position.start : end] in entries]
        assert [candidate.end for candidate in position.candidates] == ends
    assert [text[position.start : position.candidates[-1].end].decode() for position in walk.positions] == [
        *("吾", "輩", "は", "猫", "である", "。"),
    ]


@needs_data
def test_the_walk_through_the_lattice_of_unigram() -> None:
    tokenizer = load("sentencepiece/test_ja_model.model")
    trace = tokenizer.trace("吾輩は猫である。名前はまだ無い。")
    walk = trace.pieces[0].walk
    assert isinstance(walk, UnigramWalk)
    pieces = [walk.edges[index].piece.decode() for index in walk.best]
    assert pieces == ["▁", "吾", "輩", "は", "猫", "である", "。", "名前", "は", "まだ", "無い", "。"]
    nbest = tokenizer.nbest("吾輩は猫である。名前はまだ無い。", 6)
    assert list(trace.ids) == list(nbest[0][0])
    assert [list(runner.ids) for runner in walk.runners_up] == [list(ids) for ids, _ in nbest[1:]]
    assert [runner.score for runner in walk.runners_up] == pytest.approx([score for _, score in nbest[1:]], abs=1e-3)
    for edge in walk.edges:
        best_to_start = [other.sum for other in walk.edges if other.end == edge.start and other.is_best]
        assert edge.sum == pytest.approx((best_to_start or [0.0])[0] + edge.score, abs=1e-4)
    assert trace.parts[0].normalize[0].after.decode() == "▁吾輩は猫である。名前はまだ無い。"


# Equal to the engine


@pytest.mark.parametrize("name", SAMPLES)
def test_traces_of_every_kind_of_tokenizer_have_the_ids_of_encode(name: str) -> None:
    traced, differences = compare(SAMPLES[name](), 40)
    assert traced > 40
    assert not differences


@every_file
def test_traces_of_real_tokenizers_have_the_ids_of_encode(path: Path) -> None:
    _, differences = compare(polytok.load(path), 16)
    assert not differences


@pytest.mark.parametrize("line", ["0.2.1", "0.2.3"])
def test_traces_of_random_sentencepiece_models_have_the_ids_of_encode(line: SentencePieceVersion) -> None:
    for seed, spec in enumerate(itertools.islice(sentencepiece_models(line), 60)):
        with contextlib.suppress(SpecError):
            _, differences = compare(Tokenizer(spec), 12, seed)
            assert not differences, spec


@pytest.mark.parametrize("seed", range(40))
def test_traces_of_random_documents_have_the_ids_of_encode(seed: int) -> None:
    _, differences = compare(random_document(seed), 12, seed)
    assert not differences


@pytest.mark.parametrize("flags", [{"lstrip": True}, {"rstrip": True}, {"lstrip": True, "rstrip": True}])
def test_an_added_token_whose_text_is_normalized_away_is_found_at_white_space(flags: dict[str, bool]) -> None:
    removed = SpecialToken("\n", 900, special=False, normalized=True, **flags)
    hidden = SpecialToken("<b>", 901, special=True, normalized=True)
    spec = format_samples.rank_spec(special=(removed, hidden), normalize=(Strip(left=True, right=False),), split=())
    tokenizer = Tokenizer(spec)
    trace = tokenizer.trace("é b  ", special="all")
    assert 900 in trace.ids and trace.specials[0].in_normalized
    for text in ("é b  ", "\U0010ffda ", " a<b> c\n", "\n", "\r\n  é"):
        for special in ("all", ()):
            assert list(tokenizer.trace(text, special=special).ids) == tokenizer.encode(text, special=special), text


def test_each_piece_of_the_first_character_gets_the_prefix_of_metaspace() -> None:
    split = (PatternSplit("-", is_regex=False, behavior="isolated"), Metaspace("_", prepend="first", split=False))
    spec = format_samples.rank_spec(normalize=(Replace("½", "1-2"),), split=split)
    tokenizer = Tokenizer(spec)
    trace = tokenizer.trace("½-½")
    assert list(trace.ids) == tokenizer.encode("½-½")
    assert [piece.text for piece in trace.pieces] == [b"_1", b"_-", b"_2", b"-", b"1", b"-", b"2"]
    assert [(piece.start, piece.end) for piece in trace.pieces] == [(0, 2)] * 3 + [(2, 3)] + [(3, 5)] * 3


@pytest.mark.parametrize("pre", ["llama-bpe", "deepseek-llm", "superbpe", "gpt-4o", "viking", "whitespace"])
def test_traces_of_the_pre_tokenizers_of_llama_cpp_have_the_ids_of_encode(pre: str) -> None:
    keys = gguf_samples.gemma(pre) if pre == "whitespace" else gguf_samples.bpe(pre)
    _, differences = compare(polytok.load(gguf_samples.file(keys), format="gguf"), 20)
    assert not differences


# The data


def test_special_tokens_say_why_they_were_found() -> None:
    tokenizer = polytok.load("default")
    plain = tokenizer.trace("a<|endoftext|>b")
    assert plain.specials == () and [seen.piece for seen in plain.not_taken] == [b"<|endoftext|>"]
    assert (plain.not_taken[0].start, plain.not_taken[0].end) == (1, 14)
    found = tokenizer.trace("a<|endoftext|>b", special="all")
    assert [(special.kind, special.start, special.end) for special in found.specials] == [("special", 1, 14)]
    assert found.specials[0].why == "allowed by the option special" and found.not_taken == ()
    assert [(part.start, part.end) for part in found.parts] == [(0, 1), (14, 15)]
    assert [token.is_special for token in found.tokens] == [False, True, False]
    with pytest.raises(SpecialTokenError):
        tokenizer.trace("a<|endoftext|>b", reject_special=True)


@needs_data
def test_the_template_and_added_tokens_are_shown() -> None:
    bert = load("huggingface/bert_base_cased.json").trace("Hi", add_special=True)
    assert [special.kind for special in bert.specials] == ["template", "template"]
    assert [(step.name, step.ids) for step in bert.post] == [("before", (101,)), ("after", (102,))]
    neox = load("huggingface/gpt_neox.json").trace("a" + " " * 24 + "b")
    assert [special.kind for special in neox.specials] == ["added"] and neox.specials[0].in_normalized


@needs_data
def test_the_walks_of_the_other_models() -> None:
    wordpiece = load("huggingface/bert_base_cased.json").trace("unaffable 猫")
    known, unknown = (piece.walk for piece in wordpiece.pieces)
    assert isinstance(known, WordPieceWalk) and isinstance(unknown, WordPieceWalk)
    assert [attempt.piece.decode() for attempt in known.attempts if attempt.id is not None] == [
        *("un", "##af", "##fa", "##ble"),
    ]
    assert [text.id for text in unknown.unknown] == [100]
    assert unknown.why == "no entry matches at byte 0 of the piece, so the piece is unknown as a whole"
    spm = load("gguf/ggml-vocab-llama-spm.gguf").trace("猫 \U000f0000").pieces[0].walk
    assert isinstance(spm, BpeWalk) and spm.resegment and spm.bytes[-1].ids == (246, 179, 131, 131)
    llama = load("sentencepiece/llama2.model").trace("\U000f0000").pieces[0].walk
    assert isinstance(llama, BpeWalk) and llama.bytes[0].ids == (246, 179, 131, 131)
    xlnet = load("huggingface/xlnet_base_cased.json").trace("ab\u4e00\u4e8c").pieces[0].walk
    assert isinstance(xlnet, UnigramWalk) and xlnet.unknown[0].joined and xlnet.rounding == "float64 sums"


@needs_data
def test_user_defined_pieces_are_shown() -> None:
    trace = load("sentencepiece/nai-t5.model").trace("a <extra_id_0> b")
    assert [(special.kind, special.start, special.end) for special in trace.specials] == [("user_defined", 2, 14)]
    assert trace.specials[0].piece == b"<extra_id_0>" and not any(token.is_special for token in trace.tokens)
    tokenizer = load("sentencepiece/mistral03.model")
    piece = next(row for row in tokenizer.vocab() if row.kind == Kind.USER_DEFINED).piece
    walk = tokenizer.trace(b"a" + piece + b"b").pieces[0].walk
    assert isinstance(walk, BpeWalk)
    assert [walk.symbols[number].merges for number in walk.final].count(False) == 1


@needs_data
def test_special_tokens_that_are_searched_for_in_normalized_text_are_seen_too() -> None:
    trace = load("huggingface/gpt2.json").trace("a<|endoftext|>")
    assert [(seen.id, seen.start, seen.end) for seen in trace.not_taken] == [(50256, 1, 14)]


def test_of_broken_text_one_piece_can_be_walked() -> None:
    tokenizer = polytok.load("default")
    pieces = tokenizer.trace(b"one two\xff").pieces
    assert [piece.text for piece in pieces] == [b"one", b" two\xff"]
    for index in range(2):
        walks = [piece.walk is not None for piece in tokenizer.trace(b"one two\xff", piece=index).pieces]
        assert walks == [index == 0, index == 1]


def test_the_memory_of_traced_tokenizers_is_freed() -> None:
    tokenizer = Tokenizer(format_samples.rank_spec())
    tokenizer.trace("ab")
    dictionaries = weakref.ref(vocabulary(tokenizer.spec.vocab))
    assert dictionaries() is not None
    del tokenizer
    gc.collect()
    assert dictionaries() is None


def test_json_has_the_names_of_the_classes() -> None:
    trace = polytok.load("default").trace(b"a \xff")
    value = json.loads(json.dumps(trace.to_json()))
    assert value["schema"] == Trace.SCHEMA == trace.schema
    assert tuple(value["ids"]) == trace.ids
    assert value["text"] == {"hex": "6120ff"}
    assert value["parts"][0]["pieces"][0]["walk"]["kind"] == "bpe"
    assert value["steps"][0]["stage"] == "special"
    assert repr(trace) == f"<polytok.Trace of 3 bytes by {trace.model}: {len(trace.ids)} tokens>"


def test_pieces_lead_to_tokens_and_back() -> None:
    trace = polytok.load("default").trace("one two\n\nthree", special="all")
    for piece in trace.pieces:
        assert all(trace.tokens[index].piece_index == piece.index for index in piece.tokens)
        assert b"".join(trace.tokens[index].piece for index in piece.tokens) == trace.text[piece.start : piece.end]


def test_steps_have_the_order_of_the_pipeline() -> None:
    stages = [step.stage for step in polytok.load("default").trace("a").steps]
    assert stages == sorted(stages, key=("special", "normalize", "split", "model", "post").index)


# The alternatives of a pattern


def test_patterns_are_cut_at_their_top_level_bars() -> None:
    assert alternatives(r"(?i)a|b") == ("(?i)a", "(?i)b")
    assert alternatives(r"a\|b|[]|x]|[^]|x]|[a[b|c]]|(?:d|e)") == (
        *(r"a\|b", "[]|x]", "[^]|x]", "[a[b|c]]", "(?:d|e)"),
    )
    assert alternatives(r"(a)|\1") == (r"(a)|\1",)
    assert alternatives(r"a|(?i)b") == (r"a|(?i)b",)


@pytest.mark.parametrize("behavior", ["matches", "isolated", "removed", "merged_with_next", "contiguous"])
def test_the_alternative_that_matched_is_the_first_one(behavior: Any) -> None:
    step = PatternSplit(r"ab|[ab]+|\d+(?=x)|\d", behavior=behavior)
    tokenizer = Tokenizer(format_samples.rank_spec(split=(step,)))
    pieces = tokenizer.trace("abb-aab12x3").parts[0].split[0].pieces
    found = [(piece.text.decode(), piece.alternative) for piece in pieces]
    expected = {
        "matches": [("ab", 0), ("b", 1), ("aab", 1), ("12", 2), ("3", 3)],
        "isolated": [("ab", 0), ("b", 1), ("-", None), ("aab", 1), ("12", 2), ("x", None), ("3", 3)],
        "removed": [("-", None), ("x", None)],
        "merged_with_next": [("ab", 0), ("b-", 1), ("aab", 1), ("12x", 2), ("3", 3)],
        "contiguous": [("abb", 0), ("-", None), ("aab12", 1), ("x", None), ("3", 3)],
    }
    assert found == expected[behavior]


# Long texts, and arguments


def test_of_a_long_text_the_piece_that_is_asked_for_is_walked() -> None:
    tokenizer = polytok.load("default")
    text = "some words of a long text. " * 2_000
    with pytest.raises(ArgumentError, match="54,000 bytes; a trace has at most 10,240"):
        tokenizer.trace(text)
    by_offset = tokenizer.trace(text, at=27_006)
    assert list(by_offset.ids) == tokenizer.encode(text)
    [walked] = [piece for piece in by_offset.pieces if piece.walk is not None]
    assert walked.start <= 27_006 < walked.end
    by_index = tokenizer.trace(text, piece=walked.index)
    assert by_index == by_offset
    with pytest.raises(ArgumentError, match="piece=1000000 is not a piece"):
        tokenizer.trace("a b", piece=1_000_000)
    with pytest.raises(ArgumentError, match="1,048,576"):
        tokenizer.trace(b"a" * 1_048_577, piece=0)


@needs_data
@pytest.mark.parametrize("name", ["sentencepiece/llama2.model", "huggingface/mistral03.json", "llama2c/tokenizer.bin"])
def test_the_only_piece_of_a_long_text_is_walked(name: str) -> None:
    tokenizer = load(name)
    text = "some words of a long text. " * 500
    assert list(tokenizer.trace(text, piece=0).ids) == tokenizer.encode(text)
    with pytest.raises(ArgumentError, match="piece 0 has .* bytes; at most 102,400 can be traced"):
        tokenizer.trace(text * 10, piece=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.trace(), "pass a text or ids: one of them"),
        (lambda t: t.trace("a", ids=[1]), "pass a text or ids: one of them"),
        (lambda t: t.trace("a", piece=0, at=0), "both choose a piece"),
        (lambda t: t.trace("a", piece=-1), "piece=-1 is not a whole number"),
        (lambda t: t.trace("a", at=1.5), "at=1.5 is not a whole number"),
        (lambda t: t.trace(ids=[1], special="all"), "ids show which special tokens they have, so special= has"),
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[Tokenizer], object], message: str) -> None:
    with pytest.raises((ArgumentError, TypeError), match=message):
        call(polytok.load("default"))


def test_surrogates_are_repaired_as_by_encode() -> None:
    tokenizer = polytok.load("default")
    for text in ("a\ud83d\ude00", "\ud800b"):
        assert list(tokenizer.trace(text).ids) == tokenizer.encode(text)


# Ids


def test_canonical_ids() -> None:
    tokenizer = polytok.load("default")
    ids = tokenizer.encode("hello about")
    given = tokenizer.trace(ids=ids).given
    assert given is not None and given.canonical and given.first_noncanonical is None and given.ids == tuple(ids)


def test_ids_that_are_not_canonical_say_why() -> None:
    tokenizer = polytok.load("default")
    trace = tokenizer.trace(ids=[104, 101, 8079])
    given = trace.given
    assert given is not None and not given.canonical and given.first_noncanonical == 0
    assert [row.id for row in given.given] == [104, 101, 8079]
    assert [row.id for row in given.canonical_rows] == list(trace.ids)
    assert given.why == "the tokenizer takes 'he' (6976) here, one entry, instead of 'h' (104) + 'e' (101)"
    assert tokenizer.first_noncanonical([104, 101, 8079]) == 0


@needs_data
@every_file
def test_the_verdict_about_ids_is_that_of_is_canonical(path: Path) -> None:
    tokenizer = polytok.load(path)
    ids = tokenizer.encode("I love you, baby", add_special=True)
    split_up = [*ids[:-2], *tokenizer.encode("b"), *tokenizer.encode("aby")]
    for row in (ids, split_up, tokenizer.encode("one two"), ids[::-1]):
        given = tokenizer.trace(ids=row).given
        assert given is not None
        assert given.canonical == tokenizer.is_canonical(row), (row, given)
        assert given.canonical == (given.first_noncanonical is None)


def test_ids_that_are_not_in_the_vocabulary_are_refused() -> None:
    with pytest.raises(TokenIdError, match="40000"):
        polytok.load("default").trace(ids=[40000])


def test_options_as_one_value() -> None:
    tokenizer = polytok.load("default")
    special = Options(special="all")
    assert tokenizer.trace("<|endoftext|>", options=special).ids == (32767,)
    assert tokenizer.trace("<|endoftext|>", options=special).special == "all"


def test_tokens_of_a_vocabulary_whose_special_token_has_another_id() -> None:
    spec = format_samples.rank_spec(special=(SpecialToken("<a>", 900, special=False, lstrip=True),))
    assert isinstance(spec.model, Bpe)
    trace = Tokenizer(spec).trace("x  <a>y")
    assert [(special.id, special.start, special.end) for special in trace.specials] == [(900, 1, 6)]
