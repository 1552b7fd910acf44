"""Returns the texts of tokens as Hugging Face shows them."""

from __future__ import annotations

from . import _core
from .byte_level import CHARACTERS
from .columns import has_kind
from .spec import ChainDecode, Kind, Spec, merges_bytes


class TokenTexts:
    """The texts of ids. In byte-level vocabularies, bytes are written as GPT-2's characters.

    A special token has the text that matched. In a Unigram model, an unknown token has the unknown text.
    """

    __slots__ = ("_byte_level", "_cached_texts", "_core", "_ids_without_bytes", "_special_texts")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._core = core
        self._cached_texts: dict[int, str] = {}
        self._special_texts = {token.id: token.text for token in spec.special}
        self._byte_level = (isinstance(spec.decode, ChainDecode) and spec.decode.byte_level) or merges_bytes(spec.model)
        self._ids_without_bytes = (
            set(spec.vocab.ids[has_kind(spec.vocab.kinds, Kind.UNUSED)].tolist()) if self._byte_level else set()
        )

    def text_of_id(self, id: int) -> str:
        """Returns the text to show for an id that encoding inserted, such as an id of the template."""
        return self._special_texts[id] if id in self._special_texts else self._text_of_row(id)

    def texts_of_tokens(self, ids: list[int], own_texts: list[tuple[int, bytes]]) -> list[str]:
        """Returns the texts of tokens: the text of its id for each token that ``own_texts`` does not list by index."""
        text_of_id = self._cached_texts
        for id in ids:
            if id not in text_of_id:
                text_of_id[id] = self._text_of_row(id)
        texts = [text_of_id[id] for id in ids]
        for index, text in own_texts:
            texts[index] = text.decode(errors="replace")
        return texts

    def _text_of_row(self, id: int) -> str:
        piece = self._core.token_bytes(id)
        if self._byte_level and id not in self._ids_without_bytes:
            return "".join(CHARACTERS[byte] for byte in piece)
        return piece.decode(errors="replace")
