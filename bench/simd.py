"""Reports the vector instructions that engines can use on this processor.

The vector instructions of an engine were found by searching the machine code of the version that pyproject.toml pins;
those of polytok are known from its source. Engines select vector instructions at run time and do not report their
selection. This module therefore reports the widest instructions that both the machine code and the processor support.
"""

from __future__ import annotations

import platform
from pathlib import Path

AVX512 = "AVX-512"
AVX2 = "AVX2"

_FLAGS = {AVX512: "avx512bw", AVX2: "avx2"}
"""The flag of the processor for each instruction set. For AVX-512, it is the flag of the instructions on bytes, which
tokenizers use."""


def processor() -> str:
    """Returns the processor's name."""
    return _cpu_field("model name") or platform.processor() or platform.machine()


def widest_instructions(instruction_sets: tuple[str, ...], flags: frozenset[str] | None = None) -> str:
    """Returns the first of the instruction sets in a list that the processor has."""
    processor_flags = frozenset(_cpu_field("flags").split()) if flags is None else flags
    return next((name for name in instruction_sets if _FLAGS[name] in processor_flags), "none known")


def _cpu_field(field: str) -> str:
    """Returns a field of the first processor in /proc/cpuinfo, or an empty text if the file is missing."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(field)), "")
