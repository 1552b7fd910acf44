"""Threads that call tokenizers until the time is over, and a watch that measures memory and ids at intervals."""

from __future__ import annotations

import gc
import hashlib
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import polytok
from polytok import PolytokError, Tokenizer
from polytok.resources import return_free_memory

from . import process
from .calls import CALLS, Call, Difference, Model, draw_call
from .texts import Document, TextSource, fixed_texts

_CACHE_LIMITS = (0, 1 << 14, 1 << 18, 1 << 20)
_LONG_CACHE_LIMIT = 1 << 18
_CALLS_PER_MODEL = 40
_FIXED_TEXTS = 24
_WARM_UP_CALLS = 3
_SHORT_SLEEP = 0.02


@dataclass(frozen=True, slots=True)
class Settings:
    """How a soak runs. ``share`` is the largest part of one processor that it uses, from 0 to 1."""

    vocabularies: Sequence[str | Path]
    seconds: float
    interval: float = 60.0
    threads: int = 4
    share: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured at one time.

    ``free_memory`` is the memory when all short-lived models are freed, and ``live_memory`` the part of it that the C
    heap has allocated then; the gaps between allocations make up the difference.
    """

    seconds: float
    memory: int
    free_memory: int
    live_memory: int
    threads: int
    open_files: int
    calls: int
    ids_hash: str


@dataclass(slots=True)
class Result:
    rows: list[Row] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class Soak:
    """Runs the threads of a soak.

    Each vocabulary is loaded for the whole time, and again and again for a short time, in turn from its own file and
    from a ``.ptok`` file.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings
        self._result = Result()
        self._is_over = threading.Event()
        self._long: list[Model] = []
        self._sources: list[str | Path] = []
        self._lossless: dict[str | Path, bool] = {}
        self._short: list[Model | None] = [None] * settings.threads
        self._locks = [threading.Lock() for _ in range(settings.threads)]
        self._hashes: dict[str, str] = {}
        self._started = self._cpu_started = 0.0
        for number, vocabulary in enumerate(settings.vocabularies):
            native = folder / f"{number}.ptok"
            polytok.load(vocabulary).save(native)
            self._sources += [vocabulary, native]
            self._lossless[vocabulary] = self._lossless[native] = bool(polytok.load(vocabulary).lossless)
            self._long.append(self._load(native, _LONG_CACHE_LIMIT))
        self._fixed = [fixed_texts(model.tokenizer, _FIXED_TEXTS) for model in self._long]

    def warm_up(self) -> None:
        """Makes each call a few times with each model of the whole time, so that tables built at their first use are
        not taken for growth."""
        rng = random.Random(self._settings.seed)
        for model in self._long:
            for name, (call, _) in CALLS.items():
                for _ in range(_WARM_UP_CALLS):
                    self._try_call(name, call, model, rng)

    def run(self, report: Callable[[Row], None]) -> Result:
        """Runs until the time is over or a thread fails; ``report`` is called with each row."""
        started = self._started = time.monotonic()
        self._cpu_started = time.process_time()
        workers = [threading.Thread(target=self._work, args=(number,)) for number in range(self._settings.threads)]
        for worker in workers:
            worker.start()
        try:
            end = started + self._settings.seconds
            while time.monotonic() < end and not self._is_over.is_set():
                self._is_over.wait(min(self._settings.interval, max(0.0, end - time.monotonic())))
                row = self._measure(time.monotonic() - started)
                self._result.rows.append(row)
                report(row)
        finally:
            self._is_over.set()
            for worker in workers:
                worker.join()
        return self._result

    # Threads

    def _work(self, number: int) -> None:
        rng = random.Random(f"{self._settings.seed} {number}")
        try:
            while not self._is_over.is_set():
                with self._locks[number]:
                    self._call(number, rng)
                self._wait()
        except Exception as error:
            self._result.failures.append(f"{type(error).__name__}: {error}")
            self._is_over.set()
            if not isinstance(error, Difference):
                raise

    def _call(self, number: int, rng: random.Random) -> None:
        model = self._model(number, rng)
        name, call = draw_call(rng)
        self._try_call(name, call, model, rng)

    def _try_call(self, name: str, call: Call, model: Model, rng: random.Random) -> None:
        text = model.texts.draw(rng)
        self._result.calls[name] += 1
        try:
            call(model, text, rng)
        except PolytokError as error:  # a text that a vocabulary cannot encode
            self._result.refused[f"{name}: {type(error).__name__}"] += 1

    def _model(self, number: int, rng: random.Random) -> Model:
        """Returns a model of the whole time, or one of any thread, which is sometimes replaced with another."""
        if rng.random() < 0.5:
            return rng.choice(self._long)
        place = rng.randrange(len(self._short))
        model = self._short[place]
        if model is None or rng.randrange(_CALLS_PER_MODEL) == 0:
            model = self._short[place] = self._load(rng.choice(self._sources), rng.choice(_CACHE_LIMITS))
            if rng.random() < 0.1:
                model.tokenizer.warm_up()
        return model

    def _load(self, source: str | Path, cache_limit: int) -> Model:
        tokenizer = polytok.load(source)
        tokenizer.cache_limit = cache_limit
        return Model(tokenizer, TextSource(tokenizer), self._lossless[source])

    def _wait(self) -> None:
        """Waits while the process has used more than its share of a processor."""
        share = self._settings.share
        while time.process_time() - self._cpu_started > share * (time.monotonic() - self._started):
            if self._is_over.wait(_SHORT_SLEEP):
                return

    # Measurements

    def _measure(self, seconds: float) -> Row:
        hash = self._hash_ids()
        memory, threads, open_files = process.memory_bytes(), process.threads(), process.open_files()
        with ExitStack() as stack:
            for lock in self._locks:
                stack.enter_context(lock)
            self._short[:] = [None] * len(self._short)
            gc.collect()
            return_free_memory()
            free_memory, live_memory = process.memory_bytes(), process.live_bytes()
        calls = self._result.calls.total()
        return Row(seconds, memory, free_memory, live_memory, threads, open_files, calls, hash)

    def _hash_ids(self) -> str:
        """Hashes the ids of the fixed texts of each vocabulary while the threads run; a new hash is a failure."""
        all_hashes = hashlib.blake2b(digest_size=8)
        for model, texts, source in zip(self._long, self._fixed, self._settings.vocabularies, strict=True):
            fresh = polytok.load(random.choice(self._sources_of(source)))
            for kind, tokenizer in (("the whole time", model.tokenizer), ("now", fresh)):
                hash = ids_hash(tokenizer, texts)
                expected = self._hashes.setdefault(str(source), hash)
                if hash != expected:
                    self._result.failures.append(f"{source}, loaded {kind}: the ids have changed")
                    self._is_over.set()
            all_hashes.update(self._hashes[str(source)].encode())
            self._wait()
        return all_hashes.hexdigest()

    def _sources_of(self, vocabulary: str | Path) -> list[str | Path]:
        place = self._sources.index(vocabulary)
        return self._sources[place : place + 2]


def ids_hash(tokenizer: Tokenizer, texts: Sequence[Document]) -> str:
    """Hashes the ids and the decoded texts of texts; an error counts by its message."""
    hash = hashlib.blake2b(digest_size=16)
    for text in texts:
        try:
            ids = tokenizer.encode(text, special="all", add_special=True)
            hash.update(repr((ids, tokenizer.decode(ids))).encode(errors="surrogatepass"))
        except PolytokError as error:
            hash.update(repr(error).encode(errors="surrogatepass"))
    return hash.hexdigest()


def soak(settings: Settings, report: Callable[[Row], None] = lambda row: None) -> Result:
    """Runs a soak with its ``.ptok`` files in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="polytok-soak-") as folder:
        soak = Soak(settings, Path(folder))
        soak.warm_up()
        return soak.run(report)
