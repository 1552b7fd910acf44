"""polytok: one exact, fast tokenizer engine for every subword vocabulary.

>>> import polytok
>>> tokenizer = polytok.load("default")
>>> tokenizer.decode(tokenizer.encode("one engine for every vocabulary"))
'one engine for every vocabulary'
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .encoding import Encoding, Padding, Truncation
from .errors import (
    ArgumentError,
    EncodeError,
    FetchError,
    FileError,
    FormatError,
    LossError,
    PieceError,
    PolytokError,
    SpecError,
    SpecialTokenError,
    TokenIdError,
)
from .loading import load
from .lossless import Lossless
from .options import Options
from .spec import Kind, Spec, Vocab
from .stream import StreamDecoder
from .tokenizer import Tokenizer
from .train import Counts, Reading, TrainingReport, TrainingWarning, count_words, train
from .values import Batch, Spans, Token

if TYPE_CHECKING:
    from . import corpus as corpus
    from .editing.edit import Edit, edit

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "Batch",
    "Counts",
    "Edit",
    "EncodeError",
    "Encoding",
    "FetchError",
    "FileError",
    "FormatError",
    "Kind",
    "LossError",
    "Lossless",
    "Options",
    "Padding",
    "PieceError",
    "PolytokError",
    "Reading",
    "Spans",
    "Spec",
    "SpecError",
    "SpecialTokenError",
    "StreamDecoder",
    "Token",
    "TokenIdError",
    "Tokenizer",
    "TrainingReport",
    "TrainingWarning",
    "Truncation",
    "Vocab",
    "count_words",
    "edit",
    "load",
    "train",
]


def __getattr__(name: str) -> object:
    """What takes a while to import is imported when it is used: `polytok.corpus`, and editing."""
    if name == "corpus":
        return import_module("polytok.corpus")
    if name in ("Edit", "edit"):
        return getattr(import_module("polytok.editing"), name)
    raise AttributeError(f"module 'polytok' has no attribute {name!r}")
