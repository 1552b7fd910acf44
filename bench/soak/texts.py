"""Hostile texts: bytes that are not UTF-8, long runs, mixed scripts, joined vocabulary entries, special tokens."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from polytok import Tokenizer

from ..worst_texts import TEXT_GENERATORS

Document = str | bytes

_CHARACTERS = (
    *("the", "of", "and", "a1", "<unk>", "<0x41>", "</s>", "[MASK]", "##", "''", "\\n", "Ġ", "Ċ", "\u2581"),
    *("é", "ß", "Ж", "я", "的", "世界", "ひらがな", "カ", "한국어", "ไทย", "ع", "ש", "ि", "्\u200d", "ǅ", "ﬁ", "İ", "ẞ"),
    *("😀", "👩\u200d👩\u200d👧", "🏳\ufe0f\u200d🌈", "\u0301", "\ufeff", "\u2028", "\x00", "\x7f", "\u00ad"),
    *("\u00a0", "\u3000", "\U000e0041", "\U0010ffff"),
)
_RUN_UNITS = (*_CHARACTERS, " ", "\n", "\r\n", "\t ", "ab", "a ", "0", "=-", "'s", "\ud83d")
_MAX_RUN_CHARACTERS = 60_000
_MAX_GENERATED_BYTES = 30_000
_MAX_PARTS = 200
_MAX_SAMPLED_PIECES = 2_000


class TextSource:
    """Draws hostile texts for one vocabulary. It keeps only some entries, so that it needs little memory."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        pieces = tokenizer.vocab_bytes()
        known = [id for id, piece in enumerate(pieces) if piece]
        self.ids = random.Random(0).sample(known, min(len(known), _MAX_SAMPLED_PIECES))
        """Some ids that have bytes."""
        self._pieces = [pieces[id] for id in self.ids]
        self._special = list(tokenizer.special_tokens) or ["<|endoftext|>"]

    def draw(self, rng: random.Random) -> Document:
        kind: Callable[[TextSource, random.Random], Document] = rng.choice(_KINDS)
        return kind(self, rng)

    def _scripts(self, rng: random.Random) -> Document:
        return rng.choice(("", " ")).join(rng.choices(_CHARACTERS, k=rng.randrange(_MAX_PARTS)))

    def _run(self, rng: random.Random) -> Document:
        unit = rng.choice(_RUN_UNITS)
        return unit * (rng.randrange(_log_size(rng, _MAX_RUN_CHARACTERS)) // len(unit))

    def _worst(self, rng: random.Random) -> Document:
        generate = rng.choice(list(TEXT_GENERATORS.values()))
        return generate(_log_size(rng, _MAX_GENERATED_BYTES), rng.randrange(1 << 30))

    def _joined_pieces(self, rng: random.Random) -> Document:
        return b"".join(rng.choices(self._pieces or [b"a"], k=rng.randrange(_MAX_PARTS)))

    def _joined_text(self, rng: random.Random) -> Document:
        return b"".join(rng.choices(self._pieces or [b"a"], k=rng.randrange(_MAX_PARTS))).decode(errors="ignore")

    def _damaged(self, rng: random.Random) -> Document:
        data = bytearray(self._scripts(rng).encode())  # type: ignore[union-attr]
        for _ in range(rng.randrange(10)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data)

    def _special_tokens(self, rng: random.Random) -> Document:
        parts: Sequence[str] = rng.choices([*self._special, *_CHARACTERS], k=rng.randrange(_MAX_PARTS))
        return "".join(parts)


_KINDS = (
    TextSource._scripts,
    TextSource._run,
    TextSource._worst,
    TextSource._joined_pieces,
    TextSource._joined_text,
    TextSource._damaged,
    TextSource._special_tokens,
)


def fixed_texts(tokenizer: Tokenizer, n: int) -> list[Document]:
    """Returns ``n`` texts, the same for each call with the same vocabulary."""
    source, rng = TextSource(tokenizer), random.Random(0)
    return [source.draw(rng) for _ in range(n)]


def _log_size(rng: random.Random, largest: int) -> int:
    """Returns a size from 1 to ``largest``, where each order of magnitude is equally likely."""
    return max(1, int(largest ** rng.random()))
