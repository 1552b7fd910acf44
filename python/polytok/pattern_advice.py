"""Finds a split pattern that survives a conversion which changes the ids or the decoded text of some texts.

llama.cpp splits text by expressions of its own, and with some of them it also changes spaces when it decodes. If a file
of another format cannot split or decode text like a tokenizer, each named pattern is tried in its place, and one with
which the file loses neither ids nor text is suggested.
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
from .values import FormatName

_MAX_SCRIPTS = 3


def splits_differ(conversion: Conversion) -> bool:
    """Reports whether the written file splits some texts differently."""
    return any(divergence.stage == "split" for divergence in conversion.divergences)


def changes_texts(conversion: Conversion) -> bool:
    """Reports whether the written file splits or decodes some texts differently."""
    return splits_differ(conversion) or conversion.decodes_differently


def better_pattern(tokenizer: Tokenizer, format: FormatName) -> str | None:
    """Returns the name of a pattern with which a file of the format returns the same ids for all texts, and the same
    texts for all ids.

    Of several such patterns, the one is chosen with which the file has the fewest losses; then the one that changes the
    ids of the fewest texts; then the newest. None if there is none.
    """
    if len(tokenizer.spec.split) != 1 or not isinstance(step := tokenizer.spec.split[0], PatternSplit):
        return None
    texts = probes.texts(tokenizer.spec)
    ids = tokenizer.encode_batch(texts).to_list()
    costs = {}
    for name, pattern in reversed(list(PATTERNS.items())):
        other_tokenizer = Tokenizer(replace(tokenizer.spec, split=(replace(step, pattern=pattern),)))
        loss_count = None if pattern == step.pattern else _losses_besides_texts(other_tokenizer, format, texts)
        if loss_count is not None:
            changed_texts = sum(map(operator.ne, ids, other_tokenizer.encode_batch(texts).to_list()))
            costs[name] = loss_count, changed_texts
    return min(costs, key=costs.__getitem__, default=None)


def _losses_besides_texts(tokenizer: Tokenizer, format: FormatName, texts: list[str]) -> int | None:
    """Returns the number of losses of a file; None if it changes the ids of a text or the text of ids."""
    try:
        conversion = convert(tokenizer, format, texts=texts)
    except FormatError:
        return None
    changes_any = conversion.divergences or conversion.decodes_differently
    return None if changes_any else len(conversion.losses)


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
