"""Normalizes texts by polytok's engine: a tokenizer whose only pieces are bytes encodes a normalized text to itself."""

from __future__ import annotations

from collections.abc import Sequence

from ...reference.sentencepiece_normalize import normalize as normalize_by_rules
from ...reference.stages import Aligned
from ...spec import Bpe, Kind, Origin, SentencePieceNormalize, Spec, Vocab
from ...tokenizer import Tokenizer


class NormalizingEngine:
    """A normalizer of SentencePiece. Texts with pieces that the user defined, which it keeps, take the slow way."""

    def __init__(self, step: SentencePieceNormalize, user_defined: Sequence[bytes] = ()) -> None:
        import numpy as np

        self._step, self._user_defined = step, user_defined
        vocab = Vocab.from_rows([(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)])
        model = Bpe("merges", merges=np.zeros((0, 3), dtype=np.uint32))
        self._tokenizer = Tokenizer(Spec(vocab=vocab, model=model, normalize=(step,), origin=Origin("sentencepiece")))

    def text(self, text: bytes) -> bytes:
        """Returns a normalized text."""
        return self.aligned(text).text if self._is_slow(text) else bytes(self._tokenizer.encode(text))

    def aligned(self, text: bytes) -> Aligned:
        """Returns a normalized text with the offset of each byte, and of its end, in the text."""
        if not self._is_slow(text):
            spans = self._tokenizer.spans(text)
            if len(spans.ids):  # the end of an empty text is found by the rules
                origin = spans.byte_starts.tolist()
                return Aligned(bytes(spans.ids.tolist()), [*origin, int(spans.byte_ends[-1])])
        return normalize_by_rules(self._step, text, self._user_defined)

    def _is_slow(self, text: bytes) -> bool:
        return any(piece in text for piece in self._user_defined)
