"""Protobuf messages in a pool of their own: sentencepiece's own package can register the same names beside it."""

from __future__ import annotations

import re
from typing import Any

_TYPES = {"double": 1, "float": 2, "uint64": 4, "int32": 5, "bool": 8, "string": 9, "bytes": 12, "uint32": 13}
_FIELD = re.compile(r"(\d+) (\w+) ([\w.]+)(\*?)(?: = (.*))?")


def create_classes(name: str, messages: dict[str, str], enums: dict[str, dict[str, int]]) -> dict[str, Any]:
    """Returns the classes of messages by name.

    A message is a list of fields, a line each: number, name, type, "*" if it repeats, and "= default". The name of a
    nested message or enum contains that of its message: ``TrainerSpec.ModelType``.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name=name, package="sentencepiece", syntax="proto2")
    made: dict[str, Any] = {}
    for path, table in messages.items():
        parent, _, own_name = path.rpartition(".")
        message = made[path] = (
            made[parent].nested_type.add(name=own_name) if parent else file.message_type.add(name=path)
        )
        for line in table.strip().splitlines():
            match = _FIELD.fullmatch(line.strip())
            assert match, line
            number, field_name, kind, repeated, default = match.groups()
            field = message.field.add(name=field_name, number=int(number), label=3 if repeated else 1)
            if kind in _TYPES:
                field.type = _TYPES[kind]
            else:
                field.type, field.type_name = 14 if kind in enums else 11, f".sentencepiece.{kind}"
            if default is not None:
                field.default_value = default.strip('"')
        if path != "NBestSentencePieceText":
            message.extension_range.add(start=200, end=2**29)
    for path, values in enums.items():
        parent, _, own_name = path.rpartition(".")
        enum = made[parent].enum_type.add(name=own_name)
        for value_name, value in values.items():
            enum.value.add(name=value_name, number=value)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    classes: dict[str, Any] = {"DESCRIPTOR": pool.FindFileByName(name)}
    for path in messages:
        if "." not in path:
            classes[path] = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"sentencepiece.{path}"))
    return classes
