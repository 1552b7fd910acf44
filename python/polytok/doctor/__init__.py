"""Finds what is wrong with a tokenizer, and where it diverges from one that should be the same.

`examine` runs `CHECKS`; each check examines a Spec for one kind of problem. A finding is data: its id, its severity, a
message with the details, and an advice.
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
    """All findings, and the texts that the tokenizer encodes differently from the other tokenizer."""

    findings: tuple[Finding, ...]
    divergences: tuple[Divergence, ...] = ()

    @property
    def is_well(self) -> bool:
        """True if there are no findings except notes."""
        return not any(finding.is_wrong for finding in self.findings)


def findings(spec: Spec) -> list[Finding]:
    """Returns the findings of all checks, in order. If a Spec cannot be compiled, the remaining checks are skipped."""
    results: list[Finding] = []
    for check in CHECKS:
        results += check(spec)
        if any(finding.id == "not-usable" for finding in results):
            break
    return results


def examine(tokenizer: Tokenizer, against: Tokenizer | None = None, texts: Iterable[Text] | None = None) -> Diagnosis:
    """Examines a tokenizer, and compares it with another tokenizer if one is given.

    ``texts`` are compared with the other tokenizer; without ``texts``, generated ones are. Without another tokenizer,
    ``texts`` are encoded and decoded, and texts that change are findings.

    >>> import polytok
    >>> examine(polytok.load("default")).is_well
    True
    """
    results = findings(tokenizer.spec)
    if against is None:
        return Diagnosis((*results, *round_trips(tokenizer, texts or ())))
    differences, divergences = kin.compare(tokenizer, against, texts)
    return Diagnosis((*results, *differences), tuple(divergences))
