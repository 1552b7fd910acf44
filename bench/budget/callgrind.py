"""Counts the instructions of a part of a Python program with callgrind.

The program starts and stops counting with client requests to valgrind (valgrind.h). A client request is a sequence of
instructions with the address of a structure in a register. A processor executes the sequence without effect, and
valgrind recognizes it. Python cannot execute such instructions directly, so they are written to a page of memory that
is called as a function. callgrind counts only between the requests; the rest of the program runs ten times as fast.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_MACHINE_CODE = bytes.fromhex(
    "48 89 f8"  # mov rax, rdi: the request and its arguments
    "31 d2"  # xor edx, edx: the answer without valgrind
    "48 c1 c7 03  48 c1 c7 0d  48 c1 c7 3d  48 c1 c7 33"  # rol rdi by 3, 13, 61, 51: valgrind's mark
    "48 87 db"  # xchg rbx, rbx: a request
    "48 89 d0  c3"  # mov rax, rdx; ret: the answer
)
_RUNNING_ON_VALGRIND = 0x1001
_TOOL_BASE = ord("C") << 24 | ord("T") << 16
_DUMP_AT, _START, _STOP = _TOOL_BASE + 3, _TOOL_BASE + 4, _TOOL_BASE + 5
_REQUEST_WORDS = 6

_TITLE_LINE = re.compile(r"^desc: Trigger: Client Request: (.+)$", re.MULTILINE)
_TOTAL_LINE = re.compile(r"^totals: (\d+)$", re.MULTILINE)


class Requests:
    """Sends client requests from the counted program to callgrind."""

    def __init__(self) -> None:
        """Prepares the instructions. Raises `OSError` if the program does not run under valgrind on x86-64."""
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(_MACHINE_CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        self._page = page
        self._call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)
        if os.uname().machine != "x86_64" or not self._request(_RUNNING_ON_VALGRIND):
            raise OSError("not running under valgrind on x86-64")

    @contextmanager
    def counted(self, name: str) -> Iterator[None]:
        """Counts the instructions that the context executes, and labels the count with a name."""
        title = ctypes.create_string_buffer(name.encode())
        address = ctypes.addressof(title)
        self._request(_START)
        yield
        self._request(_STOP)
        self._request(_DUMP_AT, address)

    def _request(self, request: int, *arguments: int) -> int:
        words = (ctypes.c_uint64 * _REQUEST_WORDS)(request, *arguments)
        return int(self._call(ctypes.addressof(words)))


@dataclass(frozen=True, slots=True)
class CallgrindResult:
    """The output of a program, and the instruction counts by name."""

    output: str
    instructions: dict[str, int]


def count(module: str, arguments: Sequence[str]) -> CallgrindResult:
    """Runs a Python module under callgrind and returns its output and counts. Exits if the module fails."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "counts")
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={files}"]
        command += [f"--log-file={folder}/log", sys.executable, "-m", module, *arguments]
        settings = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings, check=False)
        if process.returncode:
            raise SystemExit(
                f"{module} {' '.join(arguments)} failed:\n{process.stderr}{Path(folder, 'log').read_text()}"
            )
        dumps = [path.read_text() for path in Path(folder).glob("counts.*")]
    return CallgrindResult(process.stdout, dict(map(parse_dump, dumps)))


def parse_dump(dump: str) -> tuple[str, int]:
    """Returns the name and the number of instructions in a file that callgrind wrote."""
    title, total = _TITLE_LINE.search(dump), _TOTAL_LINE.search(dump)
    if title is None or total is None:
        raise ValueError("the file of callgrind has no name or no total")
    return title[1], int(total[1])
