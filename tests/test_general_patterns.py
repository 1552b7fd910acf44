"""Tests patterns that need the general engine: distant matches, and searches that would never end."""

from __future__ import annotations

import faulthandler
import json
from collections.abc import Iterator

import pytest

import polytok
from format_samples import rank_spec, small_file, tekken_spec
from polytok import EncodeError, Kind, Spec, Tokenizer, Vocab, conversion
from polytok.formats.gguf_pretokenizers import PRE_TOKENIZERS, steps
from polytok.spec import PatternSplit, Replace, Unigram

OVERLAPPING_MATCHES = {
    r"(?<=\Ka)": "aa",
    r"(?<=\Ka)|x": "aab",
    r"(?<=\Kab)|[a-z]": "abab",
    r"(?<=\K\n{2}a)|\s{0,2}": "\n\na b",
    r"(?<=\Ka)|b?": "aab",
}
"""Patterns with a match that starts before the previous match ends, each with a text that has such a match."""


@pytest.fixture(autouse=True)
def exit_if_a_test_hangs() -> Iterator[None]:
    """Ends the process if a test takes too long, because the engine cannot be interrupted."""
    faulthandler.dump_traceback_later(100, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def refuses(tokenizer: Tokenizer, text: str) -> None:
    for encode in (tokenizer.encode, tokenizer.count, tokenizer.tokens, tokenizer.spans):
        with pytest.raises(EncodeError, match="before the end of the last match"):
            encode(text)
    with pytest.raises(EncodeError, match="before the end of the last match"):
        tokenizer.encode_batch([text, text])


@pytest.mark.parametrize(("pattern", "text"), OVERLAPPING_MATCHES.items())
def test_a_match_that_starts_before_the_previous_match_ends(pattern: str, text: str) -> None:
    refuses(Tokenizer(rank_spec(split=(PatternSplit(pattern),))), text)
    ranks = small_file("tiktoken")
    from_ranks = polytok.load(ranks, pattern=pattern, special_tokens={})
    refuses(from_ranks, text)
    refuses(polytok.load(conversion.write(from_ranks.spec, "ptok").data), text)


def test_such_patterns_in_files() -> None:
    refuses(polytok.load(b"minbpe v1\n(?<=\\Ka)\n0\n97 98\n"), "aa")
    tekken = json.loads(conversion.write(tekken_spec(), "tekken").data)
    for pattern, text in OVERLAPPING_MATCHES.items():
        tekken["config"]["pattern"] = pattern
        refuses(polytok.load(json.dumps(tekken).encode()), text)


def test_a_match_can_start_before_its_search() -> None:
    tokenizer = Tokenizer(rank_spec(split=(PatternSplit(r"(?<=\Ka)b"),)))
    assert tokenizer.encode("abab") == [256, 256]


LONG_TEXT = "吾輩は猫である。\n名前は まだ無い。どこで生れたか\n\n " * 30_000
"""A text of two megabytes in which a pattern matches once or never."""


def unigram(normalize: tuple[Replace, ...]) -> Spec:
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN)]
    rows += [(c.encode(), id, -2.0, Kind.NORMAL) for id, c in enumerate(sorted({*LONG_TEXT, "\u2581"}), 1)]
    return Spec(Vocab.from_rows(rows), Unigram(), normalize=normalize, unknown="unk")


@pytest.mark.parametrize(
    ("pattern", "content"), [(r"(?<!\n)^", "\u2581"), (r"(?<=名)前(?=x)", ""), (r"^(?=(.)\1)", "x"), (r"\b(?<=x)", "x")]
)
def test_replacing_a_distant_match_or_no_match(pattern: str, content: str) -> None:
    """Tests encoding and decoding against tokenizers; a published Japanese model has the first pattern."""
    tokenizers = pytest.importorskip("tokenizers")
    models, normalizers, decoders = tokenizers.models, tokenizers.normalizers, tokenizers.decoders
    vocab = [("<unk>", 0.0), *((c, -2.0) for c in sorted({*LONG_TEXT, "\u2581"}))]
    reference = tokenizers.Tokenizer(models.Unigram(vocab, 0, False))
    replace = tokenizers.Regex(pattern)
    reference.normalizer = normalizers.Sequence(
        [normalizers.Replace(replace, content), normalizers.Replace(" ", "\u2581")]
    )
    reference.decoder = decoders.Sequence([decoders.Fuse(), decoders.Replace(replace, content)])
    tokenizer = polytok.load(reference.to_str().encode())
    ids = tokenizer.encode(LONG_TEXT)
    assert ids == reference.encode(LONG_TEXT).ids
    assert tokenizer.decode(ids) == reference.decode(ids)


@pytest.mark.parametrize("name", ["chameleon", "exaone-moe"])
def test_published_patterns_in_long_texts(name: str) -> None:
    """Tests llama.cpp's pre-tokenizers with a pattern that needs the general engine."""
    tokenizer = Tokenizer(rank_spec(split=steps(PRE_TOKENIZERS[name])))
    for text in (LONG_TEXT, LONG_TEXT + "IMGIMGABZ", "x" * len(LONG_TEXT)):
        assert tokenizer.decode(tokenizer.encode(text)) == text
