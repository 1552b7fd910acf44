"""`SentencePieceBPETokenizer` of tokenizers 0.23."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import decoders, pre_tokenizers
from ..models import BPE
from ..normalizers import NFKC
from ..tokenizer import Tokenizer
from ..trainers import BpeTrainer
from .base_tokenizer import BaseTokenizer, add_known


class SentencePieceBPETokenizer(BaseTokenizer):
    """BPE over words that begin with ▁: tokenizers.SentencePieceBPETokenizer."""

    def __init__(
        self,
        vocab: str | Mapping[str, int] | None = None,
        merges: str | Sequence[tuple[str, str]] | None = None,
        unk_token: Any = "<unk>",
        replacement: str = "▁",
        add_prefix_space: bool = True,
        dropout: float | None = None,
        fuse_unk: bool = False,
    ) -> None:
        files = (vocab, merges) if vocab is not None and merges is not None else ()
        tokenizer = Tokenizer(BPE(*files, dropout=dropout, unk_token=unk_token, fuse_unk=fuse_unk))
        add_known(tokenizer, unk_token)
        tokenizer.normalizer = NFKC()
        scheme = "always" if add_prefix_space else "never"
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=replacement, prepend_scheme=scheme)
        tokenizer.decoder = decoders.Metaspace(replacement=replacement, prepend_scheme=scheme)
        parameters = {
            "model": "SentencePieceBPE",
            "unk_token": unk_token,
            "replacement": replacement,
            "add_prefix_space": add_prefix_space,
            "dropout": dropout,
        }
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> SentencePieceBPETokenizer:
        """Reads vocab.json and merges.txt."""
        return SentencePieceBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **kwargs)

    def train(
        self,
        files: str | list[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[Any] = ("<unk>",),
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        show_progress: bool = True,
    ) -> None:
        options = (special_tokens, limit_alphabet, initial_alphabet, show_progress)
        self._train(files, _trainer(vocab_size, min_frequency, *options))

    def train_from_iterator(
        self,
        iterator: Iterable[Any],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[Any] = ("<unk>",),
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        show_progress: bool = True,
        length: int | None = None,
    ) -> None:
        options = (special_tokens, limit_alphabet, initial_alphabet, show_progress)
        self._train_from_iterator(iterator, _trainer(vocab_size, min_frequency, *options), length)


def _trainer(
    vocab_size: int,
    min_frequency: int,
    special_tokens: Sequence[Any],
    limit_alphabet: int,
    initial_alphabet: Sequence[str],
    show_progress: bool,
) -> BpeTrainer:
    return BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=list(special_tokens),
        limit_alphabet=limit_alphabet,
        initial_alphabet=initial_alphabet,
        show_progress=show_progress,
    )
