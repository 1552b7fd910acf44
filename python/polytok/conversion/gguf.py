"""Converts models of other formats to the models that llama.cpp supports in a GGUF file.

llama.cpp runs each family of models with fixed code that has few flags, so most conversions have losses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..columns import has_kind
from ..errors import FormatError
from ..formats.gguf_texts import escape
from ..keywords import keyword
from ..space_mark import SPACE_MARK, SPACE_MARK_BYTES
from ..spec import (
    BertNormalize,
    Bpe,
    Kind,
    LlamaCppDecode,
    Longest,
    NormalizeStep,
    PatternSplit,
    PrefixSpace,
    Replace,
    ReplaceInvalid,
    SentencePieceNormalize,
    Spec,
    SpecialToken,
    Template,
    UgmNormalize,
    Unigram,
    Vocab,
    WordPiece,
    WpmNormalize,
    described,
    merges_bytes,
)
from .base import Converted, counted_entries, first_items, unmerged_text
from .byte_bpe import pipeline_losses
from .derivation import derivations, rows_merged_differently
from .gguf_split import choose_pre_tokenizer
from .merges import effective_merges, with_known_merges
from .ranks import unmerged_entries
from .rows import sorted_by_id, with_rows, with_texts
from .sentencepiece import BPE_MODEL, to_sentencepiece
from .special import flag_losses, matching_losses, only_text_rows

_SPM_MODEL = Bpe("score", symbols="chars", reserved=True)
_WORD_SPLIT = (PatternSplit("\0", "removed", is_regex=False),)
BYTE_NEVER_IN_TEXT = b"\xff"
LLAMA_CPP_EOS = 11
"""The id at which llama.cpp ends a text of byte-level BPE if the file names no eos."""


def to_gguf(spec: Spec) -> Converted:
    """Converts to the Spec of a GGUF file."""
    if isinstance(spec.decode, LlamaCppDecode):
        return Converted(spec)
    model = spec.model
    if merges_bytes(model):
        return _to_bpe(spec)
    if isinstance(model, WordPiece):
        return _to_wpm(spec)
    if isinstance(model, Longest):
        return _to_rwkv(spec)
    source = to_sentencepiece(spec, "llama.cpp")
    if source.spec.model == BPE_MODEL:
        return source.then(_to_spm(source.spec))
    if source.spec.model == Unigram():
        return source.then(_to_ugm(source.spec))
    raise FormatError(f"llama.cpp has no model like this: {described(source.spec.model)}")


# Byte-level BPE


def _to_bpe(spec: Spec) -> Converted:
    model = spec.model
    assert isinstance(model, Bpe)
    vocab, special = sorted_by_id(only_text_rows(spec)), spec.special
    model = with_known_merges(model, vocab)
    merges = effective_merges(vocab, model).merges
    chosen_split = choose_pre_tokenizer(spec)
    losses = [*matching_losses(spec, "longest_first"), *chosen_split.losses, *flag_losses(special, always=True)]
    losses += pipeline_losses(spec)
    losses += ["decode: spaces before punctuation are removed (clean_spaces)"] if chosen_split.clean_spaces else []
    if model.whole_piece_first != chosen_split.whole_piece_first and (pieces := unmerged_entries(vocab, model)):
        found = "not found" if model.whole_piece_first else "found"
        one, many = f"is {found} as a whole piece", f"are {found} as whole pieces"
        losses.append(f"model: {unmerged_text(pieces, one, many)}")
    gguf_spec = replace(
        spec,
        vocab=_with_special_rows(vocab, special),
        model=Bpe("merges", merges=merges, whole_piece_first=chosen_split.whole_piece_first),
        special=tuple(_without_matching_flags(token) for token in sorted(special, key=lambda token: token.id)),
        matching="longest_first",
        normalize=(ReplaceInvalid(lenient=True),),
        split=chosen_split.steps,
        unknown="drop",
        decode=LlamaCppDecode("bpe", clean_spaces=chosen_split.clean_spaces),
        trim=None,
        extra={**spec.extra, "gguf": {"pre_tokenizer": chosen_split.name}},
    )
    notes = ["normalize: bytes that are not UTF-8 become U+FFFD", *_default_eos_notes(gguf_spec)]
    return _with_expressible_template(Converted(gguf_spec, tuple(losses), tuple(notes)))


NAME_EOS_ADVICE = "train with eos= to name a token"


def _default_eos_notes(spec: Spec) -> Iterator[str]:
    """Yields a note if llama.cpp ends texts at its default id, because no token is named eos."""
    if "eos" not in spec.names and len(spec.vocab) > LLAMA_CPP_EOS:
        piece = spec.vocab.piece(LLAMA_CPP_EOS)
        yield (
            f"names: no token is named eos, so llama.cpp ends a text at its default id {LLAMA_CPP_EOS}, which is "
            f"{piece!r}; {NAME_EOS_ADVICE}"
        )


def _with_special_rows(vocab: Vocab, special: tuple[SpecialToken, ...]) -> Vocab:
    """Adds a row for each special token, and an unused row for each id without a row."""
    used_ids = set(vocab.ids.tolist())
    texts: dict[int, SpecialToken] = {}
    for token in special:
        if texts.setdefault(token.id, token) is not token:
            raise FormatError(f"two special tokens have the id {token.id}: {texts[token.id].text}, {token.text}")
    kinds = {number: Kind.CONTROL if token.special else Kind.USER_DEFINED for number, token in texts.items()}
    rows = [(token.text.encode(), number, kinds[number]) for number, token in texts.items() if number not in used_ids]
    size = max((*used_ids, *texts), default=-1) + 1
    if size > 2 * (len(used_ids) + len(texts)):
        raise FormatError(f"ids go up to {size - 1}, but GGUF has a row for each, and most would be empty")
    rows += [(b"[PAD%d]" % n, n, Kind.UNUSED) for n in range(size) if n not in used_ids and n not in texts]
    extended_vocab = with_rows(vocab, rows)
    new_kinds = extended_vocab.kinds.copy()
    for number, kind in kinds.items():
        new_kinds[number] = kind
    return replace(extended_vocab, kinds=new_kinds)


def _without_matching_flags(token: SpecialToken) -> SpecialToken:
    """Removes the flags of a special token that a GGUF file cannot express."""
    return SpecialToken(token.text, token.id, token.special)


def _with_expressible_template(conversion: Converted) -> Converted:
    """Reduces the template to what the file's flags can express: at most BOS before a text and EOS after the text."""
    spec = conversion.spec
    ids_before, ids_after = spec.post.before, spec.post.after
    ids_by_role = {"bos": ids_before, "eos": ids_after}
    names = dict(spec.names)
    for role, ids in ids_by_role.items():
        if len(ids) == 1:
            names[role] = ids[0]
    expressible_template = Template.around(ids_before[:1], ids_after[:1])
    losses = (
        ()
        if expressible_template == spec.post
        else ("post: more than one id before and after a text cannot be expressed",)
    )
    return conversion.then(Converted(replace(spec, post=expressible_template, names=names), losses))


# SentencePiece


def _to_spm(spec: Spec) -> Converted:
    step = spec.normalize[0]
    assert isinstance(step, SentencePieceNormalize) and isinstance(spec.model, Bpe)
    normalize: tuple[NormalizeStep, ...] = (Replace(" ", SPACE_MARK),)
    if step.add_dummy_prefix:
        normalize = (PrefixSpace(), *normalize)
    gguf_spec = replace(
        spec,
        model=_SPM_MODEL,
        special=_special_tokens_of_kinds(spec),
        matching="longest_first",
        normalize=normalize,
        unknown="bytes",
        decode=LlamaCppDecode("spm", strip_space=step.add_dummy_prefix),
    )
    losses = [*_spm_losses(spec, step), *_reserved_losses(spec)]
    notes = ["normalize: bytes that are not UTF-8 stay as they are", "decode: control pieces print their names"]
    return _with_expressible_template(Converted(gguf_spec, tuple(losses), tuple(notes)))


def _spm_losses(spec: Spec, step: SentencePieceNormalize) -> Iterator[str]:
    if step.charsmap:
        yield "normalize: the character map is not applied"
    if step.remove_extra_whitespaces:
        yield "normalize: spaces at both ends and in runs stay"
    if step.whitespace_as_suffix or not step.escape_whitespaces:
        yield "normalize: the text's spaces differ from those of the pieces"
    yield from _kind_losses(spec.vocab)
    if spec.unknown != "bytes" and _count_of_kind(spec.vocab, Kind.BYTE) < 256:
        yield "unknown: characters without an entry need byte pieces"


def _kind_losses(vocab: Vocab) -> Iterator[str]:
    """Yields a loss for each kind of pieces that llama.cpp encodes differently."""
    if user_defined_count := _count_of_kind(vocab, Kind.USER_DEFINED):
        yield (
            f"special: {user_defined_count} user-defined pieces are matched first, and the text after them is "
            "encoded as a new text"
        )
    if unused_count := _count_of_kind(vocab, Kind.UNUSED):
        yield f"vocab: {unused_count} unused pieces are produced from a text"


def _reserved_losses(spec: Spec) -> Iterator[str]:
    """Yields a loss if merging can change when rows of every kind can merge, as in llama.cpp."""
    assert isinstance(spec.model, Bpe)
    rows = rows_merged_differently(derivations(spec.vocab, spec.model), derivations(spec.vocab, _SPM_MODEL))
    if len(rows):
        pieces = [spec.vocab.piece(int(row)) for row in rows]
        reason = "differently, because pieces of all kinds take part"
        yield f"model: {counted_entries(pieces, f'merges {reason}', f'merge {reason}')}"


def _special_tokens_of_kinds(spec: Spec) -> tuple[SpecialToken, ...]:
    """Returns the control, unknown and user-defined pieces as special tokens; the user-defined ones always match."""
    is_special_by_kind = {Kind.UNKNOWN: True, Kind.CONTROL: True, Kind.USER_DEFINED: False}
    rows = [
        (row, is_special_by_kind[Kind(kind)])
        for row, kind in enumerate(spec.vocab.kinds.tolist())
        if kind in is_special_by_kind
    ]
    return tuple(SpecialToken(spec.vocab.piece(row).decode(errors="replace"), row, special) for row, special in rows)


def _count_of_kind(vocab: Vocab, kind: Kind) -> int:
    return int(np.count_nonzero(has_kind(vocab.kinds, kind)))


def _to_ugm(spec: Spec) -> Converted:
    step = spec.normalize[0]
    assert isinstance(step, SentencePieceNormalize)
    if step.whitespace_as_suffix or not step.escape_whitespaces:
        raise FormatError("llama.cpp's Unigram needs spaces before words, written as U+2581")
    if spec.unknown == "bytes":
        raise FormatError(f"llama.cpp's Unigram has no byte fallback; train with {keyword('byte_fallback', False)}")
    gguf_spec = replace(
        spec,
        model=Unigram("llama.cpp"),
        special=_special_tokens_of_kinds(spec),
        matching="longest_first",
        normalize=(UgmNormalize(step.charsmap, step.add_dummy_prefix, step.remove_extra_whitespaces),),
        unknown="unk",
        decode=LlamaCppDecode("ugm", strip_space=step.add_dummy_prefix),
    )
    return _with_expressible_template(Converted(gguf_spec, tuple(_ugm_losses(spec, step))))


def _ugm_losses(spec: Spec, step: SentencePieceNormalize) -> Iterator[str]:
    yield (
        "model: scores are summed in float64, not float32: segmentations whose scores differ only by rounding may "
        "change"
    )
    if step.add_dummy_prefix and not step.remove_extra_whitespaces:
        yield "normalize: the added space is after the spaces at the start, and a text of only spaces gets none"
    if not step.add_dummy_prefix and step.remove_extra_whitespaces:
        yield "normalize: a space is added before the first word"
    yield from _kind_losses(spec.vocab)
    yield "decode: the unknown piece prints nothing or its name"


# WordPiece and RWKV


def _to_wpm(spec: Spec) -> Converted:
    model, step = spec.model, next((step for step in spec.normalize if isinstance(step, BertNormalize)), None)
    assert isinstance(model, WordPiece)
    losses = []
    if step is None:
        raise FormatError("llama.cpp's WordPiece needs BERT's normalizer, which this tokenizer lacks")
    if not (step.clean_text and step.handle_chinese_chars):
        losses.append("normalize: control characters are removed and ideographs separated, even without these flags")
    losses.append("decode: llama.cpp's rules decide where spaces are")
    losses.append(
        "normalize: accents are stripped by the first character of each decomposition; lower case is the simple mapping"
    )
    if model.max_chars is not None:
        losses.append(f"model: words of more than {model.max_chars} characters are not unknown because of their length")
    special = {token.text: token for token in spec.special}
    texts = [_with_space_mark(piece, model.continuing_prefix, special) for piece in spec.vocab.pieces()]
    if len(set(texts)) < len(texts):
        raise FormatError("two entries have the same text after their prefix is removed")
    kinds = spec.vocab.kinds.copy()
    gguf_spec = replace(
        spec,
        vocab=replace(with_texts(spec.vocab, texts), kinds=kinds),
        model=WordPiece(continuing_prefix="", max_chars=None, phantom_space=True),
        matching="longest_first",
        special=tuple(_without_matching_flags(token) for token in sorted(spec.special, key=lambda token: token.id)),
        normalize=(ReplaceInvalid(lenient=True), WpmNormalize(step.lowercase, step.strip_accents)),
        split=_WORD_SPLIT,
        unknown="unk",
        decode=LlamaCppDecode("wpm", clean_spaces=True),
    )
    losses += [*flag_losses(spec.special, always=True), *matching_losses(spec, "longest_first")]
    return _with_wpm_template(Converted(gguf_spec, tuple(losses)))


_ROLES_AROUND_TEXT = (("bos", ("bos", "cls"), "[CLS]"), ("sep", ("sep", "eos"), "[SEP]"))
"""The role of the token that llama.cpp adds before and after a text, the roles of this token in other formats, and
its usual text."""


def _with_wpm_template(conversion: Converted) -> Converted:
    """Names the two tokens that llama.cpp adds around each text, which would otherwise be those with its default ids.

    The template names them. If it adds nothing, the roles of the tokenizer name them, or the usual texts. The last
    choice is the unknown token, because a default id can be an ordinary entry.
    """
    spec = conversion.spec
    id_of_text = {token.text: token.id for token in spec.special}
    names = dict(spec.names)
    rows = np.flatnonzero(has_kind(spec.vocab.kinds, Kind.UNKNOWN))
    if len(rows):
        names.setdefault("unk", int(rows[0]))
    for (role, other_roles, text), ids in zip(_ROLES_AROUND_TEXT, (spec.post.before, spec.post.after), strict=True):
        candidates = (*ids[:1], *map(names.get, other_roles), id_of_text.get(text), names.get("unk"))
        id = next((candidate for candidate in candidates if candidate is not None), None)
        if id is not None:
            names[role] = id
    if not {"bos", "sep"} <= names.keys():
        raise FormatError(
            "llama.cpp's WordPiece adds a token before and after each text, and no token is named bos, sep"
        )
    post = Template.around((names["bos"],), (names["sep"],))
    pieces = [spec.vocab.piece(names[role]).decode(errors="replace") for role in ("bos", "sep")]
    loss = f"post: llama.cpp always adds one token before and one after a text: {pieces[0]!r} and {pieces[1]!r}"
    losses = () if (post.before, post.after) == (spec.post.before, spec.post.after) else (loss,)
    return conversion.then(Converted(replace(spec, post=post, names=names), losses))


def _with_space_mark(piece: bytes, prefix: str, special: dict[str, SpecialToken]) -> bytes:
    """Converts ``##ing`` to ``ing`` and ``in`` to ``▁in``; returns special tokens unchanged."""
    if piece.decode(errors="replace") in special:
        return piece
    return piece.removeprefix(prefix.encode()) if piece.startswith(prefix.encode()) else SPACE_MARK_BYTES + piece


def with_every_id(vocab: Vocab, names: Mapping[int, str]) -> Vocab:
    """Sorts the rows by id, and adds a row for each id without a row.

    The texts of the added rows occur in no valid text, because llama.cpp matches every row.
    """
    used_ids = set(vocab.ids.tolist())
    size = max((*used_ids, *names), default=-1) + 1
    if size > 2 * len(used_ids):
        raise FormatError(f"ids go up to {size - 1}, but GGUF has a row for each, and most would be empty")
    missing_ids = [number for number in range(size) if number not in used_ids]
    rows = [
        (BYTE_NEVER_IN_TEXT + names.get(number, f"[PAD{number}]").encode(), number, Kind.NORMAL)
        for number in missing_ids
    ]
    return with_rows(sorted_by_id(vocab), rows)


def _to_rwkv(spec: Spec) -> Converted:
    kept_tokens = _tokens_of_rwkv(spec)
    used_ids = set(spec.vocab.ids.tolist())
    rows = [
        (token.text.encode(), token.id, Kind.NORMAL if token.special else Kind.USER_DEFINED)
        for token in kept_tokens
        if token.id not in used_ids
    ]
    names_of_ids = {token.id: token.text for token in spec.special}
    gguf_spec = replace(
        spec,
        vocab=with_every_id(with_rows(spec.vocab, rows), names_of_ids),
        special=tuple(_without_matching_flags(token) for token in kept_tokens),
        matching="longest_first",
        unknown="error",
        decode=LlamaCppDecode("rwkv"),
        post=Template(),
    )
    losses = (*_rwkv_losses(spec, kept_tokens), *flag_losses(spec.special, always=True))
    return Converted(gguf_spec, (*losses, *matching_losses(spec, "longest_first")))


def _tokens_of_rwkv(spec: Spec) -> list[SpecialToken]:
    """Returns the special tokens that a file can contain, sorted by id.

    llama.cpp searches the escaped texts of special tokens, and each text and id must be that of one row.
    """
    text_of_id = dict(zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), strict=True))
    id_of_text = {text: number for number, text in text_of_id.items()}
    tokens = []
    for token in sorted(spec.special, key=lambda token: token.id):
        text = token.text.encode()
        is_new = text_of_id.setdefault(token.id, text) == text and id_of_text.setdefault(text, token.id) == token.id
        if is_new and escape(text) == text:
            tokens.append(token)
    return tokens


def _rwkv_losses(spec: Spec, kept_tokens: list[SpecialToken]) -> Iterator[str]:
    if always_encoded := [token.text for token in kept_tokens if token.special]:
        yield (
            f"special: llama.cpp encodes {first_items(always_encoded)} in a text as special tokens even if the caller "
            "does not allow them"
        )
    if lost_texts := [token.text for token in spec.special if token not in kept_tokens]:
        yield f"special: {first_items(lost_texts)} are not special tokens, and are decoded as other bytes"
    if spec.post != Template():
        yield "post: llama.cpp adds no ids before and after a text"
