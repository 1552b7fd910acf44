"""BPE and WordPiece as tokenizers trains them (0.23.3): special tokens, then the alphabet by code point, then merges.

Where tokenizers depends on the order of a hash table, and so changes from run to run, this module has a fixed order
(crates/polytok-core/src/train/bpe/alphabet.rs). Counts do not overflow, and a pair that no longer occurs is never
merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .. import _core
from ..errors import ArgumentError
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
from .bpe_learning import NOT_KEPT, Learnt, Progress, Rules, Units, Verbose, learn
from .counting import Counts

_MOST_CHARS = 100
"""WordPiece's longest word, in tokenizers."""


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """The options, checked; they have tokenizers' names if it has them. ``initial_alphabet`` holds single characters,
    for ``byte_level`` those of GPT-2's table.
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
        if numbered := [text for text, id in self.special.items() if id is not None]:
            raise ArgumentError(
                f"special_tokens: {numbered[0]!r} has an id, but here they get the first ones: give a list"
            )
        if self.byte_level and (self.prefix or self.suffix):
            raise ArgumentError("byte_level=True goes with no prefix or suffix: a byte stands where it stands")

    @property
    def units(self) -> Units:
        """The symbols that words are built from."""
        return Units("byte_level" if self.byte_level else "chars", self.prefix, self.suffix)

    def alphabet(self, words: _core.WordCounter) -> list[bytes]:
        """The texts of the first entries."""
        return _core.bpe_alphabet(
            words, self.units, list(self.special), [text[0] for text in self.initial_alphabet], self.limit_alphabet
        )

    def learn(self, counts: Counts, progress: Progress | None, verbose: Verbose | None = None) -> Learnt:
        """The merges for the largest size, or as many as the texts allow."""
        rules = Rules(max(self.sizes), self.min_frequency, self.max_token_length, room=counts.room)
        words = counts.counter()
        return learn(words, self.units, self.alphabet(words), rules, progress, verbose)

    def notes(self, learnt: Learnt) -> list[str]:
        """What the user should know about the result."""
        notes = [] if learnt.kept_limit else [NOT_KEPT]
        if (made := len(learnt)) < (wanted := max(self.sizes)):
            notes.append(f"the texts allow {made} entries, not {wanted}: as with tokenizers there are fewer")
        if min(self.sizes) < learnt.initial:
            notes.append(f"special tokens and alphabet are {learnt.initial} entries, which is more than vocab_size")
        return notes


def bpe_spec(
    options: HuggingFace, learnt: Learnt, normalize: tuple[NormalizeStep, ...], split: tuple[SplitStep, ...]
) -> Spec:
    """The Spec of the tokenizer.json that the same training gives in tokenizers."""
    vocab, merges = learnt.vocab(), learnt.merges
    prefix, suffix = options.prefix, options.suffix
    texts = Bpe("merges", symbols="scalars", merges=merges, continuing_prefix=prefix, word_suffix=suffix)
    if not options.byte_level:
        chain = ChainDecode((BpeDecode(suffix),) if suffix else None)
        return _over_texts(options, vocab, texts, normalize, split, chain)
    found = _core.huggingface_bytes(vocab, merges)
    if found is None:  # some byte is not an entry
        chain = ChainDecode((ByteLevelDecode(),))
        return _over_texts(options, vocab, texts, normalize, (*split, ByteLevel()), chain)
    is_plain = all(text.isascii() for text in options.special)
    return Spec(
        vocab=Vocab(*found[0]),
        model=Bpe("merges", merges=merges),
        special=_special_tokens(options),
        normalize=(ReplaceInvalid(), *normalize) if normalize or not found[1] else (),
        split=split,
        decode=BytesDecode(skips_unknown=True) if is_plain else ChainDecode((ByteLevelDecode(),), byte_level=True),
        origin=Origin("huggingface"),
    )


def wordpiece_spec(
    options: HuggingFace, learnt: Learnt, normalize: tuple[NormalizeStep, ...], split: tuple[SplitStep, ...]
) -> Spec:
    """The same for WordPiece, which has no merges."""
    chain = ChainDecode((WordPieceDecode(options.prefix),))
    model = WordPiece(options.prefix, _MOST_CHARS)
    return _over_texts(options, learnt.vocab(), model, normalize, split, chain)


def _over_texts(
    options: HuggingFace,
    vocab: Vocab,
    model: Model,
    normalize: tuple[NormalizeStep, ...],
    split: tuple[SplitStep, ...],
    decode: Decode,
) -> Spec:
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


def _special_tokens(options: HuggingFace) -> tuple[SpecialToken, ...]:
    """The special tokens, which are the first entries."""
    return tuple(SpecialToken(text, id) for id, text in enumerate(options.special))
