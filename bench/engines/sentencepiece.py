"""The engine sentencepiece, which returns lists."""

from __future__ import annotations

from ..cases import Vocabulary
from .base import Adapter, Engine


def load(vocabulary: Vocabulary) -> Adapter:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(vocabulary.model_path))
    return Adapter(
        encode=processor.encode,
        encode_batch=lambda texts, threads: processor.encode(texts, num_threads=threads),
        decode=processor.decode,
        decode_batch=lambda batch: processor.decode(batch, num_threads=1),
    )


ENGINE = Engine("sentencepiece", "sentencepiece", load)
