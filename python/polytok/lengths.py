"""The lengths of encodings as values: `Truncation` and `Padding`, and what callers can write in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from .checked import checked_fields
from .checks import number, one_of, optional_number, shown
from .errors import ArgumentError

Strategy: TypeAlias = Literal["longest_first", "only_first", "only_second"]
Direction: TypeAlias = Literal["left", "right"]

USUAL_PADS = ("[PAD]", "<pad>", "<|pad|>", "<PAD>")
"""The texts of special tokens that are pads in a vocabulary that names no pad token."""

_DIRECTIONS = get_args(Direction)
_STRATEGIES = get_args(Strategy)


@checked_fields
@dataclass(frozen=True, slots=True)
class Truncation:
    """Truncates to ``max_length`` tokens, including special tokens; the other tokens are in overflowing windows.

    Adjacent windows share ``stride`` tokens. For a pair, ``longest_first`` shortens the longer text until both texts
    have the same length, and then both texts; the other strategies shorten only one text. ``direction`` is the side
    from which tokens are removed. Raises `ArgumentError` for values out of range.

    >>> import polytok
    >>> cut = polytok.load("default").encoding("a b c", truncation=Truncation(2, stride=1))
    >>> cut.tokens, [window.tokens for window in cut.overflowing]
    (['a', 'Ġb'], [['Ġb', 'Ġc']])
    """

    max_length: int
    stride: int = 0
    strategy: Strategy = "longest_first"
    direction: Direction = "right"

    def __post_init__(self) -> None:
        number("max_length", self.max_length, least=0)
        number("stride", self.stride, least=0)
        one_of("strategy", self.strategy, _STRATEGIES)
        one_of("direction", self.direction, _DIRECTIONS)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Truncation:
        """Reads the truncation from the member ``truncation`` of a tokenizer.json."""
        strategies: dict[str, Strategy] = {
            "LongestFirst": "longest_first",
            "OnlyFirst": "only_first",
            "OnlySecond": "only_second",
        }
        strategy = strategies[fields["strategy"]]
        return cls(fields["max_length"], fields["stride"], strategy, _parse_direction(fields.get("direction", "Right")))


@checked_fields
@dataclass(frozen=True, slots=True)
class Padding:
    """Pads to ``length``; without a length, pads to the length of the longest encoding in the batch.

    The length is rounded up to a multiple of ``to_multiple_of``.

    ``id`` is the id of pads, or a piece of the vocabulary, such as ``"<|endoftext|>"``. With ``"auto"``, pads are the
    vocabulary's pad token, or those of the padding settings in its file, or its only special token with the text
    ``[PAD]``, ``<pad>``, ``<|pad|>`` or ``<PAD>``. A vocabulary without them is an `ArgumentError`, and so is an id or
    a piece that is not in the vocabulary. ``token`` is the text of pads, by default the piece, or ``[PAD]`` if ``id``
    is a number; without an ``id``, it is a piece that has the id. ``type_id`` is the type id of pads, and ``direction``
    the side to which they are added. Raises `ArgumentError` for values out of range.

    >>> import polytok
    >>> polytok.load("default").encoding("a b c", padding=Padding(to_multiple_of=4, id=7)).ids[3:]
    [7]
    """

    length: int | None = None
    to_multiple_of: int | None = None
    id: int | str = "auto"
    type_id: int = 0
    token: str | None = None
    direction: Direction = "right"

    def __post_init__(self) -> None:
        for name in ("length", "to_multiple_of"):
            optional_number(name, getattr(self, name), least=0)
        # None is the `eos_id` of a vocabulary without an eos; the error about it lists the tokens of the vocabulary.
        if not isinstance(self.id, str | None):
            object.__setattr__(self, "id", number("id", self.id, least=0))
        number("type_id", self.type_id, least=0)
        if not isinstance(self.token, str | None):
            raise ArgumentError(f"token={shown(self.token)} is not the text of a token")
        one_of("direction", self.direction, _DIRECTIONS)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Padding:
        """Reads the padding from the member ``padding`` of a tokenizer.json."""
        strategy = fields["strategy"]
        return cls(
            length=strategy["Fixed"] if isinstance(strategy, Mapping) else None,
            to_multiple_of=fields.get("pad_to_multiple_of"),
            id=fields["pad_id"],
            type_id=fields["pad_type_id"],
            token=fields["pad_token"],
            direction=_parse_direction(fields["direction"]),
        )

    def target(self, encodings: Iterable[Sized]) -> int:
        """Returns the length to which these encodings are padded."""
        length = max(map(len, encodings), default=0) if self.length is None else self.length
        return length + -length % self.to_multiple_of if self.to_multiple_of else length


def truncation_of(value: Truncation | int | bool | str | None) -> Truncation | Literal[True] | None:
    """Returns the truncation that a caller means; True for the setting of the tokenizer's file.

    A number is the length. The package transformers writes "do_not_truncate", or a strategy with its length apart.

    >>> truncation_of(2), truncation_of("do_not_truncate")
    (Truncation(max_length=2, stride=0, strategy='longest_first', direction='right'), None)
    """
    if value is None or value is False or value == "do_not_truncate":
        return None
    if value is True or isinstance(value, Truncation):
        return value
    if isinstance(value, str) and value in _STRATEGIES:
        raise ArgumentError(
            f"truncation={value!r} has no length: pass a polytok.Truncation(max_length, strategy={value!r})"
        )
    length = _length(value)
    if length is None:
        accepted = "a length, a polytok.Truncation, or True for the setting of the tokenizer's file"
        raise ArgumentError(f"truncation={shown(value)} is not {accepted}")
    return Truncation(length)


def padding_of(value: Padding | int | bool | str | None) -> Padding | Literal[True] | None:
    """Returns the padding that a caller means; True for the setting of the tokenizer's file.

    A number is the length, and "longest" pads to the longest encoding, as in the package transformers.

    >>> padding_of(16).length, padding_of("longest").length
    (16, None)
    """
    if value is None or value is False or value == "do_not_pad":
        return None
    if value is True or isinstance(value, Padding):
        return value
    if value == "longest":
        return Padding()
    if value == "max_length":
        raise ArgumentError("padding='max_length' has no length: pass the length, such as padding=128")
    length = _length(value)
    if length is None:
        accepted = "a length, a polytok.Padding, 'longest', or True for the setting of the tokenizer's file"
        raise ArgumentError(f"padding={shown(value)} is not {accepted}")
    return Padding(length)


def _length(value: object) -> int | None:
    """Returns a value as a length, or None if it is not one."""
    try:
        return number("length", value, least=0)
    except ArgumentError:
        return None


def _parse_direction(name: str) -> Direction:
    return "left" if name == "Left" else "right"
