"""The normalization and split steps of one part of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..reference.invalid_utf8 import valid_length
from ..spec import ByteLevel, Metaspace, PatternSplit, PieceSpace
from .alternatives import Alternatives, piece_alternative
from .changes import Origins, changes_of
from .data import NormalizeStep, SplitPiece, SplitStep, Step
from .descriptions import describe_model, describe_normalize, describe_split
from .probes import Probes, Rewritten


class Steps:
    """Runs the steps of one Spec, one at a time."""

    def __init__(self, probes: Probes) -> None:
        self.probes, self.spec = probes, probes.spec
        self._alternatives = [
            Alternatives(probes, step) if isinstance(step, PatternSplit) else None for step in self.spec.split
        ]
        self._normalize_texts = [(type(step).__name__, describe_normalize(step)) for step in self.spec.normalize]
        self._split_texts = [(type(step).__name__, describe_split(step)) for step in self.spec.split]
        self.rewrites_pieces = _rewrites(self.spec.split)

    def __iter__(self) -> Iterator[Step]:
        """Yields the steps of the whole pipeline."""
        count = len(self.probes.specials)
        yield Step("special", "special", f"finds special tokens; the vocabulary has {count}")
        yield from (Step("normalize", *texts) for texts in self._normalize_texts)
        yield from (Step("split", *texts) for texts in self._split_texts)
        yield Step("model", type(self.spec.model).__name__, describe_model(self.spec))
        yield Step("post", "post", f"unknown text: {self.spec.unknown}; adds the template's ids if asked to")

    def normalize(self, text: bytes) -> tuple[list[NormalizeStep], Origins]:
        """Returns the normalization steps of a part, and where each byte of the normalized text comes from."""
        origins = Origins.of_length(len(text))
        steps: list[NormalizeStep] = []
        before = text
        for number, texts in enumerate(self._normalize_texts):
            runs = self.probes.normalize_step(number, before)
            after = b"".join(run.text for run in runs)
            changes = () if after == before else tuple(changes_of(before, runs))
            steps.append(NormalizeStep(*texts, before, after, changes))
            if after != before:
                origins = origins.after(runs)
            before = after
        return steps, origins

    def empty_splits(self) -> list[SplitStep]:
        """Returns the split steps without pieces."""
        steps = zip(self._split_texts, self._alternatives, strict=True)
        return [SplitStep(*texts, (), alternatives.texts if alternatives else ()) for texts, alternatives in steps]

    def split(self, text: bytes, first_length: int) -> list[list[SplitPiece]]:
        """Returns the pieces of a text after each split step. ``first_length``: the number of bytes that come from the
        first character of the caller's text; 0 if the text starts later."""
        valid_text = text[: valid_length(text)]
        whole = [Rewritten(valid_text, 0, len(valid_text))] if valid_text else []
        result: list[list[SplitPiece]] = []
        pieces_of_steps = self._pieces_of_steps(text, valid_text, first_length)
        for number, (previous, pieces) in enumerate(pairwise([whole, *pieces_of_steps])):
            found = zip(pieces, self._alternatives_of(number, previous, pieces), strict=True)
            result.append([SplitPiece(piece.start, piece.end, piece.text, *which) for piece, which in found])
        return result

    def _pieces_of_steps(self, text: bytes, valid_text: bytes, first_length: int) -> list[list[Rewritten]]:
        """Returns the pieces after each split step."""
        result: list[list[Rewritten]] = []
        for number, step in enumerate(self.spec.split):
            # Metaspace can add a space before each piece that comes from the first character, if there are several.
            is_apart = any(0 < piece.start < first_length for piece in (result[-1] if result else []))
            if is_apart and isinstance(step, Metaspace) and step.prepend == "first" and text == valid_text:
                return self._pieces_one_by_one(text, first_length)
            # Only steps that rewrite pieces accept text that is not UTF-8.
            split_text = text if _rewrites(self.spec.split[: number + 1]) else valid_text
            result.append(self.probes.split(number + 1, split_text, is_first=first_length > 0))
        return result

    def _pieces_one_by_one(self, text: bytes, first_length: int) -> list[list[Rewritten]]:
        """Returns the pieces after each split step, as each step makes them of every piece before it alone."""
        result: list[list[Rewritten]] = []
        pieces = [(text, Origins.of_length(len(text)))]
        for step in self.spec.split:
            pieces = [
                (found, origins.of_ranges(starts, ends))
                for piece, origins in pieces
                for found, starts, ends in self.probes.split_origins(step, piece, origins.starts[0] < first_length)
            ]
            result.append([Rewritten(piece, *origins.range(0, len(piece))) for piece, origins in pieces])
        return result

    def _alternatives_of(
        self, number: int, previous: Sequence[Rewritten], pieces: Sequence[Rewritten]
    ) -> list[tuple[int | None, str | None]]:
        """Returns for each piece the alternative of the pattern that matched: its index and its text."""
        alternatives = self._alternatives[number]
        unknown: list[tuple[int | None, str | None]] = [(None, None)] * len(pieces)
        if alternatives is None:
            return unknown
        found: list[tuple[int | None, str | None]] = []
        texts: list[bytes] = []
        for piece in previous:
            matches = alternatives.matches(piece.text)
            at = 0
            for part in self.probes.split_by(self.spec.split[number], piece.text):
                while at < len(matches) and matches[at][0] < part.start:
                    at += 1
                index = piece_alternative(matches[at : at + 1], part.start, part.end)
                found.append((index, None if index is None else alternatives.texts[index]))
                texts.append(part.text)
        return found if texts == [piece.text for piece in pieces] else unknown


def extended(step: SplitStep, pieces: Sequence[SplitPiece], normalized: bytes, shift: int) -> SplitStep:
    """Returns a split step with more pieces, whose ranges are moved by ``shift``."""
    moved = tuple(
        SplitPiece(piece.start + shift, piece.end + shift, piece.text, piece.alternative, piece.alternative_text)
        for piece in pieces
    )
    rewrites = step.rewrites or any(normalized[piece.start : piece.end] != piece.text for piece in moved)
    return SplitStep(step.name, step.description, (*step.pieces, *moved), step.alternatives, rewrites)


def _rewrites(steps: Sequence[object]) -> bool:
    """Reports whether one of some split steps changes the bytes of pieces."""
    return any(isinstance(step, (Metaspace, PieceSpace, ByteLevel)) for step in steps)
