"""Tests Hugging Face's added tokens, and the white space that they strip, against the package ``tokenizers``."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

tokenizers = pytest.importorskip("tokenizers")

from tokenizers import AddedToken, Regex, normalizers  # noqa: E402

from huggingface_samples import byte_bpe  # noqa: E402
from polytok import Tokenizer, formats  # noqa: E402

CONTENTS = (" ", "  ", "\n", "\n\n", "\t", " a", "a ", "a", "ab", "<x>", "\u3000", "é")
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
NORMALIZERS = {
    "none": None,
    "lowercase": normalizers.Lowercase(),
    "letters removed": normalizers.Replace(Regex("[a-z<>]"), ""),
    "spaces doubled": normalizers.Replace(" ", "  "),
    "strip": normalizers.Strip(),
}
MILLION = 1_000_000

TOKEN = st.tuples(st.sampled_from(CONTENTS), st.fixed_dictionaries({flag: st.booleans() for flag in FLAGS}))
TOKENS = st.lists(TOKEN, min_size=1, max_size=4, unique_by=lambda token: token[0])
PARTS = (" ", " ", " ", "  ", "\n", "\n", "\t", "\u3000", "\u00a0", "a", "b", "A", "<x>", "é", "世")
TEXTS = st.lists(st.sampled_from(PARTS), max_size=24).map("".join)


def reference_of(tokens: list[tuple[str, dict[str, bool]]], normalizer: Any = None) -> Any:
    reference = tokenizers.Tokenizer(byte_bpe())
    reference.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    if normalizer is not None:
        reference.normalizer = normalizer
    for content, flags in tokens:
        reference.add_tokens([AddedToken(content, **flags)])
    return reference


def tokenizer_of(reference: Any) -> Tokenizer:
    return Tokenizer(formats.read(reference.to_str().encode()))


def normalized_tokens(reference: Any) -> list[str]:
    tokens = [token.content for token in reference.get_added_tokens_decoder().values() if token.normalized]
    return [reference.normalizer.normalize_str(text) if reference.normalizer else text for text in tokens]


@given(tokens=TOKENS, normalizer=st.sampled_from(sorted(NORMALIZERS)), texts=st.lists(TEXTS, min_size=1, max_size=8))
@settings(max_examples=400, deadline=None)
def test_tokens_strip_white_space_as_in_the_reference(
    tokens: list[tuple[str, dict[str, bool]]], normalizer: str, texts: list[str]
) -> None:
    reference = reference_of(tokens, NORMALIZERS[normalizer])
    searched_tokens = normalized_tokens(reference)
    if len(set(searched_tokens)) < len(searched_tokens):
        return  # the reference's hash table chooses one of two equal tokens
    if "" in searched_tokens:
        return  # the reference can find the empty token within a character, and then needs endless memory
    tokenizer = tokenizer_of(reference)
    for text in texts:
        try:
            expected = reference.encode(text)
        except BaseException as error:  # the reference panics if a span ends before it starts
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            continue
        encoding = tokenizer.encoding(text, special="all")
        assert (encoding.ids, encoding.tokens, encoding.offsets) == (expected.ids, expected.tokens, expected.offsets), (
            text
        )
        assert tokenizer.encode(text, special="all") == expected.ids


@pytest.mark.parametrize(
    ("content", "flags", "normalizer", "text", "count"),
    [
        ("  ", ("lstrip",), "none", " " * MILLION, MILLION // 2),
        ("  ", ("lstrip", "rstrip"), "none", " " * MILLION, 1),
        ("\n", ("rstrip",), "none", "\n" * MILLION, MILLION),
        ("\n", ("rstrip", "normalized"), "none", "\n" * MILLION, MILLION),
        ("a", ("lstrip", "normalized"), "letters removed", " " * MILLION, MILLION),
        ("a", ("rstrip", "normalized"), "letters removed", " " * MILLION, MILLION),
        ("a", ("lstrip", "rstrip", "normalized"), "letters removed", " " * MILLION, 1),
    ],
)
def test_a_million_spaces_take_linear_time(
    content: str, flags: tuple[str, ...], normalizer: str, text: str, count: int
) -> None:
    """Tests linear time: a scan of the run for each token would read 10**12 characters; the core's tests count them."""
    reference = reference_of([(content, dict.fromkeys(flags, True))], NORMALIZERS[normalizer])
    tokenizer = tokenizer_of(reference)
    first_ids = reference.encode(text[:100])
    assert tokenizer.encode(text[:100]) == first_ids.ids
    assert tokenizer.encode(text) == first_ids.ids[:1] * count
    assert tokenizer.count(text) == count
