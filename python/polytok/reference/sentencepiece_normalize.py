"""SentencePiece's normalizer: maps characters; trims, collapses and marks spaces (U+2581); adds a space in front.

Every output byte remembers the input offset of the key, symbol or character it came from, so that a whole replacement
maps to the start of the text that it replaced. Replacements are not normalized again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from polytok.reference.charsmap import Charsmap
from polytok.reference.stages import Aligned
from polytok.reference.utf8 import char_end, decode_strict, longest_match
from polytok.space_mark import SPACE_MARK_BYTES
from polytok.spec import SentencePieceNormalize

INVALID = "\ufffd".encode()


def normalize(step: SentencePieceNormalize, text: bytes, user_defined: Collection[bytes] = ()) -> Aligned:
    """The normalized text. User-defined symbols are copied past the charsmap, but spaces in them are still marked."""
    space = SPACE_MARK_BYTES if step.escape_whitespaces else b" "
    rest = list(steps(step.charsmap, text, user_defined))
    if step.remove_extra_whitespaces:
        # Only an output that is exactly one space counts here; a deleted character ends the leading spaces.
        while rest and rest[0][0] == b" ":
            del rest[0]
    if not rest:
        return Aligned(b"", [len(text)])
    out = bytearray()
    origin: list[int] = []

    def append(piece: bytes, came_from: int) -> None:
        out.extend(piece)
        origin.extend([came_from] * len(piece))

    if step.add_dummy_prefix and not step.whitespace_as_suffix:
        append(space, rest[0][1])
    after_space = step.remove_extra_whitespaces
    for piece, start in rest:
        kept = piece.lstrip(b" ") if after_space else piece
        append(kept.replace(b" ", space), start)
        if kept:  # a deletion does not change the state, so the spaces around it collapse
            after_space = step.remove_extra_whitespaces and kept.endswith(b" ")
    end = len(text)
    # This examines the output, so it also affects a U+2581 of the input if spaces are marked.
    while step.remove_extra_whitespaces and out.endswith(space):
        end = origin[-len(space)]
        del out[-len(space) :], origin[-len(space) :]
    if step.add_dummy_prefix and step.whitespace_as_suffix:
        append(space, end)
    return Aligned(bytes(out), [*origin, end])


def steps(charsmap: bytes, text: bytes, user_defined: Collection[bytes]) -> Iterator[tuple[bytes, int]]:
    """The output for each range of the text, and where the range starts."""
    rules = Charsmap(charsmap) if charsmap else None
    longest = max(map(len, user_defined), default=0)
    at = 0
    while at < len(text):
        symbol_end = longest_match(text, at, user_defined, longest)
        rule = rules.longest(text, at) if rules and not symbol_end else None
        if symbol_end:
            piece, end = text[at:symbol_end], symbol_end
        elif rule:
            piece, end = rule
        elif decode_strict(text, at)[0] is not None:
            end = char_end(text, at)
            piece = text[at:end]
        else:
            piece, end = INVALID, at + 1  # the charsmap's own rule for U+FFFD does not apply to this U+FFFD
        yield piece, at
        at = end
