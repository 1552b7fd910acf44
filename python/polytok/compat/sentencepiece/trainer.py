"""SentencePieceTrainer: polytok's trainers of SentencePiece's models, with SentencePiece's options."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

from ... import conversion
from ...errors import ArgumentError, FileError
from ...records import replace
from ...spec import Spec
from ...training import specs
from ...training.sentencepiece import vocab_text
from ...training.sentencepiece.options import SentencePieceOptions
from .lines import is_old, line
from .names import with_snake_case
from .processor import is_true

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
                _train(_flags(arg), None, None)
            else:
                reader = kwargs.pop("sentence_iterator", None) or kwargs.pop("sentence_reader", None)
                writer = kwargs.pop("model_writer", None)
                _refuse_others(kwargs)
                _train({name: _as_text(value) for name, value in kwargs.items()}, reader, writer)
        finally:
            if logstream is not None:
                logstream.close() if is_old() else logstream.flush()


def _refuse_others(kwargs: dict[str, Any]) -> None:
    if kwargs.pop("pretokenizer", None) is not None:
        raise RuntimeError(
            "UNIMPLEMENTED: polytok has no pretokenizer=: mark places in the texts, and give pretokenization_delimiter="
        )
    kwargs.pop("allow_inconsistent_pretokenization", None)
    if kwargs.pop("normalizer", None) is not None:
        raise RuntimeError("UNIMPLEMENTED: polytok has no normalizer=: give normalization_rule_name= or _rule_tsv=")


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


def _train(texts: Mapping[str, str], reader: Iterable[str | bytes] | None, writer: Any) -> None:
    options, recorded, other = _sorted_options(texts)
    paths = _list_of(other.get("input", ""))
    if (reader is None) != bool(paths):
        raise RuntimeError("INTERNAL: SentenceIterator and trainer_spec.input() must be exclusive.")
    prefix = other.get("model_prefix", "")
    if writer is None and not prefix:
        raise RuntimeError("INTERNAL: model_prefix or model_writer is needed: polytok has nowhere to write the model")
    kind = other.get("model_type", "unigram").lower()
    if kind not in _KINDS:
        raise RuntimeError(f'INVALID_ARGUMENT: unknown enumeration value of "{kind}" as ModelType.')
    spec = _trained(_KINDS[kind], [Path(path) for path in paths] if reader is None else _sentences(reader), options)
    spec = _with_records(
        spec, {**recorded, "input": tuple(path.encode() for path in paths), "model_prefix": prefix.encode()}
    )
    data = conversion.write(spec, "sentencepiece").data
    if writer is not None:
        writer.write(data)
        return
    Path(f"{prefix}.model").write_bytes(data)
    Path(f"{prefix}.vocab").write_bytes(vocab_text(spec, scores=options.get("vocabulary_output_piece_score", True)))


def _trained(kind: Any, inputs: Any, options: dict[str, Any]) -> Spec:
    is_file = isinstance(inputs, list)
    if is_file:
        for path in inputs:
            if not path.is_file():
                raise OSError(f'Not found: "{path}"') if is_old() else RuntimeError(f'NOT_FOUND: "{path}"')
    options = {"vocab_size": 8000, **options}
    try:
        [spec] = specs(
            inputs,
            kind,
            profile="sentencepiece",
            sentencepiece_version=line(),
            sentences="lines" if is_file else "items",
            bad_bytes="replace",
            **options,
        )
    except (ArgumentError, FileError) as error:
        raise RuntimeError(f"INTERNAL: {error}") from error
    return spec


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


def _with_records(spec: Spec, values: Mapping[str, Any]) -> Spec:
    """Returns a Spec whose file has more fields of the trainer, which have no effect on the tokenizer."""
    own = dict(spec.extra.get("sentencepiece", {}))
    own["trainer_spec"] = {**own.get("trainer_spec", {}), **{name: value for name, value in values.items() if value}}
    return replace(spec, extra={**spec.extra, "sentencepiece": own})
