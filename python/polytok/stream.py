"""Decodes ids as they arrive."""

from __future__ import annotations

import codecs
from typing import NoReturn

from . import _core, checks
from .values import Errors, Ids


class ByteDecoder:
    """Decodes ids one by one to bytes; a character can be divided between two results.

    >>> import polytok
    >>> stream = polytok.load("default").byte_decoder()
    >>> stream.push(97) + stream.push([98, 33]) + stream.finish()
    b'ab!'
    """

    __slots__ = ("_stream",)

    def __init__(self, stream: _core.DecodeStream) -> None:
        self._stream = stream

    def push(self, ids: int | Ids) -> bytes:
        """Decodes one more id, or several, and returns the bytes that they complete, which can be empty.

        If decoding raises an error, the ids are not consumed.
        """
        try:
            return self._stream.push(ids)
        except TypeError:
            _refuse(self._stream, ids)

    def finish(self) -> bytes:
        """Returns the remaining bytes, and resets the decoder."""
        return self._stream.finish()


class StreamDecoder:
    """Decodes ids one by one and returns text as soon as its bytes are complete.

    All texts that `push` and `finish` return, concatenated, equal the text that `Tokenizer.decode` returns for all ids.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> stream = tokenizer.decoder()
    >>> "".join([*(stream.push(id) for id in tokenizer.encode("A 世 😀")), stream.finish()])
    'A 世 😀'
    """

    __slots__ = ("_stream", "_text")

    def __init__(self, stream: _core.DecodeStream, errors: Errors) -> None:
        self._stream = stream
        self._text = codecs.getincrementaldecoder("utf-8")(errors)

    def push(self, ids: int | Ids) -> str:
        """Decodes one more id, or several, and returns the text that they complete, which can be empty.

        If decoding raises an error, the ids are not consumed.
        """
        try:
            data = self._stream.push(ids)
        except TypeError:
            _refuse(self._stream, ids)
        return self._text.decode(data)

    def finish(self) -> str:
        """Returns the text of the remaining bytes, and resets the decoder."""
        try:
            return self._text.decode(self._stream.finish(), final=True)
        finally:
            self._text.reset()


def _refuse(stream: _core.DecodeStream, ids: object) -> NoReturn:
    """Raises the error for a value that ``push`` does not accept, while the engine's `TypeError` is handled."""
    if isinstance(ids, int):
        stream.push([ids])  # raises the error of an id that no vocabulary has
    checks.iterable("ids", ids, "ids, or an id")
    raise
