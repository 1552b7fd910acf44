"""Handles training texts that are not UTF-8, according to the option ``bad_bytes``."""

from __future__ import annotations

import codecs
from dataclasses import replace

from ..errors import EncodeError
from ..keywords import keyword
from ..reading import BadBytes, SkippedText
from ..reading.documents import NOT_UTF8_REASON
from ..reading.files import Part
from ..utf8 import repaired
from ..values import Text


class Utf8Converter:
    """Converts texts to UTF-8, or keeps, skips or rejects texts that are not UTF-8."""

    def __init__(self, bad_bytes: BadBytes) -> None:
        self._bad_bytes = bad_bytes
        self._decoder: codecs.IncrementalDecoder | None = None
        self._position = 0  # of the decoder's next byte in the text

    def text(self, text: Text, place: str) -> bytes | SkippedText:
        """Returns the bytes of a text, or the report of a skipped text.

        Lone surrogates are replaced as in `polytok.Tokenizer`, unless the option is "error" or "skip". Raises
        `EncodeError` if the option is "error".
        """
        try:
            if isinstance(text, str):
                return self._encode(text)
            if self._bad_bytes != "keep":
                text.decode()
            return text
        except UnicodeError as error:
            if self._bad_bytes == "replace" and isinstance(text, bytes):
                return text.decode(errors="replace").encode()
            return self._skip_or_raise(place, error)

    def _encode(self, text: str) -> bytes:
        return (text if self._bad_bytes in ("error", "skip") else repaired(text)).encode()

    def _skip_or_raise(self, place: str, error: UnicodeError) -> SkippedText:
        if self._bad_bytes == "skip":
            return SkippedText(NOT_UTF8_REASON, place)
        byte_place = f" at byte {self._position + error.start}" if isinstance(error, UnicodeDecodeError) else ""
        byte_place = f" at character {error.start}" if isinstance(error, UnicodeEncodeError) else byte_place
        raise EncodeError(
            f"{place}: not UTF-8{byte_place}; {keyword('bad_bytes', 'replace')} replaces invalid bytes, and "
            f"{keyword('bad_bytes', 'skip')} skips the text"
        ) from error

    def part(self, part: Part) -> Part:
        """Returns a part of a text as UTF-8, or unchanged if bad bytes are kept.

        An incomplete character at the end of a part is returned with the next part. Raises `EncodeError` for bytes that
        are not UTF-8 if the option is "error"; the option "skip" needs whole texts.
        """
        return part if self._bad_bytes == "keep" else replace(part, data=self._checked_data(part))

    def _checked_data(self, part: Part) -> bytes:
        if self._decoder is None:
            errors = "strict" if self._bad_bytes == "error" else "replace"
            self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        try:
            text = self._decoder.decode(part.data, part.is_last).encode()
        except UnicodeDecodeError as error:
            self._skip_or_raise(part.place, error)
            raise
        self._position += len(text)
        if part.is_last:
            self._decoder, self._position = None, 0
        return text
