"""Fetches a file in one request, with limits of time and size. Only a fetch imports this module."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any

TIMEOUT = 30.0
"""The seconds without data after which a download is abandoned; the whole download can take ten times as long."""
MAX_BYTES = 2**26
"""The number of bytes after which a download is abandoned; every known file is smaller."""

_CHUNK_BYTES = 2**16


def fetch_content(address: str) -> bytes:
    """Returns the content of an address; raises OSError with the reason for any failure."""
    request = urllib.request.Request(address, headers={"User-Agent": "polytok"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            return b"".join(_read_chunks(response))
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError as error:
        raise OSError(str(error.reason)) from error
    except HTTPException as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


def _read_chunks(response: Any) -> Iterator[bytes]:
    deadline = time.monotonic() + 10 * TIMEOUT
    bytes_read = 0
    while chunk := response.read1(_CHUNK_BYTES):
        yield chunk
        bytes_read += len(chunk)
        if bytes_read > MAX_BYTES:
            raise OSError(f"the file is longer than {MAX_BYTES} bytes")
        if time.monotonic() > deadline:
            raise OSError(f"the download takes longer than {10 * TIMEOUT:.0f} seconds")
