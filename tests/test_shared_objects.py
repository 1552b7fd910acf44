"""Tests objects that many threads use at once, and arguments that another thread changes during a call.

The tests run in every Python. In a Python without the GIL, the threads run at the same time; elsewhere they take turns
as often as possible. POLYTOK_STRESS_SECONDS is the time of each test.
"""

from __future__ import annotations

import copy
import ctypes
import faulthandler
import gc
import itertools
import os
import pickle
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import polytok
from polytok import ArgumentError, Counts, Parts, TokenIdError, Tokenizer
from polytok.compat.face import Face
from polytok.compat.finding import FaceFinder

SECONDS = float(os.environ.get("POLYTOK_STRESS_SECONDS", "0.2"))

TEXTS = [
    "",
    "a",
    "The quick brown fox, and then some more words.\n",
    "naïve café 吾輩は猫である 😀 <|endoftext|>",
    "def f(x):\n    return x ** 2\n" * 60,
    "Съешь ещё этих мягких французских булок. " * 30,
    "long text of words that are the same again and again " * 1500,
]


@pytest.fixture(autouse=True)
def frequent_turns() -> Iterator[None]:
    """Lets threads take turns as often as possible, where they do not run at the same time."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return polytok.load("default")


def run_together(*works: Callable[[], object]) -> list[int]:
    """Calls each function again and again in a thread of its own; returns the number of calls of each.

    Raises the first error of a thread. A thread that does not end is an error too.
    """
    errors: list[BaseException] = []
    counts = [0] * len(works)
    start, end = threading.Barrier(len(works)), time.monotonic() + SECONDS

    def run(number: int, work: Callable[[], object]) -> None:
        try:
            start.wait()
            while counts[number] == 0 or (time.monotonic() < end and not errors):
                work()
                counts[number] += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=item, daemon=True) for item in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS + 120)
        if thread.is_alive():
            faulthandler.dump_traceback(sys.stderr)
            pytest.fail("a thread does not end")
    if errors:
        raise errors[0]
    return counts


def check_message(error: Exception, part: str) -> None:
    assert part in str(error)


def encoding_lists(tokenizer: Tokenizer, text: str) -> object:
    encoding = tokenizer.encoding(text)
    return encoding.ids, encoding.offsets, encoding.word_ids, encoding.tokens, encoding.special_tokens_mask


def span_lists(tokenizer: Tokenizer, text: str) -> object:
    spans = tokenizer.spans(text)
    columns = (spans.ids, spans.starts, spans.ends, spans.byte_starts, spans.byte_ends)
    return [column.tolist() for column in columns]


def chunk_ids(tokenizer: Tokenizer, text: str) -> object:
    encoder = tokenizer.encoder()
    chunks = [text[at : at + 1000] for at in range(0, len(text), 1000)]
    return [*(id for chunk in chunks for id in encoder.push(chunk)), *encoder.finish()]


def streamed_text(tokenizer: Tokenizer, text: str) -> object:
    decoder = tokenizer.decoder()
    return [
        *map(decoder.push, tokenizer.encode(text)[:200]),
        decoder.push(tokenizer.encode_array(text)),
        decoder.finish(),
    ]


CALLS: dict[str, Callable[[Tokenizer, str], object]] = {
    "encode": lambda tokenizer, text: tokenizer.encode(text),
    "bytes": lambda tokenizer, text: tokenizer.encode(text.encode()),
    "array": lambda tokenizer, text: tokenizer.encode_array(text).tolist(),
    "special": lambda tokenizer, text: tokenizer.encode(text, special="all", add_special=True),
    "parts": lambda tokenizer, text: tokenizer.encode(Parts([(text, True), (text, False)])),
    "batch": lambda tokenizer, text: tokenizer.encode_batch([text, "a", text], threads=2).to_list(),
    "count": lambda tokenizer, text: tokenizer.count(text),
    "count_batch": lambda tokenizer, text: tokenizer.count_batch([text, "a", text], threads=2).tolist(),
    "spans": span_lists,
    "tokens": lambda tokenizer, text: tokenizer.tokens(text),
    "encoding": encoding_lists,
    "decode": lambda tokenizer, text: tokenizer.decode(tokenizer.encode(text)),
    "decode_array": lambda tokenizer, text: tokenizer.decode(tokenizer.encode_array(text)),
    "decode_batch": lambda tokenizer, text: tokenizer.decode_batch([tokenizer.encode(text), [97]]),
    "offsets": lambda tokenizer, text: tokenizer.decode_with_offsets(tokenizer.encode(text)).pieces,
    "chunks": chunk_ids,
    "stream": streamed_text,
    "pieces": lambda tokenizer, text: tokenizer.ids_to_pieces(tokenizer.encode(text)),
    "canonical": lambda tokenizer, text: tokenizer.first_noncanonical(tokenizer.encode(text[:300])),
    "truncate": lambda tokenizer, text: tokenizer.truncate(text, 20),
    "vocab": lambda tokenizer, text: [tokenizer.vocab()[id] for id in tokenizer.encode(text)[:3]],
}


def test_16_threads_share_a_tokenizer(tokenizer: Tokenizer, tmp_path: Path) -> None:
    expected = {(name, text): call(tokenizer, text) for name, call in CALLS.items() for text in TEXTS}
    tokenizer.save(tmp_path / "shared.ptok")
    shared = polytok.load(tmp_path / "shared.ptok")  # whose tables, Spec and helpers are all created in the threads

    def use(seed: int) -> Callable[[], None]:
        rng = random.Random(seed)

        def work() -> None:
            name, text = rng.choice([*CALLS]), rng.choice(TEXTS)
            assert CALLS[name](shared, text) == expected[name, text], name

        return work

    def limit_caches() -> None:
        shared.cache_limit = random.choice([0, 1 << 12, 1 << 20, 1 << 26])

    def replace() -> None:
        other = random.choice([lambda: polytok.load(tmp_path / "shared.ptok"), lambda: copy.copy(shared)])()
        assert other.encode(TEXTS[2]) == expected["encode", TEXTS[2]] and other.fingerprint == tokenizer.fingerprint

    def pickled() -> None:
        assert pickle.loads(pickle.dumps(shared)).count(TEXTS[2]) == expected["count", TEXTS[2]]

    run_together(
        *map(use, range(16)), shared.clear_cache, limit_caches, shared.warm_up, replace, pickled, lambda: gc.collect(0)
    )


def test_threads_share_decoders(tokenizer: Tokenizer) -> None:
    words = [" one", " two", " three", "four"]
    ids = {word: tokenizer.encode(word) for word in words}
    text, data, handler = tokenizer.decoder(), tokenizer.byte_decoder(), tokenizer.decoder(errors="backslashreplace")
    many = tokenizer.decoders(4)
    long_ids = np.array(ids[" two"] * 5000, np.uint32)

    def push() -> None:
        word = random.choice(words)
        assert text.push(ids[word]) == handler.push(ids[word]) == word and data.push(ids[word]) == word.encode()
        assert text.push(np.array(ids[word], np.uint32)) == word

    def push_long() -> None:
        assert text.push(long_ids) == " two" * 5000

    def push_unknown() -> None:
        for decoder in (text, data):
            with pytest.raises(TokenIdError):
                decoder.push([97, 1 << 31])

    def finish() -> None:
        assert text.finish() == handler.finish() == "" and data.finish() == b"" and text.stopped is None

    def push_many() -> None:
        chosen = [random.choice(words) for _ in range(4)]
        assert many.push([ids[word] for word in chosen]) == chosen

    def add_and_remove() -> None:
        place = many.add()
        many.remove(place)

    def push_to_places() -> None:
        try:
            push_many()
        except ArgumentError as error:
            check_message(error, "places for decoders")  # while another thread has added a decoder

    run_together(push, push, push_long, push_unknown, finish, push_to_places, push_to_places, lambda: gc.collect(0))
    run_together(push_to_places, add_and_remove, push_to_places)


def test_threads_share_an_encoder_of_chunks(tokenizer: Tokenizer) -> None:
    encoder = tokenizer.encoder()
    chunks = ["one two ", "naïve ", "😀", "\n\n", "x" * 3000, "\ud83d", "\ude00", b"bytes "]
    pushed: list[int] = []
    returned: list[list[int]] = []

    def push() -> None:
        chunk = random.choice(chunks)
        returned.append(encoder.push(chunk))
        assert encoder.pending_bytes >= 0
        pushed.append(len(chunk) if isinstance(chunk, bytes) else len(chunk.encode("utf-16", "surrogatepass")))

    run_together(push, push, push, lambda: returned.append(encoder.finish()), lambda: gc.collect(0))
    returned.append(encoder.finish())
    text = tokenizer.decode([id for ids in returned for id in ids])
    # A pair of surrogates is one character or, if other text came in between, two characters U+FFFD.
    assert text.count("x") == 3000 * pushed.count(6002) and text.count("ï") == pushed.count(14)


def test_threads_share_an_incremental_text(tokenizer: Tokenizer) -> None:
    shared = tokenizer.incremental("start")
    texts = ["one two ", "naïve 吾輩", "😀", "\ud83d", "\ude00", "x" * 3000, "\n"]

    def check() -> None:
        mine = shared.copy()
        # No character was cut, as it would be if a half of a pair were removed twice.
        assert mine.ids == tokenizer.encode(mine._core.text().decode()) and mine.parts is None

    def append() -> None:
        shared.append(random.choice(texts))

    def append_bytes() -> None:
        shared.append("bytes 吾輩".encode())

    run_together(
        append,
        append,
        check,
        check,
        append_bytes,
        lambda: shared.set_text("".join(random.choices(texts, k=3))),
        lambda: shared.truncate(random.randrange(3000)),
        lambda: (shared.ids, shared.text),
    )
    check()


def test_another_thread_changes_lists_during_calls(tokenizer: Tokenizer) -> None:
    [one, two] = [tokenizer.encode(text) for text in (" one", " two")]
    assert len(one) == len(two) == 1
    ids: list[Any] = []
    texts: list[Any] = []

    class Index:
        def __index__(self) -> int:
            ids.clear()
            return one[0]

    def change() -> None:
        for target, items in (
            (ids, [*one, *two, Index(), 1 << 40, np.int64(one[0])]),
            (texts, [" one", " two", b" one"]),
        ):
            target.extend(random.choices(items, k=random.randrange(60)))
            target[: random.randrange(5)] = items[:2]
            if random.random() < 0.3:
                target.clear()

    def decode() -> None:
        for call in (tokenizer.decode, tokenizer.decoder().push, lambda ids: tokenizer.decode_with_offsets(ids).text):
            try:
                text = call(ids)
            except (TokenIdError, IndexError):
                continue  # there was another id, or the list became shorter
            assert text.replace(" one", "").replace(" two", "") == ""

    def encode() -> None:
        rows = tokenizer.encode_batch(texts, threads=2).to_list()
        assert all(row in (one, two) for row in rows)
        assert set(tokenizer.count_batch(texts).tolist()) <= {1}
        assert all(row in (one, two) for row in [encoding.ids for encoding in tokenizer.encodings(texts)])

    run_together(change, change, decode, decode, encode, encode)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "int32", "int64"])
def test_another_thread_changes_an_array_of_ids_during_calls(tokenizer: Tokenizer, dtype: str) -> None:
    [one] = tokenizer.encode(" one")
    largest = np.iinfo(dtype).max if dtype.startswith("u") else -1
    arrays = [np.full(length, one, dtype) for length in (1, 100, 5000)]

    def change() -> None:
        for array in arrays:
            array[:] = largest
            array[:] = one

    def decode() -> None:
        for array in (*arrays, arrays[1][::2]):
            for call in (tokenizer.decode, tokenizer.decoder().push):
                try:
                    text = call(array)
                except TokenIdError:
                    continue
                assert text == " one" * len(array)

    run_together(change, decode, decode, decode)


def test_another_thread_changes_bytes_during_calls() -> None:
    shared = bytearray(b"to be " * 100)
    counts = Counts(split=r"\w+")

    def change() -> None:
        shared[:] = b"or not "
        shared[:] = b"to be " * 100

    def count() -> None:
        try:
            counts.push([shared])  # type: ignore[list-item]
        except ArgumentError as error:
            check_message(error, "in use")

    run_together(change, count, count)


def test_threads_that_share_counts_count_or_get_an_error() -> None:
    counts = Counts(split=r"\w+", threads=1)
    counted: list[None] = []
    refused: list[None] = []

    def count() -> None:
        try:
            counts.push([b"to be or not to be " * 200] * 10)
            counted.append(None)
        except ArgumentError as error:
            check_message(error, "these counts are in use by a call that has not ended")
            refused.append(None)

    run_together(count, count, count, count)
    assert dict(counts.words().to_list())[b"to"] == 2 * 200 * 10 * len(counted)


def test_counts_are_in_use_while_they_report_progress(tmp_path: Path) -> None:
    counts = Counts()
    counts.add([(b"%d" % number, 1) for number in range(100_000)])
    errors: list[str] = []

    def progress(*_: object) -> None:
        with pytest.raises(ArgumentError) as raised:
            counts.words()
        errors.append(str(raised.value))

    counts.save(tmp_path / "counts", progress=progress)
    assert errors and all("in use by a call that has not ended" in error for error in errors)


class Capsules:
    """A column that returns the same capsules to everyone."""

    def __init__(self, column: Any) -> None:
        self.array = column.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.array


class StreamCapsule:
    """A column of chunks that returns the same capsule to everyone."""

    def __init__(self, column: Any) -> None:
        self.stream = column.__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.stream


@pytest.mark.parametrize("kind", [Capsules, StreamCapsule])
def test_one_thread_gets_the_column_of_a_capsule(tokenizer: Tokenizer, kind: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    texts = pa.array(["one", "two", "three"])
    barrier = threading.Barrier(4)
    outcomes: list[int | str] = []

    def encode() -> None:
        barrier.wait()
        try:
            outcomes.append(len(tokenizer.encode_arrow(column)))
        except ArgumentError as error:
            outcomes.append(str(error))

    end = time.monotonic() + SECONDS
    for _ in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):
        column = kind(texts if kind is Capsules else pa.chunked_array([texts]))
        threads = [threading.Thread(target=encode) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        outcomes.remove(3)
        assert len(outcomes) == 3 and all("each capsule can be read once" in str(outcome) for outcome in outcomes)
        outcomes.clear()


def test_threads_encode_a_text_whose_utf8_another_thread_creates(tokenizer: Tokenizer) -> None:
    utf8 = ctypes.pythonapi.PyUnicode_AsUTF8
    utf8.restype, utf8.argtypes = ctypes.c_char_p, [ctypes.py_object]
    text = "naïve café 吾輩は猫である 😀 " * 50
    expected = tokenizer.encode(text)
    shared = [text]

    def renew() -> None:
        shared[0] = "".join(list(text))

    def create() -> None:
        assert utf8(shared[0]) == text.encode()

    def encode() -> None:
        assert tokenizer.encode(shared[0]) == expected and hash(shared[0]) == hash(text)

    run_together(renew, create, create, encode, encode)


FIRST_USES = """
import sys, threading
import polytok
tokenizer = polytok.load("default")
names = list(polytok.__all__)
calls = [
    lambda: tokenizer.encoding("one two").tokens, lambda: tokenizer.trace("one two").ids, lambda: tokenizer.vocab()[97],
    lambda: tokenizer.spans("one"), lambda: tokenizer.encode_batch(["one"]).to_list(), lambda: tokenizer.fingerprint,
    lambda: tokenizer.lossless, lambda: tokenizer.truncate("one two three", 2), lambda: tokenizer.spec.vocab.ids.sum(),
    lambda: tokenizer.first_noncanonical([97]), lambda: polytok.Counts(split="a").words(),
    lambda: tokenizer.encode(polytok.Parts([("a", True), ("b", False)])), lambda: tokenizer.decode([97]),
]
errors = []
barrier = threading.Barrier(6)
def work(number):
    barrier.wait()
    try:
        for call in calls[number % len(calls) :] + calls[: number % len(calls)]:
            call()
        for name in names[number * 7 :] + names[: number * 7]:
            getattr(polytok, name)
    except BaseException as error:
        errors.append(repr(error))
threads = [threading.Thread(target=work, args=[number]) for number in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
sys.exit("\\n".join(errors) or 0)
"""


def test_threads_use_everything_for_the_first_time_at_once() -> None:
    result = subprocess.run([sys.executable, "-c", FIRST_USES], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0 and not result.stderr, result.stderr


def test_faces_can_be_added_while_packages_are_listed() -> None:
    finder = FaceFinder()
    for number in range(3):
        finder.add(Face(package=f"not_installed_{number}", versions=("1",)), ModuleType("face"))
    listed = finder.find_distributions()
    assert next(listed).name == "not_installed_0"
    finder.add(Face(package="not_installed_3", versions=("1",)), ModuleType("face"))
    assert [distribution.name for distribution in listed] == ["not_installed_1", "not_installed_2"]
