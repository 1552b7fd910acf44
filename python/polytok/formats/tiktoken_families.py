"""Rank files whose ``tokenizer_config.json`` in the same folder names their program: those of Kimi and of the first
Qwen models.

The configuration of a repository names a class of a Python program in the repository. This class contains the pattern
and the special tokens, which this module reproduces. Sources: moonshotai/Kimi-K2-Instruct and Kimi-K3,
tokenization_kimi.py (256 special tokens; the first versions added two more, whose ids are beyond the models'
vocabulary); Qwen/Qwen-7B and Qwen/Qwen-VL, tokenization_qwen.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import FormatError
from ..keywords import keyword
from ..patterns import QWEN2
from ..records import dataclass
from ..utf8 import has_surrogate
from .base import parse_sibling
from .tiktoken_known import Scheme

KIMI = (
    r"[\p{Han}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_KIMI_RESERVED_COUNT = 256
_QWEN_FIRST_SPECIAL_ID = 151643
_QWEN_SPECIAL_TEXTS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{number}|>" for number in range(205)))
_QWEN_VL_SPECIAL_TEXTS = ("<ref>", "</ref>", "<box>", "</box>", "<quad>", "</quad>", "<img>", "</img>", "<imgpad>")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RankFileProgram:
    """A class of a program, and a function that builds the pattern and special tokens that it adds to a rank file.

    The function's arguments are the number of tokens in the file, tokenizer_config.json, and config.json.
    """

    class_name: str
    build_scheme: Callable[[int, Json, Json], Scheme]


def _kimi_scheme(token_count: int, config: Json, _model_config: Json) -> Scheme:
    """Returns Kimi's pattern and special tokens; the texts of the special tokens are in the configuration."""
    token_by_id = _nested_object(config, "added_tokens_decoder")
    texts = {
        id: _token_text(token_by_id.get(str(id))) or f"<|reserved_token_{id}|>"
        for id in range(token_count, token_count + _KIMI_RESERVED_COUNT)
    }
    names = {role: text for role in ("bos", "eos", "unk", "pad") if (text := _token_text(config.get(f"{role}_token")))}
    return Scheme(KIMI, {text: id for id, text in texts.items()}, names, adds_bos=False)


def _qwen_scheme(_token_count: int, _tokenizer_config: Json, model_config: Json) -> Scheme:
    texts = (*_QWEN_SPECIAL_TEXTS, *(_QWEN_VL_SPECIAL_TEXTS if "visual" in model_config else ()))
    return Scheme(
        QWEN2, {text: id for id, text in enumerate(texts, start=_QWEN_FIRST_SPECIAL_ID)}, {"eos": "<|endoftext|>"}
    )


PROGRAMS = (
    RankFileProgram("tokenization_kimi.TikTokenTokenizer", _kimi_scheme),
    RankFileProgram("tokenization_qwen.QWenTokenizer", _qwen_scheme),
)


def scheme_from_siblings(siblings: Mapping[str, bytes], token_count: int) -> Scheme | None:
    """Returns the scheme of the class that the configuration names; None if the configuration names no class."""
    config = parse_sibling(siblings, "tokenizer_config.json")
    class_name = _class_name(config)
    if class_name is None:
        return None
    for program in PROGRAMS:
        if program.class_name == class_name:
            return program.build_scheme(token_count, config, parse_sibling(siblings, "config.json"))
    known_classes = ", ".join(program.class_name for program in PROGRAMS)
    raise FormatError(
        f"tokenizer_config.json names the class {class_name!r:.100} for the rank file; known are {known_classes}; "
        f"for another class, give {keyword('pattern=')} and {keyword('special_tokens=')}"
    )


def _class_name(config: Json) -> str | None:
    """Returns the class of the program as ``file.Class``, without the name of a repository in front."""
    class_names = _nested_object(config, "auto_map").get("AutoTokenizer")
    class_path = class_names[0] if isinstance(class_names, list) and class_names else class_names
    return class_path.rpartition("--")[2] if isinstance(class_path, str) else None


def _token_text(token: Any) -> str | None:
    """Returns the text of a token, which is a string or an object with a content; None for any other value."""
    text = token.get("content") if isinstance(token, dict) else token
    if not isinstance(text, str) or not text:
        return None
    if has_surrogate(text):
        raise FormatError(
            f"tokenizer_config.json: the token {text!r} has half of a surrogate pair, which UTF-8 cannot encode"
        )
    return text


def _nested_object(config: Json, key: str) -> Json:
    value = config.get(key, {})
    return value if isinstance(value, dict) else {}
