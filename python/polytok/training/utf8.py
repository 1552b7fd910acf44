"""Treats training texts that are not UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from ..errors import EncodeError
from ..reading import Invalid, SkippedText
from ..reading.documents import NO_UTF8
from ..values import Text
from .reading import Part


class Utf8:
    """Applies the chosen treatment to texts as they arrive."""

    def __init__(self, invalid: Invalid) -> None:
        self._invalid = invalid
        self._decoder: codecs.IncrementalDecoder | None = None
        self._held: list[bytes] = []

    def text(self, text: Text, place: str) -> bytes | SkippedText:
        """A text's bytes. Surrogates are repaired as in `polytok.Tokenizer`, unless they are an error."""
        try:
            if isinstance(text, str):
                return self._encoded(text)
            if self._invalid != "keep":
                text.decode()
            return text
        except UnicodeError as error:
            if self._invalid == "replace" and isinstance(text, bytes):
                return text.decode(errors="replace").encode()
            return self._refused(place, error)

    def _encoded(self, text: str) -> bytes:
        try:
            return text.encode()
        except UnicodeEncodeError:
            if self._invalid in ("error", "skip"):
                raise
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()

    def _refused(self, place: str, error: UnicodeError) -> SkippedText:
        if self._invalid == "skip":
            return SkippedText(NO_UTF8, place)
        where = f" at {error.start}" if isinstance(error, (UnicodeDecodeError, UnicodeEncodeError)) else ""
        raise EncodeError(f"{place}: no UTF-8{where}; invalid='replace' or 'skip' says what to do with it") from error

    def part(self, part: Part) -> Iterator[Part | SkippedText]:
        """A part of a text, which can end inside a character. A text that can be skipped is buffered to its end."""
        if self._invalid == "keep":
            yield part
        elif self._invalid == "skip":
            self._held.append(part.data)
            if part.is_last:
                text = self.text(b"".join(self._held), part.place)
                self._held = []
                yield text if isinstance(text, SkippedText) else Part(text, True, part.place)
        else:
            yield Part(self._decoded(part), part.is_last, part.place)

    def _decoded(self, part: Part) -> bytes:
        if self._decoder is None:
            errors = "strict" if self._invalid == "error" else "replace"
            self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        try:
            text = self._decoder.decode(part.data, part.is_last)
        except UnicodeDecodeError as error:
            self._refused(part.place, error)
            raise
        if part.is_last:
            self._decoder = None
        return text.encode()
