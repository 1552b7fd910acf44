"""`Stats` as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from . import svg
from .data import Stats
from .plots import plots_of
from .tables import Table, tables_of

_STYLE = """\
:root { color-scheme: light dark; --text: #1a1a1a; --page: #ffffff; --line: #c8c8c8; --head: #f2f2f2; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8e8; --page: #161616; --line: #484848; --head: #242424; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 2rem auto;
  max-width: 60rem; padding: 0 1rem; }
h1, h2 { line-height: 1.2; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.75rem; text-align: right; white-space: nowrap; }
th { background: var(--head); font-weight: 600; }
tbody th, thead th:first-child { text-align: left; }
nav ul { columns: 16rem; }
a { color: inherit; }
a:focus-visible, .scroll:focus-visible { outline: 3px solid #0072b2; outline-offset: 2px; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html_report(stats: Stats) -> str:
    """Returns a page with all plots and tables. It loads nothing, and needs no JavaScript."""
    names = ", ".join(model.name for model in stats.models)
    tables = tables_of(stats)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Vocabularies: {escape(names)}</title>",
        f"<style>\n{_STYLE}{svg.STYLE}</style>",
        "</head>",
        "<body>",
        "<main>",
        "<h1>Vocabularies side by side</h1>",
        f"<p>{escape(_summary(stats))}</p>",
        *_contents(tables),
        *_sections(stats, tables),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _summary(stats: Stats) -> str:
    texts = sum(group.texts for group in stats.groups)
    size = sum(group.bytes for group in stats.groups)
    models = f"{len(stats.models)} {'vocabulary' if len(stats.models) == 1 else 'vocabularies'}"
    if not stats.groups:
        return f"{models}, without texts."
    groups = f"{len(stats.groups)} {'group' if len(stats.groups) == 1 else 'groups'}"
    return f"{models} on {texts:,} {'text' if texts == 1 else 'texts'} in {groups}, {size:,} bytes together."


def _contents(tables: list[Table]) -> Iterator[str]:
    yield '<nav aria-label="Contents"><ul>'
    yield from (f'<li><a href="#{_anchor(table)}">{escape(table.title)}</a></li>' for table in tables)
    yield "</ul></nav>"


def _sections(stats: Stats, tables: list[Table]) -> Iterator[str]:
    plot_of_title = {plot.title: plot for plot in plots_of(stats)}
    for table in tables:
        anchor = _anchor(table)
        yield f'<section aria-labelledby="{anchor}">'
        yield f'<h2 id="{anchor}">{escape(table.title)}</h2>'
        if table.about:
            yield f"<p>{escape(table.about)}</p>"
        if plot := plot_of_title.get(table.title):
            yield svg.draw(plot)
        yield from _table_lines(table)
        yield "</section>"


def _table_lines(table: Table) -> Iterator[str]:
    # A table that is wider than the page scrolls, also by the keyboard.
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}"><table>'
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in (table.row_head, *table.heads))
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for name, cells in table.rows:
        yield f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
    yield "</tbody></table></div>"


def _anchor(table: Table) -> str:
    return "".join(character if character.isalnum() else "-" for character in table.title.lower()).strip("-")
