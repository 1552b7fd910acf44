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
from .names import (
    EncodeInput,
    InputSequence,
    OffsetReferential,
    Offsets,
    OffsetType,
    PreTokenizedEncodeInput,
    PreTokenizedInputSequence,
    SplitDelimiterBehavior,
    TextEncodeInput,
    TextInputSequence,
)
from .normalized_string import NormalizedString
from .pre_tokenized_string import PreTokenizedString
from .regex import Regex
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
        *("implementations.sentencepiece_unigram", "tools", "tools.visualizer"),
    ),
)

__all__ = [
    "AddedToken",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "EncodeInput",
    "Encoding",
    "InputSequence",
    "NormalizedString",
    "OffsetReferential",
    "OffsetType",
    "Offsets",
    "PreTokenizedEncodeInput",
    "PreTokenizedInputSequence",
    "PreTokenizedString",
    "Regex",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
    "SplitDelimiterBehavior",
    "TextEncodeInput",
    "TextInputSequence",
    "Token",
    "Tokenizer",
    "decoders",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "trainers",
]
