"""minbpe.gpt4: the tokenizer of GPT-4, made from the ranks of cl100k_base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn

from ...loading import load as load_vocabulary
from ...spec import Bpe, Kind, Origin, PatternSplit, Spec, Vocab
from ...tokenizer import Tokenizer as Engine
from .base import vocab_lines
from .regex import GPT4_SPLIT_PATTERN, RegexTokenizer

if TYPE_CHECKING:
    from .base import Pair

__all__ = ["GPT4_SPECIAL_TOKENS", "GPT4_SPLIT_PATTERN", "GPT4Tokenizer", "RegexTokenizer", "recover_merges"]

GPT4_SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}


def recover_merges(mergeable_ranks: Mapping[bytes, int]) -> dict[Pair, int]:
    """Returns the two ids that each entry of more than one byte is merged from, and its rank.

    >>> recover_merges({b"a": 0, b"b": 1, b"ab": 2})
    {(0, 1): 2}
    """
    rank_of = dict(mergeable_ranks)
    merges = _engine_of(rank_of, None).merges()
    pairs = {
        merge.id: (merge.left_id, merge.right_id)
        for merge in merges
        if merge.left_id is not None and merge.right_id is not None
    }
    return {pairs[rank]: rank for token, rank in rank_of.items() if len(token) > 1}


class GPT4Tokenizer(RegexTokenizer):
    """minbpe.GPT4Tokenizer. The ranks come from tiktoken if it is installed, else from polytok's files of names."""

    def __init__(self) -> None:
        super().__init__(pattern=GPT4_SPLIT_PATTERN)
        mergeable_ranks = _read_ranks()
        self._engine_made = _engine_of(mergeable_ranks, self.pattern)
        self.merges = recover_merges(mergeable_ranks)
        self.byte_shuffle = {byte: mergeable_ranks[bytes([byte])] for byte in range(256)}
        self.inverse_byte_shuffle = {rank: byte for byte, rank in self.byte_shuffle.items()}
        self._table = bytes(self.byte_shuffle.values())
        self._inverse_table = bytes(map(self.inverse_byte_shuffle.__getitem__, range(256)))
        self.vocab = {idx: bytes([idx]) for idx in range(256)}
        self.vocab.update(
            (rank, token.translate(self._table)) for token, rank in mergeable_ranks.items() if len(token) > 1
        )
        self.register_special_tokens(GPT4_SPECIAL_TOKENS)

    def _engine(self, pattern: str | None) -> Engine:
        if not self.merges:  # the ranks are not yet read
            return super()._engine(pattern)
        if self._engine_made is None:  # the tokenizer was unpickled
            ranks = {token.translate(self._inverse_table): idx for idx, token in self.vocab.items()}
            self._engine_made = _engine_of(ranks, pattern)
        return self._engine_made

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids. Raises KeyError for an unknown id, and for special tokens, as minbpe does."""
        shuffled = b"".join(map(self.vocab.__getitem__, ids))
        return shuffled.translate(self._inverse_table).decode("utf-8", errors="replace")

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> NoReturn:
        raise NotImplementedError("GPT4Tokenizer is trained already: train a RegexTokenizer")

    def save(self, file_prefix: str) -> NoReturn:
        raise NotImplementedError("GPT4Tokenizer cannot be saved.")

    def load(self, model_file: str) -> NoReturn:
        raise NotImplementedError("GPT4Tokenizer cannot be loaded.")

    def save_vocab(self, vocab_file: str) -> None:
        """Writes the tokens for people, as `save` of the other tokenizers does."""
        vocab = {idx: token.translate(self._inverse_table) for idx, token in self.vocab.items()}
        with open(vocab_file, "w", encoding="utf-8") as file:
            file.writelines(vocab_lines(vocab, self.merges))


def _read_ranks() -> dict[bytes, int]:
    """Returns the ranks of cl100k_base."""
    try:
        import tiktoken
    except ImportError:
        vocab = load_vocabulary("cl100k_base").spec.vocab
        return dict(zip(vocab.pieces(), vocab.ids.tolist(), strict=True))
    return dict(tiktoken.get_encoding("cl100k_base")._mergeable_ranks)


def _engine_of(ranks: Mapping[bytes, int], pattern: str | None) -> Engine:
    rows = sorted((rank, token) for token, rank in ranks.items())
    return Engine(
        Spec(
            vocab=Vocab.from_rows((token, rank, 0.0, Kind.NORMAL) for rank, token in rows),
            model=Bpe("rank"),
            split=(PatternSplit(pattern),) if pattern is not None else (),
            origin=Origin("minbpe"),
        )
    )
