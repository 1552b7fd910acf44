"""Builds a trace: runs each stage of the pipeline alone, and compares the result with the engine's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import ArgumentError, PolytokError
from ..keywords import keyword
from ..options import Options
from ..reference import models
from ..reference.invalid_utf8 import tokens_to_remove, valid_length
from ..reference.stages import RefToken
from ..reference.walks import Walk
from ..spec import Slot
from ..utf8 import is_utf8
from ..values import Token
from .changes import Origins
from .data import Part, Piece, PostStep, SpecialFound, SpecialSeen, SplitPiece, TokenRow, Trace
from .probes import Cut
from .steps import extended
from .tracer import MAX_BYTES, MAX_PIECE_BYTES, MAX_TEXT_BYTES, Tracer, Wanted


def trace_text(tracer: Tracer, text: bytes, options: Options, wanted: Wanted) -> Trace:
    """Returns the trace of a text."""
    if len(text) > MAX_TEXT_BYTES or (len(text) > MAX_BYTES and wanted.is_all):
        raise ArgumentError(
            f"the text has {len(text):,} bytes; a trace has at most {MAX_BYTES:,}, or with {keyword('piece')} or "
            f"{keyword('at')} the walk of one piece of a text of up to {MAX_TEXT_BYTES:,}"
        )
    tokens = tracer.core.tokens(text, tracer.resolve_options(options, {}, "trace"))
    return _Build(tracer, text, options, wanted, tokens).trace()


@dataclass(frozen=True, slots=True)
class _PartPlace:
    """A part that is being built: its index, its start in the text, and where its normalized bytes come from."""

    index: int
    start: int
    origins: Origins

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the range of the text from which a range of the normalized text comes."""
        first, last = self.origins.range(start, end)
        return self.start + first, self.start + last


@dataclass(frozen=True, slots=True)
class _RawPiece:
    """A piece before its walk: its bytes, and its range in the normalized text of its part."""

    text: bytes
    start: int
    end: int


class _Build:
    """The building of one trace."""

    def __init__(self, tracer: Tracer, text: bytes, options: Options, wanted: Wanted, tokens: Sequence[Token]) -> None:
        self.tracer, self.probes, self.spec = tracer, tracer.probes, tracer.spec
        self.text, self.options, self.wanted = text, options, wanted
        self.engine_tokens = tokens
        self.rows: list[TokenRow] = []
        self.specials: list[SpecialFound] = []
        self.seen: list[SpecialSeen] = []
        self.parts: list[Part] = []
        self.piece_count = 0
        self.has_walk = False

    def trace(self) -> Trace:
        """Returns the trace."""
        has_text = False
        for template_part in self.spec.post.single:
            if isinstance(template_part, Slot):
                self._add_text()
                has_text = True
            elif self.options.add_special:
                self._add_template(template_part.ids, len(self.text) if has_text else 0)
        if len(self.rows) != len(self.engine_tokens):
            raise self._difference(len(self.rows))
        if not self.wanted.is_all and not self.has_walk:
            pieces = "one piece" if self.piece_count == 1 else f"{self.piece_count:,} pieces"
            raise ArgumentError(
                f"{keyword(str(self.wanted))} is not a piece: the text has {pieces}, counted from 0, and "
                "special tokens and dropped text are not in a piece"
            )
        special = self.options.special
        taken = {(found.start, found.id) for found in self.specials}
        return Trace(
            model=self.tracer.name,
            text=self.text,
            add_special=self.options.add_special,
            special="all" if special == "all" else tuple(sorted(special)),
            steps=tuple(self.tracer.steps),
            specials=tuple(self.specials),
            not_taken=tuple(seen for seen in self.seen if (seen.start, seen.id) not in taken),
            parts=tuple(self.parts),
            post=tuple(self._post_steps()),
            tokens=tuple(self.rows),
        )

    def _add_text(self) -> None:
        for cut in self.probes.cut(self.text, self.options.special):
            if cut.special is None:
                self._add_part(cut)
            else:
                self._add_special(cut.special, (cut.start, cut.end), in_normalized=False)
        if self.options.special != "all":
            cuts = self.probes.cut(self.text, "all")
            self.seen += [self._seen(cut.special, cut.start, cut.end) for cut in cuts if cut.special is not None]

    # Special tokens

    def _add_special(self, place: int, span: tuple[int, int], *, in_normalized: bool) -> None:
        token = self.probes.specials[place]
        row = self._take(token.id, is_special=True)
        if token.special:
            why = "allowed by the option special"
            found = SpecialFound(token.id, row.piece, *span, "special", why, in_normalized)
        else:
            why = "an added token, which is always recognized"
            found = SpecialFound(token.id, row.piece, *span, "added", why, in_normalized)
        self.specials.append(found)

    def _add_template(self, ids: Sequence[int], at: int) -> None:
        for id in ids:
            row = self._take(id, is_special=True)
            why = "added by the template, by the option add_special"
            self.specials.append(SpecialFound(id, row.piece, at, at, "template", why))

    def _seen(self, place: int, start: int, end: int) -> SpecialSeen:
        why = "plain text, because the option special does not allow it"
        return SpecialSeen(self.probes.specials[place].id, self.text[start:end], start, end, why)

    # Parts

    def _add_part(self, cut: Cut) -> None:
        text = self.text[cut.start : cut.end]
        steps, origins = self.tracer.steps.normalize(text)
        normalized = steps[-1].after if steps else text
        place = _PartPlace(len(self.parts), cut.start, origins)
        splits = self.tracer.steps.empty_splits()
        pieces: list[Piece] = []
        for sub_cut in self.probes.cut_normalized(normalized, self.options.special):
            span = place.span(sub_cut.start, sub_cut.end)
            if sub_cut.special is not None:
                self._add_special(sub_cut.special, span, in_normalized=True)
                continue
            sub_text = normalized[sub_cut.start : sub_cut.end]
            first_length = 0 if place.start else origins.first_length(sub_cut.start, sub_cut.end)
            pieces_of_steps = self.tracer.steps.split(sub_text, first_length)
            for number, split_pieces in enumerate(pieces_of_steps):
                splits[number] = extended(splits[number], split_pieces, normalized, sub_cut.start)
            pieces += self._pieces(sub_text, sub_cut.start, pieces_of_steps, place)
        if self.options.special != "all":
            cuts = self.probes.cut_normalized(normalized, "all")
            found = [(cut.special, place.span(cut.start, cut.end)) for cut in cuts if cut.special is not None]
            self.seen += [self._seen(special, *span) for special, span in found]
        self.parts.append(Part(cut.start, cut.end, tuple(steps), normalized, tuple(splits), tuple(pieces)))

    # Pieces

    def _pieces(
        self, text: bytes, shift: int, pieces_of_steps: Sequence[Sequence[SplitPiece]], place: _PartPlace
    ) -> Iterator[Piece]:
        """Yields the pieces of a text that starts at byte ``shift`` of the normalized text of a part."""
        if not pieces_of_steps:
            return self._whole_pieces([_RawPiece(text, shift, shift + len(text))], place)
        raw = [_RawPiece(piece.text, piece.start + shift, piece.end + shift) for piece in pieces_of_steps[-1]]
        if self.tracer.steps.rewrites_pieces or is_utf8(text):
            return self._whole_pieces(raw, place)
        return self._broken_pieces(text, shift, raw, place)

    def _whole_pieces(self, raw_pieces: Sequence[_RawPiece], place: _PartPlace) -> Iterator[Piece]:
        after_unknown = False
        for raw in raw_pieces:
            span = place.span(raw.start, raw.end)
            if not self.wanted.has(self.piece_count, *span):
                after_unknown = False
                yield self._piece(raw, place, None, self.tracer.ids_of_piece(raw.text))
                continue
            walk = self._walk(raw)
            joins = after_unknown and self.spec.unknown == "unk" and walk.segments[0].id is None
            ids, after_unknown = models.ids_of(self.spec, raw.text, walk.segments, after_unknown)
            self._add_user_defined(raw, place, walk)
            yield self._piece(raw, place, walk, ids, joins=joins)

    def _add_user_defined(self, raw: _RawPiece, place: _PartPlace, walk: Walk) -> None:
        """Adds the user-defined pieces that SentencePiece's models found in a piece."""
        why = "a user-defined piece, which the model always recognizes"
        for id, start, end in walk.segments:
            if id in self.probes.user_defined_ids:
                span = place.span(raw.start + start, raw.start + end)
                piece = raw.text[start:end]
                self.specials.append(SpecialFound(id, piece, *span, "user_defined", why, in_normalized=True))

    def _broken_pieces(
        self, text: bytes, shift: int, raw_pieces: Sequence[_RawPiece], place: _PartPlace
    ) -> Iterator[Piece]:
        """Yields the pieces of a text that is not UTF-8: the tokens of the last piece before the first invalid byte are
        removed, and their bytes and all bytes after them are one piece (`polytok.reference.invalid_utf8`)."""
        walks = [models.walk(self.spec, raw.text) for raw in raw_pieces]
        tokens = [
            RefToken(-1 if id is None else id, raw.text[start:end], raw.start + start, raw.start + end)
            for raw, walk in zip(raw_pieces, walks, strict=True)
            for id, start, end in walk.segments
        ]
        kept_count = len(tokens) - (tokens_to_remove(tokens, len(walks[-1].segments)) if walks else 0)
        removed, left = tokens[kept_count:], kept_count
        for raw, walk in zip(raw_pieces, walks, strict=True):
            segments = walk.segments[:left]
            left -= len(segments)
            if segments:
                end = segments[-1].end
                kept = _RawPiece(raw.text[:end], raw.start, raw.start + end)
                yield self._piece(kept, place, walk, models.ids_of(self.spec, raw.text, segments)[0])
        start = removed[0].start if removed else shift + valid_length(text)
        rest_text = b"".join(token.piece for token in removed) + text[valid_length(text) :]
        rest = _RawPiece(rest_text, start, shift + len(text))
        walk = self._walk(rest)
        yield self._piece(rest, place, walk, models.ids_of(self.spec, rest.text, walk.segments)[0])

    def _walk(self, raw: _RawPiece) -> Walk:
        if len(raw.text) > MAX_PIECE_BYTES:
            raise ArgumentError(
                f"piece {self.piece_count} has {len(raw.text):,} bytes; at most {MAX_PIECE_BYTES:,} can be traced"
            )
        return models.walk(self.spec, raw.text)

    def _piece(
        self, raw: _RawPiece, place: _PartPlace, walk: Walk | None, ids: Sequence[int], *, joins: bool = False
    ) -> Piece:
        """Returns the next piece, after taking its tokens. ``joins``: its first unknown text is a part of the token
        before it."""
        index = self.piece_count
        self.piece_count += 1
        span = place.span(raw.start, raw.end)
        shown_walk = walk if self.wanted.has(index, *span) else None
        self.has_walk |= shown_walk is not None
        first = len(self.rows)
        for id in ids:
            self._take(id, part=place.index, piece=index)
        tokens = range(first - joins, len(self.rows))
        return Piece(index, raw.text, *span, raw.start, raw.end, tuple(ids), tuple(tokens), shown_walk)

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
        before, after = (self.spec.post.before, self.spec.post.after) if self.options.add_special else ((), ())
        if before:
            yield PostStep("before", "the template adds ids before the text", before)
        walks = [piece.walk for part in self.parts for piece in part.pieces if piece.walk is not None]
        byte_ids = tuple(id for walk in walks for fallback in walk.bytes for id in fallback.ids)
        if byte_ids:
            yield PostStep("unknown", "text that no entry covers is encoded byte by byte", byte_ids)
        unknown = [text.id for walk in walks for text in walk.unknown]
        if None in unknown:
            yield PostStep("unknown", "text that no entry covers is dropped")
        if unknown_ids := tuple(id for id in unknown if id is not None):
            yield PostStep("unknown", "text that no entry covers is encoded to the unknown entry", unknown_ids)
        if after:
            yield PostStep("after", "the template adds ids after the text", after)
