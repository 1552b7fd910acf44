"""Trains WordPiece like ``tokenizers``: trains BPE with a prefix for entries inside words, and drops the merges."""

from __future__ import annotations

from collections.abc import Sequence

from .. import checks
from ..spec import BertNormalize, NormalizeStep, ReplaceInvalid, Spec
from . import options
from .bpe_huggingface import HuggingFaceBpe, wordpiece_spec
from .bpe_learning import ProgressFunction
from .counting import Counts
from .matching import check_counts
from .roles import check_roles, single_text, with_names, with_role_tokens
from .splits import Pattern, split_steps

_PAD, _UNK = "[PAD]", "[UNK]"
_BERT_TOKENS = (_PAD, _UNK, "[CLS]", "[SEP]", "[MASK]")


class WordPieceTrainer:
    """Trains WordPiece (``kind="wordpiece"``) like the WordPieceTrainer of ``tokenizers`` 0.23.3.

    By default, texts are first processed by BERT's normalizer and pre-tokenizer.

    * ``vocab_size``: the number of entries, including special tokens, which have the first ids. A list of sizes trains
      all sizes.
    * ``special_tokens``: the texts of special tokens. The default is BERT's five tokens, of which ``pad`` and ``unk``
      replace two.
    * ``unk_token``: the special token for words that the entries cannot spell.
    * ``bos``: the text of the special token that begins a text. The token is created unless ``special_tokens`` has it.
    * ``eos``: the text of the special token that ends a text.
    * ``pad``: the text of the special token for padding.
    * ``unk``: another name of ``unk_token``.
    * ``lowercase``: whether to convert texts to lower case.
    * ``strip_accents``: whether to remove accents; None is the value of ``lowercase``.
    * ``clean_text``: whether to remove control characters.
    * ``handle_chinese_chars``: whether each Chinese character is a separate word.
    * ``normalize``: the normalizer steps of a Spec, which replace the previous four options.
    * ``pattern``: the pattern that splits texts into words: a name, a regular expression, split steps of a Spec, or
      None for whole texts. The default splits at white space and punctuation.
    * ``min_frequency``: the minimum number of occurrences of a pair to merge.
    * ``initial_alphabet``: characters that are entries even if they do not occur.
    * ``limit_alphabet``: the maximum number of characters that are entries; the most frequent characters are kept.
    * ``continuing_subword_prefix``: the prefix of entries that do not begin a word.
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
        special_tokens: Sequence[str] = _BERT_TOKENS,
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
        unk: str | None = None,
        unk_token: str | None = None,
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
        self._is_single_size = isinstance(vocab_size, int)
        self.notes: list[str] = []
        self._text_by_role = check_roles(unk=unk, bos=bos, eos=eos, pad=pad)
        unk_token = single_text("unk", unk, {"unk_token": unk_token})
        special = options.check_special_tokens(special_tokens)
        if special_tokens == _BERT_TOKENS:
            special = {{_PAD: pad, _UNK: unk_token}.get(text) or text: None for text in special}
        self._algorithm = HuggingFaceBpe(
            sizes=options.check_sizes(vocab_size),
            special=with_role_tokens(special, self._text_by_role),
            min_frequency=checks.number("min_frequency", min_frequency, least=0),
            max_token_length=None,
            byte_level=False,
            unk_token=options.check_text("unk_token", _UNK if unk_token is None else unk_token),
            initial_alphabet=options.check_characters("initial_alphabet", initial_alphabet),
            limit_alphabet=checks.optional_number("limit_alphabet", limit_alphabet, least=0),
            prefix=options.check_text("continuing_subword_prefix", continuing_subword_prefix),
            suffix=options.check_text("end_of_word_suffix", end_of_word_suffix),
        )
        if normalize is None:
            strips_accents = lowercase if strip_accents is None else strip_accents
            flags = {"lowercase": lowercase, "clean_text": clean_text, "handle_chinese_chars": handle_chinese_chars}
            for name, value in {**flags, "strip_accents": strips_accents}.items():
                checks.flag(name, value)
            normalize = (BertNormalize(clean_text, handle_chinese_chars, strips_accents, lowercase),)
        split = split_steps(pattern, "isolated")
        expected_counts = Counts(
            normalize=(ReplaceInvalid(), *options.check_steps("normalize", normalize)), split=split
        )
        self.counts = expected_counts if counts is None else check_counts(counts, expected_counts, any_split=False)

    def push(self, texts: Sequence[bytes]) -> None:
        """Counts the words of further texts."""
        self.counts.push(texts)

    def finish(self, progress: ProgressFunction | None = None) -> Spec | list[Spec]:
        """Learns the entries and returns the Spec; returns a list of Specs if several sizes were requested."""
        counts, algorithm, roles = self.counts, self._algorithm, self._text_by_role
        learned_merges = algorithm.learn(counts, progress)
        self.notes = algorithm.notes(learned_merges)
        normalize = tuple(step for step in counts.normalize if step != ReplaceInvalid())
        specs = [
            with_names(wordpiece_spec(algorithm, learned_merges.truncate(size), normalize, counts.split), roles)
            for size in algorithm.sizes
        ]
        return specs[0] if self._is_single_size else specs
