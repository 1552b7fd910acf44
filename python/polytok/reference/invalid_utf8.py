"""Text that is not UTF-8, in vocabularies that split by a pattern: the rule of ``_encode_bytes`` of tiktoken 0.14.

A pattern can only be matched against characters. So tiktoken encodes the valid prefix and removes the tokens of its
last piece. The bytes of these tokens and all bytes from the first invalid one to the end are then encoded as one piece.
If the first token removed consists only of spaces, newlines and tabs, all such tokens right before it are removed too
(a pattern like ``\\s*[\\r\\n]`` may have split between them only because the text ended there). Text after the first
invalid byte is not split. Special tokens, if they are allowed, are matched first; the rule applies to each text between
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from polytok.reference.stages import Aligned, RefToken


def valid_length(text: bytes) -> int:
    """Returns the number of bytes at the start of a text that are valid UTF-8.

    >>> valid_length(b"ab\\xffcd")
    2
    """
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.start
    return len(text)


def tokens_to_remove(tokens: Sequence[RefToken], last_piece_tokens: int) -> int:
    """Returns the number of tokens to remove at the end if the last piece has ``last_piece_tokens`` tokens."""
    count = last_piece_tokens
    if count and _is_blank(tokens[-count]):
        while count < len(tokens) and _is_blank(tokens[-count - 1]):
            count += 1
    return count


def join_remainder(removed_tokens: Sequence[RefToken], remaining_text: Aligned) -> Aligned:
    """Returns the piece that consists of the removed tokens and the text that follows them."""
    origin = [token.start + i for token in removed_tokens for i in range(len(token.piece))]
    ends = accumulate(len(token.piece) for token in removed_tokens)
    return Aligned(
        b"".join(token.piece for token in removed_tokens) + remaining_text.text,
        origin + remaining_text.origin,
        {end: token.end for end, token in zip(ends, removed_tokens, strict=True)},
    )


def _is_blank(token: RefToken) -> bool:
    return not token.piece.strip(b" \n\t")
