"""``vocab.json`` with ``merges.txt`` beside it: GPT-2's, RoBERTa's, CLIP's and Qwen2's vocabularies.

The class that tokenizer_config.json names says everything else. What is read is a Spec as of a tokenizer.json, and is
written as one: two files with these names cannot say what they are.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..errors import FormatError
from ..spec import Spec
from .base import ReadOptions, Written
from .huggingface import legacy

name = "bpe_files"
options: frozenset[str] = frozenset()

MERGES = "merges.txt"
_TEXT_AND_ID = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]')


def refusal(data: bytes) -> str | None:
    """A JSON object whose first member is a text and a number."""
    return None if _TEXT_AND_ID.match(data) else "not a JSON object of texts and ids"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Read a vocab.json, and the merges beside it."""
    if MERGES not in options.siblings:
        raise FormatError(f"a vocab.json needs its {MERGES} beside it")
    spec = legacy.read_pair(data, options.siblings[MERGES], options.siblings)
    return replace(spec, origin=replace(spec.origin, name=options.name))


def write(spec: Spec) -> Written:
    """Refused."""
    raise FormatError("vocab.json and merges.txt cannot say what they are; write format='huggingface'")
