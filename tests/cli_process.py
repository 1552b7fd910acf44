"""Runs the command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polytok

TEXT = "Der Hund läuft.\nThe dog runs, and 日本 too.\n\nlast  line \u2581 <s> ends"
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
ENVIRONMENT["PYTHONPATH"] = os.pathsep.join([str(Path(polytok.__file__).parents[1]), *sys.path[1:]])


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "polytok", *map(str, arguments)]


def run(*arguments: str | Path, stdin: bytes = b"", code: int = 0, **environment: str) -> bytes:
    """Runs the command and returns its output; checks the exit code and, if it is 0, that standard error is empty."""
    process = subprocess.run(
        command(*arguments), input=stdin, capture_output=True, env={**ENVIRONMENT, **environment}, timeout=60
    )
    assert process.returncode == code, process.stderr.decode()
    assert b"Traceback" not in process.stderr
    assert process.stderr == b"" or code != 0
    return process.stdout


def error_of(*arguments: str | Path, stdin: bytes = b"", code: int = 2) -> str:
    process = subprocess.run(command(*arguments), input=stdin, capture_output=True, env=ENVIRONMENT, timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in process.stderr
    return process.stderr.decode()
