"""Tests each of Hugging Face's normalizers against the package ``tokenizers``: texts and offsets."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from polytok import byte_level
from polytok.formats.oniguruma import translate
from polytok.spec import (
    BertNormalize,
    ByteLevel,
    FixedLength,
    Lowercase,
    Nmt,
    NormalizeStep,
    Precompiled,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from reference_specs import DATA
from stages import Piece, check, pieces, stage, stage_texts

tokenizers = pytest.importorskip("tokenizers")
normalizers = tokenizers.normalizers
Regex = tokenizers.Regex

BERT = [
    BertNormalize(
        clean_text=bool(n & 1), handle_chinese_chars=bool(n & 2), strip_accents=bool(n & 4), lowercase=bool(n & 8)
    )
    for n in range(16)
]
FORMS = ("NFC", "NFD", "NFKC", "NFKD")

STEPS: list[tuple[NormalizeStep, Any]] = [
    *((step, normalizers.BertNormalizer(step.clean_text, step.handle_chinese_chars, step.strip_accents, step.lowercase))
      for step in BERT),
    *((Strip(left, right), normalizers.Strip(left, right)) for left in (False, True) for right in (False, True)),
    (StripAccents(), normalizers.StripAccents()),
    *((UnicodeForm(form), getattr(normalizers, form)()) for form in FORMS),
    (Lowercase(), normalizers.Lowercase()),
    (Nmt(), normalizers.Nmt()),
    (ByteLevel(), normalizers.ByteLevel()),
    (Prepend("▁_"), normalizers.Prepend("▁_")),
    *((Replace(old, new), normalizers.Replace(old, new))
      for old, new in [(" ", "▁"), ("a", "xyz"), ("12", ""), ("é", "e")]),
    *((Replace(old, new, is_regex=True), normalizers.Replace(Regex(old), new))
      for old, new in [(r"\s+", " "), ("[aeiou]", "*"), ("(a)(b)?", r"$1\1"), ("[^ ]", "")]),
]  # fmt: skip
CHAINS = [
    (BertNormalize(), UnicodeForm("NFKC")),
    (UnicodeForm("NFKD"), StripAccents(), Lowercase(), Replace(" ", "▁")),
    (Replace("``", '"'), UnicodeForm("NFKD"), StripAccents(), Strip(), ByteLevel()),
    (UnicodeForm("NFC"), Replace(r"\s+", " ", is_regex=True), Lowercase(), Prepend("▁")),
]


def reference(normalizer: Any, text: str) -> list[Piece]:
    """Returns each character of the normalized text with its span of bytes in the original text."""
    reference_string = tokenizers.PreTokenizedString(text)
    reference_string.normalize(lambda normalized_text: normalizer.normalize(normalized_text))
    reference_string.split(lambda _, normalized_text: normalized_text.split(Regex(r"\O"), "isolated"))
    return [(piece, *span) for piece, span, _ in reference_string.get_splits("original", "byte")]


def check_steps(steps: tuple[NormalizeStep, ...], normalizer: Any) -> None:
    check({text: reference(normalizer, text) for text in stage_texts()}, steps, (FixedLength(1),))


@pytest.mark.parametrize(("step", "normalizer"), STEPS, ids=[str(step) for step, _ in STEPS])
def test_step(step: NormalizeStep, normalizer: Any) -> None:
    check_steps((step,), normalizer)


def test_gpt2s_table() -> None:
    assert sorted(byte_level.CHARACTERS) == sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    assert [byte_level.BYTES[character] for character in byte_level.CHARACTERS] == list(range(256))
    for text in ("\0\t\n ~\x7f", "\x80\xa0\xad\xff", "é世😀"):
        visible_text = "".join(byte_level.CHARACTERS[byte] for byte in text.encode())
        assert normalizers.ByteLevel().normalize_str(text) == visible_text


@pytest.mark.parametrize("pattern", ["^", "x*", "(?=a)", r"\b", r"(?<!\n)^", ""])
def test_an_empty_match_at_the_start_of_the_text(pattern: str) -> None:
    """Tests only the normalized text, because the reference's offsets are wrong (tests/parity/known.py)."""
    step = Replace(translate(pattern), "▁_", is_regex=bool(pattern))
    normalizer = normalizers.Replace(Regex(pattern) if pattern else "", "▁_")
    expected = {text: normalizer.normalize_str(text) for text in ("", "a", "ab", "é a", "cab\na\n", "\n a")}
    tokenizer = stage(expected.values(), (step,))
    for text, normalized in expected.items():
        assert "".join(piece for piece, _, _ in pieces(tokenizer, text)) == normalized


@pytest.mark.parametrize("steps", CHAINS, ids=range(len(CHAINS)))
def test_chain(steps: tuple[NormalizeStep, ...]) -> None:
    step_functions = dict(STEPS)
    step_functions |= {Replace("``", '"'): normalizers.Replace("``", '"'), Prepend("▁"): normalizers.Prepend("▁")}
    check_steps(steps, normalizers.Sequence([step_functions[step] for step in steps]))


@pytest.mark.parametrize(
    "step", [UnicodeForm("NFKC"), UnicodeForm("NFD"), StripAccents(), Lowercase(), Nmt(), BERT[-1]]
)
def test_every_character(step: NormalizeStep) -> None:
    normalizer = dict(STEPS)[step]
    all_characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    # Letters around the character prevent joining with a neighbour.
    texts = ["x".join(["", *all_characters[at : at + 0x1000], ""]) for at in range(0, len(all_characters), 0x1000)]
    expected = {text: normalizer.normalize_str(text) for text in texts}
    tokenizer = stage(expected.values(), (step,))
    for text, normalized in expected.items():
        assert [piece for piece, _, _ in pieces(tokenizer, text)] == [normalized]


def test_charsmap() -> None:
    file = DATA / "vocab/huggingface/xlnet_base_cased.json"
    if not file.exists():
        pytest.skip("no data: set POLYTOK_DATA")
    steps = json.loads(file.read_bytes())["normalizer"]["normalizers"]
    (charsmap,) = [base64.b64decode(step["precompiled_charsmap"]) for step in steps if step["type"] == "Precompiled"]
    check_steps((Precompiled(charsmap),), normalizers.Precompiled(charsmap))
