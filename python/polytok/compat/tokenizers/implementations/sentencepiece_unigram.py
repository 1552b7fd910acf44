"""`SentencePieceUnigramTokenizer` of tokenizers 0.23."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import decoders, normalizers, pre_tokenizers
from ..models import Unigram
from ..regex import Regex
from ..tokenizer import Tokenizer
from ..trainers import UnigramTrainer
from .base_tokenizer import BaseTokenizer


class SentencePieceUnigramTokenizer(BaseTokenizer):
    """Unigram over words that begin with ▁: tokenizers.SentencePieceUnigramTokenizer."""

    def __init__(
        self, vocab: Sequence[tuple[str, float]] | None = None, replacement: str = "▁", add_prefix_space: bool = True
    ) -> None:
        tokenizer = Tokenizer(Unigram() if vocab is None else Unigram(vocab))
        tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), _single_spaces()])
        _set_metaspace(tokenizer, replacement, "always" if add_prefix_space else "never")
        parameters = {
            "model": "SentencePieceUnigram",
            "replacement": replacement,
            "add_prefix_space": add_prefix_space,
        }
        super().__init__(tokenizer, parameters)

    def train(
        self,
        files: str | list[str],
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Sequence[Any] | None = None,
        initial_alphabet: Sequence[str] | None = None,
        unk_token: str | None = None,
    ) -> None:
        """Trains the model from the lines of files."""
        self._train(files, _trainer(vocab_size, show_progress, special_tokens, initial_alphabet, unk_token))

    def train_from_iterator(
        self,
        iterator: Iterable[Any],
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Sequence[Any] | None = None,
        initial_alphabet: Sequence[str] | None = None,
        unk_token: str | None = None,
        length: int | None = None,
    ) -> None:
        """Trains the model from texts."""
        trainer = _trainer(vocab_size, show_progress, special_tokens, initial_alphabet, unk_token)
        self._train_from_iterator(iterator, trainer, length)

    @staticmethod
    def from_spm(filename: str) -> SentencePieceUnigramTokenizer:
        """Reads a Unigram model of SentencePiece."""
        from ...sentencepiece.sentencepiece_model_pb2 import ModelProto

        proto: Any = ModelProto()
        with open(filename, "rb") as file:
            proto.ParseFromString(file.read())
        if proto.trainer_spec.model_type != 1:
            raise Exception(
                "You're trying to run a `Unigram` model but you're file was trained with a different algorithm"
            )
        pieces = [(piece.piece, piece.score) for piece in proto.pieces]
        tokenizer = Tokenizer(Unigram(pieces, proto.trainer_spec.unk_id, proto.trainer_spec.byte_fallback))
        charsmap = proto.normalizer_spec.precompiled_charsmap
        first = [normalizers.Precompiled(charsmap)] if charsmap else []
        tokenizer.normalizer = normalizers.Sequence([*first, _single_spaces()])
        _set_metaspace(tokenizer, "▁", "always")
        result = SentencePieceUnigramTokenizer.__new__(SentencePieceUnigramTokenizer)
        BaseTokenizer.__init__(result, tokenizer, {"model": "SentencePieceUnigram"})
        return result


def _single_spaces() -> normalizers.Normalizer:
    return normalizers.Replace(Regex(" {2,}"), " ")


def _set_metaspace(tokenizer: Tokenizer, replacement: str, scheme: str) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=replacement, prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(replacement=replacement, prepend_scheme=scheme)


def _trainer(
    vocab_size: int,
    show_progress: bool,
    special_tokens: Sequence[Any] | None,
    initial_alphabet: Sequence[str] | None,
    unk_token: str | None,
) -> UnigramTrainer:
    return UnigramTrainer(
        vocab_size=vocab_size,
        show_progress=show_progress,
        special_tokens=list(special_tokens or ()),
        initial_alphabet=initial_alphabet or (),
        unk_token=unk_token,
    )
