"""Compares the imports of the package's and the engine's modules with the tables in ARCHITECTURE.md.

A room is a module or folder directly below python/polytok or crates/polytok-core/src. The first column of a table lists
all rooms from top to bottom. A room can import only rooms that are listed after it, so no two rooms import each other.
Imports for type checkers are included; imports of Rust tests are not.

    python scripts/layers.py
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "ARCHITECTURE.md"


class Arrow(NamedTuple):
    """An import of a room by another room, with its file and line."""

    room: str
    other: str
    file: Path
    line: int


@dataclass(frozen=True)
class House:
    """The heading of a table, the folder of its rooms, and the function that finds the imports of the rooms."""

    heading: str
    folder: Path
    arrows: Callable[[Path], Iterator[Arrow]]


def main() -> int:
    """Prints the differences from the tables. Returns exit code 1 if there are differences, else 0."""
    text = TABLES.read_text(encoding="utf-8")
    messages = [message for house in HOUSES for message in check(house, table(text, house.heading))]
    print(*messages, sep="\n", end="\n" if messages else "")
    return int(bool(messages))


def table(text: str, heading: str) -> list[str]:
    """Returns the rooms of the first table after a heading, in order.

    >>> table("## A\\n\\n| room | what |\\n|---|---|\\n| `a`, `b` | x |\\n| `c` | y |\\n\\n| `d` | z |", "## A")
    ['a', 'b', 'c']
    """
    _, found_heading, remaining_text = text.partition(f"{heading}\n")
    if not found_heading:
        raise SystemExit(f"{TABLES.name} has no heading {heading!r}")
    rows = re.search(r"(?:^\|.*\n?)+", remaining_text, re.MULTILINE)
    cells = [row.split("|")[1] for row in rows[0].splitlines()] if rows else []
    return [room for cell in cells for room in re.findall(r"`(\w+)`", cell)]


def check(house: House, listed_rooms: Sequence[str]) -> Iterator[str]:
    """Yields the differences between the rooms of a folder and the list of rooms in its table."""
    arrows = sorted(set(house.arrows(house.folder)))
    rooms = rooms_of(house.folder)
    for room in sorted({*rooms, *listed_rooms}):
        path, times = (house.folder / room).relative_to(ROOT).as_posix(), listed_rooms.count(room)
        if room not in rooms:
            yield f"{TABLES.name} lists {path}, which is missing"
        elif times != 1:
            yield f"{TABLES.name} lists {path} {times} times: list it once, above all rooms that it imports"
    yield from upward_imports(arrows, {room: place for place, room in enumerate(listed_rooms)})


def upward_imports(arrows: Sequence[Arrow], places: Mapping[str, int]) -> Iterator[str]:
    """Yields a message for each import of a room that is listed above the importing room.

    >>> list(upward_imports([Arrow("b", "a", ROOT / "b.py", 3), Arrow("a", "b", ROOT / "a.py", 1)], {"a": 0, "b": 1}))
    ['b.py:3: b imports a, which is listed above it']
    """
    for room, other_room, file, line in arrows:
        if room != other_room and places.get(other_room, len(places)) < places.get(room, 0):
            yield f"{file.relative_to(ROOT)}:{line}: {room} imports {other_room}, which is listed above it"


def rooms_of(folder: Path) -> set[str]:
    """Returns the names of the modules and folders of modules in a folder."""
    sources = (path for path in folder.rglob("*") if path.suffix in (".py", ".pyi", ".rs"))
    return {room_of(folder, path) for path in sources} - {"lib"}


def room_of(folder: Path, file: Path) -> str:
    """Returns the room of a file. The package's ``__init__.py`` is a room with the name of the package."""
    first_name = Path(file.relative_to(folder).parts[0]).stem
    return folder.name if first_name == "__init__" else first_name


def python_arrows(package: Path) -> Iterator[Arrow]:
    """Yields the imports between the modules of a package."""
    known_rooms = rooms_of(package)
    for file in sorted(package.rglob("*.py*")):
        if file.suffix not in (".py", ".pyi"):
            continue
        package_path = [package.name, *file.relative_to(package).parent.parts]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for name in _imported(node, package_path):
                if name[0] == package.name:
                    other_room = name[1] if len(name) > 1 and name[1] in known_rooms else package.name
                    yield Arrow(room_of(package, file), other_room, file, node.lineno)  # type: ignore[attr-defined]


def _imported(node: ast.AST, package_path: Sequence[str]) -> Iterator[list[str]]:
    """Yields the full names that a statement in a package imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name.split(".") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = list(package_path[: len(package_path) - node.level + 1]) if node.level else []
        base += node.module.split(".") if node.module else []
        yield from ([*base, alias.name] for alias in node.names)


def rust_arrows(source: Path) -> Iterator[Arrow]:
    """Yields the imports between the modules of a crate. The crate's root lib.rs is not a room."""
    for file in sorted(source.rglob("*.rs")):
        module_path = [part for part in file.relative_to(source).with_suffix("").parts if part != "mod"]
        if module_path == ["lib"] or "tests" in module_path:
            continue
        text = remove_tests(file.read_text(encoding="utf-8"))
        for match in _PATH_FROM_ROOT.finditer(text):
            if match[0] == "crate::" or match[0].count("super") == len(module_path):
                for name in _first_names(text[match.end() :]):
                    yield Arrow(room_of(source, file), name, file, text.count("\n", 0, match.start()) + 1)


_PATH_FROM_ROOT = re.compile(r"(?<![\w:$])(?:crate::|(?:super::)+)")
_CFG_TEST = "#[cfg(test)]"
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_COMMENT_OR_STRING = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\[^']+|[^'\\\n])'""", re.DOTALL
)


def remove_tests(text: str) -> str:
    """Returns Rust code without comments, strings and test code. Line numbers do not change.

    >>> remove_tests('use a; // b\\n#[cfg(test)]\\nmod tests {\\n    use c;\\n}\\nuse d;').split()
    ['use', 'a;', 'use', 'd;']
    """
    text = _COMMENT_OR_STRING.sub(lambda match: "\n" * match[0].count("\n"), text)
    while (start := text.find(_CFG_TEST)) >= 0:
        end = _end_of_item(text, start + len(_CFG_TEST))
        text = text[:start] + "\n" * text.count("\n", start, end) + text[end:]
    return text


def _end_of_item(text: str, start: int) -> int:
    """Returns the end of the item or field that starts at ``start``: after a semicolon, comma or closing brace."""
    depth = 0
    for match in re.compile(r"[](){}[;,]").finditer(text, start):
        depth += _BRACKETS.get(match[0], 0)
        if depth == 0 and match[0] in "};,":
            return match.end()
    return len(text)


def _first_names(remaining_text: str) -> list[str]:
    """Returns the first name of a path, or of each path in braces.

    >>> _first_names("model::{Bpe, Word};"), _first_names("{error::{Error, Result}, trie, utf8::*};")
    (['model'], ['error', 'trie', 'utf8'])
    """
    if not remaining_text.startswith("{"):
        return re.findall(r"\A\w+", remaining_text)
    inner_text = remaining_text[1 : _end_of_item(remaining_text, 0) - 1]
    while (flat := re.sub(r"\{[^{}]*\}", "", inner_text)) != inner_text:
        inner_text = flat
    return re.findall(r"(?:^|,)\s*(\w+)", inner_text)


HOUSES = (
    House("## Layers, arrows go down only", ROOT / "python" / "polytok", python_arrows),
    House("## The engine's rooms (crates/polytok-core/src)", ROOT / "crates" / "polytok-core" / "src", rust_arrows),
)

if __name__ == "__main__":
    sys.exit(main())
