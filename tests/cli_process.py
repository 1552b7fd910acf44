"""Runs the command in a process of its own: cold, as users start it, or warm, as most tests do."""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
import sys
from pathlib import Path

import polytok

TEXT = "Der Hund läuft.\nThe dog runs, and 日本 too.\n\nlast  line \u2581 <s> ends"
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
ENVIRONMENT["PYTHONPATH"] = os.pathsep.join([str(Path(polytok.__file__).parents[1]), *sys.path[1:]])


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "polytok", *map(str, arguments)]


@functools.cache
def _server() -> tuple[str, subprocess.Popen[bytes]]:
    """Starts the server that ends with this process, and returns the path of its socket, and its process."""
    program = Path(__file__).with_name("warm_server.py")
    server = subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert server.stdout
    return server.stdout.readline().decode().strip(), server


def warm_command(*arguments: str | Path) -> list[str]:
    """Returns the command for a process that starts with all modules imported, if the system can fork."""
    if os.name != "posix":
        return command(*arguments)
    client = Path(__file__).with_name("warm_client.py")
    return [sys.executable, "-S", "-I", str(client), _server()[0], *map(str, arguments)]


def write_tool(path: Path) -> None:
    """Writes a program ``polytok`` for a shell, which runs the command warm."""
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {shlex.join(warm_command())} "$@"\n')
    path.chmod(0o755)


def run(*arguments: str | Path, stdin: bytes = b"", code: int = 0, **environment: str) -> bytes:
    """Runs the command and returns its output; checks the exit code and, if it is 0, that standard error is empty.

    With variables of the environment it starts cold, because they can concern the interpreter.
    """
    create_command = command if environment else warm_command
    process = subprocess.run(
        create_command(*arguments), input=stdin, capture_output=True, env={**ENVIRONMENT, **environment}, timeout=60
    )
    assert process.returncode == code, process.stderr.decode()
    assert b"Traceback" not in process.stderr
    assert process.stderr == b"" or code != 0
    return process.stdout


def error_of(*arguments: str | Path, stdin: bytes = b"", code: int = 2) -> str:
    process = subprocess.run(warm_command(*arguments), input=stdin, capture_output=True, env=ENVIRONMENT, timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in process.stderr
    return process.stderr.decode()
