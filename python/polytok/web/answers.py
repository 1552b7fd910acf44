"""The answers to the page's requests: functions of the models and a JSON object, to what JSON can hold.

Offsets are in UTF-16 code units, as in JavaScript's strings. Columns of numbers are base64 of little-endian int32: a
million numbers as JSON take a second to write and to read.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..doctor import examine
from ..errors import ArgumentError, PolytokError
from ..trace.tracer import MAX_BYTES
from ..values import Spans
from ..visible import visible_text
from .models import Model, Models
from .page import saved_page

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_MODELS = 32
Request = Mapping[str, Any]


def list_models(models: Models, request: Request) -> Any:
    return {"models": [model.to_json() for model in models.list()]}


def remove(models: Models, request: Request) -> Any:
    models.remove(_text(request, "model"))
    return list_models(models, request)


def encode(models: Models, request: Request) -> Any:
    """The tokens of a text, or of a conversation, for each of the models."""
    return {"results": [_encode_by(models, key, request) for key in _keys(request)]}


def _encode_by(models: Models, key: object, request: Request) -> dict[str, Any]:
    try:
        model = models.get(key)
        if "messages" in request:
            return {"model": model.key, **_conversation(model, request)}
        text = _text(request, "text")
        spans = model.tokenizer.spans(text, **_options(request))
        return {"model": model.key, **_columns(model, text, spans)}
    except PolytokError as error:
        return {"model": key, "error": str(error)}


def _options(request: Request) -> dict[str, Any]:
    return {"special": "all" if request.get("special") else (), "add_special": bool(request.get("template"))}


def _conversation(model: Model, request: Request) -> dict[str, Any]:
    messages = _messages(request)
    if model.tokenizer.chat_template is None:
        raise ArgumentError(
            "this tokenizer has no chat template: start the page with a folder that has one, or drop a GGUF file"
        )
    encoding = model.tokenizer.encode_chat(messages, add_generation_prompt=bool(request.get("prompt")))
    origins = encoding.message_ids
    roles = [str(message.get("role", "")) for message in messages]
    columns = _columns(model, encoding.parts.text, encoding.spans)
    return {**columns, "text": encoding.parts.text, "origins": _packed(origins), "roles": roles}


def _messages(request: Request) -> list[Any]:
    try:
        messages = json.loads(_text(request, "messages"))
    except (ValueError, RecursionError):
        messages = None
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ArgumentError('a conversation is a JSON list such as [{"role": "user", "content": "Hi"}]')
    return messages


def _columns(model: Model, text: str, spans: Spans) -> dict[str, Any]:
    """The columns of the tokens. ``labels`` has the bytes of tokens that are not whole characters of the text, and
    ``fragment_starts`` and ``fragment_ends`` their offsets in bytes."""
    import numpy as np

    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    units_before = _units_before(data)
    is_fragment = _starts_inside_character(data, spans.byte_starts) | _starts_inside_character(data, spans.byte_ends)
    is_fragment |= spans.byte_starts == spans.byte_ends
    special_ids = np.fromiter(model.tokenizer.special_tokens.values(), np.int64)
    rows = np.flatnonzero(is_fragment).tolist()
    pieces = model.tokenizer.ids_to_pieces(spans.ids[is_fragment])
    return {
        "ids": _packed(spans.ids),
        "starts": _packed(units_before[spans.byte_starts]),
        "ends": _packed(units_before[spans.byte_ends]),
        "labels": {row: visible_text(piece) for row, piece in zip(rows, pieces, strict=True)},
        "fragment_starts": _packed(spans.byte_starts[is_fragment]),
        "fragment_ends": _packed(spans.byte_ends[is_fragment]),
        "special": np.flatnonzero(np.isin(spans.ids, special_ids)).tolist(),
        "bytes": len(data),
        "characters": len(text),
    }


def _packed(numbers: npt.ArrayLike) -> str:
    """Returns whole numbers as base64 of little-endian int32."""
    import numpy as np

    return b64encode(np.asarray(numbers, "<i4").tobytes()).decode()


def _units_before(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Returns the number of UTF-16 code units of the characters that start before each byte, and before the end."""
    import numpy as np

    units = np.zeros(len(data) + 1, np.int64)
    units[1:] = np.cumsum(((data & 0xC0) != 0x80).astype(np.int64) + (data >= 0xF0))
    return units


def _starts_inside_character(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    import numpy as np

    is_continuation = np.append((data & 0xC0) == 0x80, False)
    inside: npt.NDArray[np.bool_] = is_continuation[offsets]
    return inside


def decode(models: Models, request: Request) -> Any:
    """The text of ids, for each of the models."""
    return {"results": [_decode_by(models, key, _ids(request)) for key in _keys(request)]}


def _decode_by(models: Models, key: object, ids: list[int]) -> dict[str, Any]:
    try:
        model = models.get(key)
        decoded = model.tokenizer.decode_with_offsets(ids)
        columns = _columns_of_ids(model, decoded.text, ids, decoded.starts.tolist(), decoded.ends.tolist())
        is_canonical = model.tokenizer.is_canonical(ids)
        return {"model": model.key, "text": decoded.text, "canonical": is_canonical, **columns}
    except PolytokError as error:
        return {"model": key, "error": str(error)}


def _columns_of_ids(
    model: Model, text: str, ids: Sequence[int], starts: Sequence[int], ends: Sequence[int]
) -> dict[str, Any]:
    special_ids = set(model.tokenizer.special_tokens.values())
    units = [0]
    for character in text:
        units.append(units[-1] + 1 + (character > "\uffff"))
    pieces = model.tokenizer.ids_to_pieces(ids)
    return {
        "ids": _packed(ids),
        "starts": _packed([units[start] for start in starts]),
        "ends": _packed([units[end] for end in ends]),
        "labels": {
            row: visible_text(piece)
            for row, piece in enumerate(pieces)
            if starts[row] == ends[row] or "\ufffd" in text[starts[row] : ends[row]]
        },
        "special": [row for row, id in enumerate(ids) if id in special_ids],
        "bytes": len(text.encode("utf-8", "surrogatepass")),
        "characters": len(text),
    }


def trace(models: Models, request: Request) -> Any:
    """What happened to a text or to ids, step by step; of a long text, the walk of the piece at ``place``."""
    model = models.get(request.get("model"))
    if "ids" in request:
        return model.tokenizer.trace(ids=_ids(request)).to_json()
    text = _text(request, "text")
    at = _byte_offset(text, request.get("place")) if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES else None
    return {**model.tokenizer.trace(text, at=at, **_options(request)).to_json(), "name": model.name}


def _byte_offset(text: str, place: object) -> int:
    """Returns the offset in bytes of a place in UTF-16 code units."""
    if not isinstance(place, int):
        raise ValueError("place is not a number")
    before = text.encode("utf-16-le", "surrogatepass")[: 2 * max(place, 0)]
    return len(before.decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogatepass"))


def doctor(models: Models, request: Request) -> Any:
    """The doctor's findings about one model."""
    diagnosis = examine(models.get(request.get("model")).tokenizer)
    findings = [
        {"severity": finding.severity.name.lower(), "message": finding.message, "advice": finding.advice}
        for finding in diagnosis.findings
    ]
    return {"well": diagnosis.is_well, "findings": findings}


def save(models: Models, request: Request) -> str:
    """An HTML file that shows what the page shows now."""
    results = encode(models, request)["results"]
    names = {model.key: model.to_json() for model in models.list()}
    shown = [{**result, "name": names[result["model"]]["name"]} for result in results if result["model"] in names]
    text = request.get("text", "")
    return saved_page({"title": "polytok", "text": text if isinstance(text, str) else "", "results": shown})


def _keys(request: Request) -> list[object]:
    keys = request.get("models")
    if not isinstance(keys, list):
        raise ValueError("models is not a list")
    return keys[:MAX_MODELS]


def _text(request: Request, name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a text")
    return value


def _ids(request: Request) -> list[int]:
    ids = request.get("ids")
    if not isinstance(ids, list) or not all(isinstance(id, int) and not isinstance(id, bool) for id in ids):
        raise ArgumentError("ids are whole numbers, with spaces or commas between them")
    return ids


Answer = Callable[[Models, Request], Any]
ANSWERS: Mapping[str, Answer] = {
    "models": list_models,
    "remove": remove,
    "encode": encode,
    "decode": decode,
    "trace": trace,
    "doctor": doctor,
    "save": save,
}
