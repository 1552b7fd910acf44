"""Lists all fields of a SentencePiece model's messages, including defaults that are not in the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import _core
from ..spec import Spec
from . import sentencepiece
from . import sentencepiece_proto as proto

_DEFAULTS: dict[str, dict[str, Any]] = {
    "trainer_spec": {
        "model_type": 1,
        "vocab_size": 8000,
        "character_coverage": 0.9995,
        "shuffle_input_sentence": True,
        "seed_sentencepiece_size": 1_000_000,
        "shrinking_factor": 0.75,
        "max_sentence_length": 4192,
        "num_threads": 16,
        "num_sub_iterations": 2,
        "max_sentencepiece_length": 16,
        "split_by_unicode_script": True,
        "split_by_number": True,
        "split_by_whitespace": True,
        "vocabulary_output_piece_score": True,
        "hard_vocab_limit": True,
        "bos_id": 1,
        "eos_id": 2,
        "pad_id": -1,
        "unk_piece": b"<unk>",
        "bos_piece": b"<s>",
        "eos_piece": b"</s>",
        "pad_piece": b"<pad>",
        "unk_surface": " \u2047 ".encode(),
    },
    "normalizer_spec": {"add_dummy_prefix": True, "remove_extra_whitespaces": True, "escape_whitespaces": True},
}
_DEFAULTS["denormalizer_spec"] = _DEFAULTS["normalizer_spec"]
NAME_OF_MODEL_TYPE = {1: "UNIGRAM", 2: "BPE", 3: "WORD", 4: "CHAR"}


class Field(NamedTuple):
    """A field of the model file. If the file does not set the field, its value is SentencePiece's default."""

    message: str
    name: str
    value: Any
    is_set: bool


def fields(spec: Spec) -> Iterator[Field]:
    """Writes the Spec as a file, and yields all fields of the file except the pieces."""
    data = sentencepiece.write(spec).data
    _, (_, other_messages, charsmap) = _core.sentencepiece_read(data)
    messages = proto.parse(other_messages, charsmap)
    for message in proto.MESSAGES:
        set_fields = messages.get(message, {})
        if message == "denormalizer_spec" and message not in messages:
            continue
        for name, empty_value in proto.field_names(message).items():
            value = set_fields.get(name, _DEFAULTS[message].get(name, empty_value))
            yield Field(message, name, NAME_OF_MODEL_TYPE[value] if name == "model_type" else value, name in set_fields)
        if "unknown" in set_fields:
            yield Field(message, "unknown", set_fields["unknown"], True)
    if "self_test_data" in messages:
        samples = [pair for data in messages["self_test_data"] for pair in proto.self_tests(data)]
        yield Field("self_test_data", "samples", samples, True)
    if "unknown" in messages:
        yield Field("unknown fields", "bytes", messages["unknown"], True)
