"""Tests the bytes of ids, the mask of a prefix, and token healing."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from format_samples import SMALL, sentencepiece_spec
from parity.vocabularies import all_vocabularies
from polytok import EncodeError, Kind, Tokenizer
from polytok.healing import Healed
from published import every_kind
from reference_specs import needs_data
from texts import generate_texts

TEXTS = 50


@pytest.fixture(scope="module")
def default() -> Tokenizer:
    return polytok.load("default")


# The bytes of ids


@needs_data
@every_kind
def test_the_bytes_of_ids_are_the_decoded_text(name: str) -> None:
    """Tests this except for spaces at the start, and except where decoding repairs the spaces before punctuation."""
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    bytes_of_id = tokenizer.vocab_bytes()
    table = tokenizer.vocab()
    without_text = {*table.ids[table.special].tolist(), *table.ids[table.kinds == Kind.UNKNOWN].tolist()}
    count = 0
    for text in generate_texts(1, TEXTS, vocabulary.pieces()):
        ids = [id for id in encoded(tokenizer, text) if id not in without_text]
        joined, decoded = b"".join([bytes_of_id[id] for id in ids]), tokenizer.decode_bytes(ids)
        if name.startswith(("bert", "ggml-vocab")):
            joined, decoded = joined.replace(b" ", b""), decoded.replace(b" ", b"")
        assert joined.lstrip(b" ") == decoded.lstrip(b" ")
        count += bool(ids)
    assert count > TEXTS / 2


def encoded(tokenizer: Tokenizer, text: bytes) -> list[int]:
    try:
        return tokenizer.encode(text)
    except EncodeError:
        return []


def test_the_number_of_bytes(default: Tokenizer) -> None:
    bytes_of_id = default.vocab_bytes()
    assert len(bytes_of_id) == default.vocab_size and bytes_of_id[97] == b"a"
    assert default.vocab_bytes(0) == [] and default.vocab_bytes(98)[97:] == [b"a"]
    assert default.vocab_bytes(40_000) == bytes_of_id + [b""] * (40_000 - len(bytes_of_id))
    with pytest.raises(polytok.ArgumentError, match="size=-1"):
        default.vocab_bytes(-1)


def test_tokens_without_text() -> None:
    tokenizer = Tokenizer(sentencepiece_spec())
    bytes_of_id = tokenizer.vocab_bytes()
    assert bytes_of_id[:4] == [b"", b"", b"", b"\x00"]
    assert [bytes_of_id[tokenizer.piece_to_id(piece)] for piece in ("▁", "▁ab", "<0xFF>")] == [b" ", b" ab", b"\xff"]


# Masks


def masks_by_definition(tokenizer: Tokenizer, prefix: bytes) -> list[int]:
    texts = enumerate(tokenizer.vocab_bytes())
    return [id for id, text in texts if text and (text.startswith(prefix) or prefix.startswith(text))]


@settings(deadline=None, max_examples=60)
@given(prefix=st.one_of(st.binary(min_size=1, max_size=6), st.text("ab \u2581é", min_size=1).map(str.encode)))
@pytest.mark.parametrize("name", SMALL)
def test_the_mask_is_that_of_the_definition(name: str, prefix: bytes) -> None:
    tokenizer = Tokenizer(SMALL[name]())
    mask = tokenizer.prefix_mask(prefix)
    assert mask.dtype == np.bool_ and mask.shape == (tokenizer.vocab_size,)
    assert mask.nonzero()[0].tolist() == masks_by_definition(tokenizer, prefix)


def prefixes(tokenizer: Tokenizer) -> Iterator[bytes]:
    rng = Random(2)
    pieces = [piece for piece in tokenizer.vocab_bytes() if piece]
    for piece in rng.choices(pieces, k=3):
        yield from (piece, piece + b"x", piece[: rng.randrange(1, len(piece) + 1)], piece + rng.choice(pieces))
    yield from (b"\xff", b"\xff\xff", b" " * 300)


@needs_data
@every_kind
def test_masks_of_published_vocabularies(name: str) -> None:
    tokenizer = all_vocabularies()[name].load()
    for prefix in prefixes(tokenizer):
        assert tokenizer.prefix_mask(prefix).nonzero()[0].tolist() == masks_by_definition(tokenizer, prefix)


def test_an_empty_prefix_allows_all_ids_of_the_vocabulary() -> None:
    tokenizer = Tokenizer(SMALL["tiktoken"]())  # ids 257 to 299 are unused
    mask = tokenizer.prefix_mask("")
    assert mask.shape == (301,) and (~mask).nonzero()[0].tolist() == list(range(257, 300))
    assert polytok.load("default").prefix_mask("").all()


def test_a_str_is_its_utf8(default: Tokenizer) -> None:
    assert (default.prefix_mask("é") == default.prefix_mask("é".encode())).all()
    with pytest.raises(TypeError, match="prefix=5"):
        default.prefix_mask(5)  # type: ignore[arg-type]


# Healing


def test_an_address_is_completed(default: Tokenizer) -> None:
    """Tests the known example: after the token ':' a model cannot continue with '//', which is part of '://'."""
    healed = default.heal(default.encode("see http:"))
    assert healed == Healed(default.encode("see"), b" http:")
    allowed = default.prefix_mask(":")
    assert allowed[default.piece_to_id("://")] and not allowed[default.piece_to_id("//")]


def generated(tokenizer: Tokenizer, healed: Healed, text: bytes) -> list[int]:
    """Returns the ids that a model generates that always prefers the longest token, and pieces to byte pieces."""
    bytes_of_id = tokenizer.vocab_bytes()
    prefix, ids, rest = healed.prefix, list(healed.ids), text
    while rest:
        allowed = tokenizer.prefix_mask(prefix).nonzero()[0].tolist()
        id = max(
            (id for id in allowed if bytes_of_id[id] and rest.startswith(bytes_of_id[id])),
            key=lambda id: (len(bytes_of_id[id]), id),
        )
        ids.append(id)
        rest, prefix = rest[len(bytes_of_id[id]) :], prefix[len(bytes_of_id[id]) :]
    return ids


@needs_data
@pytest.mark.parametrize("name", ["cl100k_base", "llama2", "rwkv_vocab_v20230424", "mistral03.json"])
def test_a_healed_prompt_is_continued(name: str) -> None:
    tokenizer = all_vocabularies()[name].load()
    for start, end in [("see http", "://x"), ("pr", "int(1)"), ("a lon", "g word"), ("x = ", "[1]"), ("日", "本")]:
        healed = tokenizer.heal(tokenizer.encode(start))
        ids = generated(tokenizer, healed, healed.prefix + end.encode())
        assert tokenizer.decode(ids) == start + end


@needs_data
@every_kind
def test_the_removed_ids_are_those_of_the_definition(name: str) -> None:
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    bytes_of_id = tokenizer.vocab_bytes()
    starts = {text[:length] for text in bytes_of_id for length in range(len(text))}
    for text in generate_texts(3, TEXTS, vocabulary.pieces()):
        ids = encoded(tokenizer, text)
        healed = tokenizer.heal(ids)
        kept = len(healed.ids)
        assert healed == (ids[:kept], b"".join([bytes_of_id[id] for id in ids[kept:]]))
        first = max([place + 1 for place, id in enumerate(ids) if not bytes_of_id[id]], default=0)
        stable = tokenizer.stable_prefix(ids)
        longer = [p for p in range(first, len(ids)) if b"".join([bytes_of_id[id] for id in ids[p:]]) in starts]
        assert kept == (stable if stable >= max(first, len(ids) - 16) else min(longer, default=len(ids)))


@needs_data
@pytest.mark.parametrize("name", ["cl100k_base", "llama2", "rwkv_vocab_v20230424", "mistral03.json", "gpt2.json"])
def test_later_text_does_not_change_the_kept_ids(name: str) -> None:
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    texts = [text.decode() for text in generate_texts(4, 2 * TEXTS, vocabulary.pieces())]
    for prompt, later_text in zip(texts[::2], texts[1::2], strict=True):
        ids = tokenizer.encode(prompt)
        kept_ids = tokenizer.heal(ids).ids
        if len(kept_ids) == tokenizer.stable_prefix(ids):
            assert tokenizer.encode(prompt + later_text)[: len(kept_ids)] == kept_ids


def test_special_tokens_are_kept(default: Tokenizer) -> None:
    end = default.special_tokens["<|endoftext|>"]
    assert default.heal([97, end]) == ([97, end], b"")
    assert default.heal([97, end, 98]) == ([97, end], b"b")
    assert default.heal([]) == ([], b"")


def test_an_unknown_id_is_an_error(default: Tokenizer) -> None:
    for id in (-1, 32768):
        with pytest.raises(polytok.TokenIdError, match=f"id {id} is not in the vocabulary"):
            default.heal([97, id])
