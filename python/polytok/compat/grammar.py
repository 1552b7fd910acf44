"""Adapters for engines that constrain what a model generates: llguidance, outlines_core and XGrammar.

An engine needs the bytes of all ids and the ids that end a text. llguidance also encodes the texts that a grammar
leaves no choice about, so that a model does not need to generate them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..checked import checked
from ..checks import optional_number, piece_or_id
from ..errors import ArgumentError
from ..keywords import keyword
from ..loading import AnyTokenizer, as_tokenizer
from ..reach import ids_or_nothing
from ..records import replace
from ..spec import (
    Metaspace,
    NormalizeStep,
    PieceSpace,
    PrefixSpace,
    Prepend,
    SentencePieceNormalize,
    Spec,
    SplitStep,
    UgmNormalize,
)
from ..tokenizer import Tokenizer

if TYPE_CHECKING:
    import llguidance as llguidance_package
    import outlines_core as outlines_core_package
    import xgrammar as xgrammar_package

__all__ = ["llguidance", "outlines_core", "xgrammar"]


def _size(name: str, value: Any) -> int | None:
    return optional_number(name, value, least=0)


@checked(size=_size, eos=piece_or_id)
def llguidance(
    tokenizer: AnyTokenizer, *, eos: str | int | None = None, size: int | None = None
) -> llguidance_package.LLTokenizer:
    """Returns an ``llguidance.LLTokenizer``, for grammars of llguidance.

    ``eos`` is the token that ends a text, by default the tokenizer's own. ``size`` is the number of the model's ids if
    it has more than the tokenizer. A grammar can name special tokens, and added tokens that are written as ``<...>``.

    Text that a grammar requires is encoded as within a text, without the space that some tokenizers add at the start.
    Text that the tokenizer rewrites (by lower-casing, for example) is divided into the longest entries.

    Raises `ArgumentError` if the tokenizer has no token that ends a text and ``eos`` is missing.

    >>> import polytok, llguidance
    >>> ll_tokenizer = polytok.compat.grammar.llguidance("default")
    >>> matcher = llguidance.LLMatcher(ll_tokenizer, llguidance.LLMatcher.grammar_from_regex("yes|no"))
    >>> matcher.consume_tokens(polytok.load("default").encode("no")), matcher.is_stopped()
    (True, True)
    """
    from llguidance import LLTokenizer, TokenizerWrapper

    return LLTokenizer(TokenizerWrapper(_LLGuidanceTokenizer(as_tokenizer(tokenizer), eos, size)))


@checked(size=_size, eos=piece_or_id)
def outlines_core(tokenizer: AnyTokenizer, *, eos: str | int | None = None) -> outlines_core_package.Vocabulary:
    """Returns an ``outlines_core.Vocabulary``, for an ``outlines_core.Index``.

    ``eos`` is the token that ends a text, by default the tokenizer's own. Raises `ArgumentError` if both are missing.

    >>> import polytok, outlines_core
    >>> vocabulary = polytok.compat.grammar.outlines_core("default")
    >>> guide = outlines_core.Guide(outlines_core.Index("yes|no", vocabulary))
    >>> tokenizer = polytok.load("default")
    >>> sorted(tokenizer.decode([id]) for id in guide.get_tokens())
    ['n', 'no', 'y', 'ye', 'yes']
    """
    from outlines_core import Vocabulary

    tokenizer = as_tokenizer(tokenizer)
    eos_id = _eos_id(tokenizer, eos)
    ids_of_bytes: dict[bytes | str, list[int]] = {}
    for id, text in enumerate(tokenizer.vocab_bytes()):
        if text and id != eos_id:
            ids_of_bytes.setdefault(text, []).append(id)
    return Vocabulary(eos_id, ids_of_bytes)


@checked(size=_size, eos=piece_or_id)
def xgrammar(
    tokenizer: AnyTokenizer, *, eos: str | int | None = None, size: int | None = None
) -> xgrammar_package.TokenizerInfo:
    """Returns an ``xgrammar.TokenizerInfo``, for an ``xgrammar.GrammarCompiler``.

    ``eos`` is the token that ends a text, by default the tokenizer's own, and ``size`` the number of the model's ids,
    by default that of the tokenizer. Raises `ArgumentError` if there is no token that ends a text.

    XGrammar, which needs PyTorch, compares the masks of a grammar with the model's ids by ``size``. For a tokenizer
    whose vocabulary is ``"default"``:

        tokenizer_info = polytok.compat.grammar.xgrammar("default")
        compiled = xgrammar.GrammarCompiler(tokenizer_info).compile_regex("yes|no")
    """
    from xgrammar import TokenizerInfo, VocabType

    tokenizer = as_tokenizer(tokenizer)
    eos_id = _eos_id(tokenizer, eos)
    bytes_of_id = tokenizer.vocab_bytes(size)
    return TokenizerInfo(
        bytes_of_id,
        VocabType.RAW,
        vocab_size=len(bytes_of_id),
        stop_token_ids=[eos_id],
        add_prefix_space=_adds_space(tokenizer),
    )


class _LLGuidanceTokenizer:
    """A tokenizer with the attributes that ``llguidance.TokenizerWrapper`` reads."""

    def __init__(self, tokenizer: Tokenizer, eos: str | int | None, size: int | None) -> None:
        self.eos_token_id = _eos_id(tokenizer, eos)
        self.bos_token_id = tokenizer.bos_id
        self.special_token_ids = _special_ids(tokenizer)
        self.tokens = tokenizer.vocab_bytes(size)
        for id in self.special_token_ids:
            if id < len(self.tokens):
                self.tokens[id] = tokenizer.id_to_piece(id)
        self._within_text = Tokenizer(_without_added_space(tokenizer.spec))

        self._id_of_bytes = {text: id for id, text in reversed([*enumerate(tokenizer.vocab_bytes(size))]) if text}
        self._longest = max(map(len, self._id_of_bytes), default=0)

    def __call__(self, text: bytes) -> list[int]:
        """Returns ids whose joined bytes are the text."""
        ids = ids_or_nothing(self._within_text, text)
        if max(ids, default=0) < len(self.tokens) and b"".join([self.tokens[id] for id in ids]) == text:
            return ids
        return self._longest_matches(text)

    def _longest_matches(self, text: bytes) -> list[int]:
        """Returns the ids of the longest entries from left to right, for text that encoding changes. The result ends
        where no entry matches, because a model cannot generate that text either."""
        ids = []
        start = 0
        while start < len(text):
            parts = (text[start : start + length] for length in range(self._longest, 0, -1))
            part = next((part for part in parts if part in self._id_of_bytes), b"")
            if not part:
                break
            ids.append(self._id_of_bytes[part])
            start += len(part)
        return ids


def _eos_id(tokenizer: Tokenizer, eos: str | int | None) -> int:
    """Returns the id of the token that ends a text."""
    if isinstance(eos, str):
        return tokenizer.piece_to_id(eos)
    id = tokenizer.eos_id if eos is None else eos
    if id is None:
        raise ArgumentError(f"the vocabulary has no token that ends a text; name one with {keyword('eos=')}")
    return id


def _adds_space(tokenizer: Tokenizer) -> bool:
    """Reports whether encoding adds a space at the start of a text."""
    return any(tokenizer.vocab_bytes()[id][:1] == b" " for id in ids_or_nothing(tokenizer, b"a")[:1])


def _special_ids(tokenizer: Tokenizer) -> list[int]:
    """Returns the ids that llguidance treats as special: special tokens, and added ones that are written as <...>."""
    table = tokenizer.vocab()
    added = (token for token in tokenizer.spec.special if token.text.startswith("<") and token.text.endswith(">"))
    return sorted({*table.ids[table.special].tolist(), *(token.id for token in added)})


def _without_added_space(spec: Spec) -> Spec:
    """Returns a Spec that encodes a text as it is encoded within another text, without a space at its start."""
    normalize = tuple(step for step in map(_normalize_within, spec.normalize) if step is not None)
    split = tuple(step for step in map(_split_within, spec.split) if step is not None)
    return replace(spec, normalize=normalize, split=split)


def _normalize_within(step: NormalizeStep) -> NormalizeStep | None:
    match step:
        case SentencePieceNormalize():
            return replace(step, add_dummy_prefix=False, remove_extra_whitespaces=False)
        case UgmNormalize():
            return replace(step, add_space_prefix=False, remove_extra_whitespaces=False)
        case PrefixSpace() | Prepend():
            return None
    return step


def _split_within(step: SplitStep) -> SplitStep | None:
    match step:
        case Metaspace():
            return replace(step, prepend="never")
        case PieceSpace():
            return None
    return step
