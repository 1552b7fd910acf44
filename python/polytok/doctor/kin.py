"""Reports the differences between a tokenizer and another tokenizer that should have the same ids."""

from __future__ import annotations

from collections.abc import Iterator

from ..columns import has_kind
from ..differences import Differences, EntryDifferences, ModeDifference, SpecialTokenDifferences
from ..spec import Kind
from ..tokenizer import Tokenizer
from ..utf8 import text_or_bytes
from .finding import Finding, Severity, format_examples

_MAX_TOKENS = 6


def find_differences(tokenizer: Tokenizer, other: Tokenizer, differences: Differences) -> Iterator[Finding]:
    """Yields a finding for each kind of difference in ids and special tokens."""
    yield from _find_moved_entries(differences.entries, tokenizer)
    yield from _find_special_tokens(differences.special_tokens)
    if differences.divergences:
        stages = sorted({divergence.stage or "unknown" for divergence in differences.divergences})
        yield Finding(
            "other-ids",
            Severity.ERROR,
            f"{len(differences.divergences)} of {differences.compared} texts get other ids (stage: "
            f"{', '.join(stages)})",
            "see the first divergence of each text; the stage names the part of the file to compare",
        )
    if differences.with_template:
        yield Finding(
            "other-added-ids",
            Severity.ERROR,
            f"with add_special, {_mode_message(differences.with_template, tokenizer, other)}",
            "compare the templates of the files (post_processor, add_bos_token) and their bos and eos",
        )
    if differences.with_special:
        yield Finding(
            "other-special-ids",
            Severity.ERROR,
            f"with special tokens allowed, {_mode_message(differences.with_special, tokenizer, other)}",
            "compare the special tokens of the files: their flags (lstrip, rstrip, single_word, normalized), and "
            "how text after them is encoded",
        )


def _find_moved_entries(entries: EntryDifferences, tokenizer: Tokenizer) -> Iterator[Finding]:
    """Finds ordinary entries of both vocabularies with different ids, and those of one vocabulary."""
    moved_pieces = [entry.piece for entry in entries.moved if entry.is_normal]
    if moved_pieces:
        yield Finding(
            "ids-moved",
            Severity.ERROR,
            f"{len(moved_pieces)} entries have another id in the other file "
            f"({format_examples(map(text_or_bytes, moved_pieces))})",
            "the two files are not for the same model",
        )
    missing_pieces = [entry.piece for entry in entries.only_left if entry.kind == Kind.NORMAL]
    if missing_pieces:
        normal_count = int(has_kind(tokenizer.vocab().kinds, Kind.NORMAL).sum())
        yield Finding(
            "entries-missing",
            Severity.NOTE,
            f"{len(missing_pieces)} of {normal_count} entries are not in the other file under the same text "
            f"({format_examples(sorted(map(text_or_bytes, missing_pieces), key=str))})",
            "nothing, if texts are only written differently (##) or the entries are special tokens",
        )


def _find_special_tokens(tokens: SpecialTokenDifferences) -> Iterator[Finding]:
    if tokens.moved:
        yield Finding(
            "special-tokens-moved",
            Severity.ERROR,
            f"{len(tokens.moved)} special tokens have another id in the other file "
            f"({format_examples(token.text for token in tokens.moved)})",
            "the two files are not for the same model, or one of them was changed",
        )
    missing_texts = sorted({*tokens.only_left, *tokens.only_right})
    if missing_texts:
        yield Finding(
            "special-tokens-missing",
            Severity.WARNING,
            f"{len(missing_texts)} special tokens are in only one of the files ({format_examples(missing_texts)})",
            "texts with these tokens get other ids if special tokens are recognized",
        )


def _mode_message(difference: ModeDifference, tokenizer: Tokenizer, other: Tokenizer) -> str:
    left, right = _described(tokenizer, difference.left_ids), _described(other, difference.right_ids)
    count = f"{difference.differing} of {difference.compared} texts get other ids"
    return f"{count}: {difference.text!r} gets {left}, and in the other file {right}"


def _described(tokenizer: Tokenizer, ids: tuple[int, ...] | None) -> str:
    if ids is None:
        return "an error"
    shown_ids = ids[:_MAX_TOKENS]
    tokens = zip(shown_ids, tokenizer.ids_to_pieces(shown_ids), strict=True)
    shown = [f"{id} {text_or_bytes(piece)!r}" for id, piece in tokens]
    return ", ".join([*shown, *(["..."] if len(ids) > _MAX_TOKENS else [])]) or "no ids"
