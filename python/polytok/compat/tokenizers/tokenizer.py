"""`Tokenizer` of tokenizers 0.23, over polytok's."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...columns import buffer
from ...encoding import Encoding as PolytokEncoding
from ...encoding import tokens_to_keep
from ...errors import EncodeError, PolytokError, SpecError
from ...formats.huggingface import ModelColumns, spec_of
from ...lengths import Padding, Truncation
from ...loading import load
from ...options import Options
from ...records import replace
from ...spec import Insert, Origin
from ...tokenizer import Tokenizer as Engine
from . import alone, decoders
from .added_token import AddedToken, added_token
from .arguments import boolean, id_list, id_number, optional_unsigned, text
from .changed_ids import ChangedIds, changed_ids
from .component import CHANGES, Component, component_of, component_of_json
from .encoding import Columns, Encoding, encoding_of, encoding_of_columns
from .inputs import items_of, text_and_pair, text_of, words_and_pair, words_of
from .lengths import (
    check_stride,
    padding_attribute,
    padding_json,
    padding_of,
    truncation_attribute,
    truncation_json,
    truncation_of,
)
from .models import BPE, Model, model_of_file
from .normalizers import Normalizer
from .pre_tokenizers import PreTokenizer
from .processing import process
from .processors import PostProcessor
from .representation import represent
from .steps import StepEncoder, Steps
from .trainers import Trainer, default_trainer, trainer_of
from .training import count_words, texts_of, texts_of_files
from .vocabulary import AddedTokens

_FAMILIES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_TOKEN_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class _Compiled:
    """What encoding needs, compiled from one state of a `Tokenizer`."""

    __slots__ = ("changed_ids", "encoding", "engine", "in_python", "options", "steps", "template_lengths")

    def __init__(
        self,
        engine: Engine,
        plain: frozenset[str] | None,
        changed_ids: ChangedIds | None = None,
        in_python: bool = False,
        steps: StepEncoder | None = None,
    ) -> None:
        """``plain`` has the added tokens to recognize; None for all of them.

        ``in_python`` says that a component is in Python, which the engine cannot run; ``steps`` then encodes.
        """
        self.engine = engine
        self.in_python, self.steps = in_python, steps
        self.changed_ids = changed_ids
        self.encoding = engine.encoding
        special: Any = "all" if plain is None else plain
        # By add_special_tokens.
        self.options = (Options(special=special), Options(add_special=True, special=special))
        post = engine.spec.post
        self.template_lengths = tuple(
            sum(len(part.ids) for part in parts if isinstance(part, Insert)) for parts in (post.single, post.pair)
        )


class _Engine(NamedTuple):
    """An engine, and what it was compiled from: the JSON of all components except the model, the added tokens, and the
    model's columns."""

    document: Mapping[str, Any]
    added: AddedTokens
    columns: ModelColumns
    engine: Engine
    changed_ids: ChangedIds | None


class Tokenizer:
    """A tokenizer of five components and added tokens: tokenizers.Tokenizer.

    It is compiled to a `polytok.Tokenizer` when it is first used after a change.
    """

    _document: Mapping[str, Any]
    _parts: dict[str, Any]
    _added: AddedTokens
    _truncation: Truncation | None
    _padding: Padding | None
    _compiled: _Compiled | None
    _sizes: tuple[int, int, int] | None
    _changes: int
    """The value of `CHANGES` at which the tokenizer was compiled."""
    _engine: _Engine | None

    def __init__(self, model: Model) -> None:
        self._set_empty()
        self._parts = {**dict.fromkeys(_FAMILIES), "model": component_of(Model, model)}

    def _set_empty(self) -> None:
        self._document, self._parts, self._added = {}, {}, AddedTokens()
        self._truncation = self._padding = self._compiled = self._sizes = None
        self._engine, self._changes = None, CHANGES[0]
        self._encode_special_tokens = False

    # Reading and writing

    @staticmethod
    def from_str(json: str) -> Tokenizer:
        """Reads a tokenizer.json."""
        tokenizer = Tokenizer.__new__(Tokenizer)
        try:
            tokenizer._read(text(json).encode())
        except ValueError as error:
            raise _error(error) from None
        return tokenizer

    @staticmethod
    def from_buffer(buffer: bytes) -> Tokenizer:
        """Reads the bytes of a tokenizer.json."""
        tokenizer = Tokenizer.__new__(Tokenizer)
        try:
            tokenizer._read(bytes(buffer))
        except ValueError as error:
            raise ValueError(f"Cannot instantiate Tokenizer from buffer: {error}") from None
        return tokenizer

    @staticmethod
    def from_file(path: str) -> Tokenizer:
        """Reads the file tokenizer.json."""
        tokenizer = Tokenizer.__new__(Tokenizer)
        try:
            with open(text(path), "rb") as file:
                tokenizer._read(file.read())
        except OSError as error:
            raise _error(f"{error.strerror} (os error {error.errno})") from None
        except ValueError as error:
            raise _error(error) from None
        return tokenizer

    @staticmethod
    def from_pretrained(identifier: str, revision: str = "main", token: str | None = None) -> Tokenizer:
        """Reads the tokenizer.json of a repository of the Hugging Face hub, with the package huggingface_hub."""
        from huggingface_hub import hf_hub_download

        return Tokenizer.from_file(hf_hub_download(identifier, "tokenizer.json", revision=revision, token=token))

    def _read(self, data: bytes) -> None:
        self._set_empty()
        template: dict[str, Any] = {}
        try:
            engine = load(data, format="huggingface")
        except SpecError:  # the ids of a template need not be entries before the tokenizer encodes
            document = json.loads(data)
            template = {"post_processor": document.get("post_processor")}
            data = json.dumps({**document, "post_processor": None}).encode()
            engine = load(data, format="huggingface")
        spec = engine.spec
        self._document = {**spec.extra["huggingface"]["document"], **template}
        read_model = functools.partial(_model_json, data, spec.vocab.scores)
        name = type(spec.model).__name__.replace("Bpe", "BPE")
        self._parts["model"] = model_of_file(name, data, read_model, self._document.get("model"))
        for special_token in spec.special:
            flags = {name: getattr(special_token, name) for name in _TOKEN_FLAGS}
            self._added.set(special_token.id, AddedToken(special_token.text, **flags))
        if (truncation := self._document.get("truncation")) is not None:
            self._truncation = Truncation.from_json(truncation)
        if (padding := self._document.get("padding")) is not None:
            self._padding = Padding.from_json(padding)
        size = len(spec.vocab)
        if any(token.id >= size for token in spec.special) and max(buffer(spec.vocab, "ids"), default=0) >= size:
            self._compile()  # the ids have gaps, so that an added token can have the id of an entry
        else:
            self._compiled = None if template else _Compiled(engine, None)

    def _json(self) -> dict[str, Any]:
        """Returns the tokenizer.json."""
        truncation, padding = self._truncation, self._padding
        return {
            "version": "1.0",
            "truncation": None if truncation is None else truncation_json(truncation),
            "padding": None if padding is None else padding_json(padding),
            "added_tokens": self._added.json(),
            **self._components_json((*_FAMILIES, "model")),
        }

    def _components_json(self, families: Iterable[str]) -> dict[str, Any]:
        """Returns the JSON of the components of some families."""
        return {family: None if (part := self._part(family)) is None else part.json() for family in families}

    def to_str(self, pretty: bool = False) -> str:
        """Returns the tokenizer.json as text."""
        if boolean(pretty):
            return json.dumps(self._json(), ensure_ascii=False, indent=2)
        return json.dumps(self._json(), ensure_ascii=False, separators=(",", ":"))

    def save(self, path: str, pretty: bool = True) -> None:
        """Writes the file tokenizer.json."""
        data = self.to_str(pretty)
        try:
            with open(text(path), "w", encoding="utf-8") as file:
                file.write(data)
        except OSError as error:
            raise _error(f"{error.strerror} (os error {error.errno})") from None

    # Compiling

    def _compile(self) -> _Compiled:
        """Compiles the components as they are now."""
        changes = CHANGES[0]
        in_python = [part for part in _FAMILIES if (own := self._part(part)) is not None and own.in_python()]
        try:
            engine = self._current_engine(in_python)
        except ValueError as error:
            raise _error(error) from None
        steps = None
        if "normalizer" in in_python or "pre_tokenizer" in in_python:
            steps = StepEncoder(self._steps(), alone.model_tokenizer(self.model.__getstate__()))
        compiled = _Compiled(engine.engine, self._plain_texts(), engine.changed_ids, bool(in_python), steps)
        self._compiled, self._changes = compiled, changes
        return compiled

    def _current_engine(self, left_out: Iterable[str]) -> _Engine:
        """Returns the engine for the components as they are now, without those of some families.

        The model is read again only if it was changed, and the engine is compiled again only if anything was.
        """
        families = [family for family in _FAMILIES if family not in left_out]
        document = json.loads(json.dumps(self._components_json(families)))
        added, columns, old = self._added, self.model.columns(), self._engine
        if old is not None and (old.document, old.added) == (document, added) and old.columns is columns:
            return old
        members = {**document, "added_tokens": added.engine_json(), "model": columns.json}
        spec = spec_of(members, columns.vocab, columns.merges)
        spec = replace(spec, origin=Origin("huggingface"), extra={"huggingface": {"document": members, "pairs": True}})
        ids = None
        if (changed := changed_ids(spec, added, columns)) is not None:
            spec, ids = changed
        self._engine = engine = _Engine(document, added.copy(), columns, Engine(spec), ids)
        return engine

    def _steps(self) -> Steps:
        """Returns the steps before the model."""
        parts = self._part("normalizer"), self._part("pre_tokenizer")
        return Steps(*parts, self._added, self._encode_special_tokens)

    def _plain_texts(self) -> frozenset[str] | None:
        """Returns the texts of the added tokens to recognize; None for all of them."""
        return self._added.plain_texts() if self._encode_special_tokens else None

    def _current(self) -> _Compiled:
        compiled = self._compiled
        return compiled if compiled is not None and self._changes == CHANGES[0] else self._compile()

    def _refuse_samples(self) -> None:
        if self._samples():
            raise NotImplementedError(
                "the model samples segmentations (dropout, alpha), but polytok always returns the best one; "
                "set model.dropout or model.alpha to None, or sample with polytok.Tokenizer"
            )

    def _samples(self) -> bool:
        """Reports whether the model of the original would segment a text in another way each time."""
        model = self._parts["model"]
        if model.is_unread:
            return bool(self._document["model"].get("dropout"))
        return bool(getattr(model, "dropout", None) or getattr(model, "alpha", None))

    def _part(self, family: str) -> Any:
        if family not in self._parts:
            value = self._document.get(family)
            self._parts[family] = None if value is None else component_of_json(family, value)
        return self._parts[family]

    def _set_part(self, family: str, value: object, cls: type[Component]) -> None:
        self._parts[family] = None if value is None else component_of(cls, value)
        self._compiled = self._sizes = None

    @property
    def model(self) -> Any:
        return self._parts["model"]

    @model.setter
    def model(self, model: Model) -> None:
        self._set_part("model", component_of(Model, model), Model)

    @property
    def normalizer(self) -> Any:
        return self._part("normalizer")

    @normalizer.setter
    def normalizer(self, normalizer: Normalizer | None) -> None:
        self._set_part("normalizer", normalizer, Normalizer)

    @property
    def pre_tokenizer(self) -> Any:
        return self._part("pre_tokenizer")

    @pre_tokenizer.setter
    def pre_tokenizer(self, pretok: PreTokenizer | None) -> None:
        self._set_part("pre_tokenizer", pretok, PreTokenizer)

    @property
    def post_processor(self) -> Any:
        return self._part("post_processor")

    @post_processor.setter
    def post_processor(self, processor: PostProcessor | None) -> None:
        self._set_part("post_processor", processor, PostProcessor)

    @property
    def decoder(self) -> Any:
        return self._part("decoder")

    @decoder.setter
    def decoder(self, decoder: decoders.Decoder | None) -> None:
        self._set_part("decoder", decoder, decoders.Decoder)

    @property
    def encode_special_tokens(self) -> bool:
        return self._encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        if boolean(value) != self._encode_special_tokens:
            self._encode_special_tokens = value
            if (compiled := self._compiled) is not None:
                is_by_steps = compiled.in_python  # which depend on the setting
                self._compiled = (
                    None if is_by_steps else _Compiled(compiled.engine, self._plain_texts(), compiled.changed_ids)
                )

    # Truncation and padding, which stay set

    @property
    def truncation(self) -> dict[str, Any] | None:
        return None if self._truncation is None else truncation_attribute(self._truncation)

    def enable_truncation(self, max_length: int, **kwargs: Any) -> None:
        truncation = truncation_of(max_length, kwargs)
        check_stride(truncation, self.num_special_tokens_to_add(False))
        self._truncation = truncation

    def no_truncation(self) -> None:
        self._truncation = None

    @property
    def padding(self) -> dict[str, Any] | None:
        return None if self._padding is None else padding_attribute(self._padding)

    def enable_padding(self, **kwargs: Any) -> None:
        self._padding = padding_of(kwargs)

    def no_padding(self) -> None:
        self._padding = None

    # Encoding

    def encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        read = words_of if boolean(is_pretokenized) else text_of
        sequence = read(sequence)
        if pair is not None:
            pair = read(pair)
        compiled = self._current()
        if compiled.steps is not None:
            columns = self._by_steps(compiled.steps, sequence, pair, is_pretokenized, boolean(add_special_tokens))
            return self._of_columns([columns])[0]
        encoding = self._encode(compiled, sequence, pair, is_pretokenized, boolean(add_special_tokens))
        if compiled.changed_ids is not None:
            return self._restored([encoding], compiled.changed_ids)[0]
        if (padding := self._padding) is not None:
            encoding = encoding.padded(padding.target([encoding]), padding)
        return encoding_of(encoding)

    def _by_steps(
        self, steps: StepEncoder, sequence: Any, pair: Any, is_pretokenized: bool, add_special_tokens: bool
    ) -> Columns:
        """Returns the encoding of a tokenizer with a component in Python, not yet padded."""
        self._refuse_samples()
        sequences = [sequence] if pair is None else [sequence, pair]
        try:
            texts = [steps.columns(text, index, is_pretokenized) for index, text in enumerate(sequences)]
        except EncodeError as error:
            raise self.model.encoding_error(error) from error
        return self._post_processed(texts, add_special_tokens)

    def _restored(self, encodings: list[PolytokEncoding], ids: ChangedIds) -> list[Encoding]:
        """Returns encodings with their ids changed, and padded."""
        return self._of_columns([ids.restore(Columns(encoding)) for encoding in encodings])

    def _of_columns(self, rows: list[Columns]) -> list[Encoding]:
        """Returns encodings with these lists, padded."""
        self._pad_columns(rows)
        return [encoding_of_columns(columns) for columns in rows]

    def _pad_columns(self, rows: list[Columns]) -> None:
        if (padding := self._padding) is not None:
            length = padding.target([columns.ids for columns in rows])
            for columns in rows:
                columns.pad(length, (padding.id, padding.type_id, padding.token), padding.direction == "left")

    def _encode(
        self, compiled: _Compiled, sequence: Any, pair: Any, is_pretokenized: bool, add_special_tokens: bool
    ) -> PolytokEncoding:
        """Returns polytok's encoding, not yet padded."""
        self._refuse_samples()
        truncation = self._truncation
        template_length = compiled.template_lengths[pair is not None] if add_special_tokens else 0
        if truncation is not None and truncation.max_length < template_length:
            truncation = None  # the original's subtraction wraps around here, so it does not truncate
        try:
            return compiled.encoding(
                sequence,
                pair,
                options=compiled.options[add_special_tokens],
                pretokenized=is_pretokenized,
                truncation=truncation,
            )
        except EncodeError as error:
            raise self.model.encoding_error(error) from error

    def encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        compiled = self._current()
        if not isinstance(input, (list, tuple)):
            input = items_of(input)
        split = words_and_pair if boolean(is_pretokenized) else text_and_pair
        boolean(add_special_tokens)
        items = [split(item) for item in input]
        if compiled.steps is not None:
            arguments = is_pretokenized, add_special_tokens
            return self._of_columns([self._by_steps(compiled.steps, *item, *arguments) for item in items])
        encodings = [self._encode(compiled, text, pair, is_pretokenized, add_special_tokens) for text, pair in items]
        if compiled.changed_ids is not None:
            return self._restored(encodings, compiled.changed_ids)
        if (padding := self._padding) is not None:
            length = padding.target(encodings)
            encodings = [encoding.padded(length, padding) for encoding in encodings]
        return [encoding_of(encoding) for encoding in encodings]

    def encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        return self.encode_batch(input, is_pretokenized, add_special_tokens)

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Truncates, processes and pads existing encodings."""
        texts = [part.columns().copy() for part in (encoding, pair) if part is not None]
        return self._of_columns([self._post_processed(texts, boolean(add_special_tokens))])[0]

    def _post_processed(self, texts: list[Columns], add_special_tokens: bool) -> Columns:
        """Truncates and processes the tokens of one or two texts."""
        is_pair = len(texts) > 1
        if (truncation := self._truncation) is not None:
            added = self.num_special_tokens_to_add(is_pair) if add_special_tokens else 0
            if truncation.max_length >= added:
                lengths = tokens_to_keep(
                    [len(part.ids) for part in texts], truncation.max_length - added, truncation.strategy
                )
                texts = [
                    part.truncated(length, truncation.stride, truncation.direction == "left")
                    for part, length in zip(texts, lengths, strict=True)
                ]
        return process(self._part("post_processor"), texts, add_special_tokens)

    async def async_encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        return await asyncio.to_thread(self.encode, sequence, pair, is_pretokenized, add_special_tokens)

    async def async_encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        return await asyncio.to_thread(self.encode_batch, input, is_pretokenized, add_special_tokens)

    async def async_encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        return await asyncio.to_thread(self.encode_batch_fast, input, is_pretokenized, add_special_tokens)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        processor = self._part("post_processor")
        return 0 if processor is None else int(processor.num_special_tokens_to_add(boolean(is_pair)))

    # Decoding

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        compiled = self._current()
        engine = compiled.engine
        if compiled.in_python:
            return self._decode_by_steps(id_list(ids), boolean(skip_special_tokens))
        if compiled.changed_ids is not None:
            known_ids = compiled.changed_ids.of_engine(id_list(ids), boolean(skip_special_tokens))
            return engine.decode(known_ids, skip_special=skip_special_tokens)
        try:
            return engine.decode(ids, skip_special=boolean(skip_special_tokens))
        except (TypeError, PolytokError):
            return engine.decode(id_list(ids), skip_special=skip_special_tokens)

    def _decode_by_steps(self, ids: list[int], skip_special_tokens: bool) -> str:
        """Decodes the tokens of ids, with a decoder that can be in Python."""
        tokens = [token for id in ids if (token := self.id_to_token(id)) is not None]
        if skip_special_tokens:
            tokens = [token for token in tokens if token not in self._added.special]
        decoder = self._part("decoder")
        text: str = " ".join(tokens) if decoder is None else decoder.decode(tokens)
        return text

    def decode_batch(self, sequences: Iterable[Iterable[int]], skip_special_tokens: bool = True) -> list[str]:
        rows = list(sequences)
        compiled = self._current()
        if compiled.changed_ids is not None or compiled.in_python:
            return [self.decode(ids, skip_special_tokens) for ids in rows]
        decode_batch = compiled.engine.decode_batch
        try:
            return decode_batch(rows, skip_special=boolean(skip_special_tokens))
        except (TypeError, PolytokError):
            return decode_batch([id_list(ids) for ids in rows], skip_special=skip_special_tokens)

    async def async_decode_batch(
        self, sequences: Iterable[Iterable[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        return await asyncio.to_thread(self.decode_batch, sequences, skip_special_tokens)

    # The vocabulary

    def token_to_id(self, token: str) -> int | None:
        if type(token) is str and (tokens := self._parts["model"]._tokens) is not None:
            found: int | None = tokens[0].get(token)
            return self._added.ids.get(token, found)
        id = self._added.ids.get(text(token))
        if id is not None:
            return id
        known_id: int | None = self.model.token_to_id(token)
        return known_id

    def id_to_token(self, id: int) -> str | None:
        tokens = self._parts["model"]._tokens
        if tokens is not None and type(id) is int and 0 <= id < 1 << 32 and id not in self._added.by_id:
            found: str | None = tokens[1].get(id)
            return found
        token = self._added.by_id.get(id_number(id))
        if token is not None:
            normalizer = self._part("normalizer") if token.normalized else None
            content: str = token.content if normalizer is None else normalizer.normalize_str(token.content)
            return content
        known_token: str | None = self.model.id_to_token(id)
        return known_token

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        vocab: dict[str, int] = dict(self.model.tokens()[0])
        if boolean(with_added_tokens):
            vocab.update(self._added.ids)
        return vocab

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        sizes = self._sizes
        if sizes is None or sizes[0] != CHANGES[0]:
            self._sizes = sizes = self._count_tokens()
        if with_added_tokens is False:
            return sizes[1]
        return sizes[2] if with_added_tokens is True or boolean(with_added_tokens) else sizes[1]

    def _count_tokens(self) -> tuple[int, int, int]:
        """Returns the number of changes of components until now, and the sizes without and with the added tokens."""
        changes, added = CHANGES[0], self._added
        if (size := self._model_size()) is not None:  # added tokens that the model does not have follow its ids
            return changes, size, size + sum(id >= size for id in added.by_id)
        known_ids = self.model.tokens()[0]
        return changes, len(known_ids), len(known_ids) + sum(token not in known_ids for token in added.ids)

    def _model_size(self) -> int | None:
        """Returns the size of the model's vocabulary, without reading the file's JSON again; None if it is needed."""
        compiled = self._compiled
        if compiled is None or not self._parts["model"].is_unread:
            return None
        ids = np.asarray(compiled.engine.spec.vocab.ids)
        return len(ids) if np.array_equal(np.sort(ids), np.arange(len(ids))) else None

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        return {id: added_token(token) for id, token in sorted(self._added.by_id.items())}

    def add_tokens(self, tokens: list[Any]) -> int:
        return self._add(tokens, False)

    def add_special_tokens(self, tokens: list[Any]) -> int:
        return self._add(tokens, True)

    def _add(self, tokens: list[Any], special: bool) -> int:
        if not isinstance(tokens, list):
            raise TypeError(f"'{type(tokens).__name__}' object is not an instance of 'list'")
        new_tokens = [added_token(token, special) for token in tokens]
        if all(map(self._added.ignores, new_tokens)):
            return 0  # without the model's vocabulary, which may not be read yet
        normalizer = self._part("normalizer")
        if normalizer is not None and normalizer.in_python():
            for token in new_tokens:
                normalizer.normalize_str(token.content)  # raises the errors of the caller's normalizer
        added = self._added.copy()
        count = added.add(new_tokens, self.model.token_to_id, len(self.model.tokens()[0]))
        if count:
            self._added, self._compiled, self._sizes = added, None, None
        return count

    # Training

    def train(self, files: list[str], trainer: Trainer | None = None) -> None:
        """Trains the model from the lines of files."""
        self._train(texts_of_files(files), trainer)

    def train_from_iterator(
        self, iterator: Iterable[Any], trainer: Trainer | None = None, length: int | None = None
    ) -> None:
        """Trains the model from texts; ``length`` is for a progress bar, which is not shown."""
        optional_unsigned(length)
        self._train(texts_of(iterator), trainer)

    def _train(self, texts: Iterable[str], trainer: Trainer | None) -> None:
        model = self.model
        used = default_trainer(model) if trainer is None else trainer_of(trainer)
        parts = self._part("normalizer"), self._part("pre_tokenizer")
        words = count_words(texts, *parts, self._steps(), self._added)
        used.words = words
        if used.model != type(model).__name__:
            raise _error(f"{type(used).__name__} can only train a {used.model}")
        model.replace(used.learn(model, words))
        self._compiled = None
        self.add_special_tokens(used.special_tokens)

    # Object protocol

    def __getnewargs__(self) -> tuple[Model]:
        return (BPE(),)

    def __getstate__(self) -> bytes:
        return self.to_str().encode()

    def __setstate__(self, state: bytes) -> None:
        self._read(bytes(state))

    def __deepcopy__(self, memo: dict[int, Any]) -> Tokenizer:
        return self.__copy__()

    def __copy__(self) -> Tokenizer:
        """Returns an independent copy, which shares the compiled tables."""
        copy = Tokenizer.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._added = self._added.copy()
        copy._parts = {family: None if part is None else part.copy() for family, part in self._parts.items()}
        return copy

    def __repr__(self) -> str:
        return represent(self._json())

    def __str__(self) -> str:
        return represent(self._json(), most=5)


def _model_json(data: bytes, scores: Any) -> dict[str, Any]:
    """Returns the JSON of the model in a file. The original's parser rounds the scores in its own way, which
    ``scores`` follow."""
    model: dict[str, Any] = json.loads(data)["model"]
    if isinstance(model["vocab"], list):
        pieces = zip(model["vocab"], np.asarray(scores).tolist(), strict=True)
        model["vocab"] = [[piece, score] for (piece, _), score in pieces]
    return model


def _error(message: object) -> Exception:
    """Returns the plain Exception that the original raises."""
    return Exception(str(message))
