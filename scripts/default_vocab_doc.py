"""Replaces a section between markers in docs/default-vocabulary.md."""

from __future__ import annotations

from pathlib import Path

DOC_PATH = Path(__file__).resolve().parent.parent / "docs" / "default-vocabulary.md"


def write_section(name: str, content: str) -> None:
    """Replaces the section between the begin and end markers of ``name``. Exits if a marker is missing."""
    begin_marker, end_marker = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    text_before, matched_begin, remaining_text = DOC_PATH.read_text(encoding="utf-8").partition(begin_marker)
    _, matched_end, text_after = remaining_text.partition(end_marker)
    if not (matched_begin and matched_end):
        raise SystemExit(f"{DOC_PATH.name} lacks the markers {begin_marker.strip()!r} and {end_marker!r}: add both")
    DOC_PATH.write_text(f"{text_before}{begin_marker}\n{content}\n\n{end_marker}{text_after}", encoding="utf-8")
