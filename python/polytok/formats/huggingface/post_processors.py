"""Post-processors: JSON to a template and the trimming of spans, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...errors import FormatError
from ...spec import Insert, Slot, Template, TemplatePart, TrimOffsets
from .fields import Fields, Json, brief, sequence, shape, type_of

_SHAPES = (
    shape("RobertaProcessing", "sep cls trim_offsets add_prefix_space", tagged=False),
    shape("BertProcessing", "sep cls", tagged=False),
    shape("ByteLevel", "add_prefix_space trim_offsets"),
    shape("TemplateProcessing", "single pair special_tokens", tagged=False),
    shape("Sequence", "processors"),
)
_PAIR_TYPE = 1
_MAX_ID = 2**32 - 1
_MOST_IDS = 2**16


class Processed(NamedTuple):
    """What a post-processor does; None where it does nothing of the sort."""

    template: Template | None = None
    trim: TrimOffsets | None = None


def read(value: Json) -> tuple[Template, TrimOffsets | None]:
    """What stands around texts, and how spans are trimmed."""
    if value is None:
        return Template(), None
    template, trims = None, []
    for part in _parts(value, "post_processor"):
        if part.template is not None and template is not None:
            raise FormatError("post_processor: two templates, one inside of the other, are not supported")
        template = part.template if template is None else template
        trims += [part.trim] if part.trim is not None else []
    if len(trims) > 1:
        raise FormatError("post_processor: spans that are trimmed twice are not supported")
    return (Template() if template is None else template), (trims[0] if trims else None)


def _parts(value: Json, where: str) -> Iterator[Processed]:
    fields = Fields(value, where)
    kind = type_of(fields, _SHAPES, by_shape=True)
    if kind == "Sequence":
        for item, place in fields.items("processors"):
            yield from _parts(item, place)
    elif kind == "ByteLevel":
        yield Processed(trim=_trim(fields))
    elif kind == "TemplateProcessing":
        yield Processed(_template(fields))
    else:
        cls, sep = _named_id(fields, "cls"), _named_id(fields, "sep")
        if kind == "BertProcessing":
            yield Processed(_bert(cls, sep))
        else:
            yield Processed(_roberta(cls, sep), _trim(fields))


def _trim(fields: Fields) -> TrimOffsets | None:
    add_prefix_space, trims = fields.flag("add_prefix_space"), fields.flag("trim_offsets")
    return TrimOffsets(add_prefix_space) if trims else None


def _named_id(fields: Fields, name: str) -> int:
    found = fields.get(name, list)
    if len(found) == 2 and isinstance(found[0], str) and _is_id(found[1]):
        return int(found[1])
    raise FormatError(f"{fields.where}: {name} is {brief(found)}, not a text and an id")


def _is_id(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_ID


def _bert(cls: int, sep: int) -> Template:
    single = (Insert((cls,)), Slot(0), Insert((sep,)))
    return Template(single, (*single, Slot(1, _PAIR_TYPE), Insert((sep,), _PAIR_TYPE)))


def _roberta(cls: int, sep: int) -> Template:
    single = (Insert((cls,)), Slot(0), Insert((sep,)))
    return Template(single, (*single, Insert((sep,)), Slot(1), Insert((sep,))))


def _template(fields: Fields) -> Template:
    special = Fields(fields.get("special_tokens", dict), f"{fields.where}.special_tokens")
    single, pair = (_listed_parts(fields, name, special) for name in ("single", "pair"))
    return Template(single, pair)


def _listed_parts(fields: Fields, name: str, special: Fields) -> tuple[TemplatePart, ...]:
    parts: list[TemplatePart] = []
    inserted = 0
    for item, place in fields.items(name):
        parts.append(part := _part(Fields(item, place), special))
        inserted += len(part.ids) if isinstance(part, Insert) else 0
        if inserted > _MOST_IDS:
            raise FormatError(f"{fields.where}: {name} inserts more than {_MOST_IDS} ids")
    return tuple(parts)


def _part(fields: Fields, special: Fields) -> TemplatePart:
    if len(fields.value) == 1:
        ((kind, value),) = fields.value.items()
        inner = Fields(value, fields.where)
        if kind == "Sequence":
            text = inner.choice("id", {"A": 0, "B": 1})
            return Slot(1 if text else 0, inner.number("type_id"))
        if kind == "SpecialToken":
            name = inner.text("id")
            token = Fields(special.get(name, dict), f"{special.where}.{name}")
            return Insert(_ids(token), inner.number("type_id"))
    raise FormatError(f"{fields.where}: {brief(fields.value)} is neither a Sequence nor a SpecialToken")


def _ids(token: Fields) -> tuple[int, ...]:
    ids = token.get("ids", list)
    if not all(_is_id(number) for number in ids) or len(ids) != len(token.get("tokens", list)):
        raise FormatError(f"{token.where}: ids and tokens are not lists of equal length")
    return tuple(ids)


def write(template: Template, trim: TrimOffsets | None, texts: Mapping[int, str]) -> Json:
    """The post-processor; ``texts`` are the tokens of the ids in the template."""
    parts: list[Json] = []
    if trim is not None:
        parts.append(
            {"type": "ByteLevel", "add_prefix_space": trim.add_prefix_space, "trim_offsets": True, "use_regex": True}
        )
    if template != Template():
        parts.append(_template_json(template, texts))
    return sequence("Sequence", "processors", parts)


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

    single, pair = [part_json(part) for part in template.single], [part_json(part) for part in template.pair]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special}
