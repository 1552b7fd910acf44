"""Texts that test a tokenizer: known difficult cases, and concatenated entries of the vocabulary.

Texts of concatenated entries test merges that do not occur in other texts. The texts of a vocabulary are always the
same.
"""

from __future__ import annotations

import random

from .space_mark import SPACE_MARK_BYTES
from .spec import Kind, Spec

DIFFICULT_TEXTS = (
    *("", " ", "  ", "   ", "\n", "\n\n", " \n ", "\t", "\r\n", "a", " a", "a ", "  a  b  ", "\u3000a\xa0b\u2028c"),
    *("Hello, world!", "HELLO World's I'll we'RE they'd can't", "don\u2019t", "'\u017f", "x'S", "eBay mL NaOH pH"),
    *("0 12 345 6789 12345678901234567890", "1,234.56 3/4 \u0663\u0664 \uff11\uff12 \u2167 \u00bd", "a1b22c333"),
    *(
        "!!!??...---___***",
        "http://a.b/c?d=e&f=g#h",
        "if (x == 1) {\n    return y;\n\n}\n",
        "<a href='b'>c</a>",
        "$1^2`~|",
    ),
    *(
        "Größe naïve café Ångström",
        "e\u0301a\u0308 \u1e9b\u0323",
        "ﬁ ﷺ ™ ① ㍿ ｶﾞ",
        "日本語のテキスト。中文，文本！",
        "한국어 마실까해요",
    ),
    *("Русский текст ЁЖ", "עברית עם ניקוד שָׁלוֹם", "العربية مُشَكَّلَة", "हिन्दी क्षत्रिय", "ไทยไม่มีช่องว่าง", "Việt Cửa Việt"),
    *(
        "😀👩\u200d👩\u200d👧🇩🇪👍🏽",
        "🦙.cpp",
        "\u200b\ufeff\xad\u2060",
        "\x00\x01\x7f\x85",
        "\u2581 \u2581\u2581a",
        "<s></s><unk>",
    ),
    *("<|endoftext|>", "<0x0A><0xFF>", "##ing [CLS] [SEP]", "\U0010ffff\ue000\ufffd", "ÉtÉ ÀB ǅ", "a" * 70, " " * 70),
)
"""One text for each known difficulty."""

_SEED = 1


def texts(spec: Spec, count: int = 400) -> list[str]:
    """Returns `DIFFICULT_TEXTS`, and ``count`` texts that concatenate up to eight entries each."""
    random_source = random.Random(_SEED)
    usable_pieces = [
        piece
        for piece, kind in zip(spec.vocab.pieces(), spec.vocab.kinds.tolist(), strict=True)
        if _can_occur_in_texts(kind)
    ]
    pieces = [piece.replace(SPACE_MARK_BYTES, b" ") for piece in usable_pieces if piece]
    random_texts = (
        b"".join(random_source.choices(pieces, k=random_source.randrange(1, 9))) for _ in range(count if pieces else 0)
    )
    return [*DIFFICULT_TEXTS, *(text.decode(errors="ignore") for text in random_texts)]


def _can_occur_in_texts(kind: int) -> bool:
    return kind in (Kind.NORMAL, Kind.USER_DEFINED)
