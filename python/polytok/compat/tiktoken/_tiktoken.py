"""tiktoken._tiktoken: the class ``CoreBPE``, which is native code in tiktoken."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, cast

from ...errors import TokenIdError
from ...options import Options
from ...spec import Bpe, Kind, Origin, PatternSplit, Spec, SpecialToken, Vocab
from ...tokenizer import Tokenizer
from ...values import IdArray

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["CoreBPE"]

_MAX_TOKEN = 2**32 - 1
_UNSTABLE_SPACE = frozenset(b" \n\t")


class CoreBPE:
    """Byte-level BPE by ranks: splits by a pattern, and merges the bytes of each match."""

    def __init__(self, encoder: Mapping[bytes, int], special_tokens_encoder: Mapping[str, int], pattern: str) -> None:
        _check_tokens(encoder.values())
        _check_tokens(special_tokens_encoder.values())
        if len(set(encoder.values())) != len(encoder):
            raise ValueError("two entries of mergeable_ranks have the same rank")
        self._encoder = encoder
        self._special_tokens = special_tokens_encoder
        self._tokenizer = Tokenizer(
            Spec(
                vocab=_vocab_of(encoder),
                model=Bpe("rank", whole_piece_first=True),
                special=tuple(SpecialToken(text, token) for text, token in special_tokens_encoder.items() if text),
                split=(PatternSplit(pattern),),
                origin=Origin("tiktoken"),
            )
        )
        self._encode = self._tokenizer.encode
        self._decode_bytes = self._tokenizer.decode_bytes
        self._options: dict[frozenset[str], Options] = {}

    # Encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Encodes a text without special tokens."""
        if not isinstance(text, str):
            raise _wrong_type(text, "str")
        return self._encode(text)

    def encode(self, text: str, allowed_special: Set[str]) -> list[int]:
        """Encodes a text in which some special tokens are recognized."""
        if not isinstance(text, str):
            raise _wrong_type(text, "str")
        return self._encode(text, options=self._options_of(allowed_special))

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: Set[str]) -> npt.NDArray[np.uint32]:
        """Encodes a text to a buffer of 32-bit ids, which cannot be written to."""
        _check_surrogates(text)
        return buffer_of(self._tokenizer.encode_array(text, options=self._options_of(allowed_special)))

    def encode_with_unstable(self, text: str, allowed_special: Set[str]) -> tuple[list[int], list[list[int]]]:
        """Returns the ids that stay if the text goes on, and sequences with which it can go on."""
        _check_surrogates(text)
        ids, unstable_count = self._encode_with_unstable_count(text, allowed_special)
        unstable = self._decode_bytes(ids[len(ids) - unstable_count :])
        if not unstable:
            return ids, []
        completions = {tuple(completion) for completion in self._completions(unstable)}
        return ids[: len(ids) - unstable_count], [list(completion) for completion in completions]

    def encode_single_token(self, piece: bytes) -> int:
        """Returns the token with these bytes; special tokens too. Raises `KeyError`."""
        if not isinstance(piece, bytes):
            raise _wrong_type(piece, "bytes")
        token = self._encoder.get(piece)
        if token is None:
            token = self._special_token_by_bytes.get(piece)
        if token is None:
            raise KeyError(piece)
        return token

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Encodes bytes without splitting them by the pattern."""
        if not isinstance(piece, bytes):
            raise _wrong_type(piece, "bytes")
        token = self._encoder.get(piece)
        return self._merge(piece) if token is None else [token]

    def _encode_bytes(self, data: bytes) -> list[int]:
        """Encodes bytes that are perhaps not UTF-8."""
        if not isinstance(data, bytes):
            raise _wrong_type(data, "bytes")
        try:
            return self._encode(data.decode())
        except UnicodeDecodeError as error:
            valid = error.start
        # Python gives up at the start of an incomplete character, as Rust does. The last piece of the text before it
        # can continue in the bytes that are not UTF-8, so it is encoded again together with these.
        ids, unstable_count = self._encode_with_unstable_count(data[:valid].decode(), frozenset())
        unstable = self._decode_bytes(ids[len(ids) - unstable_count :]) + data[valid:]
        return ids[: len(ids) - unstable_count] + self.encode_single_piece(unstable)

    def _options_of(self, allowed_special: Set[str]) -> Options:
        """Returns the options that recognize these texts; those that are no special tokens do nothing."""
        if not isinstance(allowed_special, (set, frozenset)):
            raise _wrong_type(allowed_special, "set")
        key = frozenset(allowed_special)
        options = self._options.get(key)
        if options is None:
            for text in key:
                if not isinstance(text, str):
                    raise _wrong_type(text, "str")
            options = Options(special=key.intersection(self._special_tokens) - {""})
            if len(self._options) < 16:
                self._options[key] = options
        return options

    # Unstable ends

    def _encode_with_unstable_count(self, text: str, allowed_special: Set[str]) -> tuple[list[int], int]:
        """Returns the ids, and how many of them at the end can change if the text goes on.

        These are the ids of the last match of the pattern; if the first of them is white space, also all white space
        before it, because a pattern can split a run of white space differently if the run is longer.
        """
        encoding = self._tokenizer.encoding(text, options=self._options_of(allowed_special))
        ids, words = encoding.ids, encoding.word_ids
        if not ids or self._ends_with_special(text, encoding.offsets[-1], ids[-1], allowed_special):
            return ids, 0
        count = 1
        while count < len(ids) and words[-count - 1] == words[-1]:
            count += 1
        if self._is_space(ids[-count]):
            while count < len(ids) and self._is_space(ids[-count - 1]):
                count += 1
        return ids, count

    def _ends_with_special(self, text: str, offsets: tuple[int, int], id: int, allowed_special: Set[str]) -> bool:
        last_text = text[offsets[0] : offsets[1]]
        return last_text in allowed_special and self._special_tokens.get(last_text) == id

    def _is_space(self, id: int) -> bool:
        piece = self._bytes_by_token.get(id)
        return piece is not None and _UNSTABLE_SPACE.issuperset(piece)

    def _completions(self, unstable: bytes) -> Iterator[list[int]]:
        """Yields the beginnings of the encodings of all texts that begin with ``unstable``."""
        for piece in self._pieces_starting_with(unstable):
            yield [self._encoder[piece]]
        # A piece that begins inside and ends at or after the end.
        for start in range(1, len(unstable)):
            for piece in self._pieces_starting_with(unstable[start:]):
                yield self._first_ids(unstable[:start] + piece, len(unstable))
        # More text can move the last white space into a match of its own.
        last = _last_character(unstable)
        if len(unstable) > len(last) > 0 and last.decode("utf-8", "ignore").isspace():
            yield self._merge(unstable[: -len(last)]) + self._merge(last)

    def _first_ids(self, data: bytes, length: int) -> list[int]:
        """Encodes bytes, and returns the first ids, up to the one that reaches ``length`` bytes."""
        try:
            ids = self._encode(data.decode())
        except UnicodeDecodeError:
            ids = self._merge(data)
        covered = 0
        for count, id in enumerate(ids, start=1):
            covered += len(self._bytes_by_token[id])
            if covered >= length:
                return ids[:count]
        return ids

    def _pieces_starting_with(self, start: bytes) -> Iterator[bytes]:
        pieces = self._sorted_pieces
        for place in range(bisect_left(pieces, start), len(pieces)):
            if not pieces[place].startswith(start):
                return
            yield pieces[place]

    def _merge(self, piece: bytes) -> list[int]:
        """Merges bytes, which need not be UTF-8, in the order of ranks: the pair with the lowest rank first, from left
        to right."""
        encoder = self._encoder
        ends = list(range(1, len(piece) + 1))  # of the part that begins at this place; 0 if none does
        starts = list(range(-1, len(piece)))  # of the part before the one that begins at this place
        queue = [
            (rank, start, start + 2)
            for start in range(len(piece) - 1)
            if (rank := encoder.get(piece[start : start + 2])) is not None
        ]
        heapq.heapify(queue)
        while queue:
            _, start, end = heapq.heappop(queue)
            middle = ends[start]
            if not middle or middle >= end or ends[middle] != end:
                continue  # one of the two parts has been merged since
            ends[start], ends[middle] = end, 0
            if end < len(piece):
                starts[end] = start
            for first, last in ((starts[start], end), (start, ends[end] if end < len(piece) else -1)):
                rank = encoder.get(piece[first:last]) if first >= 0 and last > 0 else None
                if rank is not None:
                    heapq.heappush(queue, (rank, first, last))
        ids, start = [], 0
        while start < len(piece):
            ids.append(encoder[piece[start : ends[start]]])
            start = ends[start]
        return ids

    # Decoding

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Decodes tokens to bytes. Raises `KeyError` for a token that does not exist."""
        if not isinstance(tokens, list):
            _check_sequence(tokens)
            if isinstance(tokens, (bytes, bytearray)):  # a sequence of numbers
                tokens = list(tokens)
        try:
            return self._decode_bytes(tokens)
        except TokenIdError:
            unknown = next(token for token in map(_checked_token, tokens) if token not in self._all_bytes)
            raise KeyError(f"Invalid token for decoding: {unknown}") from None

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Returns the bytes of a token; special tokens too. Raises `KeyError`."""
        if token.__class__ is not int:
            token = index(token)
        try:
            return self._all_bytes[token]
        except KeyError:
            raise KeyError(str(_checked_token(token))) from None

    def token_byte_values(self) -> list[bytes]:
        """Returns the bytes of all tokens that are not special, in the order of bytes."""
        return self._sorted_pieces.copy()

    @cached_property
    def _sorted_pieces(self) -> list[bytes]:
        return sorted(self._encoder)

    @cached_property
    def _bytes_by_token(self) -> dict[int, bytes]:
        return {token: piece for piece, token in self._encoder.items()}

    @cached_property
    def _all_bytes(self) -> dict[int, bytes]:
        return {token: text.encode() for text, token in self._special_tokens.items()} | self._bytes_by_token

    @cached_property
    def _special_token_by_bytes(self) -> dict[bytes, int]:
        return {text.encode(): token for text, token in self._special_tokens.items()}


def buffer_of(ids: IdArray) -> npt.NDArray[np.uint32]:
    """Returns ids as tiktoken does: with 32 bits, and not writeable."""
    wide = cast("npt.NDArray[np.uint32]", ids if ids.itemsize == 4 else ids.astype("uint32"))
    wide.setflags(write=False)
    return wide


def _vocab_of(encoder: Mapping[bytes, int]) -> Vocab:
    """Returns the entries as columns."""
    import numpy as np

    offsets = np.zeros(len(encoder) + 1, dtype=np.uint32)
    np.cumsum(np.fromiter(map(len, encoder), dtype=np.uint32, count=len(encoder)), out=offsets[1:])
    return Vocab(
        blob=b"".join(encoder),
        offsets=offsets,
        ids=np.fromiter(encoder.values(), dtype=np.uint32, count=len(encoder)),
        scores=np.zeros(len(encoder), dtype=np.float32),
        kinds=np.full(len(encoder), Kind.NORMAL, dtype=np.uint8),
    )


def _check_tokens(tokens: Iterable[int]) -> None:
    numbers = list(tokens)
    if numbers and not (min(numbers) >= 0 and max(numbers) <= _MAX_TOKEN):
        raise OverflowError("out of range integral type conversion attempted")


def _checked_token(token: Any) -> int:
    number = index(token)
    _check_tokens([number])
    return number


def _check_sequence(tokens: Any) -> None:
    if isinstance(tokens, str):
        raise TypeError("Can't extract `str` to `Vec`")
    if isinstance(tokens, (set, frozenset, dict)) or not (
        hasattr(tokens, "__getitem__") and hasattr(tokens, "__len__")
    ):
        raise _wrong_type(tokens, "Sequence")


def _check_surrogates(text: str) -> None:
    """Raises `UnicodeEncodeError` if a text has surrogates, as tiktoken does where it does not repair them."""
    if not isinstance(text, str):
        raise _wrong_type(text, "str")
    if not text.isascii():
        text.encode()


def _last_character(data: bytes) -> bytes:
    """Returns the bytes of the last character; empty bytes if the end is not UTF-8."""
    for length in range(1, min(4, len(data)) + 1):
        try:
            if len(data[-length:].decode()) == 1:
                return data[-length:]
        except UnicodeDecodeError:
            continue
    return b""


def _wrong_type(value: object, expected: str) -> TypeError:
    return TypeError(f"{type(value).__name__!r} object is not an instance of {expected!r}")
