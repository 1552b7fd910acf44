"""Pre-tokenizers: JSON to split steps and back.

Those that split by a class of characters become patterns (polytok.patterns). ByteLevel becomes up to three steps: a
space before each piece, GPT-2's pattern, and the mapping of bytes to characters.
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


def read(value: Json, where: str = "pre_tokenizer") -> Steps:
    """The steps of a pre-tokenizer, Sequences unrolled."""
    if value is None:
        return ()
    fields = Fields(value, where)
    kind = type_of(fields, _SHAPES)
    if kind == "Sequence":
        parts = (read(Fields(item, place).value, place) for item, place in fields.items("pretokenizers"))
        return tuple(step for part in parts for step in part)
    return _READERS[kind](fields)


def _byte_level(fields: Fields) -> Steps:
    fields.flag("trim_offsets")
    space = (PieceSpace(),) if fields.flag("add_prefix_space") else ()
    pattern = (_GPT2,) if fields.flag("use_regex", True) else ()
    return (*space, *pattern, ByteLevel())


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
        raise FormatError(f"{fields.where}: pieces of length 0 cannot be cut")
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
    """The pre-tokenizer of these steps, or FormatError where one is not Hugging Face's."""
    parts: list[Json] = []
    rest = list(steps)
    while rest:
        taken, part = _next(rest)
        del rest[:taken]
        parts.append(part)
    return sequence("Sequence", "pretokenizers", parts)


def _next(steps: list[SplitStep]) -> tuple[int, Json]:
    """The component that the first steps are, and how many it takes."""
    for space in (True, False):
        for pattern in (True, False):
            wanted = [*([PieceSpace()] if space else []), *([_GPT2] if pattern else []), ByteLevel()]
            if steps[: len(wanted)] == wanted:
                flags = {"add_prefix_space": space, "trim_offsets": True, "use_regex": pattern}
                return len(wanted), {"type": "ByteLevel", **flags}
    if steps[:2] == [_SPACES, _PUNCTUATION]:
        return 2, {"type": "BertPreTokenizer"}
    return 1, _written(steps[0])


def _written(step: SplitStep) -> Json:
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
    plain = step.is_regex and not step.invert
    if plain and step.pattern == PUNCTUATION and step.behavior != "matches":
        return {"type": "Punctuation", "behavior": _NAMES[step.behavior]}
    if plain and step.pattern == NUMBER and step.behavior in ("isolated", "contiguous"):
        return {"type": "Digits", "individual_digits": step.behavior == "isolated"}
    takes_matches = step.behavior == "matches"
    return {
        "type": "Split",
        "pattern": pattern_json(to_oniguruma(step.pattern) if step.is_regex else step.pattern, step.is_regex),
        "behavior": "Removed" if takes_matches else _NAMES[step.behavior],
        "invert": step.invert != takes_matches,
    }
