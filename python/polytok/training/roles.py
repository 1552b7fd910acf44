"""The roles of special tokens in training: which tokens begin a text, end a text, pad, and stand for unknown text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..errors import ArgumentError
from ..keywords import keyword
from ..spec import Spec
from .options import check_text

ROLES = ("unk", "bos", "eos", "pad")
"""The roles, in the order in which SentencePiece numbers their tokens."""


def check_roles(**texts: str | None) -> dict[str, str]:
    """Returns the text of each role's token, for the roles that have one. Raises `ArgumentError` for an empty text.

    >>> check_roles(unk=None, bos=None, eos="<|endoftext|>", pad=None)
    {'eos': '<|endoftext|>'}
    """
    text_by_role = {role: check_text(role, text) for role, text in texts.items() if text is not None}
    for role, text in text_by_role.items():
        if not text:
            raise ArgumentError(
                f"{keyword(role, '')} is an empty text: give the text of the token, or leave {role} out"
            )
    return text_by_role


def with_role_tokens(special: Mapping[str, int | None], text_by_role: Mapping[str, str]) -> dict[str, int | None]:
    """Returns the special tokens with the roles' tokens after them. A token can have several roles.

    >>> with_role_tokens({"<mask>": None}, {"bos": "<s>", "eos": "<s>"})
    {'<mask>': None, '<s>': None}
    """
    return {**special, **{text: special.get(text) for text in text_by_role.values()}}


def with_names(spec: Spec, text_by_role: Mapping[str, str]) -> Spec:
    """Returns the Spec with the ids of the roles' tokens, which are special tokens of the Spec."""
    id_by_text = {token.text: token.id for token in spec.special}
    names = {role: id_by_text[text] for role, text in text_by_role.items()}
    return replace(spec, names={**spec.names, **names}) if names else spec


def single_text(option: str, text: str | None, alternatives: Mapping[str, str | None]) -> str | None:
    """Returns the text that one of several options sets. Raises `ArgumentError` if the options set different texts."""
    for other_option, other_text in alternatives.items():
        if text is not None and other_text is not None and text != other_text:
            raise ArgumentError(
                f"{keyword(option, text)} and {keyword(other_option, other_text)} name two tokens for one role: "
                "remove one of them"
            )
        text = other_text if text is None else text
    return text
