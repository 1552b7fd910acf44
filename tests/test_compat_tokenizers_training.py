"""Compares training through the face of tokenizers with the original, and the trainers' options and errors."""

from __future__ import annotations

import copy
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import huggingface_training as hf
from polytok.compat import tokenizers as face

original: Any = pytest.importorskip("tokenizers")

TEXTS = [text for texts in hf.TEXTS.values() for text in texts] + ["", "héllo xax 12 hello\n", "x\u0301 ¼ ﬁ ab\u3000cd"]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("Bpe", {"vocab_size": 300, "special_tokens": ["<s>", "the"]}),
    ("Bpe", {"vocab_size": 120, "min_frequency": 2, "limit_alphabet": 1000, "initial_alphabet": ["ß", "qx"]}),
    ("Bpe", {"vocab_size": 200, "max_token_length": 4}),
    ("Bpe", {"vocab_size": 0}),
    ("WordLevel", {"vocab_size": 100, "min_frequency": 2, "special_tokens": ["[UNK]", "the"]}),
    ("WordLevel", {}),
]
NORMALIZERS = {
    "none": lambda n: None,
    "NFKC": lambda n: n.NFKC(),
    "bert": lambda n: n.BertNormalizer(),
    "bytes": lambda n: n.ByteLevel(),
    "several": lambda n: n.Sequence([n.Lowercase(), n.Strip(), n.Replace("e", "E"), n.Prepend("_")]),
}
PRE_TOKENIZERS = {
    "bytes": lambda p: p.ByteLevel(),
    "bytes, no space": lambda p: p.ByteLevel(add_prefix_space=False),
    "metaspace": lambda p: p.Metaspace(),
    "bert": lambda p: p.BertPreTokenizer(),
    "digits": lambda p: p.Sequence([p.Whitespace(), p.Digits(True)]),
    "split": lambda p: p.Split(" ", "removed"),
    "characters": lambda p: p.CharDelimiterSplit("x"),
    "scripts": lambda p: p.UnicodeScripts(),
    "three": lambda p: p.FixedLength(3),
    "words in bytes": lambda p: p.Sequence([p.Whitespace(), p.ByteLevel(use_regex=False)]),
}


def trained(package: Any, kind: str, options: dict[str, Any], normalizer: str, pre_tokenizer: str) -> Any:
    tokenizer = package.Tokenizer(getattr(package.models, {"Bpe": "BPE"}.get(kind, kind))())
    tokenizer.normalizer = NORMALIZERS[normalizer](package.normalizers)
    tokenizer.pre_tokenizer = PRE_TOKENIZERS[pre_tokenizer](package.pre_tokenizers)
    trainer = getattr(package.trainers, f"{kind}Trainer")(show_progress=False, **options)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


PAIRS = [("none", name) for name in PRE_TOKENIZERS] + [(name, "bytes") for name in NORMALIZERS if name != "none"]


@pytest.mark.parametrize(("normalizer", "pre_tokenizer"), PAIRS)
def test_the_trained_tokenizer_is_that_of_the_original(normalizer: str, pre_tokenizer: str) -> None:
    for kind, options in OPTIONS:
        expected = trained(original, kind, options, normalizer, pre_tokenizer)
        assert trained(face, kind, options, normalizer, pre_tokenizer).to_str() == expected.to_str()


def test_wordpiece_has_the_entries_of_the_original() -> None:
    # The ids of characters with a prefix follow the order of a hash table in the original, which differs between runs.
    options = {"vocab_size": 90, "special_tokens": ["[UNK]"]}
    texts = ["low low low lowest lowest newest newest newest newest widest widest"]
    vocabularies = []
    for package in (original, face):
        tokenizer = package.Tokenizer(package.models.WordPiece())
        tokenizer.pre_tokenizer = package.pre_tokenizers.Whitespace()
        tokenizer.train_from_iterator(texts, package.trainers.WordPieceTrainer(show_progress=False, **options))
        vocabularies.append(tokenizer.get_vocab())
        assert tokenizer.encode("lowest").tokens == ["lowest"]
    assert vocabularies[0].keys() == vocabularies[1].keys()
    assert vocabularies[0]["l"] == vocabularies[1]["l"]


def test_limit_alphabet_keeps_the_most_frequent_characters() -> None:
    # Of equally frequent characters, the original keeps those that a hash table has first.
    vocabularies = []
    for package in (original, face):
        tokenizer = package.Tokenizer(package.models.BPE())
        tokenizer.train_from_iterator(["aaab aaab abc"], package.trainers.BpeTrainer(limit_alphabet=2))
        vocabularies.append(tokenizer.get_vocab())
    assert vocabularies[0] == vocabularies[1]


def test_files_lists_and_the_default_trainer(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes("to be\r\nor not\rto be\n\nthat\u2028is".encode())
    states = []
    for package in (original, face):
        tokenizer = package.Tokenizer(package.models.BPE(unk_token="?"))
        model = tokenizer.model
        tokenizer.train([str(path)], package.trainers.BpeTrainer(show_progress=False, special_tokens=["<s>", "?"]))
        states.append((tokenizer.to_str(), model.token_to_id("to be"), tokenizer.encode("<s>to be!").ids))
        tokenizer.train_from_iterator(iter([["to", "be"], ("or",), "not"]), length=4)
        states[-1] += (tokenizer.to_str(),)
    assert states[0] == states[1]


ATTRIBUTES = [
    {},
    {"vocab_size": 12, "special_tokens": ["1", "2"], "show_progress": False, "min_frequency": 3},
    {"limit_alphabet": 13, "initial_alphabet": ["a"], "continuing_subword_prefix": "p", "end_of_word_suffix": "s"},
    {"progress_format": "json", "max_token_length": 4},
    {"progress_format": "other"},
    {"special_tokens": list("abcdefg")},
    {"unk_token": "?", "shrinking_factor": 0.5, "max_piece_length": 3, "n_sub_iterations": 1},
    {"unknown": 1},
    {"vocab_size": -1},
    {"vocab_size": "a"},
    {"special_tokens": [3]},
    {"special_tokens": "ab"},
    {"initial_alphabet": "ab"},
    {"initial_alphabet": [3]},
    {"limit_alphabet": -1},
    {"show_progress": 1},
]


@pytest.mark.parametrize("options", ATTRIBUTES, ids=repr)
@pytest.mark.parametrize("kind", ["Bpe", "WordPiece", "WordLevel", "Unigram"])
def test_options(kind: str, options: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    outcomes = []
    for package in (original, face):
        outcomes.append([trainer_or_error(package, kind, options), capfd.readouterr().out])
    assert outcomes[1] == outcomes[0]


def trainer_or_error(package: Any, kind: str, options: dict[str, Any]) -> Any:
    try:
        trainer = getattr(package.trainers, f"{kind}Trainer")(**options)
    except (TypeError, OverflowError) as error:
        return type(error)
    again = copy.deepcopy(pickle.loads(pickle.dumps(trainer)) if package is face else trainer)
    values = [str(getattr(again, name)) for name in options if hasattr(type(trainer), name) and name in SHARED]
    return trainer.__getstate__(), again.__getstate__(), repr(trainer), str(trainer), values


SHARED = {"vocab_size", "show_progress", "special_tokens"}


def test_errors() -> None:
    tokenizer = face.Tokenizer(face.models.BPE())
    with pytest.raises(Exception, match="UnigramTrainer can only train a Unigram"):
        tokenizer.train([], face.trainers.UnigramTrainer())
    with pytest.raises(Exception, match=r"No such file or directory \(os error 2\)"):
        tokenizer.train(["/no/such/file"])
    for files in ("file", 3):
        with pytest.raises(TypeError):
            tokenizer.train(files)  # type: ignore[arg-type]
    for texts in ([3], 3, ["a", None], [["a", 3]]):
        with pytest.raises(TypeError):
            tokenizer.train_from_iterator(texts)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not an instance of 'Trainer'"):
        tokenizer.train_from_iterator([], 3)  # type: ignore[arg-type]
    with pytest.raises(Exception, match="The vocabulary is not large enough to contain all chars"):
        face.Tokenizer(face.models.Unigram()).train_from_iterator(["abc"], face.trainers.UnigramTrainer(vocab_size=2))
    with pytest.raises(ValueError, match="max_piece_length"):
        face.Tokenizer(face.models.Unigram()).train_from_iterator(
            ["ab" * 600], face.trainers.UnigramTrainer(max_piece_length=2000)
        )
    with pytest.raises(AttributeError, match=r"use trainers\.BpeTrainer"):
        _ = face.trainers.ParityBpeTrainer
    assert not hasattr(face.trainers, "ParityBpeTrainer")


def test_trainers_of_the_original() -> None:
    tokenizer = face.Tokenizer(face.models.BPE())
    tokenizer.train_from_iterator(["ab ab"], original.trainers.BpeTrainer(vocab_size=4, special_tokens=["<s>"]))
    assert tokenizer.get_vocab() == {"<s>": 0, " ": 1, "a": 2, "b": 3}


def trained_unigram(package: Any, texts: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON of a Unigram model that a package trains."""
    tokenizer = package.Tokenizer(package.models.Unigram([("a", 0.0)], 0, True, alpha=0.5, nbest_size=2))
    tokenizer.pre_tokenizer = package.pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(texts, package.trainers.UnigramTrainer(show_progress=False, **options))
    assert (tokenizer.model.alpha, tokenizer.model.nbest_size) == (None, None)
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return model


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"unk_token": "<u>"},
        {"unk_token": "<u>", "special_tokens": ["<s>", "<u>"]},
        {"special_tokens": ["h", "o"]},
        {"vocab_size": 9, "special_tokens": [str(number) for number in range(12)]},
        {"vocab_size": 9},
        {"initial_alphabet": ["z", "ä"]},
        {"n_sub_iterations": 0},
        {"n_sub_iterations": 5},
        {"max_piece_length": 1},
        {"max_piece_length": 3},
        {"seed_size": 1},
        {"seed_size": 12},
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "texts", [[], [""], ["a"], ["hello hello world"], ["ab\0ab ab\0ab", "日本 日本語 本語", "hello"]], ids=repr
)
def test_unigram_of_small_texts(texts: list[str], options: dict[str, Any]) -> None:
    if not texts[-1:] or not texts[-1]:
        options = {**options, "initial_alphabet": []}  # the original gives characters without pieces the score null
    models = []
    for package in (original, face):
        try:
            models.append(trained_unigram(package, texts, options))
        except Exception as error:
            models.append({"error": str(error)})
    expected, model = models
    assert {name: value for name, value in model.items() if name != "vocab"} == {
        name: value for name, value in expected.items() if name != "vocab"
    }
    # Which of the characters that training loses gets which of their scores differs between runs of the original.
    lost = 0.0001 * len({char for text in texts for char in text} | set(options.get("initial_alphabet", ())))
    specials = len({*options.get("special_tokens", ()), *filter(None, [options.get("unk_token")])})
    assert model.get("vocab", [])[:specials] == expected.get("vocab", [])[:specials]
    entries, expected_entries = (found.get("vocab", [])[specials:] for found in (model, expected))
    assert sorted(text for text, _ in entries) == sorted(text for text, _ in expected_entries)
    scores = dict(expected_entries)
    assert all(abs(score - scores[text]) <= lost + 1e-9 for text, score in entries)


def test_unigram_is_as_close_to_the_original_as_a_second_run_of_it() -> None:
    randomness = random.Random(3)
    syllables = ["".join(randomness.choices("abdeghiklmnoprstu", k=randomness.randint(1, 4))) for _ in range(80)]
    words = ["".join(randomness.choices(syllables, k=randomness.randint(1, 4))) for _ in range(900)]
    texts = [" ".join(randomness.choices(words, [1 / rank for rank in range(1, 901)], k=12)) for _ in range(400)]
    options = {"vocab_size": 220, "special_tokens": ["<s>"], "unk_token": "<unk>"}
    expected, model = trained_unigram(original, texts, options), trained_unigram(face, texts, options)
    scores = dict(expected["vocab"])
    common = [(text, score) for text, score in model["vocab"] if text in scores]
    assert (len(model["vocab"]), model["unk_id"]) == (len(scores), expected["unk_id"]) == (220, 0)
    assert model["vocab"][:2] == expected["vocab"][:2]
    assert len(common) >= 216
    differences = sorted(abs(score - scores[text]) for text, score in common)
    assert differences[len(differences) // 2] < 1e-6
    assert trained_unigram(face, texts, options) == model
