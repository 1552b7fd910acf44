"""Post-processing: a model's segments as tokens, with the policy for unknown text and the spans in the original.

* ``unk``: the piece of kind UNKNOWN; a run of unknown segments is one token, whatever it contains.
* ``bytes``: one token per byte of the normalized text, for each segment on its own. All but the last byte have an empty
  span at the segment's start, the last has the whole span.
* ``error``: an EncodeError that names the byte.

Text that became a control symbol is an EncodeError too. That takes SentencePiece 0.2.1 and a control symbol of one
character (BPE, CHAR) or one word (WORD): the release fails on it, and its Python face returns no ids at all.

A span runs from the origin of the segment's first byte to the origin of the byte after it. So if a replacement is split
into several pieces, all but the last have an empty span and the last spans the whole replaced text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polytok.errors import EncodeError
from polytok.reference.stages import Aligned, RefToken, Segment
from polytok.reference.vocabulary import Vocabulary
from polytok.spec import Kind, UnknownPolicy


def post(
    words: Vocabulary, text: Aligned, segments: Sequence[Segment], unknown: UnknownPolicy, may_be_control: bool = False
) -> list[RefToken]:
    """The tokens of one piece of text. llama2.c allows text to become control symbols."""
    out: list[RefToken] = []
    after_unknown = False
    for id, i, j in segments:
        piece, start, end = text.text[i:j], text.origin[i], text.origin[j]
        is_unknown = id is None or id == words.unknown
        if not is_unknown:
            assert id is not None
            if words.kind[id] == Kind.CONTROL and not may_be_control:
                raise EncodeError(f"{piece!r} at offset {start} is a control symbol, which text must not become")
            out.append(RefToken(id, words.piece[id], start, end))
        elif unknown == "bytes":
            out += byte_tokens(words, piece, start, end)
        elif unknown == "error" or words.unknown is None:
            raise EncodeError(f"no entry covers byte 0x{piece[0]:02X} at offset {start}: the vocabulary lacks it")
        elif after_unknown:
            before = out.pop()
            out.append(RefToken(before.id, before.piece + piece, before.start, end))
        else:
            out.append(RefToken(words.unknown, piece, start, end))
        after_unknown = is_unknown
    return out


def byte_tokens(words: Vocabulary, piece: bytes, start: int, end: int) -> Iterator[RefToken]:
    """One token of kind BYTE for each byte."""
    for i, byte in enumerate(piece):
        name = b"<0x%02X>" % byte
        if name not in words.reserved:
            raise EncodeError(f"no entry covers byte 0x{byte:02X} at offset {start}: the vocabulary lacks {name!r}")
        yield RefToken(words.reserved[name], name, start, end if i == len(piece) - 1 else start)
