"""Finds problems of a tokenizer, and texts on which it differs from a tokenizer that should be the same.

`examine` runs `CHECKS`; each check examines a Spec for one kind of problem. A finding is data: its id, its severity, a
message with the details, and advice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..checked import checked
from ..checks import iterable
from ..differences import Differences, compare
from ..divergence import Divergence
from ..loading import AnyTokenizer, as_tokenizer
from ..spec import Spec
from ..values import Text
from . import entries, ids, kin, origins, reached, rebuilt, splits
from .finding import Finding, Severity
from .round_trip import find_round_trip_errors

__all__ = ["CHECKS", "Diagnosis", "Finding", "Severity", "examine", "findings"]

CHECKS: tuple[Callable[[Spec], Iterator[Finding]], ...] = (
    ids.find_ids_out_of_range,
    ids.find_special_clashes,
    ids.find_sparse_ids,
    entries.find_missing_unknown,
    splits.find_literal_pattern,
    entries.find_compile_error,
    entries.find_duplicates,
    entries.find_unreachable,
    reached.find_unreached,
    reached.find_unused_symbols,
    entries.find_bytes_without_entry,
    entries.find_missing_byte_pieces,
    entries.find_equal_scores,
    splits.find_mistral_pattern,
    splits.find_dropped_text,
    splits.find_foreign_pattern,
    splits.find_end_anchor,
    origins.find_gguf_errors,
    origins.find_huggingface_errors,
    rebuilt.find_rebuilt_pre_tokenizer,
    origins.find_control_symbols,
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, and with another tokenizer its `Differences` from this one, which is the left one."""

    findings: tuple[Finding, ...]
    differences: Differences | None = None

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        """The texts that the tokenizer encodes differently from the other tokenizer."""
        return () if self.differences is None else self.differences.divergences

    @property
    def compared(self) -> int:
        """The number of texts that both tokenizers encoded."""
        return 0 if self.differences is None else self.differences.compared

    @property
    def is_well(self) -> bool:
        """True if there are no findings except notes."""
        return not any(finding.is_wrong for finding in self.findings)

    @property
    def same_ids(self) -> bool:
        """True if no text, entry or special token has another id in the other tokenizer, also with ``add_special``, and
        if the special tokens that both have are allowed in texts; and without another tokenizer.

        >>> examine("default", against="default").same_ids
        True
        """
        return self.differences is None or self.differences.same_ids


def findings(spec: Spec) -> list[Finding]:
    """Returns the findings of all checks, in order. If a Spec cannot be compiled, the remaining checks are skipped."""
    results: list[Finding] = []
    for check in CHECKS:
        results += check(spec)
        if any(finding.id == "not-usable" for finding in results):
            break
    return results


@checked(texts=lambda name, value: iterable(name, value, "texts"))
def examine(
    tokenizer: AnyTokenizer, against: AnyTokenizer | None = None, texts: Iterable[Text] | None = None
) -> Diagnosis:
    """Examines a tokenizer, and compares the tokenizer with ``against``, another tokenizer, unless it is None. Both can
    also be what `polytok.load` accepts.

    The two tokenizers are compared on ``texts``, by default on generated texts, without and with ``add_special``; and,
    with special tokens allowed, on generated texts that contain those that both tokenizers have. Without ``against``,
    ``texts`` are encoded and decoded, and each text that changes is a finding.

    >>> examine("default").is_well
    True
    """
    tokenizer = as_tokenizer(tokenizer)
    results = findings(tokenizer.spec)
    if against is None:
        return Diagnosis((*results, *find_round_trip_errors(tokenizer, texts or ())))
    other = as_tokenizer(against)
    differences = compare(tokenizer, other, texts)
    return Diagnosis((*results, *kin.find_differences(tokenizer, other, differences)), differences)
