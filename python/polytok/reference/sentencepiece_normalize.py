"""SentencePiece's normalizer: maps characters; trims, collapses and marks spaces (U+2581); adds a space in front.

Every output byte keeps the input offset of the key, symbol or character that produced it. So all bytes of a
replacement have the start of the replaced text as their origin. Replacements are not normalized again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache

from polytok.reference.charsmap import Charsmap
from polytok.reference.stages import Aligned
from polytok.reference.utf8 import Counts, char_end, decode_strict, longest_match
from polytok.space_mark import SPACE_MARK_BYTES
from polytok.spec import SentencePieceNormalize

INVALID = "\ufffd".encode()


def normalize(
    step: SentencePieceNormalize, text: bytes, user_defined: Collection[bytes] = (), counts: Counts | None = None
) -> Aligned:
    """Returns the normalized text. User-defined symbols skip the charsmap, but spaces in them are marked. ``counts``
    reports whether the symbol from one offset to another counts."""
    space = SPACE_MARK_BYTES if step.escape_whitespaces else b" "
    outputs = list(replace_all(step.charsmap, text, user_defined, counts))
    if step.remove_extra_whitespaces:
        # The leading spaces end at the first output that is not exactly one space, even if that output is empty.
        while outputs and outputs[0][0] == b" ":
            del outputs[0]
    if not outputs:
        return Aligned(b"", [len(text)])
    out = bytearray()
    origin: list[int] = []

    def append(piece: bytes, source_offset: int) -> None:
        out.extend(piece)
        origin.extend([source_offset] * len(piece))

    if step.add_dummy_prefix and not step.whitespace_as_suffix:
        append(space, outputs[0][1])
    after_space = step.remove_extra_whitespaces
    for piece, start in outputs:
        trimmed_piece = piece.lstrip(b" ") if after_space else piece
        append(trimmed_piece.replace(b" ", space), start)
        if trimmed_piece:  # a deletion does not change the state, so the spaces before and after it collapse
            after_space = step.remove_extra_whitespaces and trimmed_piece.endswith(b" ")
    end = len(text)
    # This loop checks the output. So it removes a U+2581 of the input too, if spaces are marked.
    while step.remove_extra_whitespaces and out.endswith(space):
        end = origin[-len(space)]
        del out[-len(space) :], origin[-len(space) :]
    if step.add_dummy_prefix and step.whitespace_as_suffix:
        append(space, end)
    return Aligned(bytes(out), [*origin, end])


_character_map = lru_cache(maxsize=4)(Charsmap)


def replace_all(
    charsmap: bytes, text: bytes, user_defined: Collection[bytes], counts: Counts | None = None
) -> Iterator[tuple[bytes, int]]:
    """Yields the replacement of each part of the text, and the part's start."""
    character_map = _character_map(charsmap) if charsmap else None
    max_length = max(map(len, user_defined), default=0)
    position = 0
    while position < len(text):
        symbol_end = longest_match(text, position, user_defined, max_length, counts)
        replacement = character_map.longest_match(text, position) if character_map and not symbol_end else None
        if symbol_end:
            piece, end = text[position:symbol_end], symbol_end
        elif replacement:
            piece, end = replacement
        elif decode_strict(text, position)[0] is not None:
            end = char_end(text, position)
            piece = text[position:end]
        else:
            piece, end = INVALID, position + 1  # the charsmap's own rule for U+FFFD does not apply to this U+FFFD
        yield piece, position
        position = end
