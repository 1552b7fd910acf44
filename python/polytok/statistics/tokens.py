"""Counts the tokens of texts by one tokenizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..columns import has_kind
from ..doctor.entries import duplicate_ids, unreachable_ids
from ..errors import EncodeError
from ..keywords import marked_message
from ..options import Options
from ..spec import Kind
from ..tokenizer import Tokenizer
from .data import ModelStats, TextGroup, TokenStats
from .scripts import NO_LETTERS, Scripts

SPECIAL = "special tokens"
PARTS = "parts of characters"
_DENSE_RANKS = 10
_RANKS_IN_DECADE = 12

_Counts = npt.NDArray[np.int64]


class TokenCounter:
    """Counts the ids of a group of texts."""

    def __init__(self, model: ModelCounter) -> None:
        self._model = model
        self.counts: _Counts = np.zeros(model.tokenizer.vocab_size, dtype=np.int64)
        self.unknown_bytes = 0

    def add(self, texts: list[bytes], options: Options | None) -> None:
        """Encodes texts and counts their ids. Raises `EncodeError` for a text that the vocabulary cannot cover."""
        tokenizer = self._model.tokenizer
        try:
            batch = tokenizer.encode_batch(texts, options=options)
        except EncodeError as error:
            raise EncodeError(f"{self._model.name} refuses a text: {marked_message(error)}") from error
        self.counts += np.bincount(batch.ids, minlength=len(self.counts))
        unknown = np.flatnonzero(np.isin(batch.ids, self._model.unknown_ids)) if len(self._model.unknown_ids) else ()
        if len(unknown):
            rows = np.unique(np.searchsorted(batch.offsets, unknown, side="right") - 1)
            for row in rows.tolist():
                spans = tokenizer.spans(texts[row], options=options)
                is_unknown = np.isin(spans.ids, self._model.unknown_ids)
                lengths = spans.byte_ends.astype(np.int64) - spans.byte_starts
                self.unknown_bytes += int(lengths[is_unknown].sum())


class ModelCounter:
    """The figures of a vocabulary, and the counts of its ids in each group of texts."""

    def __init__(self, name: str, tokenizer: Tokenizer, scripts: Scripts) -> None:
        self.name, self.tokenizer = name, tokenizer
        self._table = table = tokenizer.vocab()
        self.unknown_ids = np.unique(
            [
                *table.ids[has_kind(table.kinds, Kind.UNKNOWN)].tolist(),
                *([] if (id := tokenizer.unk_id) is None else [id]),
            ]
        ).astype(np.int64)
        texts = tokenizer.vocab_bytes()
        self._lengths: _Counts = np.fromiter(map(len, texts), np.int64, len(texts))
        self._script_names, self._script_of_id = self._scripts(texts, scripts)
        self._is_fallback = self._script_of_id == self._script_names.index(PARTS)
        self._is_fallback[table.ids[has_kind(table.kinds, Kind.BYTE)]] = True
        self._counters: dict[str, TokenCounter] = {}

    def group(self, name: str) -> TokenCounter:
        """Returns the counter of a group of texts."""
        return self._counters.setdefault(name, TokenCounter(self))

    def result(self, groups: Iterable[TextGroup], baseline: str | None) -> ModelStats:
        """Returns the figures of the vocabulary and of all groups."""
        spec, table = self.tokenizer.spec, self._table
        group_list = list(groups)
        unit = None if baseline is None else int(self._counters[baseline].counts.sum())
        total_counter = TokenCounter(self)
        for counter in self._counters.values():
            total_counter.counts += counter.counts
            total_counter.unknown_bytes += counter.unknown_bytes
        counts = total_counter.counts
        is_never_used = (counts[table.ids] == 0) & ~table.special
        kinds = np.bincount(table.kinds, minlength=max(Kind) + 1).tolist()
        return ModelStats(
            self.name,
            entries=len(table),
            special=int(table.special.sum()),
            duplicates=len(duplicate_ids(spec)),
            unreachable=len(unreachable_ids(spec)),
            never_used=int(is_never_used.sum()) if group_list else None,
            kinds={kind.name.lower(): kinds[kind] for kind in Kind if kinds[kind]},
            scripts=self._by_script(np.bincount(table.ids, minlength=len(counts))),
            lengths=self._by_length(np.bincount(table.ids, minlength=len(counts))),
            token_lengths=self._by_length(counts),
            zipf=ranked(counts),
            groups=tuple(self._token_stats(group, self._counters[group.name], [group], unit) for group in group_list),
            total=self._token_stats(_total_of(group_list), total_counter, group_list, None),
        )

    def _token_stats(
        self, group: TextGroup, counter: TokenCounter, parts: list[TextGroup], unit: int | None
    ) -> TokenStats:
        counts = counter.counts
        tokens = int(counts.sum())
        return TokenStats(
            group.name,
            tokens,
            bytes_per_token=_ratio(group.bytes, tokens),
            characters_per_token=_ratio(group.characters, tokens),
            tokens_per_word=self._tokens_per_word(parts),
            parity=None if unit is None else _ratio(tokens, unit),
            unknown_tokens=int(counts[self.unknown_ids].sum()),
            unknown_bytes=counter.unknown_bytes,
            fallback_tokens=int(counts[self._is_fallback].sum()),
            fallback_bytes=int((counts * self._lengths)[self._is_fallback].sum()),
            used_entries=int(np.count_nonzero(counts)),
            scripts=self._by_script(counts),
        )

    def _tokens_per_word(self, groups: list[TextGroup]) -> float | None:
        spaced = [group for group in groups if group.has_spaced_words]
        tokens = sum(int(self._counters[group.name].counts.sum()) for group in spaced)
        return _ratio(tokens, sum(group.words for group in spaced))

    def _scripts(self, texts: list[bytes], scripts: Scripts) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Returns the names of scripts, and for each id an index into them."""
        decoded = [_decoded(text) for text in texts]
        scripts.learn("".join(set("".join(text for text in decoded if text is not None))))
        special_ids = set(self._table.ids[self._table.special].tolist())
        names = {PARTS: 0, SPECIAL: 1, NO_LETTERS: 2}
        numbers = np.empty(len(texts), dtype=np.int64)
        for id, text in enumerate(decoded):
            name = SPECIAL if id in special_ids else PARTS if text is None else scripts.of_text(text)
            numbers[id] = names.setdefault(name, len(names))
        return list(names), numbers

    def _by_script(self, counts: _Counts) -> Mapping[str, int]:
        """Returns the sum of counts by script, the largest first."""
        sums = np.bincount(self._script_of_id, weights=counts, minlength=len(self._script_names))
        named: Counter[str] = Counter(dict(zip(self._script_names, map(int, sums), strict=True)))
        return {name: count for name, count in named.most_common() if count}

    def _by_length(self, counts: _Counts) -> tuple[int, ...]:
        """Returns the sum of counts by the number of bytes."""
        return tuple(map(int, np.bincount(self._lengths, weights=counts))) if counts.any() else ()


def ranked(counts: _Counts) -> tuple[tuple[int, int], ...]:
    """Returns pairs of a rank and the count with this rank, in descending order, for ranks that a logarithmic plot
    shows.

    >>> ranked(np.array([0, 5, 9, 1]))
    ((1, 9), (2, 5), (3, 1))
    """
    used = np.sort(counts[counts > 0])[::-1]
    if not len(used):
        return ()
    decades = np.log10(len(used))
    ranks = 10 ** np.arange(1, decades, 1 / _RANKS_IN_DECADE) if decades > 1 else np.array([])
    all_ranks = {*range(1, min(_DENSE_RANKS, len(used)) + 1), *np.rint(ranks).astype(int).tolist(), len(used)}
    return tuple((rank, int(used[rank - 1])) for rank in sorted(all_ranks))


def _total_of(groups: list[TextGroup]) -> TextGroup:
    scripts: Counter[str] = Counter()
    for group in groups:
        scripts.update(group.scripts)
    total = TextGroup("total", 0, 0, 0, 0, dict(scripts.most_common()))
    for name in ("texts", "bytes", "characters", "words"):
        total = replace(total, **{name: sum(getattr(group, name) for group in groups)})
    return total


def _ratio(number: int, unit: int) -> float | None:
    return number / unit if unit else None


def _decoded(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None
