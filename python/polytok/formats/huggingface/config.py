"""What ``tokenizer_config.json`` says beside a tokenizer's file: transformers' part of a tokenizer.

The ids of bos, eos, unk and pad go into ``Spec.names``; added tokens that the tokenizer does not have are added; for
the classes that make their template anew from ``add_bos_token`` and ``add_eos_token`` this is done too. The whole
configuration, with the chat template, is kept in ``extra["huggingface"]["config"]``. Source: transformers 4,
tokenization_utils_fast.py and models/llama/tokenization_llama_fast.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...errors import FormatError
from ...spec import Spec, SpecialToken, Template
from ..base import is_utf8
from . import added_tokens
from .fields import Fields, Json, brief

FILE, TEMPLATE_FILE = "tokenizer_config.json", "chat_template.jinja"

_ROLES = ("bos", "eos", "unk", "pad")
_OTHER_ROLES = ("sep", "cls", "mask")
_BOS_CLASSES = {"LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "CohereTokenizer"}


def parsed(siblings: Mapping[str, bytes]) -> dict[str, Json]:
    """The configuration, empty where there is none."""
    if FILE not in siblings:
        return {}
    try:
        value = json.loads(siblings[FILE].decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{FILE} beside the file cannot be read: {error}") from error
    config: dict[str, Json] = Fields(value, FILE).value
    if TEMPLATE_FILE in siblings:
        config.setdefault("chat_template", siblings[TEMPLATE_FILE].decode(errors="replace"))
    return config


def class_name(config: Mapping[str, Json]) -> str:
    """The tokenizer's class, without its ending Fast."""
    found = config.get("tokenizer_class")
    return found.removesuffix("Fast") if isinstance(found, str) else ""


def applied(spec: Spec, config: Mapping[str, Json], lookup: added_tokens.Lookup, vocab_size: int) -> Spec:
    """The Spec with what the configuration adds to it."""
    if not config:
        return spec
    spec = _with_tokens(spec, tokens_of(config), lookup, vocab_size)
    ids = {token.text: token.id for token in spec.special}
    texts = {role: text for role in _ROLES if (text := text_of(config.get(f"{role}_token")))}
    ids = {**lookup([text for text in texts.values() if text not in ids]), **ids}
    names = {**spec.names, **{role: ids[text] for role, text in texts.items() if text in ids}}
    kept = {**spec.extra.get("huggingface", {}), "config": dict(config)}
    spec = replace(spec, names=names, extra={**spec.extra, "huggingface": kept})
    return replace(spec, post=_bos_template(config, names)) if class_name(config) in _BOS_CLASSES else spec


def tokens_of(config: Mapping[str, Json]) -> list[SpecialToken]:
    """The added tokens: those listed by id, or the ones with a role."""
    listed = config.get("added_tokens_decoder")
    if isinstance(listed, dict):
        numbered = [(_number(key), _token(value, key)) for key, value in listed.items()]
        return [replace(token, id=id) for id, token in sorted(numbered, key=lambda each: each[0])]
    more = config.get("additional_special_tokens") or config.get("extra_special_tokens") or []
    with_roles = [config.get(f"{role}_token") for role in (*_ROLES, *_OTHER_ROLES)]
    found = [*with_roles, *(more if isinstance(more, list) else [])]
    return [_token(value, "a special token") for value in found if text_of(value)]


def text_of(token: Json) -> str | None:
    """The text of a token, which stands there itself or as an object with its content."""
    text = token.get("content") if isinstance(token, dict) else token
    return _spelled(text) if isinstance(text, str) and text else None


def _number(key: str) -> int:
    if not (key.isascii() and key.isdigit() and len(key) <= 10):
        raise FormatError(f"{FILE}: added_tokens_decoder has the key {brief(key)}, which is no id")
    return int(key)


def _token(value: Json, where: str) -> SpecialToken:
    if isinstance(value, str):
        return SpecialToken(_spelled(value), 0)
    fields = Fields(value, f"{FILE}: {where}")
    special = fields.flag("special", True)
    flags: dict[str, Any] = {name: fields.flag(name, False) for name in ("single_word", "lstrip", "rstrip")}
    return SpecialToken(
        _spelled(fields.text("content")), 0, special, **flags, normalized=fields.flag("normalized", not special)
    )


def _spelled(text: str) -> str:
    """The text of a token, which UTF-8 must be able to spell."""
    if not is_utf8(text):
        raise FormatError(f"{FILE}: the token {text!r} has half of a surrogate pair, which UTF-8 cannot spell")
    return text


def _with_tokens(spec: Spec, listed: list[SpecialToken], lookup: added_tokens.Lookup, vocab_size: int) -> Spec:
    """With the tokens that are not added yet, in the order of their ids."""
    known = {token.text for token in spec.special}
    missing = [token for token in listed if token.text not in known]
    if not missing:
        return spec
    added = added_tokens.number([*spec.special, *missing], lookup, vocab_size)
    return replace(spec, special=added.tokens)


def _bos_template(config: Mapping[str, Json], names: Mapping[str, int]) -> Template:
    adds = {"bos": config.get("add_bos_token", True), "eos": config.get("add_eos_token", False)}
    before, after = ((names[role],) if adds[role] and role in names else () for role in ("bos", "eos"))
    return Template.around(before, after)
