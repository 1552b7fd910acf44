"""The files of GPT-2's first release: ``vocab.bpe``, a list of merges, and ``encoder.json``, the ids of the tokens.

The files are read by tiktoken's rules: the first 256 ranks are the bytes in the order of GPT-2's table (printable bytes
first), and the merges follow in order. Both files must contain the same tokens. The result is the Spec of a rank file,
and is written as a rank file. Source:
openai/tiktoken, tiktoken/load.py (data_gym_to_mergeable_bpe_ranks) and tiktoken_ext/openai_public.py (gpt2).
"""

from __future__ import annotations

import os

from ..byte_level import BYTES
from ..errors import FormatError
from ..keywords import keyword
from ..spec import Kind, Spec, Vocab
from .base import ReadOptions

MERGES_FILE: str = "vocab.bpe"
ENCODER_FILE: str = "encoder.json"

_SPECIAL_TEXTS = ("<|endoftext|>", "<|startoftext|>")


def find_pair(path: str) -> tuple[str, str] | None:
    """Returns the paths of the two files if ``path`` is their folder or one of them, else None."""
    is_folder = os.path.isdir(path)
    folder = path if is_folder else os.path.dirname(path)
    has_other_file = not is_folder or os.path.exists(os.path.join(folder, "tokenizer.json"))
    if os.path.basename(path) not in (MERGES_FILE, ENCODER_FILE) and has_other_file:
        return None
    file_pair = os.path.join(folder, MERGES_FILE), os.path.join(folder, ENCODER_FILE)
    return file_pair if all(map(os.path.isfile, file_pair)) else None


def read(merges: bytes, encoder: bytes, options: ReadOptions) -> Spec:
    """Reads the two files."""
    from hashlib import sha256

    from .tiktoken import spec_of  # only finding the files must be fast, which every load does
    from .tiktoken_known import GPT2

    token_texts = _texts_by_rank(merges)
    _require_same_tokens(token_texts, encoder)
    scheme = GPT2.scheme if sha256(merges).hexdigest() == GPT2.sha256 else None
    if scheme is None and (options.pattern is None or options.special_tokens is None):
        raise FormatError(
            f"{MERGES_FILE}: this is not GPT-2's file, and no file has its pattern and special tokens; give both: "
            f"{keyword('pattern', '...')}, {keyword('special_tokens', {'<|endoftext|>': 50256})}"
        )
    pieces = [bytes(BYTES[character] for character in text) for text in token_texts]
    vocab = Vocab.from_rows((piece, rank, 0.0, Kind.NORMAL) for rank, piece in enumerate(pieces))
    return spec_of(vocab, options, scheme, GPT2.name if scheme else None)


def _texts_by_rank(merges: bytes) -> list[str]:
    """Returns the tokens by rank, in the characters of GPT-2's table."""
    try:
        lines = merges.decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{MERGES_FILE}: not UTF-8 at byte {error.start}") from error
    if not lines[0].startswith("#version"):
        raise FormatError(f"{MERGES_FILE}: line 1 does not begin with #version")
    token_texts = dict.fromkeys(BYTES)
    for line_number, line in enumerate(lines[1 : -1 if lines[-1] == "" else None], start=2):
        pair_parts = line.split(" ")
        if len(pair_parts) != 2 or not all(part in token_texts for part in pair_parts):
            raise FormatError(
                f"{MERGES_FILE}: line {line_number} is not a pair of tokens of earlier lines: {line!r:.60}"
            )
        if "".join(pair_parts) in token_texts:
            raise FormatError(f"{MERGES_FILE}: line {line_number}: the token {''.join(pair_parts)!r:.60} repeats")
        token_texts["".join(pair_parts)] = None
    return list(token_texts)


def _require_same_tokens(token_texts: list[str], encoder: bytes) -> None:
    import json

    try:
        ids = json.loads(encoder.decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{ENCODER_FILE} cannot be read: {error}") from error
    if not isinstance(ids, dict):
        raise FormatError(f"{ENCODER_FILE} is not a JSON object")
    for text in _SPECIAL_TEXTS:
        ids.pop(text, None)
    if ids != {text: rank for rank, text in enumerate(token_texts)}:
        raise FormatError(f"{ENCODER_FILE} and {MERGES_FILE} do not have the same tokens")
