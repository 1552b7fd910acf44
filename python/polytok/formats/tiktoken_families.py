"""Rank files whose program is named in ``tokenizer_config.json`` in the same folder: the files of Kimi and of the first
Qwen models.

A repository's configuration names a class of a program in the same repository; the class has the pattern and the scheme
of the special tokens. One row per class. Sources: moonshotai/Kimi-K2-Instruct and Kimi-K3, tokenization_kimi.py (256
special tokens; the first versions added two more, whose ids are beyond the models' vocabulary);
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
_KIMI_RESERVED_COUNT = 256
_QWEN_FIRST = 151643
_QWEN_TEXTS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{number}|>" for number in range(205)))
_QWEN_VL_TEXTS = ("<ref>", "</ref>", "<box>", "</box>", "<quad>", "</quad>", "<img>", "</img>", "<imgpad>")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RankFileProgram:
    """A class of a program, and a function that returns the scheme it adds to a rank file.

    The function's arguments are the number of tokens in the file, tokenizer_config.json, and config.json.
    """

    class_name: str
    scheme: Callable[[int, Json, Json], Scheme]


def _kimi(size: int, config: Json, _model: Json) -> Scheme:
    """Returns Kimi's scheme; the configuration has the names of the special tokens."""
    token_by_id = _object_at(config, "added_tokens_decoder")
    texts = {
        id: _token_text(token_by_id.get(str(id))) or f"<|reserved_token_{id}|>"
        for id in range(size, size + _KIMI_RESERVED_COUNT)
    }
    names = {role: text for role in ("bos", "eos", "unk", "pad") if (text := _token_text(config.get(f"{role}_token")))}
    return Scheme(KIMI, {text: id for id, text in texts.items()}, names, adds_bos=False)


def _qwen(_size: int, _config: Json, model: Json) -> Scheme:
    texts = (*_QWEN_TEXTS, *(_QWEN_VL_TEXTS if "visual" in model else ()))
    return Scheme(QWEN, {text: id for id, text in enumerate(texts, start=_QWEN_FIRST)}, {"eos": "<|endoftext|>"})


FAMILIES = (
    RankFileProgram("tokenization_kimi.TikTokenTokenizer", _kimi),
    RankFileProgram("tokenization_qwen.QWenTokenizer", _qwen),
)


def from_siblings(siblings: Mapping[str, bytes], size: int) -> Scheme | None:
    """Returns the scheme of the class that the configuration of a rank file names; None if it names no class."""
    config = _parse(siblings, "tokenizer_config.json")
    class_name = _class_name(config)
    if class_name is None:
        return None
    for family in FAMILIES:
        if family.class_name == class_name:
            return family.scheme(size, config, _parse(siblings, "config.json"))
    known_classes = ", ".join(family.class_name for family in FAMILIES)
    raise FormatError(
        f"tokenizer_config.json names the class {class_name!r:.100} for the rank file; known are {known_classes}; "
        "for another class, give pattern= and special_tokens="
    )


def _class_name(config: Json) -> str | None:
    """Returns the class of the repository's own program as ``file.Class``, without the name of another repository."""
    class_names = _object_at(config, "auto_map").get("AutoTokenizer")
    class_path = class_names[0] if isinstance(class_names, list) and class_names else class_names
    return class_path.rpartition("--")[2] if isinstance(class_path, str) else None


def _token_text(token: Any) -> str | None:
    """Returns the text of a token (a text, or an object with its content); None for anything else."""
    text = token.get("content") if isinstance(token, dict) else token
    if not isinstance(text, str) or not text:
        return None
    if not is_utf8(text):
        raise FormatError(
            f"tokenizer_config.json: the token {text!r} has half of a surrogate pair, which UTF-8 cannot encode"
        )
    return text


def _object_at(config: Json, key: str) -> Json:
    value = config.get(key, {})
    return value if isinstance(value, dict) else {}


def _parse(siblings: Mapping[str, bytes], name: str) -> Json:
    if name not in siblings:
        return {}
    try:
        value = json.loads(siblings[name].decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} in the same folder cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise FormatError(f"{name} in the same folder is not a JSON object")
    return value
