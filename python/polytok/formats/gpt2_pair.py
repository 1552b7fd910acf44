"""The files of GPT-2's first release: ``vocab.bpe``, a list of merges, and ``encoder.json``, the ids of the tokens.

The pair is read by tiktoken's rules: the ranks are the 256 bytes in the order of GPT-2's table, printable ones first,
then the merges, and both files must agree. The result is a Spec of ranks, so it is written as a rank file. Source:
openai/tiktoken, tiktoken/load.py (data_gym_to_mergeable_bpe_ranks) and tiktoken_ext/openai_public.py (gpt2).
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from ..byte_level import BYTES
from ..errors import FormatError
from ..spec import Kind, Spec, Vocab
from .base import ReadOptions
from .tiktoken import spec_of
from .tiktoken_known import GPT2

MERGES: str = "vocab.bpe"
ENCODER: str = "encoder.json"

_SPECIAL = ("<|endoftext|>", "<|startoftext|>")


def find_pair(path: Path) -> tuple[Path, Path] | None:
    """Returns the paths of the two files if ``path`` is their folder or one of them, else None."""
    folder = path if path.is_dir() else path.parent
    if path.name not in (MERGES, ENCODER) and (path != folder or (folder / "tokenizer.json").exists()):
        return None
    pair = folder / MERGES, folder / ENCODER
    return pair if all(file.is_file() for file in pair) else None


def read(merges: bytes, encoder: bytes, options: ReadOptions) -> Spec:
    """Reads the two files."""
    texts = _texts_by_rank(merges)
    _check_agreement(texts, encoder)
    scheme = GPT2.scheme if sha256(merges).hexdigest() == GPT2.sha256 else None
    if scheme is None and (options.pattern is None or options.special_tokens is None):
        raise FormatError(
            f"{MERGES}: this is not GPT-2's file, and no file has its pattern and special tokens; give both: "
            "pattern=r'...', special_tokens={'<|endoftext|>': 50256}"
        )
    pieces = [bytes(BYTES[character] for character in text) for text in texts]
    vocab = Vocab.from_rows((piece, rank, 0.0, Kind.NORMAL) for rank, piece in enumerate(pieces))
    return spec_of(vocab, options, scheme, GPT2.name if scheme else None)


def _texts_by_rank(merges: bytes) -> list[str]:
    """Returns the tokens by rank, in the characters of GPT-2's table."""
    try:
        lines = merges.decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{MERGES}: not UTF-8 at byte {error.start}") from error
    if not lines[0].startswith("#version"):
        raise FormatError(f"{MERGES}: line 1 does not begin with #version")
    texts = dict.fromkeys(BYTES)
    for number, line in enumerate(lines[1 : -1 if lines[-1] == "" else None], start=2):
        parts = line.split(" ")
        if len(parts) != 2 or not all(part in texts for part in parts):
            raise FormatError(f"{MERGES}: line {number} is not a pair of tokens of earlier lines: {line!r:.60}")
        if "".join(parts) in texts:
            raise FormatError(f"{MERGES}: line {number}: the token {''.join(parts)!r:.60} repeats")
        texts["".join(parts)] = None
    return list(texts)


def _check_agreement(texts: list[str], encoder: bytes) -> None:
    try:
        ids = json.loads(encoder.decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{ENCODER} cannot be read: {error}") from error
    if not isinstance(ids, dict):
        raise FormatError(f"{ENCODER} is not a JSON object")
    for text in _SPECIAL:
        ids.pop(text, None)
    if ids != {text: rank for rank, text in enumerate(texts)}:
        raise FormatError(f"{ENCODER} and {MERGES} do not have the same tokens")
