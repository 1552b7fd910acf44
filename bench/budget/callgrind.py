"""Counts the instructions that a part of a Python program executes, by callgrind.

The program starts and stops counting with client requests to valgrind (valgrind.h). A client request is a sequence of
instructions with the address of a structure in a register. The sequence has no effect on a processor, and valgrind
recognizes the sequence. Python cannot execute machine code directly, so this module writes the sequence to a page of
memory and calls the page as a function. callgrind counts only between the start request and the stop request; the other
parts of the program run ten times as fast.
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
    "48 89 f8"  # mov rax, rdi: rax is the address of the request
    "31 d2"  # xor edx, edx: without valgrind, the answer is 0
    "48 c1 c7 03  48 c1 c7 0d  48 c1 c7 3d  48 c1 c7 33"  # rol rdi by 3, 13, 61, 51: identifies a request
    "48 87 db"  # xchg rbx, rbx: marks a client request
    "48 89 d0  c3"  # mov rax, rdx; ret: returns the answer
)
_RUNNING_ON_VALGRIND = 0x1001
_TOOL_BASE = ord("C") << 24 | ord("T") << 16
_DUMP_COUNTS, _START_COUNTING, _STOP_COUNTING = _TOOL_BASE + 3, _TOOL_BASE + 4, _TOOL_BASE + 5
_REQUEST_WORDS = 6

_TITLE_LINE = re.compile(r"^desc: Trigger: Client Request: (.+)$", re.MULTILINE)
_TOTAL_LINE = re.compile(r"^totals: (\d+)$", re.MULTILINE)


class CallgrindClient:
    """Sends client requests from the counted program to callgrind."""

    def __init__(self) -> None:
        """Prepares the instructions. Raises `OSError` if the program does not run under valgrind on x86-64."""
        code_page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code_page.write(_MACHINE_CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(code_page))
        self._code_page = code_page
        self._call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)
        if os.uname().machine != "x86_64" or not self._send(_RUNNING_ON_VALGRIND):
            raise OSError("not running under valgrind on x86-64: start this module by `python -m bench.budget`")

    @contextmanager
    def count_section(self, name: str) -> Iterator[None]:
        """Counts the instructions of the code in the ``with`` block; ``name`` labels the count."""
        title = ctypes.create_string_buffer(name.encode())
        address = ctypes.addressof(title)
        self._send(_START_COUNTING)
        yield
        self._send(_STOP_COUNTING)
        self._send(_DUMP_COUNTS, address)

    def _send(self, request_code: int, *arguments: int) -> int:
        request_words = (ctypes.c_uint64 * _REQUEST_WORDS)(request_code, *arguments)
        return int(self._call(ctypes.addressof(request_words)))


@dataclass(frozen=True, slots=True)
class CallgrindResult:
    """The output of a program, and the number of instructions of each named part."""

    output: str
    instructions: dict[str, int]


def count_instructions(module: str, arguments: Sequence[str]) -> CallgrindResult:
    """Runs a Python module under callgrind and returns its output and instruction counts. Exits if the module fails."""
    output, dumps = run_under_callgrind(module, arguments)
    return CallgrindResult(output, dict(map(parse_dump, dumps)))


def run_under_callgrind(module: str, arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Runs a Python module under callgrind; returns its output and the files that callgrind wrote, one for each part of
    the program. Exits if the module fails."""
    with tempfile.TemporaryDirectory() as folder:
        output_prefix = Path(folder, "counts")
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={output_prefix}"]
        command += [f"--log-file={folder}/log", sys.executable, "-m", module, *arguments]
        environment = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, check=False)
        if process.returncode:
            raise SystemExit(
                f"{module} {' '.join(arguments)} failed:\n{process.stderr}{Path(folder, 'log').read_text()}"
            )
        return process.stdout, [path.read_text() for path in Path(folder).glob("counts.*")]


def parse_dump(dump: str) -> tuple[str, int]:
    """Returns the name and the number of instructions in a file that callgrind wrote."""
    title_line, total_line = _TITLE_LINE.search(dump), _TOTAL_LINE.search(dump)
    if title_line is None or total_line is None:
        raise ValueError("the file that callgrind wrote has no name or no total")
    return title_line[1], int(total_line[1])
