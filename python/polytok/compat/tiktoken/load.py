"""tiktoken.load: reads rank files, from tiktoken's cache or their address."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
import tempfile
import uuid
from typing import Any

__all__ = [
    "check_hash",
    "data_gym_to_mergeable_bpe_ranks",
    "dump_tiktoken_bpe",
    "is_cached",
    "load_tiktoken_bpe",
    "read_file",
    "read_file_cached",
]


def read_file(blobpath: str) -> bytes:
    """Returns the bytes of a path or URL."""
    if "://" not in blobpath:
        with open(blobpath, "rb", buffering=0) as file:
            return file.read()
    if blobpath.startswith(("http://", "https://")):
        import requests

        response = requests.get(blobpath)
        response.raise_for_status()
        content: bytes = response.content
        return content
    return bytes(_blobfile().read_bytes(blobpath))


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Reports whether data has a sha256."""
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """Returns the bytes of a path or URL, which are stored in the cache folder under the sha1 of the URL.

    The folder is TIKTOKEN_CACHE_DIR, else DATA_GYM_CACHE_DIR, else ``data-gym-cache`` in the folder for temporary
    files; an empty variable turns the cache off. Raises `ValueError` if the content has another sha256.
    """
    folder, is_requested = _cache_folder()
    if folder == "":
        return read_file(blobpath)
    path = _cache_path(folder, blobpath)
    if os.path.exists(path):
        with open(path, "rb", buffering=0) as file:
            data = file.read()
        if expected_hash is None or check_hash(data, expected_hash):
            return data
        with contextlib.suppress(OSError):
            os.remove(path)
    data = read_file(blobpath)
    if expected_hash and not check_hash(data, expected_hash):
        raise ValueError(
            f"Hash mismatch for data downloaded from {blobpath} (expected {expected_hash}). "
            f"This may indicate a corrupted download. Please try again."
        )
    try:
        _store(path, data)
    except OSError:
        if is_requested:
            raise
    return data


def is_cached(blobpath: str, expected_hash: str) -> bool:
    """Reports whether the cache has the right file of a URL. tiktoken has no such function."""
    folder, _ = _cache_folder()
    try:
        with open(_cache_path(folder, blobpath), "rb") as file:
            return folder != "" and check_hash(file.read(), expected_hash)
    except OSError:
        return False


def _cache_folder() -> tuple[str, bool]:
    """Returns the cache folder, and whether the user has requested it."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return os.environ[variable], True
    return os.path.join(tempfile.gettempdir(), "data-gym-cache"), False


def _cache_path(folder: str, blobpath: str) -> str:
    return os.path.join(folder, hashlib.sha1(blobpath.encode()).hexdigest())


def _store(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary_path = f"{path}.{uuid.uuid4()}.tmp"
    with open(temporary_path, "wb") as file:
        file.write(data)
    os.rename(temporary_path, path)


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Reads the two files of GPT-2's first release. With ``clobber_one_byte_tokens``, bytes have the second's ids."""
    byte_order = [byte for byte in range(256) if chr(byte).isprintable() and chr(byte) != " "]
    byte_of_character = {chr(byte): byte for byte in byte_order}
    for byte in range(256):
        if byte not in byte_of_character.values():
            byte_of_character[chr(256 + len(byte_order) - 188)] = byte
            byte_order.append(byte)

    def decoded(text: str) -> bytes:
        return bytes(byte_of_character[character] for character in text)

    ranks = {bytes([byte]): rank for rank, byte in enumerate(byte_order)}
    lines = read_file_cached(vocab_bpe_file, vocab_bpe_hash).decode().split("\n")[1:-1]
    for rank, line in enumerate(lines, start=len(ranks)):
        first, second = line.split()
        ranks[decoded(first) + decoded(second)] = rank
    encoder = {
        decoded(text): rank for text, rank in json.loads(read_file_cached(encoder_json_file, encoder_json_hash)).items()
    }
    for special in (b"<|endoftext|>", b"<|startoftext|>"):
        encoder.pop(special, None)
    if clobber_one_byte_tokens:
        ranks.update({piece: rank for piece, rank in encoder.items() if len(piece) == 1})
    assert ranks == encoder
    return ranks


def dump_tiktoken_bpe(bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str) -> None:
    """Writes a rank file."""
    with _blobfile().BlobFile(tiktoken_bpe_file, "wb") as file:
        for token, rank in sorted(bpe_ranks.items(), key=lambda item: item[1]):
            file.write(base64.b64encode(token) + b" " + str(rank).encode() + b"\n")


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Reads a rank file to a dict of bytes and ranks. Raises `ValueError` for a line that is not base64 and a rank."""
    lines = read_file_cached(tiktoken_bpe_file, expected_hash).splitlines()
    try:
        return {binascii.a2b_base64(token): int(rank) for token, rank in map(bytes.split, filter(None, lines))}
    except ValueError:
        for line in filter(None, lines):
            try:
                token, rank = line.split()
                _ = binascii.a2b_base64(token), int(rank)
            except ValueError as error:
                raise ValueError(f"Error parsing line {line!r} in {tiktoken_bpe_file}") from error
        raise


def _blobfile() -> Any:
    try:
        import blobfile  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError("blobfile is not installed. Please install it by running `pip install blobfile`.") from error
    return blobfile
