"""Converts every vocabulary of the test data to every format: the result is equal, lossy or refused, with reasons."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polytok
from polytok import conversion, formats
from polytok.conversion import read_back
from polytok.errors import FormatError, PolytokError
from polytok.tokenizer import Tokenizer
from reference_specs import DATA
from texts import VocabularyPieces, first_lines, generate_texts

from .packages import PACKAGE_ENCODERS, gguf_texts

VERDICTS = ("refused", "lossy", "equal")
"""The verdicts, from the worst to the best."""

SLICE = (
    *("sentencepiece/llama2.model", "sentencepiece/test_model.model", "llama2c/tokenizer.bin"),
    *("tiktoken/r50k_base.tiktoken", "tekken/mistral2410_rebuilt.json", "rwkv/rwkv_vocab_v20230424.txt"),
    *("huggingface/gpt2.json", "huggingface/llama2.json", "huggingface/bert_base_cased.json"),
    *("huggingface/xlnet_base_cased.json", "gguf/ggml-vocab-gpt-2.gguf", "gguf/ggml-vocab-llama-spm.gguf"),
    "gguf/ggml-vocab-bert-bge.gguf",
)
"""The vocabularies that every test run converts, one of each kind."""

_SEED = 20
_SUFFIXES = (".inp", ".out")


@dataclass(frozen=True)
class Cell:
    """The result of converting one vocabulary to one format.

    ``reasons`` are the losses, or the reason for the refusal. ``package_difference`` describes how the format's own
    package differs from polytok; it is empty if the ids agree.
    """

    source: str
    target: str
    verdict: str
    texts: int = 0
    ids_differ: int = 0
    texts_differ: int = 0
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    package_difference: str = ""

    @property
    def verdict_text(self) -> str:
        """The text of the cell in the table."""
        if self.verdict == "lossy":
            return f"lossy ({self.ids_differ + self.texts_differ})"
        return self.verdict


def sources() -> list[str]:
    """Returns the paths of all vocabularies in the test data."""
    folder = DATA / "vocab"
    files = (path for path in sorted(folder.glob("*/*")) if path.suffix not in _SUFFIXES)
    format_names = {format.name for format in formats.all_formats()}
    return [str(path.relative_to(folder)) for path in files if path.parent.name in format_names]


def targets() -> list[str]:
    """Returns all formats except `.ptok`, which can express every tokenizer, and the pair that is never written."""
    return [format.name for format in formats.all_formats() if format.name not in ("ptok", "bpe_files")]


def load(source: str) -> Tokenizer:
    return polytok.load(DATA / "vocab" / source)


def texts_for(tokenizer: Tokenizer, size: int) -> list[str]:
    """Returns lines of every corpus and generated texts, which contain the vocabulary's entries; valid UTF-8."""
    vocab = tokenizer.spec.vocab
    pieces = [piece.replace("\u2581".encode(), b" ") for piece in vocab.pieces() if piece]
    generated_texts = generate_texts(
        _SEED, size, VocabularyPieces(pieces, [text.encode() for text in list(tokenizer.special_tokens)[:50]])
    )
    corpora = sorted((DATA / "corpus").glob("*.txt"))
    corpus_lines = (
        line for path in corpora for line in first_lines(path, 2000 * size // len(corpora))[: size // len(corpora)]
    )
    return [text.decode(errors="ignore") for text in (*generated_texts, *corpus_lines)]


def convert_to_all_formats(arguments: tuple[str, int]) -> list[Cell]:
    """Converts one vocabulary to every format."""
    source, size = arguments
    tokenizer = load(source)
    texts = texts_for(tokenizer, size)
    return [convert(source, tokenizer, target, texts) for target in targets()]


def convert(source: str, tokenizer: Tokenizer, target: str, texts: Sequence[str]) -> Cell:
    """Converts a tokenizer to one format, and compares both on the texts."""
    try:
        written_file = conversion.write(tokenizer.spec, target)
    except FormatError as error:
        return Cell(source, target, "refused", reasons=(str(error),))
    read_tokenizer = Tokenizer(read_back(written_file, target, tokenizer.spec))
    ids_before, ids_after = encode_texts(tokenizer, texts), encode_texts(read_tokenizer, texts)
    same_texts = [
        n
        for n, (old_ids, new_ids) in enumerate(zip(ids_before, ids_after, strict=True))
        if old_ids == new_ids and old_ids is not None
    ]
    refused_alike = sum(
        old_ids is None and new_ids is None for old_ids, new_ids in zip(ids_before, ids_after, strict=True)
    )
    ids_differ = len(texts) - len(same_texts) - refused_alike
    texts_differ = sum(
        decode_or_none(tokenizer, ids_before[n]) != decode_or_none(read_tokenizer, ids_before[n]) for n in same_texts
    )
    # A rank file has neither pattern nor special tokens; here both are passed when it is read, so they are not lost.
    passed_options = ("special:", "split:", "post:") if target == "tiktoken" else ()
    reasons = tuple(
        loss
        for loss in written_file.losses
        if not (passed_options and loss.startswith(passed_options) and " becomes " in loss)
    )
    verdict = "lossy" if ids_differ or texts_differ or reasons else "equal"
    difference = package_difference(target, written_file.data, read_tokenizer, texts)
    return Cell(source, target, verdict, len(texts), ids_differ, texts_differ, reasons, written_file.notes, difference)


def encode_texts(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int] | None]:
    try:
        return list(tokenizer.encode_batch(texts).to_list())
    except PolytokError:
        return [encode_or_none(tokenizer, text) for text in texts]


def encode_or_none(tokenizer: Tokenizer, text: str) -> list[int] | None:
    try:
        return tokenizer.encode(text)
    except PolytokError:
        return None


def decode_or_none(tokenizer: Tokenizer, ids: list[int] | None) -> str | None:
    try:
        return None if ids is None else tokenizer.decode(ids)
    except PolytokError:
        return None


def package_difference(target: str, data: bytes, tokenizer: Tokenizer, texts: Sequence[str]) -> str:
    """Describes how the format's own package encodes with the file differently from polytok; empty if the ids agree."""
    if target == "gguf" and importlib.util.find_spec("gguf"):
        return "" if len(gguf_texts(data)) == len(tokenizer.spec.vocab) else "gguf reads other tokens"
    package = {"huggingface": "tokenizers"}.get(target, target)
    if target not in PACKAGE_ENCODERS or not importlib.util.find_spec(package):
        return ""
    package_ids, polytok_ids = PACKAGE_ENCODERS[target](data, tokenizer)(list(texts)), encode_texts(tokenizer, texts)
    differing_texts = [
        text
        for text, polytok_row, package_row in zip(texts, polytok_ids, package_ids, strict=True)
        if polytok_row != package_row
    ]
    return (
        f"{package} returns other ids for {len(differing_texts)} texts, such as {min(differing_texts, key=len)!r}"
        if differing_texts
        else ""
    )


def documented_verdicts(page: Path) -> dict[tuple[str, str], str]:
    """Returns the verdicts in the table of the page."""
    rows = [line.strip("|").split("|") for line in page.read_text().splitlines() if line.startswith("|")]
    if not rows:
        return {}
    heading, verdicts = [name.strip() for name in rows[0]], {}
    for row in rows[2:]:
        source = row[0].strip().strip("`")
        for target, cell in zip(heading[1:], row[1:], strict=True):
            verdicts[source, target] = cell.split()[0]
    return verdicts
