"""Writes the ``.vocab`` file that SentencePiece writes together with a ``.model``: a line for each piece."""

from __future__ import annotations

from ...spec import Spec


def vocab_text(spec: Spec, *, scores: bool = True) -> bytes:
    """Returns the lines of a ``.vocab`` file: each line has a piece, a tab, and a score of six significant digits.

    Without ``scores``, a line has only a piece.

    >>> from polytok.spec import Bpe, Kind, Vocab
    >>> rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"a", 1, -6.1710847, Kind.NORMAL)]
    >>> vocab_text(Spec(Vocab.from_rows(rows), Bpe("score"))).split()
    [b'<unk>', b'0', b'a', b'-6.17108']
    """
    pieces = spec.vocab.pieces()
    if not scores:
        return b"".join(piece + b"\n" for piece in pieces)
    # Python's format %g returns the same text as C's, which SentencePiece uses.
    return b"".join(
        b"%b\t%g\n" % (piece, score) for piece, score in zip(pieces, spec.vocab.scores.tolist(), strict=True)
    )
