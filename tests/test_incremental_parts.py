"""Texts in parts that arrive in chunks or change have the ids of the whole text in parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from incremental_samples import SMALL, difficult_parts
from polytok import ArgumentError, Options, Parts
from polytok.spec import Lowercase, SpecialToken
from published import every_file
from tokenizer_samples import rank_spec

OPTIONS = [Options(), Options(add_special=True), Options(special="all", add_special=True), Options(reject_special=True)]
DEFAULT = polytok.load("default")
END = "<|endoftext|>"


def encode(tokenizer: polytok.Tokenizer, parts: Parts, options: Options) -> list[int] | None:
    try:
        return tokenizer.encode(parts, options=options)
    except (polytok.EncodeError, polytok.SpecialTokenError):
        return None


def random_chunks(rng: Random, parts: Parts) -> list[Parts]:
    size = len(parts.text)
    ends = sorted(rng.randrange(size + 1) for _ in range(rng.choice([0, 1, 2, 5, size])))
    return [parts[start:end] for start, end in zip([0, *ends], [*ends, size], strict=True)]


def check_chunks(tokenizer: polytok.Tokenizer, texts: list[Parts], rng: Random) -> None:
    for parts in texts:
        options = rng.choice(OPTIONS)
        if (ids := encode(tokenizer, parts, options)) is not None:
            encoder = tokenizer.encoder(options=options)
            chunks = random_chunks(rng, parts)
            pushed = [id for chunk in chunks for id in encoder.push(chunk)]
            assert pushed + encoder.finish() == ids, chunks


def with_other_trust(rng: Random, parts: Parts) -> Parts:
    return Parts([(text, trusted != (rng.random() < 0.3)) for text, trusted in parts])


def check_changes(tokenizer: polytok.Tokenizer, texts: list[Parts], rng: Random) -> None:
    """Applies random changes to a text, and compares the ids with those of the whole text."""
    options = rng.choice(OPTIONS[:3])
    current, incremental = Parts([]), tokenizer.incremental(options=options)
    for parts in texts:
        kind = rng.choice(["append", "append", "append", "append", "truncate", "set", "trust", "start", "copy"])
        at = rng.randrange(len(current.text) + 1)
        new = {
            "append": current + parts,
            "truncate": current[:at],
            "set": current[:at] + parts + current[at + 2 :],
            "trust": current[:at] + with_other_trust(rng, current[at:]),
            "start": parts if len(current.text) > 3000 else Parts([]),
            "copy": current,
        }[kind]
        if encode(tokenizer, new, options) is None:
            continue
        before = incremental.ids
        if kind == "copy":
            incremental.copy().append(Parts([("other text", False)]))
            continue
        if kind == "append":
            change = incremental.append(parts)
        elif kind == "truncate":
            change = incremental.truncate(at)
        else:
            change = incremental.set_text(new)
        current = new
        assert incremental.text == current.text
        ids = tokenizer.encode(current, options=options)
        assert incremental.ids == before[: change.kept] + change.ids == ids, (kind, parts)
        assert incremental.parts is None or tokenizer.encode(incremental.parts, options=options) == ids


@pytest.mark.parametrize("name", SMALL)
def test_small_tokenizers(name: str) -> None:
    tokenizer, rng = polytok.Tokenizer(SMALL[name]()), Random(5)
    texts = list(difficult_parts(tokenizer, 400))
    check_chunks(tokenizer, texts, rng)
    check_changes(tokenizer, texts, rng)


@every_file
def test_real_tokenizers(path: Path) -> None:
    tokenizer, rng = polytok.load(path), Random(5)
    texts = list(difficult_parts(tokenizer, 120))
    check_chunks(tokenizer, texts, rng)
    check_changes(tokenizer, texts, rng)


SURROGATES = st.sampled_from(["", " a", "\ud83d", "\ude00", "x \ud83d", "\ufffd", "<", "|"])


@given(st.lists(st.lists(st.tuples(SURROGATES, st.booleans()), max_size=3).map(Parts), max_size=5))
@settings(deadline=None)
def test_chunks_can_end_between_surrogates(chunks: list[Parts]) -> None:
    tokenizer = polytok.Tokenizer(rank_spec(special={"\U0001f600": 300, "<|": 301}))
    whole = sum(chunks, Parts([]))
    ids = tokenizer.encode(whole)
    encoder = tokenizer.encoder()
    assert [*(id for chunk in chunks for id in encoder.push(chunk)), *encoder.finish()] == ids
    text = tokenizer.incremental(Parts([]))
    for chunk in chunks:
        text.append(chunk)
    assert text.ids == ids
    assert tokenizer.incremental(whole).ids == ids


def test_a_token_can_begin_in_one_chunk_and_end_in_the_next() -> None:
    for is_trusted in (True, False):
        parts = Parts([("some words", False), (END[:6], True)]), Parts([(END[6:], is_trusted), (" more words", False)])
        ids = DEFAULT.encode(parts[0] + parts[1])
        assert (32767 in ids) == is_trusted
        encoder = DEFAULT.encoder()
        assert encoder.push(parts[0]) + encoder.push(parts[1]) + encoder.finish() == ids
        text = DEFAULT.incremental(parts[0])
        text.append(parts[1])
        assert text.ids == ids


def test_a_change_of_trust_is_a_change() -> None:
    text = DEFAULT.incremental(Parts([("one two ", True), (END, False), (" three four", False)]))
    before = text.ids
    change = text.set_text(Parts([("one two ", True), (END, True), (" three four", False)]))
    assert 32767 not in before and 32767 in change.ids
    assert before[: change.kept] + change.ids == text.ids == DEFAULT.encode(text.parts or "")
    assert text.set_text(Parts([(f"one two {END}", True), (" three four", False)])) == (len(text.ids), [])


@pytest.mark.parametrize("name", SMALL)
def test_text_in_parts_and_other_text_are_not_mixed(name: str) -> None:
    tokenizer = polytok.Tokenizer(SMALL[name]())
    parts = Parts([("ab", True), ("a ", False)])
    text = tokenizer.incremental(parts)
    for other in ("b", b"b", ""):
        with pytest.raises(ArgumentError, match=r"this text is in parts, .*: pass polytok.Parts"):
            text.append(other)
    assert text.ids == tokenizer.encode(parts)
    text.set_text("ab a")
    assert (text.parts, text.ids) == (None, tokenizer.encode("ab a"))
    with pytest.raises(ArgumentError, match="cannot be added to a text that is not in parts: begin with Parts"):
        text.append(parts)
    text.set_text(b"ab")
    text.truncate(0)
    text.append(parts)
    assert text.parts == parts
    text.truncate(1)
    assert text.ids == tokenizer.encode(parts[:1])
    encoder = tokenizer.encoder()
    encoder.push(parts)
    with pytest.raises(ArgumentError, match=r"this text is in parts, .*: pass polytok.Parts"):
        encoder.push("b")
    encoder = tokenizer.encoder()
    assert encoder.push("ab") + encoder.finish() + encoder.push(parts) + encoder.finish() == [
        *tokenizer.encode("ab"),
        *tokenizer.encode(parts),
    ]


def test_refused_tokens_are_found_over_chunks() -> None:
    text = DEFAULT.incremental(Parts([("one two <|endof", True)]), reject_special=True)
    before = text.ids
    with pytest.raises(polytok.SpecialTokenError, match="where not all of it is trusted"):
        text.append(Parts([("text|> three", False)]))
    assert text.ids == before
    text.append(Parts([("text|> three", True)]))
    assert 32767 in text.ids
    encoder = DEFAULT.encoder(reject_special=True)
    encoder.push(Parts([("one two <|endof", True)]))
    with pytest.raises(polytok.SpecialTokenError, match="where not all of it is trusted"):
        encoder.push(Parts([("text|> three four", False)]))


def test_special_tokens_cannot_be_named() -> None:
    parts = Parts([("a", False)])
    for call in (
        lambda: DEFAULT.incremental(parts, special={END}),
        lambda: DEFAULT.encoder(special={END}).push(parts),
        lambda: DEFAULT.incremental(special={END}).set_text(parts),
    ):
        with pytest.raises(ArgumentError, match="special= names special tokens, but in a polytok.Parts all are"):
            call()


def guarded_specs() -> list[polytok.Spec]:
    """Returns Specs whose models form special tokens from plain text, which are found only after normalization."""
    spec = rank_spec(b"<x>", b"<x", b" a", special={"<x>": 256})
    token = SpecialToken("<x>", 256, normalized=True)
    return [spec, replace(spec, special=(token,), normalize=(Lowercase(),)), replace(spec, normalize=(Lowercase(),))]


GUARDED = [polytok.Tokenizer(spec) for spec in guarded_specs()]
PIECE = st.tuples(st.sampled_from(["<x>", "<X>", "<x", ">", " a", "a ", " ", "b"]), st.booleans())


@pytest.mark.parametrize("tokenizer", GUARDED)
@given(st.lists(st.lists(PIECE, max_size=4).map(Parts), max_size=6))
@settings(deadline=None)
def test_trusted_text_is_encoded_again_before_other_text(tokenizer: polytok.Tokenizer, chunks: list[Parts]) -> None:
    """The text `<X>` is not a special token, but the model forms one of it, except with text that is not trusted."""
    text, encoder, whole, ids = tokenizer.incremental(), tokenizer.encoder(), Parts([]), list[int]()
    for chunk in chunks:
        before = text.ids
        change = text.append(chunk)
        whole += chunk
        assert text.ids == before[: change.kept] + change.ids == tokenizer.encode(whole)
        ids += encoder.push(chunk)
    assert ids + encoder.finish() == text.ids
    for end in range(len(whole.text), -1, -1):
        text.truncate(end)
        assert text.ids == tokenizer.encode(whole[:end])


@given(st.lists(PIECE, max_size=5).map(Parts), st.integers(-9, 9), st.integers(-9, 9))
@settings(deadline=None)
def test_slices_keep_the_trust(parts: Parts, start: int, stop: int) -> None:
    trust = "".join(("t" if trusted else "u") * len(text) for text, trusted in parts)
    piece = parts[start:stop]
    assert piece.text == parts.text[start:stop]
    assert "".join(("t" if trusted else "u") * len(text) for text, trusted in piece) == trust[start:stop]
    assert (parts[:stop] + parts[stop:]).text == parts.text
    assert parts[:].text == parts.text


def test_wrong_slices_are_named() -> None:
    for index in (0, slice(0, 2, 2)):
        with pytest.raises(TypeError, match=r"is not a range of characters: parts\[start:stop\] has the parts"):
            Parts([("ab", True)])[index]  # type: ignore[index]
