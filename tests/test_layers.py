"""Tests scripts/layers.py, which compares imports with the tables in ARCHITECTURE.md."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from scripts import layers

MODULES = {
    "high.py": "from . import low\nfrom .inner.deep import thing\n",
    "low.py": "import package.inner\n",
    "inner/__init__.py": "",
    "inner/deep.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..high import thing\n",
    "__init__.py": "from .high import thing\n",
    "_stub.pyi": "from .low import thing\n",
    "page.pyx": "not Python",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> layers.ModuleTable:
    monkeypatch.setattr(layers, "ROOT", tmp_path)
    for name, text in MODULES.items():
        file = tmp_path / "package" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return layers.ModuleTable("## Modules", tmp_path / "package", layers.python_imports)


def test_imports_of_a_package(package: layers.ModuleTable) -> None:
    imports = {
        (module_import.module, module_import.imported_module) for module_import in package.imports(package.folder)
    }
    assert imports == {
        *(("high", "low"), ("high", "inner"), ("low", "inner"), ("inner", "high")),
        *(("package", "high"), ("_stub", "low")),
    }


def test_an_import_of_a_module_that_is_listed_above(package: layers.ModuleTable) -> None:
    listed_modules = ["package", "high", "_stub", "low", "inner"]
    (message,) = layers.find_differences(package, listed_modules)
    assert message == "package/inner/deep.py:3: inner imports high, which is listed above it"
    assert len(list(layers.find_differences(package, ["inner", *listed_modules[:-1]]))) == 2


def test_missing_modules(package: layers.ModuleTable) -> None:
    complaints = list(layers.find_differences(package, ["package", "high", "_stub", "low", "low", "attic"]))
    assert complaints[:3] == [
        "ARCHITECTURE.md lists package/attic, which is missing",
        "ARCHITECTURE.md lists package/inner 0 times: list it once, above all modules that it imports",
        "ARCHITECTURE.md lists package/low 2 times: list it once, above all modules that it imports",
    ]


RUST = {
    "lib.rs": "pub mod a; pub mod b; use crate::a::A;",
    "a.rs": "use crate::b::{self, Two};\n// use crate::d;\nuse super::c::{One, deep::Two};\n",
    "b/mod.rs": 'use super::{c, d::{One, Two}};\nmod inner;\nconst TEXT: &str = "crate::a";\n',
    "b/inner.rs": "use super::own;\nuse super::super::d;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
    "b/tests.rs": "use crate::a;\n",
    "c.rs": "struct C {\n    #[cfg(test)]\n    a: crate::a::A,\n    d: crate::d::D,\n}\n",
    "d.rs": "macro_rules! m { () => { $crate::a::A } }\nfn f<'a>(c: char) { let _ = ('{', crate::b::own); }\n",
}


def test_imports_of_rust_modules(tmp_path: Path) -> None:
    for name, text in RUST.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    imports = [
        (module_import.module, module_import.imported_module, module_import.line)
        for module_import in layers.rust_imports(tmp_path)
    ]
    assert imports == [
        *(("a", "b", 1), ("a", "c", 3), ("b", "d", 2), ("b", "c", 1), ("b", "d", 1)),
        *(("c", "d", 4), ("d", "b", 2)),
    ]
    assert layers.find_modules(tmp_path) == {"a", "b", "c", "d"}


def test_a_missing_heading() -> None:
    with pytest.raises(SystemExit, match="no heading '## Modules'"):
        layers.listed_modules_of("## Other\n", "## Modules")


def test_the_code_agrees_with_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    code = layers.main()
    assert (code, capsys.readouterr().out) == (0, "")


def test_the_examples_in_docstrings() -> None:
    assert doctest.testmod(layers).failed == 0
