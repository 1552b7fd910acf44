"""BPE and WordPiece like ``tokenizers`` 0.23.3: the first ids are special tokens, then the alphabet, then merges.

The result of that package can depend on the order of a hash table, so that two runs differ. This module has a fixed
order instead (crates/polytok-core/src/train/bpe/alphabet.rs). Unlike in that package, counts do not overflow, and a
pair that no longer occurs is never merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .. import _core
from ..errors import ArgumentError
from ..keywords import keyword
from ..spec import (
    Bpe,
    BpeDecode,
    ByteLevel,
    ByteLevelDecode,
    BytesDecode,
    ChainDecode,
    Decode,
    Kind,
    Model,
    NormalizeStep,
    Origin,
    ReplaceInvalid,
    Spec,
    SpecialToken,
    SplitStep,
    Vocab,
    WordPiece,
    WordPieceDecode,
)
from .bpe_learning import (
    MEMORY_LIMIT_NOTE,
    LearnedMerges,
    LearningOptions,
    PrintFunction,
    ProgressFunction,
    SymbolOptions,
    learn,
)
from .counting import Counts

_MAX_WORD_CHARS = 100
"""The maximum length of a word in WordPiece of tokenizers, in characters. Longer words are unknown."""


@dataclass(frozen=True, slots=True)
class HuggingFaceBpe:
    """The checked options, with the names that ``tokenizers`` uses.

    ``initial_alphabet`` has texts whose first characters are entries. With ``byte_level``, characters of GPT-2's byte
    table represent bytes. ``prefix`` and ``suffix`` are ``continuing_subword_prefix`` and ``end_of_word_suffix``.
    """

    sizes: tuple[int, ...]
    special: Mapping[str, int | None]
    min_frequency: int
    max_token_length: int | None
    byte_level: bool
    unk_token: str | None
    initial_alphabet: tuple[str, ...]
    limit_alphabet: int | None
    prefix: str
    suffix: str

    def __post_init__(self) -> None:
        if texts_with_ids := [text for text, id in self.special.items() if id is not None]:
            raise ArgumentError(
                f"{keyword('special_tokens')}: {texts_with_ids[0]!r} has an id, but special tokens get the first "
                "ids: give a list"
            )
        if self.byte_level and (self.prefix or self.suffix):
            raise ArgumentError(
                f"{keyword('byte_level', True)} does not allow {keyword('continuing_subword_prefix')} and "
                f"{keyword('end_of_word_suffix')}: remove them"
            )

    @property
    def symbol_options(self) -> SymbolOptions:
        """The symbols that words consist of before the first merge."""
        return SymbolOptions("byte_level" if self.byte_level else "chars", self.prefix, self.suffix)

    def alphabet(self, words: _core.WordCounter) -> list[bytes]:
        """Returns the texts of the first entries: special tokens and the alphabet of the words."""
        return _core.bpe_alphabet(
            words,
            self.symbol_options,
            list(self.special),
            [text[0] for text in self.initial_alphabet],
            self.limit_alphabet,
        )

    def learn(
        self, counts: Counts, progress: ProgressFunction | None, verbose: PrintFunction | None = None
    ) -> LearnedMerges:
        """Learns the merges for the largest size, or fewer if the texts have too few pairs."""
        learning_options = LearningOptions(max(self.sizes), self.min_frequency, self.max_token_length, room=counts.room)
        words = counts.counter()
        return learn(words, self.symbol_options, self.alphabet(words), learning_options, progress, verbose)

    def notes(self, learned_merges: LearnedMerges) -> list[str]:
        """Returns notes for the user: a memory limit that was exceeded, and a size that differs from the request."""
        notes = [] if learned_merges.is_within_memory_limit else [MEMORY_LIMIT_NOTE]
        if (count := len(learned_merges)) < (requested_size := max(self.sizes)):
            notes.append(
                f"the texts allow {count} entries, not {requested_size}; the vocabulary is smaller, as with tokenizers"
            )
        if min(self.sizes) < learned_merges.initial_entries:
            notes.append(
                f"special tokens and alphabet have {learned_merges.initial_entries} entries, "
                "which is more than vocab_size"
            )
        return notes


def bpe_spec(
    options: HuggingFaceBpe,
    learned_merges: LearnedMerges,
    normalize: tuple[NormalizeStep, ...],
    split: tuple[SplitStep, ...],
) -> Spec:
    """Returns the Spec of the tokenizer.json that ``tokenizers`` writes after the same training."""
    vocab, merges = learned_merges.vocab(), learned_merges.merges
    prefix, suffix = options.prefix, options.suffix
    text_model = Bpe("merges", symbols="scalars", merges=merges, continuing_prefix=prefix, word_suffix=suffix)
    if not options.byte_level:
        chain = ChainDecode((BpeDecode(suffix),) if suffix else None)
        return _text_spec(options, vocab, text_model, normalize, split, chain)
    byte_vocab = _core.huggingface_bytes(vocab, merges)
    if byte_vocab is None:  # at least one byte is not an entry
        chain = ChainDecode((ByteLevelDecode(),))
        return _text_spec(options, vocab, text_model, normalize, (*split, ByteLevel()), chain)
    is_ascii = all(text.isascii() for text in options.special)
    return Spec(
        vocab=Vocab(*byte_vocab[0]),
        model=Bpe("merges", merges=merges),
        special=_special_tokens(options),
        normalize=(ReplaceInvalid(), *normalize) if normalize or not byte_vocab[1] else (),
        split=split,
        decode=BytesDecode(skips_unknown=True) if is_ascii else ChainDecode((ByteLevelDecode(),), byte_level=True),
        origin=Origin("huggingface"),
    )


def wordpiece_spec(
    options: HuggingFaceBpe,
    learned_merges: LearnedMerges,
    normalize: tuple[NormalizeStep, ...],
    split: tuple[SplitStep, ...],
) -> Spec:
    """Returns the Spec of a WordPiece vocabulary, which has no merges."""
    chain = ChainDecode((WordPieceDecode(options.prefix),))
    model = WordPiece(options.prefix, _MAX_WORD_CHARS)
    return _text_spec(options, learned_merges.vocab(), model, normalize, split, chain)


def _text_spec(
    options: HuggingFaceBpe,
    vocab: Vocab,
    model: Model,
    normalize: tuple[NormalizeStep, ...],
    split: tuple[SplitStep, ...],
    decode: Decode,
) -> Spec:
    """Returns the Spec of a model whose entries are texts, not bytes."""
    pieces = vocab.pieces()
    unk = None if options.unk_token is None else options.unk_token.encode()
    names = {"unk": pieces.index(unk)} if unk in pieces else {}
    kinds = vocab.kinds.copy()
    kinds[list(names.values())] = Kind.UNKNOWN
    return Spec(
        vocab=replace(vocab, kinds=kinds),
        model=model,
        special=_special_tokens(options),
        normalize=(ReplaceInvalid(), *normalize),
        split=split,
        unknown="unk" if names else "drop" if unk is None else "error",
        decode=decode,
        names=names,
        origin=Origin("huggingface"),
    )


def _special_tokens(options: HuggingFaceBpe) -> tuple[SpecialToken, ...]:
    """Returns the special tokens, whose ids are the first ids."""
    return tuple(SpecialToken(text, id) for id, text in enumerate(options.special))
