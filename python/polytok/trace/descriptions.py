"""The steps of a pipeline in plain words."""

from __future__ import annotations

from ..spec import (
    BertNormalize,
    Metaspace,
    NormalizeStep,
    PatternSplit,
    Prepend,
    Replace,
    SentencePieceNormalize,
    Spec,
    SplitStep,
    UnicodeForm,
    described,
)

_NORMALIZE = {
    "PrefixSpace": "adds one space before the text",
    "ReplaceInvalid": "replaces bytes that are not UTF-8 with U+FFFD",
    "Strip": "removes white space at the ends",
    "StripAccents": "removes combining marks",
    "Lowercase": "lower-cases every character",
    "Nmt": "removes control characters, and replaces unusual white space with a space",
    "Precompiled": "applies a character map of SentencePiece by the rules of Hugging Face",
    "ByteLevel": "writes every byte as a visible character (GPT-2's table)",
    "UgmNormalize": "llama.cpp's normalizer of T5 vocabularies",
    "WpmNormalize": "llama.cpp's normalizer of BERT vocabularies",
}
_SPLIT = {
    "PieceSpace": "adds a space before each piece that does not start with one",
    "ByteLevel": "writes every byte as a visible character (GPT-2's table)",
    "ScriptSplit": "splits at each change of script",
    "DigitGroups": "splits runs of digits into groups of three, from the right",
}
_BEHAVIORS = {
    "matches": "the matches are the pieces, other text is dropped",
    "removed": "splits at the matches, which are dropped",
    "isolated": "matches and the text between them are the pieces",
    "merged_with_previous": "splits after each match",
    "merged_with_next": "splits before each match",
    "contiguous": "adjacent matches are one piece, and the text between them is one",
}


def describe_normalize(step: NormalizeStep) -> str:
    """Describes a normalization step.

    >>> describe_normalize(UnicodeForm("NFC"))
    'converts to the Unicode form NFC'
    """
    if isinstance(step, SentencePieceNormalize):
        return _describe_sentencepiece(step)
    if isinstance(step, UnicodeForm):
        return f"converts to the Unicode form {step.form}"
    if isinstance(step, Replace):
        return f"replaces {'matches of ' if step.is_regex else ''}{step.pattern!r} with {step.content!r}"
    if isinstance(step, Prepend):
        return f"adds {step.text!r} before the text"
    if isinstance(step, BertNormalize):
        names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
        return "BERT's normalizer: " + (", ".join(name for name in names if getattr(step, name)) or "no option is set")
    return _NORMALIZE[type(step).__name__]


def _describe_sentencepiece(step: SentencePieceNormalize) -> str:
    acts = [
        "maps characters" if step.charsmap else "",
        "removes extra spaces" if step.remove_extra_whitespaces else "",
        f"adds a space {'after' if step.whitespace_as_suffix else 'before'} the text" if step.add_dummy_prefix else "",
        "writes spaces as U+2581" if step.escape_whitespaces else "",
    ]
    return ", ".join(filter(None, acts)) or "keeps the text"


def describe_split(step: SplitStep) -> str:
    """Describes a split step.

    >>> describe_split(PatternSplit(" ", is_regex=False, behavior="removed"))
    "splits at the matches, which are dropped: ' '"
    """
    if isinstance(step, PatternSplit):
        inverted = ", matches and other text swapped" if step.invert else ""
        return f"{_BEHAVIORS[step.behavior]}{inverted}: {step.pattern if step.is_regex else repr(step.pattern)}"
    if isinstance(step, Metaspace):
        before = {"always": "before every piece", "first": "before the first piece", "never": "never"}[step.prepend]
        splits = ", and splits before each" if step.split else ""
        return f"writes spaces as {step.replacement!r} (added {before}){splits}"
    return _SPLIT.get(type(step).__name__) or f"splits into pieces of {getattr(step, 'length', 1)} characters"


def describe_model(spec: Spec) -> str:
    """Describes the model.

    >>> from polytok import load
    >>> describe_model(load("default").spec)
    'BPE of bytes, by rank'
    """
    return described(spec.model)
