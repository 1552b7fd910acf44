"""Compares BPE and WordPiece: with minbpe's algorithm on generated texts, with tokenizers on real texts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from itertools import islice

import huggingface_training as hf
from parity_training.cases import Case
from polytok.reference import train_bpe
from polytok.spec import Spec
from polytok.training.bpe import BpeTrainer
from reference_specs import DATA

TOKENIZERS = "tokenizers 0.23.3"
CORPORA = ("en_prose", "ja", "many_scripts", "chat_emoji", "hi_indic", "data_json")
_CHARS = 150_000
_PATTERNS = (None, r" ?\p{L}+| ?\p{N}+|\s+|[^\s\p{L}\p{N}]+")


def cases() -> Iterator[Case]:
    for seed in range(100):
        yield Case("minbpe's algorithm", "bpe, trainer=minbpe: merges", f"generated {seed}", partial(_minbpe, seed))
    texts = {**hf.TEXTS, **{name: _lines(name) for name in CORPORA if DATA.exists()}}
    for training in hf.TRAININGS:
        what = "wordpiece: whole result" if training.kind == "wordpiece" else "bpe, trainer=huggingface: whole result"
        for name, case_texts in texts.items():
            yield Case(TOKENIZERS, what, f"{training.name}, {name}", partial(hf.difference, training, case_texts))


def _lines(name: str) -> list[str]:
    with open(DATA / "corpus" / f"{name}.txt", encoding="utf-8") as file:
        return list(islice(file.read(_CHARS).splitlines(keepends=True), 5000))


def _minbpe(seed: int) -> str | None:
    """Compares with minbpe's algorithm on a text of random syllables, up to a few thousand characters."""
    rng = random.Random(seed)
    syllables = rng.sample(
        ["ka", "to", "mi", "re", "s", "ß", "ять", "日本", "の", "🤗", "aa", "aaa", "1", ". ", "\n"], 8
    )
    text = "".join(rng.choice([" ", ""]) + "".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(600))
    pattern, size = _PATTERNS[seed % 2], 256 + 60
    trainer = BpeTrainer(vocab_size=size, trainer="minbpe", pattern=pattern)
    trainer.push([text.encode()])
    spec = trainer.finish()
    assert isinstance(spec, Spec)
    expected = train_bpe.train(text, size, pattern)
    is_equal = spec.vocab == expected.vocab and spec.model == expected.model
    return None if is_equal else f"merges of {text!r:.200}"
