"""Applies ``tokenizer_config.json``, the file with the settings of `transformers`, to the Spec of the file in the same
folder. ``special_tokens_map.json`` has the roles that the settings lack.

``Spec.names`` gets the ids of bos, eos, unk and pad. Added tokens that only the configuration lists are appended. Some
classes of `transformers` build the template from ``add_bos_token`` and ``add_eos_token``; for these classes, the
template is replaced. The whole configuration, with the chat template, is kept in ``extra["huggingface"]["config"]``.
Source: transformers 4, tokenization_utils_fast.py and models/llama/tokenization_llama_fast.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import FormatError
from ...files import Siblings
from ...records import replace
from ...spec import Spec, SpecialToken, Template
from ...utf8 import has_surrogate
from ..base import parse_sibling
from . import added_tokens
from .fields import Fields, Json, shorten

CONFIG_FILE, TEMPLATE_FILE = "tokenizer_config.json", "chat_template.jinja"
TEMPLATE_FOLDER = "additional_chat_templates"
_PROCESSOR_TEMPLATE_FILE = "chat_template.json"
_MODEL_FILE = "config.json"
MAP_FILE = "special_tokens_map.json"
ROLES = ("bos", "eos", "unk", "pad")
_OTHER_ROLES = ("sep", "cls", "mask")
# A JSON object with one of these fields, or with the token of a role, describes a tokenizer.
_OTHER_FIELDS = frozenset(
    {
        *("added_tokens_decoder", "additional_special_tokens", "extra_special_tokens"),
        *("add_bos_token", "add_eos_token", "chat_template"),
    }
)
_CLASSES_WITH_BOS_TEMPLATE = {"LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "CohereTokenizer"}


def parse(siblings: Mapping[str, bytes]) -> dict[str, Json]:
    """Returns the configuration; empty if the folder has none."""
    config = {**parse_sibling(siblings, MAP_FILE), **parse_sibling(siblings, CONFIG_FILE)}
    if templates := _template_files(siblings):
        config["chat_template"] = templates
    elif "chat_template" not in config and (template := parse_sibling(siblings, _PROCESSOR_TEMPLATE_FILE)):
        config["chat_template"] = template.get("chat_template")
    return config


def model_type(siblings: Mapping[str, bytes]) -> str | None:
    """Returns the ``model_type`` in the model's own configuration, by which transformers chooses a class; None if it is
    not known."""
    try:
        value = parse_sibling(siblings, _MODEL_FILE).get("model_type")
    except FormatError:
        return None
    return value if isinstance(value, str) else None


def chat_settings(siblings: Mapping[str, bytes]) -> dict[str, Json]:
    """Returns the chat templates of a folder, with the special tokens that they use; empty without templates, and for
    a configuration that cannot be read."""
    try:
        config = parse(siblings)
    except FormatError:
        return {}
    keys = ("chat_template", *(f"{role}_token" for role in (*ROLES, *_OTHER_ROLES)))
    return {key: config[key] for key in keys if key in config} if config.get("chat_template") else {}


def _template_files(siblings: Mapping[str, bytes]) -> Json:
    """Returns the chat templates in files of their own, which replace those of the configuration: a text, or a list of
    objects with a name and a template. None without such files."""
    contents = {"default": siblings[TEMPLATE_FILE]} if TEMPLATE_FILE in siblings else {}
    names = siblings.names_in(TEMPLATE_FOLDER) if isinstance(siblings, Siblings) else sorted(siblings)
    for path in names:
        if path.startswith(f"{TEMPLATE_FOLDER}/") and path.endswith(".jinja"):
            contents[path[len(TEMPLATE_FOLDER) + 1 : -len(".jinja")]] = siblings[path]
    templates = {name: content.decode(errors="replace") for name, content in contents.items()}
    if templates.keys() <= {"default"}:
        return templates.get("default")
    return [{"name": name, "template": template} for name, template in templates.items()]


def is_settings(value: Json) -> bool:
    """Reports whether a JSON value is such a configuration: an object with at least one of the known fields.

    A model's own configuration is not one, although it can name the tokenizer's class.
    """
    roles = (f"{role}_token" for role in (*ROLES, *_OTHER_ROLES))
    return isinstance(value, dict) and not value.keys().isdisjoint((*_OTHER_FIELDS, *roles))


def role_names(config: Mapping[str, Json]) -> list[str]:
    """Returns the names of the roles, such as eos, whose tokens the configuration names."""
    return [role for role in ROLES if text_of(config.get(f"{role}_token"))]


def has_bos_template(config: Mapping[str, Json]) -> bool:
    """Reports whether the tokenizer's class builds its template from ``add_bos_token`` and ``add_eos_token``."""
    return class_name(config) in _CLASSES_WITH_BOS_TEMPLATE


def class_name(config: Mapping[str, Json]) -> str:
    """Returns the name of the tokenizer's class, without the ending Fast."""
    values = config.get("tokenizer_class")
    return values.removesuffix("Fast") if isinstance(values, str) else ""


def apply(spec: Spec, config: Mapping[str, Json], lookup: added_tokens.Lookup, vocab_size: int) -> Spec:
    """Adds the data of the configuration to the Spec."""
    if not config:
        return spec
    spec = _with_missing_tokens(spec, tokens_of(config), lookup, vocab_size)
    ids = {token.text: token.id for token in spec.special}
    texts = {role: text for role in ROLES if (text := text_of(config.get(f"{role}_token")))}
    ids = {**lookup([text for text in texts.values() if text not in ids]), **ids}
    names = {**spec.names, **{role: ids[text] for role, text in texts.items() if text in ids}}
    extra = {**spec.extra.get("huggingface", {}), "config": dict(config)}
    spec = replace(spec, names=names, extra={**spec.extra, "huggingface": extra})
    return replace(spec, post=_bos_template(config, names)) if has_bos_template(config) else spec


def tokens_of(config: Mapping[str, Json]) -> list[SpecialToken]:
    """Returns the configuration's added tokens: its list of tokens by id, or without such a list the tokens of its
    roles."""
    token_by_id = config.get("added_tokens_decoder")
    if isinstance(token_by_id, dict):
        tokens_with_ids = [(_parse_id(key), _read_token(value, key)) for key, value in token_by_id.items()]
        return [replace(token, id=id) for id, token in sorted(tokens_with_ids, key=lambda pair: pair[0])]
    other_tokens = config.get("additional_special_tokens") or config.get("extra_special_tokens") or []
    role_tokens = [config.get(f"{role}_token") for role in (*ROLES, *_OTHER_ROLES)]
    values = [*role_tokens, *(other_tokens if isinstance(other_tokens, list) else [])]
    return [_read_token(value, "a special token") for value in values if text_of(value)]


def text_of(token: Json) -> str | None:
    """Returns the text of a token, which is a string or an object with a content; None for any other value."""
    text = token.get("content") if isinstance(token, dict) else token
    return _require_utf8(text) if isinstance(text, str) and text else None


def _parse_id(key: str) -> int:
    if not (key.isascii() and key.isdigit() and len(key) <= 10):
        raise FormatError(f"{CONFIG_FILE}: added_tokens_decoder has the key {shorten(key)}, which is not an id")
    return int(key)


def _read_token(value: Json, path: str) -> SpecialToken:
    if isinstance(value, str):
        return SpecialToken(_require_utf8(value), 0)
    fields = Fields(value, f"{CONFIG_FILE}: {path}")
    special = fields.flag("special", True)
    flags: dict[str, Any] = {name: fields.flag(name, False) for name in ("single_word", "lstrip", "rstrip")}
    return SpecialToken(
        _require_utf8(fields.text("content")), 0, special, **flags, normalized=fields.flag("normalized", not special)
    )


def _require_utf8(text: str) -> str:
    """Returns the text of a token if UTF-8 can encode it; raises FormatError otherwise."""
    if has_surrogate(text):
        raise FormatError(f"{CONFIG_FILE}: the token {text!r} has half of a surrogate pair, which UTF-8 cannot encode")
    return text


def _with_missing_tokens(spec: Spec, tokens: list[SpecialToken], lookup: added_tokens.Lookup, vocab_size: int) -> Spec:
    """Adds the tokens that the Spec lacks, in the order of their ids."""
    known_texts = {token.text for token in spec.special}
    missing_tokens = [token for token in tokens if token.text not in known_texts]
    if not missing_tokens:
        return spec
    numbered_tokens = added_tokens.assign_ids([*spec.special, *missing_tokens], lookup, vocab_size)
    return replace(spec, special=numbered_tokens.tokens)


def _bos_template(config: Mapping[str, Json], names: Mapping[str, int]) -> Template:
    is_role_added = {"bos": config.get("add_bos_token", True), "eos": config.get("add_eos_token", False)}
    tokens_before, tokens_after = (
        (names[role],) if is_role_added[role] and role in names else () for role in ("bos", "eos")
    )
    return Template.around(tokens_before, tokens_after)
