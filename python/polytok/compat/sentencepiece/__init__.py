"""sentencepiece's classes, run by polytok: the same pieces, ids, models and errors.

The face behaves like sentencepiece 0.2.3. `set_line` makes it behave like 0.2.1, whose errors, defaults and empty
results differ; its methods that 0.2.3 no longer has work in both.

>>> import io
>>> from polytok.compat import sentencepiece
>>> model, texts = io.BytesIO(), iter(["low lower lowest", "new newer newest"] * 9)
>>> sentencepiece.SentencePieceTrainer.train(sentence_iterator=texts, model_writer=model, vocab_size=17)
>>> processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
>>> processor.decode(processor.encode("newer low"))
'newer low'
"""

from __future__ import annotations

import os
from typing import Any, NoReturn

from ..face import Face
from . import lines, model
from .lines import set_line
from .messages import (
    ImmutableNBestSentencePieceText,
    ImmutableSentencePieceText,
    ImmutableSentencePieceText_ImmutableSentencePiece,
)
from .normalizer import SentencePieceNormalizer
from .processor import SentencePieceProcessor
from .thread_pool import ThreadPool
from .trainer import SentencePieceTrainer

__all__ = [
    "ConvertToFlatbuffer",
    "ImmutableNBestSentencePieceText",
    "ImmutableSentencePieceText",
    "ImmutableSentencePieceText_ImmutableSentencePiece",
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceTrainer",
    "SetDataDir",
    "SetMinLogLevel",
    "SetNBestTimeout",
    "SetRandomGeneratorSeed",
    "ThreadPool",
    "convert_to_flatbuffer",
    "set_data_dir",
    "set_line",
    "set_min_log_level",
    "set_nbest_timeout",
    "set_random_generator_seed",
]

__polytok_face__ = Face(
    "sentencepiece", ("0.2.1", "0.2.3"), submodules=("sentencepiece_model_pb2", "sentencepiece_pb2")
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return lines.line()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _number(value: Any) -> int:
    if not hasattr(value, "__index__"):
        raise TypeError(f"{value!r} is not an int")
    return int(value)


def SetRandomGeneratorSeed(seed: int) -> None:
    """Starts the random numbers of sampling from a seed. The samples differ from SentencePiece's."""
    if _number(seed) < 0:
        raise TypeError(f"{seed} is less than 0")
    model.seed_random(seed)


def SetMinLogLevel(v: int) -> None:
    """Does nothing: polytok writes no log."""
    _number(v)


def SetNBestTimeout(timeout: int) -> None:
    """Sets the time in milliseconds after which NBestEncode returns only the best segmentation; 0 for no limit. The
    search itself is not stopped."""
    model.set_nbest_timeout(_number(timeout))


def SetDataDir(data_dir: str | os.PathLike[str]) -> None:
    """Does nothing: polytok has its own character maps."""
    os.fspath(data_dir)


def ConvertToFlatbuffer(
    model_file: Any = None,
    model_proto: Any = None,
    serialized_model_proto: Any = None,
    output_file: Any = None,
    skip_char_bigrams: bool = False,
    treat_null_byte_as_unused: bool = False,
    allow_unsupported_model_type: bool = False,
) -> NoReturn:
    """Raises NotImplementedError: polytok has no FlatBuffers."""
    raise NotImplementedError(
        "polytok writes no FlatBuffers: convert with sentencepiece itself, or save a .ptok file with polytok, which "
        "loads as fast"
    )


set_random_generator_seed = SetRandomGeneratorSeed
set_min_log_level = SetMinLogLevel
set_nbest_timeout = SetNBestTimeout
set_data_dir = SetDataDir
convert_to_flatbuffer = ConvertToFlatbuffer
