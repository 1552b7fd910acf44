"""Finds what is wrong with a tokenizer, and where it diverges from one that should be the same.

`examine` runs `CHECKS`; each of them examines a Spec for one kind of trouble. A finding is data: its id, its severity,
the details, and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..divergence import Divergence
from ..spec import Spec
from ..tokenizer import Tokenizer
from ..values import Text
from . import entries, ids, kin, origins, splits
from .finding import Finding, Severity
from .round_trip import round_trips

__all__ = ["CHECKS", "Diagnosis", "Finding", "Severity", "examine", "findings"]

CHECKS: tuple[Callable[[Spec], Iterator[Finding]], ...] = (
    ids.out_of_range,
    ids.special_clashes,
    ids.holes,
    entries.no_unknown,
    splits.literal_pattern,
    entries.uncompilable,
    entries.duplicates,
    entries.unreachable,
    entries.bytes_without_entry,
    entries.byte_pieces,
    entries.equal_scores,
    splits.mistral_pattern,
    splits.drops_text,
    splits.pattern_and_vocabulary,
    splits.end_of_text,
    origins.gguf,
    origins.huggingface,
    origins.control_symbols,
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, and the texts for which the tokenizer diverges from the other one."""

    findings: tuple[Finding, ...]
    divergences: tuple[Divergence, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether there are only notes."""
        return not any(finding.is_wrong for finding in self.findings)


def findings(spec: Spec) -> list[Finding]:
    """The findings of all checks, in order. If a Spec cannot be used at all, the remaining checks are skipped."""
    found: list[Finding] = []
    for check in CHECKS:
        found += check(spec)
        if any(finding.id == "not-usable" for finding in found):
            break
    return found


def examine(tokenizer: Tokenizer, against: Tokenizer | None = None, texts: Iterable[Text] | None = None) -> Diagnosis:
    """Examine a tokenizer, and with another one compare both on texts (generated ones unless given).

    Without another one, texts are encoded and decoded.

    >>> import polytok
    >>> examine(polytok.load("default")).is_well
    True
    """
    found = findings(tokenizer.spec)
    if against is None:
        return Diagnosis((*found, *round_trips(tokenizer, texts or ())))
    more, divergences = kin.kin(tokenizer, against, texts)
    return Diagnosis((*found, *more), tuple(divergences))
