"""Examples that need a package which is not installed, or does not exist for this Python, are not tested."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = {
    "docs/grammar.md": "outlines_core",
    "docs/pytorch.md": "torch",
    "docs/suffix-arrays.md": "pydivsufsort",
    "python/polytok/compat/grammar.py": "outlines_core",
}
collect_ignore = [path for path, package in PACKAGES.items() if find_spec(package) is None]
