"""Decodes ids as they arrive."""

from __future__ import annotations

import codecs

from . import _core
from .values import Errors, Ids


class StreamDecoder:
    """Decodes ids one at a time and returns text as soon as its bytes are complete.

    The concatenation of everything that `push` and `finish` return is what `Tokenizer.decode` returns for all ids at
    once.

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
        """The text completed by one more id, or several; it can be empty. If it raises, the ids are not consumed."""
        return self._text.decode(self._stream.push(ids))

    def finish(self) -> str:
        """The text still held back. The decoder is then reset."""
        try:
            return self._text.decode(self._stream.finish(), final=True)
        finally:
            self._text.reset()
