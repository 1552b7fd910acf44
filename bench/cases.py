"""The texts and vocabularies of the benchmarks. The operations are in workloads.py.

To add an engine, write an adapter in engines/ and add its name to the vocabularies that it reads. The reference of a
vocabulary is the package that returns the expected ids; an engine that returns other ids is not timed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

DATA = Path(os.environ.get("POLYTOK_DATA", Path(__file__).parents[2] / "shared/data"))
OWN_ENGINE_NAME = "polytok"
UNCACHED_ENGINE_NAME = "polytok, no cache"
LLAMA_CPP_NAME = "llama.cpp's twin"


@dataclass(frozen=True, slots=True)
class Text:
    """A kind of text. texts.py reads the sources, and each source has an equal share of the text."""

    name: str
    title: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary file and the engines that read it.

    ``reference`` is the engine that returns the expected ids, and ``peers`` are the other engines. ``json`` is a
    tokenizer.json of the same vocabulary, for engines that read only this format; ``model`` is the SentencePiece model.
    ``counterpart`` is the name of the same vocabulary in another format, or of a similar vocabulary; this vocabulary
    should reach the speed of its counterpart. ``is_quick`` is true if the vocabulary is part of a quick run.
    """

    name: str
    title: str
    family: str
    file: str
    reference: str
    peers: tuple[str, ...]
    json: str | None = None
    model: str | None = None
    counterpart: str | None = None
    is_quick: bool = False

    @property
    def path(self) -> Path:
        return DATA / "vocab" / self.file

    @property
    def json_path(self) -> Path:
        return DATA / "vocab" / (self.json or self.file)

    @property
    def model_path(self) -> Path:
        return DATA / "vocab" / (self.model or self.file)

    @property
    def is_sentencepiece(self) -> bool:
        """True if the file is a SentencePiece model."""
        return self.file.startswith("sentencepiece/")

    @property
    def engines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((OWN_ENGINE_NAME, self.reference, *self.peers)))


ENGLISH = Text("en", "English", ("en_prose.txt", "en_markdown.txt"))
SOURCE_CODE = Text("code", "code", ("python library", "cargo registry"))
CJK = Text("cjk", "Chinese, Japanese", ("zh.txt", "ja.txt"))
MIXED_SCRIPTS = Text(
    "scripts",
    "mixed scripts",
    ("ko.txt", "ru_uk_bg.txt", "hi_indic.txt", "th_vi_sea.txt", "ar_fa_he_ur.txt", "europe.txt"),
)
TEXTS = (ENGLISH, SOURCE_CODE, CJK, MIXED_SCRIPTS)

BYTE_BPE = "byte-level BPE"
SENTENCEPIECE_BPE = "SentencePiece BPE"
UNIGRAM = "Unigram"
LONGEST_MATCH = "longest match"
WORDPIECE = "WordPiece"

_GPT_PEERS = ("gigatoken", "quicktok-v1", "bpe-openai", "kitoken")
_SENTENCEPIECE_PEERS = ("gigatoken", "kitoken")
_JSON_PEERS = ("gigatoken", "snaptokens", "kitoken")

VOCABULARIES = (
    Vocabulary(
        "cl100k_base", "cl100k", BYTE_BPE, "tiktoken/cl100k_base.tiktoken", "tiktoken", _GPT_PEERS, is_quick=True
    ),
    Vocabulary("o200k_base", "o200k", BYTE_BPE, "tiktoken/o200k_base.tiktoken", "tiktoken", _GPT_PEERS),
    Vocabulary(
        "r50k_base",
        "GPT-2",
        BYTE_BPE,
        "tiktoken/r50k_base.tiktoken",
        "tiktoken",
        ("gigatoken", "snaptokens", "tokenizers", "kitoken"),
        json="huggingface/gpt2.json",
    ),
    Vocabulary(
        "llama3",
        "Llama 3",
        BYTE_BPE,
        "tiktoken/llama3_tokenizer.model",
        "tiktoken",
        ("gigatoken", "quicktok-v1", "snaptokens", "tokenizers", "kitoken"),
        json="huggingface/llama32_rebuilt.json",
    ),
    Vocabulary(
        "llama2",
        "Llama 2",
        SENTENCEPIECE_BPE,
        "sentencepiece/llama2.model",
        "sentencepiece",
        _SENTENCEPIECE_PEERS,
        is_quick=True,
    ),
    Vocabulary(
        "mistral03",
        "Mistral 0.3",
        SENTENCEPIECE_BPE,
        "sentencepiece/mistral03.model",
        "sentencepiece",
        _SENTENCEPIECE_PEERS,
    ),
    Vocabulary(
        "grok1", "Grok-1", SENTENCEPIECE_BPE, "sentencepiece/grok1.model", "sentencepiece", _SENTENCEPIECE_PEERS
    ),
    Vocabulary(
        "xlnet",
        "XLNet",
        UNIGRAM,
        "sentencepiece/xlnet_base_cased.model",
        "sentencepiece",
        ("kitoken",),
        is_quick=True,
    ),
    Vocabulary("nai-t5", "NovelAI T5", UNIGRAM, "sentencepiece/nai-t5.model", "sentencepiece", ("kitoken",)),
    Vocabulary(
        "rwkv", "RWKV World", LONGEST_MATCH, "rwkv/rwkv_vocab_v20230424.txt", "pyrwkv-tokenizer", (), is_quick=True
    ),
    Vocabulary(
        "bert",
        "BERT cased",
        WORDPIECE,
        "huggingface/bert_base_cased.json",
        "tokenizers",
        ("kitoken",),
        is_quick=True,
    ),
    *(
        Vocabulary(
            name,
            f"{title}, tokenizer.json",
            family,
            f"huggingface/{file}",
            "tokenizers",
            peers,
            counterpart=counterpart,
        )
        for name, title, family, file, peers, counterpart in (
            ("gpt2-json", "GPT-2", BYTE_BPE, "gpt2.json", _JSON_PEERS, "r50k_base"),
            ("llama3-json", "Llama 3", BYTE_BPE, "llama32_rebuilt.json", _JSON_PEERS, "llama3"),
            ("neox-json", "GPT-NeoX", BYTE_BPE, "gpt_neox.json", _JSON_PEERS, None),
            ("clip-json", "CLIP", BYTE_BPE, "clip_base.json", ("kitoken",), None),
            ("llama2-json", "Llama 2", SENTENCEPIECE_BPE, "llama2.json", _SENTENCEPIECE_PEERS, "llama2"),
            ("mistral03-json", "Mistral 0.3", SENTENCEPIECE_BPE, "mistral03.json", _SENTENCEPIECE_PEERS, "mistral03"),
            ("xlnet-json", "XLNet", UNIGRAM, "xlnet_base_cased.json", ("kitoken",), "xlnet"),
        )
    ),
    *(
        Vocabulary(
            name, f"{title}, GGUF", family, f"gguf/ggml-vocab-{file}.gguf", LLAMA_CPP_NAME, (), counterpart=counterpart
        )
        for name, title, family, file, counterpart in (
            ("gpt2-gguf", "GPT-2", BYTE_BPE, "gpt-2", "r50k_base"),
            ("falcon-gguf", "Falcon", BYTE_BPE, "falcon", None),
            ("bert-gguf", "BERT uncased", WORDPIECE, "bert-bge", "bert"),
        )
    ),
    # With this vocabulary, llama.cpp's twin needs a second for 2 KB of text. The SentencePiece model returns the
    # same ids for text without special tokens.
    Vocabulary(
        "llama2-gguf",
        "Llama 2, GGUF",
        SENTENCEPIECE_BPE,
        "gguf/ggml-vocab-llama-spm.gguf",
        "sentencepiece",
        (),
        model="sentencepiece/llama2.model",
        counterpart="llama2",
    ),
)
