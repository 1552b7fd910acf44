"""Rewrite one section of docs/default-vocabulary.md: what stands between its markers."""

from __future__ import annotations

from pathlib import Path

DOC = Path(__file__).resolve().parent.parent / "docs" / "default-vocabulary.md"


def write_section(name: str, content: str) -> None:
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, found_begin, rest = DOC.read_text(encoding="utf-8").partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        raise SystemExit(f"{DOC.name}: no section between {begin.strip()!r} and {end!r}; put both markers back")
    DOC.write_text(f"{before}{begin}\n{content}\n\n{end}{after}", encoding="utf-8")
