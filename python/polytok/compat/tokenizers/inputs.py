"""What `Tokenizer.encode` and `encode_batch` accept: texts, lists of words, pairs, and arrays of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_TEXT_ERROR = "TextInputSequence must be str"
_WORDS_ERROR = "PreTokenizedInputSequence must be Union[List[str], Tuple[str]]"
_INPUT_ERROR = "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]"
_WORDS_INPUT_ERROR = (
    "PreTokenizedEncodeInput must be Union[PreTokenizedInputSequence, "
    "Tuple[PreTokenizedInputSequence, PreTokenizedInputSequence]]"
)


def text_of(value: Any) -> str:
    """Returns a text; raises TypeError if the original refuses it: it accepts no lone surrogates."""
    if not isinstance(value, str):
        raise TypeError(_TEXT_ERROR)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise TypeError(_TEXT_ERROR) from None
    return value


def words_of(value: Any) -> Sequence[str]:
    """Returns a list of words; raises TypeError if a value is none."""
    if isinstance(value, np.ndarray):
        return _words_of_array(value)
    if not isinstance(value, (list, tuple)):
        raise TypeError(_WORDS_ERROR)
    try:
        for word in value:
            text_of(word)
    except TypeError:
        raise TypeError(_WORDS_ERROR) from None
    return value


def _words_of_array(array: np.ndarray[Any, Any]) -> list[str]:
    """Returns the words of an array.

    The original takes the cells of an array of strings as UTF-8, although they are UTF-32: a word of ASCII has NUL
    characters between and after its letters, and most other words are errors. It replaces lone surrogates in objects.
    """
    if array.ndim == 1 and array.dtype.kind == "O":
        if all(isinstance(word, str) for word in array):
            return [word.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for word in array]
    elif array.ndim == 1 and array.dtype.kind == "U" and array.flags.contiguous:
        data, size = array.tobytes(), array.itemsize
        try:
            return [data[start : start + size].decode() for start in range(0, len(data), size)]
        except UnicodeDecodeError:
            pass
    raise TypeError(_WORDS_ERROR)


def items_of(value: Any) -> Sequence[Any]:
    """Returns the items of a batch; raises TypeError for other values, as the original does."""
    if isinstance(value, str):
        raise TypeError("Can't extract `str` to `Vec`")
    if not _is_sequence(value):
        raise TypeError(f"'{type(value).__name__}' object is not an instance of 'Sequence'")
    return list(value)


def _is_sequence(value: object) -> bool:
    """Reports whether the original reads a value as a sequence of texts: also an array, but not a dict."""
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (str, dict))


def _is_pair(value: Any) -> bool:
    return _is_sequence(value) and getattr(value, "ndim", 1) > 0 and len(value) == 2


def text_and_pair(item: Any) -> tuple[Any, Any]:
    """Returns the text of an item of a batch, and the second text or None."""
    if isinstance(item, str):
        try:
            return text_of(item), None
        except TypeError:
            raise TypeError(_INPUT_ERROR) from None
    if not _is_pair(item):
        raise TypeError(_INPUT_ERROR)
    first, second = item
    return text_of(first), text_of(second)


def words_and_pair(item: Any) -> tuple[Any, Any]:
    """Returns the words of an item of a batch, and those of the second text or None."""
    try:
        return words_of(item), None
    except TypeError:
        if not _is_pair(item):
            raise TypeError(_WORDS_INPUT_ERROR) from None
    first, second = item
    return words_of(first), words_of(second)
