"""The speed targets as data: what is compared, and the figure that each kind of text must reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..cases import BYTE_BPE, CJK, ENGLISH, TEXTS, VOCABULARIES, Text, Vocabulary
from . import figures
from .figures import Figure, Races

MeasureFunction: TypeAlias = Callable[[Races, Vocabulary, Text], Figure]

Limits: TypeAlias = tuple[float | None, float | None, float | None, float | None]
"""The limit for each of `TEXTS`; None if the target does not apply to the text."""


@dataclass(frozen=True, slots=True)
class Target:
    """The figure that some vocabularies must reach: at least the limit or, if ``is_maximum``, at most the limit.

    ``peer`` names the engine whose memory is shown next to polytok's.
    """

    title: str
    vocabularies: Sequence[Vocabulary]
    measure: MeasureFunction
    limits: Limits
    peer: str | None = None
    is_maximum: bool = False

    def limit(self, text: Text, level: str) -> float | None:
        """Returns the limit for a text at a SIMD level."""
        limit, factor = self.limits[TEXTS.index(text)], LIMIT_FACTORS.get(level)
        if limit is None or factor is None:
            return None
        return limit / factor if self.is_maximum else limit * factor

    def is_met(self, figure: Figure, text: Text, level: str) -> bool | None:
        """Reports whether the limit is reached; None without a limit or a value."""
        limit = self.limit(text, level)
        if limit is None or figure.value is None:
            return None
        return figure.value <= limit if self.is_maximum else figure.value >= limit


LIMIT_FACTORS = {"avx512": 1.0, "avx2": 0.85}
"""The part of each limit that a SIMD level must reach; other levels have no limits."""

_BY_NAME = {row.name: row for row in VOCABULARIES}
_MORE_FILES = tuple(
    Vocabulary(f"{file}-json", f"{title}, tokenizer.json", BYTE_BPE, f"huggingface/{file}.json", "tokenizers", ())
    for file, title in (("20B_tokenizer", "GPT-NeoX 20B"), ("modernbert", "ModernBERT"))
)
ALL_VOCABULARIES = (*VOCABULARIES, *_MORE_FILES)
_JSON_FILES = tuple(row for row in ALL_VOCABULARIES if row.file.startswith("huggingface/"))
_BERT_GGUF = replace(_BY_NAME["bert-gguf"], json="huggingface/bert_base_cased.json")


def _named(*names: str) -> tuple[Vocabulary, ...]:
    return tuple(_BY_NAME[name] for name in names)


def _all(limit: float) -> Limits:
    return (limit, limit, limit, limit)


def _english(limit: float) -> Limits:
    return (limit, None, None, None)


_RANK_FILES = _named("cl100k_base", "o200k_base", "r50k_base", "llama3")
_MODELS = _named("llama2", "mistral03", "grok1")
_UNIGRAM = _named("xlnet", "nai-t5")
_FAMILIES = _named("cl100k_base", "llama2", "xlnet", "rwkv", "bert")
_CL100K, _RWKV, _BERT = _named("cl100k_base"), _named("rwkv"), _named("bert")

TARGETS = (
    Target("first pass over gigatoken", _RANK_FILES, figures.over("gigatoken"), (1.5, 1.4, 3, 2), "gigatoken"),
    Target("again over gigatoken", _RANK_FILES, figures.over("gigatoken", "again"), (1.1, 1.1, 0.8, 1.1), "gigatoken"),
    Target("over sentencepiece", _MODELS, figures.over("sentencepiece"), (28, 20, 14, 12), "sentencepiece"),
    Target(
        "over gigatoken, if its ids are right",
        _named("llama2", "mistral03"),
        figures.over("gigatoken"),
        _all(3),
        "gigatoken",
    ),
    Target("over sentencepiece", _UNIGRAM, figures.over("sentencepiece"), (7, 6, 5, 5), "sentencepiece"),
    Target("over pyrwkv-tokenizer", _RWKV, figures.over("pyrwkv-tokenizer"), (8, 6.5, 6, 6.5), "pyrwkv-tokenizer"),
    Target("over tokenizers", _BERT, figures.over("tokenizers"), _all(30), "tokenizers"),
    Target("over tokenizers with BERT cased", (_BERT_GGUF,), figures.over_other_file("bert"), _all(30)),
    Target("over tokenizers", _JSON_FILES, figures.over("tokenizers"), (20, 15, 10, 10), "tokenizers"),
    Target(
        "lists over every engine",
        (*_RANK_FILES, *_MODELS, *_UNIGRAM, *_RWKV, *_BERT),
        figures.over_fastest("list"),
        (1.2, 1.2, 2, 1.2),
    ),
    Target("100 bytes a call, arrays", _CL100K, figures.over_fastest("ids", 100), _english(1)),
    Target("100 bytes a call, lists", _CL100K, figures.over_fastest("list", 100), _english(1.2)),
    Target("one document of 1 MB", _CL100K, figures.over_fastest("ids", 1 << 20), _english(1.3)),
    Target("100 MB, one thread", _CL100K, figures.batch_over_fastest("batch 1"), _english(1)),
    Target("100 MB, two threads", _CL100K, figures.batch_over_fastest("batch 2"), _english(1.5)),
    Target("100 MB, two threads over one", _CL100K, figures.two_threads_over_one, _english(1.9)),
    Target("`encoding().ids` of 20 bytes over tokenizers", _BERT, figures.encoding_over_tokenizers, _english(1)),
    Target("decoding over `bytes.decode()`", _CL100K, figures.decoding_over_python, (1, None, 0.9, None)),
    Target("spans over arrays", ALL_VOCABULARIES, figures.spans_over_arrays, _all(0.6)),
    Target(
        "worst of ten inputs, ns/byte over English without a cache",
        _CL100K,
        figures.worst_slowdown,
        _english(4),
        is_maximum=True,
    ),
    Target("worst of ten inputs over every engine", _CL100K, figures.worst_over_fastest, _english(1)),
    Target("import, load and first 4 KB, lists", _FAMILIES, figures.cold_over_fastest("list"), _english(1)),
    Target(
        "import, load and first 4 KB, arrays, over engines that import numpy",
        _FAMILIES,
        figures.cold_over_fastest("array"),
        _english(1),
    ),
)

assert TEXTS[0] == ENGLISH and TEXTS[2] == CJK, "the limits are in the order of the texts"
