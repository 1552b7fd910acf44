"""The calls of a soak. Each call compares its result with that of another method, and raises `Difference`."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from polytok import Padding, Tokenizer

from .texts import Document, TextSource


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded vocabulary with the source of its texts."""

    tokenizer: Tokenizer
    texts: TextSource
    is_lossless: bool


Call = Callable[[Model, Document, random.Random], None]

_MAX_TRACED_CHARACTERS = 60
_MAX_TOKENS = 2_000
_BATCH_THREADS = 3


class Difference(Exception):
    """Two methods returned different results for the same text."""


def _expect(condition: bool, tokenizer: Tokenizer, text: Document, what: str) -> None:
    if not condition:
        raise Difference(f"{what}: {tokenizer!r}, text {text!r:.2000}")


def encode(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    ids = tokenizer.encode(text)
    _expect(tokenizer.encode_array(text).tolist() == ids, tokenizer, text, "encode_array differs from encode")
    _expect(tokenizer.count(text) == len(ids), tokenizer, text, "count differs from encode")


def encode_special(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    ids = tokenizer.encode(text, special="all", add_special=True)
    spans = tokenizer.spans(text, special="all", add_special=True)
    _expect(spans.ids.tolist() == ids, tokenizer, text, "spans differ from encode with special tokens")


def batch(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    places = sorted(rng.choices(range(len(text) + 1), k=rng.randrange(20)))
    texts = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    expected = [tokenizer.encode(part) for part in texts]
    rows = tokenizer.encode_batch(texts, threads=_BATCH_THREADS).to_list()
    _expect(rows == expected, tokenizer, text, "encode_batch differs from encode")
    counts = tokenizer.count_batch(texts, threads=_BATCH_THREADS).tolist()
    _expect(counts == list(map(len, expected)), tokenizer, text, "count_batch differs from encode")


def spans(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    columns, tokens = tokenizer.spans(text), tokenizer.tokens(text)
    _expect(columns.ids.tolist() == tokenizer.encode(text), tokenizer, text, "spans differ from encode")
    rows = [(token.id, token.start, token.end, token.byte_start, token.byte_end) for token in tokens]
    expected = (columns.ids, columns.starts, columns.ends, columns.byte_starts, columns.byte_ends)
    _expect(
        rows == list(zip(*(column.tolist() for column in expected), strict=True)),
        tokenizer,
        text,
        "tokens differ from spans",
    )


def decode(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    ids = tokenizer.encode(text)
    decoded = tokenizer.decode(ids)
    stream = tokenizer.decoder()
    parts = [stream.push(id) for id in ids]
    _expect("".join(parts) + stream.finish() == decoded, tokenizer, text, "the decoder differs from decode")
    _expect(tokenizer.decode_batch([ids, []])[0] == decoded, tokenizer, text, "decode_batch differs from decode")
    _expect(tokenizer.decode_with_offsets(ids).text == decoded, tokenizer, text, "offsets change the decoded text")


def restore(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    if model.is_lossless and isinstance(text, bytes):
        restored = tokenizer.decode_bytes(tokenizer.encode(text))
        _expect(restored == text, tokenizer, text, "decoding does not restore the text")


def random_ids(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    known = rng.choices(model.texts.ids, k=200)
    stream = tokenizer.decoder(skip_special=True)
    pushed = "".join(stream.push(id) for id in known) + stream.finish()
    _expect(pushed == tokenizer.decode(known, skip_special=True), tokenizer, repr(known), "the decoder differs")


def chunks(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    encoder, ids = tokenizer.encoder(add_special=True), []
    places = sorted(rng.choices(range(len(text) + 1), k=rng.randrange(1, 30)))
    for start, end in zip([0, *places], [*places, len(text)], strict=True):
        ids += encoder.push(text[start:end])
    ids += encoder.finish()
    _expect(ids == tokenizer.encode(text, add_special=True), tokenizer, text, "the encoder differs from encode")


def edits(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    document = text if isinstance(text, str) else text.decode(errors="replace")
    changing = tokenizer.incremental(document)
    for _ in range(4):
        place, end = sorted(rng.choices(range(len(document) + 1), k=2))
        action = rng.randrange(3)
        if action == 0:
            document = document[:place]
            changing.truncate(place)
        elif action == 1:
            document += document[place:end][:1000]
            changing.append(document[len(changing.text) :])
        else:
            document = document[:place] + document[end:]
            changing.set_text(document)
        _expect(changing.ids == tokenizer.encode(document), tokenizer, document, "IncrementalText differs from encode")


def padded(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    length = rng.randrange(8, 300)
    first, second = tokenizer.encodings(
        [text, "a"], truncation=length, padding=Padding(to_multiple_of=8, id=0), add_special=True
    )
    _expect(len(first.ids) == len(second.ids), tokenizer, text, "padding leaves different lengths")
    is_real = [mask == 1 for mask in second.attention_mask]
    expected = tokenizer.encode("a", add_special=True)
    _expect(
        [id for id, real in zip(second.ids, is_real, strict=True) if real] == expected,
        tokenizer,
        text,
        "padding changes ids",
    )
    _expect(len(first.offsets) == len(first.ids), tokenizer, text, "offsets and ids have different lengths")


def truncated(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    limit = rng.randrange(_MAX_TOKENS)
    _expect(tokenizer.fits(text, limit) == (tokenizer.count(text) <= limit), tokenizer, text, f"fits({limit}) is wrong")
    _expect(tokenizer.count(tokenizer.truncate(text, limit)) <= limit, tokenizer, text, f"truncate({limit}) is long")


def traced(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    start = rng.randrange(len(text) + 1)
    short = text[start : start + _MAX_TRACED_CHARACTERS]
    _expect(list(tokenizer.trace(short).ids) == tokenizer.encode(short), tokenizer, short, "trace differs from encode")


def healed(model: Model, text: Document, rng: random.Random) -> None:
    tokenizer = model.tokenizer
    ids = tokenizer.encode(text)[:_MAX_TOKENS]
    result = tokenizer.heal(ids)
    _expect(result.ids == ids[: len(result.ids)], tokenizer, text, "heal changes ids")


CALLS: dict[str, tuple[Call, int]] = {
    "encode": (encode, 6),
    "encode with special tokens": (encode_special, 3),
    "batch": (batch, 3),
    "spans": (spans, 3),
    "decode": (decode, 3),
    "restore": (restore, 2),
    "random ids": (random_ids, 1),
    "chunks": (chunks, 2),
    "edits": (edits, 2),
    "padded": (padded, 2),
    "truncated": (truncated, 1),
    "traced": (traced, 1),
    "healed": (healed, 1),
}
"""The calls by name, each with its weight."""

_NAMES = tuple(CALLS)
_WEIGHTS = tuple(accumulate(weight for _, weight in CALLS.values()))


def draw_call(rng: random.Random) -> tuple[str, Call]:
    """Returns a random call and its name."""
    name = rng.choices(_NAMES, cum_weights=_WEIGHTS)[0]
    return name, CALLS[name][0]
