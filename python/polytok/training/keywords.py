"""The options of all kinds of vocabularies as keyword arguments, for type checkers. A kind accepts only some."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from ..lists import Emoji
from ..reading import InputKeywords
from ..spec import NormalizeStep, SentencePieceVersion, SplitStep
from .bpe import TrainerName
from .sentencepiece.options import Profile, SentenceUnit, Symbols
from .splits import Pattern


class TrainingKeywords(InputKeywords, total=False):
    """The keyword arguments of `polytok.train` besides the size, with the most general type that any kind accepts."""

    # BPE, WordPiece and longest match; the roles also for SentencePiece
    pattern: Pattern
    special_tokens: Sequence[str] | Mapping[str, int]
    bos: str | None
    eos: str | None
    pad: str | None
    unk: str | None
    normalize: Sequence[NormalizeStep] | None
    min_frequency: int
    unk_token: str | None
    initial_alphabet: Sequence[str] | None
    limit_alphabet: int | None
    continuing_subword_prefix: str
    end_of_word_suffix: str
    trainer: TrainerName
    max_token_length: int | None
    verbose: Callable[[str], object] | None
    byte_level: bool
    lowercase: bool
    strip_accents: bool | None
    clean_text: bool
    handle_chinese_chars: bool
    # Longest match
    max_piece_length: int
    max_piece_bytes: int | None
    min_count: int | None
    whole_characters: bool
    forced: Sequence[str] | Sequence[str | bytes]
    forced_files: Sequence[str] | Sequence[str | os.PathLike[str]]
    emoji: Emoji | Literal[True] | None
    kaomoji: bool
    # SentencePiece
    profile: Profile
    sentencepiece_version: SentencePieceVersion
    sentences: SentenceUnit
    normalization_rule_name: str
    normalization_rule_tsv: str | os.PathLike[str] | None
    denormalization_rule_tsv: str | os.PathLike[str] | None
    precompiled_charsmap: bytes | None
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    tsv: bool
    character_coverage: float
    input_sentence_size: int
    shuffle_input_sentence: bool
    self_test_sample_size: int
    seed_sentencepiece_size: int
    seed_sentencepieces_file: str | os.PathLike[str] | None
    shrinking_factor: float
    num_threads: int
    num_sub_iterations: int
    max_sentence_length: int | None
    max_sentencepiece_length: int
    split_by_unicode_script: bool
    split_by_whitespace: bool
    split_by_number: bool
    treat_whitespace_as_suffix: bool
    split_digits: bool
    allow_whitespace_only_pieces: bool
    control_symbols: Symbols
    user_defined_symbols: Symbols
    vocabulary_output_piece_score: bool
    hard_vocab_limit: bool
    use_all_vocab: bool
    byte_fallback: bool
    required_chars: str
    unk_id: int
    bos_id: int
    eos_id: int
    pad_id: int
    unk_surface: str
    unk_piece: str
    bos_piece: str
    eos_piece: str
    pad_piece: str
    pretokenization_delimiter: str
    auto_character_coverage: bool


class SizedKeywords(TrainingKeywords, total=False):
    """The keyword arguments of `polytok.training.specs`."""

    vocab_size: int | Sequence[int]


class CountingKeywords(TrainingKeywords, total=False):
    """The keyword arguments of `polytok.count_words`: options of a kind, or options of `polytok.Counts`."""

    split: str | Sequence[SplitStep] | None
