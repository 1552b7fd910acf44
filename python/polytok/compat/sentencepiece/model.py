"""The model behind a processor: ids and pieces of texts, texts of ids, by polytok's engine."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from ...errors import ArgumentError, FormatError, SpecError
from ...loading import load
from ...records import replace
from ...reference.sentencepiece_decode import decode as decode_by_rules
from ...reference.sentencepiece_decode import decode_run
from ...reference.stages import Aligned
from ...reference.utf8 import decode_strict
from ...reference.vocabulary import Vocabulary
from ...space_mark import SPACE_MARK_BYTES
from ...spec import Bpe, Kind, SentencePieceDecode, SentencePieceNormalize, Unigram
from ...tokenizer import Tokenizer
from ...values import Text
from .lines import line, out_of_range
from .messages import Piece, PiecesOfText, field, serialize_columns, varint
from .normalizing import NormalizingEngine

_CHARACTER = rb"(?:[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]+)"
_WITHOUT_TEXT = (Kind.UNKNOWN, Kind.CONTROL)
_random = random.Random()
_nbest_timeout = [30_000]


def set_nbest_timeout(milliseconds: int) -> None:
    """Sets the time of `Model.nbest` after which only the best segmentation is returned; 0 for no limit."""
    _nbest_timeout[0] = milliseconds


def seed_random(seed: int) -> None:
    """Starts the random numbers of sampling from a seed."""
    _random.seed(seed)


def _text(piece: bytes) -> str | None:
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return None


class _Heads(dict[int, bytes]):
    """The first two fields of each piece's message, by id, which do not depend on the text."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        super().__init__()
        self._pieces = pieces

    def __missing__(self, id: int) -> bytes:
        head = self[id] = _head(self._pieces[id], id)
        return head


def _head(piece: bytes, id: int) -> bytes:
    return field(b"\x0a", piece) + b"\x10" + varint(id)


class Model:
    """A loaded model, its bytes and its tables of pieces."""

    def __init__(self, data: bytes, tokenizer: Tokenizer | None = None) -> None:
        try:
            self.tokenizer = load(data, sentencepiece_version=line()) if tokenizer is None else tokenizer
        except (FormatError, SpecError, ArgumentError) as error:
            raise RuntimeError(f"INTERNAL: this is not a model of SentencePiece: {error}") from error
        if self.tokenizer.spec.origin.format != "sentencepiece":
            raise RuntimeError(
                f"INTERNAL: a file of {self.tokenizer.spec.origin.format}, not of SentencePiece: use polytok.load"
            )
        self.data = data
        spec = self.tokenizer.spec
        self.unk_id = spec.names.get("unk", 0)
        self.size = len(spec.vocab)
        self._names = spec.names

    def __len__(self) -> int:
        return self.size

    @cached_property
    def pieces(self) -> list[bytes]:
        """The bytes of all pieces."""
        return self.tokenizer.spec.vocab.pieces()

    @cached_property
    def texts(self) -> list[str]:
        """The texts of all pieces."""
        return [piece.decode("utf-8", errors="replace") for piece in self.pieces]

    @cached_property
    def kinds(self) -> list[int]:
        """The kinds of all pieces."""
        kinds: list[int] = self.tokenizer.spec.vocab.kinds.tolist()
        return kinds

    @cached_property
    def scores(self) -> list[float]:
        """The scores of all pieces."""
        return [float(score) for score in self.tokenizer.spec.vocab.scores.tolist()]

    @cached_property
    def id_of_piece(self) -> dict[bytes, int]:
        """The ids of all pieces; of equal pieces, the reserved one counts."""
        ids = {piece: id for id, piece in reversed(list(enumerate(self.pieces)))}
        reserved = {
            piece: id
            for id, piece in enumerate(self.pieces)
            if self.kinds[id] in (Kind.UNKNOWN, Kind.CONTROL, Kind.BYTE)
        }
        return {**ids, **reserved}

    def named_id(self, role: str) -> int:
        """Returns the id of unk, bos, eos or pad; -1 if the model has none."""
        return self._names.get(role, -1)

    @cached_property
    def id_of_text(self) -> dict[str, int]:
        """The ids of all pieces that are UTF-8, by their texts."""
        return {text: id for piece, id in self.id_of_piece.items() if (text := _text(piece)) is not None}

    # Encoding

    def encode(self, text: bytes) -> PiecesOfText:
        """Returns the best segmentation."""
        tokens = self.tokenizer.tokens(text)
        kinds = self.kinds
        return PiecesOfText(
            text,
            [
                Piece(
                    token.piece,
                    token.id,
                    token.byte_start,
                    token.byte_end,
                    kinds[token.id] != Kind.BYTE or token.byte_end > token.byte_start,
                )
                for token in tokens
            ],
        )

    def serialized(self, text: bytes) -> bytes:
        """Returns the bytes of the message SentencePieceText of the best segmentation."""
        ids, _, _, starts, ends = (column.tolist() for column in self.tokenizer.spans(text))
        heads: Iterable[bytes]
        if self.unk_id in ids:  # the piece of unknown text depends on the text
            known, unk_id, tokens = self._heads, self.unk_id, self.tokenizer.tokens(text)
            heads = [known[id] if id != unk_id else _head(tokens[number].piece, id) for number, id in enumerate(ids)]
        else:
            heads = map(self._heads.__getitem__, ids)
        byte_ids = self._byte_ids
        surfaces = [
            text[start:end] if end > start or id not in byte_ids else None
            for id, start, end in zip(ids, starts, ends, strict=True)
        ]
        return serialize_columns(text, heads, surfaces, starts, ends)

    @cached_property
    def _byte_ids(self) -> frozenset[int]:
        """The ids of bytes; only the last byte of a character has a text."""
        return frozenset(id for id, kind in enumerate(self.kinds) if kind == Kind.BYTE)

    @cached_property
    def _heads(self) -> _Heads:
        return _Heads(self.pieces)

    def offsets(self, text: Text, returns_bytes: bool) -> dict[str, Any]:
        """Returns the ids, pieces and spans of the best segmentation, in characters or in bytes."""
        spans = self.tokenizer.spans(text)
        ids: list[int] = spans.ids.tolist()
        pieces: list[Any]
        if self.unk_id in ids:
            found = [token.piece for token in self.tokenizer.tokens(text)]
            pieces = list(found) if returns_bytes else [piece.decode("utf-8", errors="replace") for piece in found]
        else:
            table: list[Any] = self.pieces if returns_bytes else self.texts
            pieces = [table[id] for id in ids]
        starts, ends = (spans.byte_starts, spans.byte_ends) if returns_bytes else (spans.starts, spans.ends)
        return {"ids": ids, "pieces": pieces, "offsets": list(zip(starts.tolist(), ends.tolist(), strict=True))}

    def sample(self, text: Text, nbest_size: int, alpha: float) -> list[int]:
        """Returns the ids of a random segmentation."""
        self._require(Unigram, Bpe, name="SampleEncode")
        if nbest_size > 512:
            raise RuntimeError("INTERNAL: nbest_size must be nbest_size <= 512")
        seed = _random.getrandbits(63)
        return self.tokenizer.sample(text, alpha=float(alpha), nbest_size=nbest_size, seed=seed)

    def nbest(self, text: Text, size: int) -> list[tuple[list[int], float]]:
        """Returns the ids and scores of the best segmentations."""
        self._require(Unigram, name="NBestEncode")
        start = time.monotonic()
        found = self.tokenizer.nbest(text, size)
        timeout = _nbest_timeout[0]
        return found[:1] if timeout > 0 and (time.monotonic() - start) * 1000 >= timeout else found

    def sample_with_score(
        self, text: Text, count: int, alpha: float, without_replacement: bool, include_best: bool
    ) -> list[tuple[list[int], float]]:
        """Returns the ids and log probabilities of random segmentations."""
        self._require(Unigram, name="SampleEncodeAndScore")
        return self.tokenizer.sample_with_score(
            text,
            num_samples=count,
            alpha=float(alpha),
            without_replacement=without_replacement,
            include_best=include_best,
            seed=_random.getrandbits(63),
        )

    def entropy(self, text: Text, alpha: float) -> float:
        """Returns the entropy of a text's segmentations."""
        self._require(Unigram, name="CalculateEntropy")
        return self.tokenizer.entropy(text, alpha=float(alpha))

    def _require(self, *models: type, name: str) -> None:
        if not isinstance(self.tokenizer.spec.model, models):
            raise RuntimeError(f"INTERNAL: {name} is not available for the current model.")

    def align(self, text: bytes, ids: Sequence[int], score: float | None = None) -> PiecesOfText:
        """Returns the pieces of a segmentation of which only the ids are known, with their spans."""
        normalized = self.normalize(text)
        pattern = b"".join(self._pattern(id) for id in ids)
        match = re.compile(pattern, re.DOTALL).fullmatch(normalized.text)
        if match is None:  # cannot happen: the ids are of this text
            raise RuntimeError("INTERNAL: the segmentation does not cover the normalized text")
        pieces: list[Piece] = []
        for number, id in enumerate(ids, 1):
            start, end = match.span(number)
            if self.kinds[id] == Kind.BYTE:
                first, last = self._character_around(normalized.text, start)
                begin = normalized.origin[first]
                is_last = end == last
                pieces.append(Piece(self.pieces[id], id, begin, normalized.origin[last] if is_last else begin, is_last))
            else:
                pieces.append(Piece(match[number], id, normalized.origin[start], normalized.origin[end]))
        return PiecesOfText(text, pieces, score)

    def _pattern(self, id: int) -> bytes:
        kind = self.kinds[id]
        if kind == Kind.UNKNOWN:
            return b"(%b+?)" % _CHARACTER
        piece = bytes([int(self.pieces[id][3:5], 16)]) if kind == Kind.BYTE else self.pieces[id]
        return b"(%b)" % re.escape(piece)

    @staticmethod
    def _character_around(text: bytes, place: int) -> tuple[int, int]:
        start = place
        while start and text[start] & 0xC0 == 0x80:
            start -= 1
        return start, decode_strict(text, start)[1]

    # Decoding

    def decode(self, ids: Any) -> str:
        """Returns the text of ids. Raises IndexError for an unknown id."""
        try:
            return self.tokenizer.decode(ids)
        except (IndexError, OverflowError) as error:
            raise out_of_range() from error
        except (TypeError, ArgumentError) as error:
            raise TypeError("Input must be an integer buffer, list of integers, or a sequence of integers.") from error

    def decode_pieces(self, row: Sequence[str | bytes]) -> str:
        """Returns the text of pieces. A piece that is not in the vocabulary prints itself."""
        id_of_text: dict[Any, int] = self.id_of_text
        if None not in (ids := [id_of_text.get(piece) for piece in row]):
            return self.decode(ids)
        pieces = [piece.encode("utf-8") if isinstance(piece, str) else piece for piece in row]
        found = list(map(self.id_of_piece.get, pieces))
        if None not in found:
            return self.decode(found)
        known = list(zip(pieces, found, strict=True))
        return decode_by_rules(self._vocabulary, self._decode_rules, known).decode("utf-8", errors="replace")

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tokenizer.spec.vocab)

    def decode_columns(self, ids: Sequence[int]) -> tuple[list[bytes], list[int]] | None:
        """Returns the text that each id adds, and the place where it ends; None for byte pieces and rules of decoded
        texts, which need `decode_spans`."""
        rules = self._decode_rules
        if rules.denormalize is not None or not self._wide_byte_ids.isdisjoint(ids):
            return None
        surfaces = [self._surfaces[id] for id in ids]
        if rules.add_dummy_prefix or rules.remove_extra_whitespaces:
            for number, id in enumerate(ids):
                is_mark = self.pieces[id].startswith(SPACE_MARK_BYTES) and self.kinds[id] not in _WITHOUT_TEXT
                surfaces[number] = surfaces[number][is_mark:]
                if surfaces[number] or (is_mark and not rules.remove_extra_whitespaces):
                    break
        return surfaces, list(accumulate(map(len, surfaces)))

    @cached_property
    def _wide_byte_ids(self) -> frozenset[int]:
        """The ids of bytes that are only parts of characters."""
        return frozenset(id for id in self._byte_ids if int(self.pieces[id][3:5], 16) >= 0x80)

    @cached_property
    def _surfaces(self) -> list[bytes]:
        """The texts that the pieces add to a decoded text, except at its start."""
        surfaces = [piece.replace(SPACE_MARK_BYTES, b" ") for piece in self.pieces]
        for id, kind in enumerate(self.kinds):
            if kind in _WITHOUT_TEXT:
                surfaces[id] = self._decode_rules.unk_surface if kind == Kind.UNKNOWN else b""
            elif kind == Kind.BYTE:
                surfaces[id] = bytes([int(self.pieces[id][3:5], 16)])
        return surfaces

    def decode_serialized(self, ids: Sequence[int]) -> bytes:
        """Returns the bytes of the message SentencePieceText of decoded ids."""
        columns = self.decode_columns(ids)
        if columns is None:
            return self.decode_spans([(self.pieces[id], id) for id in ids]).serialize()
        surfaces, ends = columns
        heads = map(self._heads.__getitem__, ids)
        return serialize_columns(b"".join(surfaces), heads, surfaces, [0, *ends[:-1]], ends)

    def decode_spans(self, pieces: Iterable[tuple[bytes, int | None]]) -> PiecesOfText:
        """Returns the text of pieces with the span of each piece in it."""
        if self._decode_rules.denormalize is not None:
            raise RuntimeError(
                "UNIMPLEMENTED: the model changes decoded texts by rules of its own, so pieces have no places in them: "
                "decode to str or bytes"
            )
        out: list[Piece] = []
        text = bytearray()
        run: list[tuple[bytes, int]] = []
        rules = self._decode_rules
        can_strip = rules.add_dummy_prefix or rules.remove_extra_whitespaces
        is_at_start, has_just_stripped = True, False
        for piece, id in pieces:
            if id is not None and self.kinds[id] == Kind.BYTE:
                run.append((piece, id))
                continue
            self._append_run(text, run, out)
            is_at_start = is_at_start and not has_just_stripped and not text
            has_just_stripped = False
            begin = len(text)
            kind = None if id is None else self.kinds[id]
            if kind is None:
                text += piece
            elif kind == Kind.UNKNOWN:
                text += rules.unk_surface
            elif kind != Kind.CONTROL:
                trimmed_piece = piece.removeprefix(SPACE_MARK_BYTES) if is_at_start and can_strip else piece
                has_just_stripped = trimmed_piece != piece and not rules.remove_extra_whitespaces
                text += trimmed_piece.replace(SPACE_MARK_BYTES, b" ")
            out.append(Piece(piece, self.unk_id if id is None else id, begin, len(text)))
        self._append_run(text, run, out)
        return PiecesOfText(bytes(text), out)

    @staticmethod
    def _append_run(text: bytearray, run: list[tuple[bytes, int]], out: list[Piece]) -> None:
        """Appends the text of a run of byte pieces; the last byte of each character has its text."""
        raw = bytes(int(piece[3:5], 16) for piece, _ in run)
        place = 0
        while place < len(raw):
            end = decode_strict(raw, place)[1]
            character = decode_run(raw[place:end])
            for number in range(place, end):
                begin = len(text)
                if number == end - 1:
                    text += character
                out.append(Piece(*run[number], begin, len(text)))
            place = end
        run.clear()

    @property
    def _decode_rules(self) -> SentencePieceDecode:
        rules = self.tokenizer.spec.decode
        assert isinstance(rules, SentencePieceDecode)
        return rules

    # Normalization

    @property
    def normalizer(self) -> SentencePieceNormalize:
        """The model's normalizer."""
        [step] = self.tokenizer.spec.normalize
        assert isinstance(step, SentencePieceNormalize)
        return step

    @cached_property
    def _user_defined(self) -> list[bytes]:
        return [piece for piece, kind in zip(self.pieces, self.kinds, strict=True) if kind == Kind.USER_DEFINED]

    @cached_property
    def normalizing(self) -> NormalizingEngine:
        """The engine of the normalizer."""
        return NormalizingEngine(self.normalizer, self._user_defined)

    def normalize(self, text: bytes) -> Aligned:
        """Returns a normalized text with the offset of each byte in the text."""
        return self.normalizing.aligned(text)

    def with_normalizer(self, flags: Mapping[str, Any]) -> Model:
        """Returns a model whose normalizer has other flags."""
        spec = self.tokenizer.spec
        step, rules = replace(self.normalizer, **flags), self._decode_rules
        decode = replace(
            rules, add_dummy_prefix=step.add_dummy_prefix, remove_extra_whitespaces=step.remove_extra_whitespaces
        )
        return Model(self.data, Tokenizer(replace(spec, normalize=(step,), decode=decode)))

    def restrict(self, pieces: list[str]) -> Model:
        """Returns a model that emits only these pieces and single characters."""
        return Model(self.data, self.tokenizer.restrict(pieces))
