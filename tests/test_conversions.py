"""Tests conversions between Specs: their proofs, their refusals, and a small matrix of formats."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from format_samples import SMALL, longest_spec, merges_spec, rank_spec, real, sentencepiece_spec, unigram_spec
from polytok import conversion, formats, probes
from polytok.conversion import adapted
from polytok.conversion.base import Converted
from polytok.conversion.derivation import (
    NO_ROW,
    DerivationKind,
    derivations,
    rows_merged_differently,
)
from polytok.conversion.merges import effective_merges, merges_from_scores
from polytok.conversion.patterns import as_isolated, as_matches
from polytok.conversion.ranks import RANK_MODEL, to_ranks
from polytok.convert import convert
from polytok.divergence import Comparison
from polytok.errors import ArgumentError, FormatError, LossError
from polytok.file_names import format_of
from polytok.patterns import PATTERNS
from polytok.reference.derivation import all_splits, derivation
from polytok.spec import Bpe, Kind, PatternSplit, Spec, SpecialToken, Template, Vocab

LETTERS = [bytes([byte]) for byte in range(256)]
texts_of_two = st.text("ab", min_size=2, max_size=6).map(str.encode)
vocabularies = st.lists(texts_of_two, max_size=12, unique=True).map(lambda more: [*LETTERS, *more])


def rank_bpe_spec(entries: list[bytes]) -> Spec:
    return rank_spec(vocab=Vocab.from_rows((text, n, 0.0, Kind.NORMAL) for n, text in enumerate(entries)))


def list_bpe_spec(entries: list[bytes], pairs: list[tuple[bytes, bytes]], has_whole_pieces: bool = True) -> Spec:
    number = {text: n for n, text in enumerate(entries)}
    merges = [[number[left], number[right], number[left + right]] for left, right in pairs]
    table = np.array(merges, dtype=np.uint32).reshape(-1, 3)
    return replace(rank_bpe_spec(entries), model=Bpe("merges", merges=table, whole_piece_first=has_whole_pieces))


def encode_all(spec: Spec, texts: list[bytes]) -> list[list[int]]:
    return polytok.Tokenizer(spec).encode_batch(texts).to_list()


EVERY_SHORT_TEXT = ["".join(letters).encode() for n in range(1, 9) for letters in itertools.product("ab", repeat=n)]


# Derivations


@given(vocabularies)
def test_the_core_derives_the_same_pairs_as_its_twin(entries: list[bytes]) -> None:
    spec = rank_bpe_spec(entries)
    actual = derivations(spec.vocab, RANK_MODEL)
    ranks = {text: n for n, text in enumerate(entries)}
    for row, text in enumerate(entries):
        halves = derivation(text, ranks)
        if len(text) == 1:
            assert actual.kind[row] == DerivationKind.SYMBOL
        elif halves is None:
            assert actual.kind[row] == DerivationKind.NEVER_MERGED
        else:
            assert actual.kind[row] == DerivationKind.MERGED
            assert (entries[actual.left[row]], entries[actual.right[row]]) == halves


@settings(max_examples=60, deadline=None)
@given(vocabularies)
def test_one_pair_for_each_entry_merges_as_ranks_do(entries: list[bytes]) -> None:
    """Tests vocabularies with any order of entries, also orders that no training produces."""
    spec = rank_bpe_spec(entries)
    ranks = {text: n for n, text in enumerate(entries)}
    expected = encode_all(spec, EVERY_SHORT_TEXT)
    listed_merges = effective_merges(spec.vocab, RANK_MODEL).merges
    derived_pairs = [(entries[left], entries[right]) for left, right, _ in listed_merges.tolist()]
    assert encode_all(list_bpe_spec(entries, derived_pairs), EVERY_SHORT_TEXT) == expected
    assert encode_all(list_bpe_spec(entries, all_splits(ranks)), EVERY_SHORT_TEXT) == expected
    assert len({left + right for left, right in derived_pairs}) == len(derived_pairs) <= len(all_splits(ranks))


@settings(max_examples=60, deadline=None)
@given(vocabularies)
def test_scores_convert_to_a_list_of_merges(pieces: list[bytes]) -> None:
    """Tests models over characters whose scores are all different; the highest score merges first."""
    rows = [(b"<unk>", Kind.UNKNOWN), *((text, Kind.NORMAL) for text in pieces if text.isascii() and text.strip())]
    scored = [(text, n, -float(n), kind) for n, (text, kind) in enumerate(rows)]
    spec = Spec(Vocab.from_rows(scored), Bpe("score", symbols="chars"), unknown="unk")
    merge_list = merges_from_scores(spec.vocab, spec.model)  # type: ignore[arg-type]
    assert not merge_list.losses
    list_spec = replace(spec, model=Bpe("merges", symbols="chars", merges=merge_list.merges))
    assert encode_all(spec, EVERY_SHORT_TEXT) == encode_all(list_spec, EVERY_SHORT_TEXT)
    derivation_pair = [derivations(each.vocab, each.model) for each in (spec, list_spec)]  # type: ignore[arg-type]
    assert len(rows_merged_differently(*derivation_pair)) == 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([b"aa", b"ab", b"ba", b"aab", b"aba", b"baa", b"abab"]), unique=True), st.data())
def test_models_that_provably_merge_alike_do(longer_entries: list[bytes], data: Any) -> None:
    entries = [*LETTERS, *longer_entries]
    pairs = data.draw(st.permutations(all_splits({text: n for n, text in enumerate(entries)})))
    spec = list_bpe_spec(entries, pairs, has_whole_pieces=data.draw(st.booleans()))
    try:
        rank_conversion = to_ranks(spec)
    except FormatError:
        return
    if not rank_conversion.losses:
        assert encode_all(rank_conversion.spec, EVERY_SHORT_TEXT) == encode_all(spec, EVERY_SHORT_TEXT)


def test_a_list_that_ranks_cannot_express_has_a_reason() -> None:
    entries = [*LETTERS, b"ab", b"bc", b"abc"]
    right_order = [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c")]
    assert to_ranks(list_bpe_spec(entries, right_order)).losses == ()
    assert to_ranks(list_bpe_spec(entries, right_order, has_whole_pieces=False)).losses == ()
    with pytest.raises(FormatError, match=r"1 entry has an id that is not in the order.* \(b'ab'\)"):
        to_ranks(list_bpe_spec(entries, [(b"b", b"c"), (b"a", b"b"), (b"a", b"bc")][:2]))
    with pytest.raises(FormatError, match="built from other halves"):
        to_ranks(list_bpe_spec([*LETTERS, b"ab", b"bc", b"abc"], [(b"b", b"c"), (b"a", b"bc")]))
    unmade = to_ranks(list_bpe_spec(entries, right_order[:2]))
    assert unmade.losses == ("model: 1 entry that no merge builds is built by rank (b'abc')",)
    entries_with_orphan = [*LETTERS, b"abc"]
    assert to_ranks(list_bpe_spec(entries_with_orphan, [])).losses == ()
    assert (
        to_ranks(list_bpe_spec(entries_with_orphan, [], has_whole_pieces=False))
        .losses[0]
        .startswith("model: 1 entry that no merge builds is found")
    )


def test_pairs_that_never_merge_change_nothing() -> None:
    entries = [*LETTERS, b"ab", b"bc", b"abc"]
    pairs = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc"), (b"ab", b"c")]
    spec = list_bpe_spec(entries, pairs)
    assert [tuple(row) for row in effective_merges(spec.vocab, spec.model).merges[:, :2].tolist()] == [  # type: ignore[arg-type]
        (97, 98),
        (98, 99),
        (256, 99),
    ]
    assert to_ranks(spec).losses == ()


def test_scores_that_tie() -> None:
    pieces = [("<unk>", 0.0), ("a", 0.0), ("b", 0.0), ("ab", -1.0), ("ba", -1.0)]
    rows = [(text.encode(), n, score, Kind.NORMAL if n else Kind.UNKNOWN) for n, (text, score) in enumerate(pieces)]
    model = Bpe("score", symbols="chars")
    losses = merges_from_scores(Vocab.from_rows(rows), model).losses
    assert len(losses) == 1 and "2 entries share the score -1 ('ba', 'ab')" in losses[0].replace(
        "'ab', 'ba'", "'ba', 'ab'"
    )
    runs = [("<unk>", 0.0), ("a", 0.0), *(("a" * n, -1.0) for n in range(2, 9))]
    rows = [(text.encode(), n, score, Kind.NORMAL if n else Kind.UNKNOWN) for n, (text, score) in enumerate(runs)]
    assert merges_from_scores(Vocab.from_rows(rows), model).losses == ()


def test_characters_without_entry_cannot_be_listed() -> None:
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"ab", 1, -1.0, Kind.NORMAL)]
    merge_list = merges_from_scores(Vocab.from_rows(rows), Bpe("score", symbols="chars"))
    assert merge_list.losses == ("model: 1 entry is merged from characters without entry ('ab')",)
    assert merge_list.derivations.left[1] == NO_ROW


def test_merge_alike_returns_the_differing_rows() -> None:
    entries = [*LETTERS, b"ab", b"bc"]
    first_spec, second_spec = (
        derivations(rank_bpe_spec(entries).vocab, list_bpe_spec(entries, pairs).model) for pairs in ([(b"a", b"b")], [])
    )  # type: ignore[arg-type]
    assert rows_merged_differently(first_spec, second_spec).tolist() == [256]
    assert rows_merged_differently(first_spec, first_spec).tolist() == []


def test_o200k_converts_within_two_seconds() -> None:
    spec = formats.read(real("tiktoken/o200k_base.tiktoken"))
    merges = effective_merges(spec.vocab, RANK_MODEL).merges
    assert len(merges) == len(spec.vocab) - 256


# Patterns


def test_patterns_that_leave_no_gaps_are_isolated_and_back() -> None:
    step = PatternSplit(r"\s+|\S+")
    isolated_step = as_isolated(step)
    assert isolated_step.behavior == "isolated" and as_matches((isolated_step,), "x") == (step,)
    assert as_isolated(PatternSplit(r"\w+")).behavior == "matches"


@pytest.mark.parametrize("step", [PatternSplit(r"b+a?|c", "isolated"), PatternSplit(r"b+a?|c", "removed", invert=True)])
def test_gaps_as_matches(step: PatternSplit) -> None:
    (matches,) = as_matches((step,), "x")
    assert matches.behavior == "matches"
    spec = rank_bpe_spec(LETTERS)
    texts = ["".join(letters).encode() for n in range(6) for letters in itertools.product("abcd", repeat=n)]
    left_tokenizer, right_tokenizer = (
        polytok.Tokenizer(replace(spec, split=(split_step,))) for split_step in (step, matches)
    )
    for text in texts:
        assert pieces(left_tokenizer, text) == pieces(right_tokenizer, text)


def pieces(tokenizer: polytok.Tokenizer, text: bytes) -> list[tuple[int, int, int]]:
    columns = tokenizer._core.token_columns(text)
    starts = [start for start, _ in columns.offsets()]
    return list(zip(columns.ids(), starts, columns.words(), strict=True))


def test_patterns_that_cannot_be_converted() -> None:
    for step, message in [
        (PatternSplit(r"a*", "isolated"), "it cannot express"),
        (PatternSplit("a", "removed"), "it cannot express"),
        (PatternSplit("a", "merged_with_next"), "it cannot express"),
        (PatternSplit("a", "isolated", is_regex=False), "one regular expression"),
    ]:
        with pytest.raises(FormatError, match=message):
            as_matches((step,), "x")
    with pytest.raises(FormatError, match="2 steps cannot be combined into one"):
        as_matches((PatternSplit("a"), PatternSplit("b")), "x")


# From format to format


@pytest.mark.parametrize("format_name", [name for name in SMALL if name != "llama2c"])
def test_a_spec_of_the_target_format_is_unchanged(format_name: str) -> None:
    spec = SMALL[format_name]()
    assert adapted(spec, format_name).spec is spec


def test_a_conversion_of_several_steps_reports_each_loss_once() -> None:
    first_conversion = Converted(rank_spec(), ("a", "b"), ("n",))
    assert first_conversion.then(Converted(merges_spec(), ("b", "c"))) == Converted(
        merges_spec(), ("a", "b", "c"), ("n",)
    )


EQUAL, REFUSED = "equal", "refused"
MATRIX: dict[tuple[str, str], str] = {
    ("sentencepiece", "llama2c"): "U+2581",
    ("llama2c", "sentencepiece"): "U+2581",
    ("tiktoken", "minbpe"): EQUAL,
    ("minbpe", "tiktoken"): "a rank file does not contain",
    ("sentencepiece", "tiktoken"): REFUSED,
    ("sentencepiece", "minbpe"): REFUSED,
    ("sentencepiece", "rwkv"): REFUSED,
    ("rwkv", "tiktoken"): REFUSED,
    ("rwkv", "sentencepiece"): REFUSED,
    ("tiktoken", "rwkv"): REFUSED,
}


def small_tokenizer(format_name: str) -> polytok.Tokenizer:
    if format_name == "tiktoken":
        vocab = [*LETTERS, b"th", b"the", b" the", b"in", b"ing"]
        return polytok.Tokenizer(rank_bpe_spec(vocab))
    return polytok.load(conversion.write(SMALL[format_name](), format_name).data, format=format_name)


@pytest.mark.parametrize(("source", "target"), MATRIX)
def test_the_small_matrix(source: str, target: str) -> None:
    tokenizer, verdict = small_tokenizer(source), MATRIX[source, target]
    if verdict == REFUSED:
        with pytest.raises(FormatError):
            convert(tokenizer, target)
        return
    result = convert(tokenizer, target)
    assert result.checked > 400
    if verdict == EQUAL:
        assert not result.losses and not result.divergences
        return
    assert any(verdict in loss for loss in result.losses)
    assert all("\u2581".encode() in divergence.text for divergence in result.divergences)
    with pytest.raises(LossError):
        convert(tokenizer, target, strict=True)


def test_llama2_and_llama2c() -> None:
    model, exported_file = real("sentencepiece/llama2.model"), real("llama2c/tokenizer.bin")
    assert conversion.write(formats.read(model), "llama2c").data == exported_file
    reread_spec = formats.read(conversion.write(formats.read(exported_file), "sentencepiece").data)
    original = formats.read(model)
    assert reread_spec.vocab == original.vocab
    assert (reread_spec.model, reread_spec.normalize, reread_spec.unknown, reread_spec.names) == (
        original.model,
        original.normalize,
        original.unknown,
        original.names,
    )


def test_the_default_vocabulary_as_minbpe_and_back() -> None:
    tokenizer = polytok.load("default")
    result = convert(tokenizer, "minbpe")
    assert not (result.losses or result.divergences or result.decoded) and result.lost_roles == {"eos": 32767}
    assert result.summary == "452 of 452 texts have the same ids and decode to the same texts; lost: eos"
    with pytest.raises(LossError, match=r"a minbpe file does not name eos \(id 32767\)"):
        convert(tokenizer, "minbpe", strict=True)
    reread_spec = formats.read(result.data)
    from polytok import data

    assert conversion.write(reread_spec, "tiktoken").data == data.default_ranks()


@pytest.mark.parametrize("name", ["tokenizer.json", "other.json", "other.txt"])
def test_roles_are_kept_in_a_file_of_any_name(tmp_path: Path, name: str) -> None:
    tokenizer = polytok.load("default")
    result = convert(tokenizer, "huggingface", path=tmp_path / name, strict=True)
    assert result.summary == "kept: everything; 452 of 452 texts have the same ids" and result.keeps_everything
    assert tokenizer.save(tmp_path / name, "huggingface") == ()
    assert polytok.load(tmp_path / name).eos_id == tokenizer.eos_id
    assert tokenizer.save(tmp_path / "x.model", "minbpe") == ("names: a minbpe file does not name eos (id 32767)",)


def test_roles_of_wordpiece_need_a_file_named_vocab_txt(tmp_path: Path) -> None:
    tokenizer = polytok.train(["to be"], kind="wordpiece", vocab_size=11, eos="[SEP]")
    result = convert(tokenizer, "wordpiece", texts=(), path=tmp_path / "other.txt")
    advice = "name the file vocab.txt to keep all roles"
    assert result.summary.endswith(f"; lost: eos; {advice}")
    loss = f"names: a wordpiece file named other.txt does not name eos (id {tokenizer.eos_id}); {advice}"
    assert loss in tokenizer.save(tmp_path / "other.txt", "wordpiece")


def test_strict_methods_refuse_lost_roles(tmp_path: Path) -> None:
    tokenizer = polytok.load("default")
    with pytest.raises(LossError, match=r"does not name eos \(id 32767\)"):
        tokenizer.save(tmp_path / "ranks.model", "minbpe", strict=True)
    with pytest.raises(LossError, match=r"a minbpe file does not name eos \(id 32767\)"):
        conversion.write(tokenizer.spec, "minbpe", strict=True)
    assert not list(tmp_path.iterdir())
    tokenizer.save(tmp_path / "tokenizer.json", strict=True)
    assert polytok.load(tmp_path).spec.names == {"eos": 32767}


def test_longest_match_keeps_special_tokens_in_gguf(tmp_path: Path) -> None:
    special = (SpecialToken("<|eos|>", 0), SpecialToken("<|pad|>", 263), SpecialToken("<é>", 264))
    tokenizer = polytok.Tokenizer(longest_spec(special=special, post=Template.around(after=(0,))))
    losses = tokenizer.save(tmp_path / "m.gguf")
    assert losses == (
        "special: llama.cpp encodes '<|eos|>', '<|pad|>' in a text as special tokens even if the caller does not allow "
        "them",
        "special: '<é>' are not special tokens, and are decoded as other bytes",
        "post: llama.cpp adds no ids before and after a text",
    )
    written = polytok.load(tmp_path / "m.gguf")
    assert written.special_tokens == {"<|eos|>": 0, "<|pad|>": 263} and written.eos_id == 0
    text = "a<|eos|>b<|pad|>"
    assert written.encode(text, special="all") == tokenizer.encode(text, special="all") == written.encode(text)
    assert written.decode([0, 263]) == "<|eos|><|pad|>"
    assert "special tokens differ" in convert(tokenizer, "gguf").summary
    with pytest.raises(LossError, match="encodes '<|eos|>'"):
        tokenizer.save(tmp_path / "strict.gguf", strict=True)


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        ({"bos": "<|bos|>", "eos": "<|eos|>", "pad": "<|pad|>", "unk": "<|unk|>"}, ["<|bos|>", "<|eos|>"]),
        ({}, ["[CLS]", "[SEP]"]),
        ({"special_tokens": ["[UNK]"]}, ["[UNK]", "[UNK]"]),
    ],
)
def test_wordpiece_names_its_separators_in_gguf(tmp_path: Path, options: dict[str, Any], tokens: list[str]) -> None:
    """Tests that no id is llama.cpp's default: without the keys, it adds the tokens 101 and 102, which are words."""
    words = " ".join(f"{a}{b}{c}" for a in "abcdef" for b in "ghijkl" for c in "mnopqr")
    tokenizer = polytok.train([words], kind="wordpiece", vocab_size=150, **options)
    losses = tokenizer.save(tmp_path / "w.gguf")
    ids = polytok.load(tmp_path / "w.gguf").encode("", add_special=True)
    assert tokenizer.ids_to_pieces(ids) == [token.encode() for token in tokens]
    assert f"llama.cpp always adds one token before and one after a text: {tokens[0]!r}" in "\n".join(losses)


def test_texts_that_a_file_decodes_differently() -> None:
    spec = polytok.load("default").spec
    tokenizer = polytok.Tokenizer(replace(spec, split=(PatternSplit(PATTERNS["llama3"]),)))
    result = convert(tokenizer, "gguf", texts=["a b", "a . b"])
    assert (result.same_ids, result.decoded) == (2, ((b"a . b", b"a. b"),))
    assert result.summary == "2 of 2 texts have the same ids; the ids of 1 decode to another text"
    assert convert(tokenizer, "gguf", texts=["a b"]).summary.endswith("; some texts are decoded differently")
    written = convert(tokenizer, "gguf", texts=[]).data
    (reason,) = [reason for reason in polytok.load(written).lossless.reasons if "clean_spaces" in reason.what]
    assert polytok.load(written).decode(polytok.load(written).encode(reason.example or b"")) == "a."


def test_tekken_as_ranks() -> None:
    tokenizer = polytok.load(real("tekken/mistral2410_rebuilt.json"))
    assert not convert(tokenizer, "tiktoken").divergences


def test_minbpe_needs_bytes_first() -> None:
    with pytest.raises(FormatError, match="numbers the 256 bytes first"):
        conversion.write(formats.read(real("tiktoken/cl100k_base.tiktoken")), "minbpe")


def test_whole_pieces_are_lost_in_minbpe() -> None:
    losses = adapted(rank_bpe_spec([*LETTERS, b"abc"]), "minbpe").losses
    assert len(losses) == 1 and "1 entry that no merge builds is not found" in losses[0]


def test_extra_data_of_another_format_is_a_note() -> None:
    model = real("sentencepiece/llama2.model")
    notes = conversion.write(formats.read(model), "llama2c").notes
    assert any(note.startswith("extra: trainer_spec") for note in notes)


# File names


@pytest.mark.parametrize(
    ("name", "origin", "expected"),
    [
        ("x.gguf", "tiktoken", "gguf"),
        ("X.GGUF", "tiktoken", "gguf"),
        ("tokenizer.json", "sentencepiece", "huggingface"),
        ("tokenizer.json", "tekken", "huggingface"),
        ("tekken.json", "huggingface", "tekken"),
        ("x.model", "sentencepiece", "sentencepiece"),
        ("x.model", "tiktoken", "tiktoken"),
        ("x.json", "tekken", "tekken"),
        ("x.json", "rwkv", "huggingface"),
        ("x", "rwkv", "rwkv"),
        ("x.vocab", "rwkv", "rwkv"),
        ("tokenizer.bin", "sentencepiece", "llama2c"),
    ],
)
def test_a_file_name_implies_a_format(name: str, origin: str, expected: str) -> None:
    assert format_of(Path("some") / name, origin) == expected


@pytest.mark.parametrize(("name", "origin"), [("x.model", "rwkv"), ("x.MODEL", "gguf")])
def test_a_file_name_of_several_formats_is_refused(name: str, origin: str) -> None:
    with pytest.raises(ArgumentError, match="can be a file of several formats"):
        format_of(Path(name), origin)


def test_save_chooses_the_format_by_the_name(tmp_path: Path) -> None:
    tokenizer = polytok.Tokenizer(sentencepiece_spec())
    tokenizer.save(tmp_path / "tokenizer.bin")
    assert polytok.load(tmp_path / "tokenizer.bin").spec.origin.format == "llama2c"
    with pytest.raises(ArgumentError, match="several formats"):
        tokenizer.save(tmp_path / "x.model")
    assert not (tmp_path / "x.model").exists()


# The first difference between two tokenizers


def test_a_divergence_ends_at_the_next_common_boundary() -> None:
    left_tokenizer = polytok.Tokenizer(rank_bpe_spec([*LETTERS, b"ab", b"abc"]))
    right_tokenizer = polytok.Tokenizer(rank_bpe_spec([*LETTERS, b"bc"]))
    divergence = Comparison(left_tokenizer, right_tokenizer).divergence_in("xxabcxx")
    assert divergence is not None
    assert (divergence.start, divergence.end, divergence.stage) == (2, 5, "model")
    assert [token.piece for token in divergence.left.tokens] == [b"abc"]
    assert [token.piece for token in divergence.right.tokens] == [b"a", b"bc"]


def test_the_stage_is_named() -> None:
    base = rank_bpe_spec([*LETTERS, b"ab"])
    other_spec = replace(base, split=(PatternSplit(r"a|[^a]+"),))
    divergence = Comparison(polytok.Tokenizer(base), polytok.Tokenizer(other_spec)).divergence_in("zab")
    assert divergence is not None and divergence.stage == "split"


def test_special_tokens_are_compared_only_on_request() -> None:
    base = rank_bpe_spec([*LETTERS, b"ab"])
    pair = (polytok.Tokenizer(replace(base, special=(SpecialToken("xy", number),))) for number in (300, 301))
    left_tokenizer, right_tokenizer = pair
    assert Comparison(left_tokenizer, right_tokenizer).divergence_in("xy") is None
    divergence = Comparison(left_tokenizer, right_tokenizer, special="all").divergence_in("xy")
    assert divergence is not None and divergence.stage == "special"


def test_a_text_that_one_side_refuses() -> None:
    left_tokenizer = polytok.Tokenizer(longest_spec(vocab=Vocab.from_rows([(b"a", 1, 0.0, Kind.NORMAL)])))
    divergence = Comparison(left_tokenizer, polytok.Tokenizer(longest_spec())).divergence_in("ab")
    assert divergence is not None and divergence.left.error and divergence.right.ids


def test_probes_are_the_same_every_time() -> None:
    assert probes.texts(unigram_spec()) == probes.texts(unigram_spec())
    assert len(set(probes.DIFFICULT_TEXTS)) == len(probes.DIFFICULT_TEXTS)


def test_reports_describe_steps_in_words() -> None:
    losses = convert(polytok.load("default"), "tiktoken").losses
    assert losses[0].startswith("special: special token (text '<|endoftext|>', id 32767) becomes nothing (")
    assert losses[1].startswith("split: pattern (pattern '") and losses[2] == "names: eos = 32767 becomes nothing"
    assert convert(polytok.load("default"), "minbpe").notes == ("names: eos (id 32767) is not in the file",)


def test_a_token_that_becomes_special_is_a_note() -> None:
    """Tests `<unk>`, which SentencePiece does not recognize in a text, but Hugging Face's file does."""
    conversion = convert(polytok.load(real("sentencepiece/llama2.model")), "huggingface", texts=())
    assert "special: '<unk>' becomes a special token" in conversion.notes
    assert not conversion.losses
