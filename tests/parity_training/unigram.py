"""Compares whole model files of SentencePiece's Unigram, on real texts of six languages.

If POLYTOK_SENTENCEPIECE_021 names a Python with sentencepiece 0.2.1, that release is compared too.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parity_training import sentencepiece_models as shared
from parity_training.cases import Case

OPTIONS: list[dict[str, Any]] = [
    *shared.OPTIONS,
    {"num_threads": 1},
    {"num_threads": 5, "num_sub_iterations": 3, "shrinking_factor": 0.9},
    {"num_sub_iterations": 1, "shrinking_factor": 0.5},
    {"seed_sentencepiece_size": 5000},
    {"seed_sentencepiece_size": 0, "max_sentencepiece_length": 40},
    {"split_by_whitespace": False, "treat_whitespace_as_suffix": True, "add_dummy_prefix": False},
    {"pretokenization_delimiter": "an", "split_by_whitespace": False},
]
_ABORTS_IN_021 = ("required_chars",)
_FOLDER = tempfile.TemporaryDirectory(prefix="polytok-")


@functools.cache
def seeds(name: str) -> str:
    """Writes a file of the starts of words with their counts."""
    counts = Counter(f"▁{word}"[:8] for line in shared.lines(name) for word in line.split() if "▁" not in word)
    path = Path(_FOLDER.name, name)
    path.write_text("".join(f"{piece}\t{count}\n" for piece, count in counts.items()), "utf-8", newline="\n")
    return str(path)


def cases() -> Iterator[Case]:
    """Yields a case for every language and set of options."""
    other = os.environ.get("POLYTOK_SENTENCEPIECE_021")
    for line in ("0.2.1", "0.2.3") if other else ("0.2.3",):
        for language, name in shared.LANGUAGES.items():
            for options in [*OPTIONS, {"seed_sentencepieces_file": seeds(name)}]:
                if line == "0.2.1" and any(option in options for option in _ABORTS_IN_021):
                    continue
                difference = functools.partial(shared.difference, "unigram", name, options, line, other)
                yield Case(f"sentencepiece {line}", "unigram: the model file", f"{language}, {options}", difference)
