"""Finds the module with which tests compress by zstd."""

from __future__ import annotations

import sys
from typing import Any

import pytest


def zstd_package() -> Any:
    """Returns the module compression.zstd of Python 3.14, or its backport. Skips the test if the module is missing."""
    return pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
