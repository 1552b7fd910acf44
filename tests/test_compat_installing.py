"""Tests polytok.compat.install: faces take the place of packages, and give it back; children have them too."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import polytok
from polytok import compat
from polytok.compat import installing
from polytok.errors import ArgumentError


@pytest.fixture(autouse=True)
def _only_these_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Starts a test without the original in sys.modules, and puts everything back."""
    for name in [name for name in sys.modules if name == "tiktoken" or name.startswith(("tiktoken.", "tiktoken_ext"))]:
        monkeypatch.delitem(sys.modules, name)
    yield
    compat.uninstall()


def run(code: str, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments] if arguments else [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_a_face_takes_the_place_of_a_package_and_gives_it_back() -> None:
    meta_path, modules = list(sys.meta_path), set(sys.modules)
    compat.install("tiktoken")
    import tiktoken
    import tiktoken.load
    from tiktoken_ext import openai_public

    assert tiktoken.__name__ == "polytok.compat.tiktoken"
    assert tiktoken.load is sys.modules["polytok.compat.tiktoken.load"]
    assert openai_public is sys.modules["polytok.compat.tiktoken.openai_public"]
    assert tiktoken.Encoding.__module__ == "tiktoken.core"
    compat.uninstall("tiktoken")
    assert tiktoken.Encoding.__module__ == "polytok.compat.tiktoken.core"
    assert sys.meta_path == meta_path
    assert not {name for name in set(sys.modules) - modules if name.startswith(("tiktoken.", "tiktoken_ext."))}
    import tiktoken as original

    assert original is not tiktoken


def test_originals_come_back_as_they_were() -> None:
    import tiktoken
    import tiktoken.load
    import tiktoken_ext
    import tiktoken_ext.openai_public

    load, openai_public = tiktoken.load, tiktoken_ext.openai_public
    with warnings.catch_warnings(), compat.installed("tiktoken"):
        warnings.simplefilter("ignore")
        assert sys.modules["tiktoken"] is not tiktoken
        assert sys.modules["tiktoken.load"] is not load
        assert tiktoken_ext.openai_public is sys.modules["tiktoken_ext.openai_public"] is not openai_public
    assert sys.modules["tiktoken"] is tiktoken
    assert sys.modules["tiktoken.load"] is load
    assert tiktoken_ext.openai_public is sys.modules["tiktoken_ext.openai_public"] is openai_public


def test_a_warning_names_the_modules_that_keep_the_original(monkeypatch: pytest.MonkeyPatch) -> None:
    import tiktoken

    program = ModuleType("a_program_that_imports_tiktoken")
    monkeypatch.setattr(program, "get_encoding", tiktoken.get_encoding, raising=False)
    monkeypatch.setitem(sys.modules, program.__name__, program)
    with pytest.warns(
        compat.FaceWarning, match=r"still used by .*; call polytok\.compat\.install\('tiktoken'\) before"
    ):
        compat.install("tiktoken")


def test_blocks_can_be_nested_and_run_in_threads() -> None:
    def in_place() -> bool:
        return getattr(sys.modules.get("tiktoken"), "__name__", "") == "polytok.compat.tiktoken"

    seen = []

    def work() -> None:
        for _ in range(20):
            with compat.installed("tiktoken"):
                seen.append(in_place())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(seen) and len(seen) == 160 and not in_place()
    with compat.installed("tiktoken"):
        with compat.installed("tiktoken"):
            pass
        compat.uninstall("tiktoken")
        assert in_place()
    assert not in_place()
    compat.install("tiktoken")
    with compat.installed("tiktoken"):
        pass
    assert in_place()


def test_an_unknown_package_is_refused_and_nothing_is_put_in() -> None:
    with pytest.raises(ArgumentError, match="did you mean 'tiktoken'"):
        compat.install("tiktoken", "tiktokn")
    with pytest.raises(ArgumentError, match="no package is named"):
        compat.install()
    assert "tiktoken" not in sys.modules and not installing._installed


def test_importlib_answers_for_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [path for path in sys.path if not (Path(path) / "tiktoken").is_dir() or (Path(path) / "polytok").is_dir()]
    importlib.invalidate_caches()
    monkeypatch.setattr(sys, "path", paths)
    assert importlib.util.find_spec("tiktoken") is None
    with compat.installed("tiktoken"):
        assert importlib.metadata.version("tiktoken") == "0.14.0"
        assert importlib.util.find_spec("tiktoken") is not None
        assert importlib.util.find_spec("tiktoken.load") is not None
        from tiktoken_ext.openai_public import ENCODING_CONSTRUCTORS

        assert "gpt2" in ENCODING_CONSTRUCTORS
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("tiktoken")


def test_a_submodule_is_never_loaded_twice() -> None:
    compat.install("tiktoken")
    assert importlib.import_module("tiktoken.openai_public") is sys.modules["polytok.compat.tiktoken.openai_public"]
    assert sys.modules["polytok.compat.tiktoken.openai_public"].__spec__.name.startswith("polytok")  # type: ignore[union-attr]
    with pytest.raises(ModuleNotFoundError, match=r"tiktoken\.missing"):
        importlib.import_module("tiktoken.missing")


PROGRAM = """
import multiprocessing, sys
import tiktoken

def name():
    import tiktoken
    return tiktoken.__name__

def put_name(queue):
    queue.put(tiktoken.__name__ if tiktoken is sys.modules["tiktoken"] else "another module")

if __name__ == "__main__":
    print(name(), sys.argv[1:])
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=put_name, args=(queue,), name="ignore")  # the fork server uses this name, too
        process.start()
        print(method, queue.get(timeout=300))
        process.join()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot fork")
def test_the_runner_reaches_all_children_of_multiprocessing(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    result = run("", "-m", "polytok.compat", "tiktoken", "--", "program.py", "-x", "1", folder=tmp_path)
    face = "polytok.compat.tiktoken"
    expected = [f"{face} ['-x', '1']", *(f"{method} {face}" for method in ("fork", "spawn", "forkserver"))]
    assert result.stdout.splitlines() == expected, result.stderr


def test_the_runner_runs_modules_and_code(tmp_path: Path) -> None:
    code = "import sys, tiktoken; print(tiktoken.__name__, __name__, sys.argv)"
    (tmp_path / "a_module.py").write_text(code)
    runner = ("-m", "polytok.compat", "tiktoken", "--")
    result = run("", *runner, "-c", code, "a", folder=tmp_path)
    assert result.stdout == "polytok.compat.tiktoken __main__ ['-c', 'a']\n", result.stderr
    result = run("", *runner, "-m", "a_module", "a", folder=tmp_path)
    assert result.stdout == f"polytok.compat.tiktoken __main__ ['{tmp_path / 'a_module.py'}', 'a']\n", result.stderr


@pytest.mark.parametrize("arguments", [[], ["tiktoken"], ["tiktoken", "--", "-m"], ["tiktokn", "--", "-c", "1"]])
def test_a_wrong_command_line_ends_with_code_2(arguments: list[str]) -> None:
    from polytok.compat.__main__ import main

    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2


def test_nothing_is_imported_before_it_is_used() -> None:
    result = run(
        "import sys, polytok.compat; print([name for name in sys.modules if 'tiktoken' in name or 'multipro' in name])"
    )
    assert result.stdout == "[]\n", result.stderr
    assert polytok.compat.installing is installing


def test_names_are_packages_whose_face_can_be_put_in() -> None:
    for name in installing.names():
        assert hasattr(import_module(f"polytok.compat.{name}"), "__polytok_face__")
    for name in ("llama_cpp", "vllm"):
        with pytest.raises(ArgumentError, match="no face that is put in"):
            compat.install(name)
