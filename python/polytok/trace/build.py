"""Builds a trace: runs each stage of the pipeline alone, and compares the result with the engine's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .. import _core
from ..canonical import CanonicalTest
from ..errors import ArgumentError, PolytokError
from ..fingerprint import fingerprint
from ..keywords import keyword
from ..options import OptionResolver, Options
from ..records import replace
from ..reference import models
from ..reference.invalid_utf8 import tokens_to_remove, valid_length
from ..reference.stages import RefToken
from ..reference.walks import Walk
from ..spec import ByteLevel, Metaspace, PatternSplit, PieceSpace, Slot, Spec, Template
from ..values import Token
from .alternatives import Alternatives, piece_alternative
from .changes import Origins, changes_of
from .data import (
    NormalizeStep,
    Part,
    Piece,
    PostStep,
    SpecialFound,
    SpecialSeen,
    SplitPiece,
    SplitStep,
    Step,
    TokenRow,
    Trace,
)
from .descriptions import describe_model, describe_normalize, describe_split, normalize_name
from .probes import Cut, Probes, Rewritten

MAX_BYTES = 10_240
"""The number of bytes of a text up to which all pieces are walked."""
MAX_PIECE_BYTES = 102_400
"""The number of bytes of a piece that can be walked if it is asked for."""
MAX_TEXT_BYTES = 1_048_576
"""The number of bytes of a text of which one piece can be walked."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pieces whose walks are wanted: one by its index or by an offset in the text, or all of them."""

    piece: int | None = None
    at: int | None = None

    @property
    def is_all(self) -> bool:
        return self.piece is None and self.at is None

    def has(self, index: int, start: int, end: int) -> bool:
        """Reports whether a piece is wanted."""
        return self.is_all or index == self.piece or (self.at is not None and start <= self.at < end)

    def __str__(self) -> str:
        return f"piece={self.piece}" if self.at is None else f"at={self.at}"


@dataclass(frozen=True, slots=True)
class _Found:
    """A special token in the text."""

    place: int
    start: int
    end: int
    in_normalized: bool


@dataclass(frozen=True, slots=True)
class _RawPiece:
    """A piece before its walk: its bytes, and its range in the normalized text of its part."""

    text: bytes
    start: int
    end: int


class Tracer:
    """Traces texts by one tokenizer."""

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self.spec, self.core = spec, core
        self.probes = Probes(spec)
        self._resolve_options = OptionResolver(core).resolve
        self._alternatives: dict[int, Alternatives] = {}
        self._canonical_test: CanonicalTest | None = None
        self._model: _core.Tokenizer | None = None

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the Spec in hexadecimal."""
        return fingerprint(self.spec).hex()

    @property
    def canonical_test(self) -> CanonicalTest:
        """The test for lists of ids."""
        if self._canonical_test is None:
            self._canonical_test = CanonicalTest(self.spec, self.core)
        return self._canonical_test

    def trace(self, text: bytes, options: Options, wanted: Wanted) -> Trace:
        """Returns the trace of a text."""
        if len(text) > MAX_TEXT_BYTES or (len(text) > MAX_BYTES and wanted.is_all):
            raise ArgumentError(
                f"the text has {len(text):,} bytes; a trace has at most {MAX_BYTES:,}, or with "
                f"{keyword('piece')} or {keyword('at')} the walk of one piece of a text of up to "
                f"{MAX_TEXT_BYTES:,}"
            )
        tokens = self.core.tokens(text, self._resolve_options(options, {}, "trace"))
        return _Build(self, text, options, wanted, tokens).trace()

    def alternatives(self, number: int) -> Alternatives | None:
        """Returns the alternatives of a split step; None if the step has no pattern."""
        step = self.spec.split[number]
        if not isinstance(step, PatternSplit):
            return None
        if number not in self._alternatives:
            self._alternatives[number] = Alternatives(self.probes, step)
        return self._alternatives[number]

    def ids_of_piece(self, text: bytes) -> list[int]:
        """Returns the ids of a piece by the engine's model alone."""
        if self._model is None:
            spec = replace(self.spec, special=(), normalize=(), split=(), post=Template(), trim=None)
            self._model = _core.Tokenizer(spec)
        return self._model.encode(text)

    def steps(self) -> Iterator[Step]:
        """Yields the steps of the pipeline."""
        count = len(self.probes.specials)
        yield Step("special", "special", f"finds special tokens; the vocabulary has {count}")
        for normalize in self.spec.normalize:
            yield Step("normalize", normalize_name(normalize), describe_normalize(normalize))
        for split in self.spec.split:
            yield Step("split", type(split).__name__, describe_split(split))
        yield Step("model", type(self.spec.model).__name__, describe_model(self.spec))
        yield Step("post", "post", f"unknown text: {self.spec.unknown}; adds the template's ids if asked to")


class _Build:
    """The building of one trace."""

    def __init__(self, tracer: Tracer, text: bytes, options: Options, wanted: Wanted, tokens: Sequence[Token]) -> None:
        self.tracer, self.probes, self.spec = tracer, tracer.probes, tracer.spec
        self.text, self.options, self.wanted = text, options, wanted
        self.engine_tokens = tokens
        self.before = self.spec.post.before if options.add_special else ()
        self.after = self.spec.post.after if options.add_special else ()
        self.rows: list[TokenRow] = []
        self.specials: list[SpecialFound] = []
        self.parts: list[Part] = []
        self.piece_count = 0
        self.walked = False

    def trace(self) -> Trace:
        has_text = False
        for template_part in self.spec.post.single:
            if isinstance(template_part, Slot):
                self._add_text()
                has_text = True
            elif self.options.add_special:
                self._add_template(template_part.ids, len(self.text) if has_text else 0)
        if len(self.rows) != len(self.engine_tokens):
            raise self._difference(len(self.rows))
        if not self.wanted.is_all and not self.walked:
            raise ArgumentError(
                f"{keyword(str(self.wanted))} is no piece: the text has {self.piece_count} pieces, counted from 0, and "
                "special tokens and dropped text are not in a piece"
            )
        special = self.options.special
        return Trace(
            model=self.spec.origin.name or f"{self.spec.origin.format} {self.tracer.fingerprint[:12]}",
            text=self.text,
            add_special=self.options.add_special,
            special="all" if special == "all" else tuple(sorted(special)),
            steps=tuple(self.tracer.steps()),
            specials=tuple(self.specials),
            not_taken=tuple(self._not_taken()),
            parts=tuple(self.parts),
            post=tuple(self._post_steps()),
            tokens=tuple(self.rows),
        )

    def _add_text(self) -> None:
        for cut in self.probes.cut(self.text, self.options.special):
            if cut.special is None:
                self._add_part(cut)
            else:
                self._add_special(_Found(cut.special, cut.start, cut.end, in_normalized=False))

    # Special tokens

    def _add_special(self, found: _Found) -> None:
        token = self.probes.specials[found.place]
        if token.special:
            allowed = "'all'" if self.options.special == "all" else f"{{{token.text!r}}}"
            kind, why = "special", f"allowed by special={allowed}"
        else:
            kind, why = "added", "an added token, which is always recognized"
        row = self._take(token.id, is_special=True)
        self.specials.append(
            SpecialFound(token.id, row.piece, found.start, found.end, kind, why, found.in_normalized)  # type: ignore[arg-type]
        )

    def _add_template(self, ids: Sequence[int], at: int) -> None:
        for id in ids:
            row = self._take(id, is_special=True)
            why = "added by the template (add_special=True)"
            self.specials.append(SpecialFound(id, row.piece, at, at, "template", why))

    def _not_taken(self) -> Iterator[SpecialSeen]:
        """Yields the special tokens that occur in the text and are not allowed."""
        if self.options.special == "all":
            return
        taken = {(found.start, found.id) for found in self.specials}
        for cut in self.probes.cut(self.text, "all"):
            token = None if cut.special is None else self.probes.specials[cut.special]
            if token and (cut.start, token.id) not in taken:
                why = "plain text, because special= does not allow it"
                yield SpecialSeen(token.id, self.text[cut.start : cut.end], cut.start, cut.end, why)

    # Parts

    def _add_part(self, cut: Cut) -> None:
        text = self.text[cut.start : cut.end]
        steps, origins = self._normalize(text)
        normalized = steps[-1].after if steps else text
        number = len(self.parts)
        splits = [
            SplitStep(type(step).__name__, describe_split(step), (), tuple(alternatives.texts if alternatives else ()))
            for place, step in enumerate(self.spec.split)
            for alternatives in [self.tracer.alternatives(place)]
        ]
        pieces: list[Piece] = []
        for sub_cut in self.probes.cut_normalized(normalized, self.options.special) if normalized else []:
            start, end = origins.range(sub_cut.start, sub_cut.end)
            if sub_cut.special is not None:
                self._add_special(_Found(sub_cut.special, cut.start + start, cut.start + end, in_normalized=True))
                continue
            sub_text = normalized[sub_cut.start : sub_cut.end]
            steps_pieces = self._split(sub_text, is_first=cut.start + start == 0)
            for place, split_pieces in enumerate(steps_pieces):
                splits[place] = _extended(splits[place], split_pieces, normalized, sub_cut.start)
            raw_pieces = _last_pieces(sub_text, steps_pieces, sub_cut.start)
            is_broken = bool(self.spec.split) and valid_length(sub_text) < len(sub_text)
            add = self._add_broken_pieces if is_broken and not _rewrites(self.spec.split) else self._add_pieces
            pieces += add(raw_pieces, number, cut.start, origins, normalized[: sub_cut.end])
        self.parts.append(Part(cut.start, cut.end, tuple(steps), normalized, tuple(splits), tuple(pieces)))

    def _normalize(self, text: bytes) -> tuple[list[NormalizeStep], Origins]:
        """Returns the normalization steps of a part, and where each byte of the normalized text comes from."""
        origins = Origins.of_length(len(text))
        steps: list[NormalizeStep] = []
        before = text
        for number, step in enumerate(self.spec.normalize):
            runs = self.probes.normalize_step(number, before)
            after = b"".join(run.text for run in runs)
            changes = () if after == before else tuple(changes_of(before, runs))
            steps.append(NormalizeStep(normalize_name(step), describe_normalize(step), before, after, changes))
            if after != before:
                origins = origins.after(runs)
            before = after
        return steps, origins

    def _split(self, text: bytes, is_first: bool) -> list[list[SplitPiece]]:
        """Returns the pieces of a text after each split step."""
        if not self.spec.split:
            return []
        valid_text = text[: valid_length(text)]
        pieces = [Rewritten(valid_text, 0, len(valid_text))] if valid_text else []
        result: list[list[SplitPiece]] = []
        for number in range(len(self.spec.split)):
            # Only steps that rewrite pieces accept text that is not UTF-8.
            split_text = text if _rewrites(self.spec.split[: number + 1]) else valid_text
            previous, pieces = pieces, self.probes.split(number + 1, split_text, is_first)
            found = self._alternatives_of(number, previous, pieces)
            result.append(
                [
                    SplitPiece(piece.start, piece.end, piece.text, *alternative)
                    for piece, alternative in zip(pieces, found, strict=True)
                ]
            )
        return result

    def _alternatives_of(
        self, number: int, previous: Sequence[Rewritten], pieces: Sequence[Rewritten]
    ) -> list[tuple[int | None, str | None]]:
        """Returns for each piece the alternative of the pattern that matched: its index and its text."""
        alternatives = self.tracer.alternatives(number)
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

    # Pieces

    def _add_pieces(
        self, raw_pieces: Sequence[_RawPiece], part: int, shift: int, origins: Origins, normalized: bytes
    ) -> Iterator[Piece]:
        after_unknown = False
        for raw in raw_pieces:
            start, end = origins.range(raw.start, raw.end)
            walk, ids, joins, after_unknown = self._walk(raw, shift + start, shift + end, after_unknown)
            yield self._piece(raw, (shift + start, shift + end), part, walk, ids, joins)

    def _add_broken_pieces(
        self, raw_pieces: Sequence[_RawPiece], part: int, shift: int, origins: Origins, normalized: bytes
    ) -> Iterator[Piece]:
        """Adds the pieces of a text that is not UTF-8: the tokens of the last piece before the first invalid byte are
        removed, and their bytes and all bytes after them are one piece (`polytok.reference.invalid_utf8`)."""
        walks = [models.walk(self.spec, raw.text) for raw in raw_pieces]
        tokens = [
            RefToken(-1 if id is None else id, raw.text[start:end], raw.start + start, raw.start + end)
            for raw, walk in zip(raw_pieces, walks, strict=True)
            for id, start, end in walk.segments
        ]
        removed = tokens_to_remove(tokens, len(walks[-1].segments)) if walks else 0
        kept = len(tokens) - removed
        for raw, kept_walk in zip(raw_pieces, walks, strict=True):
            segments = kept_walk.segments[: max(0, kept)]
            kept -= len(segments)
            if segments:
                ids, _ = models.ids_of(self.spec, raw.text, segments)
                start, end = origins.range(raw.start, raw.start + segments[-1].end)
                shown = _RawPiece(raw.text[: segments[-1].end], raw.start, raw.start + segments[-1].end)
                yield self._piece(shown, (shift + start, shift + end), part, kept_walk, ids, joins=False)
        first = len(tokens) - removed
        sub_start = raw_pieces[0].start if raw_pieces else 0
        valid_end = sub_start + valid_length(normalized[sub_start:])
        rest = _RawPiece(
            b"".join(token.piece for token in tokens[first:]) + normalized[valid_end:],
            tokens[first].start if removed else valid_end,
            len(normalized),
        )
        start, end = origins.range(rest.start, rest.end)
        walk, ids, joins, _ = self._walk(rest, shift + start, shift + end, False)
        yield self._piece(rest, (shift + start, shift + end), part, walk, ids, joins)

    def _walk(
        self, raw: _RawPiece, start: int, end: int, after_unknown: bool
    ) -> tuple[Walk | None, list[int], bool, bool]:
        """Returns the walk of a piece if it is wanted, its ids, whether its start is joined to the unknown text before
        it, and whether it ends with unknown text."""
        if not self.wanted.has(self.piece_count, start, end):
            return None, self.tracer.ids_of_piece(raw.text), False, False
        if len(raw.text) > MAX_PIECE_BYTES:
            raise ArgumentError(
                f"piece {self.piece_count} has {len(raw.text):,} bytes; at most {MAX_PIECE_BYTES:,} can be traced"
            )
        self.walked = True
        walk = models.walk(self.spec, raw.text)
        ids, ends_unknown = models.ids_of(self.spec, raw.text, walk.segments, after_unknown)
        joins = after_unknown and bool(walk.segments) and walk.segments[0].id is None and self.spec.unknown == "unk"
        return walk, ids, joins, ends_unknown

    def _piece(
        self, raw: _RawPiece, span: tuple[int, int], part: int, walk: Walk | None, ids: Sequence[int], joins: bool
    ) -> Piece:
        index = self.piece_count
        self.piece_count += 1
        first = len(self.rows)
        for id in ids:
            self._take(id, part=part, piece=index)
        tokens = range(first - joins, len(self.rows))
        return Piece(index, raw.text, *span, raw.start, raw.end, tuple(ids), tuple(tokens), walk)

    # Tokens

    def _take(
        self, id: int, *, is_special: bool = False, part: int | None = None, piece: int | None = None
    ) -> TokenRow:
        """Adds the next token, and checks that it is the engine's."""
        place = len(self.rows)
        if place >= len(self.engine_tokens) or self.engine_tokens[place].id != id:
            raise self._difference(place)
        token = self.engine_tokens[place]
        row = TokenRow(id, token.piece, token.byte_start, token.byte_end, is_special, part, piece)
        self.rows.append(row)
        return row

    def _difference(self, place: int) -> PolytokError:
        return PolytokError(
            f"the trace differs from the engine's ids at token {place}. This is a mistake in polytok: please report "
            f"the text and the vocabulary (fingerprint {self.tracer.fingerprint}); encode() is not affected"
        )

    # Post

    def _post_steps(self) -> Iterator[PostStep]:
        if self.before:
            yield PostStep("before", "the template adds ids before the text", self.before)
        walks = [piece.walk for part in self.parts for piece in part.pieces if piece.walk is not None]
        if any(walk.bytes for walk in walks):
            ids = [id for walk in walks for fallback in walk.bytes for id in fallback.ids]
            yield PostStep("unknown", "text that no entry covers is encoded byte by byte", tuple(ids))
        unknown: list[int | None] = [text.id for walk in walks for text in walk.unknown]
        if unknown:
            dropped = "text that no entry covers is dropped"
            description = dropped if unknown[0] is None else "text that no entry covers is encoded to the unknown entry"
            yield PostStep("unknown", description, tuple(id for id in unknown if id is not None))
        if self.after:
            yield PostStep("after", "the template adds ids after the text", self.after)


def _rewrites(steps: Sequence[object]) -> bool:
    """Reports whether one of some split steps changes the bytes of pieces."""
    return any(isinstance(step, (Metaspace, PieceSpace, ByteLevel)) for step in steps)


def _extended(step: SplitStep, pieces: Sequence[SplitPiece], normalized: bytes, shift: int) -> SplitStep:
    """Returns a split step with more pieces, whose ranges are moved by ``shift``."""
    moved = tuple(
        SplitPiece(piece.start + shift, piece.end + shift, piece.text, piece.alternative, piece.alternative_text)
        for piece in pieces
    )
    rewrites = step.rewrites or any(normalized[piece.start : piece.end] != piece.text for piece in moved)
    return SplitStep(step.name, step.description, (*step.pieces, *moved), step.alternatives, rewrites)


def _last_pieces(text: bytes, steps: Sequence[Sequence[SplitPiece]], shift: int) -> list[_RawPiece]:
    """Returns the pieces after the last split step; without a step the whole text is one piece."""
    if not steps:
        return [_RawPiece(text, shift, shift + len(text))]
    return [_RawPiece(piece.text, piece.start + shift, piece.end + shift) for piece in steps[-1]]
