"""Describes the steps of a pipeline in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from hashlib import sha256
from typing import Any

from .. import spec
from ..spec import Kind, Spec, Template, TemplatePart

_SHOWN_HASH_DIGITS = 8
_Words = Callable[[Any], str]


def words_of(step: Any) -> str:
    """Describes a step of normalizing, splitting or decoding, or a model.

    >>> words_of(spec.Replace(" ", "\\u2581")), words_of(spec.Lowercase())
    ("replaces ' ' with '▁'", 'converts to lower case')
    """
    return _WORDS[type(step).__name__](step)


def words_of_template(template: Template, tokenizer_spec: Spec) -> str:
    """Describes a template by the pieces and ids that it adds.

    >>> words_of_template(Template(), spec.Spec(spec.Vocab.from_rows([]), spec.Longest()))
    'adds nothing'
    """
    pieces = dict(zip(tokenizer_spec.vocab.ids.tolist(), tokenizer_spec.vocab.pieces(), strict=True))
    pieces |= {token.id: token.text.encode() for token in reversed(tokenizer_spec.special)}

    def words_of_part(part: TemplatePart) -> str:
        if isinstance(part, spec.Slot):
            return "TEXT" if part.text == 0 else "SECOND TEXT"
        return " ".join(f"{pieces.get(id, b'?').decode(errors='backslashreplace')}={id}" for id in part.ids)

    if template == Template():
        return "adds nothing"
    single, pair = (" ".join(map(words_of_part, parts)) for parts in (template.single, template.pair))
    type_ids = {part.type_id for part in template.single}, [part.type_id for part in template.pair]
    shown_type_ids = "" if type_ids == ({0}, [0] * len(template.pair)) else f", type ids {type_ids[1]}"
    return f"with add_special: {single}; for a pair: {pair}{shown_type_ids}"


def words_of_vocab(tokenizer_spec: Spec) -> str:
    """Describes the vocabulary by the numbers of its entries.

    >>> words_of_vocab(spec.Spec(spec.Vocab.from_rows([(b"a", 0, 0.0, 1)]), spec.Longest()))
    '1 entry (1 normal)'
    """
    kinds = tokenizer_spec.vocab.kinds.tolist()
    counts = ", ".join(f"{kinds.count(kind):,} {kind.name.lower()}" for kind in Kind if kinds.count(kind))
    return f"{len(kinds):,} {'entry' if len(kinds) == 1 else 'entries'}" + (f" ({counts})" if counts else "")


def _options(step: Any) -> str:
    """Returns the fields of a step and their values, in parentheses."""
    named = [(field.name, getattr(step, field.name)) for field in fields(step)]
    text = ", ".join(f"{name}={_value(value)}" for name, value in named)
    return f" ({text})" if text else ""


def _value(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value):,} bytes {sha256(value).hexdigest()[:_SHOWN_HASH_DIGITS]}" if value else "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else repr(value) if isinstance(value, (str, int, float)) else words_of(value)


def _replaced(step: Any) -> str:
    """Returns what a step searches and what it writes instead."""
    pattern = f"the pattern {step.pattern}" if step.is_regex else repr(step.pattern)
    action = f"replaces {pattern} with {step.content!r}" if step.content else f"removes {pattern}"
    return action + (f" (Unicode {step.unicode})" if step.unicode else "")


def _pattern(step: spec.PatternSplit) -> str:
    actions = {
        "matches": "keeps the matches of",
        "isolated": "splits around the matches of",
        "removed": "splits at the matches, which it removes, of",
        "merged_with_previous": "splits after the matches of",
        "merged_with_next": "splits before the matches of",
        "contiguous": "splits around runs of matches of",
    }
    pattern = step.pattern if step.is_regex else repr(step.pattern)
    inverse = " (matches and gaps exchanged)" if step.invert else ""
    return f"{actions[step.behavior]} {pattern}{inverse}" + (f" (Unicode {step.unicode})" if step.unicode else "")


def _bpe(model: spec.Bpe) -> str:
    flags = [
        name for name in ("whole_piece_first", "reserved", "byte_fallback", "fuse_unknown") if getattr(model, name)
    ]
    affixes = [f"{name}={value!r}" for name in ("continuing_prefix", "word_suffix") if (value := getattr(model, name))]
    return ", ".join([spec.described(model), *flags, *affixes])


def _chain(decode: spec.ChainDecode) -> str:
    if decode.steps is None:
        return "joins the tokens with spaces"
    steps = "; ".join(map(words_of, decode.steps)) or "joins the tokens"
    return f"bytes as GPT-2's characters; {steps}" if decode.byte_level else steps


def _named(text: str) -> _Words:
    """Returns a function that describes a step by a text and the step's fields."""
    return lambda step: f"{text}{_options(step)}"


_WORDS: Mapping[str, _Words] = {
    # normalize
    "SentencePieceNormalize": _named("SentencePiece's normalizer"),
    "PrefixSpace": _named("adds a space before the text"),
    "ReplaceInvalid": _named("replaces invalid bytes with U+FFFD"),
    "BertNormalize": _named("BERT's normalizer"),
    "Strip": _named("removes white space at the ends"),
    "StripAccents": _named("removes combining marks"),
    "UnicodeForm": lambda step: f"converts to the Unicode form {step.form}",
    "Lowercase": _named("converts to lower case"),
    "Nmt": _named("removes control characters (Nmt)"),
    "Precompiled": _named("applies a character map"),
    "Replace": _replaced,
    "Prepend": lambda step: f"adds {step.text!r} before the text",
    "ByteLevel": _named("writes bytes as GPT-2's characters"),
    "UgmNormalize": _named("llama.cpp's normalizer for T5"),
    "WpmNormalize": _named("llama.cpp's normalizer for BERT"),
    # split
    "PatternSplit": _pattern,
    "Metaspace": _named("Metaspace"),
    "PieceSpace": _named("adds a space before each piece"),
    "ScriptSplit": _named("splits between scripts"),
    "FixedLength": lambda step: f"splits into pieces of {step.length} characters",
    "DigitGroups": _named("splits digits into groups of three from the right"),
    # model
    "Bpe": _bpe,
    "Unigram": lambda model: f"{spec.described(model)}{', byte_fallback' if model.byte_fallback else ''}",
    "Longest": _named("longest match"),
    "Word": _named("whole words"),
    "Char": _named("characters"),
    "WordPiece": _named("WordPiece"),
    "WordLevel": _named("whole pieces"),
    "Plamo2": _named("PLaMo-2's model"),
    # decode
    "BytesDecode": _named("joins the bytes of the tokens"),
    "SentencePieceDecode": _named("SentencePiece's decoding"),
    "Llama2cDecode": _named("llama2.c's decoding"),
    "ByteLevelDecode": _named("GPT-2's characters to bytes"),
    "BpeDecode": lambda step: f"{step.suffix!r} to a space",
    "WordPieceDecode": _named("WordPiece's spaces"),
    "MetaspaceDecode": _named("Metaspace to spaces"),
    "CtcDecode": _named("CTC"),
    "ReplaceDecode": _replaced,
    "StripDecode": _named("strips"),
    "ByteFallbackDecode": _named("byte pieces to bytes"),
    "FuseDecode": _named("joins the tokens"),
    "ChainDecode": _chain,
    "LlamaCppDecode": _named("llama.cpp's decoding"),
}
"""A function for each class of step, which describes its objects."""
