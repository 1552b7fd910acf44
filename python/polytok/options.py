"""The options of every encoding, as one value."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from .errors import ArgumentError
from .values import Special


class _Fields(NamedTuple):
    add_special: bool
    special: Special
    reject_special: bool


class Options(_Fields):
    """The options of every encoding. One value serves many calls and any tokenizer, which prepares it once.

    * ``add_special``: add the format's own special ids around the text (BOS, if the model has one).
    * ``special``: the special tokens to recognise in the text, as a set of their texts or ``"all"``; by default none,
      so that text from outside cannot inject any. Text between two special tokens is encoded as if it were a text of
      its own.
    * ``reject_special``: raise `SpecialTokenError` if the text contains a special token that is not in ``special``.

    Raises `ArgumentError` if ``special`` is one text.

    >>> import polytok
    >>> chat = polytok.Options(special="all")
    >>> polytok.load("default").encode("a<|endoftext|>", options=chat)
    [97, 32767]
    """

    # A tuple, because keywords are converted to one in every call: it is created and hashed four times as fast as a
    # dataclass.
    __slots__ = ()

    def __new__(cls, add_special: bool = False, special: Special = (), reject_special: bool = False) -> Options:
        if special != "all":
            if isinstance(special, str):
                raise ArgumentError(f'special={special!r} is neither "all" nor a set of texts')
            special = frozenset(special)
        return tuple.__new__(cls, (add_special, special, reject_special))


class OptionKeywords(TypedDict, total=False):
    """The fields of `Options` as keywords of a call."""

    add_special: bool
    special: Special
    reject_special: bool
