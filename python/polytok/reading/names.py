"""Names of files: paths, patterns of paths, and URLs."""

from __future__ import annotations

import glob
import os
import re

from ..errors import ArgumentError
from . import remote

_SCHEME = re.compile(r"[A-Za-z0-9+.:-]+://")


def is_url(name: str) -> bool:
    """Whether a name is a URL, and not the name of an existing file.

    >>> is_url("s3://bucket/a.jsonl"), is_url("simplecache::s3://bucket/a.jsonl"), is_url("a/b.txt")
    (True, True, False)
    """
    return _SCHEME.match(name) is not None and not os.path.exists(name)


def files_named(name: str) -> list[str]:
    """The file of this name, or those that match it, sorted. Raises `ArgumentError` if none matches a pattern."""
    if is_url(name):
        found = remote.matching(name)
    elif os.path.exists(name) or not glob.has_magic(name):
        found = None
    else:
        found = sorted(found for found in glob.glob(name, recursive=True) if not os.path.isdir(found))
    if found == []:
        raise ArgumentError(f"no file matches {name!r}")
    return [name] if found is None else found
