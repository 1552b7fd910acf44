"""Fetches a file: one request, with limits of time and size. Imported only when something is fetched."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any

TIMEOUT = 30.0
"""Seconds without data after which a download is abandoned; the whole download can take ten times as long."""
MOST_BYTES = 2**26
"""A limit above the size of every file that is fetched; a longer download is abandoned."""

_CHUNK = 2**16


def body(address: str) -> bytes:
    """The content of an address. Raises OSError with the reason for any failure."""
    request = urllib.request.Request(address, headers={"User-Agent": "polytok"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            return b"".join(_chunks(response))
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError as error:
        raise OSError(str(error.reason)) from error
    except HTTPException as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


def _chunks(response: Any) -> Iterator[bytes]:
    end = time.monotonic() + 10 * TIMEOUT
    size = 0
    while chunk := response.read1(_CHUNK):
        yield chunk
        size += len(chunk)
        if size > MOST_BYTES:
            raise OSError(f"it is longer than {MOST_BYTES} bytes")
        if time.monotonic() > end:
            raise OSError(f"it takes longer than {10 * TIMEOUT:.0f} seconds")
