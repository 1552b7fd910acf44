"""All work of the suite as small tasks, and how much of it there is."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import texts
from polytok import Tokenizer
from polytok import reference as twins
from reference_specs import DATA

from . import checks, properties
from .checks import Outcome
from .references import (
    HuggingFace,
    LlamaCppTwin,
    PyRwkv,
    Reference,
    SentencePiece,
    SentencePieceCharacters,
    Tiktoken,
    Twin,
)
from .seen import Seen
from .vocabularies import Vocabulary, all_vocabularies

BLOCK = 4096
BATCH = 2000
PART = 20_000

_seen = Seen()


@dataclass(frozen=True)
class Scale:
    """How much is compared: bytes of each corpus file, and numbers of texts and sequences of ids."""

    corpus: int
    whole: int
    valid: int
    broken: int
    ids: int
    marked: int
    properties: int
    streams: int


FULL = Scale(
    corpus=1 << 30, whole=1 << 20, valid=160_000, broken=40_000, ids=100_000, marked=20_000, properties=40_000,
    streams=40_000,
)  # fmt: skip
SLICE = Scale(
    corpus=8_000, whole=20_000, valid=1500, broken=500, ids=1500, marked=300, properties=400, streams=800
)  # fmt: skip


@dataclass(frozen=True)
class Task:
    """One piece of work: a function of this module, a vocabulary, and the part of its texts."""

    section: str
    vocabulary: str
    part: str | int
    count: int


@functools.cache
def vocabularies() -> dict[str, Vocabulary]:
    """All of them, loaded when they are used, once in each process."""
    return all_vocabularies()


def all_tasks(scale: Scale) -> list[Task]:
    """Everything, what is likeliest to differ first. The corpus is read once for each file of the data."""
    texts_of_corpus = sorted(path.name for path in (DATA / "corpus").iterdir())
    tasks = []
    seen: set[str] = set()
    for name, vocabulary in vocabularies().items():
        for section in ("valid", "broken", "ids", "marked", "properties", "streams"):
            tasks += list(_parts(section, name, getattr(scale, section)))
        if vocabulary.files - seen:
            tasks += [Task("whole", name, text, scale.whole) for text in texts_of_corpus]
            tasks += [Task("corpus", name, text, scale.corpus) for text in texts_of_corpus]
        seen |= vocabulary.files
    return sorted(tasks, key=lambda task: task.section in ("corpus", "whole"))


def _parts(section: str, vocabulary: str, count: int) -> Iterator[Task]:
    for part in range(0, count, PART):
        yield Task(section, vocabulary, part, min(PART, count - part))


def remember(folder: Path | None) -> None:
    """Keep what is seen in a folder, in this process."""
    global _seen
    _seen = Seen(folder)


def run(task: Task) -> list[Outcome]:
    """Do one task."""
    return SECTIONS[task.section](vocabularies()[task.vocabulary], task)


def _each(
    vocabulary: Vocabulary,
    references: Sequence[Reference],
    what: str,
    batches: Iterator[list[bytes]],
    *,
    by_columns: bool = False,
) -> list[Outcome]:
    outcomes = [Outcome(vocabulary.name, reference.name, what) for reference in references]
    for batch in batches:
        for outcome, reference in zip(outcomes, references, strict=True):
            _seen.encoding(outcome, vocabulary.load(), reference, batch, by_columns=by_columns)
    return outcomes


def corpus(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    """A file of the corpus line by line, and in blocks."""
    path = DATA / "corpus" / str(task.part)
    lines = texts.lines(path, task.count)
    each = functools.partial(_each, vocabulary, vocabulary.corpus(), by_columns=True)
    if vocabulary.every > 1:
        return each(f"corpus: 1 line in {vocabulary.every}", texts.chunks(lines[:: vocabulary.every], BATCH))
    blocks = texts.blocks(b"".join(lines), BLOCK)
    return each("corpus: lines", texts.chunks(lines, BATCH)) + each("corpus: blocks of 4 KB", texts.chunks(blocks, 50))


def whole(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    """A file of the corpus as one text."""
    if vocabulary.every > 1:
        return []
    with (DATA / "corpus" / str(task.part)).open("rb") as file:
        text = next(texts.blocks(file.read(task.count + 3), task.count))
    return _each(vocabulary, vocabulary.corpus(), "corpus: whole files", iter([[text]]), by_columns=True)


def valid(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    made = texts.generated(seed(task), task.count, vocabulary.words())
    return _each(vocabulary, vocabulary.generated(), "generated texts", texts.chunks(made, BATCH))


def broken(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    made = texts.generated(seed(task), task.count, vocabulary.words(), bad=True)
    references = [
        each
        for each in vocabulary.generated()
        if isinstance(each, (SentencePiece, Tiktoken, Twin, LlamaCppTwin))
        and not isinstance(each, (PyRwkv, SentencePieceCharacters))
    ]
    return _each(vocabulary, references, "generated bytes, not UTF-8", texts.chunks(made, BATCH))


def ids(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    """Decoding of random sequences of ids."""
    tokenizer = vocabulary.load()
    rows = list(texts.ids(seed(task), task.count, usual_ids(tokenizer), vocabulary.favourites()))
    outcomes = []
    for reference in vocabulary.generated():
        if reference.decode(rows[:1]) is not None:
            outcome = Outcome(vocabulary.name, reference.name, "random ids, decoded", len(rows), sum(map(len, rows)))
            checks.decoding(outcome, tokenizer, reference, rows)
            outcomes.append(outcome)
    return outcomes


def usual_ids(tokenizer: Tokenizer) -> list[int]:
    spec = tokenizer.spec
    return [*spec.vocab.ids.tolist(), *(token.id for token in spec.special)]


def marked(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    """Special tokens in texts: all of them recognised, and some of them."""
    tokenizer = vocabulary.load()
    words = vocabulary.words()
    names = list(tokenizer.special_tokens)
    if not names:
        return []
    pick = random.Random(seed(task))
    outcomes = [Outcome(vocabulary.name, each.name, "special tokens") for each in vocabulary.generated()]
    for text in texts.generated(
        seed(task), task.count, replace(words, pieces=[*words.pieces, *list(words.specials) * 50])
    ):
        at = pick.randrange(len(text.decode()) + 1)
        chosen = pick.choice(names)
        string = text.decode()[:at] + chosen + text.decode()[at:]
        some = frozenset(names) if pick.random() < 0.5 else frozenset([chosen, pick.choice(names)])
        for outcome, reference in zip(outcomes, vocabulary.generated(), strict=True):
            _marked(outcome, tokenizer, reference, string, some)
    return [outcome for outcome in outcomes if outcome.texts]


def _marked(outcome: Outcome, tokenizer: Tokenizer, reference: Reference, text: str, some: frozenset[str]) -> None:
    if isinstance(reference, Tiktoken):
        expected = reference.encoding.encode(text, allowed_special=set(some), disallowed_special=())
    elif isinstance(reference, HuggingFace) and len(some) == len(tokenizer.special_tokens):
        expected = reference.marked(text)
    elif isinstance(reference, LlamaCppTwin) and reference.accepts(text.encode()):
        if len(some) < len(tokenizer.special_tokens):  # All or none: llama.cpp knows no more.
            return
        expected = reference.tokenizer.tokenize(text.encode(), parse_special=True)
    elif isinstance(reference, Twin) and reference.accepts(text.encode()):
        expected = twins.encode(reference.spec, text, special=some)
    else:
        return
    ours = tokenizer.encode(text, special=some)
    outcome.texts += 1
    outcome.tokens += len(ours)
    if ours != expected:
        outcome.differs(f"{text!r}, special={sorted(some)[:5]}: {checks.first_difference(ours, expected)}")


def all_properties(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    outcome = Outcome(vocabulary.name, "itself", "properties of encoding")
    words = vocabulary.words()
    good = texts.generated(seed(task), task.count * 3 // 4, words)
    bad = texts.generated(seed(task) + 1, task.count // 4, words, bad=True)
    for batch in texts.chunks([*good, *bad], BATCH):
        properties.encodings(outcome, vocabulary.load(), batch, vocabulary.lossless)
    return [outcome]


def streams(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    outcome = Outcome(vocabulary.name, "itself", "streaming decoding")
    tokenizer = vocabulary.load()
    rows = texts.ids(seed(task), task.count, usual_ids(tokenizer), vocabulary.favourites())
    properties.streams(outcome, tokenizer, rows, seed(task))
    return [outcome]


def seed(task: Task) -> int:
    """The same for the same task, in every process."""
    return int.from_bytes(f"{task.section} {task.vocabulary} {task.part}".encode(), "big") % (1 << 61)


SECTIONS: dict[str, Callable[[Vocabulary, Task], list[Outcome]]] = {
    "corpus": corpus,
    "whole": whole,
    "valid": valid,
    "broken": broken,
    "ids": ids,
    "marked": marked,
    "properties": all_properties,
    "streams": streams,
}
