"""All differences between two tokenizers: `compare`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .. import probes
from ..checked import checked
from ..checks import iterable, shown
from ..divergence import Comparison, Divergence
from ..errors import PolytokError
from ..loading import AnyTokenizer, as_tokenizer
from ..tokenizer import Tokenizer
from ..values import Text
from .entries import EntryDifferences, compare_entries, respelled
from .merges import MergeDifferences, compare_merges
from .modes import ModeDifference, compare_with_special, compare_with_template
from .special import SpecialTokenDifferences, compare_special_tokens
from .steps import StepDifference, compare_steps


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between two tokenizers, ``left`` and ``right``.

    * ``entries``: the entries, by their texts. ``merges``: the merges; None unless both models are BPE.
    * ``special_tokens``: the special tokens, their flags, and roles such as eos.
    * ``steps``: the steps of the pipeline that differ, in words. Other steps can have the same results; the texts show
      whether they have.
    * ``divergences``: the first divergence of each text that gets other ids. ``compared`` is the number of texts, and
      ``same_pieces`` the number of those that are divided into the same pieces, also if their ids differ.
    * ``with_template``: what ``add_special`` changes of texts with the same ids; None if nothing.
    * ``with_special``: what differs in texts with special tokens that are allowed; None if nothing.
    """

    entries: EntryDifferences
    merges: MergeDifferences | None
    special_tokens: SpecialTokenDifferences
    steps: tuple[StepDifference, ...]
    divergences: tuple[Divergence, ...]
    compared: int
    same_pieces: int
    with_template: ModeDifference | None
    with_special: ModeDifference | None

    @property
    def same_ids(self) -> bool:
        """True if no text, ordinary entry or special token of both has another id in the other tokenizer, also with
        ``add_special``, and if the special tokens that both have are allowed in texts."""
        has_moved = any(entry.is_normal for entry in self.entries.moved) or bool(self.special_tokens.moved)
        return not (self.divergences or has_moved or self.with_template or self.with_special)

    @property
    def is_empty(self) -> bool:
        """True if there are no differences at all.

        >>> compare("default", "default").is_empty
        True
        """
        entries, merges = self.entries, self.merges
        has_entries = entries.only_left or entries.only_right or entries.moved or entries.other_kinds
        has_merges = merges is not None and (merges.only_left or merges.only_right or merges.reordered)
        has_parts = has_entries or entries.other_scores or entries.respelled or has_merges or self.steps
        return self.same_ids and self.special_tokens.is_empty and not has_parts


def _texts(name: str, value: object) -> None:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name}={shown(value)} is a single text: pass several texts, such as [{shown(value)}]")
    iterable(name, value, "texts")


@checked(texts=_texts)
def compare(tokenizer: AnyTokenizer, against: AnyTokenizer, texts: Iterable[Text] | None = None) -> Differences:
    """Compares two tokenizers, or what `polytok.load` accepts: entries, merges, special tokens, the steps of the
    pipeline, and the ids of texts. ``tokenizer`` is the left one in the result, and ``against`` the right one.

    The ids are compared on ``texts``, by default on about 450 texts: known difficult ones, and texts that are joined
    from the entries of ``tokenizer``. They are compared without and with ``add_special``; and, with special tokens
    allowed, on generated texts that contain those that both tokenizers have.

    >>> import polytok
    >>> left = polytok.train(["to be or not to be"], vocab_size=258)
    >>> right = polytok.train(["to be or not to be"], vocab_size=260)
    >>> differences = polytok.compare(left, right, ["to be"])
    >>> [entry.text for entry in differences.entries.only_right]
    [' be', ' n']
    >>> differences.same_ids, differences.divergences[0].stage
    (False, 'model')
    """
    left, right = as_tokenizer(tokenizer), as_tokenizer(against)
    text_list = list(probes.texts(left.spec) if texts is None else texts)
    divergences = tuple(Comparison(left, right).divergences_in(text_list))
    return Differences(
        compare_entries(left, right),
        compare_merges(left, right),
        compare_special_tokens(left, right),
        compare_steps(left, right),
        divergences,
        len(text_list),
        len(text_list) - sum(not _has_same_pieces(left, right, divergence.text) for divergence in divergences),
        compare_with_template(left, right, text_list),
        compare_with_special(left, right),
    )


def _has_same_pieces(left: Tokenizer, right: Tokenizer, text: bytes) -> bool:
    """Reports whether two tokenizers divide a text into the same pieces, with U+2581 for spaces or without."""
    try:
        pieces, other_pieces = ([token.piece for token in side.tokens(text)] for side in (left, right))
    except PolytokError:
        return False
    return len(pieces) == len(other_pieces) and all(
        other in (piece, respelled(piece)) for piece, other in zip(pieces, other_pieces, strict=True)
    )
