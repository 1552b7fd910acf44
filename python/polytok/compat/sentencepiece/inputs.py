"""What callers of the face give: texts, rows of ids and pieces, and flags."""

from __future__ import annotations

from typing import Any

from .lines import is_old


def utf8(text: Any, is_item: bool = False) -> str | bytes:
    """Returns a text as the engine reads it. Raises TypeError for anything else."""
    if isinstance(text, str):
        if text.isascii():
            return text
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise (
                TypeError("not a string") if is_old() else RuntimeError(f"the text is not Unicode: {error}")
            ) from error
    if isinstance(text, bytes):
        return text
    if is_old():
        raise TypeError("list must contain strings" if is_item else "not a string")
    raise TypeError("List elements must be str or bytes" if is_item else "Input must be str or bytes")


def bytes_of(text: str | bytes) -> bytes:
    """Returns a text or piece in UTF-8."""
    return text.encode("utf-8") if isinstance(text, str) else text


def is_row(value: Any) -> bool:
    """Reports whether a value is a list of ids, pieces or rows: a list, an array or any other sequence."""
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def answers_in_bytes(input: Any, return_bytes: Any) -> bool:
    """Reports whether the pieces of a text are returned as bytes: by the option, else as the text was given."""
    if return_bytes is not None:
        return bool(return_bytes)
    first = input[0] if isinstance(input, list) and input else input
    return isinstance(first, bytes)


def has_bytes(rows: Any) -> bool:
    """Reports whether the first row that is not empty has pieces as bytes."""
    row: Any = next((row for row in rows if len(row)), ())
    return len(row) > 0 and isinstance(row[0], bytes)


def check_old_input(input: Any) -> None:
    """Refuses what 0.2.1 cannot decode: it accepts lists, ints and str."""
    first = input[0] if isinstance(input, list) and input else input
    if isinstance(first, list) and first:
        first = first[0]
    if input and not isinstance(first, (int, str, list)):
        raise RuntimeError("unknown output or input type")


def is_true(value: Any) -> bool:
    """Returns the flag that a text or a value means, as SentencePiece reads it."""
    text = str(value).lower()
    if text in ("1", "t", "true", "y", "yes"):
        return True
    if text in ("0", "f", "false", "n", "no"):
        return False
    raise RuntimeError(f'INVALID_ARGUMENT: cannot parse "{value}" as bool.')
