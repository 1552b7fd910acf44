"""The texts of tokens as Hugging Face shows them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import _core
from .spec import Bpe, ChainDecode, Spec, Unigram

Text = str | bytes


def _visible() -> dict[int, str]:
    """GPT-2's table: bytes that Latin-1 prints are themselves, the others follow from U+0100 on."""
    prints = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (byte for byte in range(256) if byte not in prints)
    return {byte: chr(byte) for byte in prints} | {byte: chr(0x100 + i) for i, byte in enumerate(others)}


_VISIBLE = _visible()


def _is_space(char: str) -> bool:
    """Unicode's White_Space, which lacks four separators that Python counts."""
    return char.isspace() and char not in "\x1c\x1d\x1e\x1f"


class Names:
    """The texts of ids, bytes as GPT-2's characters; for added tokens with white space what was found, in a Unigram
    model the unknown text."""

    __slots__ = ("_added", "_byte_level", "_core", "_ids", "_unknown", "_wide")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._core = core
        self._ids: dict[int, str] = {}
        self._added = {token.id: token.text for token in spec.special}
        self._wide = {token.id: (token.lstrip, token.rstrip) for token in spec.special if token.lstrip or token.rstrip}
        self._byte_level = (isinstance(spec.decode, ChainDecode) and spec.decode.byte_level) or (
            isinstance(spec.model, Bpe) and spec.model.symbols == "bytes"
        )
        self._unknown = spec.names.get("unk") if isinstance(spec.model, Unigram) else None

    def of_id(self, id: int) -> str:
        """The text of an id."""
        found = self._ids.get(id)
        if found is None:
            found = self._ids[id] = self._text_of(id)
        return found

    def _text_of(self, id: int) -> str:
        if id in self._added:
            return self._added[id]
        piece = self._core.token_bytes(id)
        if self._byte_level:
            return "".join(_VISIBLE[byte] for byte in piece)
        return piece.decode(errors="replace")

    def of(
        self,
        text: Text,
        ids: npt.NDArray[np.uint32],
        starts: npt.NDArray[np.uint32],
        ends: npt.NDArray[np.uint32],
    ) -> list[str]:
        """The texts of all tokens of a text."""
        listed = ids.tolist()
        known = self._ids
        names = [known[id] if id in known else self.of_id(id) for id in listed]
        if self._unknown in listed:
            rows = self._core.tokens(text, (False, None, None))
            for i, (row, id) in enumerate(zip(rows, listed, strict=False)):
                if id == self._unknown:
                    names[i] = row[1].decode(errors="replace")
        if not self._wide.keys().isdisjoint(listed):
            self._widen(text.decode(errors="replace") if isinstance(text, bytes) else text, listed, names, starts, ends)
        return names

    def _widen(
        self,
        text: str,
        ids: list[int],
        names: list[str],
        starts: npt.NDArray[np.uint32],
        ends: npt.NDArray[np.uint32],
    ) -> None:
        """Tokens that take white space with them show it, even where it is trimmed off their spans."""
        done = 0
        for i, id in enumerate(ids):
            start, end = int(starts[i]), int(ends[i])
            if id in self._wide:
                left, right = self._wide[id]
                while left and start > done and _is_space(text[start - 1]):
                    start -= 1
                while right and end < len(text) and _is_space(text[end]):
                    end += 1
                names[i] = text[start:end]
            if id in self._added:
                done = end
