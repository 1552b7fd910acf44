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
from .fields import Fields, Json, component_fields, component_name, pattern_json, read_metaspace, read_pattern
from .patterns import to_oniguruma

_COMPONENTS = (
    component_fields("BPEDecoder", "suffix", tagged=False),
    component_fields("ByteLevel", "add_prefix_space trim_offsets"),
    component_fields("WordPiece", "prefix cleanup", tagged=False),
    component_fields("Metaspace", "replacement"),
    component_fields("CTC", "pad_token word_delimiter_token cleanup", tagged=False),
    component_fields("Sequence", "decoders"),
    component_fields("Replace", "pattern content", tagged=False),
    component_fields("Fuse"),
    component_fields("Strip", "content start stop", tagged=False),
    component_fields("ByteFallback"),
)

Steps = tuple[DecodeStep, ...]


def read(value: Json) -> Steps | None:
    """Returns the steps of a decoder, with the parts of a Sequence in its place; None if the file has no decoder."""
    return None if value is None else _read_steps(value, "decoder")


def _read_steps(value: Json, path: str) -> Steps:
    fields = Fields(value, path)
    component = component_name(fields, _COMPONENTS, by_fields=True)
    if component == "Sequence":
        return tuple(step for item, path in fields.items("decoders") for step in _read_steps(item, path))
    return (_READERS[component](fields),)


def _read_metaspace(fields: Fields) -> DecodeStep:
    replacement, prepend, _ = read_metaspace(fields)
    return MetaspaceDecode(replacement, prepend)


def _read_replace(fields: Fields) -> DecodeStep:
    pattern, is_regex = read_pattern(fields)
    return ReplaceDecode(translate(pattern) if is_regex else pattern, fields.text("content"), is_regex)


_READERS: Mapping[str, Callable[[Fields], DecodeStep]] = {
    "BPEDecoder": lambda fields: BpeDecode(fields.text("suffix")),
    "ByteLevel": lambda _: ByteLevelDecode(),
    "WordPiece": lambda fields: WordPieceDecode(fields.text("prefix"), fields.flag("cleanup")),
    "Metaspace": _read_metaspace,
    "CTC": lambda fields: CtcDecode(
        fields.text("pad_token"), fields.text("word_delimiter_token"), fields.flag("cleanup")
    ),
    "Replace": _read_replace,
    "Fuse": lambda _: FuseDecode(),
    "Strip": lambda fields: StripDecode(fields.character("content"), fields.number("start"), fields.number("stop")),
    "ByteFallback": lambda _: ByteFallbackDecode(),
}


def write(steps: Steps | None) -> Json:
    """Converts the steps to a decoder in JSON."""
    if steps is None:
        return None
    parts = [_step_json(step) for step in steps]
    return parts[0] if len(parts) == 1 else {"type": "Sequence", "decoders": parts}


def _step_json(step: DecodeStep) -> Json:
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
