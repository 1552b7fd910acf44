"""The texts of tokens as Hugging Face shows them."""

from __future__ import annotations

from . import _core
from .byte_level import CHARACTERS
from .spec import Bpe, ChainDecode, Kind, Spec


class Names:
    """The texts of ids, with bytes as GPT-2's characters. A special token gives the text that was matched; in a Unigram
    model an unknown token gives the unknown text.
    """

    __slots__ = ("_added", "_byte_level", "_core", "_ids", "_plain")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._core = core
        self._ids: dict[int, str] = {}
        self._added = {token.id: token.text for token in spec.special}
        self._byte_level = (isinstance(spec.decode, ChainDecode) and spec.decode.byte_level) or (
            isinstance(spec.model, Bpe) and spec.model.symbols == "bytes"
        )
        self._plain = set(spec.vocab.ids[spec.vocab.kinds == Kind.UNUSED].tolist()) if self._byte_level else set()

    def of_id(self, id: int) -> str:
        """The text of an id by itself."""
        return self._added[id] if id in self._added else self._of_row(id)

    def of(self, id: int, said: bytes | None) -> str:
        """The text of a token that the model produced, or that the engine has a text for."""
        if said is not None:
            return said.decode(errors="replace")
        found = self._ids.get(id)
        if found is None:
            found = self._ids[id] = self._of_row(id)
        return found

    def _of_row(self, id: int) -> str:
        piece = self._core.token_bytes(id)
        if self._byte_level and id not in self._plain:
            return "".join(CHARACTERS[byte] for byte in piece)
        return piece.decode(errors="replace")
