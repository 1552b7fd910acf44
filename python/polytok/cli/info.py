"""``polytok info``: everything in a tokenizer file, and whether it is lossless."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .. import named
from ..formats.sentencepiece_fields import fields as sentencepiece_fields
from ..lossless import Lossless
from ..spec import Kind, Spec
from ..tokenizer import Tokenizer
from .options import add_verb, load_tokenizer, stdout
from .style import one_line, visible

_EXAMPLES = """\
  polytok info
  polytok info -m llama.model
  polytok info -m llama.model --json | jq .lossless
  polytok info --names
"""
_SHORT_LIST = 12
_SHORT_BYTES = 40
_EMPTY = "(empty)"

Section = dict[str, Any]


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "info", "show all that the vocabulary's file holds", _EXAMPLES)
    parser.add_argument("--json", action="store_true", help="an object; nothing is shortened but the character map")
    parser.add_argument("--names", action="store_true", help="the names that -m takes, and whether they are fetched")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show it."""
    if arguments.names:
        stdout().write("".join(f"{line}\n" for line in _names()).encode())
        return 0
    tokenizer = load_tokenizer(arguments)
    is_path = arguments.model != "default" and not named.is_name(arguments.model)
    report = describe(tokenizer, Path(arguments.model if is_path else ""))
    shown = (
        json.dumps(report, ensure_ascii=False, indent=2) + "\n" if arguments.json else "\n".join(_table(report)) + "\n"
    )
    stdout().write(shown.encode(errors="surrogateescape"))
    return 0


def _names() -> Iterator[str]:
    """A line for each name: what it is, or where its file is cached or available."""
    yield f"{'default':<14}  comes with polytok"
    for name, files in named.FILES.items():
        for file in files:
            kept = named.cache_folder() / file.name
            yield f"{name:<14}  {f'kept: {kept}' if kept.is_file() else f'not fetched: {file.address}'}"
    yield f"{'hf:owner/name':<14}  a repository of the Hugging Face hub; needs pip install 'polytok[hub]'"


def describe(tokenizer: Tokenizer, path: Path) -> dict[str, Any]:
    """The report: sections by their names, as a JSON value."""
    spec = tokenizer.spec
    return {
        "file": _file(spec, path),
        "lossless": _lossless(tokenizer.lossless),
        "vocab": _vocab(tokenizer),
        "special": {"names": dict(spec.names), "tokens": tokenizer.special_tokens},
        "normalize": [_plain(step) for step in spec.normalize],
        "split": [_plain(step) for step in spec.split],
        "model": _plain(spec.model) | {"unknown": spec.unknown},
        "post": _plain(spec.post),
        "decode": _plain(spec.decode),
        **_format_section(spec),
    }


def _file(spec: Spec, path: Path) -> Section:
    section: Section = {"format": spec.origin.format, "name": spec.origin.name}
    if path.is_file():
        data = path.read_bytes()
        section |= {"path": str(path), "bytes": len(data), "sha256": sha256(data).hexdigest()}
    return section


def _lossless(lossless: Lossless) -> Section:
    return {
        "valid UTF-8 text": lossless.for_text,
        "any bytes": lossless.for_bytes,
        "reasons": [
            {"for": "text" if reason.valid_utf8 else "bytes", "what": reason.what, "example": _jsonable(reason.example)}
            for reason in lossless.reasons
        ],
    }


def _vocab(tokenizer: Tokenizer) -> Section:
    vocab = tokenizer.spec.vocab
    counts = np.bincount(vocab.kinds, minlength=int(max(Kind)) + 1).tolist()
    lengths = np.diff(vocab.offsets)
    section: Section = {"vocab_size": tokenizer.vocab_size, "pieces": len(vocab)}
    section |= {kind.name.lower(): counts[kind] for kind in Kind if counts[kind]}
    section["special"] = len(tokenizer.spec.special)
    section["ids without piece"] = tokenizer.vocab_size - len({*vocab.ids.tolist(), *tokenizer.special_tokens.values()})
    section["longest piece, bytes"] = int(lengths.max(initial=0))
    if vocab.scores.any():
        section["scores"] = [_jsonable(vocab.scores.min()), _jsonable(vocab.scores.max())]
    return section


def _format_section(spec: Spec) -> dict[str, Any]:
    """The details that only this format has."""
    if spec.origin.format != "sentencepiece":
        extra = spec.extra.get(spec.origin.format)
        return {spec.origin.format: _jsonable(extra)} if extra else {}
    sections: dict[str, Any] = {"line": spec.line}
    for field in sentencepiece_fields(spec):
        section = sections.setdefault(field.message, {})
        section[field.name] = {"value": _jsonable(field.value), "set": field.is_set}
    return sections


def _plain(step: Any) -> Section:
    """A part of the Spec: its kind, then its fields."""
    section: Section = {"kind": step.kind} if hasattr(step, "kind") else {}
    return section | {field.name: _jsonable(getattr(step, field.name)) for field in fields(step)}


def _jsonable(value: Any) -> Any:
    """Bytes as text, or as length and hash if they are not text; arrays as their shape."""
    if isinstance(value, bytes):
        return _bytes(value)
    if isinstance(value, np.ndarray):
        return f"{len(value)} rows"
    if isinstance(value, float | np.floating):
        return float(str(np.float32(value))) if np.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _jsonable(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_jsonable(item) for item in value]
    return _plain(value) if is_dataclass(value) else value


def _bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        if len(value) <= _SHORT_BYTES:
            return visible(value)
        return f"{len(value)} bytes, sha256 {sha256(value).hexdigest()}"


# The table


def _table(report: dict[str, Any]) -> Iterator[str]:
    for number, (heading, section) in enumerate(report.items()):
        if number:
            yield ""
        yield heading
        if heading == "lossless":
            yield from _lossless_rows(section)
        elif isinstance(section, list):
            for part in section:
                yield from _rows(part)
            if not section:
                yield "  (nothing)"
        elif isinstance(section, dict):
            yield from _rows(section)
        else:
            yield f"  {section}"


def _rows(section: Section) -> Iterator[str]:
    width = max(map(len, section), default=0)
    for name, value in section.items():
        for number, text in enumerate(_values(value)):
            yield f"  {'' if number else name:<{width}}  {text}"


def _values(value: Any) -> Iterator[str]:
    """The value of a name: a line, or one for each item of a mapping."""
    if not isinstance(value, dict):
        yield _EMPTY if value is None else _shown(value)
    elif value.keys() == {"value", "set"}:
        yield _shown(value["value"]) + ("" if value["set"] else "  (default)")
    else:
        items = list(value.items())
        yield from (f"{visible(str(key).encode())}  {_shown(item)}" for key, item in items[:_SHORT_LIST])
        if len(items) > _SHORT_LIST:
            yield f"and {len(items) - _SHORT_LIST} more (all with --json)"
        elif not items:
            yield _EMPTY


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in ("", [], {}):
        return _EMPTY
    if isinstance(value, list):
        more = f" and {len(value) - _SHORT_LIST} more" if len(value) > _SHORT_LIST else ""
        return ", ".join(map(_shown, value[:_SHORT_LIST])) + more
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if not isinstance(value, str):
        return str(value)
    return _quoted(value) if value.strip() != value else one_line(value)


def _lossless_rows(section: Section) -> Iterator[str]:
    for grade, concerned in (("valid UTF-8 text", ["text"]), ("any bytes", ["text", "bytes"])):
        if section[grade]:
            yield f"  {grade:<16}  yes"
            continue
        reasons = [reason for reason in section["reasons"] if reason["for"] in concerned]
        if grade == "any bytes" and not section["valid UTF-8 text"]:
            reasons = [reason for reason in reasons if reason["for"] == "bytes"]
        yield f"  {grade:<16}  no" + (", because" if reasons else "")
        for reason in reasons:
            example = "" if reason["example"] is None else f"  (for example {_quoted(reason['example'])})"
            yield f"    {one_line(reason['what'])}{example}"


def _quoted(text: str) -> str:
    return f'"{one_line(text)}"'
