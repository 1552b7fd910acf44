"""Fetching a file: one request, within limits of time and size. Imported only where something is fetched."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any

TIMEOUT = 30.0
"""Seconds without a sign of life after which a download is given up; as a whole it may take ten times as long."""
MOST_BYTES = 2**26
"""More than any file that is fetched has; a download that is longer is given up."""

_CHUNK = 2**16


def body(address: str) -> bytes:
    """What an address gives. Raises OSError with the reason, whatever it is."""
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
