"""Converts post-processors in JSON to a template and the trimming of spans, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...errors import FormatError
from ...spec import Insert, Slot, Template, TemplatePart, TrimOffsets
from .fields import Fields, Json, component_fields, component_name, sequence_json, shorten

_COMPONENTS = (
    component_fields("RobertaProcessing", "sep cls trim_offsets add_prefix_space", tagged=False),
    component_fields("BertProcessing", "sep cls", tagged=False),
    component_fields("ByteLevel", "add_prefix_space trim_offsets"),
    component_fields("TemplateProcessing", "single pair special_tokens", tagged=False),
    component_fields("Sequence", "processors"),
)
_SECOND_TEXT_TYPE_ID = 1
_MAX_ID = 2**32 - 1
_MAX_INSERTED_IDS = 2**16


class PostProcessing(NamedTuple):
    """The template and the span trimming that one post-processor defines; a field is None if it is not defined."""

    template: Template | None = None
    trim: TrimOffsets | None = None


def read(value: Json) -> tuple[Template, TrimOffsets | None]:
    """Returns the template of a post-processor, and its trimming of spans, or None if spans are not trimmed."""
    if value is None:
        return Template(), None
    template, trim_steps = None, []
    for part in _read_parts(value, "post_processor"):
        if part.template is not None and template is not None:
            raise FormatError("post_processor: two templates, one inside the other, are not supported")
        template = part.template if template is None else template
        trim_steps += [part.trim] if part.trim is not None else []
    if len(trim_steps) > 1:
        raise FormatError("post_processor: two components that trim spans are not supported")
    return (Template() if template is None else template), (trim_steps[0] if trim_steps else None)


def _read_parts(value: Json, path: str) -> Iterator[PostProcessing]:
    fields = Fields(value, path)
    kind = component_name(fields, _COMPONENTS, by_fields=True)
    if kind == "Sequence":
        for item, path in fields.items("processors"):
            yield from _read_parts(item, path)
    elif kind == "ByteLevel":
        yield PostProcessing(trim=_read_trim_offsets(fields))
    elif kind == "TemplateProcessing":
        yield PostProcessing(_read_template(fields))
    else:
        cls, sep = _read_named_id(fields, "cls"), _read_named_id(fields, "sep")
        if kind == "BertProcessing":
            yield PostProcessing(_bert_template(cls, sep))
        else:
            yield PostProcessing(_roberta_template(cls, sep), _read_trim_offsets(fields))


def _read_trim_offsets(fields: Fields) -> TrimOffsets | None:
    add_prefix_space, is_trimmed = fields.flag("add_prefix_space"), fields.flag("trim_offsets")
    return TrimOffsets(add_prefix_space) if is_trimmed else None


def _read_named_id(fields: Fields, name: str) -> int:
    token_and_id = fields.get(name, list)
    if len(token_and_id) == 2 and isinstance(token_and_id[0], str) and _is_id(token_and_id[1]):
        return int(token_and_id[1])
    raise FormatError(f"{fields.path}: {name} is {shorten(token_and_id)}, not a text and an id")


def _is_id(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_ID


def _bert_template(cls: int, sep: int) -> Template:
    single_parts = (Insert((cls,)), Slot(0), Insert((sep,)))
    return Template(single_parts, (*single_parts, Slot(1, _SECOND_TEXT_TYPE_ID), Insert((sep,), _SECOND_TEXT_TYPE_ID)))


def _roberta_template(cls: int, sep: int) -> Template:
    single_parts = (Insert((cls,)), Slot(0), Insert((sep,)))
    return Template(single_parts, (*single_parts, Insert((sep,)), Slot(1), Insert((sep,))))


def _read_template(fields: Fields) -> Template:
    special = Fields(fields.get("special_tokens", dict), f"{fields.path}.special_tokens")
    single_parts, pair = (_read_template_parts(fields, name, special) for name in ("single", "pair"))
    return Template(single_parts, pair)


def _read_template_parts(fields: Fields, name: str, special: Fields) -> tuple[TemplatePart, ...]:
    parts: list[TemplatePart] = []
    inserted_ids = 0
    for item, path in fields.items(name):
        parts.append(part := _read_template_part(Fields(item, path), special))
        inserted_ids += len(part.ids) if isinstance(part, Insert) else 0
        if inserted_ids > _MAX_INSERTED_IDS:
            raise FormatError(f"{fields.path}: {name} inserts more than {_MAX_INSERTED_IDS} ids")
    return tuple(parts)


def _read_template_part(fields: Fields, special: Fields) -> TemplatePart:
    if len(fields.value) == 1:
        ((kind, value),) = fields.value.items()
        inner_fields = Fields(value, fields.path)
        if kind == "Sequence":
            text = inner_fields.choice("id", {"A": 0, "B": 1})
            return Slot(1 if text else 0, inner_fields.number("type_id"))
        if kind == "SpecialToken":
            name = inner_fields.text("id")
            token = Fields(special.get(name, dict), f"{special.path}.{name}")
            return Insert(_read_ids(token), inner_fields.number("type_id"))
    raise FormatError(f"{fields.path}: {shorten(fields.value)} is neither a Sequence nor a SpecialToken")


def _read_ids(token: Fields) -> tuple[int, ...]:
    ids = token.get("ids", list)
    if not all(_is_id(number) for number in ids) or len(ids) != len(token.get("tokens", list)):
        raise FormatError(
            f"{token.path}: ids and tokens must be lists of the same length, and ids must contain only ids"
        )
    return tuple(ids)


def write(template: Template, trim: TrimOffsets | None, texts: Mapping[int, str]) -> Json:
    """Converts a template and trimming to a post-processor in JSON; ``texts`` maps the ids in the template to texts."""
    parts: list[Json] = []
    if trim is not None:
        parts.append(
            {"type": "ByteLevel", "add_prefix_space": trim.add_prefix_space, "trim_offsets": True, "use_regex": True}
        )
    if template != Template():
        parts.append(_template_json(template, texts))
    return sequence_json("Sequence", "processors", parts)


def _template_json(template: Template, texts: Mapping[int, str]) -> Json:
    special: dict[str, Json] = {}

    def part_json(part: TemplatePart) -> Json:
        if isinstance(part, Slot):
            return {"Sequence": {"id": "AB"[part.text], "type_id": part.type_id}}
        tokens = [texts.get(id, f"<{id}>") for id in part.ids]
        name = "".join(tokens)
        while special.get(name, {"ids": list(part.ids)})["ids"] != list(part.ids):
            name += "'"
        special[name] = {"id": name, "ids": list(part.ids), "tokens": tokens}
        return {"SpecialToken": {"id": name, "type_id": part.type_id}}

    single_parts, pair = [part_json(part) for part in template.single], [part_json(part) for part in template.pair]
    return {"type": "TemplateProcessing", "single": single_parts, "pair": pair, "special_tokens": special}
