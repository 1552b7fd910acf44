"""minbpe.base: the class of all tokenizers, with their files, and the functions on pairs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from ... import training
from ...spec import Bpe, Kind, Origin, PatternSplit, Spec, Vocab
from ...tokenizer import Tokenizer as Engine

if TYPE_CHECKING:
    Pair = tuple[int, int]

_VERSION = "minbpe v1"
_BYTES = [bytes([byte]) for byte in range(256)]


def get_stats(ids: Sequence[int], counts: dict[Pair, int] | None = None) -> dict[Pair, int]:
    """Counts the pairs of neighbours in ``ids``, into ``counts`` if given.

    >>> get_stats([1, 2, 3, 1, 2])
    {(1, 2): 2, (2, 3): 1, (3, 1): 1}
    """
    counts = {} if counts is None else counts
    for pair in pairwise(ids):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge(ids: Sequence[int], pair: Pair, idx: int) -> list[int]:
    """Returns ``ids`` with ``idx`` in place of every occurrence of ``pair``, from the left.

    >>> merge([1, 2, 3, 1, 2], (1, 2), 4)
    [4, 3, 4]
    """
    merged: list[int] = []
    place = 0
    while place < len(ids):
        is_pair = tuple(ids[place : place + 2]) == pair
        merged.append(idx if is_pair else ids[place])
        place += 2 if is_pair else 1
    return merged


def replace_control_characters(s: str) -> str:
    r"""Returns the text with an escape in place of each character of a category C.

    >>> replace_control_characters("a\tb")
    'a\\u0009b'
    """
    return "".join(f"\\u{ord(char):04x}" if unicodedata.category(char).startswith("C") else char for char in s)


def render_token(t: bytes) -> str:
    """Returns a token as one line for people.

    >>> render_token(b"a\\xff")
    'a\ufffd'
    """
    return replace_control_characters(t.decode("utf-8", errors="replace"))


class Tokenizer:
    """minbpe.Tokenizer: ``merges``, ``pattern``, ``special_tokens`` and ``vocab``, and their files."""

    def __init__(self) -> None:
        self.merges: dict[Pair, int] = {}
        self.pattern = ""
        self.special_tokens: dict[str, int] = {}
        self.vocab = self._build_vocab()
        self._engine_of: tuple[object, ...] = ()
        self._engine_made: Engine | None = None

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        raise NotImplementedError

    def decode(self, ids: Sequence[int]) -> str:
        raise NotImplementedError

    def _build_vocab(self) -> dict[int, bytes]:
        vocab = dict(enumerate(_BYTES))
        for (left, right), idx in self.merges.items():
            vocab[idx] = vocab[left] + vocab[right]
        for special, idx in self.special_tokens.items():
            vocab[idx] = special.encode("utf-8")
        return vocab

    def save(self, file_prefix: str) -> None:
        """Writes ``file_prefix.model``, which `load` reads, and ``file_prefix.vocab`` for people."""
        with open(f"{file_prefix}.model", "w", encoding="utf-8") as file:
            print(_VERSION, self.pattern, len(self.special_tokens), sep="\n", file=file)
            file.writelines(f"{special} {idx}\n" for special, idx in self.special_tokens.items())
            file.writelines(f"{left} {right}\n" for left, right in self.merges)
        with open(f"{file_prefix}.vocab", "w", encoding="utf-8") as file:
            file.writelines(vocab_lines(self.vocab, self.merges))

    def load(self, model_file: str) -> None:
        """Reads the ``.model`` file of `save`."""
        if not model_file.endswith(".model"):
            raise AssertionError(f"{model_file!r} does not end with .model")
        with open(model_file, encoding="utf-8") as file:
            if (version := file.readline().strip()) != _VERSION:
                raise AssertionError(f"{model_file!r}: the version is {version!r}, not {_VERSION!r}")
            self.pattern = file.readline().strip()
            special_tokens: dict[str, int] = {}
            for _ in range(int(file.readline().strip())):
                special, special_idx = file.readline().strip().split()
                special_tokens[special] = int(special_idx)
            merges: dict[Pair, int] = {}
            for idx, line in enumerate(file, 256):
                left, right = map(int, line.split())
                merges[left, right] = idx
        self.merges, self.special_tokens = merges, special_tokens
        self.vocab = self._build_vocab()

    def _encode_plain(self, text: str, pattern: str | None) -> list[int]:
        """Returns the ids of a text without special tokens, split by the pattern's matches."""
        return self._engine(pattern).encode(text.encode("utf-8"))

    def _engine(self, pattern: str | None) -> Engine:
        """Returns the engine of the merges, which can be replaced or added to at any time."""
        merges = self.merges
        state = (merges, len(merges), pattern)
        before = self._engine_of
        if self._engine_made is None or before[0] is not merges or before[1:] != state[1:]:
            self._engine_made, self._engine_of = Engine(_spec(merges, pattern)), state
        return self._engine_made

    def _learn(self, text: str, vocab_size: int, verbose: bool, pattern: str | None) -> None:
        """Learns ``merges`` and ``vocab``."""
        if vocab_size < 256:
            raise AssertionError(f"vocab_size={vocab_size} is less than the 256 bytes")
        [spec] = training.specs(
            [text.encode("utf-8")],
            kind="bpe",
            trainer="minbpe",
            pattern=pattern,
            vocab_size=vocab_size,
            verbose=print if verbose else None,
        )
        assert isinstance(spec.model, Bpe) and spec.model.merges is not None
        self.merges = {(left, right): idx for left, right, idx in spec.model.merges.tolist()}
        self.vocab = dict(enumerate(spec.vocab.pieces()))

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_engine_of": (), "_engine_made": None}


def vocab_lines(vocab: Mapping[int, bytes], merges: Mapping[Pair, int]) -> Iterator[str]:
    """Returns the lines of a ``.vocab`` file: every token, and the two tokens that it was merged from."""
    pairs = {idx: pair for pair, idx in merges.items()}
    for idx, token in vocab.items():
        line = f"[{render_token(token)}] {idx}\n"
        if idx in pairs:
            left, right = (render_token(vocab[part]) for part in pairs[idx])
            line = f"[{left}][{right}] -> {line}"
        yield line


def _spec(merges: Mapping[Pair, int], pattern: str | None) -> Spec:
    import numpy as np

    vocab = dict(enumerate(_BYTES))
    for (left, right), idx in merges.items():
        vocab[idx] = vocab[left] + vocab[right]
    rows = sorted(((*pair, idx) for pair, idx in merges.items()), key=itemgetter(2))
    return Spec(
        vocab=Vocab.from_rows((piece, idx, 0.0, Kind.NORMAL) for idx, piece in sorted(vocab.items())),
        model=Bpe("merges", merges=np.array(rows, dtype=np.uint32).reshape(-1, 3)),
        split=(PatternSplit(pattern),) if pattern is not None else (),
        origin=Origin("minbpe"),
    )
