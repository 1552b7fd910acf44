"""Returns the texts of tokens as Hugging Face shows them."""

from __future__ import annotations

from . import _core
from .byte_level import CHARACTERS
from .spec import Bpe, ChainDecode, Kind, Spec


class TokenTexts:
    """The texts of ids. In byte-level vocabularies, bytes are written as GPT-2's characters.

    A special token has the text that matched. In a Unigram model, an unknown token has the unknown text.
    """

    __slots__ = ("_byte_level", "_cached_texts", "_core", "_ids_without_bytes", "_special_texts")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._core = core
        self._cached_texts: dict[int, str] = {}
        self._special_texts = {token.id: token.text for token in spec.special}
        self._byte_level = (isinstance(spec.decode, ChainDecode) and spec.decode.byte_level) or (
            isinstance(spec.model, Bpe) and spec.model.symbols == "bytes"
        )
        self._ids_without_bytes = (
            set(spec.vocab.ids[spec.vocab.kinds == Kind.UNUSED].tolist()) if self._byte_level else set()
        )

    def text_of_id(self, id: int) -> str:
        """Returns the text to show for an id that encoding inserted, such as an id of the template."""
        return self._special_texts[id] if id in self._special_texts else self._text_of_row(id)

    def text_of_token(self, id: int, known_text: bytes | None) -> str:
        """Returns the text of a token: ``known_text`` if the engine has one, else the text of its id."""
        if known_text is not None:
            return known_text.decode(errors="replace")
        text = self._cached_texts.get(id)
        if text is None:
            text = self._cached_texts[id] = self._text_of_row(id)
        return text

    def _text_of_row(self, id: int) -> str:
        piece = self._core.token_bytes(id)
        if self._byte_level and id not in self._ids_without_bytes:
            return "".join(CHARACTERS[byte] for byte in piece)
        return piece.decode(errors="replace")
