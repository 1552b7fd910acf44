"""Formats examples in docstrings as code blocks on the site, and shows the fields of data classes.

mkdocs.yml names this file as an extension of griffe, which reads the sources for the site.
"""

from __future__ import annotations

from typing import Any

import griffe


class Examples(griffe.Extension):
    """Adds fences around the examples of every docstring, and marks data classes."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = fence_examples(obj.docstring.value)

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:
        # griffe knows only the decorator of the module dataclasses.
        for decorator in cls.decorators:
            if decorator.callable_path == "polytok.records.dataclass" and isinstance(decorator.value, griffe.ExprCall):
                decorator.value.function = griffe.ExprName("dataclass", griffe.ExprName("dataclasses"))


def fence_examples(text: str) -> str:
    """Returns a docstring with fences around its examples. An example ends at an empty line, as in doctest."""
    lines: list[str] = []
    is_example = False
    for line in [*text.splitlines(), ""]:
        if line.startswith(">>>") and not is_example:
            is_example = True
            lines.append("```pycon")
        if not line and is_example:
            is_example = False
            lines.append("```")
        lines.append(line)
    return "\n".join(lines)
