"""Converts SentencePiece's ModelProto, without its pieces, to plain dictionaries and back.

The messages are described in this module and built on first use in a separate descriptor pool, because the
sentencepiece package registers messages of the same names in the default pool. Strings are declared as bytes, because
the C++ code does not check that they are UTF-8. Fields that the tables do not list are kept under the name ``unknown``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import FormatError
from . import sentencepiece_plain

if TYPE_CHECKING:
    from google.protobuf.message import Message

_TRAINER_SPEC_TABLE = """
    1 input bytes*, 2 model_prefix bytes, 3 model_type enum, 4 vocab_size int32, 5 accept_language bytes*,
    6 self_test_sample_size int32, 7 input_format bytes, 10 character_coverage float, 11 input_sentence_size uint64,
    12 mining_sentence_size int32, 13 training_sentence_size int32, 14 seed_sentencepiece_size int32,
    15 shrinking_factor float, 16 num_threads int32, 17 num_sub_iterations int32, 18 max_sentence_length int32,
    19 shuffle_input_sentence bool, 20 max_sentencepiece_length int32, 21 split_by_unicode_script bool,
    22 split_by_whitespace bool, 23 split_by_number bool, 24 treat_whitespace_as_suffix bool, 25 split_digits bool,
    26 allow_whitespace_only_pieces bool, 30 control_symbols bytes*, 31 user_defined_symbols bytes*,
    32 vocabulary_output_piece_score bool, 33 hard_vocab_limit bool, 34 use_all_vocab bool, 35 byte_fallback bool,
    36 required_chars bytes, 40 unk_id int32, 41 bos_id int32, 42 eos_id int32, 43 pad_id int32, 44 unk_surface bytes,
    45 unk_piece bytes, 46 bos_piece bytes, 47 eos_piece bytes, 48 pad_piece bytes,
    49 train_extremely_large_corpus bool, 50 enable_differential_privacy bool,
    51 differential_privacy_noise_level float, 52 differential_privacy_clipping_threshold uint64,
    53 pretokenization_delimiter bytes, 54 seed_sentencepieces_file bytes, 55 auto_character_coverage bool
"""
_NORMALIZER_SPEC_TABLE = """
    1 name bytes, 2 precompiled_charsmap bytes, 3 add_dummy_prefix bool, 4 remove_extra_whitespaces bool,
    5 escape_whitespaces bool, 6 normalization_rule_tsv bytes
"""
# The messages of self-test data are declared as bytes, so that they are kept unchanged and in file order.
_MODEL_TABLE = (
    "2 trainer_spec TrainerSpec, 3 normalizer_spec NormalizerSpec, 4 self_test_data bytes*, "
    "5 denormalizer_spec NormalizerSpec"
)
_MESSAGE_TABLES = {
    "TrainerSpec": _TRAINER_SPEC_TABLE,
    "NormalizerSpec": _NORMALIZER_SPEC_TABLE,
    "ModelProto": _MODEL_TABLE,
    "SelfTestData": "1 samples Sample*",
    "Sample": "1 input bytes, 2 expected bytes",
}

MESSAGES = ("trainer_spec", "normalizer_spec", "denormalizer_spec")
"""The names of the model's fields that are messages."""


def parse(data: bytes, charsmap: bytes = b"") -> dict[str, Any]:
    """Returns the fields that the message sets; a field that is itself a message is a nested dictionary.

    ``charsmap`` is the character map that the caller removed from the first normalizer. If the message still contains a
    map, that map is later in the file and takes precedence.
    """
    fields = sentencepiece_plain.parse(data, _MESSAGE_TABLES, "ModelProto")
    if fields is None:
        fields = parse_with_protobuf(data)
    if charsmap:
        fields["normalizer_spec"].setdefault("precompiled_charsmap", charsmap)
    return fields


def parse_with_protobuf(data: bytes) -> dict[str, Any]:
    """Returns the fields that any message sets."""
    from google.protobuf.message import DecodeError

    message = _model_message_class()()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise FormatError(f"the model's messages (trainer_spec and so on) are not valid protobuf: {error}") from error
    return _fields_of_message(message)


def serialize(fields: Mapping[str, Any]) -> bytes:
    """Returns the bytes of a message with these fields, ordered by field number."""
    message = _model_message_class()()
    unknown = _set_fields(message, fields)
    return message.SerializeToString() + unknown


def _fields_of_message(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for descriptor, value in message.ListFields():
        if descriptor.name in MESSAGES:
            fields[descriptor.name] = _fields_of_message(value)
        elif descriptor.is_repeated:
            fields[descriptor.name] = tuple(value)
        else:
            fields[descriptor.name] = value
    for name in fields:
        message.ClearField(name)
    if unknown := message.SerializeToString():
        fields["unknown"] = unknown
    return fields


def _set_fields(message: Message, fields: Mapping[str, Any]) -> bytes:
    """Sets the fields of a message.

    Unknown fields of a nested message are merged into the nested message. Unknown fields of the message itself are
    returned, and the caller appends them.
    """
    for name, value in fields.items():
        if name == "unknown":
            continue
        try:
            if name in MESSAGES:
                submessage = getattr(message, name)
                submessage.SetInParent()
                if unknown := _set_fields(submessage, value):
                    submessage.MergeFromString(unknown)
            elif isinstance(value, tuple | list):
                getattr(message, name).extend(value)
            else:
                setattr(message, name, value)
        except (AttributeError, TypeError, ValueError) as error:
            raise FormatError(
                f"{name!r} = {value!r:.80} does not fit SentencePiece's {_message_name(message)}: {error}"
            ) from error
    return bytes(fields.get("unknown", b""))


def _message_name(message: Message) -> str:
    return message.DESCRIPTOR.name


@cache
def _model_message_class() -> type[Message]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="polytok_sentencepiece.proto", package="polytok", syntax="proto2")
    model_types = file.enum_type.add(name="ModelType")
    for number, name in enumerate(("UNIGRAM", "BPE", "WORD", "CHAR"), start=1):
        model_types.value.add(name=name, number=number)
    for name, table in _MESSAGE_TABLES.items():
        _add_fields(file.message_type.add(name=name), table)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("polytok.ModelProto"))


def _add_fields(message: Any, table: str) -> None:
    for description in table.split(","):
        number, name, kind = description.split()
        field = message.field.add(name=name, number=int(number))
        field.label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
        kind = kind.rstrip("*")
        if kind == "enum":
            field.type, field.type_name = field.TYPE_ENUM, ".polytok.ModelType"
        elif kind[0].isupper():
            field.type, field.type_name = field.TYPE_MESSAGE, f".polytok.{kind}"
        else:
            field.type = getattr(field, f"TYPE_{kind.upper()}")


def self_tests(data: bytes) -> list[tuple[bytes, bytes]]:
    """Returns the texts of self-test data with their expected pieces."""
    from google.protobuf import message_factory

    pool: Any = _model_message_class().DESCRIPTOR.file.pool
    message: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("polytok.SelfTestData"))()
    message.ParseFromString(data)
    return [(sample.input, sample.expected) for sample in message.samples]


def field_names(message: str) -> dict[str, Any]:
    """Maps the names of a message's fields, ordered by field number, to protobuf's empty value of the field."""
    empty_message = getattr(_model_message_class()(), message)
    descriptors = sorted(empty_message.DESCRIPTOR.fields, key=lambda field: field.number)
    return {field.name: () if field.is_repeated else field.default_value for field in descriptors}
