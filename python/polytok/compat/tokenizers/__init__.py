"""The package tokenizers 0.23 over polytok: docs/from-tokenizers.md."""

from . import decoders, models, normalizers, pre_tokenizers, processors, trainers
from .added_token import AddedToken
from .encoding import Encoding
from .implementations import (
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
)
from .regex import Regex
from .token import Token
from .tokenizer import Tokenizer

__version__ = "0.23.3"

__all__ = [
    "AddedToken",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "Encoding",
    "Regex",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
    "Token",
    "Tokenizer",
    "decoders",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "trainers",
]
