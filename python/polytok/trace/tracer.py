"""The tracer of one tokenizer, which keeps what all its traces need."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _core
from ..canonical import CanonicalTest
from ..fingerprint import fingerprint
from ..options import OptionResolver
from ..records import replace
from ..spec import Spec, Template
from .probes import Probes
from .steps import Steps

MAX_BYTES = 10_240
"""The number of bytes of a text up to which all pieces are walked."""
MAX_PIECE_BYTES = 102_400
"""The number of bytes of a piece that can be walked if ``piece`` or ``at`` selects it."""
MAX_TEXT_BYTES = 1_048_576
"""The number of bytes of a text of which one piece can be walked."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pieces whose walks are wanted: one by its index or by an offset in the text, or all of them."""

    piece: int | None = None
    at: int | None = None

    @property
    def is_all(self) -> bool:
        """Whether all pieces are wanted."""
        return self.piece is None and self.at is None

    def has(self, index: int, start: int, end: int) -> bool:
        """Reports whether a piece is wanted."""
        return self.is_all or index == self.piece or (self.at is not None and start <= self.at < end)

    def __str__(self) -> str:
        return f"piece={self.piece}" if self.at is None else f"at={self.at}"


class Tracer:
    """What the traces of one tokenizer need: its Spec and its engine, and the probes of its steps."""

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self.spec, self.core = spec, core
        self.probes = Probes(spec)
        self.steps = Steps(self.probes)
        self.resolve_options = OptionResolver(core).resolve
        self._canonical_test: CanonicalTest | None = None
        self._model: _core.Tokenizer | None = None

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the Spec in hexadecimal."""
        return fingerprint(self.spec).hex()

    @property
    def name(self) -> str:
        """The name of the vocabulary; if it has none, its format and the start of its fingerprint."""
        return self.spec.origin.name or f"{self.spec.origin.format} {self.fingerprint[:12]}"

    @property
    def canonical_test(self) -> CanonicalTest:
        """The test for lists of ids."""
        if self._canonical_test is None:
            self._canonical_test = CanonicalTest(self.spec, self.core)
        return self._canonical_test

    def ids_of_piece(self, text: bytes) -> list[int]:
        """Returns the ids of a piece by the engine's model alone."""
        if self._model is None:
            spec = replace(self.spec, special=(), normalize=(), split=(), post=Template(), trim=None)
            self._model = _core.Tokenizer(spec)
        return self._model.encode(text)
