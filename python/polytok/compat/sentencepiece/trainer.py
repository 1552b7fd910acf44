"""SentencePieceTrainer: polytok's trainers of SentencePiece's models, with SentencePiece's options."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ... import conversion
from ...errors import ArgumentError, FileError
from ...records import replace
from ...spec import Spec
from ...training import specs
from ...training.sentencepiece import vocab_text
from ...training.sentencepiece.assembly import build_spec
from ...training.sentencepiece.meta import reserved_pieces
from ...training.sentencepiece.normalization import create_denormalizer, create_normalizer
from ...training.sentencepiece.options import SentencePieceOptions, resolve_options
from .inputs import is_true
from .lines import is_old, line
from .names import with_snake_case
from .normalizer import SentencePieceNormalizer
from .pretokenizing import Pretokenizer, divided, lines_of, plain_options

_KINDS = {"unigram": "unigram", "bpe": "sentencepiece-bpe", "word": "word", "char": "char"}
_OWN_OPTIONS = (
    "profile",
    "sentencepiece_version",
    "sentences",
    "tsv",
    "precompiled_charsmap",
    "bos",
    "eos",
    "pad",
    "unk",
)
_TYPES = {
    field.name: str(field.type).partition(" ")[0]
    for field in fields(SentencePieceOptions)
    if field.name not in _OWN_OPTIONS
}
_RECORDED = ("accept_language", "train_extremely_large_corpus", "mining_sentence_size", "training_sentence_size")
"""Options that have no effect on the pieces, and that the file records."""
_CSV_VALUE = re.compile(r'(?:^|,)(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^,]*))', re.DOTALL)
_IGNORED = ("minloglevel",)
_NORMALIZER_OPTIONS = (
    "normalization_rule_name",
    "normalization_rule_tsv",
    "add_dummy_prefix",
    "escape_whitespaces",
    "remove_extra_whitespaces",
    "name",
    "precompiled_charsmap",
)
_PRIVACY = (
    "enable_differential_privacy",
    "differential_privacy_noise_level",
    "differential_privacy_clipping_threshold",
)


@with_snake_case
class SentencePieceTrainer:
    """sentencepiece.SentencePieceTrainer. Training writes no log."""

    @staticmethod
    def Train(arg: str | None = None, logstream: IO[Any] | None = None, **kwargs: Any) -> None:
        """Trains a model from keywords, or from the flags of spm_train in one text."""
        try:
            if isinstance(arg, str):
                _train(_flags(arg), None, None, _Objects())
            else:
                reader = kwargs.pop("sentence_iterator", None) or kwargs.pop("sentence_reader", None)
                writer = kwargs.pop("model_writer", None)
                callables = _popped_objects(kwargs)
                _train({name: _as_text(value) for name, value in kwargs.items()}, reader, writer, callables)
        finally:
            if logstream is not None:
                logstream.close() if is_old() else logstream.flush()


class _Objects(NamedTuple):
    """The options that are objects, not texts; only 0.2.3 has them."""

    pretokenizer: Pretokenizer | None = None
    allows_others: bool = False
    normalizer: SentencePieceNormalizer | None = None


def _popped_objects(kwargs: dict[str, Any]) -> _Objects:
    if is_old():
        return _Objects()
    return _Objects(
        kwargs.pop("pretokenizer", None),
        bool(kwargs.pop("allow_inconsistent_pretokenization", False)),
        kwargs.pop("normalizer", None) or None,
    )


def _as_text(value: Any) -> str:
    """Returns a value as SentencePiece receives it: lists as a line of comma-separated values."""
    if not isinstance(value, list):
        return str(value)
    lines: list[str] = []
    csv.writer(_Lines(lines), lineterminator="").writerow([str(item) for item in value])
    return "".join(lines)


class _Lines:
    """A file that keeps what is written."""

    def __init__(self, lines: list[str]) -> None:
        self.write = lines.append


def _flags(text: str) -> dict[str, str]:
    """Returns the flags in a text: ``--name=value``, separated by spaces."""
    flags: dict[str, str] = {}
    for word in text.split(" "):
        if word:
            name, has_value, value = word.removeprefix("--").partition("=")
            flags[name] = value if has_value else "true"
    return flags


def _train(texts: Mapping[str, str], reader: Iterable[str | bytes] | None, writer: Any, objects: _Objects) -> None:
    if objects.normalizer is not None:
        _refuse_normalizer_options(texts)
    options, recorded, other = _sorted_options(texts)
    if objects.normalizer is not None:
        options.update(_options_of(objects.normalizer))
    paths = _list_of(other.get("input", ""))
    if (reader is None) != bool(paths):
        raise RuntimeError("INTERNAL: SentenceIterator and trainer_spec.input() must be exclusive.")
    prefix = other.get("model_prefix", "")
    if writer is None and not prefix:
        raise RuntimeError("INTERNAL: model_prefix or model_writer is needed: polytok has nowhere to write the model")
    kind = other.get("model_type", "unigram").lower()
    if kind not in _KINDS:
        raise RuntimeError(f'INVALID_ARGUMENT: unknown enumeration value of "{kind}" as ModelType.')
    inputs = [Path(path) for path in paths] if reader is None else _sentences(reader)
    spec = _trained(_KINDS[kind], inputs, {"vocab_size": 8000, **options}, objects)
    if objects.normalizer is not None:
        spec = _with_normalizer_fields(spec, objects.normalizer)
    if "model_type" not in texts:
        spec = _without_model_type(spec)
    spec = _with_records(
        spec, {**recorded, "input": tuple(path.encode() for path in paths), "model_prefix": prefix.encode()}
    )
    data = conversion.write(spec, "sentencepiece").data
    if writer is not None:
        writer.write(data)
        return
    Path(f"{prefix}.model").write_bytes(data)
    Path(f"{prefix}.vocab").write_bytes(vocab_text(spec, scores=options.get("vocabulary_output_piece_score", True)))


def _trained(kind: Any, inputs: Any, options: dict[str, Any], objects: _Objects) -> Spec:
    is_file = isinstance(inputs, list)
    if is_file:
        for path in inputs:
            if not path.is_file():
                raise OSError(f'Not found: "{path}"') if is_old() else RuntimeError(f'NOT_FOUND: "{path}"')
    try:
        if objects.pretokenizer is None:
            return _spec(kind, inputs, options, is_file)
        if kind not in ("unigram", "sentencepiece-bpe"):
            raise RuntimeError("INTERNAL: PretokenizerForTraining is only supported in UNIGRAM or BPE mode.")
        model = "unigram" if kind == "unigram" else "bpe"
        lines = lines_of(inputs) if is_file else inputs
        sentences = divided(lines, model, options, objects.pretokenizer, objects.allows_others)
        spec = _spec(kind, sentences, plain_options(options), is_file=False)
        return _as_if_trained_with(options, spec, model)
    except (ArgumentError, FileError) as error:
        raise RuntimeError(f"INTERNAL: {error}") from error


def _spec(kind: Any, inputs: Any, options: dict[str, Any], is_file: bool) -> Spec:
    [spec] = specs(
        inputs,
        kind,
        profile="sentencepiece",
        sentencepiece_version=line(),
        sentences="lines" if is_file else "items",
        bad_bytes="replace",
        **options,
    )
    return spec


def _as_if_trained_with(options: dict[str, Any], spec: Spec, model: str) -> Spec:
    """Returns the Spec with the normalizer and the recorded fields of other options, and the same pieces."""
    resolved, explicit_names = resolve_options(
        {"profile": "sentencepiece", "sentencepiece_version": line(), **options}, model
    )
    pieces = spec.vocab.pieces()
    reserved_by_id = reserved_pieces(resolved, model)
    trained = [id for id in range(len(pieces)) if id not in reserved_by_id]
    return build_spec(
        resolved,
        explicit_names,
        model,
        reserved_by_id,
        [pieces[id] for id in trained],
        spec.vocab.scores[trained].astype(np.float32),
        create_normalizer(resolved),
        create_denormalizer(resolved),
    )


def _refuse_normalizer_options(texts: Mapping[str, str]) -> None:
    for name in _NORMALIZER_OPTIONS:
        if name in texts:
            raise ValueError(
                f"INVALID_ARGUMENT: Cannot specify both normalizer and normalizer-specific argument: {name}"
            )


def _options_of(normalizer: SentencePieceNormalizer) -> dict[str, Any]:
    """Returns the options that a normalizer stands for."""
    fields = normalizer.fields
    if fields.get("normalization_rule_tsv"):
        raise RuntimeError("INTERNAL: precompiled_charsmap is already defined.")
    if not fields.get("escape_whitespaces", True):
        raise RuntimeError("INTERNAL: a trainer needs a normalizer with escape_whitespaces=True")
    flags: dict[str, Any] = {
        name: fields[name] for name in ("add_dummy_prefix", "remove_extra_whitespaces") if name in fields
    }
    if charsmap := fields.get("precompiled_charsmap"):
        return {**flags, "precompiled_charsmap": charsmap}
    return {**flags, "normalization_rule_name": fields.get("name", b"nmt_nfkc").decode()}


def _with_normalizer_fields(spec: Spec, normalizer: SentencePieceNormalizer) -> Spec:
    """Returns a Spec whose file has the name of a normalizer, and the flags that it sets to their defaults."""
    own = dict(spec.extra.get("sentencepiece", {}))
    fields = {"name": b"nmt_nfkc", **normalizer.fields}
    texts = {name: fields[name] for name in ("name", "normalization_rule_tsv") if name in fields}
    own["normalizer_spec"] = {**own.get("normalizer_spec", {}), **texts}
    if fields.get("escape_whitespaces"):
        own["written_defaults"] = (*own.get("written_defaults", ()), "normalizer_spec.escape_whitespaces")
    return replace(spec, extra={**spec.extra, "sentencepiece": own})


def _sentences(reader: Iterable[str | bytes]) -> Iterator[bytes]:
    for sentence in reader:
        if not isinstance(sentence, (str, bytes)):
            raise (RuntimeError if is_old() else ValueError)("INVALID_ARGUMENT: Iterator must return str or bytes.")
        yield sentence.encode("utf-8") if isinstance(sentence, str) else sentence


def _sorted_options(texts: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Returns the options of training, those that the file only records, and those of the files."""
    options: dict[str, Any] = {}
    recorded: dict[str, Any] = {}
    other: dict[str, str] = {}
    for name, text in texts.items():
        if name in _TYPES:
            options[name] = _value(name, text)
        elif name == "input_format":
            options["tsv"] = text == "tsv"
            if text not in ("", "text", "tsv"):
                raise RuntimeError(f"INTERNAL: Supported formats are 'text' and 'tsv', not {text!r}.")
            recorded[name] = text.encode()
        elif name in ("input", "model_prefix", "model_type"):
            other[name] = text
        elif name in _RECORDED:
            recorded[name] = _recorded_value(name, text)
        elif name in _PRIVACY:
            raise RuntimeError(f"UNIMPLEMENTED: polytok has no differential privacy: train without {name}")
        elif name not in _IGNORED:
            raise RuntimeError(f'NOT_FOUND: unknown field name "{name}" in TrainerSpec.')
    return options, recorded, other


def _value(name: str, text: str) -> Any:
    """Returns the value of an option from its text."""
    kind = _TYPES[name]
    try:
        if kind in ("int", "float"):
            return int(text) if kind == "int" else float(text)
    except ValueError as error:
        raise RuntimeError(f'INVALID_ARGUMENT: cannot parse "{text}" as {kind} of {name}.') from error
    if kind == "bool":
        return is_true(text)
    return tuple(_list_of(text)) if kind == "Symbols" else text


def _recorded_value(name: str, text: str) -> Any:
    if name == "accept_language":
        return tuple(item.encode() for item in _list_of(text))
    return is_true(text) if name == "train_extremely_large_corpus" else int(text)


def _list_of(text: str) -> list[str]:
    """Returns the values of a line of comma-separated values, which can contain line ends in quotes.

    >>> _list_of('a,"b,c"')
    ['a', 'b,c']
    """
    if not text:
        return []
    values = [match["quoted"] or match["plain"] or "" for match in _CSV_VALUE.finditer(text)]
    return [value.replace('""', '"') for value in values]


def _without_model_type(spec: Spec) -> Spec:
    """Returns a Spec whose file does not have the default type of a model, which was not given."""
    own = dict(spec.extra.get("sentencepiece", {}))
    written = own.pop("written_defaults", ())
    kept = tuple(name for name in written if name != "trainer_spec.model_type")
    return replace(spec, extra={**spec.extra, "sentencepiece": {**own, **({"written_defaults": kept} if kept else {})}})


def _with_records(spec: Spec, values: Mapping[str, Any]) -> Spec:
    """Returns a Spec whose file has more fields of the trainer, which have no effect on the tokenizer."""
    own = dict(spec.extra.get("sentencepiece", {}))
    own["trainer_spec"] = {**own.get("trainer_spec", {}), **{name: value for name, value in values.items() if value}}
    return replace(spec, extra={**spec.extra, "sentencepiece": own})
