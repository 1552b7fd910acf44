"""`CharBPETokenizer` of tokenizers 0.23."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import decoders, pre_tokenizers
from ..models import BPE
from ..normalizers import BertNormalizer, Lowercase, Normalizer, unicode_normalizer_from_str
from ..tokenizer import Tokenizer
from ..trainers import BpeTrainer
from .base_tokenizer import BaseTokenizer, add_known, set_normalizers


class CharBPETokenizer(BaseTokenizer):
    """The first BPE tokenizer, over characters with a suffix: tokenizers.CharBPETokenizer."""

    def __init__(
        self,
        vocab: str | Mapping[str, int] | None = None,
        merges: str | Sequence[tuple[str, str]] | None = None,
        unk_token: Any = "<unk>",
        suffix: str = "</w>",
        dropout: float | None = None,
        lowercase: bool = False,
        unicode_normalizer: str | None = None,
        bert_normalizer: bool = True,
        split_on_whitespace_only: bool = False,
    ) -> None:
        files = (vocab, merges) if vocab is not None and merges is not None else ()
        tokenizer = Tokenizer(BPE(*files, unk_token=str(unk_token), dropout=dropout, end_of_word_suffix=suffix))
        add_known(tokenizer, unk_token)
        normalizers: list[Normalizer] = []
        if unicode_normalizer:
            normalizers.append(unicode_normalizer_from_str(unicode_normalizer))
        if bert_normalizer:
            normalizers.append(BertNormalizer(lowercase=False))
        if lowercase:
            normalizers.append(Lowercase())
        set_normalizers(tokenizer, normalizers)
        splits_at_spaces = split_on_whitespace_only
        tokenizer.pre_tokenizer = (
            pre_tokenizers.WhitespaceSplit() if splits_at_spaces else pre_tokenizers.BertPreTokenizer()
        )
        tokenizer.decoder = decoders.BPEDecoder(suffix=suffix)
        parameters = {
            "model": "BPE",
            "unk_token": unk_token,
            "suffix": suffix,
            "dropout": dropout,
            "lowercase": lowercase,
            "unicode_normalizer": unicode_normalizer,
            "bert_normalizer": bert_normalizer,
            "split_on_whitespace_only": split_on_whitespace_only,
        }
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> CharBPETokenizer:
        """Reads vocab.json and merges.txt."""
        return CharBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **kwargs)

    def train(
        self,
        files: str | list[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[Any] = ("<unk>",),
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        suffix: str | None = "</w>",
        show_progress: bool = True,
    ) -> None:
        options = (special_tokens, limit_alphabet, initial_alphabet, suffix, show_progress)
        self._train(files, _trainer(vocab_size, min_frequency, *options))

    def train_from_iterator(
        self,
        iterator: Iterable[Any],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Sequence[Any] = ("<unk>",),
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        suffix: str | None = "</w>",
        show_progress: bool = True,
        length: int | None = None,
    ) -> None:
        options = (special_tokens, limit_alphabet, initial_alphabet, suffix, show_progress)
        self._train_from_iterator(iterator, _trainer(vocab_size, min_frequency, *options), length)


def _trainer(
    vocab_size: int,
    min_frequency: int,
    special_tokens: Sequence[Any],
    limit_alphabet: int,
    initial_alphabet: Sequence[str],
    suffix: str | None,
    show_progress: bool,
) -> BpeTrainer:
    return BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=list(special_tokens),
        limit_alphabet=limit_alphabet,
        initial_alphabet=initial_alphabet,
        end_of_word_suffix=suffix,
        show_progress=show_progress,
    )
