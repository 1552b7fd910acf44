"""What is measured, as data: kinds of text, vocabularies, and the engines that each vocabulary is for.

A new engine is an adapter in engines.py and its name in the vocabularies it can read. The first engine of a
vocabulary that is not polytok is its reference: an engine whose ids differ from the reference's gets no time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

DATA = Path(os.environ.get("POLYTOK_DATA", Path(__file__).parents[2] / "shared/data"))
OURS = "polytok"

PYTHON_LIBRARY = "python-library"
"""Names, where a corpus file is expected, the sources of the running Python's standard library."""


@dataclass(frozen=True, slots=True)
class Text:
    """A kind of text: equal shares of these corpus files."""

    name: str
    title: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary file and the names of its engines. ``is_quick``: part of a quick run."""

    name: str
    title: str
    file: str
    engines: tuple[str, ...]
    is_quick: bool = False

    @property
    def path(self) -> Path:
        return DATA / "vocab" / self.file

    @property
    def reference(self) -> str:
        """The engine that says which ids are right."""
        return next(engine for engine in self.engines if not engine.startswith(OURS))


@dataclass(frozen=True, slots=True)
class Case:
    """A vocabulary over a kind of text."""

    vocabulary: Vocabulary
    text: Text


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: bytes of text for warming up and for testing, rounds per process, processes per engine."""

    warm_up: int
    test: int
    rounds: int
    processes: int


FULL = Size(warm_up=3 << 20, test=3 << 20, rounds=5, processes=3)
QUICK = Size(warm_up=1 << 20, test=3 << 19, rounds=5, processes=1)

TEXTS = (
    Text("en", "English", ("en_prose.txt", "en_markdown.txt")),
    Text("code", "Python code", (PYTHON_LIBRARY,)),
    Text("cjk", "Chinese, Japanese", ("zh.txt", "ja.txt")),
    Text(
        "scripts",
        "mixed scripts",
        ("ko.txt", "ru_uk_bg.txt", "hi_indic.txt", "th_vi_sea.txt", "ar_fa_he_ur.txt", "europe.txt"),
    ),
)

_TIKTOKEN = (OURS, "polytok numpy", "tiktoken", "tiktoken numpy")
_SENTENCEPIECE = (OURS, "polytok numpy", "sentencepiece")
_RWKV = (OURS, "polytok numpy", "pyrwkv-tokenizer")

VOCABULARIES = (
    Vocabulary("cl100k_base", "cl100k (byte BPE)", "tiktoken/cl100k_base.tiktoken", _TIKTOKEN, is_quick=True),
    Vocabulary("o200k_base", "o200k (byte BPE)", "tiktoken/o200k_base.tiktoken", _TIKTOKEN),
    Vocabulary("r50k_base", "r50k, GPT-2 (byte BPE)", "tiktoken/r50k_base.tiktoken", _TIKTOKEN),
    Vocabulary("llama2", "Llama 2 (SentencePiece BPE)", "sentencepiece/llama2.model", _SENTENCEPIECE, is_quick=True),
    Vocabulary("grok1", "Grok-1 (SentencePiece BPE)", "sentencepiece/grok1.model", _SENTENCEPIECE),
    Vocabulary("xlnet", "XLNet (Unigram)", "sentencepiece/xlnet_base_cased.model", _SENTENCEPIECE, is_quick=True),
    Vocabulary("rwkv", "RWKV World (longest match)", "rwkv/rwkv_vocab_v20230424.txt", _RWKV, is_quick=True),
)

CASES = tuple(Case(vocabulary, text) for vocabulary in VOCABULARIES for text in TEXTS)


def selected(quick: bool, vocabularies: list[str], texts: list[str]) -> list[Case]:
    """The cases of a run. Empty lists choose all; names of nothing are refused."""
    for given, known in ((vocabularies, VOCABULARIES), (texts, TEXTS)):
        names = [row.name for row in known]
        if unknown := sorted(set(given) - set(names)):
            raise SystemExit(f"nothing is named {', '.join(unknown)}; there is {', '.join(names)}")
    return [
        case
        for case in CASES
        if (not vocabularies or case.vocabulary.name in vocabularies)
        and (not texts or case.text.name in texts)
        and (not quick or vocabularies or case.vocabulary.is_quick)
    ]
