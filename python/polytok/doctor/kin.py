"""Compares a tokenizer with another tokenizer that should have the same ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..divergence import Comparison, Divergence
from ..space_mark import SPACE_MARK
from ..spec import Spec
from ..tokenizer import Tokenizer
from ..values import Text
from .finding import Finding, Severity, format_examples, readable_piece
from .modes import find_other_added_ids, find_other_special_ids


def compare(
    tokenizer: Tokenizer, other_tokenizer: Tokenizer, texts: Sequence[Text]
) -> tuple[list[Finding], list[Divergence]]:
    """Returns the findings (differences of ids and special tokens) and the divergences (texts with different ids)."""
    findings = [
        *_find_moved_entries(tokenizer.spec, other_tokenizer.spec),
        *_special_tokens(tokenizer, other_tokenizer),
    ]
    divergences = list(Comparison(tokenizer, other_tokenizer).divergences_in(texts))
    if divergences:
        stages = sorted({divergence.stage or "unknown" for divergence in divergences})
        findings.append(
            Finding(
                "other-ids",
                Severity.ERROR,
                f"{len(divergences)} of {len(texts)} texts get other ids (stage: {', '.join(stages)})",
                "see the first divergence of each text; the stage names the part of the file to compare",
            )
        )
    findings += find_other_added_ids(tokenizer, other_tokenizer, texts)
    findings += find_other_special_ids(tokenizer, other_tokenizer)
    return findings, divergences


def _find_moved_entries(spec: Spec, other_spec: Spec) -> Iterator[Finding]:
    """Finds entries of both vocabularies with different ids."""
    id_by_text, other_id_by_text = _id_by_text(spec), _id_by_text(other_spec)
    other_ids = {text: other_id_by_text.get(text, other_id_by_text.get(_respelt(text))) for text in id_by_text}
    moved_texts = [text for text, number in id_by_text.items() if other_ids[text] not in (number, None)]
    if moved_texts:
        yield Finding(
            "ids-moved",
            Severity.ERROR,
            f"{len(moved_texts)} entries have another id in the other file "
            f"({format_examples(map(readable_piece, moved_texts))})",
            "the two files are not for the same model",
        )
    missing_texts = [text for text, number in other_ids.items() if number is None]
    if missing_texts:
        yield Finding(
            "entries-missing",
            Severity.NOTE,
            f"{len(missing_texts)} of {len(id_by_text)} entries are not in the other file under the same text "
            f"({format_examples(sorted(map(readable_piece, missing_texts), key=str))})",
            "nothing, if texts are only written differently (##) or the entries are special tokens",
        )


def _id_by_text(spec: Spec) -> dict[bytes, int]:
    rows = zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True)
    return {piece: number for piece, number, kind in rows if kind == 1}


def _respelt(piece: bytes) -> bytes:
    """Returns a piece with its spaces as U+2581, or its U+2581 as spaces: llama2.c's files have the latter."""
    mark = SPACE_MARK.encode()
    return piece.replace(mark, b" ") if mark in piece else piece.replace(b" ", mark)


def _special_tokens(tokenizer: Tokenizer, other_tokenizer: Tokenizer) -> Iterator[Finding]:
    ids, other_ids = tokenizer.special_tokens, other_tokenizer.special_tokens
    moved_texts = [text for text, number in ids.items() if other_ids.get(text, number) != number]
    if moved_texts:
        yield Finding(
            "special-tokens-moved",
            Severity.ERROR,
            f"{len(moved_texts)} special tokens have another id in the other file ({format_examples(moved_texts)})",
            "the two files are not for the same model, or one of them was changed",
        )
    missing_texts = sorted({*_missing_specials(ids, other_ids), *_missing_specials(other_ids, ids)})
    if missing_texts:
        yield Finding(
            "special-tokens-missing",
            Severity.WARNING,
            f"{len(missing_texts)} special tokens are in only one of the files ({format_examples(missing_texts)})",
            "texts with these tokens get other ids if special tokens are recognized",
        )


def _missing_specials(ids: Mapping[str, int], other_ids: Mapping[str, int]) -> Iterator[str]:
    """Yields the special tokens that are not in ``other_ids``. A token with the same id and other white space around
    its text counts as the same, because llama2.c's files have ``\\n<s>\\n`` for ``<s>``."""
    other_tokens = {(text.strip(), number) for text, number in other_ids.items()}
    return (
        text for text, number in ids.items() if text not in other_ids and (text.strip(), number) not in other_tokens
    )
