"""The options of all methods that encode, as one value."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from .errors import ArgumentError
from .values import Special


class _OptionFields(NamedTuple):
    """The fields of `Options`."""

    add_special: bool
    special: Special
    reject_special: bool


class Options(_OptionFields):
    """The options of all methods that encode. One value can be used in many calls, by any tokenizer.

    * ``add_special``: adds the special ids of the template around the text (BOS, if the model has one).
    * ``special``: the special tokens to recognise in the text, as a set of their texts or ``"all"``; by default no
      special tokens, so that text from outside cannot inject special tokens. The text between two special tokens is
      encoded like a separate text.
    * ``reject_special``: raises `SpecialTokenError` if the text contains a special token that is not in ``special``.

    Raises `ArgumentError` if ``special`` is a single text.

    >>> import polytok
    >>> chat = polytok.Options(special="all")
    >>> polytok.load("default").encode("a<|endoftext|>", options=chat)
    [97, 32767]
    """

    # Options is a tuple, because every call with keywords creates one. A tuple is created and hashed four times as fast
    # as a dataclass.
    __slots__ = ()

    def __new__(cls, add_special: bool = False, special: Special = (), reject_special: bool = False) -> Options:
        if special != "all":
            if isinstance(special, str):
                raise ArgumentError(f'special={special!r} is not "all" or a set of texts')
            special = frozenset(special)
        return tuple.__new__(cls, (add_special, special, reject_special))


class OptionKeywords(TypedDict, total=False):
    """The fields of `Options` as keywords of a call."""

    add_special: bool
    special: Special
    reject_special: bool
