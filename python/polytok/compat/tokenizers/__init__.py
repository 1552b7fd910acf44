"""The package tokenizers 0.23 over polytok: docs/from-tokenizers.md."""

from ..face import Face
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
from .strings import NormalizedString, PreTokenizedString
from .token import Token
from .tokenizer import Tokenizer

__version__ = "0.23.3"

__polytok_face__ = Face(
    package="tokenizers",
    versions=(__version__,),
    submodules=(
        *("decoders", "implementations", "models", "normalizers", "pre_tokenizers", "processors", "trainers"),
        *("implementations.base_tokenizer", "implementations.bert_wordpiece", "implementations.byte_level_bpe"),
        *("implementations.char_level_bpe", "implementations.sentencepiece_bpe"),
        "implementations.sentencepiece_unigram",
    ),
)

__all__ = [
    "AddedToken",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "Encoding",
    "NormalizedString",
    "PreTokenizedString",
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
