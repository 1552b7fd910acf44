"""Trains byte-pair encoding, which repeatedly merges the most frequent pair of adjacent tokens to a new entry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, get_args

from .. import checks
from ..errors import ArgumentError
from ..keywords import keyword
from ..spec import NormalizeStep, ReplaceInvalid, Spec
from . import bpe_huggingface, options
from .bpe_bytes import PlainByteBpe
from .bpe_huggingface import HuggingFaceBpe
from .bpe_learning import ProgressFunction
from .counting import Counts
from .matching import check_counts
from .roles import ROLES, check_roles, single_text, with_names, with_role_tokens
from .splits import Pattern, split_steps

TrainerName = Literal["polytok", "minbpe", "huggingface"]

_TRAINER_NAMES = get_args(TrainerName)
_BYTE_LEVEL_ALPHABET = tuple(chr(code) for code in (*range(33, 127), *range(161, 173), *range(174, 324)))


class BpeTrainer:
    """Trains byte-pair encoding (``kind="bpe"``).

    * ``vocab_size``: the number of entries: the 256 bytes, the merges, and special tokens that are passed as a list. A
      list of sizes trains all sizes in a single run.
    * ``trainer``: the program to train like, which decides which of equally frequent pairs merges first. ``"polytok"``
      merges the pair whose left token has the lowest id, then the lowest right id; the order of the texts does not
      matter. ``"minbpe"`` merges the pair that occurs first in the current state of the texts, as minbpe does.
      ``"huggingface"`` trains like the BpeTrainer of ``tokenizers`` 0.23.3, with the same options and result: its rule
      is that of ``"polytok"``, with the ids that this trainer assigns.
    * ``pattern``: the pattern that splits texts into words: a name (``gpt2``, ``cl100k``, ``o200k``, ``llama3``,
      ``qwen2``, ``qwen35``, ``default``, tokenizers' ``whitespace``, ``whitespace_split``, ``bert``), a regular
      expression whose matches are the words, split steps of a Spec, or None for whole texts. ``"auto"`` is ``gpt2``
      with ``trainer="huggingface"`` and ``o200k`` otherwise.
    * ``special_tokens``: a list of texts, which get the last ids (with ``trainer="huggingface"`` the first ids), or a
      mapping of texts to ids, which are not counted in ``vocab_size``. With ``trainer="polytok"``, special tokens are
      removed from the texts.
    * ``bos``: the text of the special token that begins a text. The token is created unless ``special_tokens`` has it.
    * ``eos``: the text of the special token that ends a text.
    * ``pad``: the text of the special token for padding.
    * ``unk``: the text of the special token for unknown text.
    * ``min_frequency``: the minimum number of occurrences of a pair to merge.
    * ``max_token_length``: the maximum number of bytes of an entry. With ``trainer="huggingface"``, tokenizers' rule
      applies: a merge of more than two characters must be shorter than ``max_token_length``.
    * ``verbose``: a function that is called with a line of text for each merge, in the form of minbpe.

    These options need ``trainer="huggingface"``:

    * ``byte_level``: whether words consist of bytes (the pre-tokenizer ByteLevel) and not of characters.
    * ``normalize``: the normalizer steps of a Spec, which are applied before texts are split.
    * ``unk_token``: the entry for unknown characters, if words consist of characters. ``unk`` sets it too, and makes
      it a special token.
    * ``initial_alphabet``: characters that are entries even if they do not occur. The default is the characters of all
      bytes; without ``byte_level``, it is empty.
    * ``limit_alphabet``: the maximum number of characters that are entries; the most frequent characters are kept.
    * ``continuing_subword_prefix``: the prefix of entries that do not begin a word.
    * ``end_of_word_suffix``: the suffix of entries that end a word.

    >>> trainer = BpeTrainer(vocab_size=258, trainer="minbpe", pattern=None, verbose=print)
    >>> trainer.push([b"aaabdaaabac"])
    >>> spec = trainer.finish()
    merge 1/2: (97, 97) -> 256 (b'aa') had 4 occurrences
    merge 2/2: (256, 97) -> 257 (b'aaa') had 2 occurrences
    """

    counted = frozenset({"trainer", "pattern", "special_tokens", *ROLES, "byte_level", "normalize"})

    def __init__(
        self,
        *,
        vocab_size: int | Sequence[int],
        trainer: TrainerName = "polytok",
        pattern: Pattern = "auto",
        special_tokens: Sequence[str] | Mapping[str, int] = (),
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
        unk: str | None = None,
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
        checks.one_of("trainer", trainer, _TRAINER_NAMES)
        sizes = options.check_sizes(vocab_size)
        self._text_by_role = check_roles(unk=unk, bos=bos, eos=eos, pad=pad)
        special = with_role_tokens(options.check_special_tokens(special_tokens), self._text_by_role)
        checks.number("min_frequency", min_frequency, least=0)
        checks.optional_number("max_token_length", max_token_length, least=2)
        self.keeps_bytes = checks.flag("byte_level", byte_level)
        self.notes: list[str] = []
        self._is_single_size, self._verbose = isinstance(vocab_size, int), verbose
        affixes = (
            options.check_text("continuing_subword_prefix", continuing_subword_prefix),
            options.check_text("end_of_word_suffix", end_of_word_suffix),
        )
        self._algorithm: PlainByteBpe | HuggingFaceBpe
        if trainer == "huggingface":
            self._algorithm = HuggingFaceBpe(
                sizes=sizes,
                special=special,
                min_frequency=min_frequency,
                max_token_length=max_token_length,
                byte_level=byte_level,
                unk_token=_unknown_entry(unk, unk_token),
                initial_alphabet=_alphabet(initial_alphabet, byte_level),
                limit_alphabet=checks.optional_number("limit_alphabet", limit_alphabet, least=0),
                prefix=affixes[0],
                suffix=affixes[1],
            )
        else:
            texts = {"continuing_subword_prefix": affixes[0], "end_of_word_suffix": affixes[1], "normalize": normalize}
            alphabets = {"unk_token": unk_token, "initial_alphabet": initial_alphabet, "limit_alphabet": limit_alphabet}
            _refuse_huggingface_options(trainer, byte_level, texts, alphabets)
            self._algorithm = PlainByteBpe(sizes, special, trainer == "minbpe", min_frequency, max_token_length)
        if verbose is not None and not callable(verbose):
            raise ArgumentError(
                f"{keyword('verbose', verbose)} is not a function: give print, or another function of one text"
            )
        expected_counts = _create_counts(
            trainer, pattern, options.check_steps("normalize", normalize), byte_level, special
        )
        self.counts = (
            expected_counts if counts is None else check_counts(counts, expected_counts, any_split=pattern == "auto")
        )

    def push(self, texts: Sequence[bytes]) -> None:
        """Counts the words of further texts."""
        self.counts.push(texts)

    def finish(self, progress: ProgressFunction | None = None) -> Spec | list[Spec]:
        """Learns the merges and returns the Spec; returns a list of Specs if several sizes were requested."""
        algorithm, split = self._algorithm, self.counts.split
        learned_merges = algorithm.learn(self.counts, progress, self._verbose)
        if isinstance(algorithm, PlainByteBpe):
            specs = algorithm.specs(learned_merges, split)
        else:
            self.notes = algorithm.notes(learned_merges)
            normalize = tuple(step for step in self.counts.normalize if step != ReplaceInvalid())
            specs = [
                bpe_huggingface.bpe_spec(algorithm, learned_merges.truncate(size), normalize, split)
                for size in algorithm.sizes
            ]
        specs = [with_names(spec, self._text_by_role) for spec in specs]
        return specs[0] if self._is_single_size else specs


def _unknown_entry(unk: str | None, unk_token: str | None) -> str | None:
    """Returns the text of the entry for unknown characters."""
    if unk_token is not None:
        options.check_text("unk_token", unk_token)
    return single_text("unk", unk, {"unk_token": unk_token})


def _alphabet(initial_alphabet: Sequence[str] | None, byte_level: bool) -> tuple[str, ...]:
    """Returns the characters that are entries even if they do not occur."""
    default_alphabet = _BYTE_LEVEL_ALPHABET if byte_level else ()
    return options.check_characters(
        "initial_alphabet", default_alphabet if initial_alphabet is None else initial_alphabet
    )


def _refuse_huggingface_options(
    trainer: TrainerName, byte_level: bool, texts: Mapping[str, object], alphabets: Mapping[str, object]
) -> None:
    """Raises `ArgumentError` for options that need ``trainer="huggingface"``. One of ``texts`` is given if it is not
    empty, and one of ``alphabets`` if it is not None."""
    given = [name for name, value in texts.items() if value]
    given += [name for name, value in alphabets.items() if value is not None]
    if given or not byte_level:
        option = f"{given[0]}=" if given else "byte_level=False"
        raise ArgumentError(f"{option} needs trainer='huggingface': trainer={trainer!r} merges plain bytes")


def _create_counts(
    trainer: TrainerName,
    pattern: Pattern,
    normalize: Sequence[NormalizeStep],
    byte_level: bool,
    special: Collection[str],
) -> Counts:
    if trainer != "huggingface":
        split = split_steps("o200k" if pattern == "auto" else pattern, "matches")
        return Counts(split=split, special_tokens=tuple(special) if trainer == "polytok" else ())
    split = split_steps("gpt2" if pattern == "auto" else pattern, "isolated")
    repair_steps = () if byte_level and not normalize else (ReplaceInvalid(),)
    return Counts(normalize=(*repair_steps, *normalize), split=split)
