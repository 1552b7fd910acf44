"""``vocab.json`` with ``merges.txt`` in the same folder: the vocabularies of GPT-2, RoBERTa, CLIP and Qwen2.

The class in tokenizer_config.json determines everything else. The files are read as the Spec of a tokenizer.json, and
the Spec is written as a tokenizer.json, because these two files cannot carry the other components.
"""

from __future__ import annotations

import re

from ..errors import FormatError
from ..keywords import keyword
from ..records import replace
from ..spec import Spec
from .base import ReadOptions, Written

name = "bpe_files"
options: frozenset[str] = frozenset()

MERGES = "merges.txt"
_TEXT_AND_ID = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[0-9]')


def refusal(data: bytes) -> str | None:
    """Accepts a JSON object whose first member has a number as its value."""
    return None if _TEXT_AND_ID.match(data) else "not a JSON object of texts and ids"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a vocab.json, with the merges.txt in the same folder."""
    if MERGES not in options.siblings:
        raise FormatError(f"a vocab.json needs {MERGES} in the same folder")
    from .huggingface import legacy  # importing this takes longer than detecting the format of a file

    spec = legacy.read_pair(data, options.siblings[MERGES], options.siblings)
    return replace(spec, origin=replace(spec.origin, name=options.name))


def write(spec: Spec) -> Written:
    """Raises FormatError: these files cannot carry a whole tokenizer."""
    raise FormatError(
        f"vocab.json and merges.txt cannot carry a whole tokenizer; write {keyword('format', 'huggingface')}"
    )
