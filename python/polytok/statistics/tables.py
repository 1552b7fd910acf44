"""The figures of `Stats` as tables: for a terminal, for Markdown, and for the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .data import ModelStats, Stats, TokenStats

_MISSING = "-"
_MAX_SCRIPTS = 12
_OTHER_SCRIPTS = "other scripts"
_QUANTILES = ((0.5, "half"), (0.9, "90 %"), (0.99, "99 %"))

Measure = Callable[[TokenStats], "float | None"]


class GroupMeasure(NamedTuple):
    """A figure of each group of texts: its title, a sentence about it, how to compute and how to write it."""

    name: str
    title: str
    about: str
    value: Measure
    form: str
    has_total: bool = True


class Table(NamedTuple):
    """A table: the head of the column with the names of rows, those of the other columns, and the rows."""

    title: str
    about: str
    row_head: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def group_measures(stats: Stats) -> list[GroupMeasure]:
    """Returns the measures of groups that have a value."""
    bytes_of = {group.name: group.bytes for group in stats.groups} | {"total": sum(g.bytes for g in stats.groups)}
    entries_of = {id(tokens): model.entries for model in stats.models for tokens in (*model.groups, model.total)}
    measures = [
        GroupMeasure("tokens", "Tokens", "The number of tokens.", lambda tokens: tokens.tokens, ",d"),
        GroupMeasure(
            "bytes_per_token",
            "Bytes per token",
            "Compare vocabularies on the same texts; scripts need one to four bytes for a character.",
            lambda tokens: tokens.bytes_per_token,
            ".2f",
        ),
        GroupMeasure(
            "characters_per_token",
            "Characters per token",
            "",
            lambda tokens: tokens.characters_per_token,
            ".2f",
        ),
        GroupMeasure(
            "tokens_per_word",
            "Tokens per word",
            "A word is what white space separates; scripts that are written without spaces have no figure.",
            lambda tokens: tokens.tokens_per_word,
            ".2f",
        ),
        GroupMeasure(
            "parity",
            "Parity",
            f"The number of tokens for the same content, as a multiple of that of {stats.baseline}.",
            lambda tokens: tokens.parity,
            ".2f",
            has_total=False,
        ),
        GroupMeasure(
            "unknown",
            "Unknown text, % of bytes",
            "Text that no entry covers, so decoding does not return it.",
            lambda tokens: _percent(tokens.unknown_bytes, bytes_of[tokens.name]),
            ".2f",
        ),
        GroupMeasure(
            "fallback",
            "Text in parts of characters, % of bytes",
            "Text in byte pieces, and in entries that are not whole characters.",
            lambda tokens: _percent(tokens.fallback_bytes, bytes_of[tokens.name]),
            ".2f",
        ),
        GroupMeasure(
            "used",
            "Entries in use, %",
            "The share of the vocabulary that the texts use.",
            lambda tokens: _percent(tokens.used_entries, entries_of[id(tokens)]),
            ".1f",
        ),
    ]
    all_tokens = [tokens for model in stats.models for tokens in model.groups]
    return [measure for measure in measures if any(measure.value(tokens) is not None for tokens in all_tokens)]


def tables_of(stats: Stats) -> list[Table]:
    """Returns all tables, those about texts only if there are any."""
    tables = [_models_table(stats)]
    if stats.groups:
        tables += [_groups_table(stats), *(_measure_table(stats, measure) for measure in group_measures(stats))]
    tables += [_kinds_table(stats), *_scripts_tables(stats), *_lengths_tables(stats)]
    return [*tables, _zipf_table(stats)] if stats.groups else tables


def terminal_lines(tables: Iterable[Table]) -> Iterator[str]:
    """Yields the lines of tables: numbers, aligned to the right, and then the name of the row, which is not aligned."""
    for number, table in enumerate(tables):
        if number:
            yield ""
        yield table.title
        rows = [(table.row_head, table.heads), *table.rows]
        widths = [max(map(len, column)) for column in zip(*(cells for _, cells in rows), strict=True)]
        for name, cells in rows:
            yield "  ".join([*(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)), name])


def markdown(tables: Iterable[Table]) -> str:
    """Returns tables as Markdown, each with a heading of the second level."""
    return "\n".join(line for table in tables for line in _markdown_lines(table))


def _markdown_lines(table: Table) -> Iterator[str]:
    yield f"## {table.title}\n"
    if table.about:
        yield f"{table.about}\n"
    rows = [(table.row_head, table.heads), ("---", ("---:",) * len(table.heads)), *table.rows]
    yield from (f"| {' | '.join(map(_markdown_cell, (name, *cells)))} |" for name, cells in rows)
    yield ""


def _markdown_cell(text: str) -> str:
    for character in "\\|`*_<[":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _models_table(stats: Stats) -> Table:
    heads = ("entries", "special", "duplicate", "unreachable", "never used")
    rows = (
        (model.name, (model.entries, model.special, model.duplicates, model.unreachable, model.never_used))
        for model in stats.models
    )
    return Table(
        "Vocabularies",
        "Duplicate entries have the text of an earlier entry; unreachable ones are provably never produced; no text "
        "uses those that are never used.",
        "vocabulary",
        heads,
        tuple((name, tuple(_number(cell, ",d") for cell in cells)) for name, cells in rows),
    )


def _groups_table(stats: Stats) -> Table:
    rows = []
    for group in stats.groups:
        counts = (group.texts, group.bytes, group.characters, group.words)
        script = next(iter(group.scripts), _MISSING).replace("_", " ")
        rows.append((group.name, (*(f"{count:,d}" for count in counts), script)))
    heads = ("texts", "bytes", "characters", "words", "script")
    return Table("Texts", "The script is that of the most letters.", "group", heads, tuple(rows))


def _measure_table(stats: Stats, measure: GroupMeasure) -> Table:
    has_total = measure.has_total and len(stats.groups) > 1
    names = [*(group.name for group in stats.groups), *(["total"] if has_total else [])]
    columns = [[*model.groups, *([model.total] if has_total else [])] for model in stats.models]
    rows = (
        (name, tuple(_number(measure.value(tokens), measure.form) for tokens in row))
        for name, row in zip(names, zip(*columns, strict=True), strict=True)
    )
    return Table(measure.title, measure.about, "group", _model_names(stats), tuple(rows))


def _kinds_table(stats: Stats) -> Table:
    kinds = dict.fromkeys(kind for model in stats.models for kind in model.kinds)
    rows = ((kind, tuple(f"{model.kinds.get(kind, 0):,d}" for model in stats.models)) for kind in kinds)
    return Table("Entries by kind", "", "kind", _model_names(stats), tuple(rows))


def _scripts_tables(stats: Stats) -> Iterator[Table]:
    about = (
        f"The script of the letters of an entry, by Unicode {stats.unicode}. An entry of Han characters and kana "
        "together is Han and kana."
    )
    names, shares = script_shares(stats, lambda model: model.scripts)
    yield _shares_table("Entries by script, %", about, "script", stats, names, shares)
    if stats.groups:
        names, shares = script_shares(stats, lambda model: model.total.scripts)
        yield _shares_table("Tokens by script, %", "", "script", stats, names, shares)


def script_shares(
    stats: Stats, counts_of: Callable[[ModelStats], Mapping[str, int]]
) -> tuple[list[str], list[tuple[float | None, ...]]]:
    """Returns the names of the most frequent scripts, and for each the shares of all models, in percent."""
    all_counts = [counts_of(model) for model in stats.models]
    totals = [max(sum(counts.values()), 1) for counts in all_counts]
    largest: dict[str, float] = {}
    for counts, total in zip(all_counts, totals, strict=True):
        for name, count in counts.items():
            largest[name] = max(largest.get(name, 0), count / total)
    names = sorted(largest, key=largest.__getitem__, reverse=True)
    shown, other = names[:_MAX_SCRIPTS], names[_MAX_SCRIPTS:]
    rows: list[tuple[float | None, ...]] = [
        tuple(100 * counts.get(name, 0) / total for counts, total in zip(all_counts, totals, strict=True))
        for name in shown
    ]
    if other:
        rest = [sum(counts.get(name, 0) for name in other) for counts in all_counts]
        rows.append(tuple(100 * count / total for count, total in zip(rest, totals, strict=True)))
    return [*(name.replace("_", " ") for name in shown), *([_OTHER_SCRIPTS] if other else [])], rows


def _shares_table(
    title: str, about: str, row_head: str, stats: Stats, names: list[str], shares: list[tuple[float | None, ...]]
) -> Table:
    rows = ((name, tuple(_number(share, ".2f") for share in row)) for name, row in zip(names, shares, strict=True))
    return Table(title, about, row_head, _model_names(stats), tuple(rows))


def _lengths_tables(stats: Stats) -> Iterator[Table]:
    about = "Half, 90 % and 99 % have at most this many bytes. Special tokens, which stand for no text, are left out."
    yield _lengths_table("Lengths of entries, in bytes", about, stats, [model.lengths for model in stats.models])
    if stats.groups:
        lengths = [model.token_lengths for model in stats.models]
        yield _lengths_table("Lengths of tokens, in bytes", "", stats, lengths)


def _lengths_table(title: str, about: str, stats: Stats, all_lengths: Sequence[tuple[int, ...]]) -> Table:
    rows = [("mean", tuple(_number(_mean(lengths), ".2f") for lengths in all_lengths))]
    for share, name in _QUANTILES:
        rows.append((name, tuple(_number(_quantile(lengths, share), ",d") for lengths in all_lengths)))
    rows.append(("longest", tuple(_number(_quantile(lengths, 1), ",d") for lengths in all_lengths)))
    return Table(title, about, "length", _model_names(stats), tuple(rows))


def _mean(lengths: tuple[int, ...]) -> float | None:
    total = sum(lengths[1:])
    return sum(length * count for length, count in enumerate(lengths)) / total if total else None


def _quantile(lengths: tuple[int, ...], share: float) -> int | None:
    """Returns the smallest length such that a share of all lengths above 0 is not longer."""
    total, sum_so_far = sum(lengths[1:]), 0
    for length, count in enumerate(lengths):
        sum_so_far += count if length else 0
        if total and sum_so_far >= share * total:
            return length
    return None


def _zipf_table(stats: Stats) -> Table:
    counts = [dict(model.zipf) for model in stats.models]
    ranks = [10**exponent for exponent in range(7) if any(10**exponent in ranked for ranked in counts)]
    rows = ((f"{rank:,d}", tuple(_number(ranked.get(rank), ",d") for ranked in counts)) for rank in ranks)
    about = "How often the entry is used that is the 1st, 10th, 100th, ... in the order of use."
    return Table("Uses of an entry by its rank", about, "rank", _model_names(stats), tuple(rows))


def _model_names(stats: Stats) -> tuple[str, ...]:
    return tuple(model.name for model in stats.models)


def _percent(number: int, total: int) -> float | None:
    return 100 * number / total if total else None


def _number(value: float | None, form: str) -> str:
    return _MISSING if value is None else format(value, form)
