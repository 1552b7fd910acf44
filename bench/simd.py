"""Vector instructions: what the processor has, and what an engine's machine code has.

An engine's code was searched for instructions on such registers, in the versions that pyproject.toml pins; of polytok
they are known from its source. Engines choose among them while they run and do not report their choice, so what is
reported is the widest that both the code and the processor have.
"""

from __future__ import annotations

import platform
from pathlib import Path

AVX512 = "AVX-512"
AVX2 = "AVX2"

_FLAGS = {AVX512: "avx512bw", AVX2: "avx2"}
"""The processor's flag of each; AVX-512 on bytes is what tokenizers use."""


def processor() -> str:
    """The processor's name."""
    return _described("model name") or platform.processor() or platform.machine()


def widest(simd: tuple[str, ...], flags: frozenset[str] | None = None) -> str:
    """The first of these instructions that the processor has."""
    given = frozenset(_described("flags").split()) if flags is None else flags
    return next((name for name in simd if _FLAGS[name] in given), "none known")


def _described(field: str) -> str:
    """A field of the first processor, where the system describes it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(field)), "")
