"""Hugging Face's BPE of characters: its initial symbols, which are then merged by the list.

A character gets the prefix if it is not the first of the piece, and the suffix if it is the last. Its symbols are
decided by the first of these rules that applies:

1. the entry of the character;
2. with byte fallback, the entries ``<0xHH>`` of all its bytes;
3. the unknown entry, which is written before the next character that is an entry, so after entries of bytes;
4. with ``unknown="drop"`` no symbol; then the neighbours of the character can merge.
"""

from __future__ import annotations

from dataclasses import replace

from polytok.errors import EncodeError
from polytok.reference.bpe import listed_pairs, plain_walk, taken_whole
from polytok.reference.bpe_queue import Lookup, Merging, Pair
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import BpeWalk, ByteFallback, Symbol, UnknownText
from polytok.spec import Bpe, UnknownPolicy


def walk(vocab: Vocabulary, text: bytes, model: Bpe, unknown: UnknownPolicy) -> BpeWalk:
    """Returns the walk of one piece. Spans are those of the text that a symbol stands for."""
    if model.whole_piece_first and text in vocab.last_ids:
        return taken_whole(model, vocab.last_ids[text], len(text))
    writer = _SymbolWriter(vocab, model, unknown)
    writer.write(text)
    walk = plain_walk(model, Merging(writer.symbols, _pairs(vocab, text, model)))
    return replace(walk, bytes=tuple(writer.bytes), unknown=tuple(writer.unknown))


def _pairs(vocab: Vocabulary, text: bytes, model: Bpe) -> Lookup:
    """Returns the rule of the list, with the text of the merged entry: affixes and bytes are not in the piece."""
    look_up_pair = listed_pairs(text, model)

    def look_up(left: Symbol, right: Symbol) -> Pair | None:
        pair = look_up_pair(left, right)
        return None if pair is None or pair.id is None else pair._replace(piece=vocab.piece[pair.id])

    return look_up


class _SymbolWriter:
    """The initial symbols of a piece that is being read."""

    def __init__(self, vocab: Vocabulary, model: Bpe, unknown: UnknownPolicy) -> None:
        self._vocab, self._model, self._policy = vocab, model, unknown
        self._pending: UnknownText | None = None
        self.symbols: list[Symbol] = []
        self.bytes: list[ByteFallback] = []
        self.unknown: list[UnknownText] = []

    def write(self, text: bytes) -> None:
        """Writes the symbols of a piece."""
        prefix, suffix = self._model.continuing_prefix.encode(), self._model.word_suffix.encode()
        start = 0
        for character in text.decode():
            end = start + len(character.encode())
            spelling = (prefix if start else b"") + text[start:end] + (suffix if end == len(text) else b"")
            id = self._vocab.last_ids.get(spelling)
            byte_ids = self._byte_ids(spelling)
            if id is not None:
                self._flush()
                self._add(id, start, end)
            elif byte_ids is not None:
                for number, byte_id in enumerate(byte_ids):
                    self._add(byte_id, min(start + number, end), min(start + number + 1, end))
                self.bytes.append(ByteFallback(start, end, tuple(byte_ids)))
            else:
                self._add_unknown(character, start, end)
            start = end
        self._flush()

    def _byte_ids(self, spelling: bytes) -> list[int] | None:
        ids = [self._vocab.last_ids.get(b"<0x%02X>" % byte) for byte in spelling]
        known = [id for id in ids if id is not None]
        return known if self._model.byte_fallback and len(known) == len(ids) else None

    def _add_unknown(self, character: str, start: int, end: int) -> None:
        if self._policy == "drop":
            self.unknown.append(UnknownText(start, end, None))
            return
        if self._policy != "unk" or self._vocab.unknown is None:
            raise EncodeError(f"no entry covers the character {character!r}, and the vocabulary has no unknown entry")
        if self._pending and self._model.fuse_unknown:
            start = self._pending.start
        else:
            self._flush()
        self._pending = UnknownText(start, end, self._vocab.unknown, end - start > len(character.encode()))

    def _flush(self) -> None:
        if self._pending and self._pending.id is not None:
            self._add(self._pending.id, self._pending.start, self._pending.end)
            self.unknown.append(self._pending)
        self._pending = None

    def _add(self, id: int, start: int, end: int) -> None:
        self.symbols.append(Symbol(len(self.symbols), id, start, end))
