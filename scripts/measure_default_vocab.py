"""Compares the bytes per token of the default vocabulary with others, for the table in docs/default-vocabulary.md.

The packages tiktoken, sentencepiece and pyrwkv-tokenizer encode the held-out text with all vocabularies.

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
from polytok.data import DEFAULT_FILE, DEFAULT_NAME, DEFAULT_PATTERN, DEFAULT_SIZE, DEFAULT_SPECIAL_TOKENS

ROOT = Path(__file__).resolve().parent.parent
CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
    r"\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}",
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]
)

Encode = Callable[[str], Sequence[int]]


def rank_encoding(name: str, file: Path, pattern: str) -> Encode:
    lines = (line.split() for line in file.read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    special = DEFAULT_SPECIAL_TOKENS if name == DEFAULT_NAME else {}
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special).encode_ordinary


def encoders(vocab: Path) -> dict[str, Encode]:
    llama2 = sentencepiece.SentencePieceProcessor(model_file=str(vocab / "sentencepiece" / "llama2.model"))
    default_path = ROOT / "python" / "polytok" / "data" / DEFAULT_FILE
    return {
        f"**default** {DEFAULT_SIZE:,}": rank_encoding(DEFAULT_NAME, default_path, DEFAULT_PATTERN),
        "llama2 32,000": llama2.encode,
        "RWKV World 65,536": pyrwkv_tokenizer.RWKVTokenizer().encode,
        "cl100k_base 100,277": rank_encoding("cl100k", vocab / "tiktoken" / "cl100k_base.tiktoken", CL100K_PATTERN),
        "o200k_base 200,019": rank_encoding("o200k", vocab / "tiktoken" / "o200k_base.tiktoken", O200K_PATTERN),
    }


def bytes_per_token(encode: Encode, texts: Sequence[str]) -> float:
    return sum(len(part.encode()) for part in texts) / sum(len(encode(part)) for part in texts)


def table(corpus: Path, vocab: Path) -> str:
    encode_functions = encoders(vocab)
    default = next(iter(encode_functions.values()))
    rows = [
        "| Text | default, trained on | " + " | ".join(encode_functions) + " |",
        "|---|---:|" + "---:|" * len(encode_functions),
    ]
    for source in text.sources(corpus):
        figures = [bytes_per_token(default, source.train)]
        figures += [bytes_per_token(encode, source.held_out) for encode in encode_functions.values()]
        rows.append(f"| {source.name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the default vocabulary.")
    parser.add_argument("data", type=Path, help="directory with corpus/ and vocab/")
    data: Path = parser.parse_args().data
    write_section("measured", table(data / "corpus", data / "vocab"))


if __name__ == "__main__":
    main()
