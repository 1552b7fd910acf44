"""Compares the engine with its definitions in polytok.reference: texts that grow, ids without text, and streams."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from random import Random

import pytest

from format_samples import SMALL, unigram_spec
from incremental_samples import difficult_texts
from parity.vocabularies import all_vocabularies
from polytok import EncodeError, Options, Spec, Tokenizer
from polytok.reference import canonical, growing, streams
from polytok.spec import BytesDecode, ChainDecode, LlamaCppDecode
from published import every_vocabulary
from reference_specs import DATA, needs_data
from test_canonical import wordpiece_spec
from texts import VocabularyPieces, generate_ids, generate_texts
from tokenizer_samples import rank_spec, word_unigram

SMALL_SPECS: dict[str, Callable[[], Spec]] = {
    **SMALL,
    "unigram": unigram_spec,
    "words": word_unigram,
    "wordpiece": wordpiece_spec,
    "special": lambda: rank_spec(b"ab", b"abc", b" a", b"\r\n", special={"<a>": 900, "<a><b>": 901, "a>": 902}),
}
OPTIONS = [Options(), Options(add_special=True), Options(special="all", add_special=True)]
every_small_vocabulary = pytest.mark.parametrize("name", SMALL_SPECS)


def small_tokenizer(name: str) -> tuple[Tokenizer, VocabularyPieces]:
    """Returns a tokenizer, and the parts of its texts."""
    tokenizer = Tokenizer(SMALL_SPECS[name]())
    pieces = [piece for piece in tokenizer.spec.vocab.pieces() if piece]
    pieces += [piece.replace("▁".encode(), b" ") for piece in pieces]
    return tokenizer, VocabularyPieces(pieces, [text.encode() for text in tokenizer.special_tokens])


def real_tokenizer(name: str) -> tuple[Tokenizer, VocabularyPieces]:
    vocabulary = all_vocabularies()[name]
    return vocabulary.load(), vocabulary.pieces()


def can_encode(tokenizer: Tokenizer, text: bytes) -> bool:
    try:
        tokenizer.encode(text)
    except EncodeError:
        return False
    return True


# Texts that grow


def check_encoder(tokenizer: Tokenizer, texts: Sequence[bytes], rng: Random) -> None:
    """Compares encoders for random chunks; what the engine returns early must stay, whatever chunk is next."""
    for text in filter(lambda text: can_encode(tokenizer, text), texts):
        options = rng.choice(OPTIONS)
        encoder = tokenizer.encoder(options=options)
        twin = growing.StreamEncoder(lambda text, options=options: tokenizer.encode(text, options=options))  # type: ignore[misc]
        ids, twin_ids, at = list[int](), list[int](), 0
        while at < len(text):
            size = rng.choice([0, 1, 1, 2, 5, 30])
            ids += encoder.push(text[at : at + size])
            twin_ids += twin.push(text[at : at + size])
            at += size
        assert ids + encoder.finish() == twin_ids + twin.finish(), text


def check_incremental(tokenizer: Tokenizer, texts: Sequence[str], rng: Random) -> None:
    """Applies the same random changes to both kinds of texts, and to copies of them."""
    options = rng.choice(OPTIONS)
    pairs = [
        (
            tokenizer.incremental(options=options),
            growing.IncrementalText(lambda text: tokenizer.encode(text, options=options)),
        )
    ]
    for text in texts:
        engine, twin = rng.choice(pairs)
        at = rng.randrange(len(twin.text) + 1)
        changed_text = twin.text[:at] + text + twin.text[at + 1 :]
        method, value = rng.choice([("append", text), ("append", text), ("set_text", changed_text), ("truncate", at)])
        if len(pairs) < 4 and rng.random() < 0.2:
            pairs.append((engine.copy(), twin.copy()))
        change, twin_change = getattr(engine, method)(value), getattr(twin, method)(value)
        assert (engine.text, engine.ids) == (twin.text, twin.ids), (method, value)
        assert change == twin_change, (method, value)
    for engine, twin in pairs:
        assert (engine.text, engine.ids) == (twin.text, twin.ids)


def check_stable_prefix(tokenizer: Tokenizer, texts: Sequence[bytes], rng: Random) -> tuple[int, int]:
    """Checks that no later text changes the stable ids; returns how many they are, and how many were not changed."""

    def encode(text: bytes) -> list[int]:
        return tokenizer.encode(text, special="all")

    stable_ids = unchanged_ids = 0
    later_pieces = [piece for piece in tokenizer.vocab_bytes() if piece]
    for text in texts:
        ids = encode(text)
        decoded = tokenizer.decode_bytes(ids)
        later = [*rng.choices(texts, k=3), *rng.choices(later_pieces, k=5), b"\x80", b" ", "\u0301".encode()]
        if encode(decoded) == ids and all(can_encode(tokenizer, decoded + end) for end in later):
            stable, unchanged = tokenizer.stable_prefix(ids), growing.stable_prefix(ids, decoded, later, encode)
            assert stable <= unchanged, text
            stable_ids, unchanged_ids = stable_ids + stable, unchanged_ids + unchanged
    return stable_ids, unchanged_ids


@every_small_vocabulary
def test_growing_texts_of_small_vocabularies(name: str) -> None:
    tokenizer, pieces = small_tokenizer(name)
    rng = Random(1)
    texts = [text for text in generate_texts(2, 200, pieces) if can_encode(tokenizer, text)]
    check_encoder(tokenizer, [*texts, *generate_texts(3, 50, pieces, has_invalid_utf8=True)], rng)
    for start in range(0, len(texts), 20):
        check_incremental(tokenizer, [text.decode()[:60] for text in texts[start : start + 20]], rng)
    check_stable_prefix(tokenizer, texts, rng)


@needs_data
@every_vocabulary
def test_growing_texts(name: str) -> None:
    tokenizer, pieces = real_tokenizer(name)
    rng = Random(1)
    texts = [*difficult_texts(tokenizer._core, 40)]
    check_encoder(tokenizer, [*texts, *generate_texts(3, 20, pieces, has_invalid_utf8=True)], rng)
    for start in range(0, len(texts), 20):
        check_incremental(tokenizer, [text.decode()[:60] for text in texts[start : start + 20]], rng)
    check_stable_prefix(tokenizer, texts, rng)


@needs_data
@pytest.mark.parametrize(
    "name", ["cl100k_base", "o200k_base", "llama2", "llama32_rebuilt.json", "rwkv_vocab_v20230424"]
)
def test_stable_prefixes_are_not_needlessly_short(name: str) -> None:
    tokenizer, _ = real_tokenizer(name)
    text = (DATA / "corpus" / "en_prose.txt").read_bytes()[:20_000]
    stable, unchanged = check_stable_prefix(
        tokenizer, [text[at : at + 100] for at in range(0, len(text), 100)], Random(1)
    )
    assert stable > 0.9 * unchanged > 0


# Ids without text


@every_small_vocabulary
def test_canonical_ids(name: str) -> None:
    tokenizer, _ = small_tokenizer(name)
    texts = ["".join(text).encode() for length in range(6) for text in itertools.product("ab ,", repeat=length)]
    encodings = {text: tokenizer.encode(text) for text in texts if can_encode(tokenizer, text)}
    usual_ids = sorted({id for ids in encodings.values() for id in ids})
    rows = [row for length in range(3) for row in itertools.product(usual_ids, repeat=length)]
    for row in rows:
        if canonical.is_canonical(row, encodings, encodings.__getitem__):
            assert tokenizer.is_canonical(row)
        elif tokenizer.lossless.for_bytes:
            place = canonical.first_noncanonical(row, tokenizer.decode_bytes(row), tokenizer.encode)
            assert tokenizer.first_noncanonical(row) == place


@every_small_vocabulary
def test_the_bytes_of_ids(name: str) -> None:
    tokenizer, _ = small_tokenizer(name)
    if not isinstance(tokenizer.spec.decode, ChainDecode | LlamaCppDecode):  # no twin
        assert tokenizer.vocab_bytes() == canonical.vocab_bytes(tokenizer.spec)


def check_healing(tokenizer: Tokenizer, texts: Sequence[bytes], rng: Random) -> None:
    bytes_of_id = tokenizer.vocab_bytes()
    for text in filter(lambda text: can_encode(tokenizer, text), texts):
        ids = tokenizer.encode(text, special=rng.choice(["all", ()]))
        healed = tokenizer.heal(ids)
        assert healed == canonical.heal(ids, tokenizer.stable_prefix(ids), bytes_of_id), text
        if healed.prefix:
            prefix = healed.prefix[: rng.randrange(1, len(healed.prefix) + 1)]
            assert tokenizer.prefix_mask(prefix).tolist() == canonical.prefix_mask(prefix, bytes_of_id)


@every_small_vocabulary
def test_healing_with_small_vocabularies(name: str) -> None:
    tokenizer, pieces = small_tokenizer(name)
    check_healing(tokenizer, [*generate_texts(4, 200, pieces)], Random(2))


@needs_data
@pytest.mark.parametrize("name", ["llama2", "gpt2.json", "bert_base_cased.json", "rwkv_vocab_v20230424"])
def test_healing(name: str) -> None:
    tokenizer, pieces = real_tokenizer(name)
    check_healing(tokenizer, [text.decode()[:60].encode() for text in generate_texts(4, 30, pieces)], Random(2))


# Streams


def only_appends(tokenizer: Tokenizer, ids: Sequence[int]) -> bool:
    """Reports whether each id leaves the bytes of the ids before it as they are, whatever ids follow.

    SentencePiece writes U+FFFD for bytes that are not a character yet.
    """
    decode = tokenizer.spec.decode
    if isinstance(decode, ChainDecode) or (isinstance(decode, LlamaCppDecode) and decode.clean_spaces):
        return False
    decoded = [tokenizer.decode_bytes(ids[:count]) for count in range(len(ids) + 1)]
    can_end_in_character = isinstance(decode, BytesDecode) or "\ufffd".encode() not in decoded[-1]
    return can_end_in_character and all(longer.startswith(shorter) for shorter, longer in itertools.pairwise(decoded))


def random_stops(rng: Random, text: str) -> list[str]:
    """Returns parts of a text, of which one can be the start or the end of another; some have another end."""
    stops = []
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(text) + 1)
        stop = text[at : at + rng.randrange(1, 6)] + rng.choice(["", "", "x", "\ufffd"])
        stops += [stop, *rng.choice([[], [stop[:-1]], [stop[1:]]])]
    return [stop for stop in stops if stop]


def check_streams(tokenizer: Tokenizer, rows: Sequence[list[int]], rng: Random) -> int:
    """Compares decoders with and without stop texts, many decoders together, and offsets; returns how many rows have
    the same text for each id."""
    compared = 0
    vocab_ids = {*tokenizer.vocab().ids.tolist()}
    rows_of_stops = [random_stops(rng, tokenizer.decode(ids)) for ids in rows]
    expected = [
        streams.stream(ids, tokenizer.decode_bytes, stop) for ids, stop in zip(rows, rows_of_stops, strict=True)
    ]
    together = tokenizer.decoders()
    for stop in rows_of_stops:
        together.add(stop=stop)
    steps = [[ids[step] if step < len(ids) else None for ids in rows] for step in range(max(map(len, rows)))]
    texts_together = [list(texts) for texts in zip(*map(together.push, steps), strict=True)]
    for place, (ids, stop, twin) in enumerate(zip(rows, rows_of_stops, expected, strict=True)):
        stream = tokenizer.decoder(stop=stop)
        texts = [stream.push(id) for id in ids]
        assert texts_together[place] == texts + [""] * (len(steps) - len(ids))
        assert together.stopped[place] == stream.stopped and together.consumed[place] == stream.consumed
        rest = stream.finish()
        assert together.finish(place) == rest
        assert ("".join([*texts, rest]), stream.stopped) == streams.before_stop(tokenizer.decode(ids), stop)
        if only_appends(tokenizer, ids):
            compared += 1
            assert (texts, rest, stream.consumed) == (twin.texts, twin.rest, twin.consumed), (ids, stop)
            decoded = tokenizer.decode_with_offsets(ids)
            offsets = streams.decode_with_offsets(ids, tokenizer.decode_bytes)
            assert (decoded.text, decoded.pieces) == (offsets.text, offsets.pieces), ids
            assert (decoded.starts.tolist(), decoded.ends.tolist()) == (offsets.starts, offsets.ends), ids
        unknown_ids = [-1, 10**6, *ids, 2**40]
        skipping = tokenizer.decoder(unknown="skip")
        known_ids = streams.known_ids(unknown_ids, vocab_ids)
        assert skipping.push(unknown_ids) + skipping.finish() == tokenizer.decode(known_ids)
    return compared


@every_small_vocabulary
def test_streams_of_small_vocabularies(name: str) -> None:
    tokenizer, pieces = small_tokenizer(name)
    ids = tokenizer.vocab().ids.tolist()
    favourite_ids = [id for id in ids if tokenizer.id_to_piece(id)[:1] >= b"\x80"]
    rows = [tokenizer.encode(text) for text in generate_texts(5, 60, pieces) if can_encode(tokenizer, text)]
    rows = [*(row[:40] for row in rows), *generate_ids(5, 200, ids, favourite_ids)]
    compared = check_streams(tokenizer, rows, Random(3))
    assert compared > 50 or isinstance(tokenizer.spec.decode, ChainDecode)


@needs_data
@every_vocabulary
def test_streams(name: str) -> None:
    tokenizer, pieces = real_tokenizer(name)
    vocabulary = all_vocabularies()[name]
    rows = [tokenizer.encode(text)[:40] for text in generate_texts(5, 20, pieces) if can_encode(tokenizer, text)]
    rows += generate_ids(5, 40, tokenizer.vocab().ids.tolist(), vocabulary.favourite_ids())
    check_streams(tokenizer, rows, Random(3))
