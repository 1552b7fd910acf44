"""Adapts the additional files of a written file to the folder that receives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..file_names import settings_file_of
from ..formats import Written
from ..formats.huggingface.config import is_settings, role_names
from ..formats.huggingface.config_write import to_bytes

_CONFIG_FILE, _MAP_FILE = "tokenizer_config.json", "special_tokens_map.json"
_FORMATS = ("huggingface", "wordpiece")
_PLAIN_CLASS = "PreTrainedTokenizerFast"
_CLASS_OF_MAIN_FILE = {"tokenizer.json": _PLAIN_CLASS, "vocab.txt": "BertTokenizer"}
# The keys of a configuration that describe the tokenizer, which are not kept from another tokenizer's configuration.
_TOKENIZER_KEYS = frozenset(
    {
        *("added_tokens_decoder", "additional_special_tokens", "extra_special_tokens", "tokenizer_class"),
        *("add_prefix_space", "do_lower_case", "strip_accents", "tokenize_chinese_chars"),
    }
)
_TOKENIZER_KEY_ENDINGS = ("_token", "_token_id")


def beside(written_file: Written, target: Path, to: str) -> Written:
    """Returns a file of a format with the additional files that belong beside a file with the target's name.

    Readers look for ``tokenizer_config.json`` beside a ``tokenizer.json`` or ``vocab.txt``, and for
    ``other_config.json`` beside an ``other.json``. A vocab.txt of another name has no such file; a note reports the
    missing roles. If the folder has a configuration, its settings of another tokenizer are removed, and its other
    settings are kept, such as a chat template.
    """
    if to not in _FORMATS:
        return written_file
    if target.name in _CLASS_OF_MAIN_FILE:
        return replace(written_file, companions=_with_old_settings(written_file.companions, target))
    if to == "huggingface":
        return _with_settings_file(written_file, target)
    if not written_file.companions:
        return written_file
    note = f"names: only a file named vocab.txt has {_CONFIG_FILE} beside it, with bos, eos, unk and pad"
    return replace(written_file, companions={}, notes=(*written_file.notes, note))


def as_siblings(companions: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns the additional files of a written file by the names under which readers look them up."""
    return {_CONFIG_FILE if name.endswith("_config.json") else name: data for name, data in companions.items()}


def _with_settings_file(written_file: Written, target: Path) -> Written:
    """Returns a Hugging Face file with the configuration that belongs to a name other than tokenizer.json."""
    name = settings_file_of(target.name)
    old_settings = _read_settings(target.with_name(name))
    if old_settings is None and written_file.companions:
        raise ArgumentError(
            f"{target.with_name(name)} is not a JSON object, but the file of this name holds the settings of "
            f"{target.name}; choose another name"
        )
    companions = _with_old_settings(written_file.companions, target, name)
    if _CONFIG_FILE not in companions:
        return replace(written_file, companions={})
    data = companions[_CONFIG_FILE]
    roles = role_names(json.loads(data))
    notes = (f"names: {name} has {', '.join(roles)}; keep it beside {target.name}",) if roles else ()
    return replace(written_file, companions={name: data}, notes=(*written_file.notes, *notes))


def _with_old_settings(
    companions: Mapping[str, bytes], target: Path, config_name: str = _CONFIG_FILE
) -> dict[str, bytes]:
    """Returns the files with those settings in the folder's configuration that describe no tokenizer."""
    old_settings = _read_settings(target.with_name(config_name)) or {}
    if config_name != _CONFIG_FILE and not is_settings(old_settings):
        if _CONFIG_FILE not in companions:
            return dict(companions)
        return {**companions, _CONFIG_FILE: to_bytes({**old_settings, **json.loads(companions[_CONFIG_FILE])})}
    kept_settings = {name: value for name, value in old_settings.items() if not _describes_tokenizer(name)}
    if _CONFIG_FILE in companions:
        settings = {**kept_settings, **json.loads(companions[_CONFIG_FILE])}
        return {**companions, _CONFIG_FILE: to_bytes(settings)} if kept_settings else dict(companions)
    if kept_settings == old_settings:
        return dict(companions)
    settings = {**kept_settings, "tokenizer_class": _CLASS_OF_MAIN_FILE.get(target.name, _PLAIN_CLASS)}
    return {**companions, _CONFIG_FILE: to_bytes(settings), _MAP_FILE: to_bytes({})}


def _read_settings(path: Path) -> dict[str, Any] | None:
    """Returns the settings in a file, empty if the file does not exist; None if it is not a JSON object."""
    try:
        settings = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None
    return settings if isinstance(settings, dict) else None


def _describes_tokenizer(name: str) -> bool:
    return name in _TOKENIZER_KEYS or name.endswith(_TOKENIZER_KEY_ENDINGS)
