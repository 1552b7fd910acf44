"""Reserved pieces and their ids: unknown, begin and end of text, padding, control and user-defined symbols, bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import ArgumentError
from ...space_mark import SPACE_MARK
from ...spec import Kind
from .options import SentencePieceOptions

Meta = dict[int, tuple[str, Kind]]


def reserved(options: SentencePieceOptions, model: str) -> Meta:
    """The text and the kind of each id that is not trained.

    The four special pieces have their given ids; others take the lowest free ids, in order. A symbol with the same text
    as one of the special pieces gives its kind to that piece.

    >>> meta = reserved(SentencePieceOptions(vocab_size=10, user_defined_symbols=("<sep>", "</s>")), "bpe")
    >>> [(id, text, kind.name) for id, (text, kind) in meta.items()]
    [(0, '<unk>', 'UNKNOWN'), (1, '<s>', 'CONTROL'), (2, '</s>', 'USER_DEFINED'), (3, '<sep>', 'USER_DEFINED')]
    """
    meta = _special(options)
    roles = {getattr(options, f"{role}_piece"): getattr(options, f"{role}_id") for role in ("pad", "eos", "bos")}
    owners = {text: id for text, id in roles.items() if id >= 0}
    seen: set[str] = set()
    free = 0
    for text, kind in _symbols(options, model):
        if text in seen:
            raise ArgumentError(f"{text!r} is defined twice among control and user-defined symbols (and bytes)")
        if text == options.unk_piece:
            raise ArgumentError(f"{text!r} is the unknown piece: it cannot be a control or user-defined symbol too")
        if not text:
            raise ArgumentError("a control or user-defined symbol is empty")
        seen.add(text)
        if text in owners:
            meta[owners[text]] = (text, kind)
            continue
        while free in meta:
            free += 1
        meta[free] = (text, kind)
    if len(meta) > options.vocab_size:
        raise ArgumentError(f"vocab_size={options.vocab_size} is too small for {len(meta)} reserved pieces")
    return meta


def _special(options: SentencePieceOptions) -> Meta:
    meta: Meta = {}
    unk = options.unk_piece
    for role in ("unk", "bos", "eos", "pad"):
        id, text = getattr(options, f"{role}_id"), getattr(options, f"{role}_piece")
        if id < 0:
            continue
        if id >= options.vocab_size:
            raise ArgumentError(f"{role}_id={id} is not below vocab_size={options.vocab_size}")
        if id in meta:
            raise ArgumentError(f"{role}_id={id} is the id of {meta[id][0]!r} already")
        if text == unk and any(taken == unk for taken, _ in meta.values()):
            raise ArgumentError(f"{role}_piece={text!r} is the unknown piece already")
        meta[id] = (text, Kind.UNKNOWN if text == unk else Kind.CONTROL)
    if all(kind != Kind.UNKNOWN for _, kind in meta.values()):
        if options.line == "0.2.1":
            raise ArgumentError("SentencePiece 0.2.1 needs an unknown piece: set unk_id")
        if not options.byte_fallback:
            raise ArgumentError("without byte_fallback there must be an unknown piece: set unk_id")
    return meta


def _symbols(options: SentencePieceOptions, model: str) -> Iterator[tuple[str, Kind]]:
    for text in options.control_symbols:
        yield text, Kind.CONTROL
    for text in options.user_defined_symbols:
        yield text, Kind.USER_DEFINED
        # In a text, a word includes the space before it.
        if model == "word" and options.line == "0.2.3" and not text.startswith(SPACE_MARK):
            yield SPACE_MARK + text, Kind.USER_DEFINED
    if options.byte_fallback:
        for byte in range(256):
            yield f"<0x{byte:02X}>", Kind.BYTE
