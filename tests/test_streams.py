"""Tests decoding of ids that arrive one by one, and the characters of each id, for all families."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

import numpy as np
import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers.decoders import DecodeStream

import polytok
from format_samples import SMALL
from parity.references import HuggingFace
from parity.vocabularies import all_vocabularies
from polytok import Tokenizer
from polytok.errors import ArgumentError, TokenIdError
from polytok.spec import BpeDecode, ByteFallbackDecode, ChainDecode
from polytok.stream import StreamDecoder, StreamDecoders
from published import every_vocabulary, marked
from reference_specs import DATA, needs_data
from test_decoders import LLAMA, make
from texts import first_lines, generate_ids, generate_texts

VOCABULARIES = all_vocabularies() if DATA.is_dir() else {}
HUGGINGFACE_NAMES = [name for name, vocabulary in VOCABULARIES.items() if vocabulary.family == "huggingface"]
BYTE = re.compile(rb"<0x[0-9A-Fa-f]{2}>")
SMALL_TOKENIZERS = {name: Tokenizer(spec()) for name, spec in SMALL.items()}


def id_lists(name: str, count: int, seed: int = 1) -> Iterator[list[int]]:
    """Yields the ids of real lines and generated texts of a vocabulary, and random ids with many bytes and specials."""
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    rng = Random(seed)
    texts = [*generate_texts(seed, count // 3, vocabulary.pieces())]
    for path in sorted((DATA / "corpus").glob("*.txt")):
        lines = first_lines(path, 20_000)
        texts += rng.sample(lines, min(3, len(lines)))
    for text in texts:
        try:
            yield tokenizer.encode(text[:300].decode(errors="ignore"))
        except polytok.EncodeError:
            continue
    usual_ids = tokenizer.vocab().ids.tolist()
    yield from generate_ids(seed, count, usual_ids, vocabulary.favourite_ids())


def collect(stream: StreamDecoder, ids: Sequence[int], rng: Random | None = None) -> str:
    """Returns all texts of a stream, which gets one id at a time or, with ``rng``, a random number of ids."""
    parts, at = [], 0
    while at < len(ids):
        count = rng.randrange(1, 5) if rng else 1
        parts.append(stream.push(ids[at : at + count]))
        at += count
    return "".join([*parts, stream.finish()])


def find_stop(text: str, stop: Sequence[str]) -> tuple[str, str | None]:
    """Returns the text before the stop text that is complete first, and this stop text."""
    for end in range(1, len(text) + 1):
        if found := [s for s in stop if text.endswith(s, 0, end)]:
            longest = max(found, key=len)
            return text[: end - len(longest)], longest
    return text, None


def random_stops(rng: Random, text: str) -> list[str]:
    """Returns parts of the text, and parts with another end."""
    stops = []
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        stops.append((text[at : at + rng.randrange(1, 6)] + rng.choice(["", "", "x", "\ufffd"])) or "a")
    return stops


def check_stream(tokenizer: Tokenizer, ids: list[int], others: Sequence[list[int]], rng: Random) -> None:
    """Checks the laws of a stream: what it returned cannot change, and all of it is the text of the whole."""
    skip_special = rng.random() < 0.3
    whole = tokenizer.decode(ids, skip_special=skip_special)
    assert collect(tokenizer.decoder(skip_special=skip_special), ids, rng) == whole
    stream, returned = tokenizer.decoder(skip_special=skip_special), ""
    for at, id in enumerate(ids):
        returned += stream.push(id)
        for other in (ids[at + 1 :], [], rng.choice(others)):
            assert tokenizer.decode(ids[: at + 1] + other, skip_special=skip_special).startswith(returned)
        assert stream.consumed == at + 1
    assert returned + stream.finish() == whole


def check_stop(tokenizer: Tokenizer, ids: list[int], rng: Random) -> None:
    """Checks that a stop text ends the text, and that the number of ids is the smallest one that shows it."""
    stops = random_stops(rng, tokenizer.decode(ids))
    expected, stopped = find_stop(tokenizer.decode(ids), stops)
    for chunked in (None, rng):
        stream = tokenizer.decoder(stop=stops)
        assert collect(stream, ids, chunked) == expected
        assert stream.stopped == stopped
        if stopped is not None:
            plain = tokenizer.decoder()
            shown = np.cumsum([len(plain.push(id)) for id in ids])
            completing = int(np.searchsorted(shown, len(expected) + len(stopped)))
            assert stream.consumed == min(completing + 1, len(ids))


def has_mixed_run(tokenizer: Tokenizer, ids: Sequence[int]) -> bool:
    """Reports whether a run of byte tokens has a character before a byte that is not UTF-8."""
    runs: list[bytes] = []
    run = b""
    for id in [*ids, None]:
        piece = b"" if id is None else tokenizer.id_to_piece(id)
        if BYTE.fullmatch(piece):
            run += bytes([int(piece[3:5], 16)])
        elif run:
            runs, run = [*runs, run], b""
    return any(valid_length(run) not in (0, len(run)) for run in runs)


def valid_length(run: bytes) -> int:
    """Returns the number of bytes before the first one that is not part of a character."""
    try:
        return len(run.decode().encode())
    except UnicodeDecodeError as error:
        return error.start


def check_eager(tokenizer: Tokenizer, ids: list[int]) -> None:
    """Checks an eager stream: it never returns less than the default stream, and differs only in mixed runs."""
    eager, default = tokenizer.decoder(eager=True), tokenizer.decoder()
    eager_text, default_text = "", ""
    mixed = has_mixed_run(tokenizer, ids)
    for id in ids:
        eager_text, default_text = eager_text + eager.push(id), default_text + default.push(id)
        assert mixed or eager_text.startswith(default_text)
    eager_text += eager.finish()
    assert mixed or eager_text == tokenizer.decode(ids)
    decode = tokenizer.spec.decode
    if not isinstance(decode, ChainDecode) or ByteFallbackDecode() not in (decode.steps or ()):
        assert eager_text == tokenizer.decode(ids)


def check_offsets(tokenizer: Tokenizer, ids: list[int]) -> None:
    """Checks that the text is that of decode, and that pieces and spans fit together."""
    for skip_special in (False, True):
        decoded = tokenizer.decode_with_offsets(ids, skip_special=skip_special)
        assert decoded.text == tokenizer.decode(ids, skip_special=skip_special) == "".join(decoded.pieces)
        assert len(decoded.pieces) == len(decoded.starts) == len(decoded.ends) == len(ids)
        assert decoded.starts.dtype == decoded.ends.dtype == np.int64
        end = 0
        for piece, start, stop in zip(decoded.pieces, decoded.starts.tolist(), decoded.ends.tolist(), strict=True):
            end += len(piece)
            assert start <= stop
            assert not piece or (start <= end - len(piece) and end <= stop)
        covered = np.zeros(len(decoded.text), bool)
        for start, stop in zip(decoded.starts, decoded.ends, strict=True):
            covered[start:stop] = True
        assert covered.all()
        has_text = decoded.ends > decoded.starts
        assert (np.diff(decoded.starts[has_text]) >= 0).all()
        assert (np.diff(decoded.ends) >= 0).all()


small_ids = st.lists(st.integers(0, 600), max_size=25)


@pytest.mark.parametrize("name", SMALL)
@given(small_ids, st.lists(small_ids, min_size=1, max_size=3), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_small_vocabularies(name: str, ids: list[int], others: list[list[int]], rng: Random) -> None:
    tokenizer = SMALL_TOKENIZERS[name]
    all_ids = tokenizer.vocab().ids.tolist()
    ids, *others = ([all_ids[id % len(all_ids)] for id in row] for row in (ids, *others))
    check_stream(tokenizer, ids, others, rng)
    check_stop(tokenizer, ids, rng)
    check_eager(tokenizer, ids)
    check_offsets(tokenizer, ids)


@needs_data
@every_vocabulary
def test_every_vocabulary(name: str) -> None:
    tokenizer, rng = all_vocabularies()[name].load(), Random(2)
    lists = list(id_lists(name, 150))
    for ids in lists:
        check_stream(tokenizer, ids[:40], [rng.choice(lists)[:20]], rng)
        check_stop(tokenizer, ids[:40], rng)
        check_eager(tokenizer, ids)
        check_offsets(tokenizer, ids)


# Beside tokenizers and tiktoken


def step(stream: DecodeStream, reference: tokenizers.Tokenizer, id: int) -> str:
    return stream.step(reference, id) or ""


@needs_data
@pytest.mark.parametrize("name", marked(HUGGINGFACE_NAMES))
def test_decode_stream_of_tokenizers(name: str) -> None:
    """Tests that wherever a DecodeStream returns the text of the whole, so do our streams; the eager one without a
    call of finish."""
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    [reference] = [found.tokenizer for found in vocabulary.references() if isinstance(found, HuggingFace)]
    compared = 0
    for ids in id_lists(name, 600):
        for skip_special in (False, True):
            stream = DecodeStream(skip_special_tokens=skip_special)
            try:
                text = "".join([step(stream, reference, id) for id in ids])
            except Exception:  # its "invalid prefix"
                continue
            if text != reference.decode(ids, skip_special_tokens=skip_special):
                continue
            compared += 1
            default, eager = (tokenizer.decoder(skip_special=skip_special, eager=eager) for eager in (False, True))
            assert collect(default, ids) == text
            assert "".join(map(eager.push, ids)) == text
    assert compared > 300


@needs_data
def test_offsets_of_tiktoken() -> None:
    tokenizer = all_vocabularies()["cl100k_base"].load()
    reference = tiktoken.Encoding(
        "cl100k",
        pat_str="x",
        mergeable_ranks={piece: id for id, piece in enumerate(tokenizer.spec.vocab.pieces()) if id < 100256},
        special_tokens={},
    )
    for path in sorted((DATA / "corpus").glob("*.txt")):
        for line in first_lines(path, 10_000):
            text = line.decode(errors="ignore")
            ids = tokenizer.encode(text)
            decoded = tokenizer.decode_with_offsets(ids)
            assert (decoded.text, decoded.starts.tolist()) == reference.decode_with_offsets(ids)


@needs_data
@every_vocabulary
def test_offsets_are_the_spans_of_an_encoded_text(name: str) -> None:
    """Tests that if decoding returns the text, the spans of decoding are the spans of encoding."""
    vocabulary = all_vocabularies()[name]
    tokenizer = vocabulary.load()
    for text in ("A world of 世界 and naïve 😀👍🏽 café; x  y", "हिन्दी ok 語の本、", "Ωμέγα 1234567 don't"):
        spans = tokenizer.spans(text)
        decoded = tokenizer.decode_with_offsets(spans.ids)
        if decoded.text == text:
            own = (spans.byte_ends > spans.byte_starts) & (decoded.ends > decoded.starts)
            assert decoded.ends[own].tolist() == spans.ends[own].tolist()


# Options


@pytest.fixture(scope="module")
def default() -> Tokenizer:
    return polytok.load("default")


def test_unknown_ids(default: Tokenizer) -> None:
    ids = [97, 10**6, 98, -1, 2**40, 99]
    text_stream, byte_stream = default.decoder(unknown="skip"), default.byte_decoder(unknown="skip")
    for unknown in (ids, np.array(ids), -1, np.int64(-1), 10**6):
        expected = "abc" if unknown is ids or isinstance(unknown, np.ndarray) else ""
        assert text_stream.push(unknown) == expected
        assert byte_stream.push(unknown) == expected.encode()
    skipping = SMALL_TOKENIZERS["huggingface"]
    assert skipping.decoder().push(10**6) == skipping.decoder(unknown="skip").push([10**6, -1]) == ""
    for stream in (default.decoder(), skipping.decoder(unknown="error"), skipping.byte_decoder(unknown="error")):
        with pytest.raises(TokenIdError, match="1000000"):
            stream.push([1, 10**6])
        with pytest.raises(TokenIdError, match="id -1 is not in the vocabulary"):
            stream.push(np.int64(-1))
    stream = default.decoder(unknown="skip")
    assert (stream.push(ids), stream.consumed) == ("abc", 6)


def test_byte_tokens_are_returned_at_once_by_an_eager_stream() -> None:
    tokenizer = make(LLAMA, [b"<0xE4>", b"<0xB8>", b"<0x96>", b"<0x61>", "▁b".encode()])
    eager, default = tokenizer.decoder(eager=True), tokenizer.decoder()
    assert [eager.push(id) for id in [0, 1, 2, 3, 4, 3, 0, 4]] == ["", "", "世", "a", " b", "a", "", "\ufffd b"]
    assert [default.push(id) for id in [0, 1, 2, 3, 4]] == ["", "", "", "", "世a b"]
    assert tokenizer.decode([3, 0, 4]) == "\ufffd\ufffd b"
    assert [eager.push(id) for id in [0, 3, 0, 1, 2, 4]] == ["", "\ufffd" * 2, *["\ufffd"] * 3, " b"]
    assert tokenizer.decode([0, 3, 0, 1, 2, 4]) == "\ufffd" * 5 + " b"
    byte_stream = tokenizer.byte_decoder(eager=True)
    assert [byte_stream.push([0, 1]), byte_stream.push(2)] == [b"", "世".encode()]


def test_the_last_word_of_a_reply_is_returned() -> None:
    tokenizer = make(ChainDecode((BpeDecode(),)), [b"one</w>", b"t", b"wo</w>"])
    stream = tokenizer.decoder()
    assert [stream.push(id) for id in [0, 1, 2]] == ["one", " t", "wo"]


def test_errors_of_a_strict_stream_change_nothing(default: Tokenizer) -> None:
    stream = default.decoder(errors="strict", stop=["z"])
    assert stream.push([97, 0xE4, 0xB8]) == "a"
    for _ in range(2):
        with pytest.raises(UnicodeDecodeError):
            stream.push([98, 99])
    assert stream.push(0x96) == "世"
    assert stream.consumed == 4


def test_handlers_of_python(default: Tokenizer) -> None:
    stream = default.decoder(errors="backslashreplace")  # type: ignore[arg-type]
    assert stream.push([97, 0xE4, 98]) + stream.push(0xFF) + stream.finish() == "a\\xe4b\\xff"
    assert (stream.stopped, stream.consumed) == (None, 4)
    with pytest.raises(ArgumentError, match="errors="):
        default.decoder(errors="backslashreplace", stop=["a"])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="errors="):
        default.decode_with_offsets([97], errors="backslashreplace")  # type: ignore[arg-type]


def test_values_of_options(default: Tokenizer) -> None:
    with pytest.raises(ArgumentError, match=re.escape("stop[1]='' is empty")):
        default.decoder(stop=["a", ""])
    for text in ("a\ud800", b"\xe4"):
        with pytest.raises(ArgumentError, match=r"stop\[0\]=.* is not UTF-8"):
            default.decoders(1, stop=[text])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="single text"):
        default.decoder(stop="END")
    with pytest.raises(ArgumentError, match="unknown='skipp' is not one of"):
        default.decoder(unknown="skipp")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no keyword argument 'stops'"):
        default.decoders(2, stops=["a"])  # type: ignore[call-arg]


def test_a_stopped_stream_can_start_again(default: Tokenizer) -> None:
    stream = default.decoder(stop=["ab", "b"])
    assert (stream.push([*b"xxab", *b"cd"]), stream.stopped, stream.consumed) == ("xx", "ab", 4)
    assert (stream.push(10**9), stream.finish(), stream.stopped, stream.consumed) == ("", "", "ab", 4)
    assert (stream.push([*b"xa"]), stream.stopped, stream.consumed) == ("x", None, 2)
    assert (stream.finish(), stream.stopped, stream.consumed) == ("a", None, 2)


def test_a_stop_text_of_invalid_bytes(default: Tokenizer) -> None:
    stream = default.decoder(stop=["\ufffd!"])
    assert stream.push([97, 0xE4, 33, 98]) + stream.finish() == "a"
    dropping = default.decoder(stop=["STOP"], errors="ignore")
    assert dropping.push([*b"aST", 0xE4, *b"OPb"]) + dropping.finish() == "a"


# Many decoders


def test_many_decoders_are_single_decoders() -> None:
    """Tests random calls on many decoders against a list of single ones."""
    for name, tokenizer in SMALL_TOKENIZERS.items():
        rng, ids = Random(name), tokenizer.vocab().ids.tolist()
        many = tokenizer.decoders(3, skip_special=True)
        places: list[StreamDecoder | None] = [tokenizer.decoder(skip_special=True) for _ in range(3)]
        for _ in range(400):
            check_random_call(tokenizer, many, places, ids, rng)


def check_random_call(
    tokenizer: Tokenizer, many: StreamDecoders, places: list[StreamDecoder | None], ids: list[int], rng: Random
) -> None:
    used = [place for place, stream in enumerate(places) if stream]
    match rng.randrange(12):
        case 0:
            free = [place for place, stream in enumerate(places) if not stream] or [len(places)]
            eager, stop = rng.random() < 0.5, rng.choice([(), ("a", "bc")])
            assert many.add(eager=eager, stop=stop) == free[0]
            places[free[0] : free[0] + 1] = [tokenizer.decoder(skip_special=True, eager=eager, stop=stop)]
        case 1 if used:
            place = rng.choice(used)
            many.remove(place)
            places[place] = None
        case 2 if used:
            place = rng.choice(used)
            assert many.finish(place) == places[place].finish()  # type: ignore[union-attr]
        case _:
            kinds: list[Callable[[], int | list[int] | None]] = [
                lambda: None,
                lambda: rng.choice(ids),
                lambda: rng.choices(ids, k=rng.randrange(4)),
            ]
            step = [rng.choice(kinds)() if stream else None for stream in places]
            expected = [
                "" if stream is None or new_ids is None else stream.push(new_ids)
                for stream, new_ids in zip(places, step, strict=True)
            ]
            assert many.push(step) == expected
    assert many.stopped == [stream and stream.stopped for stream in places]
    assert many.consumed == [stream.consumed if stream else 0 for stream in places]
    assert len(many) == len(places)


def test_errors_of_many_decoders(default: Tokenizer) -> None:
    decoders = default.decoders(2)
    decoders.remove(1)
    for place in (1, 2, 10**9):
        with pytest.raises(ArgumentError, match=f"there is no decoder {place}"):
            decoders.finish(place)
    with pytest.raises(ArgumentError, match="there is no decoder 1"):
        decoders.push([97, 98])
    with pytest.raises(ArgumentError, match="3 items, but there are 2 places"):
        decoders.push([97, None, None])
    with pytest.raises(TokenIdError):
        decoders.push([[97, -1], None])
    with pytest.raises(TypeError, match=re.escape("ids[0]=1.5")):
        decoders.push([1.5, None])  # type: ignore[list-item]
    assert decoders.push(np.array([[97, 98], []], dtype=object)) == ["ab", ""]
    assert decoders.push(([99], None)) == ["c", ""]
    assert default.decoders(2).push(np.array([97, 98])) == ["a", "b"]
    assert default.decoders(2).push(np.array([[97, 98], [99, 100]])) == ["ab", "cd"]
    assert decoders.consumed == [3, 0]
    skipping = default.decoders(2, unknown="skip")
    assert skipping.push([-1, 10**6]) == skipping.push(np.array([-1, -1])) == ["", ""]
    assert default.decoders().push([]) == []
