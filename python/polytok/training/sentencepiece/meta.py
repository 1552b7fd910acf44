"""The reserved pieces: unknown piece, begin and end of text, padding, control and user-defined symbols, and bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import ArgumentError
from ...keywords import keyword
from ...space_mark import SPACE_MARK
from ...spec import Kind
from .options import SentencePieceOptions

ReservedPieces = dict[int, tuple[str, Kind]]
"""The text and kind of each reserved piece, by id."""


def reserved_pieces(options: SentencePieceOptions, model: str) -> ReservedPieces:
    """Returns the text and kind of each reserved piece, by id.

    The unknown piece and the pieces bos, eos and pad have the ids of the options. Symbols and bytes get the lowest free
    ids, in order. If a symbol has the same text as bos, eos or pad, that piece gets the kind of the symbol. Raises
    `ArgumentError` for ids and texts that SentencePiece rejects.

    >>> options = SentencePieceOptions(vocab_size=10, user_defined_symbols=("<sep>", "</s>"))
    >>> reserved_by_id = reserved_pieces(options, "bpe")
    >>> [(id, text, kind.name) for id, (text, kind) in reserved_by_id.items()]
    [(0, '<unk>', 'UNKNOWN'), (1, '<s>', 'CONTROL'), (2, '</s>', 'USER_DEFINED'), (3, '<sep>', 'USER_DEFINED')]
    """
    reserved_by_id = _special_pieces(options)
    roles = {getattr(options, f"{role}_piece"): getattr(options, f"{role}_id") for role in ("pad", "eos", "bos")}
    role_ids = {text: id for text, id in roles.items() if id >= 0}
    seen_texts: set[str] = set()
    free_id = 0
    for text, kind in _symbols(options, model):
        if text in seen_texts:
            raise ArgumentError(f"{text!r} occurs twice among control symbols, user-defined symbols and bytes")
        if text == options.unk_piece:
            raise ArgumentError(f"{text!r} is the unknown piece and cannot also be a control or user-defined symbol")
        if not text:
            raise ArgumentError("a control or user-defined symbol is an empty text: remove it")
        seen_texts.add(text)
        if text in role_ids:
            reserved_by_id[role_ids[text]] = (text, kind)
            continue
        while free_id in reserved_by_id:
            free_id += 1
        reserved_by_id[free_id] = (text, kind)
    if len(reserved_by_id) > options.vocab_size:
        raise ArgumentError(
            f"{keyword(f'vocab_size={options.vocab_size}')} is too small for {len(reserved_by_id)} reserved pieces"
        )
    return reserved_by_id


def _special_pieces(options: SentencePieceOptions) -> ReservedPieces:
    reserved_by_id: ReservedPieces = {}
    unk_text = options.unk_piece
    for role in ("unk", "bos", "eos", "pad"):
        id, text = getattr(options, f"{role}_id"), getattr(options, f"{role}_piece")
        if id < 0:
            continue
        if id >= options.vocab_size:
            raise ArgumentError(
                f"{keyword(f'{role}_id={id}')} is not below {keyword(f'vocab_size={options.vocab_size}')}"
            )
        if id in reserved_by_id:
            raise ArgumentError(f"{keyword(f'{role}_id={id}')} is also the id of {reserved_by_id[id][0]!r}")
        if text == unk_text and any(other_text == unk_text for other_text, _ in reserved_by_id.values()):
            raise ArgumentError(f"{role}_piece={text!r} is also the unknown piece")
        reserved_by_id[id] = (text, Kind.UNKNOWN if text == unk_text else Kind.CONTROL)
    if all(kind != Kind.UNKNOWN for _, kind in reserved_by_id.values()):
        if options.sentencepiece_version == "0.2.1":
            raise ArgumentError(f"SentencePiece 0.2.1 needs an unknown piece: set {keyword('unk_id')}")
        if not options.byte_fallback:
            raise ArgumentError(
                f"without {keyword('byte_fallback')}, the vocabulary needs an unknown piece: set {keyword('unk_id')}"
            )
    return reserved_by_id


def _symbols(options: SentencePieceOptions, model: str) -> Iterator[tuple[str, Kind]]:
    for text in options.control_symbols:
        yield text, Kind.CONTROL
    for text in options.user_defined_symbols:
        yield text, Kind.USER_DEFINED
        # A word of a text includes the space before it.
        if model == "word" and options.sentencepiece_version == "0.2.3" and not text.startswith(SPACE_MARK):
            yield SPACE_MARK + text, Kind.USER_DEFINED
    if options.byte_fallback:
        for byte in range(256):
            yield f"<0x{byte:02X}>", Kind.BYTE
