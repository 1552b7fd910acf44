"""Compares the bytes per token of the default vocabulary with others, for the table in docs/default-vocabulary.md.

The packages tiktoken, sentencepiece and pyrwkv-tokenizer encode the held-out text.

    python scripts/measure_default_vocab.py ../shared/data
"""

from __future__ import annotations

import argparse
import base64
from collections.abc import Callable, Sequence
from pathlib import Path

import pyrwkv_tokenizer
import sentencepiece
import tiktoken

import default_vocab_text as text
from default_vocab_doc import write_section
from polytok.data import DEFAULT_NAME, DEFAULT_PATTERN, DEFAULT_SIZE, DEFAULT_SPECIAL_TOKENS, default_ranks

CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
    r"\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_UPPER_CLASS, _LOWER_CLASS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION_PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER_CLASS}*{_LOWER_CLASS}+{_CONTRACTION_PATTERN}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER_CLASS}+{_LOWER_CLASS}*{_CONTRACTION_PATTERN}",
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]
)

EncodeFunction = Callable[[str], Sequence[int]]


def tiktoken_encoder(name: str, rank_file: bytes, pattern: str) -> EncodeFunction:
    lines = (line.split() for line in rank_file.splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    special_tokens = DEFAULT_SPECIAL_TOKENS if name == DEFAULT_NAME else {}
    return tiktoken.Encoding(
        name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens
    ).encode_ordinary


def load_encoders(vocab: Path) -> dict[str, EncodeFunction]:
    llama2_processor = sentencepiece.SentencePieceProcessor(model_file=str(vocab / "sentencepiece" / "llama2.model"))
    published = vocab / "tiktoken"
    return {
        f"**default** {DEFAULT_SIZE:,}": tiktoken_encoder(DEFAULT_NAME, default_ranks(), DEFAULT_PATTERN),
        "llama2 32,000": llama2_processor.encode,
        "RWKV World 65,536": pyrwkv_tokenizer.RWKVTokenizer().encode,
        "cl100k_base 100,277": tiktoken_encoder(
            "cl100k", (published / "cl100k_base.tiktoken").read_bytes(), CL100K_PATTERN
        ),
        "o200k_base 200,019": tiktoken_encoder(
            "o200k", (published / "o200k_base.tiktoken").read_bytes(), O200K_PATTERN
        ),
    }


def bytes_per_token(encode: EncodeFunction, texts: Sequence[str]) -> float:
    return sum(len(part.encode()) for part in texts) / sum(len(encode(part)) for part in texts)


def table(corpus: Path, vocab: Path) -> str:
    encoders = load_encoders(vocab)
    default_encoder = next(iter(encoders.values()))
    rows = [
        "| Text | default, trained on | " + " | ".join(encoders) + " |",
        "|---|---:|" + "---:|" * len(encoders),
    ]
    for source in text.read_sources(corpus):
        figures = [bytes_per_token(default_encoder, source.training_texts)]
        figures += [bytes_per_token(encode, source.held_out_texts) for encode in encoders.values()]
        rows.append(f"| {source.name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the default vocabulary.")
    parser.add_argument("data", type=Path, help="directory with corpus/ and vocab/")
    data: Path = parser.parse_args().data
    write_section("measured", table(data / "corpus", data / "vocab"))


if __name__ == "__main__":
    main()
