"""The names in snake case that SentencePiece's classes have beside those in camel case."""

from __future__ import annotations

import re
from typing import TypeVar

C = TypeVar("C", bound=type)


def with_snake_case(cls: C) -> C:
    """Adds to a class the methods' names in snake case.

    >>> with_snake_case(type("C", (), {"NBestEncodeAsIds": len})).nbest_encode_as_ids
    <built-in function len>
    """
    for name, value in list(vars(cls).items()):
        if name[0].isupper():
            snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower().replace("n_best", "nbest")
            setattr(cls, snake, value)
    return cls
