"""Encodes a text step by step, as the original does: for tokenizers with a component in Python, and to train."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from ...tokenizer import Tokenizer as Engine
from . import alone
from .added_token import AddedToken
from .component import Component
from .encoding import Columns
from .in_python import normalize, pre_tokenize
from .normalized_string import WHITE_SPACE, NormalizedString
from .pre_tokenized_string import Piece, PreTokenizedString
from .token import Token
from .vocabulary import AddedTokens

_WORD_CATEGORIES = frozenset({"Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_JOINERS = "\u200c\u200d"


class Steps:
    """The steps before the model, for one state of a tokenizer."""

    def __init__(
        self, normalizer: Component | None, pre_tokenizer: Component | None, added: AddedTokens, ignores_special: bool
    ) -> None:
        """``ignores_special`` is the setting encode_special_tokens."""
        self._normalizer, self._pre_tokenizer = normalizer, pre_tokenizer
        self._ignored = added.special if ignores_special else frozenset()
        self.forms = {id: self._form(token) for id, token in added.by_id.items()}
        self._raw = _finder({id: token for id, token in added.by_id.items() if not token.normalized}, self.forms)
        self._normalized = _finder({id: token for id, token in added.by_id.items() if token.normalized}, self.forms)

    def _form(self, token: AddedToken) -> str:
        """Returns the text by which an added token is found."""
        if not token.normalized or self._normalizer is None:
            return token.content
        form = NormalizedString(token.content)
        normalize(self._normalizer, form)
        return form.normalized

    def pieces(self, text: str) -> PreTokenizedString:
        """Returns a text in pieces, of which the added tokens are tokenized."""
        pieces = PreTokenizedString(text)
        pieces.split_into(lambda index, part: self._cut(part, self._raw))
        pieces.split_into(self._normalized_and_cut)
        if self._pre_tokenizer is not None:
            pre_tokenize(self._pre_tokenizer, pieces)
        return pieces

    def _normalized_and_cut(self, index: int, part: NormalizedString) -> list[Piece]:
        if self._normalizer is not None:
            normalize(self._normalizer, part)
        return self._cut(part, self._normalized)

    def _cut(self, part: NormalizedString, find: _Finder) -> list[Piece]:
        """Cuts a text at the added tokens in it."""
        text, at = part.normalized, 0
        pieces: list[Piece] = []
        for id, token, start, stop in find(text):
            if token.content in self._ignored or (token.single_word and not _is_word(text, start, stop)):
                continue
            while token.lstrip and start > at and text[start - 1] in WHITE_SPACE:
                start -= 1
            while token.rstrip and stop < len(text) and text[stop] in WHITE_SPACE:
                stop += 1
            if at < start:
                pieces.append(Piece(_part(part, at, start)))
            value = text[start:stop]
            pieces.append(Piece(_part(part, start, stop), [Token(id, value, (0, len(value.encode())))]))
            at = stop
        if not pieces:
            return [Piece(part)]
        return [*pieces, Piece(_part(part, at, len(text)))] if at < len(text) else pieces


_Finder = Callable[[str], Iterator[tuple[int, AddedToken, int, int]]]


def _finder(tokens: dict[int, AddedToken], forms: dict[int, str]) -> _Finder:
    """Returns a function that finds the longest tokens from left to right."""
    ids = {forms[id]: id for id in tokens if forms[id]}
    if not ids:
        return lambda text: iter(())
    pattern = re.compile("|".join(re.escape(form) for form in sorted(ids, key=len, reverse=True)))

    def find(text: str) -> Iterator[tuple[int, AddedToken, int, int]]:
        for match in pattern.finditer(text):
            id = ids[match[0]]
            yield id, tokens[id], match.start(), match.end()

    return find


def _part(part: NormalizedString, start: int, stop: int) -> NormalizedString:
    cut = part.slice((start, stop))
    assert cut is not None
    return cut


def _is_word(text: str, start: int, stop: int) -> bool:
    return not (start and _is_in_word(text[start - 1])) and not (stop < len(text) and _is_in_word(text[stop]))


def _is_in_word(character: str) -> bool:
    return character.isalpha() or unicodedata.category(character) in _WORD_CATEGORIES or character in _JOINERS


class StepEncoder:
    """Encodes texts by steps; ``model`` is the engine with the model only."""

    def __init__(self, steps: Steps, model: Engine) -> None:
        self._steps, self._model = steps, model
        self._known: dict[str, list[Token]] = {}

    def columns(self, sequence: Any, type_id: int, is_pretokenized: bool) -> Columns:
        """Returns the tokens of a text, or of a list of words."""
        if not is_pretokenized:
            return self._columns(sequence, type_id, None)
        merged = Columns()
        for index, word in enumerate(sequence):
            merged.merge(self._columns(str(word), type_id, index), False)
        return merged

    def _columns(self, text: str, type_id: int, word: int | None) -> Columns:
        pieces = self._steps.pieces(text)
        pieces.pieces = [
            piece if piece.tokens is not None else Piece(piece.normalized, self._tokens(piece.normalized.normalized))
            for piece in pieces.pieces
        ]
        return pieces.columns(type_id, word)

    def _tokens(self, text: str) -> list[Token]:
        tokens = self._known.get(text)
        if tokens is None:
            tokens = [Token(*fields) for fields in alone.tokens_of(self._model, text)]
            self._known[text] = tokens
        return tokens
