"""Builds encodings: the parts of the template, and the tokens of the texts in its slots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .. import _core
from ..checks import shown
from ..errors import EncodeError
from ..lengths import Padding, Truncation
from ..names import TokenTexts
from ..spec import Insert, Slot, Spec, TemplatePart
from .result import Encoding, TextlessTokens, TextTokens, TokenRun
from .settings import Settings, setting_of_file
from .windows import windows_of_texts

Text: TypeAlias = str | bytes | _core.Parts
Words: TypeAlias = Sequence[Text]

_TEXT_NAMES = ("text", "pair")

_Template: TypeAlias = tuple[TextlessTokens | Slot, ...]


class Encoder:
    """Builds encodings from the columns that the engine returns, for one Spec."""

    __slots__ = ("_core", "_has_one_type", "_has_simple_templates", "_names", "_templates", "settings")

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._core = core
        self._names = TokenTexts(spec, core)
        self.settings = Settings(spec, core, self._names)
        templates = [self._template_parts(spec.post.single), self._template_parts(spec.post.pair)]
        slots = [tuple(part for part in template if isinstance(part, Slot)) for template in templates]
        # The first index is whether special tokens are added, the second is whether there is a second text.
        self._templates: Sequence[Sequence[_Template]] = (slots, templates)
        # Whether the template for a single text contains no second text.
        self._has_simple_templates = all(part.text == 0 for part in slots[0])
        processor: Mapping[str, Any] = setting_of_file(spec, "post_processor") or {}
        processors = processor.get("processors", [processor])
        self._has_one_type = any(part.get("type") == "RobertaProcessing" for part in processors)

    def encode(
        self,
        text: Text | Words,
        pair: Text | Words | None,
        options: _core.ResolvedOptions | None,
        truncation: Truncation | None,
        words: bool,
    ) -> Encoding:
        """Returns the encoding of a text or of a pair; with ``words`` the inputs are lists of words."""
        texts = (text,) if pair is None else (text, pair)
        to_columns = self._columns_of_words if words else self._columns_of_text
        columns = [to_columns(name, one_text, options) for name, one_text in zip(_TEXT_NAMES, texts, strict=False)]
        adds = options is not None and options.add_special
        template = self._templates[adds][pair is not None]
        if truncation is None:
            return Encoding(tuple([self._whole_part(part, columns) for part in template]))
        template_length = sum(len(part) for part in template if not isinstance(part, Slot))
        windows = windows_of_texts([len(text) for text in columns], truncation, template_length)
        encoding = Encoding(())
        for part in template:
            encoding = encoding.merged(self._part_in_windows(part, columns, windows, self._has_one_type and adds))
        return encoding

    def encode_text(self, text: Any, options: _core.ResolvedOptions | None) -> Encoding:
        """Returns the encoding of a single text that is not truncated. It is that of `encode`, in half of the time."""
        is_str = text.__class__ is str
        columns = self._core.token_columns(text, options) if is_str else self._columns_of_text("text", text, options)
        template = self._templates[options is not None and options.add_special][0]
        if not self._has_simple_templates:
            return Encoding(tuple([self._whole_part(part, (columns,)) for part in template]))
        names, length = self._names, len(columns)
        parts = [
            part if part.__class__ is TextlessTokens else TextTokens(columns, names, 0, length, 0, part.type_id)
            for part in template
        ]
        return Encoding(tuple(parts))

    def _whole_part(self, part: TextlessTokens | Slot, columns: Sequence[_core.TokenColumns]) -> TokenRun:
        """Returns the tokens of a part of a template; in a slot, the tokens of the whole text."""
        if not isinstance(part, Slot):
            return part
        text = _text_of_slot(part, columns)
        return TextTokens(text, self._names, 0, len(text), part.text, part.type_id)

    def _part_in_windows(
        self,
        part: TextlessTokens | Slot,
        columns: Sequence[_core.TokenColumns],
        windows: Sequence[Sequence[tuple[int, int]]],
        has_one_type: bool,
    ) -> Encoding:
        """Returns an encoding with the tokens of a part of a template; in a slot, with the first window of the text.

        The other windows overflow; their type ids are the indices of the texts, or 0 in the
        template of RobertaProcessing.
        """
        if not isinstance(part, Slot):
            return Encoding((part,))
        text = _text_of_slot(part, columns)
        type_id = 0 if has_one_type else part.text
        first_window, *overflowing = (
            TextTokens(text, self._names, *span, part.text, type_id) for span in windows[part.text]
        )
        first_window.type_id = part.type_id
        return Encoding((first_window,), tuple(Encoding((window,)) for window in overflowing))

    @staticmethod
    def pad(encodings: list[Encoding], padding: Padding) -> list[Encoding]:
        """Pads all encodings to the same length."""
        length = padding.target(encodings)
        return [encoding.padded(length, padding) for encoding in encodings]

    def _template_parts(self, parts: Sequence[TemplatePart]) -> _Template:
        def to_tokens(part: Insert) -> TextlessTokens:
            return TextlessTokens(part.ids, tuple(map(self._names.text_of_id, part.ids)), part.type_id, (1, 1))

        return tuple(to_tokens(part) if isinstance(part, Insert) else part for part in parts)

    def _columns_of_text(self, name: str, text: object, options: _core.ResolvedOptions | None) -> _core.TokenColumns:
        if not isinstance(text, (str, bytes, _core.Parts)):
            advice = "for a list of words pass pretokenized=True" if isinstance(text, Sequence) else "pass str or bytes"
            raise TypeError(f"{name}={shown(text)} is not a text: {advice}")
        return self._core.token_columns(text, options)

    def _columns_of_words(self, name: str, words: object, options: _core.ResolvedOptions | None) -> _core.TokenColumns:
        if isinstance(words, (str, bytes, _core.Parts)) or not isinstance(words, Iterable):
            raise TypeError(f"{name}={shown(words)} is not a list of words, which pretokenized=True needs")
        return self._core.token_columns_of_words([*words], options)


def _text_of_slot(slot: Slot, columns: Sequence[_core.TokenColumns]) -> _core.TokenColumns:
    if slot.text >= len(columns):
        raise EncodeError("the template for a single text contains a second text; pass a pair")
    return columns[slot.text]
