"""Derives the Spec of a guard, which encodes texts that are not trusted as a whole (`polytok.Parts`).

The search for special tokens finds none in untrusted text, but the model of a Spec can form a special token from plain
text: in Hugging Face's Unigram ``</s>`` is an ordinary entry, BPE can merge to an entry that is also an added token,
and SentencePiece matches user-defined pieces in every text. In the Spec of a guard, such entries have bytes that do not
occur in UTF-8, so no text has these tokens. The engine still searches for the special tokens of the original Spec in
trusted text (crates/polytok-core/src/trust.rs).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .errors import ArgumentError
from .records import replace
from .space_mark import SPACE_MARK
from .spec import Bpe, BytesDecode, Kind, Spec, Template, Vocab, Word, is_sentencepiece

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Unicode's White_Space, which is smaller than that of `str.strip`, and the mark for a space.
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))) + SPACE_MARK
)
# The bytes of a code: the first byte, and the others. None of them can start a character.
_FIRST_BYTES = range(0x80, 0x90)
_OTHER_BYTES = range(0x90, 0xC0)


def guard_spec(spec: Spec) -> Spec | None:
    """Returns the Spec of the guard; None if the model of this Spec forms no special token from plain text."""
    pieces = spec.vocab.pieces()
    hidden_rows = _rows_to_hide(spec, pieces)
    if not hidden_rows:
        return None
    kinds, ids = spec.vocab.kinds.tolist(), spec.vocab.ids.tolist()
    has_codes = is_sentencepiece(spec.model) and not isinstance(spec.model, Word)
    codes: dict[int, Iterator[bytes]] = {}
    for row in hidden_rows:
        length = len(searched_bytes(spec, pieces[row]))
        if has_codes and kinds[row] == Kind.USER_DEFINED and length > 1:
            code = next(codes.setdefault(length, _codes(length)), None)
            if code is None:
                raise ArgumentError(f"the vocabulary has too many user-defined pieces of {length} bytes for Parts")
            pieces[row] = code
        else:
            pieces[row] = b"\xff%d" % row
    model = spec.model
    if isinstance(model, Bpe) and model.merges is not None:
        model = replace(model, merges=_without_ids(model.merges, [ids[row] for row in hidden_rows]))
    return replace(
        spec, vocab=_with_pieces(spec.vocab, pieces), model=model, special=(), post=Template(), decode=BytesDecode()
    )


def marks_nothing(text: str, special: bool) -> bool:
    """Reports whether a token marks no structure, so that it is recognized in text from outside too: white space, or a
    single character that is not a special token.

    Vocabularies list digits, letters and runs of spaces as added or user-defined tokens, only to keep them whole.
    """
    return not text.strip(_WHITE_SPACE) or (len(text) == 1 and not special)


def searched_bytes(spec: Spec, piece: bytes) -> bytes:
    """Returns the bytes of a user-defined piece that SentencePiece searches for; in 0.2.1 a piece ends at a NUL."""
    return piece.partition(b"\0")[0] if spec.sentencepiece_version == "0.2.1" else piece


def marked_ids(spec: Spec) -> set[int]:
    """Returns the ids of the special, added and user-defined tokens that mark structure, and of the unknown entry."""
    kinds, ids = spec.vocab.kinds.tolist(), spec.vocab.ids.tolist()
    marked = {token.id for token in spec.special if token.text and not marks_nothing(token.text, token.special)}
    listed = {token.id for token in spec.special}
    for row, (id, kind) in enumerate(zip(ids, kinds, strict=True)):
        if kind in (Kind.CONTROL, Kind.USER_DEFINED) and id not in listed:
            piece = searched_bytes(spec, spec.vocab.piece(row)) if kind == Kind.USER_DEFINED else spec.vocab.piece(row)
            if piece and not marks_nothing(piece.decode("utf-8", "surrogateescape"), kind == Kind.CONTROL):
                marked.add(id)
        elif kind == Kind.UNKNOWN:
            marked.add(id)
    return marked


def _rows_to_hide(spec: Spec, pieces: list[bytes]) -> list[int]:
    """Returns the rows of the entries that mark structure and that the model can form from plain text."""
    marked = marked_ids(spec)
    kinds, ids = spec.vocab.kinds.tolist(), spec.vocab.ids.tolist()
    rows = [row for row, id in enumerate(ids) if id in marked and pieces[row]]
    model = spec.model
    if is_sentencepiece(spec.model):
        return [row for row in rows if kinds[row] not in (Kind.CONTROL, Kind.UNKNOWN)]
    if isinstance(model, Bpe) and model.merges is not None and not model.whole_piece_first:
        merged_ids = set(model.merges[:, 2].tolist())
        return [row for row in rows if ids[row] in merged_ids or _is_symbol(model, pieces[row])]
    return rows


def _is_symbol(model: Bpe, piece: bytes) -> bool:
    """Reports whether an entry can be one of the symbols that merging starts from."""
    if model.symbols == "bytes":
        return len(piece) == 1
    text = piece.decode("utf-8", "replace").removeprefix(model.continuing_prefix).removesuffix(model.word_suffix)
    return len(text) <= 1


def _codes(length: int) -> Iterator[bytes]:
    """Yields codes of a length, of which none is the start of another code."""
    others = itertools.product(_OTHER_BYTES, repeat=length - 1)
    return (bytes((first, *rest)) for rest in others for first in _FIRST_BYTES)


def _without_ids(merges: npt.NDArray[np.uint32], ids: list[int]) -> npt.NDArray[np.uint32]:
    """Returns the merges without those of some entries."""
    import numpy as np

    return merges[~np.isin(merges, ids).any(axis=1)]


def _with_pieces(vocab: Vocab, pieces: list[bytes]) -> Vocab:
    """Returns the vocabulary with other bytes of the entries."""
    import numpy as np

    ends = np.cumsum([0, *map(len, pieces)], dtype=np.uint32)
    return replace(vocab, blob=b"".join(pieces), offsets=ends)
