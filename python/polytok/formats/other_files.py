"""Recognizes files that are often saved under the name of a tokenizer file, for the error message.

These are Git LFS pointers, HTML pages, answers of servers, settings, and a tokenizer.json without a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LFS_SIZE = re.compile(rb"^size (\d+)$", re.MULTILINE)
_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head)\b", re.IGNORECASE)
_TITLE = re.compile(rb"<title[^>]*>\s*([^<]{1,80}?)\s*</title>", re.IGNORECASE)
_FIELDS_OF_TOKENIZER = ("added_tokens", "pre_tokenizer", "normalizer", "post_processor", "decoder")
_MAX_JSON_BYTES = 1 << 20
_MIN_BINARY_BYTES = 1000
_TRUNCATED = re.compile(r"EOF while parsing|bytes? (?:that )?remain")
"""What the readers of JSON and GGUF say about a file that ends too early."""
_LINE = re.compile(r"\bline (\d+): ")
_BYTE = re.compile(r"\bbyte (\d+)\)")
_ADVICE = "the file is truncated or damaged: download or copy it again"


def substitute(data: bytes) -> str | None:
    """Returns what the bytes are if they stand in for a file that was not downloaded, and what to do; else None.

    >>> substitute(b"<!DOCTYPE html><title>Sign in</title>")[:36]
    "this is an HTML page ('Sign in'), no"
    """
    if data.startswith(_LFS_POINTER):
        size = _LFS_SIZE.search(data[:1000])
        size_text = f", which has {int(size[1])} bytes" if size else ""
        return (
            f"this is a Git LFS pointer, not the file itself{size_text}: fetch the file with `git lfs pull`, or "
            "download it again"
        )
    if not _HTML.match(data[:1000]):
        return None
    title = _TITLE.search(data[:10_000])
    title_text = f" ({title[1].decode(errors='replace')!r})" if title else ""
    return (
        f"this is an HTML page{title_text}, not a tokenizer file: a page, such as one to log in, was saved in place of "
        "the file; download the file itself again, logged in if its repository asks for it"
    )


def unusable_json(data: bytes) -> str | None:
    """Returns what a JSON object is if it is a known file without a vocabulary, and what to do; else None.

    >>> unusable_json(b'{"error": "not found"}')
    "this is the answer of a server, not a tokenizer file: 'not found'; download the file again"
    """
    if data[:1] != b"{":
        return None
    if not data.rstrip().endswith(b"}"):
        return "this JSON file is truncated or damaged, because it does not end with }: download or copy it again"
    if len(data) > _MAX_JSON_BYTES:
        return None
    import json

    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if isinstance(error := fields.get("error"), str) and len(fields) < 3:
        return f"this is the answer of a server, not a tokenizer file: {error!r:.200}; download the file again"
    if "model" not in fields and any(name in fields for name in _FIELDS_OF_TOKENIZER):
        return "this is a tokenizer.json without its model, which has the vocabulary: download or write it again"
    if "tokenizer_class" in fields or "model_type" in fields:
        return "these are settings of a model, without a vocabulary: load the folder, or the tokenizer.json in it"
    return None


def advice(message: str, data: bytes) -> str:
    """Returns what to do, as the end of the message for a file that seems to end too early; empty for other messages.

    This is also a file whose last line is wrong and has no line break.

    >>> advice("JSON: EOF while parsing a value at line 3 column 6", b"{"), advice("line 1: not a pair", b"a\\nb c")
    ('; the file is truncated or damaged: download or copy it again', '')
    >>> advice("line 2: not a pair", b"a b\\nc")
    '; the file is truncated or damaged: download or copy it again'
    """
    line = _LINE.search(message)
    is_last_line = line is not None and not data.endswith(b"\n") and int(line[1]) == data.count(b"\n") + 1 > 1
    return f"; {_ADVICE}" if is_last_line or _TRUNCATED.search(message) else ""


def truncated_binary(refusals: Iterable[tuple[str, str]], size: int) -> str | None:
    """Returns what bytes that no format recognizes probably are, if a format refuses them only near their end.

    ``refusals`` has the name of each format and the reason why it refuses the bytes.

    >>> truncated_binary([("llama2c", "token 9 (byte 990): the file ends within the token")], 1000)
    'up to byte 990 of 1000 this is like a llama2c file; the file is truncated or damaged: download or copy it again'
    """
    for name, reason in refusals:
        if (byte := _BYTE.search(reason)) and size // 2 < int(byte[1]) <= size and size >= _MIN_BINARY_BYTES:
            return f"up to byte {byte[1]} of {size} this is like a {name} file; {_ADVICE}"
    return None
