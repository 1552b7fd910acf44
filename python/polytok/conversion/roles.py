"""Finds the roles, such as bos and eos, that a written file does not name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..errors import LossError
from ..spec import Spec


def lost_roles(spec: Spec, written_spec: Spec) -> dict[str, int]:
    """Returns the roles whose token the written file does not name, with the ids of these tokens."""
    return {role: id for role, id in spec.names.items() if written_spec.names.get(role) != id}


def refuse_lost_roles(roles: Mapping[str, int], format: str, path: Path | None = None) -> None:
    """Raises `LossError` if any roles are lost in a file of ``format``; ``path`` is its name."""
    if not roles:
        return
    list_text = ", ".join(f"{role} (id {id})" for role, id in roles.items())
    is_named_otherwise = format == "huggingface" and path is not None and path.name != "tokenizer.json"
    name = f" named {path.name}" if is_named_otherwise and path else ""
    advice = "; name the file tokenizer.json, which has them in a file beside it" if is_named_otherwise else ""
    raise LossError(f"a {format} file{name} does not name {list_text}{advice}")
