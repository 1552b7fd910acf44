"""Decodes ids as they arrive."""

from __future__ import annotations

import codecs
from _thread import RLock  # importing the module threading takes longer
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from . import _core, checks
from .arguments import ERRORS
from .errors import ArgumentError
from .keywords import keyword
from .values import Errors, Ids

if TYPE_CHECKING:
    from typing_extensions import Unpack

UnknownIds = Literal["skip", "error"]
UNKNOWN_IDS = (None, "skip", "error")
_OPTIONS = ("skip_special", "errors", "eager", "unknown", "stop")


class StreamKeywords(TypedDict, total=False):
    """The options of a decoder of ids that arrive one by one; see `Tokenizer.decoder`."""

    skip_special: bool
    errors: Errors
    eager: bool
    unknown: UnknownIds | None
    stop: Sequence[str]


class ByteDecoder:
    """Decodes ids one by one to bytes; a character can be divided between two results.

    >>> import polytok
    >>> stream = polytok.load("default").byte_decoder()
    >>> stream.push(97) + stream.push([98, 33]) + stream.finish()
    b'ab!'
    """

    __slots__ = ("_stream",)

    def __init__(self, stream: _core.ByteStream) -> None:
        self._stream = stream

    def push(self, ids: int | Ids) -> bytes:
        """Decodes one more id, or several, and returns the bytes that they complete, which can be empty.

        If an id is an error, no id is consumed.
        """
        try:
            return self._stream.push(ids)
        except TypeError:
            checks.iterable("ids", ids, "ids, or an id")
            raise

    def finish(self) -> bytes:
        """Returns the remaining bytes, and resets the decoder."""
        return self._stream.finish()


class StreamDecoder:
    """Decodes ids one by one and returns each character when no later id can change it.

    All texts that `push` and `finish` return, concatenated, equal the text that `Tokenizer.decode` returns for all ids,
    or, with ``stop``, the part of it before the first stop text. `Tokenizer.decoder` has the options.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> stream = tokenizer.decoder(stop=["\\nUser:"])
    >>> ids = tokenizer.encode("A 世 😀\\nUser: and more")
    >>> "".join([*(stream.push(id) for id in ids), stream.finish()])
    'A 世 😀'
    >>> stream.stopped, stream.consumed < len(ids)
    ('\\nUser:', True)
    """

    __slots__ = ("_stream",)

    def __init__(self, stream: _core.TextStream | _HandlerStream) -> None:
        self._stream = stream

    def push(self, ids: int | Ids) -> str:
        """Decodes one more id, or several, and returns the text that they complete, which can be empty.

        If decoding raises an error, no id is consumed. After a stop text, ids are ignored.
        """
        try:
            return self._stream.push(ids)
        except TypeError:
            checks.iterable("ids", ids, "ids, or an id")
            raise

    def finish(self) -> str:
        """Returns the remaining text, and resets the decoder. `stopped` and `consumed` stay until the next `push`."""
        return self._stream.finish()

    @property
    def stopped(self) -> str | None:
        """The stop text that ended the text, or None."""
        return self._stream.stopped

    @property
    def consumed(self) -> int:
        """The number of ids that were decoded. After a stop text, the last of these ids completed the stop text."""
        return self._stream.consumed


class StreamDecoders:
    """Many decoders of ids, which are advanced in one call, for a server that generates many replies together.

    Each decoder has a place, a number from 0 on. `add` uses free places first, so a place stays the same until `remove`
    frees it. ``len(decoders)`` is the number of places, including free ones.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> decoders = tokenizer.decoders(2)
    >>> decoders.push([97, [98, 33]])
    ['a', 'b!']
    >>> decoders.remove(0)
    >>> decoders.push([None, 99])
    ['', 'c']
    >>> decoders.add(stop=["."])
    0
    """

    __slots__ = ("_keywords", "_streams")

    def __init__(self, streams: _core.TextStreams, n: int, keywords: StreamKeywords) -> None:
        self._streams = streams
        self._keywords = keywords
        options = stream_options(keywords, "decoders")
        streams.add(n, *options)

    def __len__(self) -> int:
        return len(self._streams)

    def __repr__(self) -> str:
        return f"StreamDecoders({len(self)} places)"

    def push(self, ids: Iterable[int | Ids | None]) -> list[str]:
        """Decodes an id, several ids or None for each place, and returns the text for each place, which can be empty.

        ``ids`` has an item for each place, None for a free place; it can be an array of shape (places,). If an id is an
        error, no decoder consumes an id.
        """
        try:
            return self._streams.push(ids)
        except TypeError:
            for place, item in enumerate(checks.iterable("ids", ids, "ids, with an item for each place")):
                if item is not None and not hasattr(item, "__index__"):
                    checks.iterable(f"ids[{place}]", item, "ids, or an id, or None")
            raise

    def add(self, **options: Unpack[StreamKeywords]) -> int:
        """Adds a decoder and returns its place. Options that are not given are those of `Tokenizer.decoders`."""
        keywords: StreamKeywords = {**self._keywords, **options}
        [place] = self._streams.add(1, *stream_options(keywords, "add"))
        return place

    def remove(self, place: int) -> None:
        """Removes the decoder at a place, which is then free; its remaining text is dropped."""
        self._streams.remove(checks.number("place", place, least=0))

    def finish(self, place: int) -> str:
        """Returns the remaining text of the decoder at a place, and resets this decoder.

        Its values in `stopped` and `consumed` stay until its next id.
        """
        return self._streams.finish(checks.number("place", place, least=0))

    @property
    def stopped(self) -> list[str | None]:
        """For each place, the stop text that ended the text, or None."""
        return self._streams.stopped

    @property
    def consumed(self) -> list[int]:
        """For each place, the number of ids that were decoded, as in `StreamDecoder`."""
        return self._streams.consumed


class _HandlerStream:
    """Decodes with an error handler of Python that the engine does not have."""

    stopped = None

    def __init__(self, stream: _core.ByteStream, errors: str) -> None:
        self._stream = stream
        self._lock = RLock()  # the text must get the bytes in the order in which they are decoded
        self._text = codecs.getincrementaldecoder("utf-8")(errors)
        self._is_finished = False
        self.consumed = 0

    def push(self, ids: int | Ids) -> str:
        if isinstance(ids, Iterable):
            ids = list(ids)
        with self._lock:
            text = self._text.decode(self._stream.push(ids))
            self.consumed = (0 if self._is_finished else self.consumed) + (len(ids) if isinstance(ids, list) else 1)
            self._is_finished = False
            return text

    def finish(self) -> str:
        with self._lock:
            self._is_finished = True
            try:
                return self._text.decode(self._stream.finish(), final=True)
            finally:
                self._text.reset()


def create_decoder(core: _core.Tokenizer, keywords: StreamKeywords) -> StreamDecoder:
    """Returns a decoder with these options."""
    errors = keywords.get("errors", "replace")
    if errors not in ERRORS and not keywords.get("stop"):
        skip_special, eager, unknown, _, _ = stream_options({**keywords, "errors": "replace"}, "decoder")
        return StreamDecoder(
            _HandlerStream(core.byte_stream(skip_special, eager, unknown), checks.error_handler("errors", errors))
        )
    return StreamDecoder(core.text_stream(*stream_options(keywords, "decoder")))


def stream_options(keywords: StreamKeywords, method: str) -> tuple[bool, bool, UnknownIds | None, Errors, list[str]]:
    """Checks the options of a decoder; returns them in the order of the engine."""
    checks.keywords(method, keywords, _OPTIONS)
    errors = keywords.get("errors", "replace")
    if errors not in ERRORS:
        checks.one_of("errors", errors, ERRORS)
    return (
        checks.flag("skip_special", keywords.get("skip_special", False)),
        checks.flag("eager", keywords.get("eager", False)),
        unknown_ids(keywords.get("unknown")),
        errors,
        _stop_texts(keywords.get("stop", ())),
    )


def unknown_ids(unknown: object) -> UnknownIds | None:
    """Checks the option ``unknown``, and returns it."""
    checked: UnknownIds | None = checks.one_of("unknown", unknown, UNKNOWN_IDS)
    return checked


def _stop_texts(stop: object) -> list[str]:
    """Checks the option ``stop``, and returns the texts."""
    texts = checks.texts("stop", stop, "stop texts")
    for place, text in enumerate(texts):
        if not text:
            raise ArgumentError(f"{keyword(f'stop[{place}]={text!r}')} is empty; a stop text has characters")
        try:
            text.encode() if isinstance(text, str) else text.decode()
        except UnicodeError:
            raise ArgumentError(
                f"{keyword(f'stop[{place}]={text!r}')} is not UTF-8, so no decoded text has it; pass whole characters"
            ) from None
    return texts
