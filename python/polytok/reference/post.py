"""Post-processing: converts a model's segments to tokens, with the policy for unknown text and with spans.

* ``unk``: the piece of kind UNKNOWN; a run of adjacent unknown segments is one token.
* ``bytes``: one token for each byte of the normalized text. In every segment all tokens but the last have an empty
  span at the segment's start; the last has the whole span.
* ``error``: an EncodeError that names the byte.

Text that the model converts to a control symbol is an EncodeError too. This occurs only by the rules of SentencePiece
0.2.1, with a control symbol of one character (BPE, CHAR) or one word (WORD). That release fails on the text, and its
Python package returns no ids.

A span runs from the origin of the segment's first byte to the origin of the byte after its last. So if a replacement
is split into several pieces, all but the last have an empty span, and the last spans the whole replaced text. Text that
a split drops is in no span, except between two bytes of one token (`polytok.reference.invalid_utf8`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polytok.errors import EncodeError
from polytok.reference.stages import Aligned, RefToken, Segment
from polytok.reference.vocabulary import Vocabulary
from polytok.spec import Kind, UnknownPolicy


def post_process(
    vocab: Vocabulary, text: Aligned, segments: Sequence[Segment], unknown: UnknownPolicy, can_be_control: bool = False
) -> list[RefToken]:
    """Returns the tokens of one piece. ``can_be_control``: text can be encoded to control symbols, as in llama2.c."""
    out: list[RefToken] = []
    follows_unknown = False
    for id, i, j in segments:
        piece, start, end = text.text[i:j], text.origin[i], text.end(j)
        if id is not None:
            if vocab.kind[id] == Kind.CONTROL and not can_be_control:
                raise EncodeError(f"{piece!r} at offset {start} is a control symbol, which text must not become")
            out.append(RefToken(id, vocab.piece[id], start, end))
        elif unknown == "bytes":
            out += byte_tokens(vocab, piece, start, end)
        elif unknown == "error" or vocab.unknown is None:
            raise EncodeError(f"no entry covers byte 0x{piece[0]:02X} at offset {start}: the vocabulary lacks it")
        elif follows_unknown:
            previous = out.pop()
            out.append(RefToken(previous.id, previous.piece + piece, previous.start, end))
        else:
            out.append(RefToken(vocab.unknown, piece, start, end))
        follows_unknown = id is None
    return out


def byte_tokens(vocab: Vocabulary, piece: bytes, start: int, end: int) -> Iterator[RefToken]:
    """Yields one token of kind BYTE for each byte of a piece."""
    for i, byte in enumerate(piece):
        name = b"<0x%02X>" % byte
        if name not in vocab.reserved_ids:
            raise EncodeError(f"no entry covers byte 0x{byte:02X} at offset {start}: the vocabulary lacks {name!r}")
        yield RefToken(vocab.reserved_ids[name], name, start, end if i == len(piece) - 1 else start)
