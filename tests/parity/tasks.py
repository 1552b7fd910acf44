"""Lists all comparisons as small tasks, and runs one task."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import texts
from polytok import Tokenizer
from polytok import reference as twins
from reference_specs import DATA

from . import checks, levels, properties
from .checks import Outcome
from .references import (
    HuggingFace,
    LlamaCppTwin,
    Reference,
    SentencePiece,
    SentencePieceCharacters,
    Tiktoken,
    Twin,
)
from .seen import Seen
from .vocabularies import Vocabulary, all_vocabularies

BLOCK_SIZE = 4096
BATCH_SIZE = 2000
BLOCK_BATCH_SIZE = 50
TASK_SIZE = 20_000

Scale = Mapping[str, int]
"""The size of each section of the comparison: bytes per file for "corpus" and "whole", else texts or id sequences."""

FULL: Scale = {
    "corpus": 1 << 30,
    "whole": 1 << 20,
    "valid": 160_000,
    "broken": 40_000,
    "ids": 100_000,
    "marked": 20_000,
    "properties": 40_000,
    "streams": 40_000,
}
SLICE: Scale = {
    "corpus": 2_000,
    "whole": 5_000,
    "valid": 200,
    "broken": 100,
    "ids": 200,
    "marked": 60,
    "properties": 80,
    "streams": 120,
}

_seen = Seen()


@dataclass(frozen=True)
class Task:
    """A part of one section of the comparison, for one vocabulary.

    ``part`` is the name of a corpus file or the number of the first generated text; ``count`` is the part's size.
    """

    section: str
    vocabulary: str
    part: str | int
    count: int


def all_tasks(scale: Scale) -> list[Task]:
    """Returns all tasks, the likeliest to find a difference first.

    The corpus is compared only once for vocabularies that share one file.
    """
    corpus_files = sorted(path.name for path in (DATA / "corpus").iterdir())
    tasks = []
    covered_files: set[str] = set()
    for name, vocabulary in all_vocabularies().items():
        for section in ("valid", "broken", "ids", "marked", "properties", "streams"):
            tasks += list(_split_section(section, name, scale[section]))
        if vocabulary.files - covered_files:
            tasks += [Task("whole", name, file, scale["whole"]) for file in corpus_files]
            tasks += [Task("corpus", name, file, scale["corpus"]) for file in corpus_files]
        covered_files |= vocabulary.files
    return sorted(tasks, key=lambda task: task.section in ("corpus", "whole"))


def _split_section(section: str, vocabulary: str, count: int) -> Iterator[Task]:
    for start in range(0, count, TASK_SIZE):
        yield Task(section, vocabulary, start, min(TASK_SIZE, count - start))


def keep_seen_in(folder: Path | None) -> None:
    """Makes this process keep hashes of the answers that agree in a folder."""
    global _seen
    _seen = Seen(folder)


def run(task: Task) -> list[Outcome]:
    return SECTIONS[task.section](all_vocabularies()[task.vocabulary], task)


def _compare_batches(
    vocabulary: Vocabulary,
    references: Sequence[Reference],
    what: str,
    batches: Iterator[list[bytes]],
    *,
    by_columns: bool = False,
) -> list[Outcome]:
    outcomes = [Outcome(vocabulary.name, reference.name, what) for reference in references]
    at_levels = levels.new_outcome(vocabulary.name)
    for batch in batches:
        for outcome, reference in zip(outcomes, references, strict=True):
            _seen.encoding(outcome, vocabulary.load(), reference, batch, by_columns=by_columns)
        levels.encoding(at_levels, vocabulary.load(), batch, by_columns=by_columns)
    return [*outcomes, at_levels]


def compare_corpus(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    """Compares a file of the corpus by lines and by blocks; slow references get only some of the lines."""
    lines = texts.first_lines(DATA / "corpus" / str(task.part), task.count)
    compare = functools.partial(_compare_batches, vocabulary, vocabulary.corpus_references(), by_columns=True)
    step = vocabulary.line_step
    if step > 1:
        return compare(f"corpus: 1 line in {step}", texts.split_into_batches(lines[::step], BATCH_SIZE))
    blocks = texts.split_into_batches(texts.split_into_blocks(b"".join(lines), BLOCK_SIZE), BLOCK_BATCH_SIZE)
    by_lines = compare("corpus: lines", texts.split_into_batches(lines, BATCH_SIZE))
    return by_lines + compare("corpus: blocks of 4 KB", blocks)


def compare_whole_file(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    """Compares the start of a file of the corpus as one text; skips slow references."""
    if vocabulary.line_step > 1:
        return []
    with (DATA / "corpus" / str(task.part)).open("rb") as file:
        text = next(texts.split_into_blocks(file.read(task.count + 3), task.count))
    references = vocabulary.corpus_references()
    return _compare_batches(vocabulary, references, "corpus: whole files", iter([[text]]), by_columns=True)


def compare_valid_texts(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    generated = texts.generate_texts(seed(task), task.count, vocabulary.pieces())
    batches = texts.split_into_batches(generated, BATCH_SIZE)
    return _compare_batches(vocabulary, vocabulary.references(), "generated texts", batches)


def compare_invalid_utf8(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    generated = texts.generate_texts(seed(task), task.count, vocabulary.pieces(), has_invalid_utf8=True)
    references = [
        reference
        for reference in vocabulary.references()
        if isinstance(reference, (SentencePiece, Tiktoken, Twin, LlamaCppTwin))
        and not isinstance(reference, SentencePieceCharacters)
    ]
    batches = texts.split_into_batches(generated, BATCH_SIZE)
    return _compare_batches(vocabulary, references, "generated bytes, not UTF-8", batches)


def compare_decoded_ids(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    """Compares the decoding of random id sequences."""
    tokenizer = vocabulary.load()
    rows = list(texts.generate_ids(seed(task), task.count, all_ids(tokenizer), vocabulary.favourite_ids()))
    outcomes = [levels.new_outcome(vocabulary.name)]
    levels.decoding(outcomes[0], tokenizer, rows)
    for reference in vocabulary.references():
        if reference.decode(rows[:1]) is not None:
            outcome = Outcome(vocabulary.name, reference.name, "random ids, decoded", len(rows), sum(map(len, rows)))
            checks.decoding(outcome, tokenizer, reference, rows)
            outcomes.append(outcome)
    return outcomes


def all_ids(tokenizer: Tokenizer) -> list[int]:
    spec = tokenizer.spec
    return [*spec.vocab.ids.tolist(), *(token.id for token in spec.special)]


def compare_special_tokens(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    """Compares texts with special tokens: all of them allowed, and some of them allowed."""
    tokenizer = vocabulary.load()
    names = list(tokenizer.special_tokens)
    if not names:
        return []
    rng = random.Random(seed(task))
    outcomes = [Outcome(vocabulary.name, reference.name, "special tokens") for reference in vocabulary.references()]
    pieces = vocabulary.pieces()
    pieces = replace(pieces, pieces=[*pieces.pieces, *list(pieces.special_tokens) * 50])
    marked_texts: list[tuple[bytes, frozenset[str]]] = []
    for text in texts.generate_texts(seed(task), task.count, pieces):
        at = rng.randrange(len(text.decode()) + 1)
        name = rng.choice(names)
        marked_text = text.decode()[:at] + name + text.decode()[at:]
        allowed = frozenset(names) if rng.random() < 0.5 else frozenset([name, rng.choice(names)])
        for outcome, reference in zip(outcomes, vocabulary.references(), strict=True):
            _compare_marked_text(outcome, tokenizer, reference, marked_text, allowed)
        marked_texts.append((marked_text.encode(), allowed))
    at_levels = levels.new_outcome(vocabulary.name)
    levels.encoding_with_special(at_levels, tokenizer, marked_texts)
    return [outcome for outcome in (*outcomes, at_levels) if outcome.texts]


def _compare_marked_text(
    outcome: Outcome, tokenizer: Tokenizer, reference: Reference, text: str, allowed: frozenset[str]
) -> None:
    expected = _ids_with_special(
        reference, text, allowed, are_all_allowed=len(allowed) == len(tokenizer.special_tokens)
    )
    if expected is None:
        return
    ids = tokenizer.encode(text, special=allowed)
    outcome.texts += 1
    outcome.tokens += len(ids)
    if ids != expected:
        difference = checks.first_difference(ids, expected)
        outcome.add_difference(f"{text!r}, special={sorted(allowed)[:5]}: {difference}")


def _ids_with_special(
    reference: Reference, text: str, allowed: frozenset[str], *, are_all_allowed: bool
) -> list[int] | None:
    """Encodes a text with some special tokens allowed; returns None if the reference cannot do that."""
    if isinstance(reference, Tiktoken):
        return reference.encoding.encode(text, allowed_special=set(allowed), disallowed_special=())
    if isinstance(reference, HuggingFace):
        return reference.encode_with_special(text) if are_all_allowed else None
    if isinstance(reference, LlamaCppTwin) and reference.accepts(text.encode()):
        return reference.tokenizer.tokenize(text.encode(), parse_special=True) if are_all_allowed else None
    if isinstance(reference, Twin) and reference.accepts(text.encode()):
        return twins.encode(reference.spec, text, special=allowed)
    return None


def check_properties(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    outcome = Outcome(vocabulary.name, "itself", "properties of encoding")
    pieces = vocabulary.pieces()
    valid_texts = texts.generate_texts(seed(task), task.count * 3 // 4, pieces)
    invalid_texts = texts.generate_texts(seed(task) + 1, task.count // 4, pieces, has_invalid_utf8=True)
    at_levels = levels.new_outcome(vocabulary.name)
    for batch in texts.split_into_batches([*valid_texts, *invalid_texts], BATCH_SIZE):
        properties.encodings(outcome, vocabulary.load(), batch, vocabulary.lossless)
        levels.encoding(at_levels, vocabulary.load(), batch)
    return [outcome, at_levels]


def check_streams(vocabulary: Vocabulary, task: Task) -> list[Outcome]:
    outcome = Outcome(vocabulary.name, "itself", "streaming decoding")
    tokenizer = vocabulary.load()
    rows = list(texts.generate_ids(seed(task), task.count, all_ids(tokenizer), vocabulary.favourite_ids()))
    properties.streams(outcome, tokenizer, rows, seed(task))
    at_levels = levels.new_outcome(vocabulary.name)
    levels.decoding(at_levels, tokenizer, rows)
    return [outcome, at_levels]


def seed(task: Task) -> int:
    """Returns a seed that depends only on the task, so that every process generates the same texts."""
    return int.from_bytes(f"{task.section} {task.vocabulary} {task.part}".encode(), "big") % (1 << 61)


SECTIONS: dict[str, Callable[[Vocabulary, Task], list[Outcome]]] = {
    "corpus": compare_corpus,
    "whole": compare_whole_file,
    "valid": compare_valid_texts,
    "broken": compare_invalid_utf8,
    "ids": compare_decoded_ids,
    "marked": compare_special_tokens,
    "properties": check_properties,
    "streams": check_streams,
}
