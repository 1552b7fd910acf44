"""Runs an unchanged program with faces: ``python -m polytok.compat tiktoken,tokenizers -- script.py args``."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from ..errors import ArgumentError
from .installing import install

USAGE = """\
usage: python -m polytok.compat PACKAGE[,PACKAGE]... -- script.py [argument]...
       python -m polytok.compat PACKAGE[,PACKAGE]... -- -m module [argument]...
       python -m polytok.compat PACKAGE[,PACKAGE]... -- -c code [argument]...

Runs a Python program in which polytok takes the place of the packages, as after polytok.compat.install."""


def main(arguments: Sequence[str]) -> None:
    """Puts the faces in and runs the program as ``__main__``; a wrong command line ends with exit code 2."""
    if list(arguments) in (["-h"], ["--help"]):
        print(USAGE)
        return
    packages, *program = arguments or [""]
    if program[:1] == ["--"]:
        del program[0]
    takes_value = program[:1] in (["-m"], ["-c"])
    if not packages or packages.startswith("-") or len(program) < 1 + takes_value:
        _fail(USAGE)
    try:
        install(*packages.split(","))
    except ArgumentError as error:
        _fail(f"python -m polytok.compat: error: {error}")
    if takes_value:
        sys.argv[:] = [program[0], *program[2:]]
        (_run_module if program[0] == "-m" else _run_code)(program[1])
    else:
        sys.argv[:] = program
        _run_script(program[0])


def _fail(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2)


def _run_module(name: str) -> None:
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _run_code(code: str) -> None:
    sys.path[0] = ""
    exec(compile(code, "<string>", "exec"), _new_main().__dict__)


def _run_script(path: str) -> None:
    """Runs a file as Python does: its folder is the first place in which modules are searched."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        _fail(f"python -m polytok.compat: error: {path}: {error.strerror}")
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    module = _new_main()
    module.__file__ = path
    exec(compile(source, path, "exec"), module.__dict__)


def _new_main() -> ModuleType:
    """Returns an empty ``__main__``, which multiprocessing finds as that of the program."""
    module = ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    return module


if __name__ == "__main__":
    main(sys.argv[1:])
