"""Converts pre-tokenizers in JSON to split steps, and back.

Pre-tokenizers that split by a class of characters are converted to patterns (polytok.patterns). ByteLevel is converted
to up to three steps: a space before each piece, GPT-2's pattern, and the mapping of bytes to characters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...errors import FormatError
from ...patterns import GPT2, NUMBER, PUNCTUATION, SPACE, WORDS
from ...spec import Behavior, ByteLevel, FixedLength, Metaspace, PatternSplit, PieceSpace, ScriptSplit, SplitStep
from ..oniguruma import translate
from .fields import Fields, Json, metaspace_of, pattern_json, pattern_of, sequence, shape, type_of
from .patterns import to_oniguruma

_SHAPES = (
    shape("BertPreTokenizer"),
    shape("ByteLevel"),
    shape("CharDelimiterSplit"),
    shape("Metaspace"),
    shape("Whitespace"),
    shape("Sequence"),
    shape("Split"),
    shape("Punctuation"),
    shape("WhitespaceSplit"),
    shape("Digits"),
    shape("UnicodeScripts"),
    shape("FixedLength"),
)
_BEHAVIORS: Mapping[str, Behavior] = {
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
_NAMES = {behavior: name for name, behavior in _BEHAVIORS.items()}
_DEFAULT_LENGTH = 5

Steps = tuple[SplitStep, ...]

_SPACES = PatternSplit(SPACE, "removed")
_PUNCTUATION = PatternSplit(PUNCTUATION, "isolated")
_WORDS = PatternSplit(WORDS, "removed", invert=True)
_GPT2 = PatternSplit(GPT2, "isolated")


def read(value: Json, path: str = "pre_tokenizer") -> Steps:
    """Returns the steps of a pre-tokenizer; a Sequence is replaced by its parts."""
    if value is None:
        return ()
    fields = Fields(value, path)
    component = type_of(fields, _SHAPES)
    if component == "Sequence":
        parts = (read(Fields(item, path).value, path) for item, path in fields.items("pretokenizers"))
        return tuple(step for part in parts for step in part)
    return _READERS[component](fields)


def _byte_level(fields: Fields) -> Steps:
    fields.flag("trim_offsets")
    space_steps = (PieceSpace(),) if fields.flag("add_prefix_space") else ()
    pattern_steps = (_GPT2,) if fields.flag("use_regex", True) else ()
    return (*space_steps, *pattern_steps, ByteLevel())


def _split(fields: Fields) -> Steps:
    pattern, is_regex = pattern_of(fields)
    behavior = fields.choice("behavior", _BEHAVIORS)
    text = translate(pattern) if is_regex else pattern
    return (PatternSplit(text, behavior, fields.flag("invert"), is_regex),)


def _digits(fields: Fields) -> Steps:
    return (PatternSplit(NUMBER, "isolated" if fields.flag("individual_digits") else "contiguous"),)


def _fixed_length(fields: Fields) -> Steps:
    length = fields.number("length", _DEFAULT_LENGTH)
    if length == 0:
        raise FormatError(f"{fields.path}: length is 0, but pieces need at least one character")
    return (FixedLength(length),)


_READERS: Mapping[str, Callable[[Fields], Steps]] = {
    "BertPreTokenizer": lambda _: (_SPACES, _PUNCTUATION),
    "ByteLevel": _byte_level,
    "CharDelimiterSplit": lambda fields: (PatternSplit(fields.character("delimiter"), "removed", is_regex=False),),
    "Metaspace": lambda fields: (Metaspace(*metaspace_of(fields)),),
    "Whitespace": lambda _: (_WORDS,),
    "Split": _split,
    "Punctuation": lambda fields: (PatternSplit(PUNCTUATION, fields.choice("behavior", _BEHAVIORS, "Isolated")),),
    "WhitespaceSplit": lambda _: (_SPACES,),
    "Digits": _digits,
    "UnicodeScripts": lambda _: (ScriptSplit(),),
    "FixedLength": _fixed_length,
}


def write(steps: Steps) -> Json:
    """Returns these steps as a pre-tokenizer in JSON; raises FormatError for a step that Hugging Face does not have."""
    parts: list[Json] = []
    remaining_steps = list(steps)
    while remaining_steps:
        step_count, part = _next_component(remaining_steps)
        del remaining_steps[:step_count]
        parts.append(part)
    return sequence("Sequence", "pretokenizers", parts)


def _next_component(steps: list[SplitStep]) -> tuple[int, Json]:
    """Returns the number of steps that the first component consists of, and the component in JSON."""
    for add_space in (True, False):
        for use_regex in (True, False):
            byte_level_steps = [*([PieceSpace()] if add_space else []), *([_GPT2] if use_regex else []), ByteLevel()]
            if steps[: len(byte_level_steps)] == byte_level_steps:
                flags = {"add_prefix_space": add_space, "trim_offsets": True, "use_regex": use_regex}
                return len(byte_level_steps), {"type": "ByteLevel", **flags}
    if steps[:2] == [_SPACES, _PUNCTUATION]:
        return 2, {"type": "BertPreTokenizer"}
    return 1, _to_json(steps[0])


def _to_json(step: SplitStep) -> Json:
    match step:
        case PatternSplit():
            return _pattern(step)
        case Metaspace():
            scheme = {"prepend_scheme": step.prepend, "split": step.split}
            return {"type": "Metaspace", "replacement": step.replacement, **scheme}
        case ScriptSplit():
            return {"type": "UnicodeScripts"}
        case FixedLength():
            return {"type": "FixedLength", "length": step.length}
    raise FormatError(f"tokenizers has no pre-tokenizer like this: {step!r:.100}")


def _pattern(step: PatternSplit) -> Json:
    if step == _SPACES:
        return {"type": "WhitespaceSplit"}
    if step == _WORDS:
        return {"type": "Whitespace"}
    is_plain_regex = step.is_regex and not step.invert
    if is_plain_regex and step.pattern == PUNCTUATION and step.behavior != "matches":
        return {"type": "Punctuation", "behavior": _NAMES[step.behavior]}
    if is_plain_regex and step.pattern == NUMBER and step.behavior in ("isolated", "contiguous"):
        return {"type": "Digits", "individual_digits": step.behavior == "isolated"}
    drops_gaps = step.behavior == "matches"
    return {
        "type": "Split",
        "pattern": pattern_json(to_oniguruma(step.pattern) if step.is_regex else step.pattern, step.is_regex),
        "behavior": "Removed" if drops_gaps else _NAMES[step.behavior],
        "invert": step.invert != drops_gaps,
    }
