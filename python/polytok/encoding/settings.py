"""The truncation and padding that a caller means: of the call, of the tokenizer's file, or by the vocabulary's pad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .. import _core
from ..errors import ArgumentError, TokenIdError
from ..lengths import USUAL_PADS, Padding, Truncation, padding_of, truncation_of
from ..names import TokenTexts
from ..spec import Spec
from ..special_list import sorted_for_role, special_tokens_text


class Settings:
    """Completes the truncation and padding of a call, for one Spec."""

    __slots__ = ("_core", "_names", "_spec")

    def __init__(self, spec: Spec, core: _core.Tokenizer, names: TokenTexts) -> None:
        self._spec = spec
        self._core = core
        self._names = names

    def truncation(self, requested: Truncation | int | bool | str | None) -> Truncation | None:
        """Returns the caller's truncation; True selects the truncation in the tokenizer's file."""
        truncation = truncation_of(requested)
        if truncation is not True:
            return truncation
        if (fields := setting_of_file(self._spec, "truncation")) is None:
            raise ArgumentError(
                "truncation=True uses the setting of the tokenizer's file, which has none; pass a length"
            )
        return Truncation.from_json(fields)

    def padding(self, requested: Padding | int | bool | str | None) -> Padding | None:
        """Returns the caller's padding with an id. True selects the padding in the tokenizer's file, if it has one.

        Raises `ArgumentError` if neither the caller, the vocabulary nor the file's settings have an id for pads.
        """
        padding = padding_of(requested)
        if padding is True:
            fields = setting_of_file(self._spec, "padding")
            return self._with_pad(Padding()) if fields is None else Padding.from_json(fields)
        return None if padding is None else self._with_pad(padding)

    def _with_pad(self, padding: Padding) -> Padding:
        """Returns the padding with the id and the text of pads."""
        if isinstance(padding.id, int):
            self._check_pad_id(padding.id)
            return padding
        if padding.id not in ("auto", None):
            return replace(padding, id=self._pad_id_of("id", padding.id), token=padding.token or padding.id)
        if padding.token is not None:
            return replace(padding, id=self._pad_id_of("token", padding.token))
        if (id := self._spec.names.get("pad")) is not None:
            return replace(padding, id=id, token=self._names.text_of_id(id))
        if (fields := setting_of_file(self._spec, "padding")) is not None:
            return replace(padding, id=fields["pad_id"], token=fields["pad_token"])
        if (token := self._usual_pad()) is not None:
            return replace(padding, id=token[1], token=token[0])
        raise ArgumentError(self._no_pad_message(padding))

    def _no_pad_message(self, padding: Padding) -> str:
        tokens = self._special_tokens()
        likely_token = sorted_for_role(tokens, "pad")[0] if tokens else 0
        problem = "padding= needs an id for pads, because the vocabulary names no pad token"
        if padding.id is None:
            problem = "Padding(id=None) has no id: pad_id and eos_id are None if the vocabulary names no such token"
        return f"{problem}; pass Padding(id={likely_token!r}), or train with pad=; {special_tokens_text(tokens, 'pad')}"

    def _usual_pad(self) -> tuple[str, int] | None:
        """Returns the special token with a usual text of pads and its id; None unless exactly one token has such a
        text."""
        tokens = [token for token in self._special_tokens().items() if token[0] in USUAL_PADS]
        return tokens[0] if len(tokens) == 1 else None

    def _check_pad_id(self, id: int) -> None:
        try:
            self._core.token_bytes(id)
        except TokenIdError:
            raise ArgumentError(
                f"Padding(id={id}) is not an id of the vocabulary; {special_tokens_text(self._special_tokens(), 'pad')}"
            ) from None

    def _pad_id_of(self, field: str, piece: str) -> int:
        id = self._core.id_of(piece.encode(errors="surrogateescape"))
        if id is None:
            raise ArgumentError(
                f"Padding({field}={piece!r}) is not in the vocabulary: name another token, or its id; "
                f"{special_tokens_text(self._special_tokens(), 'pad')}"
            )
        return id

    def _special_tokens(self) -> dict[str, int]:
        return {text.decode(errors="replace"): id for text, id in self._core.special_tokens()}


def setting_of_file(spec: Spec, name: str) -> Mapping[str, Any] | None:
    """Returns the setting in the tokenizer.json that the tokenizer was read from, or None."""
    document: Mapping[str, Any] = spec.extra.get("huggingface", {}).get("document", {})
    setting: Mapping[str, Any] | None = document.get(name)
    return setting
