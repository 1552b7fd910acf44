"""The ``.vocab`` file that is written beside a ``.model``: a line for each piece."""

from __future__ import annotations

from ...spec import Spec


def vocab_text(spec: Spec, *, scores: bool = True) -> bytes:
    """Each piece, a tab, and its score in six significant digits, as SentencePiece writes them.

    >>> from polytok.spec import Bpe, Kind, Vocab
    >>> rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"a", 1, -6.1710847, Kind.NORMAL)]
    >>> vocab_text(Spec(Vocab.from_rows(rows), Bpe("score"))).split()
    [b'<unk>', b'0', b'a', b'-6.17108']
    """
    pieces = spec.vocab.pieces()
    if not scores:
        return b"".join(piece + b"\n" for piece in pieces)
    # C's %g is the same as Python's.
    return b"".join(
        b"%b\t%g\n" % (piece, score) for piece, score in zip(pieces, spec.vocab.scores.tolist(), strict=True)
    )
