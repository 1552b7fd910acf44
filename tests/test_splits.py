"""Tests each of Hugging Face's pre-tokenizers against the package ``tokenizers``: the pieces and their offsets."""

from __future__ import annotations

import random
import sys
from typing import Any, get_args

import pytest

from polytok import FormatError, PolytokError
from polytok.formats.oniguruma import _multi_character_folds, translate
from polytok.spec import (
    Behavior,
    ByteLevel,
    FixedLength,
    Metaspace,
    PatternSplit,
    PieceSpace,
    ScriptSplit,
    SplitStep,
)
from stages import Piece, check, pieces, stage, stage_texts

tokenizers = pytest.importorskip("tokenizers")
pre = tokenizers.pre_tokenizers
Regex = tokenizers.Regex

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
# The reference's table of punctuation has Unicode 8.0, and two characters that are not punctuation in later versions.
PUNCTUATION = "[\\p{P}\u166d\U000111c9!-/:-@\\[-`{-~]"
# The reference's table of numbers has Unicode 17.0; the engine's has 16.0.
NUMBER = "[\\p{N}\U00011de0-\U00011de9\U00016ff4-\U00016ff6]"
WORDS = PatternSplit(r"\p{White_Space}", "removed")

BEHAVIORS = [name for name in get_args(Behavior) if name != "matches"]
PATTERNS = [
    *(GPT2, LLAMA3, CLIP, r"\s+", r"\d", r"\p{N}{1,3}", r"(?=(?:\d{3})+\b)", r"\w+|[^\w\s]+", "a|b|", "^", "$"),
    *(r"\b", r"[\w'-]+", r"[[:punct:]]", r"(?<=[a-z])(?=[A-Z])", r"\R", r"\h{2}+", r"\p{Han}|\p{^L}", r"(?m:.)$"),
]

STEPS: list[tuple[tuple[SplitStep, ...], Any]] = [
    *(((Metaspace(prepend=scheme, split=split),), pre.Metaspace("▁", scheme, split))
      for scheme in ("always", "first", "never") for split in (True, False)),
    ((Metaspace("_"),), pre.Metaspace("_")),
    ((ScriptSplit(),), pre.UnicodeScripts()),
    *(((FixedLength(length),), pre.FixedLength(length)) for length in (1, 3, 5)),
    ((PatternSplit(r"\w+|[^\w\s]+"),), pre.Whitespace()),
    ((WORDS,), pre.WhitespaceSplit()),
    ((PatternSplit("-", "removed", is_regex=False),), pre.CharDelimiterSplit("-")),
    *(((PatternSplit(PUNCTUATION, behavior, unicode="8.0"),), pre.Punctuation(behavior)) for behavior in BEHAVIORS),
    ((WORDS, PatternSplit(PUNCTUATION, "isolated", unicode="8.0")), pre.BertPreTokenizer()),
    ((PatternSplit(NUMBER, "contiguous"),), pre.Digits()),
    ((PatternSplit(NUMBER, "isolated"),), pre.Digits(individual_digits=True)),
    ((PatternSplit(GPT2, "isolated"), ByteLevel()), pre.ByteLevel(add_prefix_space=False)),
    ((PieceSpace(), PatternSplit(GPT2, "isolated"), ByteLevel()), pre.ByteLevel()),
    ((PieceSpace(), ByteLevel()), pre.ByteLevel(use_regex=False)),
    ((WORDS, Metaspace()), pre.Sequence([pre.WhitespaceSplit(), pre.Metaspace()])),
    ((WORDS, Metaspace(prepend="first")), pre.Sequence([pre.WhitespaceSplit(), pre.Metaspace("▁", "first")])),
    ((PatternSplit(NUMBER, "isolated"), PieceSpace(), PatternSplit(GPT2, "isolated"), ByteLevel()),
     pre.Sequence([pre.Digits(individual_digits=True), pre.ByteLevel()])),
]  # fmt: skip


def reference(splitter: Any, text: str) -> list[Piece]:
    split = tokenizers.PreTokenizedString(text)
    splitter.pre_tokenize(split)
    return [(piece, *span) for piece, span, _ in split.get_splits("original", "byte")]


@pytest.mark.parametrize(("steps", "splitter"), STEPS, ids=[str(steps) for steps, _ in STEPS])
def test_steps(steps: tuple[SplitStep, ...], splitter: Any) -> None:
    check({text: reference(splitter, text) for text in stage_texts()}, split=steps)


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern(pattern: str, behavior: Behavior, invert: bool) -> None:
    splitter = pre.Split(Regex(pattern), behavior, invert)
    expected = {text: reference(splitter, text) for text in stage_texts(60)}
    check(expected, split=(PatternSplit(translate(pattern), behavior, invert),))


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("text", ["", "a", " ", "aa", "--", "é"])
def test_plain_text(text: str, behavior: Behavior, invert: bool) -> None:
    splitter = pre.Split(text, behavior, invert)
    expected = {sample: reference(splitter, sample) for sample in (*stage_texts(60), "a--aa--", "éaéé", "---")}
    check(expected, split=(PatternSplit(text, behavior, invert, is_regex=False),))


@pytest.mark.parametrize("pattern", [GPT2, LLAMA3, CLIP, r"\s+", r"\p{N}{1,3}", r"\w+|[^\w\s]+"])
def test_published_patterns_convert_back(pattern: str) -> None:
    # The engine's scanner must still recognize the pattern.
    translated_pattern = translate(pattern)
    assert translated_pattern == pattern or r"\w" in pattern


ATOMS = [
    *("a", "b", "A", "s", "k", "é", "1", " ", "-", r"\n", ".", r"\w", r"\W", r"\s", r"\S", r"\d", r"\D", r"\h", r"\H"),
    *(r"\p{L}", r"\p{Lu}", r"\P{L}", r"\p{^N}", r"\p{Han}", r"\p{Punct}", r"\p{word}", "[abc]", "[^ab]", r"[\w]"),
    *("[a-c1-3]", r"[^\w\s]", "[[:alpha:]]", "[[:^alpha:]1]", "[a-z&&[^b]]", r"\R", r"\N", r"\O", r"\x41", r"\u00e9"),
    *("{", "}", "]", "a{", "漢", "²", r"\.", "&", "~", "[!-~]", r"[\]\[]", "[-a]", "[a-]", r"\x{6f22}"),
]
ANCHORS = ["^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z", "(?=a)", "(?!a)", r"(?<=\s)", "(?<!a)", r"(?!\S)"]
QUANTIFIERS = [
    "",
    "",
    "",
    "",
    "?",
    "*",
    "+",
    "??",
    "+?",
    "++",
    "?+",
    "{2}",
    "{1,2}",
    "{,2}",
    "{2}+",
    "{1,2}+",
    "{1,2}?",
]
CHARACTERS = "aabbABCskKé123  \n\r-._!&~{}[]²漢\u200d\u2028"
OPENINGS = ["(", "(?:", "(?>", "(?i:", "(?m:"]


def random_pattern(pick: random.Random, depth: int = 0) -> str:
    """Returns a random pattern without repeated groups that can match nothing, which Oniguruma treats differently."""
    parts = []
    for _ in range(pick.randint(1, 4)):
        if pick.random() < 0.15:
            parts.append(pick.choice(ANCHORS))
        elif depth < 2 and pick.random() < 0.25:
            parts.append(pick.choice(OPENINGS) + random_pattern(pick, depth + 1) + ")")
        else:
            parts.append(pick.choice(ATOMS) + pick.choice(QUANTIFIERS))
    return "".join(parts) + ("|" + random_pattern(pick, depth) if pick.random() < 0.3 else "")


def test_random_patterns() -> None:
    pick = random.Random(4)
    compared = 0
    for _ in range(800):
        pattern, behavior, invert = random_pattern(pick), pick.choice(BEHAVIORS), pick.random() < 0.3
        texts = ["".join(pick.choices([*CHARACTERS, "ss"], k=pick.randrange(20))) for _ in range(5)]
        try:
            splitter = pre.Split(Regex(pattern), behavior, invert)
            step = PatternSplit(translate(pattern), behavior, invert)
            stage(split=(step,))
        except Exception:  # the reference or polytok refuses the pattern
            continue
        check({text: reference(splitter, text) for text in texts}, split=(step,))
        compared += 1
    assert compared > 400


@pytest.mark.parametrize(
    "pattern",
    [*(r"\Ga", r"a\Kb", r"\X", "(?~ab)", "(?i)ss", "(?i)[ß]", r"\p{InThai}", "(?W:a)"),
     *("(?{x})", "(a", "a)", "[a", "*", "a{3,1}", "(" * 9999)],
)  # fmt: skip
def test_patterns_without_an_equivalent_are_refused(pattern: str) -> None:
    with pytest.raises(FormatError, match="equivalent"):
        translate(pattern)


@pytest.mark.parametrize(
    "pattern", ["((a{1,999}){1,999}){1,999}", "(?=b)((a{1000}){1000}){1000}", r"(?<=(?:a{1000}){1000})b", "(a"]
)
def test_a_pattern_that_is_too_big_is_refused(pattern: str) -> None:
    with pytest.raises(PolytokError, match="cannot be compiled"):
        stage(split=(PatternSplit(pattern),))


def test_all_characters_with_long_case_foldings_are_found() -> None:
    characters = map(chr, range(sys.maxunicode + 1))
    assert {fold for char in characters if len(fold := char.casefold()) > 1} == _multi_character_folds()


def test_a_pattern_that_backtracks_too_much_is_an_error() -> None:
    tokenizer = stage(split=(PatternSplit(r"(a|aa)+\1b"),))
    with pytest.raises(PolytokError, match="too many steps"):
        tokenizer.encode("a" * 5000)


def test_older_unicode() -> None:
    # U+A7DC is a letter since Unicode 16.0.
    for version, expected in (("15.0", ["x", "\ua7dc"]), ("16.0", ["x\ua7dc"]), (None, ["x\ua7dc"])):
        for pattern in (r"\p{L}+|[^\p{L}]", r"(?:\p{L}+|\P{L})(?=|a)"):
            tokenizer = stage(expected, split=(PatternSplit(pattern, unicode=version),))
            assert [piece for piece, _, _ in pieces(tokenizer, "x\ua7dc")] == expected
    with pytest.raises(PolytokError, match='Unicode "99.0" is not a known version'):
        stage(split=(PatternSplit(r"\p{L}", unicode="99.0"),))
