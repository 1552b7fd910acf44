"""Replaces a section between markers in docs/default-vocabulary.md."""

from __future__ import annotations

from pathlib import Path

DOC = Path(__file__).resolve().parent.parent / "docs" / "default-vocabulary.md"


def write_section(name: str, content: str) -> None:
    """Replaces the section between the markers with this name. Exits if a marker is missing."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    head, found_begin, remaining_text = DOC.read_text(encoding="utf-8").partition(begin)
    _, found_end, tail = remaining_text.partition(end)
    if not (found_begin and found_end):
        raise SystemExit(f"{DOC.name} lacks the markers {begin.strip()!r} and {end!r}: add both")
    DOC.write_text(f"{head}{begin}\n{content}\n\n{end}{tail}", encoding="utf-8")
