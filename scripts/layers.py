"""Compares the imports of the package's and the engine's modules with the tables in ARCHITECTURE.md.

A module is here a file or folder directly below python/polytok or crates/polytok-core/src. The first column of a table
lists all modules from top to bottom. A module can import only modules that are listed below it, so no two modules
import each other. Imports for type checkers count; imports in Rust tests do not.

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


class ModuleImport(NamedTuple):
    """An import of one module by another module, with the file and line of the import."""

    module: str
    imported_module: str
    file: Path
    line: int


@dataclass(frozen=True)
class ModuleTable:
    """The heading of a table, the folder of the listed modules, and the function that finds their imports."""

    heading: str
    folder: Path
    imports: Callable[[Path], Iterator[ModuleImport]]


def main() -> int:
    """Prints the differences between the code and the tables. Returns the exit code, which is 1 if there are
    differences."""
    text = TABLES.read_text(encoding="utf-8")
    messages = [
        message
        for module_table in MODULE_TABLES
        for message in find_differences(module_table, listed_modules_of(text, module_table.heading))
    ]
    print(*messages, sep="\n", end="\n" if messages else "")
    return int(bool(messages))


def listed_modules_of(text: str, heading: str) -> list[str]:
    """Returns the modules that the first table after a heading lists, from top to bottom.

    >>> text = "## A\\n\\n| module | contents |\\n|---|---|\\n| `a`, `b` | x |\\n| `c` | y |\\n\\n| `d` | z |"
    >>> listed_modules_of(text, "## A")
    ['a', 'b', 'c']
    """
    _, matched_heading, remaining_text = text.partition(f"{heading}\n")
    if not matched_heading:
        raise SystemExit(f"{TABLES.name} has no heading {heading!r}")
    rows = re.search(r"(?:^\|.*\n?)+", remaining_text, re.MULTILINE)
    cells = [row.split("|")[1] for row in rows[0].splitlines()] if rows else []
    return [module for cell in cells for module in re.findall(r"`(\w+)`", cell)]


def find_differences(module_table: ModuleTable, listed_modules: Sequence[str]) -> Iterator[str]:
    """Yields the differences between the modules of a folder and the modules that the table lists."""
    imports = sorted(set(module_table.imports(module_table.folder)))
    modules = find_modules(module_table.folder)
    for module in sorted({*modules, *listed_modules}):
        path, count = (module_table.folder / module).relative_to(ROOT).as_posix(), listed_modules.count(module)
        if module not in modules:
            yield f"{TABLES.name} lists {path}, which is missing"
        elif count != 1:
            yield f"{TABLES.name} lists {path} {count} times: list it once, above all modules that it imports"
    yield from upward_imports(imports, {module: position for position, module in enumerate(listed_modules)})


def upward_imports(imports: Sequence[ModuleImport], positions: Mapping[str, int]) -> Iterator[str]:
    """Yields a message for each import of a module that is listed above the importing module.

    >>> imports = [ModuleImport("b", "a", ROOT / "b.py", 3), ModuleImport("a", "b", ROOT / "a.py", 1)]
    >>> list(upward_imports(imports, {"a": 0, "b": 1}))
    ['b.py:3: b imports a, which is listed above it']
    """
    for module, imported_module, file, line in imports:
        if module != imported_module and positions.get(imported_module, len(positions)) < positions.get(module, 0):
            yield f"{file.relative_to(ROOT)}:{line}: {module} imports {imported_module}, which is listed above it"


def find_modules(folder: Path) -> set[str]:
    """Returns the names of the modules in a folder."""
    sources = (path for path in folder.rglob("*") if path.suffix in (".py", ".pyi", ".rs"))
    return {module_of(folder, path) for path in sources} - {"lib"}


def module_of(folder: Path, file: Path) -> str:
    """Returns the module that contains a file. The package's ``__init__.py`` is a module with the name of the
    package."""
    top_level_name = Path(file.relative_to(folder).parts[0]).stem
    return folder.name if top_level_name == "__init__" else top_level_name


def python_imports(package: Path) -> Iterator[ModuleImport]:
    """Yields the imports between the modules of a package."""
    known_modules = find_modules(package)
    for file in sorted(package.rglob("*.py*")):
        if file.suffix not in (".py", ".pyi"):
            continue
        package_path = [package.name, *file.relative_to(package).parent.parts]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for name in _imported_names(node, package_path):
                if name[0] == package.name:
                    imported_module = name[1] if len(name) > 1 and name[1] in known_modules else package.name
                    yield ModuleImport(module_of(package, file), imported_module, file, node.lineno)  # type: ignore[attr-defined]


def _imported_names(node: ast.AST, package_path: Sequence[str]) -> Iterator[list[str]]:
    """Yields the full name of each module or attribute that a statement in a package imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name.split(".") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = list(package_path[: len(package_path) - node.level + 1]) if node.level else []
        base += node.module.split(".") if node.module else []
        yield from ([*base, alias.name] for alias in node.names)


def rust_imports(source: Path) -> Iterator[ModuleImport]:
    """Yields the imports between the modules of a crate. The root of the crate, lib.rs, is not a module here."""
    for file in sorted(source.rglob("*.rs")):
        module_path = [part for part in file.relative_to(source).with_suffix("").parts if part != "mod"]
        if module_path == ["lib"] or "tests" in module_path:
            continue
        text = remove_tests(file.read_text(encoding="utf-8"))
        for match in _PATH_FROM_ROOT.finditer(text):
            if match[0] == "crate::" or match[0].count("super") == len(module_path):
                for name in _first_names(text[match.end() :]):
                    yield ModuleImport(module_of(source, file), name, file, text.count("\n", 0, match.start()) + 1)


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
    """Returns the end of the item or field that starts at ``start``, which is after its semicolon, comma or closing
    brace."""
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


MODULE_TABLES = (
    ModuleTable("## Layers", ROOT / "python" / "polytok", python_imports),
    ModuleTable(
        "## The engine's modules (crates/polytok-core/src)", ROOT / "crates" / "polytok-core" / "src", rust_imports
    ),
)

if __name__ == "__main__":
    sys.exit(main())
