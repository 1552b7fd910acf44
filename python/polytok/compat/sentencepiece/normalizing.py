"""Normalizes texts by polytok's engine: a tokenizer whose only pieces are bytes encodes a normalized text to itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...reference.sentencepiece_normalize import normalize as normalize_by_rules
from ...reference.stages import Aligned
from ...space_mark import SPACE_MARK_BYTES
from ...spec import Bpe, Kind, Origin, SentencePieceNormalize, Spec, Vocab
from ...tokenizer import Tokenizer
from .rules import ascii_rules


class NormalizingEngine:
    """A normalizer of SentencePiece. Texts with pieces that the user defined, which it keeps, take the slow way."""

    def __init__(self, step: SentencePieceNormalize, user_defined: Sequence[bytes] = ()) -> None:
        import numpy as np

        self._step, self._user_defined = step, user_defined
        rules = ascii_rules(step.charsmap)
        spaces = b"".join(key for key, value in rules.items() if len(key) == 1 and value == b" ")
        self._spaces = bytes.maketrans(spaces, b" " * len(spaces))
        self._changed = re.compile(b"|".join([re.escape(key) for key in rules if key not in spaces] or [b"(?!)"]))
        collapses = step.remove_extra_whitespaces
        # Of ASCII, these are all pieces that are not normalized as any other text is.
        self._kept = [
            piece
            for piece in user_defined
            if (collapses and b" " in piece) or piece.translate(self._spaces) != piece or self._changed.search(piece)
        ]
        vocab = Vocab.from_rows([(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)])
        model = Bpe("merges", merges=np.zeros((0, 3), dtype=np.uint32))
        self._tokenizer = Tokenizer(Spec(vocab=vocab, model=model, normalize=(step,), origin=Origin("sentencepiece")))

    def text(self, text: bytes) -> bytes:
        """Returns a normalized text."""
        if text and text.isascii() and not self._changed.search(text) and not _has_any(text, self._kept):
            return self._marked(text.translate(self._spaces))
        if _has_any(text, self._user_defined):
            return self.aligned(text).text
        return self._tokenizer.encode_array(text).astype("uint8").tobytes()

    def _marked(self, text: bytes) -> bytes:
        """Returns a text of ASCII with its spaces removed or marked."""
        step = self._step
        if step.remove_extra_whitespaces:
            text = text.strip(b" ") if b"  " not in text else b" ".join(word for word in text.split(b" ") if word)
            if not text:
                return b""
        if step.add_dummy_prefix:
            text = text + b" " if step.whitespace_as_suffix else b" " + text
        return text.replace(b" ", SPACE_MARK_BYTES) if step.escape_whitespaces else text

    def aligned(self, text: bytes) -> Aligned:
        """Returns a normalized text with the offset of each byte, and of its end, in the text."""
        if not _has_any(text, self._user_defined):
            spans = self._tokenizer.spans(text)
            if len(spans.ids):  # the end of an empty text is found by the rules
                origin = spans.byte_starts.tolist()
                return Aligned(bytes(spans.ids.tolist()), [*origin, int(spans.byte_ends[-1])])
        return normalize_by_rules(self._step, text, self._user_defined)


def _has_any(text: bytes, pieces: Sequence[bytes]) -> bool:
    return any(piece in text for piece in pieces)
