"""Converts normalizers in JSON to normalizer steps, and back."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping

from ...errors import FormatError
from ...spec import (
    BertNormalize,
    ByteLevel,
    Lowercase,
    Nmt,
    NormalizeStep,
    Precompiled,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from ..oniguruma import translate
from .fields import Fields, Json, component_fields, component_name, pattern_json, read_pattern, sequence_json
from .patterns import to_oniguruma

_COMPONENTS = (
    component_fields("BertNormalizer", "clean_text handle_chinese_chars lowercase", tagged=False),
    component_fields("Strip", "strip_left strip_right", tagged=False),
    component_fields("StripAccents"),
    component_fields("NFC"),
    component_fields("NFD"),
    component_fields("NFKC"),
    component_fields("NFKD"),
    component_fields("Sequence", "normalizers", tagged=False),
    component_fields("Lowercase"),
    component_fields("Nmt"),
    component_fields("Precompiled", "precompiled_charsmap"),
    component_fields("Replace", "pattern content", tagged=False),
    component_fields("Prepend", "prepend", tagged=False),
    component_fields("ByteLevel"),
)


def read(value: Json, path: str = "normalizer") -> tuple[NormalizeStep, ...]:
    """Returns the steps of a normalizer, with the parts of a Sequence in its place."""
    if value is None:
        return ()
    fields = Fields(value, path)
    component = component_name(fields, _COMPONENTS)
    if component == "Sequence":
        parts = (read(_require_component(item, path), path) for item, path in fields.items("normalizers"))
        return tuple(step for part in parts for step in part)
    return (_READERS[component](fields),)


def write(steps: tuple[NormalizeStep, ...]) -> Json:
    """Converts the steps to a normalizer in JSON; raises FormatError for a step that Hugging Face does not have."""
    return sequence_json("Sequence", "normalizers", [_step_json(step) for step in steps])


def _require_component(item: Json, path: str) -> Json:
    if item is None:
        raise FormatError(f"{path}: null is not a normalizer")
    return item


def _read_bert(fields: Fields) -> NormalizeStep:
    lowercase = fields.flag("lowercase")
    strips_accents = None if fields.value.get("strip_accents") is None else fields.flag("strip_accents")
    return BertNormalize(
        clean_text=fields.flag("clean_text"),
        handle_chinese_chars=fields.flag("handle_chinese_chars"),
        strip_accents=lowercase if strips_accents is None else strips_accents,
        lowercase=lowercase,
    )


def _read_precompiled(fields: Fields) -> NormalizeStep:
    try:
        return Precompiled(base64.b64decode(fields.text("precompiled_charsmap"), validate=True))
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"{fields.path}: precompiled_charsmap is not base64: {error}") from error


def _read_replace(fields: Fields) -> NormalizeStep:
    pattern, is_regex = read_pattern(fields)
    return Replace(translate(pattern) if is_regex else pattern, fields.text("content"), is_regex)


_READERS: Mapping[str, Callable[[Fields], NormalizeStep]] = {
    "BertNormalizer": _read_bert,
    "Strip": lambda fields: Strip(fields.flag("strip_left"), fields.flag("strip_right")),
    "StripAccents": lambda _: StripAccents(),
    "NFC": lambda _: UnicodeForm("NFC"),
    "NFD": lambda _: UnicodeForm("NFD"),
    "NFKC": lambda _: UnicodeForm("NFKC"),
    "NFKD": lambda _: UnicodeForm("NFKD"),
    "Lowercase": lambda _: Lowercase(),
    "Nmt": lambda _: Nmt(),
    "Precompiled": _read_precompiled,
    "Replace": _read_replace,
    "Prepend": lambda fields: Prepend(fields.text("prepend")),
    "ByteLevel": lambda _: ByteLevel(),
}


def _step_json(step: NormalizeStep) -> Json:
    match step:
        case BertNormalize():
            flags = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
            return {"type": "BertNormalizer", **{flag: getattr(step, flag) for flag in flags}}
        case Strip():
            return {"type": "Strip", "strip_left": step.left, "strip_right": step.right}
        case UnicodeForm():
            return {"type": step.form}
        case Precompiled():
            return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(step.charsmap).decode()}
        case Replace():
            pattern = to_oniguruma(step.pattern) if step.is_regex else step.pattern
            return {"type": "Replace", "pattern": pattern_json(pattern, step.is_regex), "content": step.content}
        case Prepend():
            return {"type": "Prepend", "prepend": step.text}
        case StripAccents() | Lowercase() | Nmt() | ByteLevel():
            return {"type": type(step).__name__}
    raise FormatError(f"tokenizers has no normalizer like this: {step!r:.100}")
