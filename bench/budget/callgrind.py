"""Instructions of a part of a Python program, counted by callgrind.

The program asks callgrind to start and to stop counting, by client requests. A request is a sequence of instructions
that does nothing on a processor and that valgrind knows (valgrind.h), with a structure's address in a register. Python
has no such instructions, so they are written into a page of memory and called as a function. Callgrind only counts
between the two requests, and loading goes ten times as fast.
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

_CODE = bytes.fromhex(
    "48 89 f8"  # mov rax, rdi: the request and its arguments
    "31 d2"  # xor edx, edx: the answer without valgrind
    "48 c1 c7 03  48 c1 c7 0d  48 c1 c7 3d  48 c1 c7 33"  # rol rdi by 3, 13, 61, 51: what valgrind looks for
    "48 87 db"  # xchg rbx, rbx: a request
    "48 89 d0  c3"  # mov rax, rdx; ret: the answer
)
_RUNNING = 0x1001
_TOOL = ord("C") << 24 | ord("T") << 16
_DUMP_AT, _START, _STOP = _TOOL + 3, _TOOL + 4, _TOOL + 5
_WORDS = 6

_TITLE = re.compile(r"^desc: Trigger: Client Request: (.+)$", re.MULTILINE)
_TOTAL = re.compile(r"^totals: (\d+)$", re.MULTILINE)


class Requests:
    """What the counted program says to callgrind."""

    def __init__(self) -> None:
        """Raises `OSError` if nobody is listening."""
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(_CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        self._page = page
        self._call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)
        if os.uname().machine != "x86_64" or not self._ask(_RUNNING):
            raise OSError("not running under valgrind on x86-64")

    @contextmanager
    def counted(self, name: str) -> Iterator[None]:
        """Counts what is done within, under a name."""
        title = ctypes.create_string_buffer(name.encode())
        address = ctypes.addressof(title)
        self._ask(_START)
        yield
        self._ask(_STOP)
        self._ask(_DUMP_AT, address)

    def _ask(self, request: int, *arguments: int) -> int:
        words = (ctypes.c_uint64 * _WORDS)(request, *arguments)
        return int(self._call(ctypes.addressof(words)))


@dataclass(frozen=True, slots=True)
class Counted:
    """What a program wrote to its output, and the instructions of each name."""

    output: str
    instructions: dict[str, int]


def count(module: str, arguments: Sequence[str]) -> Counted:
    """Runs a module of Python under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "counts")
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={files}"]
        command += [f"--log-file={folder}/log", sys.executable, "-m", module, *arguments]
        settings = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings, check=False)
        if done.returncode:
            raise SystemExit(f"{module} {' '.join(arguments)} failed:\n{done.stderr}{Path(folder, 'log').read_text()}")
        dumps = [path.read_text() for path in Path(folder).glob("counts.*")]
    return Counted(done.stdout, dict(map(parsed, dumps)))


def parsed(dump: str) -> tuple[str, int]:
    """The name and the number of instructions in a file of callgrind's."""
    title, total = _TITLE.search(dump), _TOTAL.search(dump)
    if title is None or total is None:
        raise ValueError("callgrind's file has no name or no total")
    return title[1], int(total[1])
