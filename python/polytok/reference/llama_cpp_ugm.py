"""llama.cpp's tokenizer of T5 vocabularies (llm_tokenizer_ugm): a normalizer, and a search for the best path."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

from polytok.formats.gguf_tokens import Attribute
from polytok.space_mark import SPACE_MARK_BYTES

UNKNOWN_PENALTY = 10.0


class UgmTokenizer:
    """The tables of one vocabulary, which are computed once."""

    def __init__(
        self, texts: Sequence[bytes], scores: Sequence[float], attributes: Sequence[Attribute], charsmap: bytes
    ) -> None:
        matched_kinds = Attribute.NORMAL | Attribute.USER_DEFINED | Attribute.UNUSED
        self.ids = {text: id for id, text in enumerate(texts) if attributes[id] & matched_kinds}
        user_defined_texts = [text for id, text in enumerate(texts) if attributes[id] & Attribute.USER_DEFINED]
        self.user_defined_prefixes = {text[:n] for text in user_defined_texts for n in range(1, len(text) + 1)}
        normal_scores = [
            score for score, attribute in zip(scores, attributes, strict=True) if attribute & Attribute.NORMAL
        ]
        lowest = np.float32(min(normal_scores, default=np.finfo(np.float32).max))
        self.unknown_score = float(np.float32(lowest - np.float32(UNKNOWN_PENALTY)))
        self.longest = max(map(len, self.ids), default=0)
        size = struct.unpack_from("<I", charsmap)[0] if charsmap else 0
        self.units = struct.unpack_from(f"<{size // 4}I", charsmap, 4) if charsmap else ()
        self.replacements = charsmap[4 + size :]

    def normalize(self, text: bytes, add_space_prefix: bool, merge_spaces: bool) -> bytes:
        """Returns the normalized text, in which U+2581 represents spaces."""
        out, at, is_in_word, has_prefix = b"", 0, False, False
        while at < len(text):
            piece, length = self._replace_prefix(text, at)
            at += length
            for byte in piece:
                if byte == 0x20:
                    is_in_word = False
                    out += b"" if merge_spaces else SPACE_MARK_BYTES
                    continue
                if not is_in_word and (merge_spaces or (add_space_prefix and not has_prefix)):
                    out, has_prefix = out + SPACE_MARK_BYTES, True
                is_in_word = True
                out += bytes([byte])
        return out

    def _replace_prefix(self, text: bytes, at: int) -> tuple[bytes, int]:
        """Returns the replacement of the text at ``at``, and the length of the replaced text."""
        end = at
        while end < len(text) and text[at : end + 1] in self.user_defined_prefixes:
            end += 1
        if end > at:
            return text[at:end], end - at
        replacement = self._longest_replacement(text, at)
        if replacement:
            return replacement
        length = (
            1 if text[at] < 0x80 else {0xC: 2, 0xD: 2, 0xE: 3}.get(text[at] >> 4, 4 if text[at] >> 3 == 0x1E else 0)
        )
        continuation = text[at + 1 : at + length]
        if length and len(continuation) == length - 1 and all(byte & 0xC0 == 0x80 for byte in continuation):
            return text[at : at + length], length
        return "\ufffd".encode(), 1

    def _longest_replacement(self, text: bytes, at: int) -> tuple[bytes, int] | None:
        """Returns the replacement of the longest charsmap match and the match's length, or None."""
        if not self.units:
            return None
        longest_match, node = None, _child_offset(self.units[0])
        for end in range(at, len(text)):
            node ^= text[end]
            if text[end] == 0 or self.units[node] & 0x800000FF != text[end]:
                break
            is_leaf = self.units[node] >> 8 & 1
            node ^= _child_offset(self.units[node])
            if is_leaf:
                start = self.units[node] & 0x7FFFFFFF
                longest_match = self.replacements[start : self.replacements.index(b"\0", start)], end + 1 - at
        return longest_match

    def segment(self, text: bytes, scores: Mapping[int, float], unknown: int) -> list[int]:
        """Returns the ids of the path with the best sum over normalized text; ``scores`` has the score of every id."""
        best: list[tuple[float, int, int]] = [(0.0, 0, unknown)] + [(-np.inf, 0, unknown)] * len(text)
        at = 0
        while at < len(text):
            char_length = min((1, 2, 3, 4)[max(0, (text[at] >> 4) - 12 + (0xC0 <= text[at] < 0xD0))], len(text) - at)
            is_character_covered = False
            for end in range(at + 1, min(at + self.longest, len(text)) + 1):
                id = self.ids.get(text[at:end])
                if id is not None:
                    is_character_covered |= end - at == char_length
                    _offer(best, end, best[at][0] + scores[id], at, id)
            if not is_character_covered:
                _offer(best, at + char_length, best[at][0] + self.unknown_score, at, unknown)
            at += char_length
        ids: list[int] = []
        at = len(text)
        while at > 0:
            _, start, id = best[at]
            if not (id == unknown and ids[-1:] == [unknown]):
                ids.append(id)
            at = start
        return ids[::-1]


def _child_offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


def _offer(best: list[tuple[float, int, int]], end: int, score: float, start: int, id: int) -> None:
    if score > best[end][0]:
        best[end] = score, start, id
