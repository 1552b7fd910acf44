"""polytok: one exact, fast tokenizer engine for every subword vocabulary.

>>> import polytok
>>> tokenizer = polytok.load("default")
>>> tokenizer.decode(tokenizer.encode("one engine for every vocabulary"))
'one engine for every vocabulary'
"""

from importlib import import_module

TYPE_CHECKING = False  # replaces typing.TYPE_CHECKING, because importing typing is slower than this whole module
if TYPE_CHECKING:
    from . import chat as chat
    from . import compat as compat
    from . import conversion as conversion
    from . import convert as convert
    from . import corpus as corpus
    from . import data as data
    from . import differences as differences
    from . import divergence as divergence
    from . import doctor as doctor
    from . import editing as editing
    from . import errors as errors
    from . import formats as formats
    from . import lists as lists
    from . import reach as reach
    from . import reference as reference
    from . import spec as spec
    from . import statistics as statistics
    from . import trace as trace
    from . import training as training
    from . import web as web
    from .chat import ChatEncoding
    from .differences import Differences, compare
    from .editing.edit import Edit, edit
    from .encoding import Encoding
    from .errors import (
        ArgumentError,
        ChatTemplateError,
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
    from .healing import Healed
    from .id_counts import count_ids
    from .incremental import Change, IncrementalText, StreamEncoder
    from .lengths import Padding, Truncation
    from .loading import load
    from .lossless import Lossless
    from .merge_list import Merge
    from .options import Options
    from .parts import Parts
    from .reading import InputOptions
    from .simd import set_simd_level, simd_level, simd_levels
    from .spec import Kind, Spec, Vocab
    from .statistics import Stats, stats
    from .stream import ByteDecoder, StreamDecoder, StreamDecoders
    from .tokenizer import Tokenizer
    from .trace import Trace
    from .training import Counts, TrainingReport, TrainingWarning, count_words, train
    from .values import Batch, Decoded, Spans, Token
    from .vocab_table import VocabEntry, VocabTable

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "Batch",
    "ByteDecoder",
    "Change",
    "ChatEncoding",
    "ChatTemplateError",
    "Counts",
    "Decoded",
    "Differences",
    "Edit",
    "EncodeError",
    "Encoding",
    "FetchError",
    "FileError",
    "FormatError",
    "Healed",
    "IncrementalText",
    "InputOptions",
    "Kind",
    "LossError",
    "Lossless",
    "Merge",
    "Options",
    "Padding",
    "Parts",
    "PieceError",
    "PolytokError",
    "Spans",
    "Spec",
    "SpecError",
    "SpecialTokenError",
    "Stats",
    "StreamDecoder",
    "StreamDecoders",
    "StreamEncoder",
    "Token",
    "TokenIdError",
    "Tokenizer",
    "Trace",
    "TrainingReport",
    "TrainingWarning",
    "Truncation",
    "Vocab",
    "VocabEntry",
    "VocabTable",
    "compare",
    "count_ids",
    "count_words",
    "edit",
    "load",
    "set_simd_level",
    "simd_level",
    "simd_levels",
    "stats",
    "train",
]

# Lists the public names of each module. A module is imported when a program first uses one of its names. Therefore
# `import polytok` takes almost no time, and numpy and protobuf are imported only if needed.
_PUBLIC_NAMES_OF_MODULE = {
    "chat": ("ChatEncoding",),
    "differences": ("Differences", "compare"),
    "editing": ("Edit", "edit"),
    "encoding": ("Encoding",),
    "errors": (
        *("ArgumentError", "ChatTemplateError", "EncodeError", "FetchError", "FileError", "FormatError"),
        *("LossError", "PieceError", "PolytokError", "SpecError", "SpecialTokenError", "TokenIdError"),
    ),
    "healing": ("Healed",),
    "id_counts": ("count_ids",),
    "incremental": ("Change", "IncrementalText", "StreamEncoder"),
    "lengths": ("Padding", "Truncation"),
    "loading": ("load",),
    "lossless": ("Lossless",),
    "merge_list": ("Merge",),
    "options": ("Options",),
    "parts": ("Parts",),
    "reading": ("InputOptions",),
    "simd": ("set_simd_level", "simd_level", "simd_levels"),
    "spec": ("Kind", "Spec", "Vocab"),
    "statistics": ("Stats", "stats"),
    "stream": ("ByteDecoder", "StreamDecoder", "StreamDecoders"),
    "tokenizer": ("Tokenizer",),
    "trace": ("Trace",),
    "training": ("Counts", "TrainingReport", "TrainingWarning", "count_words", "train"),
    "values": ("Batch", "Decoded", "Spans", "Token"),
    "vocab_table": ("VocabEntry", "VocabTable"),
}
_MODULE_OF_NAME = {name: module for module, names in _PUBLIC_NAMES_OF_MODULE.items() for name in names}
_PUBLIC_MODULES = (
    *("chat", "compat", "conversion", "convert", "corpus", "data", "differences", "divergence", "doctor", "editing"),
    *("errors", "formats", "lists", "reach", "reference", "spec", "statistics", "trace", "training", "web"),
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Imports a public name or module when it is first used."""
        if name in _PUBLIC_MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _MODULE_OF_NAME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF_NAME[name]}"), name)
        return value

    def __dir__() -> list[str]:
        """Returns the public names and modules, which interactive shells use to complete names."""
        return [*__all__, *_PUBLIC_MODULES, "__doc__", "__version__"]
