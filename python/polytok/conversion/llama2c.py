"""Converts SentencePiece BPE to llama2.c's vocabulary, and back.

llama2.c fixes the ids (0 is unknown, 1 and 2 are BOS and EOS, b + 3 is byte b), always adds a space in front of a text,
and has neither kinds nor a normalizer. An entry has the same text as in SentencePiece, with spaces instead of U+2581;
the texts of BOS and EOS begin and end with a newline.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..columns import has_kind
from ..errors import FormatError
from ..space_mark import SPACE_MARK_BYTES
from ..spec import (
    Bpe,
    Kind,
    Llama2cDecode,
    PrefixSpace,
    SentencePieceDecode,
    SentencePieceNormalize,
    Spec,
    Template,
    described,
)
from .base import Converted, first_items
from .rows import with_texts
from .sentencepiece import BPE_MODEL, to_sentencepiece

MODEL = Bpe("score", symbols="groups")
ID_OF_ROLE = {"unk": 0, "bos": 1, "eos": 2}
FIRST_ORDINARY_ID = 3 + 256
_TEXT_OF_ID = {0: b"<unk>", 1: b"<s>", 2: b"</s>"}


def to_llama2c(spec: Spec) -> Converted:
    """Converts to llama2.c's Spec, by the rules of the export in llama2.c's tokenizer.py."""
    if spec.model == MODEL:
        return Converted(spec)
    sentencepiece_model = to_sentencepiece(spec, "llama2.c")
    spec = sentencepiece_model.spec
    if spec.model != BPE_MODEL:
        raise FormatError(f"llama2.c merges by score; it cannot run this model: {described(spec.model)}")
    _require_llama2c_ids(spec)
    texts = [piece.replace(SPACE_MARK_BYTES, b" ") for piece in spec.vocab.pieces()]
    for control_id in (ID_OF_ROLE["bos"], ID_OF_ROLE["eos"]):
        texts[control_id] = b"\n" + _TEXT_OF_ID[control_id] + b"\n"
    llama2c_spec = Spec(
        vocab=with_texts(spec.vocab, texts),
        model=MODEL,
        normalize=(PrefixSpace(),),
        unknown="bytes",
        post=Template.around(before=(ID_OF_ROLE["bos"],)),
        decode=Llama2cDecode(),
        names=ID_OF_ROLE,
        origin=spec.origin,
        extra=spec.extra,
    )
    return sentencepiece_model.then(Converted(llama2c_spec, tuple(_export_losses(spec)), tuple(_export_notes(spec))))


def from_llama2c(spec: Spec) -> Converted:
    """Converts llama2.c's vocabulary to a SentencePiece model; the kinds of its entries follow from their ids."""
    vocab = spec.vocab
    kinds = np.full(len(vocab), Kind.NORMAL, dtype=np.uint8)
    kinds[:FIRST_ORDINARY_ID] = _expected_kinds()
    texts = [piece.replace(b" ", SPACE_MARK_BYTES) for piece in vocab.pieces()]
    texts[:3] = [_TEXT_OF_ID[row] for row in range(3)]
    wrong_texts = [text for byte, text in enumerate(texts[3:FIRST_ORDINARY_ID]) if text != b"<0x%02X>" % byte]
    if wrong_texts:
        raise FormatError(f"the ids 3 to 258 are not the bytes in order ({first_items(wrong_texts)})")
    _require_distinct_texts(texts)
    sentencepiece_model = Spec(
        vocab=replace(with_texts(vocab, texts), kinds=kinds),
        model=BPE_MODEL,
        normalize=(SentencePieceNormalize(remove_extra_whitespaces=False),),
        unknown="bytes",
        post=spec.post,
        decode=SentencePieceDecode(remove_extra_whitespaces=False),
        names=spec.names,
        origin=spec.origin,
    )
    losses = [
        "normalize: U+2581 in a text counts as a space",
    ]
    notes = [
        "normalize: bytes that are not UTF-8 become U+FFFD",
        "decode: an unknown piece prints ' \u2047 ', BOS and EOS print nothing",
    ]
    return Converted(sentencepiece_model, tuple(losses), tuple(notes))


def _export_losses(spec: Spec) -> Iterator[str]:
    step = spec.normalize[0]
    assert isinstance(step, SentencePieceNormalize)
    if step.charsmap:
        yield "normalize: the character map is not applied"
    if step.remove_extra_whitespaces:
        yield "normalize: spaces at both ends and in runs stay"
    if not step.add_dummy_prefix:
        yield "normalize: a space is added before every text"
    if step.whitespace_as_suffix or not step.escape_whitespaces:
        yield "normalize: the text's spaces differ from those of the pieces"
    for kind in (Kind.USER_DEFINED, Kind.UNUSED):
        if count := int(np.count_nonzero(has_kind(spec.vocab.kinds, kind))):
            yield f"vocab: {count} {kind.name.lower()} pieces become ordinary pieces"
    if control_count := int(np.count_nonzero(has_kind(spec.vocab.kinds[FIRST_ORDINARY_ID:], Kind.CONTROL))):
        yield f"vocab: {control_count} control pieces become ordinary pieces"
    yield "normalize: U+2581 in a text is no longer a space"


def _export_notes(spec: Spec) -> Iterator[str]:
    yield "normalize: bytes that are not UTF-8 are not replaced with U+FFFD"
    yield "decode: BOS and EOS print their names between newlines"
    yield "vocab: kinds are not in the file; llama2.c derives them from the ids"


def _expected_kinds() -> list[Kind]:
    return [Kind.UNKNOWN, Kind.CONTROL, Kind.CONTROL, *[Kind.BYTE] * 256]


def _require_llama2c_ids(spec: Spec) -> None:
    kinds, expected_kinds = spec.vocab.kinds[:FIRST_ORDINARY_ID], _expected_kinds()
    wrong_rows = np.flatnonzero(spec.vocab.ids != np.arange(len(spec.vocab)))
    if len(wrong_rows):
        row = int(wrong_rows[0])
        raise FormatError(f"llama2.c numbers its tokens from 0, but row {row} has the id {spec.vocab.ids[row]}")
    if not np.array_equal(kinds, expected_kinds):
        row = next((row for row, kind in enumerate(expected_kinds) if row >= len(kinds) or kinds[row] != kind), 0)
        raise FormatError(f"llama2.c fixes the ids 0 to 258; id {row} must be of kind {expected_kinds[row].name}")
    if any(spec.vocab.piece(3 + byte) != b"<0x%02X>" % byte for byte in range(256)):
        raise FormatError("llama2.c needs the bytes, in order, as ids 3 to 258")
    if any(spec.names.get(role) != number for role, number in ID_OF_ROLE.items()):
        raise FormatError(f"llama2.c needs the ids {ID_OF_ROLE} for unk, bos and eos, not {dict(spec.names)}")


def _require_distinct_texts(texts: list[bytes]) -> None:
    seen_texts: set[bytes] = set()
    for row, text in enumerate(texts):
        if text in seen_texts or not text:
            raise FormatError(f"SentencePiece needs distinct texts that are not empty, but row {row} is {text!r}")
        seen_texts.add(text)
