"""Bytes that are not UTF-8 in a vocabulary that splits by pattern: tiktoken 0.14's ``_encode_bytes``.

A pattern can only be matched against characters. So the valid prefix is encoded, the tokens of its last piece are
removed, all bytes from the first bad one to the end are appended to their bytes, and the result is encoded as one
piece. If the first token removed consists of spaces, newlines and tabs only, all such tokens right before it are
removed as well (a pattern like ``\\s*[\\r\\n]`` can have split between them only because the text ended there). Nothing
after the first bad byte is split. Special tokens, if they are allowed, are matched first; the rule is for the text
between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from polytok.reference.stages import Aligned, RefToken


def valid_length(text: bytes) -> int:
    """The number of bytes from the start that are valid UTF-8.

    >>> valid_length(b"ab\\xffcd")
    2
    """
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.start
    return len(text)


def take_back(tokens: Sequence[RefToken], last_piece: int) -> int:
    """The number of tokens to remove when the last piece has ``last_piece`` of them."""
    count = last_piece
    if count and _is_blank(tokens[-count]):
        while count < len(tokens) and _is_blank(tokens[-count - 1]):
            count += 1
    return count


def rejoin(taken: Sequence[RefToken], rest: Aligned) -> Aligned:
    """The piece built from the removed tokens and the bytes that follow."""
    origin = [token.start + i for token in taken for i in range(len(token.piece))]
    return Aligned(b"".join(token.piece for token in taken) + rest.text, origin + rest.origin)


def _is_blank(token: RefToken) -> bool:
    return not token.piece.strip(b" \n\t")
