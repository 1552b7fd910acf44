"""Finds folders for which transformers 5 builds another pre-tokenizer than tokenizer.json has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .. import _core, probes
from ..errors import PolytokError
from ..formats import huggingface
from ..formats.base import ReadOptions
from ..spec import Spec
from . import transformers_classes
from .finding import Finding, Severity

_MAX_IDS = 8
_NO_CLASS: transformers_classes.Built = ("", None, lambda config: None)


def find_rebuilt_pre_tokenizer(spec: Spec) -> Iterator[Finding]:
    """Finds a class in tokenizer_config.json that replaces the pre-tokenizer of tokenizer.json, if this changes ids.

    transformers 4 used the file whole, except for the template.
    """
    facts = spec.extra.get("huggingface", {})
    document, config = facts.get("document"), facts.get("config")
    if not isinstance(document, dict) or not isinstance(config, dict):
        return
    text = json.dumps([document.get("pre_tokenizer"), document.get("decoder")])
    class_name = transformers_classes.class_of(config, facts.get("model_type"), text)
    changed_members = _built_members(class_name, config, document)
    if class_name and changed_members and (difference := _first_difference(spec, changed_members)):
        probe, ids, other_ids = difference
        names = " and ".join(changed_members)
        yield Finding(
            "transformers-rebuilds",
            Severity.ERROR,
            f"transformers {transformers_classes.VERSION} loads the folder as {class_name}, which builds its own "
            f"{names} and ignores the file's: {probe!r} gets the ids {_shorten(other_ids)}, not {_shorten(ids)}",
            'write "tokenizer_class": "PreTrainedTokenizerFast" in tokenizer_config.json: it uses tokenizer.json whole',
        )


def _built_members(class_name: str | None, config: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the components that the class builds, where they differ from those of the file; none if the class is for
    another model."""
    model, build_normalizer, build_pre_tokenizer = transformers_classes.BUILT_BY_CLASS.get(class_name or "", _NO_CLASS)
    model_fields = document.get("model")
    if not isinstance(model_fields, dict) or model_fields.get("type") != model:
        return {}
    members = {} if build_normalizer is None else {"normalizer": build_normalizer(config)}
    members["pre_tokenizer"] = build_pre_tokenizer(config)
    return {name: value for name, value in members.items() if value != document.get(name)}


def _first_difference(spec: Spec, members: Mapping[str, Any]) -> tuple[str, list[int], list[int]] | None:
    """Returns the first of the generated texts that has other ids with the given components, with both lists of ids."""
    try:
        document = json.loads(huggingface.write(spec).data)
        data = json.dumps({**document, **members}, ensure_ascii=False).encode()
        left, right = _core.Tokenizer(spec), _core.Tokenizer(huggingface.read(data, ReadOptions()))
    except PolytokError:
        return None
    for text in probes.texts(spec):
        ids, other_ids = _ids(left, text), _ids(right, text)
        if ids != other_ids:
            return text, ids, other_ids
    return None


def _ids(tokenizer: _core.Tokenizer, text: str) -> list[int]:
    """Returns the ids of a text; -1 instead of ids for a text that the tokenizer refuses."""
    try:
        return [int(id) for id in tokenizer.encode_array(text)]
    except PolytokError:
        return [-1]


def _shorten(ids: list[int]) -> str:
    return f"[{', '.join(map(str, ids[:_MAX_IDS]))}{', ...' if len(ids) > _MAX_IDS else ''}]"
