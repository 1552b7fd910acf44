"""Ids without text: the definitions, which search all texts and scan the whole vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polytok.reference.decode import decode_bytes
from polytok.reference.growing import Encode, common_start
from polytok.spec import Kind, Spec


def is_canonical(ids: Sequence[int], texts: Iterable[bytes], encode: Encode) -> bool:
    """Reports whether one of some texts is encoded to exactly these ids.

    >>> is_canonical([97, 98], [b"a", b"ab"], list)
    True
    """
    return any(encode(text) == [*ids] for text in texts)


def first_noncanonical(ids: Sequence[int], text: bytes, encode: Encode) -> int | None:
    """Returns the index of the first id that differs from the encoding of ``text``, or None if all ids are equal.

    For a vocabulary whose decoding restores every text, ``text`` is the decoded text of the ids.

    >>> first_noncanonical([97, 99], b"ab", list)
    1
    """
    encoded = encode(text)
    return None if encoded == [*ids] else common_start(ids, encoded)


def vocab_bytes(spec: Spec) -> list[bytes]:
    """Returns what each id adds to the decoded text after a letter; b"" for special tokens and ids without a token.

    >>> from polytok.reference import train
    >>> vocab_bytes(train("aaabdaaabac", 256 + 3))[256:]
    [b'aa', b'aaa', b'aaab']
    """
    rows = zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), spec.vocab.kinds.tolist(), strict=True)
    entries = {id: (piece, kind) for id, piece, kind in rows}
    special = {token.id for token in spec.special}
    letters = [id for id, (piece, _) in entries.items() if piece == b"a"]
    start = decode_bytes(spec, letters)

    def added(id: int) -> bytes:
        piece, kind = entries.get(id, (b"", Kind.UNUSED))
        if kind == Kind.BYTE:
            return bytes([int(piece[3:5], 16)])  # alone, a byte of a longer character is decoded to U+FFFD
        is_plain = id not in special and kind in (Kind.NORMAL, Kind.USER_DEFINED)
        return decode_bytes(spec, [*letters, id])[len(start) :] if is_plain else b""

    return [added(id) for id in range(max([*entries, *special], default=-1) + 1)]


def prefix_mask(prefix: bytes, bytes_of_id: Sequence[bytes]) -> list[bool]:
    """Returns for each id whether it can be the next one if the text must begin with ``prefix``, which is not empty.

    >>> prefix_mask(b"ab", [b"a", b"b", b"abc", b""])
    [True, False, True, False]
    """
    return [bool(text) and (text.startswith(prefix) or prefix.startswith(text)) for text in bytes_of_id]


def heal(ids: Sequence[int], stable: int, bytes_of_id: Sequence[bytes]) -> tuple[list[int], bytes]:
    """Returns the ids that are kept, and the bytes of the others, with which the generated text must begin.

    The first ``stable`` ids are kept, if at most 16 others are removed. Else the ids are removed from the first one on
    from which the joined bytes are the start of a longer entry. Ids up to the last one without text are kept.

    >>> heal([0, 1], 1, [b"http", b":", b"://"])
    ([0], b':')
    """

    def joined(first: int) -> bytes:
        return b"".join(bytes_of_id[id] for id in ids[first:])

    def has_longer_entry(first: int) -> bool:
        start = joined(first)
        return any(text.startswith(start) and text != start for text in bytes_of_id)

    after_special = max((place + 1 for place, id in enumerate(ids) if not bytes_of_id[id]), default=0)
    kept = stable
    if not stable >= max(after_special, len(ids) - 16):
        kept = next(filter(has_longer_entry, range(after_special, len(ids))), len(ids))
    return [*ids[:kept]], joined(kept)
