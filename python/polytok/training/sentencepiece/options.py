"""The options of SentencePiece's trainers, with SentencePiece's names, and their checks."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from ...checks import one_of
from ...errors import ArgumentError
from ...keywords import keyword
from ...spec import SentencePieceVersion
from ..options import check_text, check_types
from ..roles import ROLES, check_roles, single_text

Profile = Literal["lossless", "sentencepiece", "llama2c"]
SentenceUnit = Literal["lines", "items", "texts"]
Symbols = str | Sequence[str]

_PROFILES: Mapping[str, Mapping[str, Any]] = {
    "lossless": {
        "sentences": "texts",
        "normalization_rule_name": "identity",
        "byte_fallback": True,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True,
        "max_sentence_length": None,
    },
    "sentencepiece": {},
    "llama2c": {
        "character_coverage": 1.0,
        "split_digits": True,
        "allow_whitespace_only_pieces": True,
        "byte_fallback": True,
        "unk_surface": " \u2047 ",
        "normalization_rule_name": "identity",
    },
}
_MAX_SENTENCE_BYTES = 1 << 30


@dataclass(frozen=True, kw_only=True)
class SentencePieceOptions:
    """The options of a SentencePiece vocabulary, with names and defaults of `spm_train` except for the first four.

    * ``vocab_size``: the number of pieces, including reserved pieces.
    * ``profile``: the set of defaults. "sentencepiece" has SentencePiece's defaults, and "llama2c" the options of
      llama2.c. With "lossless", every text decodes unchanged: texts are not normalized, no space is added or removed,
      characters without a piece are encoded as bytes, runs of spaces can be pieces, and texts can have any length and
      contain line feeds.
    * ``sentencepiece_version``: the SentencePiece release to follow if the trainers of releases differ.
    * ``sentences``: the unit of training: each line of a text ("lines", as in SentencePiece's files), each text without
      its final line ends ("items", as in SentencePiece's iterators), or each text unchanged ("texts").
    * ``normalization_rule_name``: identity, nfkc, nmt_nfkc, nfkc_cf or nmt_nfkc_cf.
    * ``normalization_rule_tsv``: a file of normalization rules, which replace the named rules. A line has hexadecimal
      code points, a tab, and their replacement.
    * ``denormalization_rule_tsv``: a file of rules in the same form, which decoding applies to a text.
    * ``precompiled_charsmap``: the compiled rules of another model, which replace the named rules.
    * ``add_dummy_prefix``: whether a space is added in front of each text.
    * ``remove_extra_whitespaces``: whether spaces at both ends of a text and repeated spaces are removed.
    * ``tsv``: whether each line has a text, a tab, and the count of the text (SentencePiece's input_format).
    * ``character_coverage``: the share of the characters in the texts that consists of characters with a piece; the
      rarest characters get none.
    * ``auto_character_coverage``: whether a character gets a piece only if the piece saves more tokens than a merge
      would; other characters are encoded as bytes.
    * ``input_sentence_size``: the number of sentences to use, 0 for all; with ``shuffle_input_sentence`` a random
      sample.
    * ``shuffle_input_sentence``: whether ``input_sentence_size`` selects sentences at random, and not the first ones.
    * ``self_test_sample_size``: has no effect, as in SentencePiece 0.2.3.
    * ``seed_sentencepiece_size``: the number of candidates with which Unigram begins.
    * ``seed_sentencepieces_file``: a file with the first candidates of Unigram; a line has a piece, a tab and a count.
    * ``shrinking_factor``: the share of the pieces that Unigram keeps each time it removes pieces.
    * ``num_threads``: the number of partial sums, which affects the last bits of Unigram's scores; ``threads`` is the
      number of threads.
    * ``num_sub_iterations``: how often Unigram computes the scores again before it removes pieces.
    * ``max_sentence_length``: the maximum number of bytes of a sentence; longer sentences are skipped and reported.
      None for no limit.
    * ``max_sentencepiece_length``: the maximum number of characters of a piece.
    * ``split_by_unicode_script``: whether all characters of a piece belong to one script; Han and kana count as one.
    * ``split_by_whitespace``: whether no piece continues after a space.
    * ``split_by_number``: whether no piece contains both digits and letters.
    * ``treat_whitespace_as_suffix``: whether a space belongs to the word before it, and not to the word after it.
    * ``split_digits``: whether each digit is a piece of its own.
    * ``allow_whitespace_only_pieces``: whether runs of spaces can be pieces.
    * ``control_symbols``: the pieces of control symbols, which no text is encoded to.
    * ``user_defined_symbols``: texts that are always encoded as one piece.
    * ``vocabulary_output_piece_score``: whether a list of the vocabulary has the scores, as in spm_train's .vocab file.
    * ``hard_vocab_limit``: whether a result with fewer pieces than ``vocab_size`` is an error.
    * ``use_all_vocab``: whether all words or all characters are pieces, whatever ``vocab_size`` is.
    * ``byte_fallback``: whether characters without a piece are encoded as bytes, which get 256 pieces.
    * ``required_chars``: characters that always get a piece.
    * ``unk_id``: the id of the unknown piece.
    * ``bos_id``: the id of the piece that begins a text; -1 for none.
    * ``eos_id``: the id of the piece that ends a text; -1 for none.
    * ``pad_id``: the id of the piece for padding; -1 for none.
    * ``unk_surface``: the text to which the unknown piece is decoded.
    * ``unk_piece``: the name of the unknown piece.
    * ``bos_piece``: the name of the piece that begins a text.
    * ``eos_piece``: the name of the piece that ends a text.
    * ``pad_piece``: the name of the piece for padding.
    * ``bos``: the text of the piece that begins a text; it sets ``bos_piece``, and an id if ``bos_id`` has none.
    * ``eos``: the text of the piece that ends a text; it sets ``eos_piece`` in the same way.
    * ``pad``: the text of the piece for padding; it sets ``pad_piece``, and the lowest free id as ``pad_id``.
    * ``unk``: the text of the unknown piece; it sets ``unk_piece``.
    * ``pretokenization_delimiter``: a text that marks in the training texts where pieces end; it is not learned.
    """

    vocab_size: int
    profile: Profile = "lossless"
    sentencepiece_version: SentencePieceVersion = "0.2.3"
    sentences: SentenceUnit = "lines"
    normalization_rule_name: str = "nmt_nfkc"
    normalization_rule_tsv: str | os.PathLike[str] | None = None
    denormalization_rule_tsv: str | os.PathLike[str] | None = None
    precompiled_charsmap: bytes | None = None
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    tsv: bool = False
    character_coverage: float = 0.9995
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    self_test_sample_size: int = 0
    seed_sentencepiece_size: int = 1_000_000
    seed_sentencepieces_file: str | os.PathLike[str] | None = None
    shrinking_factor: float = 0.75
    num_threads: int = 16
    num_sub_iterations: int = 2
    max_sentence_length: int | None = 4192
    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_whitespace: bool = True
    split_by_number: bool = True
    treat_whitespace_as_suffix: bool = False
    split_digits: bool = False
    allow_whitespace_only_pieces: bool = False
    control_symbols: Symbols = ()
    user_defined_symbols: Symbols = ()
    vocabulary_output_piece_score: bool = True
    hard_vocab_limit: bool = True
    use_all_vocab: bool = False
    byte_fallback: bool = False
    required_chars: str = ""
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_surface: str = " \u2047 "
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    bos: str | None = None
    eos: str | None = None
    pad: str | None = None
    unk: str | None = None
    pretokenization_delimiter: str = ""
    auto_character_coverage: bool = False


NAMES = tuple(field.name for field in fields(SentencePieceOptions))


def profile_defaults(profile: str) -> Mapping[str, Any]:
    """Returns the defaults of a profile that are not those of `SentencePieceOptions`; none for an unknown profile.

    >>> profile_defaults("llama2c")["split_digits"]
    True
    """
    return _PROFILES.get(profile, {})


def resolve_options(options_by_name: Mapping[str, Any], model: str) -> tuple[SentencePieceOptions, frozenset[str]]:
    """Returns the checked options, and the names of the options that the profile or the caller sets.

    Raises `ArgumentError` for invalid options.

    >>> options, explicit = resolve_options({"vocab_size": 100}, "bpe")
    >>> options.byte_fallback, "byte_fallback" in explicit, "bos_id" in explicit
    (True, True, False)
    """
    defaults = dict(_PROFILES[one_of("profile", options_by_name.get("profile", "lossless"), tuple(_PROFILES))])
    if options_by_name.keys() & {"normalization_rule_tsv", "precompiled_charsmap"}:
        defaults.pop("normalization_rule_name", None)
    values = _with_role_pieces({**defaults, **options_by_name})
    for name in ("control_symbols", "user_defined_symbols"):
        if name in values:
            values[name] = _symbols(name, values[name])
    if isinstance(values.get("vocab_size"), (list, tuple)):
        raise ArgumentError(
            f"{keyword('vocab_size')}: SentencePiece's trainers accept a single size: train once for each size"
        )
    options = SentencePieceOptions(**values)
    check_types(options)
    _check_options(options, model)
    return options, frozenset(values)


def _with_role_pieces(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options with SentencePiece's names for the tokens that ``bos``, ``eos``, ``pad`` and ``unk`` name."""
    text_by_role = check_roles(**{role: values.get(role) for role in ROLES})
    result = {name: value for name, value in values.items() if name not in ROLES}
    for role, text in text_by_role.items():
        id_option, piece_option = f"{role}_id", f"{role}_piece"
        result[piece_option] = single_text(role, text, {piece_option: values.get(piece_option)})
        if isinstance(id := values.get(id_option), int) and id < 0:
            raise ArgumentError(
                f"{keyword(role, text)} needs an id, but {keyword(f'{id_option}={id}')} means none: remove one of them"
            )
        if id is None and getattr(SentencePieceOptions, id_option) < 0:
            used_ids = {result.get(f"{other}_id", getattr(SentencePieceOptions, f"{other}_id")) for other in ROLES}
            result[id_option] = next(number for number in itertools.count() if number not in used_ids)
    return result


def _symbols(name: str, value: Symbols) -> tuple[str, ...]:
    """Returns a list of texts; a single text is a comma-separated list, as in SentencePiece."""
    if not isinstance(value, Iterable):
        raise ArgumentError(f"{keyword(name, value)} is not a list of texts")
    symbols = tuple(part for part in value.split(",") if part) if isinstance(value, str) else tuple(value)
    return tuple(check_text(name, symbol) for symbol in symbols)


def _check_options(options: SentencePieceOptions, model: str) -> None:
    """Checks the options as SentencePiece does before it reads texts. Raises `ArgumentError`."""
    _check_ranges(options)
    one_of("sentencepiece_version", options.sentencepiece_version, get_args(SentencePieceVersion))
    one_of("sentences", options.sentences, get_args(SentenceUnit))
    if 0 < options.input_sentence_size <= 100 or options.input_sentence_size < 0:
        raise ArgumentError(f"{keyword('input_sentence_size')} must be 0 (all sentences) or more than 100")
    if options.use_all_vocab and model not in ("word", "char"):
        raise ArgumentError(
            f"{keyword('use_all_vocab')} needs a model of words or characters: other models have no complete vocabulary"
        )
    if options.pretokenization_delimiter and model not in ("bpe", "unigram"):
        raise ArgumentError(f"{keyword('pretokenization_delimiter')} needs BPE or Unigram: remove it")
    if options.auto_character_coverage:
        _check_auto_coverage(options, model)
    if options.self_test_sample_size and options.sentencepiece_version == "0.2.1":
        raise ArgumentError(
            f"{keyword('self_test_sample_size')} needs {keyword('sentencepiece_version', '0.2.3')}, because 0.2.1 "
            "has other samples in each run"
        )
    for role in ("unk", "bos", "eos", "pad"):
        if not getattr(options, f"{role}_piece"):
            raise ArgumentError(
                f"{keyword(f'{role}_piece')} is empty: for a vocabulary without this piece, set "
                f"{keyword(f'{role}_id', -1)}"
            )
    sources = [options.normalization_rule_tsv, options.precompiled_charsmap]
    if sum(source is not None for source in sources) > 1:
        raise ArgumentError(
            f"{keyword('normalization_rule_tsv')} and {keyword('precompiled_charsmap')} exclude each other: remove one "
            "of them"
        )


def _check_auto_coverage(options: SentencePieceOptions, model: str) -> None:
    if model != "bpe" or options.sentencepiece_version != "0.2.3":
        raise ArgumentError(
            f"{keyword('auto_character_coverage')} needs BPE and {keyword('sentencepiece_version', '0.2.3')}"
        )
    if not options.byte_fallback:
        raise ArgumentError(
            f"{keyword('auto_character_coverage')} needs {keyword('byte_fallback', True)}, for the characters without "
            "a piece"
        )
    if options.required_chars:
        raise ArgumentError(
            f"{keyword('auto_character_coverage')} and {keyword('required_chars')} exclude each other: remove one of "
            "them"
        )


def _check_ranges(options: SentencePieceOptions) -> None:
    ranges: dict[str, tuple[float, float]] = {
        "vocab_size": (1, 2**31 - 1),
        "character_coverage": (0.98, 1.0),
        "max_sentencepiece_length": (1, 512),
        "num_sub_iterations": (1, 10),
        "num_threads": (1, 1024),
        "shrinking_factor": (0.5, 0.95),
        "max_sentence_length": (10, _MAX_SENTENCE_BYTES),
        "self_test_sample_size": (0, 1000),
        "seed_sentencepiece_size": (0, 2**31 - 1),
        "input_sentence_size": (0, 2**63 - 1),
        **dict.fromkeys(("unk_id", "bos_id", "eos_id", "pad_id"), (-(2**31), 2**31 - 1)),
    }
    for name, (minimum, maximum) in ranges.items():
        value = getattr(options, name)
        if value is not None and not minimum <= value <= maximum:
            raise ArgumentError(f"{keyword(f'{name}={value}')} is not from {minimum} to {maximum}")
