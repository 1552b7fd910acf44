"""The SIMD level of the process: the vector instructions that the engine uses."""

from __future__ import annotations

from typing import Literal, get_args

from . import _core
from .checked import checked
from .checks import one_of
from .errors import ArgumentError
from .values import SimdLevel


def simd_levels() -> tuple[SimdLevel, ...]:
    """Returns the SIMD levels that this processor supports, the fastest first. The last is ``"portable"``, which needs
    no vector instructions.

    >>> import polytok
    >>> polytok.simd_levels()[-1]
    'portable'
    """
    return tuple(_core.simd_levels())


def simd_level() -> SimdLevel:
    """Returns the SIMD level of the process: the fastest that the processor supports, unless `set_simd_level` has
    selected another.

    >>> import polytok
    >>> polytok.simd_level() in polytok.simd_levels()
    True
    """
    return _core.simd_level()


@checked()
def set_simd_level(level: SimdLevel | Literal["auto"]) -> None:
    """Selects the vector instructions that all tokenizers of this process use; ``"auto"`` selects the fastest that the
    processor supports.

    All levels return the same ids, texts and offsets. A lower level serves to compare speeds, or to exclude the
    instructions of a processor as the cause of a problem. ``"avx512"`` needs AVX-512 with VBMI and VBMI2 (Ice Lake,
    Zen 4 and later processors), and ``"avx2"`` needs AVX2 and BMI2 (Haswell, Zen and later processors).

    The level applies to tokenizers that are already loaded, too. Any thread can select a level at any time: later calls
    use it, and calls that are running finish with either level. Processes that this process starts with the method
    "spawn" begin with the fastest level. Raises `ArgumentError` if the processor does not support the level.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> ids = tokenizer.encode("the same ids at every level")
    >>> polytok.set_simd_level("portable")
    >>> polytok.simd_level()
    'portable'
    >>> tokenizer.encode("the same ids at every level") == ids
    True
    >>> polytok.set_simd_level("auto")
    """
    one_of("level", level, ("auto", *get_args(SimdLevel)))
    supported_levels = simd_levels()
    if not _core.select_simd_level(supported_levels[0] if level == "auto" else level):
        names = ", ".join(map(repr, supported_levels))
        raise ArgumentError(f"this processor does not support the SIMD level {level!r}; select one of {names}")
