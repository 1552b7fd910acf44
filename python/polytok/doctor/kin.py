"""Compares a tokenizer with another one that should be the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import probes
from ..divergence import Comparison, Divergence
from ..spec import Spec
from ..tokenizer import Tokenizer
from ..values import Text
from .finding import Finding, Severity, examples, shown


def kin(tokenizer: Tokenizer, other: Tokenizer, texts: Iterable[Text] | None) -> tuple[list[Finding], list[Divergence]]:
    """The differences: ids, special tokens, and the texts with different ids, each with its first divergence."""
    findings = [*_vocabularies(tokenizer.spec, other.spec), *_specials(tokenizer, other)]
    chosen = list(probes.texts(tokenizer.spec) if texts is None else texts)
    divergences = list(Comparison(tokenizer, other).all(chosen))
    if divergences:
        stages = sorted({found.stage or "unknown" for found in divergences})
        findings.append(
            Finding(
                "other-ids",
                Severity.ERROR,
                f"{len(divergences)} of {len(chosen)} texts get other ids (stage: {', '.join(stages)})",
                "see the first divergence of each; the stage tells which part of the file to compare",
            )
        )
    return findings, divergences


def _vocabularies(spec: Spec, other: Spec) -> Iterator[Finding]:
    """Texts that both have, with different ids."""
    mine, theirs = _id_of(spec), _id_of(other)
    moved = [text for text, number in mine.items() if theirs.get(text, number) != number]
    if moved:
        yield Finding(
            "ids-moved",
            Severity.ERROR,
            f"{len(moved)} entries have another id in the other file ({examples(map(shown, moved))})",
            "the two files are not for the same model",
        )
    lacking = mine.keys() - theirs.keys()
    if lacking:
        yield Finding(
            "entries-missing",
            Severity.NOTE,
            f"{len(lacking)} of {len(mine)} entries are not in the other file under the same text "
            f"({examples(sorted(map(shown, lacking), key=str))})",
            "nothing, if texts are only written differently (##, U+2581) or the entries are special tokens",
        )


def _id_of(spec: Spec) -> dict[bytes, int]:
    rows = zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True)
    return {piece: number for piece, number, kind in rows if kind == 1}


def _specials(tokenizer: Tokenizer, other: Tokenizer) -> Iterator[Finding]:
    mine, theirs = tokenizer.special_tokens, other.special_tokens
    wrong = [text for text, number in mine.items() if theirs.get(text, number) != number]
    if wrong:
        yield Finding(
            "special-tokens-moved",
            Severity.ERROR,
            f"{len(wrong)} special tokens have another id in the other file ({examples(wrong)})",
            "the two files are not for the same model, or one of them was changed",
        )
    lacking = sorted(mine.keys() ^ theirs.keys())
    if lacking:
        yield Finding(
            "special-tokens-missing",
            Severity.WARNING,
            f"{len(lacking)} special tokens are in one of the files only ({examples(lacking)})",
            "texts with them get other ids where special tokens are recognised",
        )
