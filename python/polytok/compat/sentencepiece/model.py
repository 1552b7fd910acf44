"""The model of a processor: ids and pieces of texts, texts of ids, by polytok's engine."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from ..._core import sentencepiece_decode_with_spans, sentencepiece_text, sentencepiece_text_of_ids
from ...errors import ArgumentError, FormatError, SpecError
from ...loading import load
from ...records import replace
from ...reference.sentencepiece_decode import decode as decode_by_rules
from ...reference.sentencepiece_decode import piece_texts
from ...reference.stages import Aligned
from ...reference.utf8 import decode_strict
from ...reference.vocabulary import Vocabulary
from ...spec import Bpe, Kind, SentencePieceDecode, SentencePieceNormalize, Unigram
from ...tokenizer import Tokenizer
from ...values import Text
from .lines import line, out_of_range
from .messages import Piece, PiecesOfText
from .normalizing import NormalizingEngine

_CHARACTER = rb"(?:[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]+)"
_ERRORS_OF_IDS = (IndexError, OverflowError, TypeError, ArgumentError)
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


def _error_of_ids(error: Exception) -> Exception:
    """Returns sentencepiece's error of wrong ids."""
    if isinstance(error, (IndexError, OverflowError)):
        return out_of_range()
    return TypeError("Input must be an integer buffer, list of integers, or a sequence of integers.")


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
        core = self.tokenizer._core
        self.encode_ids = core.encode
        """Returns the ids of a text."""
        self.serialized = partial(sentencepiece_text, core)
        """Returns the bytes of the message SentencePieceText of the best segmentation."""
        self._decode_ids = core.decode
        self._decode_serialized = partial(sentencepiece_text_of_ids, core)
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

    def offsets(self, text: Text, returns_bytes: bool) -> dict[str, Any]:
        """Returns the ids, pieces and spans of the best segmentation, in characters or in bytes."""
        tokens = self.tokenizer._core.token_columns(text)
        ids = tokens.ids()
        pieces: list[Any] = list(map((self.pieces if returns_bytes else self.texts).__getitem__, ids))
        if self.unk_id in ids:  # the piece of unknown text is the text
            for number, piece in tokens.own_texts():
                pieces[number] = piece if returns_bytes else piece.decode("utf-8", errors="replace")
        if not returns_bytes or text.isascii():
            return {"ids": ids, "pieces": pieces, "offsets": tokens.offsets()}
        spans = self.tokenizer.spans(text)
        offsets = list(zip(spans.byte_starts.tolist(), spans.byte_ends.tolist(), strict=True))
        return {"ids": ids, "pieces": pieces, "offsets": offsets}

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
            return self._decode_ids(ids)
        except _ERRORS_OF_IDS as error:
            raise _error_of_ids(error) from error

    def decode_pieces(self, row: Sequence[str | bytes]) -> str:
        """Returns the text of pieces. A piece that is not in the vocabulary prints itself."""
        ids = list(map(self._find_id, row))
        if None not in ids:
            return self.decode(ids)
        pieces = [piece.encode("utf-8") if isinstance(piece, str) else piece for piece in row]
        found = list(map(self.id_of_piece.get, pieces))
        if None not in found:
            return self.decode(found)
        known = list(zip(pieces, found, strict=True))
        return decode_by_rules(self._vocabulary, self._decode_rules, known).decode("utf-8", errors="replace")

    @cached_property
    def _find_id(self) -> Callable[[Any], int | None]:
        return self.id_of_text.get

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.tokenizer.spec.vocab)

    def decode_serialized(self, ids: Any) -> bytes:
        """Returns the bytes of the message SentencePieceText of decoded ids. Raises IndexError for an unknown id."""
        self._check_places()
        try:
            return self._decode_serialized(ids)
        except _ERRORS_OF_IDS as error:
            raise _error_of_ids(error) from error

    def decode_mapping(self, ids: Any, returns_bytes: bool) -> dict[str, Any]:
        """Returns the text of ids, the ids and the pieces, and their spans in characters or in bytes. Raises IndexError
        for an unknown id."""
        self._check_places()
        try:
            text, offsets = sentencepiece_decode_with_spans(self.tokenizer._core, ids, not returns_bytes)
        except _ERRORS_OF_IDS as error:
            raise _error_of_ids(error) from error
        row = list(map(int, ids))
        pieces = list(map((self.pieces if returns_bytes else self.texts).__getitem__, row))
        return {"text": text, "ids": row, "pieces": pieces, "offsets": offsets}

    def _check_places(self) -> None:
        """Raises RuntimeError if the pieces have no places in a decoded text."""
        if self._decode_rules.denormalize is not None:
            raise RuntimeError(
                "UNIMPLEMENTED: the model changes decoded texts by rules of its own, so pieces have no places in them: "
                "decode to str or bytes"
            )

    def decode_spans(self, pieces: Iterable[tuple[bytes, int | None]]) -> PiecesOfText:
        """Returns the text of pieces with the span of each piece in it."""
        self._check_places()
        out: list[Piece] = []
        text = bytearray()
        known = list(pieces)
        texts = piece_texts(self.kinds.__getitem__, self._decode_rules, known)
        for (piece, id), piece_text in zip(known, texts, strict=True):
            begin = len(text)
            text += piece_text
            out.append(Piece(piece, self.unk_id if id is None else id, begin, len(text)))
        return PiecesOfText(bytes(text), out)

    @cached_property
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
    def normalizing(self) -> NormalizingEngine:
        """The engine of the normalizer."""
        return NormalizingEngine(self.tokenizer)

    def normalize(self, text: bytes) -> Aligned:
        """Returns a normalized text with the offset of each byte in the text."""
        return Aligned(*self.normalizing.with_offsets(text, False))

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
