"""``polytok info``: shows everything in a tokenizer file, and whether decoding returns the encoded text."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .. import named
from ..errors import ArgumentError
from ..formats.gguf_metadata import shown_metadata
from ..formats.sentencepiece_fields import fields as sentencepiece_fields
from ..lossless import Lossless
from ..model_names import VOCABULARY_OF_MODEL, VOCABULARY_OF_PREFIX
from ..spec import Kind, Spec
from ..tokenizer import Tokenizer
from ..visible import visible_text
from .json_output import add_json_option, print_json
from .models import add_model_argument, add_model_options, load_tokenizer, model_name, refuse_second_model
from .options import add_verb_parser, binary_stdout
from .style import escape_line_breaks

_EXAMPLES = """\
  polytok info
  polytok info llama.model
  polytok info llama.model --json | jq .lossless
  polytok info --names
"""
_MAX_LIST_ITEMS = 12  # the maximum number of items of a list that a table shows
_MAX_ESCAPED_BYTES = 40  # longer values are shown as a length and a hash if they are not UTF-8
_EMPTY_TEXT = "(empty)"  # the text for a value without content

Section = dict[str, Any]


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``info`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "info", "show everything that a tokenizer file holds", _EXAMPLES)
    add_model_argument(parser)
    add_model_options(parser)
    add_json_option(parser)
    parser.add_argument("--names", action="store_true", help="list the names that -m accepts, and their cached files")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the report, or the names that ``-m`` accepts. Returns exit code 0."""
    if arguments.names:
        if arguments.json:
            print_json([{"name": name, "about": about} for name, about in _names()])
        else:
            binary_stdout().write("".join(f"{name:<14}  {about}\n" for name, about in _names()).encode())
        return 0
    refuse_second_model(arguments)
    if arguments.models and arguments.model is not None:
        raise ArgumentError(f"-m names the tokenizer, and info reads no texts: remove {arguments.model}")
    tokenizer = load_tokenizer(arguments)
    name = model_name(arguments)
    is_path = name != "default" and not named.is_name(name)
    report = describe(tokenizer, Path(name if is_path else ""))
    if arguments.json:
        print_json(report)
    else:
        text = "\n".join(_table_lines(report))
        binary_stdout().write(f"{text}\n".encode(errors="surrogateescape"))
    return 0


def _names() -> Iterator[tuple[str, str]]:
    """Yields each name that ``-m`` accepts, with the path of its cached file, or its address if it is not cached."""
    yield "default", "comes with polytok"
    for name, files in named.FILES.items():
        for file in files:
            path = next((path for path in named.cached_paths(file) if path.is_file()), None)
            yield name, f"kept: {path}" if path else f"not fetched: {file.address}"
    for model, vocabulary in VOCABULARY_OF_MODEL.items():
        if model not in named.FILES:
            yield model, f"the vocabulary of this model is {vocabulary}"
    for prefix, vocabulary in VOCABULARY_OF_PREFIX.items():
        yield f"{prefix}*", f"the vocabulary of these models is {vocabulary}"
    yield "hf:owner/name", "a repository of the Hugging Face hub; needs pip install 'polytok[hub]'"


def describe(tokenizer: Tokenizer, path: Path) -> dict[str, Any]:
    """Returns the report as a JSON value: a mapping of section names to sections. ``path`` is the file to describe."""
    spec = tokenizer.spec
    return {
        "file": _file_section(spec, path),
        "lossless": _lossless_section(tokenizer.lossless),
        "vocab": _vocab_section(tokenizer),
        "special": {"names": dict(spec.names), "tokens": tokenizer.special_tokens},
        "normalize": [_step_section(step) for step in spec.normalize],
        "split": [_step_section(step) for step in spec.split],
        "model": _model_section(spec),
        "post": _step_section(spec.post),
        "decode": _step_section(spec.decode),
        **_format_section(spec),
    }


def _model_section(spec: Spec) -> Section:
    """Returns the model. In a SentencePiece model, ``unknown`` says whether unknown text is encoded as bytes."""
    section = _step_section(spec.model) | {"unknown": spec.unknown}
    if spec.unknown == "bytes":
        section["byte_fallback"] = True
    return section


def _file_section(spec: Spec, path: Path) -> Section:
    section: Section = {"format": spec.origin.format, "name": spec.origin.name}
    if path.is_file():
        data = path.read_bytes()
        section |= {"path": str(path), "bytes": len(data), "sha256": sha256(data).hexdigest()}
    return section


def _lossless_section(lossless: Lossless) -> Section:
    return {
        "for_text": lossless.for_text,
        "for_bytes": lossless.for_bytes,
        "reasons": [
            {
                "for": "text" if reason.valid_utf8 else "bytes",
                "what": reason.what,
                "example": _json_value(reason.example),
            }
            for reason in lossless.reasons
        ],
    }


def _vocab_section(tokenizer: Tokenizer) -> Section:
    vocab = tokenizer.spec.vocab
    counts = np.bincount(vocab.kinds, minlength=int(max(Kind)) + 1).tolist()
    lengths = np.diff(vocab.offsets)
    section: Section = {"vocab_size": tokenizer.vocab_size, "pieces": len(vocab)}
    section |= {kind.name.lower(): counts[kind] for kind in Kind if counts[kind]}
    section["special"] = len(tokenizer.special_tokens)
    section["ids_without_piece"] = tokenizer.vocab_size - len({*vocab.ids.tolist(), *tokenizer.special_tokens.values()})
    section["longest_piece_bytes"] = int(lengths.max(initial=0))
    if vocab.scores.any():
        section["scores"] = [_json_value(vocab.scores.min()), _json_value(vocab.scores.max())]
    return section


def _format_section(spec: Spec) -> dict[str, Any]:
    """Returns the sections with fields that exist only in the file's format. For GGUF, these are all keys."""
    if spec.origin.format == "gguf" and "gguf" in spec.extra:
        facts = {name: value for name, value in spec.extra["gguf"].items() if name != "keys"}
        return {"gguf": _json_value(facts), "metadata": _json_value(shown_metadata(spec))}
    if spec.origin.format != "sentencepiece":
        format_fields = spec.extra.get(spec.origin.format)
        return {spec.origin.format: _json_value(format_fields)} if format_fields else {}
    sections: dict[str, Any] = {"sentencepiece_version": spec.sentencepiece_version}
    for field in sentencepiece_fields(spec):
        section = sections.setdefault(field.message, {})
        section[field.name] = {"value": _json_value(field.value), "set": field.is_set}
    return sections


def _step_section(step: Any) -> Section:
    """Returns a step or model of the Spec as a mapping: the kind of step first, then the fields."""
    section: Section = {"kind": step.kind} if hasattr(step, "kind") else {}
    return section | {field.name: _json_value(getattr(step, field.name)) for field in fields(step)}


def _json_value(value: Any) -> Any:
    """Converts a field of the Spec to a JSON value: bytes to text, and an array to the number of its rows."""
    if isinstance(value, bytes):
        return _bytes_as_text(value)
    if isinstance(value, np.ndarray):
        return {"rows": len(value)}
    if isinstance(value, float | np.floating):
        return float(str(np.float32(value))) if np.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _json_value(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_json_value(item) for item in value]
    return _step_section(value) if is_dataclass(value) else value


def _bytes_as_text(value: bytes) -> str:
    """Returns UTF-8 as text, short bytes that are not UTF-8 with escapes, and long bytes as a length and a hash."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        if len(value) <= _MAX_ESCAPED_BYTES:
            return visible_text(value)
        return f"{len(value)} bytes, sha256 {sha256(value).hexdigest()}"


# The table


def _table_lines(report: dict[str, Any]) -> Iterator[str]:
    for number, (heading, section) in enumerate(report.items()):
        if number:
            yield ""
        yield heading
        if heading == "lossless":
            yield from _lossless_lines(section)
        elif isinstance(section, list):
            for step in section:
                yield from _section_lines(step)
            if not section:
                yield "  (nothing)"
        elif isinstance(section, dict):
            yield from _section_lines(section)
        else:
            yield f"  {section}"


def _section_lines(section: Section) -> Iterator[str]:
    width = max(map(len, section), default=0)
    for name, value in section.items():
        for number, text in enumerate(_value_lines(value)):
            yield f"  {'' if number else name:<{width}}  {text}"


def _value_lines(value: Any) -> Iterator[str]:
    """Yields one line for a value, or one line for each item of a mapping, up to a maximum number of items."""
    if not isinstance(value, dict) or value.keys() == {"rows"}:
        yield _EMPTY_TEXT if value is None else _value_text(value)
    elif value.keys() == {"length", "first"}:
        omission_text = ", …" if value["length"] > len(value["first"]) else ""
        yield f"{value['length']} items: {_value_text(value['first'])}{omission_text}"
    elif value.keys() == {"value", "set"}:
        yield _value_text(value["value"]) + ("" if value["set"] else "  (default)")
    else:
        all_items = list(value.items())
        yield from (
            f"{visible_text(str(key).encode())}  {_value_text(item)}" for key, item in all_items[:_MAX_LIST_ITEMS]
        )
        if len(all_items) > _MAX_LIST_ITEMS:
            yield f"and {len(all_items) - _MAX_LIST_ITEMS} more (all with --json)"
        elif not all_items:
            yield _EMPTY_TEXT


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in ("", [], {}):
        return _EMPTY_TEXT
    if isinstance(value, list):
        omission_text = f" and {len(value) - _MAX_LIST_ITEMS} more" if len(value) > _MAX_LIST_ITEMS else ""
        return ", ".join(map(_value_text, value[:_MAX_LIST_ITEMS])) + omission_text
    if isinstance(value, dict) and value.keys() == {"rows"}:
        return f"{value['rows']} rows"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value_text(item)}" for key, item in value.items())
    if not isinstance(value, str):
        return str(value)
    return _quote(value) if value.strip() != value else escape_line_breaks(value)


def _lossless_lines(section: Section) -> Iterator[str]:
    for key, guarantee in (("for_text", "valid UTF-8 text"), ("for_bytes", "any bytes")):
        if section[key]:
            yield f"  {guarantee:<16}  yes"
            continue
        reasons = [reason for reason in section["reasons"] if f"for_{reason['for']}" == key]
        yield f"  {guarantee:<16}  no" + (", because" if reasons else "")
        for reason in reasons:
            example = "" if reason["example"] is None else f"  (for example {_quote(reason['example'])})"
            yield f"    {escape_line_breaks(reason['what'])}{example}"


def _quote(text: str) -> str:
    return f'"{escape_line_breaks(text)}"'
