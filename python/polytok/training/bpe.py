"""Byte-pair encoding: repeatedly merges the most frequent pair of adjacent tokens into an entry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

from .. import checks
from ..errors import ArgumentError
from ..spec import NormalizeStep, ReplaceInvalid, Spec
from . import bpe_huggingface, options
from .bpe_bytes import PlainBytes
from .bpe_huggingface import HuggingFace
from .bpe_learning import Progress
from .counting import Counts
from .matching import checked
from .splits import Pattern, steps_of

Ties = Literal["ids", "minbpe", "huggingface"]

_TIES = ("ids", "minbpe", "huggingface")
_BYTE_ALPHABET = tuple(chr(code) for code in (*range(33, 127), *range(161, 173), *range(174, 324)))


class BpeTrainer:
    """Trains byte-pair encoding (``kind="bpe"``).

    * ``vocab_size``: the number of all entries: the 256 bytes, the merges, and special tokens that are given as a list.
      Several sizes give one result each from a single run.
    * ``ties``: which of equally frequent pairs is merged first. ``"ids"``: the one whose left half has the lower id,
      then the right half; earlier merges go first, and the order of the texts does not matter. ``"minbpe"``: the one
      that occurs first in the texts in their current state; the merges are minbpe's. ``"huggingface"``: as ``"ids"``,
      but numbered as in tokenizers' BpeTrainer 0.23.3; the result is the same as there, and so are the options.
    * ``pattern``: splits texts into words: a name (``gpt2``, ``cl100k``, ``o200k``, ``llama3``, ``default``,
      tokenizers' ``whitespace``, ``whitespace_split``, ``bert``), a regular expression whose matches are the words,
      split steps of a Spec, or None for whole texts; ``"auto"`` is ``o200k``, and ``gpt2`` with ``ties="huggingface"``.
    * ``special_tokens``: texts, which get the last ids (the first with ``ties="huggingface"``), or texts with ids of
      your own, which do not count. With ``ties="ids"`` they are removed from the texts.
    * ``min_frequency``: pairs that occur less often are not merged.
    * ``max_token_length``: the longest entry, in bytes; with ``ties="huggingface"`` as there: a merge of more than two
      characters must be shorter than this.
    * ``verbose``: a function that is called with a line for each merge, as minbpe prints it.

    And only with ``ties="huggingface"``:

    * ``byte_level``: entries are of bytes (the pre-tokenizer ByteLevel), not of characters.
    * ``normalize``: steps of a Spec that are applied before the texts are split.
    * ``unk_token``: the entry for unknown characters, if entries are of characters.
    * ``initial_alphabet``: characters that are entries whether they occur or not; None is all bytes, or none without
      ``byte_level``.
    * ``limit_alphabet``: the number of characters to keep, the most frequent ones.
    * ``continuing_subword_prefix``: the prefix of entries that do not start a word.
    * ``end_of_word_suffix``: the suffix of entries that end a word.

    >>> trainer = BpeTrainer(vocab_size=258, ties="minbpe", pattern=None, verbose=print)
    >>> trainer.push([b"aaabdaaabac"])
    >>> spec = trainer.finish()
    merge 1/2: (97, 97) -> 256 (b'aa') had 4 occurrences
    merge 2/2: (256, 97) -> 257 (b'aaa') had 2 occurrences
    """

    counted = frozenset({"ties", "pattern", "special_tokens", "byte_level", "normalize"})

    def __init__(
        self,
        *,
        vocab_size: int | Sequence[int],
        ties: Ties = "ids",
        pattern: Pattern = "auto",
        special_tokens: Sequence[str] | Mapping[str, int] = (),
        min_frequency: int = 0,
        max_token_length: int | None = None,
        verbose: Callable[[str], object] | None = None,
        byte_level: bool = True,
        normalize: Sequence[NormalizeStep] = (),
        unk_token: str | None = None,
        initial_alphabet: Sequence[str] | None = None,
        limit_alphabet: int | None = None,
        continuing_subword_prefix: str = "",
        end_of_word_suffix: str = "",
        counts: Counts | None = None,
    ) -> None:
        checks.one_of("ties", ties, _TIES)
        sizes, special = options.sizes(vocab_size), options.special_tokens(special_tokens)
        checks.number("min_frequency", min_frequency, least=0)
        checks.optional_number("max_token_length", max_token_length, least=2)
        self.keeps_bytes = options.flag("byte_level", byte_level)
        self.notes: list[str] = []
        self._is_one, self._verbose = isinstance(vocab_size, int), verbose
        affixes = (
            options.text("continuing_subword_prefix", continuing_subword_prefix),
            options.text("end_of_word_suffix", end_of_word_suffix),
        )
        self._rules: PlainBytes | HuggingFace
        if ties == "huggingface":
            default = _BYTE_ALPHABET if byte_level else ()
            alphabet = options.characters("initial_alphabet", default if initial_alphabet is None else initial_alphabet)
            if unk_token is not None:
                options.text("unk_token", unk_token)
            limits = (checks.optional_number("limit_alphabet", limit_alphabet, least=0), *affixes)
            common = (sizes, special, min_frequency, max_token_length)
            self._rules = HuggingFace(*common, byte_level, unk_token, alphabet, *limits)
        else:
            given = (unk_token, initial_alphabet, limit_alphabet)
            if not byte_level or any((normalize, *affixes)) or any(value is not None for value in given):
                raise ArgumentError(f"ties={ties!r} merges plain bytes: alphabets and affixes take ties='huggingface'")
            self._rules = PlainBytes(sizes, special, ties == "minbpe", min_frequency, max_token_length)
        if verbose is not None and not callable(verbose):
            raise ArgumentError(f"verbose={verbose!r} is no function: give print, or another that takes a line")
        expected = _counts(ties, pattern, options.steps("normalize", normalize), byte_level, special)
        self.counts = expected if counts is None else checked(counts, expected, any_split=pattern == "auto")

    def push(self, texts: Sequence[bytes]) -> None:
        """Counts the words of some documents."""
        self.counts.push(texts)

    def finish(self, progress: Progress | None = None) -> Spec | list[Spec]:
        """Learns the merges: returns a Spec, or one for each requested size."""
        rules, split = self._rules, self.counts.split
        learnt = rules.learn(self.counts, progress, self._verbose)
        if isinstance(rules, PlainBytes):
            specs = rules.specs(learnt, split)
        else:
            self.notes = rules.notes(learnt)
            normalize = tuple(step for step in self.counts.normalize if step != ReplaceInvalid())
            specs = [bpe_huggingface.bpe_spec(rules, learnt.cut(size), normalize, split) for size in rules.sizes]
        return specs[0] if self._is_one else specs


def _counts(
    ties: Ties, pattern: Pattern, normalize: Sequence[NormalizeStep], byte_level: bool, special: Collection[str]
) -> Counts:
    if ties != "huggingface":
        split = steps_of("o200k" if pattern == "auto" else pattern, "matches")
        return Counts(split=split, special_tokens=tuple(special) if ties == "ids" else ())
    split = steps_of("gpt2" if pattern == "auto" else pattern, "isolated")
    repair = () if byte_level and not normalize else (ReplaceInvalid(),)
    return Counts(normalize=(*repair, *normalize), split=split)
