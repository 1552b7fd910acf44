"""Finds the roles, such as bos and eos, that a written file does not name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..errors import LossError
from ..spec import Spec

ROLE_ADVICE = "; name the file vocab.txt to keep all roles"
"""What keeps the roles that a WordPiece vocabulary of another name loses: they are in a file beside vocab.txt."""


def lost_roles(spec: Spec, written_spec: Spec) -> dict[str, int]:
    """Returns the roles whose token the written file does not name, with the ids of these tokens."""
    return {role: id for role, id in spec.names.items() if written_spec.names.get(role) != id}


def lost_roles_text(roles: Mapping[str, int], format: str, path: Path | None = None) -> str:
    """Returns the roles that a file of ``format`` loses, in words, and what keeps them; ``path`` is the file's name.

    >>> lost_roles_text({"eos": 7}, "wordpiece", Path("other.txt"))
    'a wordpiece file named other.txt does not name eos (id 7); name the file vocab.txt to keep all roles'
    """
    list_text = ", ".join(f"{role} (id {id})" for role, id in roles.items())
    is_named_otherwise = format == "wordpiece" and path is not None and path.name != "vocab.txt"
    name = f" named {path.name}" if is_named_otherwise and path else ""
    return f"a {format} file{name} does not name {list_text}{ROLE_ADVICE if is_named_otherwise else ''}"


def refuse_lost_roles(roles: Mapping[str, int], format: str, path: Path | None = None) -> None:
    """Raises `LossError` if any roles are lost in a file of ``format``; ``path`` is its name."""
    if roles:
        raise LossError(lost_roles_text(roles, format, path))
