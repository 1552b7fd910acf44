"""WordPiece, as tokenizers trains it: BPE whose entries inside words begin with a prefix; the merges are discarded."""

from __future__ import annotations

from collections.abc import Sequence

from .. import checks
from ..spec import BertNormalize, NormalizeStep, ReplaceInvalid, Spec
from . import options
from .bpe_huggingface import HuggingFace, wordpiece_spec
from .bpe_learning import Progress
from .counting import Counts
from .matching import checked
from .splits import Pattern, steps_of

_BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class WordPieceTrainer:
    """Trains WordPiece (``kind="wordpiece"``), as tokenizers' WordPieceTrainer 0.23.3 does, by default after BERT's
    normalizer and pre-tokenizer.

    * ``vocab_size``: all entries, including special tokens, which come first. Several sizes give one result each.
    * ``special_tokens``: texts.
    * ``unk_token``: the special token that replaces words that cannot be covered.
    * ``lowercase``: lower-case the text.
    * ``strip_accents``: remove accents; None does the same as ``lowercase``.
    * ``clean_text``: remove control characters.
    * ``handle_chinese_chars``: make each Chinese character a word of its own.
    * ``normalize``: steps of a Spec instead of these four.
    * ``pattern``: splits texts into words, by default at white space and punctuation: a name, a regular expression,
      split steps of a Spec, or None for whole texts.
    * ``min_frequency``: pairs that occur less often are not merged.
    * ``initial_alphabet``: characters that are entries whether they occur or not.
    * ``limit_alphabet``: the number of characters to keep, the most frequent ones.
    * ``continuing_subword_prefix``: the prefix of entries that do not start a word.
    * ``end_of_word_suffix``: the suffix of entries that end a word.

    >>> trainer = WordPieceTrainer(vocab_size=14)
    >>> trainer.push([b"low lower lowest"])
    >>> [piece.decode() for piece in trainer.finish().vocab.pieces()[5:]]
    ['e', 'l', 'o', 'r', 's', 't', 'w', '##e', '##o', '##r', '##s', '##t', '##w']
    """

    counted = frozenset({"lowercase", "strip_accents", "clean_text", "handle_chinese_chars", "normalize", "pattern"})

    def __init__(
        self,
        *,
        vocab_size: int | Sequence[int],
        special_tokens: Sequence[str] = _BERT,
        unk_token: str = "[UNK]",
        lowercase: bool = True,
        strip_accents: bool | None = None,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        normalize: Sequence[NormalizeStep] | None = None,
        pattern: Pattern = "bert",
        min_frequency: int = 0,
        initial_alphabet: Sequence[str] = (),
        limit_alphabet: int | None = None,
        continuing_subword_prefix: str = "##",
        end_of_word_suffix: str = "",
        counts: Counts | None = None,
    ) -> None:
        self._is_one = isinstance(vocab_size, int)
        self.notes: list[str] = []
        self._rules = HuggingFace(
            sizes=options.sizes(vocab_size),
            special=options.special_tokens(special_tokens),
            min_frequency=checks.number("min_frequency", min_frequency, least=0),
            max_token_length=None,
            byte_level=False,
            unk_token=options.text("unk_token", unk_token),
            initial_alphabet=options.characters("initial_alphabet", initial_alphabet),
            limit_alphabet=checks.optional_number("limit_alphabet", limit_alphabet, least=0),
            prefix=options.text("continuing_subword_prefix", continuing_subword_prefix),
            suffix=options.text("end_of_word_suffix", end_of_word_suffix),
        )
        if normalize is None:
            accents = lowercase if strip_accents is None else strip_accents
            flags = {"lowercase": lowercase, "clean_text": clean_text, "handle_chinese_chars": handle_chinese_chars}
            for name, value in {**flags, "strip_accents": accents}.items():
                options.flag(name, value)
            normalize = (BertNormalize(clean_text, handle_chinese_chars, accents, lowercase),)
        split = steps_of(pattern, "isolated")
        expected = Counts(normalize=(ReplaceInvalid(), *options.steps("normalize", normalize)), split=split)
        self.counts = expected if counts is None else checked(counts, expected, any_split=False)

    def push(self, texts: Sequence[bytes]) -> None:
        """Counts the words of some documents."""
        self.counts.push(texts)

    def finish(self, progress: Progress | None = None) -> Spec | list[Spec]:
        """Learns the entries: returns a Spec, or one for each requested size."""
        counts, rules = self.counts, self._rules
        learnt = rules.learn(counts, progress)
        self.notes = rules.notes(learnt)
        normalize = tuple(step for step in counts.normalize if step != ReplaceInvalid())
        specs = [wordpiece_spec(rules, learnt.cut(size), normalize, counts.split) for size in rules.sizes]
        return specs[0] if self._is_one else specs
