"""Finds the chat templates of a tokenizer, and the texts of special tokens that its templates use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..checks import shown
from ..errors import ArgumentError
from ..formats.gguf_file import STRING
from ..formats.huggingface.config import text_of
from ..keywords import keyword
from ..suggestions import did_you_mean

if TYPE_CHECKING:
    from ..spec import Spec

DEFAULT, TOOL_USE = "default", "tool_use"
"""The names of the template for all conversations, and of that for conversations with tools."""

_MAX_NAME = 100  # characters; a longer text is a template, even if it consists of letters only
_GGUF_KEY = "tokenizer.chat_template"
_ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def templates_of(spec: Spec) -> dict[str, str]:
    """Returns the templates by name; a template without a name is "default"."""
    config = _configuration(spec)
    return _templates_in(config.get("chat_template")) or _gguf_templates(spec.extra.get("gguf", {}).get("keys", {}))


def _configuration(spec: Spec) -> Mapping[str, Any]:
    """Returns the settings of a tokenizer_config.json that the Spec was read with."""
    config: Mapping[str, Any] = spec.extra.get("huggingface", {}).get("config") or spec.extra.get("chat", {})
    return config


def _templates_in(value: Any) -> dict[str, str]:
    """Returns the templates of a configuration: a text, or objects with a name and a template."""
    if isinstance(value, str):
        return {DEFAULT: value}
    rows = value if isinstance(value, list) else []
    named_rows = [row for row in rows if isinstance(row, dict)]
    return {
        row["name"]: row["template"]
        for row in named_rows
        if isinstance(row.get("name"), str) and isinstance(row.get("template"), str)
    }


def _gguf_templates(keys: Mapping[str, Any]) -> dict[str, str]:
    """Returns the templates of a GGUF file: ``tokenizer.chat_template``, and ``tokenizer.chat_template.NAME``."""
    return {
        key[len(_GGUF_KEY) + 1 :] or DEFAULT: data.decode("utf-8", "replace")
        for key, (value_type, _, _, data) in keys.items()
        if (key == _GGUF_KEY or key.startswith(f"{_GGUF_KEY}.")) and value_type == STRING and data is not None
    }


def choose(templates: Mapping[str, str], template: str | None, has_tools: bool) -> str:
    """Returns the source of the template to use, as transformers chooses it: the one with the given name, or the given
    text itself; by default the one for tools if there are tools, else the default."""
    if template is not None:
        if not isinstance(template, str):
            raise TypeError(f"template={shown(template)} is neither the text nor the name of a template")
        if template not in templates and len(template) <= _MAX_NAME and template.replace("_", "a").isalnum():
            suggestion = did_you_mean(template, templates) or _known_names(templates)
            raise ArgumentError(f"{keyword('template', template)} is not the name of a chat template{suggestion}")
        return templates.get(template, template)
    if has_tools and TOOL_USE in templates:
        return templates[TOOL_USE]
    if DEFAULT in templates:
        return templates[DEFAULT]
    if templates:
        names = ", ".join(map(repr, sorted(templates)))
        raise ArgumentError(f"the tokenizer has the chat templates {names}: name one as {keyword('template=')}")
    raise ArgumentError(f"the tokenizer has no chat template: pass the text of one as {keyword('template=')}")


def _known_names(templates: Mapping[str, str]) -> str:
    names = ", ".join(map(repr, sorted(templates)))
    return f"; the tokenizer has {names}" if names else "; the tokenizer has none"


def special_texts(spec: Spec) -> dict[str, str]:
    """Returns the variables of templates that the tokenizer sets, such as ``bos_token``."""
    config = _configuration(spec)
    texts = {role: text for role in _ROLES if (text := text_of(config.get(role)))}
    return texts or _texts_of_names(spec)


def _texts_of_names(spec: Spec) -> dict[str, str]:
    """Returns the texts of the tokens that the Spec names; a token with bytes that are not UTF-8 is left out."""
    text_by_id = {token.id: token.text for token in spec.special}
    missing_ids = [id for id in spec.names.values() if id not in text_by_id]
    if missing_ids:
        rows = {id: row for row, id in enumerate(spec.vocab.ids.tolist()) if id in missing_ids}
        pieces = spec.vocab.pieces()
        text_by_id |= {id: pieces[row].decode("utf-8", "ignore") for id, row in rows.items()}
    return {f"{role}_token": text for role, id in spec.names.items() if (text := text_by_id.get(id))}
