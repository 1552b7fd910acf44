"""Imports packages that do not exist for every version of Python. A test is skipped if its package is missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import pytest

needs_newest_transformers = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="compares with transformers 5.23, which does not exist for Python 3.10"
)


def zstd_package() -> Any:
    """Returns the module compression.zstd of Python 3.14, or its backport."""
    return pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def has_rwkv_package() -> bool:
    """Whether `rwkv_package` finds the package."""
    return find_spec("pyrwkv_tokenizer") is not None


def rwkv_package() -> Any:
    """Returns pyrwkv-tokenizer, RWKV's tokenizer. Its last release, 0.9.1, exists for Python 3.13 and older ones."""
    return pytest.importorskip("pyrwkv_tokenizer")
