"""Tests the comparison of two tokenizers: each part finds its own differences, and equal tokenizers have none."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import polytok
from cli_process import error_of, run
from format_samples import REAL, VOCAB, longest_spec, merges_spec, rank_spec, sentencepiece_spec, unigram_spec
from polytok.differences.merges import _longest_increasing
from polytok.differences.words import _WORDS, words_of
from polytok.spec import (
    Bpe,
    BytesDecode,
    Insert,
    Kind,
    Lowercase,
    PatternSplit,
    Prepend,
    Slot,
    Spec,
    SpecialToken,
    Strip,
    Template,
    TrimOffsets,
    Vocab,
)
from tokenizer_samples import word_unigram

SPECS = {
    "merges": merges_spec(),
    "ranks": rank_spec(),
    "sentencepiece": sentencepiece_spec(),
    "unigram": unigram_spec(),
    "longest": longest_spec(),
}


def compare(left: Spec, right: Spec, texts: list[str] | None = None) -> polytok.Differences:
    return polytok.compare(polytok.Tokenizer(left), polytok.Tokenizer(right), texts)


def vocab_of(*pieces: str, kinds: dict[str, Kind] | None = None) -> Vocab:
    """Returns the 256 bytes, and these pieces with their place as the score."""
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)]
    kind_of_piece = dict.fromkeys(pieces, Kind.NORMAL) | (kinds or {})
    own_rows = [(piece.encode(), 256 + n, -float(n), kind_of_piece[piece]) for n, piece in enumerate(pieces)]
    return Vocab.from_rows([*rows, *own_rows])


@pytest.mark.parametrize("name", SPECS)
def test_a_tokenizer_does_not_differ_from_itself(name: str) -> None:
    differences = compare(SPECS[name], SPECS[name])
    assert differences.is_empty and differences.same_ids and differences.compared > 400
    assert (differences.merges is None) == (not isinstance(SPECS[name].model, Bpe))


@pytest.mark.parametrize(("left", "right"), list(combinations(SPECS, 2)))
def test_different_tokenizers_differ(left: str, right: str) -> None:
    assert not compare(SPECS[left], SPECS[right], ["ab"]).is_empty


def test_entries() -> None:
    left = longest_spec(vocab=vocab_of("ab", "cd", "<u>", "x y"))
    right = longest_spec(vocab=vocab_of("cd", "ef", "<u>", "x▁y", kinds={"<u>": Kind.USER_DEFINED}))
    entries = compare(left, right).entries
    assert [entry.piece for entry in entries.only_left] == [b"ab"]
    assert [(entry.id, entry.piece) for entry in entries.only_right] == [(257, b"ef")]
    assert [tuple(entry) for entry in entries.moved] == [(b"cd", 257, 256, True)]
    assert [tuple(entry) for entry in entries.other_kinds] == [(b"<u>", Kind.NORMAL, Kind.USER_DEFINED)]
    assert (entries.shared, entries.respelled, entries.other_scores) == (259, 1, ())


def test_the_first_of_repeated_entries_counts() -> None:
    left = longest_spec(vocab=vocab_of("ab", "ab"))
    entries = compare(left, longest_spec(vocab=vocab_of("ab")), ["ab"]).entries
    assert (entries.only_left, entries.moved, entries.shared) == ((), (), 257)


def test_scores_of_unigram() -> None:
    spec = word_unigram()
    scores = spec.vocab.scores.copy()
    scores[-1] -= 1
    other = replace(spec, vocab=Vocab(spec.vocab.blob, spec.vocab.offsets, spec.vocab.ids, scores, spec.vocab.kinds))
    (score,) = compare(spec, other).entries.other_scores
    assert score.piece == spec.vocab.piece(len(scores) - 1) and score.left == score.right + 1


def test_merges() -> None:
    spec = merges_spec(split=())
    vocab = vocab_of("ab", "bc", "cd")
    pairs = {"ab": [97, 98, 256], "bc": [98, 99, 257], "cd": [99, 100, 258]}

    def with_merges(*names: str) -> Spec:
        merges = np.array([pairs[name] for name in names], dtype=np.uint32)
        return replace(spec, vocab=vocab, model=Bpe("merges", merges=merges))

    merges = compare(with_merges("ab", "bc"), with_merges("cd", "ab")).merges
    assert merges is not None and merges.shared == 1 and merges.reordered == ()
    assert ([m.piece for m in merges.only_left], [m.piece for m in merges.only_right]) == ([b"bc"], [b"cd"])
    moved = compare(with_merges("ab", "bc", "cd"), with_merges("cd", "ab", "bc")).merges
    assert moved is not None and [tuple(merge) for merge in moved.reordered] == [(b"c", b"d", 2, 0)]


def test_the_longest_increasing_part_is_the_longest() -> None:
    generator = np.random.default_rng(1)
    for _ in range(200):
        numbers = generator.permutation(7).tolist()
        parts = (part for size in range(8) for part in combinations(numbers, size) if list(part) == sorted(part))
        result = _longest_increasing(numbers)
        assert len(result) == max(map(len, parts)) and result == sorted(result)
        places = [numbers.index(number) for number in result]
        assert places == sorted(places)


def test_special_tokens() -> None:
    left = rank_spec(
        special=(SpecialToken("<a>", 400), SpecialToken("<b>", 401), SpecialToken("<c>", 402)), names={"eos": 400}
    )
    right = rank_spec(
        special=(SpecialToken("<b>", 403), SpecialToken("<c>", 402, lstrip=True), SpecialToken("<d>", 404)),
        names={"eos": 404, "pad": 402},
    )
    differences = compare(left, right, ["a"])
    tokens = differences.special_tokens
    assert (tokens.only_left, tokens.only_right) == ({"<a>": 400}, {"<d>": 404})
    assert [tuple(token) for token in tokens.moved] == [("<b>", 401, 403)]
    assert [tuple(token) for token in tokens.other_flags] == [("<c>", ("special",), ("special", "lstrip"))]
    assert [tuple(role) for role in tokens.roles] == [("eos", 400, 404), ("pad", None, 402)]
    assert not differences.same_ids and differences.with_special is not None


def test_steps() -> None:
    left = rank_spec(normalize=(Strip(), Lowercase()), split=(PatternSplit(r"\w+|\W+"),))
    right = rank_spec(
        normalize=(Prepend(" "), Lowercase()),
        split=(PatternSplit(r"\w+|\W+", "isolated"),),
        post=Template((Insert((97,)), Slot(0))),
        trim=TrimOffsets(),
        unknown="drop",
        matching="listed",
        decode=BytesDecode(skips_unknown=True),
    )
    steps = compare(left, right, ["a"]).steps
    assert [step.stage for step in steps] == ["special", "normalize", "split", "model", "post", "post", "decode"]
    words = {step.stage: (step.left, step.right) for step in steps if step.stage != "post"}
    assert words["normalize"] == ("removes white space at the ends (left=yes, right=yes)", "adds ' ' before the text")
    assert words["split"] == (r"keeps the matches of \w+|\W+", r"splits around the matches of \w+|\W+")
    assert words["model"] == ("text without an entry: error", "text without an entry: drop")
    assert (steps[4].left, steps[4].right) == (
        "adds nothing",
        "with add_special: a=97 TEXT; for a pair: TEXT SECOND TEXT, type ids [0, 1]",
    )
    assert (steps[5].left, steps[5].right) == (None, "spans without white space at the ends")


def test_every_step_has_words() -> None:
    from polytok.spec import Decode, DecodeStep, Model, NormalizeStep, SplitStep

    classes = {cls for union in (NormalizeStep, SplitStep, Model, Decode, DecodeStep) for cls in union.__args__}
    assert {cls.__name__ for cls in classes} == set(_WORDS)
    for name in ("sentencepiece/llama2.model", "huggingface/llama2.json", "huggingface/xlnet_base_cased.json"):
        if (VOCAB / name).exists():
            spec = polytok.load(VOCAB / name).spec
            assert all(map(words_of, (*spec.normalize, *spec.split, spec.model, spec.decode)))


def test_templates_and_texts() -> None:
    template = Template((Insert((97,)), Slot(0)))
    differences = compare(rank_spec(), rank_spec(post=template), ["ab", "x"])
    assert differences.divergences == () and not differences.same_ids and differences.with_template is not None
    assert tuple(differences.with_template) == (2, 2, "x", (120,), (97, 120))
    divergent = compare(rank_spec(vocab=vocab_of("ab")), rank_spec(vocab=vocab_of("ba")), ["xabx", "x"])
    assert [(item.start, item.end, item.stage, item.index) for item in divergent.divergences] == [(1, 3, "model", 0)]
    assert (divergent.compared, divergent.same_pieces) == (2, 1)
    moved = compare(rank_spec(vocab=vocab_of("ab", "cd")), rank_spec(vocab=vocab_of("cd", "ab")), ["ab", "x"])
    assert (len(moved.divergences), moved.same_pieces) == (1, 2)


def test_texts_are_several() -> None:
    with pytest.raises(TypeError, match="texts='ab' is a single text: pass several texts"):
        polytok.compare("default", "default", "ab")


def test_files_of_one_vocabulary() -> None:
    """Tests that files of one vocabulary in several formats have the same entries and ids, and other steps."""
    names = ["sentencepiece/llama2.model", "huggingface/llama2.json", "gguf/ggml-vocab-llama-spm.gguf"]
    if not all((VOCAB / name).exists() for name in names) or not REAL:
        pytest.skip("needs ../shared/data")
    for left, right in combinations(names, 2):
        differences = polytok.compare(VOCAB / left, VOCAB / right, ["Hello  world", "猫 \u2581"])
        entries, merges = differences.entries, differences.merges
        assert differences.same_ids and not (entries.only_left or entries.only_right or entries.moved)
        assert entries.shared == 32000 and merges is not None and merges.shared == 29612 and differences.steps


# The command


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, merge in (("one.model", "97 98"), ("two.model", "98 97")):
        (tmp_path / name).write_text(f"minbpe v1\n\\w+|\\W+\n0\n{merge}\n")
    (tmp_path / "a.txt").write_text("x\nab\n")


@pytest.mark.usefixtures("models")
def test_the_command_prints_what_the_doctor_prints() -> None:
    report = run("diff", "one.model", "two.model", "--lines", "a.txt", code=1).decode().splitlines()
    assert report[1:3] == ["  1 only in one.model: ab 256", "  1 only in two.model: ba 256"]
    doctor = run("doctor", "one.model", "--against", "two.model", "--lines", "a.txt", code=1).decode().splitlines()
    assert report[-3:] == doctor[-3:] and report[-3] == "a.txt:2: byte 0 (model): [ab]"
    value = json.loads(run("diff", "one.model", "two.model", "--lines", "a.txt", "--json", code=1))
    other = json.loads(run("doctor", "one.model", "--against", "two.model", "--lines", "a.txt", "--json", code=1))
    assert (value["same_ids"], value["divergences"]) == (other["same_ids"], other["divergences"])
    assert value["merges"] == {
        "shared": 0,
        "only_left": [{"rank": 0, "left_piece": "a", "right_piece": "b"}],
        "only_right": [{"rank": 0, "left_piece": "b", "right_piece": "a"}],
        "reordered": [],
    }
    assert value["entries"]["only_left"] == [{"id": 256, "piece": "ab", "kind": "normal"}]


@pytest.mark.usefixtures("models")
def test_the_command_names_what_is_missing() -> None:
    assert "no such file" in error_of("diff", "one.model", "three.model")
    assert "the following arguments are required: B" in error_of("diff", "one.model")
    assert "two.model is a tokenizer, not a text" in error_of("diff", "one.model", "one.model", "two.model")
    assert "name its file" in error_of("diff", "-", "one.model")
