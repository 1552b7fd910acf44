"""`AddedToken` of tokenizers 0.23."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .arguments import boolean, text, warn_unknown

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_FIELDS = {"content", *_FLAGS}


class AddedToken:
    """A token that is added to a vocabulary: tokenizers.AddedToken."""

    __slots__ = ("_content", "_lstrip", "_normalized", "_rstrip", "_single_word", "_special")

    def __init__(self, content: str | None = None, **kwargs: Any) -> None:
        self._set({"content": "" if content is None else text(content), **kwargs})

    def _set(self, fields: Mapping[str, Any]) -> None:
        """Sets all fields; those that are not given have their default."""
        self._content: str = fields.get("content", "")
        if not fields.keys() <= _FIELDS:
            warn_unknown(fields, tuple(_FIELDS))
        flags = {name: boolean(fields[name]) for name in _FLAGS if name in fields}
        self._single_word = flags.get("single_word", False)
        self._lstrip = flags.get("lstrip", False)
        self._rstrip = flags.get("rstrip", False)
        self._normalized: bool | None = flags.get("normalized")
        self._special = flags.get("special", False)

    @property
    def content(self) -> str:
        return self._content

    @content.setter
    def content(self, content: str) -> None:
        self._content = text(content)

    @property
    def single_word(self) -> bool:
        return self._single_word

    @property
    def lstrip(self) -> bool:
        return self._lstrip

    @property
    def rstrip(self) -> bool:
        return self._rstrip

    @property
    def normalized(self) -> bool:
        return not self._special if self._normalized is None else self._normalized

    @property
    def special(self) -> bool:
        return self._special

    @special.setter
    def special(self, special: bool) -> None:
        self._special = boolean(special)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "content": self._content,
            "single_word": self._single_word,
            "lstrip": self._lstrip,
            "rstrip": self._rstrip,
            "normalized": self.normalized,
            "special": self._special,
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._set(state)

    def __repr__(self) -> str:
        flags = ", ".join(f"{name}={getattr(self, name)}" for name in ("rstrip", "lstrip", *_FLAGS[:1], *_FLAGS[3:]))
        return f'AddedToken("{self._content}", {flags})'

    def __str__(self) -> str:
        return self._content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and self.__getstate__() == other.__getstate__()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: AddedToken) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __hash__(self) -> int:
        return hash(self._content)


def added_token(value: object, special: bool = False) -> AddedToken:
    """Returns a copy of an added token, which can be that of the original package; or makes one of its text."""
    token = AddedToken()
    if special and not isinstance(value, str) and hasattr(value, "special"):
        value.special = True  # the original changes the caller's token too
    if isinstance(value, str):
        token.__setstate__({"content": value, "special": special})
        return token
    if isinstance(value, AddedToken):
        fields = value.__getstate__()
        if value._normalized is None:
            del fields["normalized"]
    elif type(value).__name__ == "AddedToken" and hasattr(value, "__getstate__"):
        fields = value.__getstate__()
        if fields["normalized"] is not fields["special"]:
            del fields["normalized"]  # the default, as the original stores it
    else:
        raise TypeError("Input must be a List[Union[str, AddedToken]]")
    token.__setstate__({**fields, "special": True} if special else fields)
    return token
