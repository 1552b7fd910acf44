"""Compares ids with the package tokenizers after trainings, changes of the model and added tokens in random order."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from polytok.compat import tokenizers as face
from polytok.formats.huggingface import read_model

original: Any = pytest.importorskip("tokenizers")

TEXTS = [
    *("ab ab abc c <s> x", "low lower lowest <pad> low", "a <s>b <pad>", "new newer NEW <mask> a-b"),
    *("[UNK] x y <s><s> zz", "<MASK> ab  <mask>c"),
]
PROBES = ["ab<s> a b c", "low <pad> newest", "[UNK]x <mask>  q <MASK>", "<", "s", "", "zz<x>a-b"]
MODELS = [{"a": 0, "b": 1}, {"<s>": 3, "x": 5}, {"low": 0, "<pad>": 1, "a": 9}]
TOKENS = ["<s>", "<pad>", "<mask>", "<x>", "[UNK]", "a", "b", "low", "<"]
FLAGS = {"normalized": 0.5, "special": 0.3, "lstrip": 0.2, "rstrip": 0.2, "single_word": 0.2}
IDS = range(30)

Step = tuple[str, Any]


def some_tokens(rng: random.Random, most: int) -> list[str]:
    return rng.sample(TOKENS, rng.randint(0, most))


def random_step(rng: random.Random) -> Step:
    kind = rng.choices(
        ["train", "add", "special", "model", "normalizer", "encode_special_tokens", "reload"], [8, 4, 3, 1, 2, 1, 2]
    )[0]
    values: dict[str, Any] = {
        "train": (rng.choice(["BPE", "WordLevel"]), rng.sample(TEXTS, 3), rng.choice([6, 12, 25]), some_tokens(rng, 3)),
        "add": [(text, {flag: rng.random() < p for flag, p in FLAGS.items()}) for text in some_tokens(rng, 3)],
        "special": some_tokens(rng, 3),
        "model": rng.choice(MODELS),
        "normalizer": rng.random() < 0.5,
        "encode_special_tokens": rng.random() < 0.5,
    }
    return kind, values.get(kind)


def changed(package: Any, tokenizer: Any, step: Step, seen: list[Any]) -> Any:
    kind, value = step
    if kind == "train":
        model, texts, size, special = value
        # The original keeps the words of a model that was trained before in a cache, so each training has a new model.
        tokenizer.model = getattr(package.models, model)()
        trainer_class = getattr(package.trainers, f"{model.replace('BPE', 'Bpe')}Trainer")
        trainer = trainer_class(vocab_size=size, special_tokens=special, show_progress=False)
        tokenizer.train_from_iterator(texts, trainer)
        seen += [json.loads(trainer.__getstate__()), model == "BPE" and trainer.get_word_count()]
    elif kind == "add":
        seen.append(tokenizer.add_tokens([package.AddedToken(text, **flags) for text, flags in value]))
    elif kind == "special":
        seen.append(tokenizer.add_special_tokens(value))
    elif kind == "model":
        tokenizer.model = package.models.WordLevel(value, unk_token="x")
    elif kind == "normalizer":
        tokenizer.normalizer = package.normalizers.Lowercase() if value else None
    elif kind == "encode_special_tokens":
        tokenizer.encode_special_tokens = value
    else:
        tokenizer = package.Tokenizer.from_str(tokenizer.to_str())
    return tokenizer


def encoded(tokenizer: Any, text: str) -> Any:
    try:
        encoding = tokenizer.encode(text)
    except Exception:
        return "an error"
    names = ("ids", "tokens", "offsets", "special_tokens_mask", "word_ids")
    return [getattr(encoding, name) for name in names]


def described(tokenizer: Any) -> list[Any]:
    return [
        tokenizer.get_vocab(),
        tokenizer.get_vocab_size(),
        tokenizer.get_vocab_size(False),
        json.loads(tokenizer.to_str()),
        {id: repr(token) for id, token in tokenizer.get_added_tokens_decoder().items()},
        *(encoded(tokenizer, text) for text in PROBES),
        *(tokenizer.decode([id], skip_special_tokens=skips) for id in IDS for skips in (False, True)),
        tokenizer.decode_batch([[1, 2], [0]]),
        [tokenizer.id_to_token(id) for id in IDS],
        [tokenizer.token_to_id(token) for token in TOKENS],
    ]


def run(package: Any, steps: list[Step]) -> list[Any]:
    tokenizer, seen = package.Tokenizer(package.models.BPE()), []
    tokenizer.pre_tokenizer = package.pre_tokenizers.Whitespace()
    for step in steps:
        tokenizer = changed(package, tokenizer, step, seen)
        seen += described(tokenizer)
    return seen


@pytest.mark.parametrize("seed", range(150))
def test_ids_after_changes(seed: int) -> None:
    rng = random.Random(seed)
    steps = [random_step(rng) for _ in range(rng.randint(2, 6))]
    assert run(face, steps) == run(original, steps)


def test_ids_after_a_second_training_with_padding_and_windows() -> None:
    outcomes = []
    for package in (original, face):
        tokenizer = package.Tokenizer(package.models.BPE())
        tokenizer.pre_tokenizer = package.pre_tokenizers.Whitespace()
        for special in (["<s>", "<pad>"], []):
            tokenizer.train_from_iterator(TEXTS, package.trainers.BpeTrainer(special_tokens=special, vocab_size=20))
        tokenizer.enable_padding(pad_id=1, pad_token="<pad>")
        tokenizer.enable_truncation(4, stride=1)
        encodings = tokenizer.encode_batch(["<s>low", "ab<s>c<pad> x <s> y"])
        windows = [window.ids for encoding in encodings for window in encoding.overflowing]
        texts = tokenizer.decode_batch([encoding.ids for encoding in encodings])
        outcomes.append([[e.ids, e.tokens, e.attention_mask] for e in encodings] + [windows, texts])
    assert outcomes[0] == outcomes[1]


def test_the_model_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = face.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])
    tokenizer = face.Tokenizer.from_str(face.Tokenizer(model).to_str())
    reads: list[bytes] = []

    def read(data: bytes) -> Any:
        reads.append(data)
        return read_model(data)

    monkeypatch.setattr("polytok.compat.tokenizers.models.read_model", read)
    tokenizer.add_tokens(["<x>"])
    assert tokenizer.encode("ab<x>").ids == [2, 3]
    tokenizer.post_processor = face.processors.TemplateProcessing("<x> $A", "$A $B", [("<x>", 3)])
    assert tokenizer.encode("ab").ids == [3, 2]
    tokenizer.normalizer = face.normalizers.Lowercase()
    assert tokenizer.encode("AB").ids == [3, 2]
    tokenizer.decoder = face.decoders.Fuse()
    assert tokenizer.decode([2, 2]) == "abab"
    assert len(reads) == 1
    tokenizer.model = face.models.BPE({"a": 0, "b": 1}, [])
    assert tokenizer.encode("AB").ids == [3, 0, 1]
    assert len(reads) == 2


def test_a_state_replaces_a_model() -> None:
    model = face.models.BPE({"a": 0, "b": 1}, [])
    assert model.token_to_id("c") is None
    model.__setstate__(face.models.BPE({"c": 0}, []).__getstate__())
    assert model.token_to_id("c") == 0
    assert face.Tokenizer(model).encode("c").ids == [0]


def test_special_tokens_as_text_with_a_component_in_python() -> None:
    class Upper:
        def normalize(self, text: Any) -> None:
            text.uppercase()

    found = []
    for package in (original, face):
        tokenizer = package.Tokenizer(package.models.BPE({"A": 0, "<": 1, "S": 2, ">": 3}, []))
        tokenizer.add_special_tokens(["<S>"])
        tokenizer.normalizer = package.normalizers.Normalizer.custom(Upper())
        before = tokenizer.encode("a<S>").ids
        tokenizer.encode_special_tokens = True
        found.append((before, tokenizer.encode("a<S>").ids))
    assert found[0] == found[1]
