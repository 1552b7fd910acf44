"""Decoding ids as they come."""

from __future__ import annotations

import codecs

from . import _core
from .values import Errors, Ids


class StreamDecoder:
    """Decodes ids one after the other and gives text as soon as its bytes are complete.

    All that `push` and `finish` return, put together, is what `Tokenizer.decode` returns for all ids at once.

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
        """The text that one more id, or several, complete; it may be empty. After an error nothing was taken."""
        return self._text.decode(self._stream.push(ids))

    def finish(self) -> str:
        """What is still held back. The decoder is new afterwards."""
        try:
            return self._text.decode(self._stream.finish(), final=True)
        finally:
            self._text.reset()
