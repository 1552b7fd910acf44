"""Finds the fields of records, for errors about a field that is missing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ..errors import ArgumentError
from ..suggestions import did_you_mean
from .blocks import Block

_MAX_RECORDS = 1000
_MAX_NAMES = 20


def refuse_missing_fields(
    name: str, blocks: Iterable[Block], field: str, columns: Sequence[str] = ()
) -> Iterator[Block]:
    """Yields the blocks of JSON lines; at the end, raises `ArgumentError` for a field that no record has.

    ``field`` has the texts, ``columns`` are other fields. A column of a table that does not exist is an error too.
    """
    missing, first_data = [field, *columns], b""
    for block in blocks:
        first_data = first_data or block.data if missing else b""
        missing = [name for name in missing if not _is_in_block(name, block, field)]
        yield block
    if missing and first_data:
        _refuse_fields(name, missing, records_in(first_data), columns)


class MissingColumnError(ArgumentError):
    """The error for a file whose records lack a field other than the one with the text."""


def _is_in_block(name: str, block: Block, field: str) -> bool:
    if name == field:
        return len(block.texts) > 0
    return bool(block.columns[name].null_count < len(block.columns))


def _refuse_fields(
    name: str, missing: Sequence[str], records: Iterable[Mapping[str, Any]], columns: Sequence[str]
) -> None:
    names = field_names(records)
    for field in missing:
        if names and field not in names:
            error = missing_field_error(name, field, names)
            raise MissingColumnError(str(error)) if field in columns else error


def missing_field_error(name: str, field: str, names: Sequence[str]) -> ArgumentError:
    """Returns the error for inputs with the fields ``names`` of which no record has the field."""
    return ArgumentError(f"{name}: no record has the field {field!r}; {fields_text(names, field)}")


def no_fields_error(name: str, field: str) -> ArgumentError:
    """Returns the error for inputs that are all text files; ``name`` is the first."""
    return ArgumentError(f"{name} is text and has no field {field!r}: name JSON lines or tables")


def fields_text(names: Sequence[str], field: str) -> str:
    """Returns the end of an error about a missing field: the fields that exist, and the one that was probably meant.

    >>> fields_text(["id", "text"], "txt")
    "the fields are 'id', 'text'; did you mean 'text'?"
    """
    hint = "; name each field on its own" if "," in field else did_you_mean(field, names)
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return f"the fields are {', '.join(map(repr, names[:_MAX_NAMES]))}{more}{hint}"


def records_in(data: bytes) -> Iterator[Mapping[str, Any]]:
    """Yields the objects in the first lines of JSON lines."""
    for line in islice(data.splitlines(), _MAX_RECORDS):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def field_names(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the names of all fields of records, in order; a field of an object in a field has a name with a dot.

    >>> field_names([{"text": "a", "meta": {"language": "en"}}, {"id": 1}])
    ['text', 'meta', 'meta.language', 'id']
    """
    return list(dict.fromkeys(name for record in records for name in _names_of(record)))


def _names_of(record: Mapping[str, Any]) -> Iterator[str]:
    for name, value in record.items():
        yield str(name)
        if isinstance(value, Mapping):
            yield from (f"{name}.{inner_name}" for inner_name in _names_of(value))
