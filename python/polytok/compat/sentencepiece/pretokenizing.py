"""Training with a pretokenizer: texts are normalized and divided here, and the trainer gets them as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...training.sentencepiece.meta import reserved_pieces
from ...training.sentencepiece.normalization import create_normalizer
from ...training.sentencepiece.options import resolve_options
from .normalizing import NormalizingEngine

Pretokenizer = Callable[[str], Sequence[str]]

_BOUNDARY = b"\x1f"
_SKIPPED = "\u2585".encode()
"""The character that the trainer needs for itself: sentences with it are skipped."""
_PLAIN = {
    "normalization_rule_name": "identity",
    "add_dummy_prefix": False,
    "remove_extra_whitespaces": False,
    "max_sentence_length": None,
    "pretokenization_delimiter": "\x1f",
}


def plain_options(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options with which the trainer takes the sentences of `divided` as they are."""
    kept = {name: value for name, value in options.items() if name != "precompiled_charsmap"}
    return {**{name: value for name, value in kept.items() if name != "normalization_rule_tsv"}, **_PLAIN}


def lines_of(paths: Iterable[Path]) -> Iterator[bytes]:
    """Yields the lines of files."""
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                yield line.removesuffix(b"\n").removesuffix(b"\r")


def divided(
    sentences: Iterable[bytes], model: str, options: dict[str, Any], pretokenizer: Pretokenizer, allows_others: bool
) -> Iterator[bytes]:
    """Yields normalized sentences with a boundary between the parts that ``pretokenizer`` returns for them.

    Raises ValueError if the parts of a sentence are not the sentence, unless ``allows_others`` is true, and
    RuntimeError if ``pretokenizer`` fails.
    """
    resolved, _ = resolve_options({"vocab_size": 8000, "profile": "sentencepiece", **options}, model)
    if resolved.input_sentence_size:
        raise RuntimeError("UNIMPLEMENTED: pretokenizer= with input_sentence_size=: give fewer sentences instead")
    if resolved.pretokenization_delimiter:
        raise RuntimeError(
            "INTERNAL: pretokenizer callback and pretokenization_delimiter cannot be set simultaneously."
        )
    engine = NormalizingEngine.of_step(create_normalizer(resolved))
    reserved = _pattern([text.encode() for text, _ in reserved_pieces(resolved, model).values()])
    longest = resolved.max_sentence_length
    for number, line in enumerate(sentences):
        sentence, tab, count = line.rpartition(b"\t") if resolved.tsv else (line, b"", b"")
        if not sentence or _SKIPPED in sentence or (longest is not None and len(sentence) > longest):
            continue
        normalized = reserved.sub(_BOUNDARY, engine.text(sentence))
        parts = _called(pretokenizer, normalized)
        if not allows_others and b"".join(parts) != normalized:
            raise ValueError(
                f"INVALID_ARGUMENT: Pretokenized output mismatch at sample {number}: joined={b''.join(parts)!r}, "
                f"original={normalized!r}. Set allow_inconsistent_pretokenization=True to bypass."
            )
        text = _BOUNDARY.join(parts)
        if b" " in text:
            raise RuntimeError("INTERNAL: Normalized string must not include spaces")
        if allows_others and reserved.search(text):
            raise RuntimeError("UNIMPLEMENTED: the pretokenizer returned a reserved piece: leave it out")
        yield text + tab + count


def _called(pretokenizer: Pretokenizer, sentence: bytes) -> list[bytes]:
    try:
        return [_encoded(part) for part in pretokenizer(sentence.decode("utf-8"))]
    except Exception as error:
        raise RuntimeError(f"Pretokenizer failed: {type(error).__name__}: {error}") from error


def _encoded(part: str | bytes) -> bytes:
    return part if isinstance(part, bytes) else part.encode("utf-8")


def _pattern(texts: Iterable[bytes]) -> re.Pattern[bytes]:
    """Returns a pattern that matches the longest of some texts."""
    return re.compile(b"|".join(map(re.escape, sorted(texts, key=len, reverse=True))))
