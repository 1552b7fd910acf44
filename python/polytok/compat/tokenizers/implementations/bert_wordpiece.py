"""`BertWordPieceTokenizer` of tokenizers 0.23."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import decoders
from ..models import WordPiece
from ..normalizers import BertNormalizer
from ..pre_tokenizers import BertPreTokenizer
from ..processors import BertProcessing
from ..tokenizer import Tokenizer
from ..trainers import WordPieceTrainer
from .base_tokenizer import DEFAULT_TOKENS, BaseTokenizer, add_known


class BertWordPieceTokenizer(BaseTokenizer):
    """BERT's tokenizer: tokenizers.BertWordPieceTokenizer."""

    def __init__(
        self,
        vocab: str | Mapping[str, int] | None = None,
        unk_token: Any = "[UNK]",
        sep_token: Any = "[SEP]",
        cls_token: Any = "[CLS]",
        pad_token: Any = "[PAD]",
        mask_token: Any = "[MASK]",
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        tokenizer = Tokenizer(WordPiece(vocab, unk_token=str(unk_token)))
        add_known(tokenizer, unk_token, sep_token, cls_token, pad_token, mask_token)
        tokenizer.normalizer = BertNormalizer(clean_text, handle_chinese_chars, strip_accents, lowercase)
        tokenizer.pre_tokenizer = BertPreTokenizer()
        if vocab is not None:
            pairs = []
            for name, token in (("sep_token", str(sep_token)), ("cls_token", str(cls_token))):
                id = tokenizer.token_to_id(token)
                if id is None:
                    raise TypeError(f"{name} not found in the vocabulary")
                pairs.append((token, id))
            tokenizer.post_processor = BertProcessing(*pairs)
        tokenizer.decoder = decoders.WordPiece(prefix=wordpieces_prefix)
        parameters = {
            "model": "BertWordPiece",
            "unk_token": unk_token,
            "sep_token": sep_token,
            "cls_token": cls_token,
            "pad_token": pad_token,
            "mask_token": mask_token,
            "clean_text": clean_text,
            "handle_chinese_chars": handle_chinese_chars,
            "strip_accents": strip_accents,
            "lowercase": lowercase,
            "wordpieces_prefix": wordpieces_prefix,
        }
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab: str, **kwargs: Any) -> BertWordPieceTokenizer:
        """Reads vocab.txt."""
        return BertWordPieceTokenizer(WordPiece.read_file(vocab), **kwargs)

    def train(
        self,
        files: str | list[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        special_tokens: Sequence[Any] = DEFAULT_TOKENS,
        show_progress: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        options = (limit_alphabet, initial_alphabet, special_tokens, show_progress, wordpieces_prefix)
        self._train(files, _trainer(vocab_size, min_frequency, *options))

    def train_from_iterator(
        self,
        iterator: Iterable[Any],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        limit_alphabet: int = 1000,
        initial_alphabet: Sequence[str] = (),
        special_tokens: Sequence[Any] = DEFAULT_TOKENS,
        show_progress: bool = True,
        wordpieces_prefix: str = "##",
        length: int | None = None,
    ) -> None:
        options = (limit_alphabet, initial_alphabet, special_tokens, show_progress, wordpieces_prefix)
        self._train_from_iterator(iterator, _trainer(vocab_size, min_frequency, *options), length)


def _trainer(
    vocab_size: int,
    min_frequency: int,
    limit_alphabet: int,
    initial_alphabet: Sequence[str],
    special_tokens: Sequence[Any],
    show_progress: bool,
    prefix: str,
) -> WordPieceTrainer:
    return WordPieceTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        limit_alphabet=limit_alphabet,
        initial_alphabet=initial_alphabet,
        special_tokens=list(special_tokens),
        show_progress=show_progress,
        continuing_subword_prefix=prefix,
    )
