"""Updates what a format keeps besides the vocabulary: sizes, and ids of special tokens in messages and settings."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any

from ..formats.tekken import special_token_list
from ..spec import Spec
from .numbering import Numbering
from .rows import Rows

_SENTENCEPIECE_IDS = ("unk_id", "bos_id", "eos_id", "pad_id")
_GGUF_ID_KEY = re.compile(r"tokenizer\.ggml\..*_token_id")
_GGUF_SIZE_KEY = re.compile(r".*\.(vocab_size|token_count)")
_GGUF_COLUMNS = ("tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.ggml.token_type")
_GGUF_NUMBER_FORMATS = {4: "I", 5: "i"}
"""The formats of GGUF's types of whole numbers of 32 bits."""


def updated_extra(rows: Rows, numbering: Numbering, new_spec: Spec) -> Mapping[str, Any]:
    """Returns the extra data for an edited vocabulary."""
    extra = dict(rows.spec.extra)
    updates = {"sentencepiece": _sentencepiece, "huggingface": _huggingface, "gguf": _gguf, "tekken": _tekken}
    for format, update in updates.items():
        if format in extra:
            extra[format] = update(dict(extra[format]), rows, numbering, new_spec)
    return extra


def _sentencepiece(fields: dict[str, Any], rows: Rows, numbering: Numbering, new_spec: Spec) -> dict[str, Any]:
    """Updates the size and the ids in the trainer's message.

    The data of self-tests have the pieces of the old vocabulary, and sentencepiece refuses a model whose tests fail.
    """
    for name in ("self_test_data", "piece_details"):
        fields.pop(name, None)
    if "trainer_spec" not in fields:
        return fields
    trainer = dict(fields["trainer_spec"])
    if "vocab_size" in trainer:
        trainer["vocab_size"] = len(new_spec.vocab)
    for name in _SENTENCEPIECE_IDS:
        if trainer.get(name, -1) in numbering.kept:
            trainer[name] = numbering.kept[trainer[name]]
    names = {f"{role}_id": id for role, id in rows.spec.names.items()}
    defaults = {"unk_id": 0, "bos_id": 1, "eos_id": 2}
    for name, id in names.items():  # a default that the message does not set can have moved
        if name in defaults and name not in trainer and numbering.kept[id] != defaults[name]:
            trainer[name] = numbering.kept[id]
    if numbering.special:
        new_symbols = (text.encode() for text in numbering.special)
        trainer["control_symbols"] = (*trainer.get("control_symbols", ()), *new_symbols)
    return {**fields, "trainer_spec": trainer}


def _huggingface(fields: dict[str, Any], rows: Rows, numbering: Numbering, new_spec: Spec) -> dict[str, Any]:
    """Updates the id of padding in the document, and the list of added tokens in the configuration."""
    fields["scores"] = None
    if rows.spec.model.kind != "unigram":
        del fields["scores"]
    fields.pop("warnings", None)
    document = dict(fields.get("document", {}))
    padding = document.get("padding")
    if isinstance(padding, dict) and padding.get("pad_id") in numbering.kept:
        document["padding"] = {**padding, "pad_id": numbering.kept[padding["pad_id"]]}
    if document:
        fields["document"] = document
    config = fields.get("config")
    if isinstance(config, dict) and isinstance(config.get("added_tokens_decoder"), dict):
        fields["config"] = {**config, "added_tokens_decoder": _added_tokens(config["added_tokens_decoder"], numbering)}
    return fields


def _added_tokens(tokens: Mapping[str, Any], numbering: Numbering) -> dict[str, Any]:
    old_tokens = {numbering.kept[int(id)]: token for id, token in tokens.items() if int(id) in numbering.kept}
    flags = dict.fromkeys(("lstrip", "normalized", "rstrip", "single_word"), False)
    new_tokens = {id: {"content": text, **flags, "special": True} for text, id in numbering.special.items()}
    return {str(id): token for id, token in sorted({**old_tokens, **new_tokens}.items())}


def _gguf(fields: dict[str, Any], rows: Rows, numbering: Numbering, new_spec: Spec) -> dict[str, Any]:
    """Updates the keys that have ids of tokens, and those that have the size of the vocabulary."""
    byte_order = ">" if fields.get("big_endian") else "<"
    size = len(new_spec.vocab)
    keys = dict(fields.get("keys", {}))
    merges = getattr(new_spec.model, "merges", None)
    lengths = dict.fromkeys(_GGUF_COLUMNS, size) | ({} if merges is None else {"tokenizer.ggml.merges": len(merges)})
    for key, length in lengths.items():
        if key in keys:
            keys[key] = (*keys[key][:2], length, None)
    for key, value in keys.items():
        number_format = _GGUF_NUMBER_FORMATS.get(value[0])
        if number_format is None or value[3] is None:
            continue
        (number,) = struct.unpack(byte_order + number_format, value[3])
        if _GGUF_ID_KEY.fullmatch(key) and number in numbering.kept:
            number = numbering.kept[number]
        elif _GGUF_SIZE_KEY.fullmatch(key) and number == rows.old_size:
            number = size
        keys[key] = (*value[:3], struct.pack(byte_order + number_format, number))
    return {**fields, "keys": keys}


def _tekken(fields: dict[str, Any], rows: Rows, numbering: Numbering, new_spec: Spec) -> dict[str, Any]:
    """Updates the number of entries and the rows with unusual texts; entries beyond the size are dropped."""
    fields.pop("unused", None)
    size, special = len(new_spec.vocab), sorted(new_spec.special, key=lambda token: token.id)
    document = dict(fields.get("document", {}))
    if document:
        sizes = {"default_vocab_size": size + len(special), "default_num_special_tokens": len(special)}
        if "num_vocab_tokens" in document["config"]:
            sizes["num_vocab_tokens"] = size
        document["config"] = {**document["config"], **sizes}
        if numbering.special or rows.renamed_special_tokens:
            document["special_tokens"] = special_token_list([token.text for token in special])
        fields["document"] = document
    old_ids = rows.spec.vocab.ids.tolist()
    unusual_texts = (
        [numbering.kept[old_ids[row]] - len(special), text]
        for row, text in fields.get("token_str", ())
        if old_ids[row] in numbering.kept
    )
    if texts := sorted(unusual_texts):
        fields["token_str"] = texts
    else:
        fields.pop("token_str", None)
    return fields
