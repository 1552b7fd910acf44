"""Tokenizers of every kind, and random texts for them, for the tests of traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import gguf_samples
import huggingface_samples
import polytok
from incremental_samples import SMALL, corpus_lines, vocabulary_pieces
from polytok.reference.walks import BpeWalk, Merged, Queued, Stale, UnigramWalk
from polytok.spec import Char, Kind, SentencePieceNormalize, Spec, Vocab, Word
from polytok.trace.data import NormalizeStep, Part, Piece
from test_huggingface_random import reference_of
from texts import generate_texts, is_utf8

LIMIT = 2_000
"""The number of bytes of the longest text, as walks take milliseconds for each kilobyte."""


def random_texts(tokenizer: polytok.Tokenizer, count: int, seed: int = 3) -> Iterator[bytes]:
    """Yields random texts of a vocabulary, some of which are not UTF-8, and lines of the corpus."""
    core = tokenizer._core
    special_tokens = [text for text, _ in core.special_tokens() if text]
    pieces = vocabulary_pieces(core, special_tokens, seed)
    yield from (text[:LIMIT] for text in generate_texts(seed, count, pieces))
    yield from (text[:LIMIT] for text in generate_texts(seed + 1, count // 4, pieces, has_invalid_utf8=True))
    yield from corpus_lines(count // 4, seed)


def random_options(rng: Random, tokenizer: polytok.Tokenizer) -> polytok.Options:
    """Returns random options: no special tokens, all of them, or some."""
    texts = [text for text in tokenizer.special_tokens if rng.random() < 0.5]
    special = rng.choice([(), "all", tuple(texts[:40])])
    return polytok.Options(add_special=rng.random() < 0.3, special=special)


def random_document(seed: int) -> polytok.Tokenizer:
    """Returns the tokenizer of a random `tokenizer.json`."""
    return polytok.load(reference_of(Random(seed)).to_str().encode(), format="huggingface")


def compare(tokenizer: polytok.Tokenizer, count: int, seed: int = 3) -> tuple[int, list[str]]:
    """Traces random texts and compares the ids with those of `encode`; returns the number of traces, and the
    differences. Texts that the vocabulary cannot cover must be refused with the same error."""
    rng, traced, differences = Random(seed), 0, []
    for text in random_texts(tokenizer, count, seed):
        options = random_options(rng, tokenizer)
        try:
            ids: list[int] | str = tokenizer.encode(text, options=options)
        except polytok.PolytokError as error:
            ids = str(error)
        try:
            trace = tokenizer.trace(text, options=options)
            trace_ids: list[int] | str = list(trace.ids)
            differences += [f"{text!r}, {options}: {what}" for what in contradictions(trace)]
        except polytok.PolytokError as error:
            trace_ids = str(error)
        traced += 1
        if ids != trace_ids:
            differences.append(f"{text!r}, {options}: {trace_ids!r:.200} instead of {ids!r:.200}")
    return traced, differences


def contradictions(trace: polytok.Trace) -> Iterator[str]:
    """Yields what does not fit together in a trace."""
    for part in trace.parts:
        text = trace.text[part.start : part.end]
        for step in part.normalize:
            if step.before != text or _changed(step) != step.after:
                yield f"{step.name}: {step!r}"
            text = step.after
        if text != part.normalized:
            yield f"normalized: {part.normalized!r} instead of {text!r}"
        for piece in part.pieces:
            yield from _contradictions_of_piece(trace, part, piece)
    if trace.ids != tuple(token.id for token in trace.tokens):
        yield "ids"


def _changed(step: NormalizeStep) -> bytes:
    """Returns the text before a step with the changes of the step."""
    result, at = b"", 0
    for change in step.changes:
        result += step.before[at : change.before_start] + step.after[change.after_start : change.after_end]
        at = change.before_end
    return result + step.before[at:]


def _contradictions_of_piece(trace: polytok.Trace, part: Part, piece: Piece) -> Iterator[str]:
    keeps_text = not any(step.rewrites for step in part.split) and is_utf8(part.normalized)
    if keeps_text and part.normalized[piece.normalized_start : piece.normalized_end] != piece.text:
        yield f"range of {piece!r}"
    tokens = [trace.tokens[index] for index in piece.tokens]
    if [token.id for token in tokens][len(tokens) - len(piece.ids) :] != list(piece.ids):
        yield f"tokens of {piece!r}"
    walk = piece.walk
    if walk is None:
        yield f"no walk of {piece!r}"
    elif isinstance(walk, BpeWalk):
        merges = [event for event in walk.events if isinstance(event, Merged)]
        for step, (merge, symbol) in enumerate(zip(merges, walk.symbols[walk.initial_count :], strict=True), start=1):
            if (merge.step, symbol.number, symbol.children) != (step, merge.result, (merge.left, merge.right)):
                yield f"{merge!r} and {symbol!r}"
        queued = sum(isinstance(event, Queued) for event in walk.events)
        stale = sum(isinstance(event, Stale) for event in walk.events)
        if queued != stale + len(merges) or len(walk.final) != walk.initial_count - len(merges):
            yield f"events of {walk!r}"
    elif isinstance(walk, UnigramWalk) and b"".join(walk.edges[index].piece for index in walk.best) != piece.text:
        yield f"best path of {walk!r}"


def _whole_spec(model: Word | Char) -> Spec:
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"<s>", 1, 0.0, Kind.CONTROL), (b"[x y]", 2, 0.0, Kind.USER_DEFINED)]
    texts = ["▁", "a", "b", "▁a", "▁ab", "é", "▁the", "th"]
    rows += [(text.encode(), 3 + number, 0.0, Kind.NORMAL) for number, text in enumerate(texts)]
    return Spec(Vocab.from_rows(rows), model, normalize=(SentencePieceNormalize(),), unknown="unk")


def _of_huggingface(kind: str, name: str) -> Callable[[], polytok.Tokenizer]:
    return lambda: polytok.load(huggingface_samples.sample(kind, name).to_str().encode(), format="huggingface")


def _of_gguf(keys: dict[str, object]) -> Callable[[], polytok.Tokenizer]:
    return lambda: polytok.load(gguf_samples.file(keys), format="gguf")


SAMPLES: dict[str, Callable[[], polytok.Tokenizer]] = {
    "default": lambda: polytok.load("default"),
    **{f"small {name}": (lambda create=create: polytok.Tokenizer(create())) for name, create in SMALL.items()},  # type: ignore[misc]
    "word": lambda: polytok.Tokenizer(_whole_spec(Word())),
    "char": lambda: polytok.Tokenizer(_whole_spec(Char())),
    **{f"huggingface {kind} {name}": _of_huggingface(kind, name) for kind, name in huggingface_samples.SAMPLES},
    **{
        f"gguf {family}": _of_gguf(getattr(gguf_samples, family)())
        for family in ("spm", "bpe", "gemma", "wpm", "ugm", "rwkv", "plamo2")
    },
}
"""Functions that create a tokenizer of each kind, by name."""
