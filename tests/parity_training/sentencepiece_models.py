"""Compares whole model files of SentencePiece's BPE, words and characters, on real texts of six languages.

If POLYTOK_SENTENCEPIECE_021 names a Python with sentencepiece 0.2.1, that release is compared too, except for BPE,
whose ties depend on a hash table (docs/training.md).
"""

from __future__ import annotations

import functools
import io
import os
import pickle
import random
import subprocess
from collections.abc import Iterator
from typing import Any

import sentencepiece

from parity_training.cases import Case
from polytok.formats import sentencepiece as model_format
from polytok.formats.base import ReadOptions
from polytok.training import TrainingReport, specs
from reference_specs import DATA

LANGUAGES = {
    "English": "en_prose.txt",
    "Japanese": "ja.txt",
    "Russian, Ukrainian, Bulgarian": "ru_uk_bg.txt",
    "Hindi and others": "hi_indic.txt",
    "Arabic, Persian, Hebrew, Urdu": "ar_fa_he_ur.txt",
    "Korean": "ko.txt",
}
LINES = 2000
SIZES = {"bpe": 4000, "word": 3000, "char": 2000, "unigram": 4000}
MODELS = ("bpe", "word", "char")
OPTIONS: list[dict[str, Any]] = [
    {},
    {"character_coverage": 1.0},
    {"character_coverage": 0.98},
    {"byte_fallback": True},
    {"split_digits": True},
    {"split_by_number": False},
    {"split_by_unicode_script": False},
    {"split_by_whitespace": False},
    {"treat_whitespace_as_suffix": True},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    {"add_dummy_prefix": False},
    {"remove_extra_whitespaces": False, "normalization_rule_name": "identity"},
    {"normalization_rule_name": "nfkc"},
    {"normalization_rule_name": "nfkc_cf"},
    {"normalization_rule_name": "nmt_nfkc_cf"},
    {"max_sentencepiece_length": 4},
    {"max_sentencepiece_length": 64, "split_by_whitespace": False, "split_by_unicode_script": False},
    {"max_sentence_length": 100},
    {"user_defined_symbols": ["<sep>", "the", "。", "▁и", "</s>"]},
    {"control_symbols": ["<cls>", "a", "の"], "pad_id": 3},
    {"required_chars": "zxqé漢№", "character_coverage": 0.99},
    {"unk_id": 2, "bos_id": 0, "eos_id": -1, "unk_piece": "[UNK]"},
    {"input_sentence_size": 500, "shuffle_input_sentence": False},
    {"split_digits": True, "allow_whitespace_only_pieces": True, "byte_fallback": True,
     "normalization_rule_name": "identity", "character_coverage": 1.0, "unk_surface": " \u2047 "},
]  # fmt: skip
_OTHER = """
import io, pickle, sys, sentencepiece
items, options = pickle.load(sys.stdin.buffer)
out = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(items), model_writer=out, minloglevel=4, **options)
sys.stdout.buffer.write(out.getvalue())
"""


@functools.cache
def lines(name: str) -> list[str]:
    """Returns lines from all parts of a corpus file, without U+2028 and other characters that splitlines splits at."""
    all_lines = (DATA / "corpus" / name).read_text("utf-8").split("\n")
    start = random.Random(name).randrange(max(1, len(all_lines) - LINES))
    return all_lines[start : start + LINES]


def cases() -> Iterator[Case]:
    """Yields a case for every model, language and set of options."""
    other = os.environ.get("POLYTOK_SENTENCEPIECE_021")
    for line in ("0.2.1", "0.2.3") if other else ("0.2.3",):
        for model in MODELS:
            for language, name in LANGUAGES.items():
                for options in OPTIONS:
                    if line == "0.2.1" and (model == "bpe" or "required_chars" in options):
                        continue  # SentencePiece aborts if a required character does not occur
                    find_difference = functools.partial(difference, model, name, options, line, other)
                    what = f"{model}: the model file"
                    yield Case(f"sentencepiece {line}", what, f"{language}, {options}", find_difference)


def difference(model: str, name: str, options: dict[str, Any], line: str, other: str | None) -> str | None:
    """Returns the first difference between the model files, or None."""
    all_options = {"vocab_size": SIZES[model], "hard_vocab_limit": False, **options}
    expected = _reference(lines(name), {**all_options, "model_type": model}, other if line == "0.2.1" else None)
    kind = "sentencepiece-bpe" if model == "bpe" else model
    (spec,) = specs(
        lines(name),
        kind,
        report=TrainingReport(),
        profile="sentencepiece",
        sentences="items",
        sentencepiece_version=line,
        **all_options,
    )
    if model_format.write(spec).data == expected:
        return None
    pieces, theirs = (
        spec.vocab.pieces(),
        model_format.read(expected, ReadOptions(sentencepiece_version=line)).vocab.pieces(),
    )  # type: ignore[arg-type]
    at = next((row for row, two in enumerate(zip(pieces, theirs, strict=False)) if two[0] != two[1]), None)
    return f"{len(pieces)} pieces and {len(theirs)}, first other one {at}"


def _reference(items: list[str], options: dict[str, Any], python: str | None) -> bytes:
    if python is not None:
        request = pickle.dumps((items, options))
        return subprocess.run([python, "-c", _OTHER], input=request, stdout=subprocess.PIPE, check=True).stdout
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(items), model_writer=out, minloglevel=4, **options)
    return out.getvalue()
