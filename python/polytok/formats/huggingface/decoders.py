"""Converts decoders in JSON to the steps of a chain, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...errors import FormatError
from ...spec import (
    BpeDecode,
    ByteFallbackDecode,
    ByteLevelDecode,
    CtcDecode,
    DecodeStep,
    FuseDecode,
    MetaspaceDecode,
    ReplaceDecode,
    StripDecode,
    WordPieceDecode,
)
from ..oniguruma import translate
from .fields import Fields, Json, metaspace_of, pattern_json, pattern_of, shape, type_of
from .patterns import to_oniguruma

_SHAPES = (
    shape("BPEDecoder", "suffix", tagged=False),
    shape("ByteLevel", "add_prefix_space trim_offsets"),
    shape("WordPiece", "prefix cleanup", tagged=False),
    shape("Metaspace", "replacement"),
    shape("CTC", "pad_token word_delimiter_token cleanup", tagged=False),
    shape("Sequence", "decoders"),
    shape("Replace", "pattern content", tagged=False),
    shape("Fuse"),
    shape("Strip", "content start stop", tagged=False),
    shape("ByteFallback"),
)

Steps = tuple[DecodeStep, ...]


def read(value: Json) -> Steps | None:
    """Returns the steps of a decoder; a Sequence is replaced by its parts. None if there is no decoder."""
    return None if value is None else _steps(value, "decoder")


def _steps(value: Json, path: str) -> Steps:
    fields = Fields(value, path)
    component = type_of(fields, _SHAPES, by_shape=True)
    if component == "Sequence":
        return tuple(step for item, path in fields.items("decoders") for step in _steps(item, path))
    return (_READERS[component](fields),)


def _metaspace(fields: Fields) -> DecodeStep:
    replacement, prepend, _ = metaspace_of(fields)
    return MetaspaceDecode(replacement, prepend)


def _replace(fields: Fields) -> DecodeStep:
    pattern, is_regex = pattern_of(fields)
    return ReplaceDecode(translate(pattern) if is_regex else pattern, fields.text("content"), is_regex)


_READERS: Mapping[str, Callable[[Fields], DecodeStep]] = {
    "BPEDecoder": lambda fields: BpeDecode(fields.text("suffix")),
    "ByteLevel": lambda _: ByteLevelDecode(),
    "WordPiece": lambda fields: WordPieceDecode(fields.text("prefix"), fields.flag("cleanup")),
    "Metaspace": _metaspace,
    "CTC": lambda fields: CtcDecode(
        fields.text("pad_token"), fields.text("word_delimiter_token"), fields.flag("cleanup")
    ),
    "Replace": _replace,
    "Fuse": lambda _: FuseDecode(),
    "Strip": lambda fields: StripDecode(fields.character("content"), fields.number("start"), fields.number("stop")),
    "ByteFallback": lambda _: ByteFallbackDecode(),
}


def write(steps: Steps | None) -> Json:
    """Returns these steps as a decoder in JSON."""
    if steps is None:
        return None
    parts = [_to_json(step) for step in steps]
    return parts[0] if len(parts) == 1 else {"type": "Sequence", "decoders": parts}


def _to_json(step: DecodeStep) -> Json:
    match step:
        case ByteLevelDecode():
            return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        case BpeDecode():
            return {"type": "BPEDecoder", "suffix": step.suffix}
        case WordPieceDecode():
            return {"type": "WordPiece", "prefix": step.prefix, "cleanup": step.cleanup}
        case MetaspaceDecode():
            scheme = {"prepend_scheme": step.prepend, "split": True}
            return {"type": "Metaspace", "replacement": step.replacement, **scheme}
        case CtcDecode():
            fields = {"pad_token": step.pad, "word_delimiter_token": step.delimiter, "cleanup": step.cleanup}
            return {"type": "CTC", **fields}
        case ReplaceDecode():
            pattern = to_oniguruma(step.pattern) if step.is_regex else step.pattern
            return {"type": "Replace", "pattern": pattern_json(pattern, step.is_regex), "content": step.content}
        case StripDecode():
            return {"type": "Strip", "content": step.content, "start": step.start, "stop": step.stop}
        case ByteFallbackDecode():
            return {"type": "ByteFallback"}
        case FuseDecode():
            return {"type": "Fuse"}
    raise FormatError(f"tokenizers has no decoder like this: {step!r:.100}")
