"""Runs the model of a Spec on one piece: the walk, and the ids of the walk.

`walk` calls the file of the model. Then the policy for unknown text applies (`post` has its words): the bytes and the
unknown parts of a walk are filled in here, if the model has not done it itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polytok.reference import (
    bpe,
    char,
    huggingface_bpe,
    llama2c,
    longest,
    plamo2,
    unigram,
    unigram_wide,
    word,
    word_level,
    wordpiece,
)
from polytok.reference.stages import Segment
from polytok.reference.utf8 import Counts
from polytok.reference.vocabulary import Vocabulary, vocabulary
from polytok.reference.walks import ByteFallback, UnknownText, Walk
from polytok.spec import (
    Bpe,
    Char,
    Longest,
    Plamo2,
    PrefixSpace,
    Spec,
    Unigram,
    Word,
    WordLevel,
    WordPiece,
)


def segment(spec: Spec, text: bytes, counts: Counts | None = None) -> Sequence[Segment]:
    """Returns the segments that the model of a Spec splits one piece into, before the policy for unknown text."""
    return _walk_of_model(spec, text, counts).segments


def walk(spec: Spec, text: bytes, counts: Counts | None = None) -> Walk:
    """Returns the walk of one piece, with the treatment of unknown text."""
    walk = _walk_of_model(spec, text, counts)
    vocab = vocabulary(spec.vocab)
    if isinstance(spec.model, Unigram) and spec.model.rules != "sentencepiece":
        return walk
    unknown = [part for part in walk.segments if part.id is None or part.id == vocab.unknown]
    if spec.unknown == "bytes":
        parts = [part for part in unknown if part.id is None]
        fallbacks = (ByteFallback(part.start, part.end, byte_ids(spec, text[part.start : part.end])) for part in parts)
        return replace(walk, bytes=(*walk.bytes, *fallbacks))
    if walk.unknown:
        return walk
    return replace(walk, unknown=tuple(_unknown_parts(spec, vocab, unknown)))


def _unknown_parts(spec: Spec, vocab: Vocabulary, segments: Sequence[Segment]) -> Sequence[UnknownText]:
    """Returns the unknown parts; parts that touch are joined, unless the model itself gives them the unknown entry."""
    parts: list[UnknownText] = []
    joins = spec.unknown == "unk"
    for id, start, end in segments:
        if joins and id is None and parts and parts[-1].end == start:
            parts[-1] = UnknownText(parts[-1].start, end, vocab.unknown, joined=True)
        else:
            parts.append(UnknownText(start, end, vocab.unknown if spec.unknown != "drop" else None))
    return parts


def ids_of(spec: Spec, text: bytes, segments: Sequence[Segment], after_unknown: bool = False) -> tuple[list[int], bool]:
    """Returns the ids of a piece's segments, and whether the piece ends with unknown text.

    Adjacent unknown parts are one id with the policy ``unk``. ``after_unknown``: the previous piece ended with unknown
    text.
    """
    ids: list[int] = []
    unknown_id = vocabulary(spec.vocab).unknown
    joins = spec.unknown == "unk" and not (isinstance(spec.model, Unigram) and spec.model.rules != "sentencepiece")
    for id, start, end in segments:
        if id is not None:
            ids.append(id)
        elif spec.unknown == "bytes":
            ids += byte_ids(spec, text[start:end])
        elif joins and not after_unknown and unknown_id is not None:
            ids.append(unknown_id)
        after_unknown = id is None
    return ids, after_unknown


def byte_ids(spec: Spec, text: bytes) -> tuple[int, ...]:
    """Returns the ids of the bytes of unknown text. llama.cpp finds the entry of a byte by its text, ``<0xHH>`` or the
    byte itself; the other programs by its kind."""
    vocab = vocabulary(spec.vocab)
    if isinstance(spec.model, Bpe) and spec.model.reserved:
        ids = vocab.last_ids
        return tuple(ids.get(b"<0x%02X>" % byte, ids.get(bytes([byte]), -1)) for byte in text)
    return tuple(vocab.byte_ids[byte] for byte in text)


def _walk_of_model(spec: Spec, text: bytes, counts: Counts | None) -> Walk:
    vocab, model, line = vocabulary(spec.vocab), spec.model, spec.sentencepiece_version
    match model:
        case Bpe(symbols="bytes"):
            return bpe.walk_bytes(vocab, text, model)
        case Bpe(symbols="scalars"):
            return huggingface_bpe.walk(vocab, text, model, spec.unknown)
        case Bpe(symbols="groups"):
            has_prefix = any(isinstance(step, PrefixSpace) for step in spec.normalize)
            return llama2c.walk(vocab, text, model, has_prefix)
        case Bpe(symbols="chars", reserved=True):
            return bpe.walk_llama_cpp(vocab, text, model)
        case Bpe():
            return bpe.walk_chars(vocab, text, model, line, counts)
        case Unigram(rules="sentencepiece"):
            return unigram.walk(vocab, text, line, counts)
        case Unigram():
            return unigram_wide.walk(vocab, text, model)
        case Longest():
            return longest.walk(vocab, text)
        case Char():
            return char.walk(vocab, text, line, counts)
        case Word():
            return word.walk(vocab, text, line)
        case WordPiece():
            return wordpiece.walk(vocab, text, model)
        case WordLevel():
            return word_level.walk(vocab, text)
        case Plamo2():
            return plamo2.walk(vocab, text)
