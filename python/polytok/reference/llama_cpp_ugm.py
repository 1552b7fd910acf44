"""llama.cpp's T5 vocabularies (llm_tokenizer_ugm): a normalizer, and the best path by the sum of scores."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

from polytok.formats.gguf_tokens import Attribute
from polytok.space_mark import SPACE_MARK_BYTES

UNKNOWN_PENALTY = 10.0


class Ugm:
    """Data that is computed from the vocabulary once."""

    def __init__(
        self, texts: Sequence[bytes], scores: Sequence[float], attributes: Sequence[Attribute], charsmap: bytes
    ) -> None:
        matched = Attribute.NORMAL | Attribute.USER_DEFINED | Attribute.UNUSED
        self.ids = {text: id for id, text in enumerate(texts) if attributes[id] & matched}
        users = [text for id, text in enumerate(texts) if attributes[id] & Attribute.USER_DEFINED]
        self.user_paths = {text[:n] for text in users for n in range(1, len(text) + 1)}
        normal = [score for score, attribute in zip(scores, attributes, strict=True) if attribute & Attribute.NORMAL]
        lowest = np.float32(min(normal, default=np.finfo(np.float32).max))
        self.unknown_score = float(np.float32(lowest - np.float32(UNKNOWN_PENALTY)))
        self.longest = max(map(len, self.ids), default=0)
        size = struct.unpack_from("<I", charsmap)[0] if charsmap else 0
        self.units = struct.unpack_from(f"<{size // 4}I", charsmap, 4) if charsmap else ()
        self.replacements = charsmap[4 + size :]

    def normalized(self, text: bytes, add_space_prefix: bool, merge_spaces: bool) -> bytes:
        """The text in the form that is matched; spaces are U+2581."""
        out, at, in_word, has_prefix = b"", 0, False, False
        while at < len(text):
            piece, length = self._prefix(text, at)
            at += length
            for byte in piece:
                if byte == 0x20:
                    in_word = False
                    out += b"" if merge_spaces else SPACE_MARK_BYTES
                    continue
                if not in_word and (merge_spaces or (add_space_prefix and not has_prefix)):
                    out, has_prefix = out + SPACE_MARK_BYTES, True
                in_word = True
                out += bytes([byte])
        return out

    def _prefix(self, text: bytes, at: int) -> tuple[bytes, int]:
        """The replacement of the text at a place, and the length that it replaces."""
        end = at
        while end < len(text) and text[at : end + 1] in self.user_paths:
            end += 1
        if end > at:
            return text[at:end], end - at
        replaced = self._replacement(text, at)
        if replaced:
            return replaced
        length = (
            1 if text[at] < 0x80 else {0xC: 2, 0xD: 2, 0xE: 3}.get(text[at] >> 4, 4 if text[at] >> 3 == 0x1E else 0)
        )
        tail = text[at + 1 : at + length]
        if length and len(tail) == length - 1 and all(byte & 0xC0 == 0x80 for byte in tail):
            return text[at : at + length], length
        return "\ufffd".encode(), 1

    def _replacement(self, text: bytes, at: int) -> tuple[bytes, int] | None:
        """The longest entry of the charsmap, a double array."""
        if not self.units:
            return None
        found, node = None, _base(self.units[0])
        for end in range(at, len(text)):
            node ^= text[end]
            if text[end] == 0 or self.units[node] & 0x800000FF != text[end]:
                break
            is_leaf = self.units[node] >> 8 & 1
            node ^= _base(self.units[node])
            if is_leaf:
                start = self.units[node] & 0x7FFFFFFF
                found = self.replacements[start : self.replacements.index(b"\0", start)], end + 1 - at
        return found

    def segment(self, text: bytes, scores: Mapping[int, float], unknown: int) -> list[int]:
        """The path with the best sum over the normalized text; ``scores`` are those of all ids."""
        best: list[tuple[float, int, int]] = [(0.0, 0, unknown)] + [(-np.inf, 0, unknown)] * len(text)
        at = 0
        while at < len(text):
            width = min((1, 2, 3, 4)[max(0, (text[at] >> 4) - 12 + (0xC0 <= text[at] < 0xD0))], len(text) - at)
            single = False
            for end in range(at + 1, min(at + self.longest, len(text)) + 1):
                id = self.ids.get(text[at:end])
                if id is not None:
                    single |= end - at == width
                    _take(best, end, best[at][0] + scores[id], at, id)
            if not single:
                _take(best, at + width, best[at][0] + self.unknown_score, at, unknown)
            at += width
        result: list[int] = []
        at = len(text)
        while at > 0:
            _, start, id = best[at]
            if not (id == unknown and result[-1:] == [unknown]):
                result.append(id)
            at = start
        return result[::-1]


def _base(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


def _take(best: list[tuple[float, int, int]], end: int, score: float, start: int, id: int) -> None:
    if score > best[end][0]:
        best[end] = score, start, id
