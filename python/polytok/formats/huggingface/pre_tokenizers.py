"""Converts pre-tokenizers in JSON to split steps, and back.

A pre-tokenizer that splits at characters of one class is converted to a pattern (polytok.patterns). ByteLevel is
converted to up to three steps: a space before each piece, GPT-2's pattern, and the mapping of bytes to characters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...errors import FormatError
from ...patterns import GPT2, NUMBER, PUNCTUATION, SPACE, WORDS
from ...spec import Behavior, ByteLevel, FixedLength, Metaspace, PatternSplit, PieceSpace, ScriptSplit, SplitStep
from ..oniguruma import translate
from .fields import (
    Fields,
    Json,
    component_fields,
    component_name,
    pattern_json,
    read_metaspace,
    read_pattern,
    sequence_json,
)
from .patterns import to_oniguruma

_COMPONENTS = (
    component_fields("BertPreTokenizer"),
    component_fields("ByteLevel"),
    component_fields("CharDelimiterSplit"),
    component_fields("Metaspace"),
    component_fields("Whitespace"),
    component_fields("Sequence"),
    component_fields("Split"),
    component_fields("Punctuation"),
    component_fields("WhitespaceSplit"),
    component_fields("Digits"),
    component_fields("UnicodeScripts"),
    component_fields("FixedLength"),
)
_BEHAVIOR_OF_NAME: Mapping[str, Behavior] = {
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
_NAME_OF_BEHAVIOR = {behavior: name for name, behavior in _BEHAVIOR_OF_NAME.items()}
_DEFAULT_FIXED_LENGTH = 5

Steps = tuple[SplitStep, ...]

_SPACE_SPLIT = PatternSplit(SPACE, "removed")
_PUNCTUATION_SPLIT = PatternSplit(PUNCTUATION, "isolated")
_WORD_SPLIT = PatternSplit(WORDS, "removed", invert=True)
_GPT2_SPLIT = PatternSplit(GPT2, "isolated")


def read(value: Json, path: str = "pre_tokenizer") -> Steps:
    """Returns the steps of a pre-tokenizer, with the parts of a Sequence in its place."""
    if value is None:
        return ()
    fields = Fields(value, path)
    component = component_name(fields, _COMPONENTS)
    if component == "Sequence":
        parts = (read(Fields(item, path).value, path) for item, path in fields.items("pretokenizers"))
        return tuple(step for part in parts for step in part)
    return _READERS[component](fields)


def _read_byte_level(fields: Fields) -> Steps:
    fields.flag("trim_offsets")
    space_steps = (PieceSpace(),) if fields.flag("add_prefix_space") else ()
    pattern_steps = (_GPT2_SPLIT,) if fields.flag("use_regex", True) else ()
    return (*space_steps, *pattern_steps, ByteLevel())


def _read_split(fields: Fields) -> Steps:
    pattern, is_regex = read_pattern(fields)
    behavior = fields.choice("behavior", _BEHAVIOR_OF_NAME)
    text = translate(pattern) if is_regex else pattern
    return (PatternSplit(text, behavior, fields.flag("invert"), is_regex),)


def _read_digits(fields: Fields) -> Steps:
    return (PatternSplit(NUMBER, "isolated" if fields.flag("individual_digits") else "contiguous"),)


def _read_fixed_length(fields: Fields) -> Steps:
    length = fields.number("length", _DEFAULT_FIXED_LENGTH)
    if length == 0:
        raise FormatError(f"{fields.path}: length is 0, but pieces need at least one character")
    return (FixedLength(length),)


_READERS: Mapping[str, Callable[[Fields], Steps]] = {
    "BertPreTokenizer": lambda _: (_SPACE_SPLIT, _PUNCTUATION_SPLIT),
    "ByteLevel": _read_byte_level,
    "CharDelimiterSplit": lambda fields: (PatternSplit(fields.character("delimiter"), "removed", is_regex=False),),
    "Metaspace": lambda fields: (Metaspace(*read_metaspace(fields)),),
    "Whitespace": lambda _: (_WORD_SPLIT,),
    "Split": _read_split,
    "Punctuation": lambda fields: (
        PatternSplit(PUNCTUATION, fields.choice("behavior", _BEHAVIOR_OF_NAME, "Isolated")),
    ),
    "WhitespaceSplit": lambda _: (_SPACE_SPLIT,),
    "Digits": _read_digits,
    "UnicodeScripts": lambda _: (ScriptSplit(),),
    "FixedLength": _read_fixed_length,
}


def write(steps: Steps) -> Json:
    """Converts the steps to a pre-tokenizer in JSON; raises FormatError for a step that Hugging Face does not have."""
    parts: list[Json] = []
    remaining_steps = list(steps)
    while remaining_steps:
        step_count, part = _next_component(remaining_steps)
        del remaining_steps[:step_count]
        parts.append(part)
    return sequence_json("Sequence", "pretokenizers", parts)


def _next_component(steps: list[SplitStep]) -> tuple[int, Json]:
    """Converts as many of the first steps as form one component; returns their number, and the component in JSON."""
    for add_space in (True, False):
        for use_regex in (True, False):
            byte_level_steps = [
                *([PieceSpace()] if add_space else []),
                *([_GPT2_SPLIT] if use_regex else []),
                ByteLevel(),
            ]
            if steps[: len(byte_level_steps)] == byte_level_steps:
                flags = {"add_prefix_space": add_space, "trim_offsets": True, "use_regex": use_regex}
                return len(byte_level_steps), {"type": "ByteLevel", **flags}
    if steps[:2] == [_SPACE_SPLIT, _PUNCTUATION_SPLIT]:
        return 2, {"type": "BertPreTokenizer"}
    return 1, _step_json(steps[0])


def _step_json(step: SplitStep) -> Json:
    match step:
        case PatternSplit():
            return _pattern_step_json(step)
        case Metaspace():
            scheme = {"prepend_scheme": step.prepend, "split": step.split}
            return {"type": "Metaspace", "replacement": step.replacement, **scheme}
        case ScriptSplit():
            return {"type": "UnicodeScripts"}
        case FixedLength():
            return {"type": "FixedLength", "length": step.length}
    raise FormatError(f"tokenizers has no pre-tokenizer like this: {step!r:.100}")


def _pattern_step_json(step: PatternSplit) -> Json:
    if step == _SPACE_SPLIT:
        return {"type": "WhitespaceSplit"}
    if step == _WORD_SPLIT:
        return {"type": "Whitespace"}
    is_plain_regex = step.is_regex and not step.invert
    if is_plain_regex and step.pattern == PUNCTUATION and step.behavior != "matches":
        return {"type": "Punctuation", "behavior": _NAME_OF_BEHAVIOR[step.behavior]}
    if is_plain_regex and step.pattern == NUMBER and step.behavior in ("isolated", "contiguous"):
        return {"type": "Digits", "individual_digits": step.behavior == "isolated"}
    drops_gaps = step.behavior == "matches"
    return {
        "type": "Split",
        "pattern": pattern_json(to_oniguruma(step.pattern) if step.is_regex else step.pattern, step.is_regex),
        "behavior": "Removed" if drops_gaps else _NAME_OF_BEHAVIOR[step.behavior],
        "invert": step.invert != drops_gaps,
    }
