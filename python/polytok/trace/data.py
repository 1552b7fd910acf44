"""The data of a trace: what each step of the pipeline did with a text.

Offsets are in bytes of the text in UTF-8, unless a name says otherwise. `Trace.to_json` has the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from ..notebook import pieces_html
from ..reference.walks import Walk

Stage = Literal["special", "normalize", "split", "model", "post"]


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the pipeline: its stage, its name as in the Spec, and what it does in plain words."""

    stage: Stage
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class SpecialFound:
    """A special token that was found in the text, or that the template added. ``why`` is a sentence.

    ``in_normalized``: it was searched for in the normalized text. Tokens of the kind ``user_defined`` are found by
    SentencePiece's models in their pieces, so they are tokens of a piece too.
    """

    id: int
    piece: bytes
    start: int
    end: int
    kind: Literal["special", "added", "template", "user_defined"]
    why: str
    in_normalized: bool = False


@dataclass(frozen=True, slots=True)
class SpecialSeen:
    """The text of a special token that occurs in the text and is encoded as plain text. ``why`` is a sentence."""

    id: int
    piece: bytes
    start: int
    end: int
    why: str


@dataclass(frozen=True, slots=True)
class Change:
    """A range that a normalization step changed: bytes ``before_start`` to ``before_end`` of the text before the step
    became bytes ``after_start`` to ``after_end`` of the text after it."""

    before_start: int
    before_end: int
    after_start: int
    after_end: int


@dataclass(frozen=True, slots=True)
class NormalizeStep:
    """A normalization step: the text before and after it, and the ranges that it changed."""

    name: str
    description: str
    before: bytes
    after: bytes
    changes: tuple[Change, ...]

    @property
    def is_unchanged(self) -> bool:
        """Whether the step changed nothing."""
        return self.before == self.after


@dataclass(frozen=True, slots=True)
class SplitPiece:
    """A piece after a split step: its range in the normalized text, and its bytes.

    ``alternative`` is the index of the alternative of the pattern that matched, and ``alternative_text`` its source;
    None if the piece is no match (a gap between matches), if the step has no pattern, or if the pattern cannot be
    taken apart. Pieces have other bytes than their range if a step rewrites text.
    """

    start: int
    end: int
    text: bytes
    alternative: int | None = None
    alternative_text: str | None = None


@dataclass(frozen=True, slots=True)
class SplitStep:
    """A split step and the pieces after it. ``alternatives`` are those of its pattern. ``rewrites``: the step changes
    the bytes of pieces."""

    name: str
    description: str
    pieces: tuple[SplitPiece, ...]
    alternatives: tuple[str, ...] = ()
    rewrites: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece, which the model encodes: its bytes, its range in the text and in the normalized text.

    ``walk`` is what the model did; None if only another piece is walked. ``ids`` are the ids of the piece,
    and ``tokens`` the indexes of its tokens in `Trace.tokens`.
    """

    index: int
    text: bytes
    start: int
    end: int
    normalized_start: int
    normalized_end: int
    ids: tuple[int, ...]
    tokens: tuple[int, ...]
    walk: Walk | None


@dataclass(frozen=True, slots=True)
class Part:
    """A text between special tokens, with all steps that it went through."""

    start: int
    end: int
    normalize: tuple[NormalizeStep, ...]
    normalized: bytes
    split: tuple[SplitStep, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class PostStep:
    """A step after the model: ids that the template adds (``before`` or ``after`` the text), or the treatment of
    unknown text (``unknown``)."""

    name: Literal["before", "after", "unknown"]
    description: str
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token. ``part`` and ``piece_index`` are the indexes of its part and its piece; None for special tokens."""

    id: int
    piece: bytes
    start: int
    end: int
    is_special: bool
    part: int | None
    piece_index: int | None


@dataclass(frozen=True, slots=True)
class GivenIds:
    """Ids that were traced: whether the tokenizer returns them for their text, and where not.

    From the index ``first_noncanonical`` on, ``given`` are the rest of the ids and ``canonical_ids`` those of the text.
    """

    ids: tuple[int, ...]
    canonical: bool
    first_noncanonical: int | None
    given: tuple[TokenRow, ...]
    canonical_rows: tuple[TokenRow, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened to a text: every step from the text to its ids. See `Tokenizer.trace`."""

    SCHEMA: ClassVar[int] = 1

    model: str
    text: bytes
    add_special: bool
    special: tuple[str, ...] | Literal["all"]
    steps: tuple[Step, ...]
    specials: tuple[SpecialFound, ...]
    not_taken: tuple[SpecialSeen, ...]
    parts: tuple[Part, ...]
    post: tuple[PostStep, ...]
    tokens: tuple[TokenRow, ...]
    given: GivenIds | None = None

    @property
    def schema(self) -> int:
        """The version of the data's shape, which is also in the JSON."""
        return self.SCHEMA

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the text."""
        return tuple(token.id for token in self.tokens)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of all parts."""
        return tuple(piece for part in self.parts for piece in part.pieces)

    def to_json(self) -> dict[str, Any]:
        """Returns the trace as a value that `json.dumps` accepts.

        The names are those of the classes. Bytes are ``{"text": ...}`` if they are UTF-8, else ``{"hex": ...}``. A walk
        and its events have their kind under ``"kind"``.

        >>> import polytok
        >>> polytok.load("default").trace("a b").to_json()["ids"]
        [97, 6993]
        """
        return {"schema": self.SCHEMA, "ids": list(self.ids), **_fields_to_json(self)}

    def __repr__(self) -> str:
        return f"<polytok.Trace of {len(self.text)} bytes by {self.model}: {len(self.tokens)} tokens>"

    def _repr_html_(self) -> str:
        """Returns the tokens as HTML, which notebooks show; `polytok.web.html_of_traces` returns everything."""
        heading = f"polytok.Trace of {len(self.text):,} bytes by {self.model}: {len(self.tokens):,} tokens"
        return pieces_html(heading, ((token.piece, token.id, token.is_special) for token in self.tokens))


def _fields_to_json(record: Any) -> dict[str, Any]:
    kind = getattr(type(record), "kind", None)
    tag = {"kind": kind} if isinstance(kind, str) else {}
    return {**tag, **{field.name: _to_json(getattr(record, field.name)) for field in fields(record)}}


def _to_json(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # JSON has no infinities
    if isinstance(value, bytes):
        return bytes_to_json(value)
    if isinstance(value, Mapping):
        return {key: _to_json(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _to_json(item) for key, item in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [_to_json(item) for item in value]
    return _fields_to_json(value)


def bytes_to_json(data: bytes) -> dict[str, str]:
    """Returns bytes as text if they are UTF-8, else in hexadecimal.

    >>> bytes_to_json(b"a"), bytes_to_json(bytes([255]))
    ({'text': 'a'}, {'hex': 'ff'})
    """
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"hex": data.hex()}
