"""Trains with ``tokenizers`` and with polytok: configurations, texts, and the first difference between the results.

The package ``tokenizers`` assigns ids to characters with affixes in the order of a hash table, which differs between
runs. The tests therefore pass the package's first entries to polytok, after checking that polytok has the same entries.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import polytok
from polytok.spec import Spec
from polytok.training.bpe import BpeTrainer
from polytok.training.bpe_huggingface import HuggingFaceBpe
from polytok.training.wordpiece import WordPieceTrainer

SPECIAL = ["[UNK]", "[CLS]"]
WORDS = {
    "whitespace": pre_tokenizers.Whitespace,
    "whitespace_split": pre_tokenizers.WhitespaceSplit,
    "bert": pre_tokenizers.BertPreTokenizer,
}


@dataclass(frozen=True)
class Training:
    """A configuration: the options that both trainers have, and the components of the tokenizers pipeline."""

    name: str
    options: dict[str, Any]
    pattern: str = "whitespace_split"
    kind: str = "chars"
    unk_token: str | None = None

    def theirs(self, texts: Sequence[str]) -> Tokenizer:
        options = {"show_progress": False, **self.options}
        if self.kind == "wordpiece":
            tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
            tokenizer.normalizer = normalizers.BertNormalizer()
            tokenizer.decoder = decoders.WordPiece()
            trainer = trainers.WordPieceTrainer(**options)
        else:
            tokenizer = Tokenizer(models.BPE(unk_token=self.unk_token) if self.unk_token else models.BPE())
            trainer = trainers.BpeTrainer(**self._with_alphabet(options))
            if "end_of_word_suffix" in options:
                tokenizer.decoder = decoders.BPEDecoder(options["end_of_word_suffix"])
        if self.kind == "bytes":
            tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            tokenizer.decoder = decoders.ByteLevel()
        else:
            tokenizer.pre_tokenizer = WORDS[self.pattern]()
        tokenizer.train_from_iterator(texts, trainer)
        return tokenizer

    def _with_alphabet(self, options: dict[str, Any]) -> dict[str, Any]:
        if self.kind == "bytes":
            options.setdefault("initial_alphabet", pre_tokenizers.ByteLevel.alphabet())
        return options

    def ours(self) -> BpeTrainer | WordPieceTrainer:
        if self.kind == "wordpiece":
            return WordPieceTrainer(**self.options)
        if self.kind == "bytes":
            return BpeTrainer(trainer="huggingface", **self.options)
        options = {"unk_token": self.unk_token, "pattern": self.pattern, **self.options}
        return BpeTrainer(trainer="huggingface", byte_level=False, **options)


TRAININGS = [
    Training("bytes", {"vocab_size": 800, "special_tokens": ["<s>", "</s>"]}, kind="bytes"),
    Training("bytes, min_frequency", {"vocab_size": 1000, "min_frequency": 3}, kind="bytes"),
    Training(
        "bytes, no alphabet", {"vocab_size": 500, "initial_alphabet": [], "special_tokens": ["<s>"]}, kind="bytes"
    ),
    Training("bytes, max_token_length", {"vocab_size": 700, "max_token_length": 6}, kind="bytes"),
    Training(
        "bytes, special tokens as entries", {"vocab_size": 600, "special_tokens": ["the", "Ġthe", "a"]}, kind="bytes"
    ),
    Training("chars", {"vocab_size": 600, "special_tokens": SPECIAL}, "whitespace", unk_token="[UNK]"),
    Training("chars, alphabet", {"vocab_size": 500, "initial_alphabet": ["é", "λ", "ab"]}, "bert"),
    Training(
        "chars, suffix", {"vocab_size": 600, "end_of_word_suffix": "</w>", "special_tokens": SPECIAL}, unk_token="[UNK]"
    ),
    Training("chars, prefix", {"vocab_size": 600, "continuing_subword_prefix": "##", "special_tokens": SPECIAL}),
    Training(
        "chars, both, max_token_length",
        {"vocab_size": 600, "continuing_subword_prefix": "@@", "end_of_word_suffix": "$", "max_token_length": 7},
    ),
    Training("wordpiece", {"vocab_size": 700, "special_tokens": SPECIAL}, "bert", "wordpiece"),
    Training(
        "wordpiece, min_frequency",
        {"vocab_size": 700, "special_tokens": SPECIAL, "min_frequency": 2},
        "bert",
        "wordpiece",
    ),
]


def _random_texts(seed: int) -> list[str]:
    """Returns texts of repeating words, with characters of one to four bytes."""
    rng = random.Random(seed)
    syllables = ["ka", "to", "mi", "re", "s", "ß", "ять", "日本", "の", "🤗", "e\u0301", "the", "1", ".", "--"]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 5))) for _ in range(200)]
    return [" ".join(rng.choices(words, weights=range(200, 0, -1), k=60)) for _ in range(25)]


TEXTS = {
    "one sentence": ["Wel come to the 🤗 Tok en izers libr ary."],
    "four words": ["ab", "abc", "bcd", "bc"],
    "one run": ["aaaaa"],
    "NUL": ["a\0b a\0b\0\0 x"],
    "sentences twelve times": ["the cat sat on the mat, the bat sat on the cat"] * 12,
    "generated": _random_texts(1),
}
PREFIX_TEXTS = ["##c ##cac# #ab c# #### accc#a#a#b a cb"]
"""Texts that contain the prefix (tokenizers, issue 2320)."""


def difference(training: Training, texts: Sequence[str]) -> str | None:
    """Returns the first difference in vocabulary, ids, merges or other fields of the Spec, or None if there is none."""
    reference = training.theirs(texts)
    trainer = training.ours()
    trainer.push([text.encode() for text in texts])
    algorithm = trainer._algorithm
    assert isinstance(algorithm, HuggingFaceBpe)
    alphabet = algorithm.alphabet(trainer.counts.counter())
    vocab = json.loads(reference.to_str())["model"]["vocab"]
    first_texts = [text.encode() for text in sorted(vocab, key=vocab.__getitem__)[: len(alphabet)]]
    if sorted(first_texts) != sorted(alphabet):
        return f"first entries: {sorted(set(first_texts) ^ set(alphabet))}"
    if not (algorithm.prefix or algorithm.suffix) and first_texts != alphabet:
        return "the first entries are in another order"
    trainer._algorithm = _FixedAlphabet(
        *(getattr(algorithm, name) for name in algorithm.__dataclass_fields__), first_texts
    )
    our_spec, expected_spec = trainer.finish(), polytok.load(reference.to_str().encode()).spec
    assert isinstance(our_spec, Spec)
    return differing_fields(replace(our_spec, origin=expected_spec.origin), replace(expected_spec, extra={}))


def differing_fields(our_spec: Spec, expected_spec: Spec) -> str | None:
    """Returns the fields in which two Specs differ."""
    names = [
        name for name in expected_spec.__dataclass_fields__ if getattr(our_spec, name) != getattr(expected_spec, name)
    ]
    return f"{', '.join(names)}: {our_spec!r:.300} and {expected_spec!r:.300}" if names else None


@dataclass(frozen=True)
class _FixedAlphabet(HuggingFaceBpe):
    """A trainer whose first entries are fixed."""

    first: Sequence[bytes] = ()

    def alphabet(self, words: object) -> list[bytes]:
        return list(self.first)


Difference = Callable[[], str | None]
