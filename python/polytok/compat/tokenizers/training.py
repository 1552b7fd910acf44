"""Trains the models of tokenizers 0.23 with polytok: reads texts, counts words, and learns the entries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ... import _core
from ...resources import processors
from ...spec import Bpe, ReplaceInvalid
from ...training import Counts, TrainingReport, specs
from . import alone
from .added_token import AddedToken
from .component import Component
from .steps import Steps
from .vocabulary import AddedTokens

_BATCH_TEXTS = 1 << 12


def texts_of_files(files: object) -> Iterator[str]:
    """Yields the lines of files, with their ends; raises a plain Exception for a file that cannot be read."""
    for path in _paths(files):
        try:
            with open(path, encoding="utf-8", newline="\n") as file:
                yield from file
        except UnicodeDecodeError:
            raise Exception("stream did not contain valid UTF-8") from None
        except OSError as error:
            raise Exception(f"{error.strerror} (os error {error.errno})") from None


def _paths(files: Any) -> Sequence[str]:
    if isinstance(files, str):
        raise TypeError("Can't extract `str` to `Vec`")
    if not hasattr(files, "__len__") or not hasattr(files, "__getitem__"):
        raise TypeError(f"'{type(files).__name__}' object is not an instance of 'Sequence'")
    return [_text(path) for path in files]


def texts_of(items: Iterable[Any]) -> Iterator[str]:
    """Yields the texts of an iterable of texts, and of iterables of texts."""
    for item in items:
        if isinstance(item, str):
            yield item
        else:
            yield from map(_text, item)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"'{type(value).__name__}' object is not an instance of 'str'")
    return value


def count_words(
    texts: Iterable[str],
    normalizer: Component | None,
    pre_tokenizer: Component | None,
    steps: Steps,
    added: AddedTokens,
) -> list[tuple[bytes, int]]:
    """Returns the pieces of texts that a normalizer and a pre-tokenizer make, the most frequent first.

    An added token is a piece too. ``steps`` makes the pieces of the texts that the engine does not cut.
    """
    needs_steps: Callable[[str], bool]
    if any(part is not None and part.in_python() for part in (normalizer, pre_tokenizer)):
        counts, needs_steps = Counts(), _always
    else:
        documents = [None if part is None else part.json() for part in (normalizer, pre_tokenizer)]
        normalize, split = alone.steps(*documents)
        counts = Counts(normalize=normalize, split=split)
        needs_steps = _occurrence_of(list(added.by_id.values()), normalizer)
    cut: Counter[str] = Counter()
    remaining = iter(texts)
    while batch := list(islice(remaining, _BATCH_TEXTS)):
        counts.push([text.encode() for text in batch if not needs_steps(text)])
        for text in filter(needs_steps, batch):
            cut.update(piece.normalized.normalized for piece in steps.pieces(text).pieces)
    counts.add((piece.encode(), count) for piece, count in cut.items())
    return counts.words("most_frequent").to_list()


def _always(text: str) -> bool:
    return True


def _occurrence_of(tokens: Sequence[AddedToken], normalizer: Component | None) -> Callable[[str], bool]:
    """Returns a function that reports whether an added token can occur in a text."""
    if not tokens:
        return lambda text: False
    if normalizer is not None and any(token.normalized for token in tokens):
        return _always
    pattern = re.compile("|".join(re.escape(token.content) for token in tokens))
    return lambda text: pattern.search(text) is not None


def learn_bpe(
    words: list[tuple[bytes, int]], options: Mapping[str, Any]
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Returns the ids of the entries and the merges. ``options`` are the options of BpeTrainer."""
    counts = Counts(normalize=(ReplaceInvalid(),))
    counts.add(words)
    (spec,) = specs(
        counts,
        "bpe",
        trainer="huggingface",
        byte_level=False,
        pattern=None,
        vocab_size=max(options["vocab_size"], 1),
        min_frequency=options["min_frequency"],
        special_tokens=[token.content for token in options["special_tokens"]],
        limit_alphabet=options["limit_alphabet"],
        initial_alphabet=options["initial_alphabet"],
        continuing_subword_prefix=options["continuing_subword_prefix"] or "",
        end_of_word_suffix=options["end_of_word_suffix"] or "",
        max_token_length=options["max_token_length"],
        report=TrainingReport(),  # the original says nothing about a vocabulary that is smaller
    )
    assert isinstance(spec.model, Bpe) and spec.model.merges is not None
    pieces = [piece.decode() for piece in spec.vocab.pieces()]
    merges = [(pieces[left], pieces[right]) for left, right, _ in spec.model.merges.tolist()]
    return {piece: id for id, piece in enumerate(pieces)}, merges


def learn_words(words: list[tuple[bytes, int]], options: Mapping[str, Any]) -> dict[str, int]:
    """Returns the ids of special tokens and of the most frequent words. ``options`` are those of WordLevelTrainer."""
    texts = [token.content for token in options["special_tokens"]]
    texts += [word.decode() for word, count in words if count >= options["min_frequency"]]
    ids = {text: id for id, text in enumerate(texts[: options["vocab_size"]])}
    return dict(sorted(ids.items(), key=lambda item: item[1]))


_LOST_CHARACTER_STEP = 0.0001


def learn_unigram(words: list[tuple[bytes, int]], options: Mapping[str, Any]) -> tuple[list[list[Any]], int | None]:
    """Returns the entries with their scores, and the id of the unknown entry. ``options`` are those of UnigramTrainer.

    The original adds numbers in the order of a hash table, so its scores differ between runs in their last digits, and
    with them the order of pieces that are almost equally good. The engine's order is fixed.
    """
    characters = sorted({*options["initial_alphabet"], *(char for word, _ in words for char in word.decode())})
    if len(characters) > options["vocab_size"]:
        raise Exception("The vocabulary is not large enough to contain all chars")
    learned = _core.train_huggingface_unigram(
        _core.Words(words),
        options["vocab_size"],
        options["seed_size"],
        options["max_piece_length"],
        options["shrinking_factor"],
        options["n_sub_iterations"],
        processors(),
    )
    special, unk_id = [token.content for token in options["special_tokens"]], None
    if options["unk_token"] is not None:
        if options["unk_token"] not in special:
            special.insert(0, options["unk_token"])
        unk_id = special.index(options["unk_token"])
    pieces = {piece.decode(): score for piece, score in learned}
    entries = _fill(pieces, characters, options["vocab_size"] - len(special))
    return [[text, 0.0] for text in special] + [[text, score] for text, score in entries], unk_id


def _fill(pieces: Mapping[str, float], characters: Sequence[str], size: int) -> list[tuple[str, float]]:
    """Returns all characters and the first pieces, the best first.

    A character that is no piece gets the lowest score of all pieces, and each further one a little more. The original
    compares the number of entries with ``size`` only after it has added a piece, so it takes all pieces if there are
    as many characters.
    """
    lost = [char for char in characters if char not in pieces]
    lowest = min(pieces.values(), default=0.0)
    entries = {char: pieces[char] for char in characters if char in pieces}
    entries |= {char: lowest + number * _LOST_CHARACTER_STEP for number, char in enumerate(lost)}
    others = [(text, score) for text, score in pieces.items() if text not in entries]
    room = size - len(entries)
    entries |= dict(others[:room] if room > 0 else others)
    return sorted(entries.items(), key=lambda entry: -entry[1])
