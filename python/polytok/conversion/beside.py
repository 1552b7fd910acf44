"""Adapts the additional files of a written file to the folder that receives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..formats import Written

_CONFIG_FILE, _MAP_FILE = "tokenizer_config.json", "special_tokens_map.json"
_FORMATS = ("huggingface", "wordpiece")
_CLASS_OF_MAIN_FILE = {"tokenizer.json": "PreTrainedTokenizerFast", "vocab.txt": "BertTokenizer"}
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

    Readers look for ``tokenizer_config.json`` only beside a ``tokenizer.json`` or ``vocab.txt``; for a file of another
    name, a note reports the missing roles. If the folder has a configuration, its settings of another tokenizer are
    removed, and its other settings are kept, such as a chat template.
    """
    if to not in _FORMATS:
        return written_file
    if target.name in _CLASS_OF_MAIN_FILE:
        return replace(written_file, companions=_with_old_settings(written_file.companions, target))
    if not written_file.companions:
        return written_file
    main_files = " or ".join(_CLASS_OF_MAIN_FILE)
    note = f"names: only a file named {main_files} has {_CONFIG_FILE} beside it, with bos, eos, unk and pad"
    return replace(written_file, companions={}, notes=(*written_file.notes, note))


def _with_old_settings(companions: Mapping[str, bytes], target: Path) -> dict[str, bytes]:
    old_settings = _read_settings(target.with_name(_CONFIG_FILE))
    kept_settings = {name: value for name, value in old_settings.items() if not _describes_tokenizer(name)}
    if _CONFIG_FILE in companions:
        settings = {**kept_settings, **json.loads(companions[_CONFIG_FILE])}
        return {**companions, _CONFIG_FILE: _to_bytes(settings)} if kept_settings else dict(companions)
    if kept_settings == old_settings:
        return dict(companions)
    settings = {**kept_settings, "tokenizer_class": _CLASS_OF_MAIN_FILE[target.name]}
    return {**companions, _CONFIG_FILE: _to_bytes(settings), _MAP_FILE: _to_bytes({})}


def _read_settings(path: Path) -> dict[str, Any]:
    """Returns the settings in a file; none if the file does not exist or is not a JSON object."""
    try:
        settings = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _describes_tokenizer(name: str) -> bool:
    return name in _TOKENIZER_KEYS or name.endswith(_TOKENIZER_KEY_ENDINGS)


def _to_bytes(settings: dict[str, Any]) -> bytes:
    return f"{json.dumps(settings, ensure_ascii=False, indent=2)}\n".encode()
