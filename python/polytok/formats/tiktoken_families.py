"""Rank files whose program is told by the ``tokenizer_config.json`` beside them: Kimi's and Qwen's (the first ones).

A repository's configuration names a class of the program that stands in the same repository; the class has the
pattern and the scheme of the special tokens. One row per class. Sources: moonshotai/Kimi-K2-Instruct and Kimi-K3,
tokenization_kimi.py (256 special tokens; the first versions made two more, which are beyond the models' vocabulary);
Qwen/Qwen-7B and Qwen/Qwen-VL, tokenization_qwen.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import FormatError
from .base import is_utf8
from .tiktoken_known import Scheme

KIMI = (
    r"[\p{Han}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_KIMI_RESERVED = 256
_QWEN_FIRST = 151643
_QWEN_TEXTS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{number}|>" for number in range(205)))
_QWEN_VL_TEXTS = ("<ref>", "</ref>", "<box>", "</box>", "<quad>", "</quad>", "<img>", "</img>", "<imgpad>")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Family:
    """A class and what it adds to a rank file of so many tokens, by tokenizer_config.json and config.json."""

    class_name: str
    scheme: Callable[[int, Json, Json], Scheme]


def _kimi(size: int, config: Json, _model: Json) -> Scheme:
    """The names are the model's own."""
    listed = _object(config, "added_tokens_decoder")
    texts = {id: _text(listed.get(str(id))) or f"<|reserved_token_{id}|>" for id in range(size, size + _KIMI_RESERVED)}
    names = {role: text for role in ("bos", "eos", "unk", "pad") if (text := _text(config.get(f"{role}_token")))}
    return Scheme(KIMI, {text: id for id, text in texts.items()}, names, adds_bos=False)


def _qwen(_size: int, _config: Json, model: Json) -> Scheme:
    texts = (*_QWEN_TEXTS, *(_QWEN_VL_TEXTS if "visual" in model else ()))
    return Scheme(QWEN, {text: id for id, text in enumerate(texts, start=_QWEN_FIRST)}, {"eos": "<|endoftext|>"})


FAMILIES = (Family("tokenization_kimi.TikTokenTokenizer", _kimi), Family("tokenization_qwen.QWenTokenizer", _qwen))


def from_siblings(siblings: Mapping[str, bytes], size: int) -> Scheme | None:
    """The scheme that the configuration beside a rank file names; None where it names no class."""
    config = _parsed(siblings, "tokenizer_config.json")
    class_name = _class_name(config)
    if class_name is None:
        return None
    for family in FAMILIES:
        if family.class_name == class_name:
            return family.scheme(size, config, _parsed(siblings, "config.json"))
    known = ", ".join(family.class_name for family in FAMILIES)
    raise FormatError(
        f"tokenizer_config.json says that the rank file is for the class {class_name!r:.100}; known are {known}; for "
        "another, give pattern= and special_tokens="
    )


def _class_name(config: Json) -> str | None:
    """The class in the repository's own program: ``file.Class``, without another repository's name before it."""
    named = _object(config, "auto_map").get("AutoTokenizer")
    first = named[0] if isinstance(named, list) and named else named
    return first.rpartition("--")[2] if isinstance(first, str) else None


def _text(token: Any) -> str | None:
    """The text of a token, which stands there itself or as an object with its content."""
    text = token.get("content") if isinstance(token, dict) else token
    if not isinstance(text, str) or not text:
        return None
    if not is_utf8(text):
        raise FormatError(
            f"tokenizer_config.json: the token {text!r} has half of a surrogate pair, which UTF-8 cannot spell"
        )
    return text


def _object(config: Json, key: str) -> Json:
    value = config.get(key, {})
    return value if isinstance(value, dict) else {}


def _parsed(siblings: Mapping[str, bytes], name: str) -> Json:
    if name not in siblings:
        return {}
    try:
        value = json.loads(siblings[name].decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} beside the file cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise FormatError(f"{name} beside the file is not a JSON object")
    return value
