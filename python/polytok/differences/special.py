"""Compares the special and added tokens of two tokenizers, and the roles of ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..spec import Spec
from ..tokenizer import Tokenizer

_FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")


class MovedToken(NamedTuple):
    """A special token of both tokenizers with different ids."""

    text: str
    left_id: int
    right_id: int


class OtherFlags(NamedTuple):
    """A special or added token of both tokenizers with different flags: the fields of `polytok.spec.SpecialToken` that
    are true."""

    text: str
    left: tuple[str, ...]
    right: tuple[str, ...]


class MovedRole(NamedTuple):
    """A role, such as eos, with different ids; None if the tokenizer does not name the role."""

    role: str
    left_id: int | None
    right_id: int | None


class SpecialTokenDifferences(NamedTuple):
    """The differences between the special tokens. ``only_left`` and ``only_right`` map texts to ids."""

    only_left: Mapping[str, int]
    only_right: Mapping[str, int]
    moved: tuple[MovedToken, ...]
    other_flags: tuple[OtherFlags, ...]
    roles: tuple[MovedRole, ...]

    @property
    def is_empty(self) -> bool:
        """True if there are no differences."""
        return not any(self)


def compare_special_tokens(left: Tokenizer, right: Tokenizer) -> SpecialTokenDifferences:
    """Returns the differences between the special tokens of two tokenizers."""
    left_ids, right_ids = left.special_tokens, right.special_tokens
    return SpecialTokenDifferences(
        _missing(left_ids, right_ids),
        _missing(right_ids, left_ids),
        tuple(MovedToken(text, id, other) for text, id in left_ids.items() if (other := right_ids.get(text, id)) != id),
        tuple(_other_flags(left.spec, right.spec)),
        tuple(_moved_roles(left.spec.names, right.spec.names)),
    )


def _missing(ids: Mapping[str, int], other_ids: Mapping[str, int]) -> dict[str, int]:
    """Returns the special tokens that are not in ``other_ids``. A token with the same id and other white space around
    its text counts as the same, because llama2.c's files have ``\\n<s>\\n`` for ``<s>``."""
    other_tokens = {(text.strip(), number) for text, number in other_ids.items()}
    return {
        text: number
        for text, number in ids.items()
        if text not in other_ids and (text.strip(), number) not in other_tokens
    }


def _other_flags(left: Spec, right: Spec) -> Iterator[OtherFlags]:
    left_flags, right_flags = ({token.text: token for token in spec.special} for spec in (left, right))
    for text, token in left_flags.items():
        if other := right_flags.get(text):
            sides = [tuple(flag for flag in _FLAGS if getattr(side, flag)) for side in (token, other)]
            if sides[0] != sides[1]:
                yield OtherFlags(text, *sides)


def _moved_roles(left: Mapping[str, int], right: Mapping[str, int]) -> Iterator[MovedRole]:
    for role in dict.fromkeys((*left, *right)):
        if left.get(role) != right.get(role):
            yield MovedRole(role, left.get(role), right.get(role))
