"""`ByteLevelBPETokenizer` of tokenizers 0.23."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import decoders, pre_tokenizers, processors
from ..models import BPE
from ..normalizers import Lowercase, unicode_normalizer_from_str
from ..tokenizer import Tokenizer
from ..trainers import BpeTrainer
from .base_tokenizer import BaseTokenizer, set_normalizers


class ByteLevelBPETokenizer(BaseTokenizer):
    """GPT-2's tokenizer: tokenizers.ByteLevelBPETokenizer."""

    def __init__(
        self,
        vocab: str | Mapping[str, int] | None = None,
        merges: str | Sequence[tuple[str, str]] | None = None,
        add_prefix_space: bool = False,
        lowercase: bool = False,
        dropout: float | None = None,
        unicode_normalizer: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        trim_offsets: bool = False,
    ) -> None:
        model = BPE()
        if vocab is not None and merges is not None:
            affixes = {
                "continuing_subword_prefix": continuing_subword_prefix or "",
                "end_of_word_suffix": end_of_word_suffix or "",
            }
            model = BPE(vocab, merges, dropout=dropout, **affixes)
        tokenizer = Tokenizer(model)
        normalizers = [unicode_normalizer_from_str(unicode_normalizer)] if unicode_normalizer else []
        set_normalizers(tokenizer, [*normalizers, *([Lowercase()] if lowercase else [])])
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
        parameters = {
            "model": "ByteLevelBPE",
            "add_prefix_space": add_prefix_space,
            "lowercase": lowercase,
            "dropout": dropout,
            "unicode_normalizer": unicode_normalizer,
            "continuing_subword_prefix": continuing_subword_prefix,
            "end_of_word_suffix": end_of_word_suffix,
            "trim_offsets": trim_offsets,
        }
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> ByteLevelBPETokenizer:
        """Reads vocab.json and merges.txt."""
        return ByteLevelBPETokenizer(*BPE.read_file(vocab_filename, merges_filename), **kwargs)

    def train(
        self,
        files: str | list[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[Any] = (),
    ) -> None:
        self._train(files, _trainer(vocab_size, min_frequency, show_progress, special_tokens))

    def train_from_iterator(
        self,
        iterator: Iterable[Any],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[Any] = (),
        length: int | None = None,
    ) -> None:
        trainer = _trainer(vocab_size, min_frequency, show_progress, special_tokens)
        self._train_from_iterator(iterator, trainer, length)


def _trainer(vocab_size: int, min_frequency: int, show_progress: bool, special_tokens: Sequence[Any]) -> BpeTrainer:
    return BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        show_progress=show_progress,
        special_tokens=list(special_tokens),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
