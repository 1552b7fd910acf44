"""Writes ``tokenizer_config.json`` and ``special_tokens_map.json``, which hold the roles of special tokens.

A tokenizer.json has no roles such as eos. `transformers` reads them from these files, in the folder of a file that is
named tokenizer.json; for other names, `polytok.conversion.beside` renames the configuration. The configuration of the
Spec's own file is kept, and its roles are those of the Spec.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...spec import BertNormalize, Spec, SpecialToken, Template
from . import added_tokens, config
from .fields import Json

_WRITTEN_ROLES = ("bos", "eos", "unk", "sep", "pad", "mask")
# `transformers` derives other components from other classes; this class uses the tokenizer.json unchanged.
_PLAIN_CLASS = "PreTrainedTokenizerFast"


def files(spec: Spec, names_in_file: Mapping[str, int]) -> dict[str, bytes]:
    """Returns the two files by name; none if the tokenizer.json itself names the same roles (``names_in_file``)."""
    kept_config = spec.extra.get("huggingface", {}).get("config")
    if kept_config is None and spec.names == names_in_file:
        return {}
    texts = _role_texts(spec)
    return _files(_new_config(spec, texts) if kept_config is None else _updated_config(kept_config, spec, texts), texts)


def bert_files(spec: Spec, normalizer: BertNormalize) -> dict[str, bytes]:
    """Returns the two files by name for a vocab.txt, with the options of its normalizer."""
    texts = _role_texts(spec)
    settings = {
        **_role_settings(texts),
        "do_lower_case": normalizer.lowercase,
        "strip_accents": normalizer.strip_accents,
        "tokenize_chinese_chars": normalizer.handle_chinese_chars,
        "clean_up_tokenization_spaces": False,
        "tokenizer_class": "BertTokenizer",
    }
    return _files(settings, texts)


def _files(settings: Mapping[str, Json], texts: Mapping[str, str]) -> dict[str, bytes]:
    return {config.CONFIG_FILE: to_bytes(settings), config.MAP_FILE: to_bytes(_role_settings(texts))}


def _role_texts(spec: Spec) -> dict[str, str]:
    token_by_id = {token.id: token for token in spec.special}
    return {role: token_by_id[id].text for role in _WRITTEN_ROLES if (id := spec.names.get(role)) in token_by_id}


def _role_settings(texts: Mapping[str, str]) -> dict[str, Json]:
    return {f"{role}_token": text for role, text in texts.items()}


def _new_config(spec: Spec, texts: Mapping[str, str]) -> dict[str, Json]:
    return {
        "added_tokens_decoder": {str(token.id): _token_json(token) for token in _by_id(spec.special)},
        **_role_settings(texts),
        **_template_flags(spec),
        "clean_up_tokenization_spaces": False,
        "tokenizer_class": _PLAIN_CLASS,
    }


def _updated_config(kept_config: Mapping[str, Json], spec: Spec, texts: Mapping[str, str]) -> dict[str, Json]:
    """Returns the configuration that the Spec was read with, with the Spec's roles and template."""
    settings = dict(kept_config)
    for role in config.ROLES:
        key, text = f"{role}_token", texts.get(role)
        if config.text_of(settings.get(key)) != text:
            settings[key] = text
    return {**settings, **_template_flags(spec)} if config.has_bos_template(settings) else settings


def _template_flags(spec: Spec) -> dict[str, bool]:
    """Returns the flags of a template of at most bos before a text and eos after it; none for other templates.

    `transformers` replaces the post-processor of a file by one that follows these flags. A post-processor that also
    trims spans must stay.
    """
    before, after = spec.post.before, spec.post.after
    role_ids = {role: (spec.names[role],) for role in ("bos", "eos") if role in spec.names}
    is_expressible = spec.trim is None and spec.post == Template.around(before, after)
    if not is_expressible or before not in ((), role_ids.get("bos")) or after not in ((), role_ids.get("eos")):
        return {}
    return {"add_bos_token": bool(before), "add_eos_token": bool(after)}


def _by_id(tokens: tuple[SpecialToken, ...]) -> list[SpecialToken]:
    return sorted(tokens, key=lambda token: token.id)


def _token_json(token: SpecialToken) -> Any:
    (fields,) = added_tokens.write((token,))
    return {name: value for name, value in fields.items() if name != "id"}


def to_bytes(value: Json) -> bytes:
    """Returns settings as JSON. Half of a surrogate pair, which a file can only contain as an escape, is escaped."""
    return f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode("utf-8", "backslashreplace")
