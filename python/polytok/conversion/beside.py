"""Adapts the additional files of a written file to the folder that receives them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from ..formats import Written

_MAIN_FILES = ("tokenizer.json", "vocab.txt")
_CONFIG_FILE = "tokenizer_config.json"
# The keys of a configuration that describe the tokenizer, which are not kept from another tokenizer's configuration.
_TOKENIZER_KEYS = frozenset({"added_tokens_decoder", "additional_special_tokens", "extra_special_tokens"})


def beside(written_file: Written, target: Path) -> Written:
    """Returns a written file with the additional files that belong beside a file with the target's name.

    Readers look for ``tokenizer_config.json`` only beside a ``tokenizer.json`` or ``vocab.txt``; for a file of another
    name, a note reports the missing roles. If the folder has a configuration, its other settings are kept, such as a
    chat template.
    """
    companions = dict(written_file.companions)
    names = [name for name in companions if not name.startswith(".")]
    if not names:
        return written_file
    if target.name not in _MAIN_FILES:
        for name in names:
            del companions[name]
        note = f"names: only a file named {' or '.join(_MAIN_FILES)} has {_CONFIG_FILE} beside it, with bos, eos, ..."
        return replace(written_file, companions=companions, notes=(*written_file.notes, note))
    old_settings = _settings_of(target.with_name(_CONFIG_FILE))
    if _CONFIG_FILE in companions and old_settings:
        settings = {**old_settings, **json.loads(companions[_CONFIG_FILE])}
        companions[_CONFIG_FILE] = f"{json.dumps(settings, ensure_ascii=False, indent=2)}\n".encode()
    return replace(written_file, companions=companions)


def _settings_of(path: Path) -> dict[str, object]:
    """Returns the settings of an existing configuration that do not describe its tokenizer."""
    try:
        settings = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(settings, dict):
        return {}
    return {
        name: value
        for name, value in settings.items()
        if name not in _TOKENIZER_KEYS and not (name.endswith("_token") or name.endswith("_token_id"))
    }
