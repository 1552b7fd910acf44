"""Hugging Face's ``tokenizer.json`` (the package `tokenizers`, version 0.23).

Every component is converted to steps of the Spec, in normalizers.py, pre_tokenizers.py, models.py, post_processors.py,
decoders.py and added_tokens.py. ``extra["huggingface"]`` keeps the document without vocabulary and merges, so that an
unchanged tokenizer is written as the same document. If a component's JSON differs from the Spec, it is written anew.

``extra`` also keeps members that encoding does not use: ``truncation``, ``padding``, ``dropout`` (encoding is
deterministic), and ``warnings`` about ids of added tokens that the package `tokenizers` ignores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ... import _core
from ...columns import buffer, column_of
from ...errors import FormatError
from ...records import dataclass, replace
from ...spec import (
    Bpe,
    ByteLevel,
    ByteLevelDecode,
    BytesDecode,
    ChainDecode,
    Decode,
    NormalizeStep,
    Origin,
    ReplaceInvalid,
    Spec,
    SpecialToken,
    UnicodeForm,
    Vocab,
    merges_bytes,
)
from ..base import ReadOptions, Written, with_losses
from . import (
    added_tokens,
    config,
    config_write,
    decoders,
    lengths,
    models,
    normalizers,
    post_processors,
    pre_tokenizers,
)
from .fields import Json, shorten
from .patterns import to_canonical_form

name = "huggingface"
options: frozenset[str] = frozenset()

_OBJECT_PATTERN = re.compile(rb"[ \t\r\n]*\{")
_VERSION = "1.0"
_MEMBERS = (
    *("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder"),
    "model",
)
# For each component, the fields of a Spec that depend on it.
_FIELDS_OF_COMPONENT: Mapping[str, tuple[str, ...]] = {
    "added_tokens": ("special",),
    "normalizer": ("normalize",),
    "pre_tokenizer": ("split",),
    "post_processor": ("post", "trim"),
    "decoder": ("decode",),
    "model": ("model", "unknown", "vocab"),
}


def refusal(data: bytes) -> str | None:
    """Accepts a JSON object with a member ``model`` that is an object."""
    if not _OBJECT_PATTERN.match(data):
        return "not a JSON object"
    try:
        _core.huggingface_probe(data)
    except FormatError as error:
        return str(error)
    return None


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a tokenizer.json by the rules of the package `tokenizers`."""
    columns, merges, merges_are_pairs, scores, duplicate_count, other_members = _core.huggingface_read(data)
    document = _parse_document(other_members)
    for member in document:
        if member not in _MEMBERS:
            raise FormatError(f"there is no member {member!r}, only {', '.join(_MEMBERS)}")
    document = {**document, **lengths.read(document)}
    version = document.get("version", _VERSION)
    if version != _VERSION:
        raise FormatError(f"version is {shorten(version)}, not {_VERSION!r}")
    try:
        vocab = Vocab(*columns)
        spec = spec_of(document, vocab, merges)
    except RecursionError as error:
        raise FormatError("the JSON is nested too deeply") from error
    settings = config.parse(options.siblings)
    extra = {"document": document, "pairs": merges_are_pairs, **spec.extra.get(name, {})}
    if scores is not None:
        extra["scores"] = scores.tobytes()
    if duplicate_count:
        warning = f"{duplicate_count} texts occur twice in the vocabulary; the last id counts"
        extra["warnings"] = (*extra.get("warnings", ()), warning)
    if "tokenizer_class" in settings and (model_type := config.model_type(options.siblings)) is not None:
        extra["model_type"] = model_type
    spec = replace(spec, origin=Origin(name, options.name), extra={name: extra})
    return config.apply(spec, settings, _id_lookup(vocab), len(vocab))


def _parse_document(text: str) -> dict[str, Json]:
    """Parses the document. The engine has checked its syntax before."""
    try:
        document: dict[str, Json] = json.loads(text)
        if "\\u" in text:
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise FormatError("a text contains an escape that is half of a surrogate pair") from error
    except (RecursionError, ValueError) as error:
        raise FormatError(f"JSON: {error}") from error
    return document


class ModelColumns(NamedTuple):
    """The model of a file: its JSON without vocabulary and merges, and these as columns, whose entries are texts."""

    json: dict[str, Json]
    vocab: Vocab
    merges: models.Merges


def read_model(data: bytes) -> ModelColumns:
    """Reads the model of a tokenizer.json only, so that `spec_of` can create several Specs with it."""
    columns, merges, _, _, _, other_members = _core.huggingface_read(data)
    return ModelColumns(_parse_document(other_members)["model"], Vocab(*columns), merges)


def spec_of(document: Mapping[str, Json], vocab: Vocab, merges: models.Merges) -> Spec:
    """Converts a document to a Spec; the vocabulary and the merges are passed as columns."""
    parts = models.read(document.get("model"), vocab, merges)
    assigned_tokens = added_tokens.read(document.get("added_tokens", []), _id_lookup(vocab), len(vocab))
    normalize = normalizers.read(document.get("normalizer"))
    split = pre_tokenizers.read(document.get("pre_tokenizer"))
    post, trim = post_processors.read(document.get("post_processor"))
    steps = decoders.read(document.get("decoder"))

    raw_byte_parts = models.to_raw_bytes(parts) if _is_byte_level(split) else None
    if raw_byte_parts is not None:
        parts, split = raw_byte_parts, split[:-1]
    if normalize or not parts.complete:
        normalize = (ReplaceInvalid(), *normalize)
    return Spec(
        vocab=parts.vocab,
        model=parts.model,
        special=assigned_tokens.tokens,
        normalize=normalize,
        split=split,
        unknown=parts.unknown,
        post=post,
        trim=trim,
        decode=_choose_decoder(steps, raw_byte_parts is not None, assigned_tokens.tokens, normalize),
        names={} if parts.unk is None else {"unk": parts.unk},
        extra={name: {"warnings": assigned_tokens.warnings}} if assigned_tokens.warnings else {},
    )


def _id_lookup(vocab: Vocab) -> added_tokens.Lookup:
    ids = buffer(vocab, "ids")

    def lookup(texts: list[str]) -> dict[str, int]:
        return {text: ids[row] for text, row in models.rows_of_texts(vocab, texts).items()}

    return lookup


def _is_byte_level(split: pre_tokenizers.Steps) -> bool:
    return bool(split) and split[-1] == ByteLevel() and split.count(ByteLevel()) == 1


def _choose_decoder(
    steps: decoders.Steps | None,
    byte_level: bool,
    special: tuple[SpecialToken, ...],
    normalize: tuple[NormalizeStep, ...],
) -> Decode:
    """Returns a decoder that concatenates bytes if it decodes like the steps; otherwise returns the steps.

    The decoders are equal if rows are bytes and every added token decodes to its own text.
    """
    if byte_level and steps == (ByteLevelDecode(),) and all(_decodes_to_itself(token, normalize) for token in special):
        return BytesDecode(skips_unknown=True)
    return ChainDecode(steps, byte_level)


def _decodes_to_itself(token: SpecialToken, normalize: tuple[NormalizeStep, ...]) -> bool:
    """Reports whether an added token decodes to its own text, unchanged by the normalizer and GPT-2's table of bytes.

    In the table, only printable ASCII represents itself. A token that contains a space is not converted at all.
    """
    is_normalized = token.normalized and not all(isinstance(step, ReplaceInvalid | UnicodeForm) for step in normalize)
    return token.text.isascii() and not is_normalized


# Writing


@dataclass(frozen=True, slots=True)
class _WrittenFile:
    """The bytes of a file, and the Spec that is read back from these bytes."""

    data: bytes
    reread_spec: Spec


def write(spec: Spec) -> Written:
    """Writes a tokenizer.json: the original document, with new JSON for each component that has changed since."""
    spec = replace(
        spec, **{field: to_canonical_form(getattr(spec, field)) for field in ("normalize", "split", "decode")}
    )
    extra: Mapping[str, Any] = spec.extra.get(name, {})
    document = dict(extra.get("document", {}))
    if not document:
        document = _with_written_members(spec, dict.fromkeys(_MEMBERS), _MEMBERS[3:])
        document["version"] = _VERSION
    written_file = _assemble_file(spec, document)
    if not _has_same_scores(spec, written_file.reread_spec):
        spec = replace(spec, extra={**spec.extra, name: {**extra, "scores": None}})
        written_file = _assemble_file(spec, document)
    outdated_members = [
        member
        for member, fields in _FIELDS_OF_COMPONENT.items()
        if any(_fields_differ(spec, written_file.reread_spec, field) for field in fields)
    ]
    if outdated_members and extra.get("document"):
        written_file = _assemble_file(spec, _with_written_members(spec, document, outdated_members))
    companions = config_write.files(spec, written_file.reread_spec.names)
    reread_spec = written_file.reread_spec
    if companions:
        reread_spec = read(written_file.data, ReadOptions(name=spec.origin.name, siblings=companions))
    reread_spec = replace(reread_spec, extra=_comparable_extra(spec, reread_spec))
    return with_losses(spec, written_file.data, reread_spec, companions=companions)


def _comparable_extra(spec: Spec, reread_spec: Spec) -> Mapping[str, Any]:
    """Returns the extra data to compare with the Spec's. The document itself is not compared."""
    return {**reread_spec.extra, name: spec.extra[name]} if name in spec.extra else reread_spec.extra


def _has_same_scores(spec: Spec, reread_spec: Spec) -> bool:
    return "scores" not in spec.extra.get(name, {}) or _same_column(spec, reread_spec, "scores")


def _same_column(spec: Spec, reread_spec: Spec, name: str) -> bool:
    return buffer(spec.vocab, name) == buffer(reread_spec.vocab, name)


def _fields_differ(spec: Spec, reread_spec: Spec, field: str) -> bool:
    if field == "vocab":
        return not _same_column(spec, reread_spec, "kinds")
    return bool(getattr(spec, field) != getattr(reread_spec, field))


def _with_written_members(spec: Spec, document: Mapping[str, Json], members: Any) -> dict[str, Json]:
    """Replaces these members of the document with JSON that is written from the Spec."""
    split = (*spec.split, ByteLevel()) if merges_bytes(spec.model) else spec.split
    writers = {
        "added_tokens": lambda: added_tokens.write(spec.special),
        "normalizer": lambda: normalizers.write(_without_invalid_repair(spec.normalize)),
        "pre_tokenizer": lambda: pre_tokenizers.write(split),
        "post_processor": lambda: post_processors.write(spec.post, spec.trim, _template_texts(spec)),
        "decoder": lambda: decoders.write(_decode_steps(spec.decode)),
        "model": lambda: models.write(spec),
    }
    return {**document, **{member: writers[member]() for member in members}}


def _without_invalid_repair(normalize: tuple[NormalizeStep, ...]) -> tuple[NormalizeStep, ...]:
    return normalize[1:] if normalize[:1] == (ReplaceInvalid(),) else normalize


def _decode_steps(decode: Decode) -> decoders.Steps | None:
    if isinstance(decode, BytesDecode):
        return (ByteLevelDecode(),)
    if isinstance(decode, ChainDecode):
        return decode.steps
    raise FormatError(f"the package tokenizers has no decoder of the kind {decode.kind!r}")


def _template_texts(spec: Spec) -> dict[int, str]:
    """Maps each id in the template to its text."""
    template_ids = {id for part in (*spec.post.single, *spec.post.pair) for id in getattr(part, "ids", ())}
    texts = {token.id: token.text for token in spec.special if token.id in template_ids}
    for row, id in enumerate(buffer(spec.vocab, "ids").tolist()):
        if id in template_ids:
            texts.setdefault(id, spec.vocab.piece(row).decode(errors="replace"))
    return texts


def _assemble_file(spec: Spec, document: Mapping[str, Json]) -> _WrittenFile:
    """Joins a document and the Spec's columns to a file, and reads the file back."""
    merges = spec.model.merges if isinstance(spec.model, Bpe) else None
    extra = spec.extra.get(name, {})
    merges_are_pairs, score_bytes = extra.get("pairs", True), extra.get("scores")
    scores = None if score_bytes is None else memoryview(score_bytes).cast("d")
    vocab, merges_json = _core.huggingface_write(
        _vocab_with_file_scores(spec), merges, scores, merges_bytes(spec.model), merges_are_pairs, 2
    )
    columns = {"vocab": vocab, **({"merges": merges_json} if merges is not None else {})}
    members = {member: _indented_json(value, 1) for member, value in document.items() if member != "model"}
    model = {field: _indented_json(value, 2) for field, value in document["model"].items()}
    members["model"] = _object_json({**model, **columns}, 1)
    data = _object_json(members, 0).encode()
    return _WrittenFile(data, read(data, ReadOptions(name=spec.origin.name)))


def _vocab_with_file_scores(spec: Spec) -> Vocab:
    """Converts the scores to those in the file: float64 for Unigram, whose vocabulary is a list; otherwise none."""
    vocab = spec.vocab
    if spec.model.kind == "unigram":
        return replace(vocab, scores=column_of("d", buffer(vocab, "scores").tolist()))
    return replace(vocab, scores=column_of("f", bytes(4 * len(vocab))))


def _indented_json(value: Json, level: int) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n" + "  " * level)


def _object_json(members: Mapping[str, str], level: int) -> str:
    indent = "  " * level
    lines = ",\n".join(f"{indent}  {json.dumps(key, ensure_ascii=False)}: {value}" for key, value in members.items())
    return f"{{\n{lines}\n{indent}}}"
