"""The report of a written mixture: the share of each dataset as requested and as reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .manifest import DocumentCounts
from .report import align_columns


@dataclass(frozen=True, slots=True)
class MixtureShare:
    """A dataset in a mixture: its requested share of the documents, and its documents and tokens in the mixture.

    ``limits`` is true for the dataset that ends the mixture, because its documents have occurred ``epochs`` times.
    """

    dataset: str
    requested: float
    documents: int
    tokens: int
    limits: bool


@dataclass(frozen=True, slots=True)
class MixtureReport:
    """The result of `write_mixture`: the counts of the mixture, and the share of each dataset.

    ``was_finished`` is true if an earlier call had finished the job, so that this call did nothing.
    """

    total: DocumentCounts
    shares: Sequence[MixtureShare]
    epochs: float = 1
    was_finished: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        """Returns a table with a line for each dataset, and the dataset that ends the mixture.

        >>> shares = [MixtureShare("web", 0.7, 70, 490, True), MixtureShare("books", 0.3, 30, 310, False)]
        >>> print(MixtureReport(DocumentCounts(100, 800), shares))
        dataset  requested  documents  reached  tokens  of all tokens
        web          70.0%         70    70.0%     490          61.3%
        books        30.0%         30    30.0%     310          38.8%
        total                     100              800
        web ends the mixture: each of its documents has occurred once
        """
        header = ("dataset", "requested", "documents", "reached", "tokens", "of all tokens", "")
        total_row = ("total", "", f"{self.total.documents:,}", "", f"{self.total.tokens:,}", "", "")
        limit = next(share.dataset for share in self.shares if share.limits)
        times = "once" if self.epochs == 1 else f"{self.epochs} times"
        end = f"{limit} ends the mixture: each of its documents has occurred {times}"
        return "\n".join([*align_columns([header, *self._rows(), total_row]), end])

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for share in self.shares:
            reached, token_share = (
                _percent(count, total)
                for count, total in ((share.documents, self.total.documents), (share.tokens, self.total.tokens))
            )
            counts = f"{share.documents:,}", reached, f"{share.tokens:,}", token_share
            yield (share.dataset, f"{share.requested:.1%}", *counts, "")


def _percent(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else "-"
