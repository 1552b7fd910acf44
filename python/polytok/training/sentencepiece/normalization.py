"""Builds the normalizer step from the options: rules with a name or from a file are compiled to a character map."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from ... import _core
from ...errors import ArgumentError
from ...spec import SentencePieceNormalize, SentencePieceVersion
from .options import SentencePieceOptions


def create_normalizer(options: SentencePieceOptions) -> SentencePieceNormalize:
    """Returns the normalizer step, which is applied to texts in training and in encoding."""
    return SentencePieceNormalize(
        charsmap=_charsmap(options),
        add_dummy_prefix=options.add_dummy_prefix,
        remove_extra_whitespaces=options.remove_extra_whitespaces,
        whitespace_as_suffix=options.treat_whitespace_as_suffix,
    )


def create_denormalizer(options: SentencePieceOptions) -> SentencePieceNormalize | None:
    """Returns the step that is applied to decoded texts; None without rules."""
    if options.denormalization_rule_tsv is None:
        return None
    return SentencePieceNormalize(
        charsmap=_compile_file(options.denormalization_rule_tsv),
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )


def _charsmap(options: SentencePieceOptions) -> bytes:
    if options.precompiled_charsmap is not None:
        return options.precompiled_charsmap
    if options.normalization_rule_tsv is not None:
        return _compile_file(options.normalization_rule_tsv)
    return named_charsmap(options.normalization_rule_name, options.sentencepiece_version)


@cache
def named_charsmap(name: str, sentencepiece_version: SentencePieceVersion = "0.2.3") -> bytes:
    """Returns the compiled rules with this name of a SentencePiece release.

    The rules of release 0.2.3 follow Unicode 17.0, and those of release 0.2.1 follow Unicode 16.0.

    >>> len(named_charsmap("nmt_nfkc")), named_charsmap("identity")
    (240007, b'')
    """
    return b"" if name == "identity" else _core.sentencepiece_charsmap(name, sentencepiece_version)


def _compile_file(path: str | os.PathLike[str]) -> bytes:
    try:
        rules = Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{os.fspath(path)} is not a file of rules, because it is not UTF-8 ({error})") from error
    return _core.sentencepiece_compile_rules(rules)
