"""Runs single stages of a tokenizer's pipeline in the engine.

A probe is a small tokenizer: it has some of the steps of a Spec, and a vocabulary whose tokens are single bytes. So its
tokens are the bytes that the model would get, each with the range that it comes from, and its words are the pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .. import _core
from ..options import special_text
from ..records import replace
from ..spec import (
    Bpe,
    BytesDecode,
    Char,
    Kind,
    NormalizeStep,
    Replace,
    Spec,
    SpecialToken,
    SplitStep,
    Template,
    Vocab,
    is_sentencepiece,
)
from ..utf8 import is_utf8
from ..values import Special

FIRST_SPECIAL_ID = 1 << 24
"""The id of the first special token in a probe. Its other ids are smaller, so the ids show which tokens are special."""
_MARKER = "\U0010fffe\U000f1e57\U0010fffe"
_NO_TEXT = "\U0010fffe\U000f1e58\U0010fffe"
"""Stands for an empty text of a special token: a step of the probe removes it. Normalization can remove the whole text
of a token; then it is found everywhere, and is a token where ``lstrip`` or ``rstrip`` add white space."""
_BYTE_ROWS = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)]
_FALLBACK_ROWS = [
    *((b"<0x%02X>" % byte, byte, 0.0, Kind.BYTE) for byte in range(256)),
    (b"<unk>", 256, 0.0, Kind.UNKNOWN),
]
_FIRST_USER_DEFINED_ID = 257


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Bytes of a rewritten text, and the range that they come from."""

    text: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a text: a special token with its place in the list of special tokens, or with None a text."""

    special: int | None
    start: int
    end: int


class Probes:
    """The probes of one Spec, which are compiled when they are first needed."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.specials = _special_tokens(spec)
        self._is_sentencepiece = is_sentencepiece(spec.model)
        self.user_defined_ids = _user_defined_ids(spec) if self._is_sentencepiece else frozenset()
        self._tokenizers: dict[object, _core.Tokenizer] = {}
        self._normalized_texts: dict[int, bytes] = {}

    # Special tokens

    def cut(self, text: bytes, special: Special) -> list[Cut]:
        """Returns the special tokens that are searched for in the text itself, and the texts between them."""
        return self._cut(text, special, "raw")

    def cut_normalized(self, text: bytes, special: Special) -> list[Cut]:
        """Returns the special tokens that are searched for in normalized text, and the texts between them."""
        return self._cut(text, special, "normalized")

    def _cut(self, text: bytes, special: Special, kind: str) -> list[Cut]:
        searched = [token.normalized == (kind == "normalized") for token in self.specials]
        if not any(searched):
            return [Cut(None, 0, len(text))] if text else []
        tokenizer = self._tokenizer_for_specials(kind, searched)
        texts = tokenizer.special_tokens() if special == "all" else self._texts_for(kind, special)
        options = tokenizer.options(False, {text for text, _ in texts}, set())
        words = tokenizer.token_columns(text, options).words()
        cuts: list[Cut] = []
        last_word = None
        for token, word in zip(tokenizer.tokens(text, options), words, strict=True):
            # Texts are counted byte by byte: a token without text can cut a character, and spans are of whole ones.
            if token.id >= FIRST_SPECIAL_ID:
                cuts.append(Cut(token.id - FIRST_SPECIAL_ID, token.byte_start, token.byte_end))
            elif not cuts or cuts[-1].special is not None:
                cuts.append(Cut(None, token.byte_start, token.byte_start + 1))
            elif word == last_word:
                cuts[-1] = Cut(None, cuts[-1].start, cuts[-1].end + 1)
            else:
                cuts.append(Cut(None, cuts[-1].end, cuts[-1].end + 1))
            last_word = word
        return cuts

    def _tokenizer_for_specials(self, kind: str, searched: Sequence[bool]) -> _core.Tokenizer:
        key = ("special", kind)
        if key not in self._tokenizers:
            tokens: list[SpecialToken] = []
            control: list[tuple[bytes, int, float, int]] = []
            for place, (token, is_searched) in enumerate(zip(self.specials, searched, strict=True)):
                text, id = self._text_for(kind, place), FIRST_SPECIAL_ID + place
                if is_searched and text and not is_utf8(text):  # a control entry
                    control.append((text, id, 0.0, Kind.CONTROL))
                elif is_searched and text:
                    tokens.append(replace(token, text=text.decode(), id=id, normalized=False))
            normalize: tuple[NormalizeStep, ...] = ()
            if any(_NO_TEXT in token.text for token in tokens):
                tokens = [replace(token, normalized=True) for token in tokens]
                normalize = (Replace(_NO_TEXT, "", is_regex=False),)
            # The engine searches in another way if any token is always recognized.
            if not all(token.special for token in self.specials):
                tokens.append(SpecialToken(_MARKER, FIRST_SPECIAL_ID + len(self.specials), special=False))
            self._tokenizers[key] = _compile(control, normalize, special=tuple(tokens), matching=self.spec.matching)
        return self._tokenizers[key]

    def _text_for(self, kind: str, place: int) -> bytes:
        """Returns the text that is searched for: of some tokens, the normalized text, or a stand-in if it is empty."""
        text = self.specials[place].text.encode("utf-8", "surrogateescape")
        if kind == "raw":
            return text
        if place not in self._normalized_texts:
            no_text = _NO_TEXT.encode() * (1 + place) if text else b""
            self._normalized_texts[place] = self.normalized(text) or no_text
        return self._normalized_texts[place]

    def _texts_for(self, kind: str, special: Special) -> list[tuple[bytes, int]]:
        """Returns the texts of the allowed tokens, as `special_tokens` of the engine does."""
        allowed = set(special)
        is_normalized = kind == "normalized"
        return [
            (self._text_for(kind, place), token.id)
            for place, token in enumerate(self.specials)
            if token.text in allowed and token.normalized == is_normalized
        ]

    # Normalization

    def normalized(self, text: bytes) -> bytes:
        """Returns the text after all normalization steps."""
        if not self.spec.normalize:
            return text
        return b"".join(run.text for run in self._run_normalizer(self.spec.normalize, text))

    def normalize_step(self, number: int, text: bytes) -> list[Rewritten]:
        """Returns the text after one normalization step, with the ranges of ``text`` that its bytes come from."""
        return self._run_normalizer(self.spec.normalize[number : number + 1], text)

    def _run_normalizer(self, steps: tuple[NormalizeStep, ...], text: bytes) -> list[Rewritten]:
        key = ("normalize", steps)
        if key not in self._tokenizers:
            self._tokenizers[key] = self._compile_normalizer(steps)
        columns = self._tokenizers[key].spans(text)
        ids, starts, ends = columns[0].tolist(), columns[3].tolist(), columns[4].tolist()
        if self._is_sentencepiece:
            return self._join_characters(ids, starts, ends, len(text))
        runs: list[Rewritten] = []
        first = 0
        for at in range(1, len(ids) + 1):
            if at == len(ids) or (starts[at], ends[at]) != (starts[first], ends[first]):
                runs.append(Rewritten(bytes(ids[first:at]), starts[first], ends[first]))
                first = at
        return runs

    def _join_characters(self, ids: list[int], starts: list[int], ends: list[int], size: int) -> list[Rewritten]:
        """Returns the runs of a text whose characters are tokens of bytes: only the last byte has a range."""
        runs: list[Rewritten] = []
        pending = b""
        for id, start, end in zip(ids, starts, ends, strict=True):
            pending += bytes([id]) if id < 256 else self.spec.vocab.piece(id - _FIRST_USER_DEFINED_ID)
            if end > start:
                runs.append(Rewritten(pending, start, end))
                pending = b""
        return [*runs, Rewritten(pending, size, size)] if pending else runs

    def _compile_normalizer(self, steps: tuple[NormalizeStep, ...]) -> _core.Tokenizer:
        pieces = self.spec.vocab.pieces()
        rows = [
            (pieces[row], _FIRST_USER_DEFINED_ID + row, 0.0, Kind.USER_DEFINED)
            for row, kind in enumerate(self.spec.vocab.kinds.tolist())
            if kind == Kind.USER_DEFINED
        ]
        if not self._is_sentencepiece:
            return _compile(rows=rows, normalize=steps)
        return _core.Tokenizer(
            Spec(
                Vocab.from_rows([*_FALLBACK_ROWS, *rows]),
                Char(),
                normalize=steps,
                unknown="bytes",
                sentencepiece_version=self.spec.sentencepiece_version,
            )
        )

    # Splitting

    def split(self, count: int, text: bytes, is_first: bool) -> list[Rewritten]:
        """Returns the pieces after the first ``count`` split steps. ``is_first``: the text is at the start of the
        caller's text."""
        return self._run_split(self.spec.split[:count], text, is_first)

    def split_by(self, step: SplitStep, text: bytes) -> list[Rewritten]:
        """Returns the pieces to which one step splits the start of a text."""
        return self._run_split((step,), text, True)

    def split_origins(self, step: SplitStep, text: bytes, is_first: bool) -> list[tuple[bytes, list[int], list[int]]]:
        """Returns the pieces to which one step splits a text, each with the starts and ends of the characters that its
        bytes come from."""
        found, starts, ends, borders = self._split_columns((step,), text, is_first)
        return [(found[at:stop], starts[at:stop], ends[at:stop]) for at, stop in pairwise(borders)]

    def _run_split(self, steps: tuple[SplitStep, ...], text: bytes, is_first: bool) -> list[Rewritten]:
        found, starts, ends, borders = self._split_columns(steps, text, is_first)
        return [Rewritten(found[at:stop], starts[at], ends[stop - 1]) for at, stop in pairwise(borders)]

    def _split_columns(
        self, steps: tuple[SplitStep, ...], text: bytes, is_first: bool
    ) -> tuple[bytes, list[int], list[int], list[int]]:
        """Returns the bytes of all pieces, the starts and ends that they come from, and the borders of the pieces."""
        key = ("split", steps)
        if key not in self._tokenizers:
            self._tokenizers[key] = _compile(split=steps, special=(SpecialToken(_MARKER, FIRST_SPECIAL_ID),))
        tokenizer = self._tokenizers[key]
        marker = b"" if is_first else _MARKER.encode()
        options = None if is_first else tokenizer.options(False, {marker}, set())
        words = tokenizer.token_columns(marker + text, options).words()
        columns = tokenizer.spans(marker + text, options)
        skipped = 0 if is_first else 1  # the token of the marker
        ids, starts, ends = (columns[number].tolist()[skipped:] for number in (0, 3, 4))
        words = words[skipped:]
        borders = [at for at in range(len(ids)) if at == 0 or words[at] != words[at - 1]]
        size = len(marker)
        return bytes(ids), [start - size for start in starts], [end - size for end in ends], [*borders, len(ids)]


def _compile(
    rows: Sequence[tuple[bytes, int, float, int]] = (),
    normalize: tuple[NormalizeStep, ...] = (),
    *,
    split: tuple[SplitStep, ...] = (),
    special: tuple[SpecialToken, ...] = (),
    matching: str = "longest",
) -> _core.Tokenizer:
    """Returns a tokenizer whose tokens are the bytes of the text."""
    import numpy as np

    spec = Spec(
        Vocab.from_rows([*_BYTE_ROWS, *rows]),
        Bpe("merges", merges=np.zeros((0, 3), dtype=np.uint32)),
        special=special,
        matching=matching,  # type: ignore[arg-type]
        normalize=normalize,
        split=split,
        post=Template(),
        decode=BytesDecode(),
    )
    return _core.Tokenizer(spec)


def _special_tokens(spec: Spec) -> list[SpecialToken]:
    """Returns all special tokens: those that the Spec lists, and the control entries of the vocabulary."""
    listed_ids = {token.id for token in spec.special}
    control = [
        SpecialToken(special_text(piece), id)
        for piece, id, kind in zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True)
        if kind == Kind.CONTROL and id not in listed_ids
    ]
    return [*spec.special, *control]


def _user_defined_ids(spec: Spec) -> frozenset[int]:
    """Returns the ids of the user-defined pieces, unless they are listed as special tokens too."""
    kinds = zip(spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True)
    listed_ids = {token.id for token in spec.special}
    return frozenset(id for id, kind in kinds if kind == Kind.USER_DEFINED and id not in listed_ids)
