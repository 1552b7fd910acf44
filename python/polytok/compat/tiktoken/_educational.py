"""tiktoken._educational: BPE in plain Python, which shows each merge."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .core import Encoding

__all__ = ["SimpleBytePairEncoding", "bpe_encode", "bpe_train", "train_simple_encoding", "visualise_tokens"]


class SimpleBytePairEncoding:
    """A vocabulary with its pattern, without special tokens."""

    def __init__(self, *, pat_str: str, mergeable_ranks: dict[bytes, int]) -> None:
        import regex

        self.pat_str = pat_str
        self.mergeable_ranks = mergeable_ranks
        self._decoder = {token: piece for piece, token in mergeable_ranks.items()}
        self._pat = regex.compile(pat_str)

    def encode(self, text: str, visualise: str | None = "colour") -> list[int]:
        """Encodes a text, and prints the merges."""
        return [
            token
            for word in self._pat.findall(text)
            for token in bpe_encode(self.mergeable_ranks, word.encode(), visualise=visualise)
        ]

    def decode_bytes(self, tokens: list[int]) -> bytes:
        """Decodes tokens to bytes."""
        return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: list[int]) -> str:
        """Decodes tokens to text."""
        return self.decode_bytes(tokens).decode("utf-8", errors="replace")

    def decode_tokens_bytes(self, tokens: list[int]) -> list[bytes]:
        """Returns the bytes of each token."""
        return [self._decoder[token] for token in tokens]

    @staticmethod
    def train(training_data: str, vocab_size: int, pat_str: str) -> SimpleBytePairEncoding:
        """Trains a vocabulary, and prints the merges."""
        ranks = bpe_train(data=training_data, vocab_size=vocab_size, pat_str=pat_str)
        return SimpleBytePairEncoding(pat_str=pat_str, mergeable_ranks=ranks)

    @staticmethod
    def from_tiktoken(encoding: str | Encoding) -> SimpleBytePairEncoding:
        """Returns the vocabulary of an ``Encoding`` or of its name."""
        if isinstance(encoding, str):
            from .registry import get_encoding

            encoding = get_encoding(encoding)
        return SimpleBytePairEncoding(pat_str=encoding._pat_str, mergeable_ranks=encoding._mergeable_ranks)


def bpe_encode(mergeable_ranks: dict[bytes, int], input: bytes, visualise: str | None = "colour") -> list[int]:
    """Merges the pair with the lowest rank, until no pair has a rank."""
    parts = [bytes([byte]) for byte in input]
    while True:
        _show(parts, visualise)
        ranks = [mergeable_ranks.get(first + second) for first, second in pairwise(parts)]
        found = [(rank, place) for place, rank in enumerate(ranks) if rank is not None]
        if not found:
            break
        _, place = min(found)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    if visualise:
        print()
    return [mergeable_ranks[part] for part in parts]


def _show(parts: list[bytes], visualise: str | None) -> None:
    if visualise in ("colour", "color"):
        visualise_tokens(parts)
    elif visualise == "simple":
        print(parts)


def bpe_train(data: str, vocab_size: int, pat_str: str, visualise: str | None = "colour") -> dict[bytes, int]:
    """Merges the most frequent pair, until the vocabulary has its size."""
    import regex

    if vocab_size < 256:
        raise ValueError("vocab_size must be at least 256, so we can encode all bytes")
    ranks = {bytes([byte]): byte for byte in range(256)}
    words = [[bytes([byte]) for byte in word.encode()] for word in regex.findall(pat_str, data)]
    while len(ranks) < vocab_size:
        counts = Counter(pair for word in words for pair in pairwise(word))
        pair = max(counts, key=lambda pair: counts[pair])
        ranks[pair[0] + pair[1]] = len(ranks)
        words = [_merged(word, pair) for word in words]
        if visualise:
            _show_merge(pair, len(ranks), words, visualise)
    return ranks


def _merged(word: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    """Replaces a pair with its merge, from left to right."""
    merged: list[bytes] = []
    place = 0
    while place < len(word):
        if tuple(word[place : place + 2]) == pair:
            merged.append(pair[0] + pair[1])
            place += 2
        else:
            merged.append(word[place])
            place += 1
    return merged


def _show_merge(pair: tuple[bytes, bytes], size: int, words: list[list[bytes]], visualise: str) -> None:
    print(f"The current most common pair is {pair[0]!r} + {pair[1]!r}")
    print(f"So we made {pair[0] + pair[1]!r} our {size}th token")
    if visualise in ("colour", "color"):
        print("Now the first fifty words in our training data look like:")
        visualise_tokens([token for word in words[:50] for token in word])
    elif visualise == "simple":
        print("Now the first twenty words in our training data look like:")
        for word in words[:20]:
            print(word)
    print("\n")


def visualise_tokens(token_values: list[bytes]) -> None:
    """Prints tokens, each with another colour as its background."""
    colours = [f"\u001b[48;5;{number}m" for number in (167, 179, 185, 77, 80, 68, 134)]
    length, last_colour = 0, ""
    for text in (value.decode("utf-8", errors="replace") for value in token_values):
        colour = colours[length % len(colours)]
        if colour == last_colour:
            colour = colours[(length + 1) % len(colours)]
        last_colour = colour
        length += len(text)
        print(colour + text, end="")
    print("\u001b[0m")


def train_simple_encoding() -> SimpleBytePairEncoding:
    """Trains a vocabulary of 600 tokens on the text of this module."""
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    with open(__file__, encoding="utf-8") as file:
        encoding = SimpleBytePairEncoding.train(file.read(), vocab_size=600, pat_str=pattern)
    print("This is the sequence of merges performed in order to encode 'hello world':")
    assert encoding.decode(encoding.encode("hello world")) == "hello world"
    return encoding
