"""Finds a split pattern that survives a conversion which changes the split of texts.

llama.cpp splits text by expressions of its own. If a file of another format cannot split text like a tokenizer, each
named pattern is tried in its place, and one with which the file returns the same ids is suggested.
"""

from __future__ import annotations

import operator
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from . import probes
from .convert import Conversion, convert
from .errors import FormatError
from .patterns import PATTERNS
from .spec import PatternSplit
from .tokenizer import Tokenizer

_MAX_SCRIPTS = 3


def splits_differ(conversion: Conversion) -> bool:
    """Reports whether the written file splits some texts differently."""
    return any(divergence.stage == "split" for divergence in conversion.divergences)


def better_pattern(tokenizer: Tokenizer, format: str) -> str | None:
    """Returns the name of a pattern with which a file of the format returns the same ids for all texts.

    Of several such patterns, the one that changes the ids of the fewest texts is chosen, and of
    equal ones the newest; None if there is none.
    """
    if len(tokenizer.spec.split) != 1 or not isinstance(step := tokenizer.spec.split[0], PatternSplit):
        return None
    texts = probes.texts(tokenizer.spec)
    ids = tokenizer.encode_batch(texts).to_list()
    changed_texts = {}
    for name, pattern in reversed(list(PATTERNS.items())):
        other_tokenizer = Tokenizer(replace(tokenizer.spec, split=(replace(step, pattern=pattern),)))
        if pattern != step.pattern and _keeps_ids(other_tokenizer, format, texts):
            other_ids = other_tokenizer.encode_batch(texts).to_list()
            changed_texts[name] = sum(map(operator.ne, ids, other_ids))
    return min(changed_texts, key=changed_texts.__getitem__, default=None)


def _keeps_ids(tokenizer: Tokenizer, format: str, texts: list[str]) -> bool:
    try:
        return not convert(tokenizer, format, texts=texts).divergences
    except FormatError:
        return False


def script_names(conversion: Conversion) -> list[str]:
    """Returns the scripts of the letters whose ids differ, the most frequent first; without Latin."""
    counts: Counter[str] = Counter()
    for divergence in conversion.divergences:
        text = divergence.text[divergence.start : divergence.end].decode(errors="ignore")
        counts.update(_scripts_of(text))
    return [script for script, _ in counts.most_common(_MAX_SCRIPTS)]


def _scripts_of(text: Iterable[str]) -> set[str]:
    """Returns the scripts of the letters and marks of a text, by the first words of their names.

    >>> sorted(_scripts_of("a हि ไ"))
    ['Devanagari', 'Thai']
    """
    letters = (character for character in text if unicodedata.category(character)[0] in "LM")
    names = {unicodedata.name(character, "?").split()[0].capitalize() for character in letters}
    return {name for name in names if name.isalpha()} - {"Latin", "Combining"}
