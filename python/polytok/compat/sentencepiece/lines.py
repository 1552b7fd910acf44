"""The release that the face behaves like: 0.2.3, or 0.2.1, whose errors, defaults and empty results differ."""

from __future__ import annotations

from ...checks import one_of
from ...spec import SentencePieceVersion

LINES: tuple[SentencePieceVersion, ...] = ("0.2.1", "0.2.3")

_line: list[SentencePieceVersion] = ["0.2.3"]


def set_line(line: SentencePieceVersion) -> None:
    """Sets the release that the whole face behaves like from now on: "0.2.3" (at first), or "0.2.1"."""
    _line[0] = one_of("line", line, LINES)


def line() -> SentencePieceVersion:
    """Returns the release that the face behaves like."""
    return _line[0]


def is_old() -> bool:
    """Reports whether the face behaves like 0.2.1."""
    return _line[0] == "0.2.1"


def value_error(message: str) -> Exception:
    """Returns the error of a wrong value: a RuntimeError in 0.2.1."""
    return RuntimeError(message) if is_old() else ValueError(message)


def type_error(message: str) -> Exception:
    """Returns the error of a wrong type of an option: a RuntimeError in 0.2.1."""
    return RuntimeError(message) if is_old() else TypeError(message)


def out_of_range() -> IndexError:
    """Returns the error of an id that is not in the vocabulary."""
    return IndexError(f"{'Out of range' if is_old() else 'OUT_OF_RANGE'}: piece id is out of range.")
