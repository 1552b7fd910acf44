"""SentencePieceProcessor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .binding import Binding
from .buffers import read_only_array
from .inputs import answers_in_bytes, bytes_of, check_old_input, has_bytes, is_row, is_true, utf8
from .lines import is_old, out_of_range, type_error, value_error
from .messages import ImmutableSentencePieceText
from .model import Model
from .names import with_snake_case
from .normalizing import normalized
from .results import MESSAGE_KINDS, PROTO_KINDS, as_message, as_nbest_result, as_offset_mapping, as_result
from .typed_methods import typed_methods

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPES = (int, str, bytes, "proto", "serialized_proto", "numpy", "offset_mapping")
_OLD_TYPES = (int, str, "proto", "serialized_proto", "immutable_proto")
_OLD_DECODE_TYPES = (str, bytes, "serialized_proto", "immutable_proto")
_DECODE_TYPES: tuple[Any, ...] = (str, bytes, *PROTO_KINDS)
_PLAIN_DECODE_TYPES: tuple[Any, ...] = (None, str, bytes, "serialized_proto", "proto", "offset_mapping")
_SAMPLING_HELP = (
    'When enable_sampling is True, We must specify "nbest_size > 1" or "nbest_size = -1", and "alpha". "nbest_size" is '
    'enabled only on unigram mode ignored in BPE-dropout. when "nbest_size = -1" , this method samples from all '
    "candidates on the lattice instead of nbest segmentations."
)


class _Flags(NamedTuple):
    """What a call changes in the ids: the ids of bos and eos to add, whether the order is reversed, and whether unknown
    text has the name of the unknown piece."""

    bos: int | None
    eos: int | None
    is_reversed: bool
    is_named: bool


_NO_FLAGS = _Flags(None, None, False, False)


@with_snake_case
class SentencePieceProcessor:
    """sentencepiece.SentencePieceProcessor of 0.2.3, with the methods of 0.2.1 that 0.2.3 no longer has."""

    Tokenize: Callable[..., Any]
    Detokenize: Callable[..., Any]

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: Any = None,
        out_type: Any = None,
        add_bos: bool = False,
        add_eos: bool = False,
        reverse: bool = False,
        emit_unk_piece: bool = False,
        enable_sampling: bool = False,
        nbest_size: int = -1,
        alpha: float = 0.1,
        num_threads: int = -1,
        return_type: Any = None,
    ) -> None:
        self._model: Model | None = None
        self._whole_model: Model | None = None
        self._return_type: Any = int
        self._return_type = self._resolved_type(return_type, out_type)
        self._add_bos, self._add_eos, self._reverse = add_bos, add_eos, reverse
        self._emit_unk_piece, self._enable_sampling = emit_unk_piece, enable_sampling
        self._nbest_size, self._alpha, self._num_threads = nbest_size, alpha, num_threads
        if model_file or model_proto:
            self.Load(model_file=model_file, model_proto=model_proto)

    Init = __init__

    # Loading

    @classmethod
    def from_file(cls, model_file: str | os.PathLike[str], **kwargs: Any) -> SentencePieceProcessor:
        """Returns a processor of the model in a file."""
        if kwargs.keys() & {"model_file", "model_proto"}:
            raise value_error(
                "model_file and model_proto cannot be passed via kwargs when using from_file classmethod."
            )
        processor = cls(**kwargs)
        processor.LoadFromFile(model_file)
        return processor

    @classmethod
    def from_proto(cls, model_proto: Any, **kwargs: Any) -> SentencePieceProcessor:
        """Returns a processor of a model's bytes."""
        if kwargs.keys() & {"model_file", "model_proto"}:
            raise value_error(
                "model_file and model_proto cannot be passed via kwargs when using from_proto classmethod."
            )
        processor = cls(**kwargs)
        processor.LoadFromSerializedProto(model_proto)
        return processor

    def Load(self, model_file: str | os.PathLike[str] | None = None, model_proto: Any = None) -> bool:
        """Loads a model from a file or from its bytes."""
        if model_file and model_proto:
            raise value_error("model_file and model_proto must be exclusive.")
        if model_proto:
            return self.LoadFromSerializedProto(model_proto)
        if model_file:
            return self.LoadFromFile(model_file)
        raise value_error("Either model_file or model_proto must be specified.")

    def LoadFromFile(self, filename: str | os.PathLike[str]) -> bool:
        """Loads a model from a file. Raises OSError in 0.2.1, and RuntimeError in 0.2.3, if it cannot be read."""
        if not isinstance(filename, (str, os.PathLike)):
            raise TypeError(f"filename must be a path, not {type(filename).__name__}")
        try:
            data = Path(filename).read_bytes()
        except OSError as error:
            message = f'"{os.fspath(filename)}": {error.strerror}'
            raise (OSError(f"Not found: {message}") if is_old() else RuntimeError(f"NOT_FOUND: {message}")) from error
        return self.LoadFromSerializedProto(data)

    def LoadFromSerializedProto(self, serialized: Any) -> bool:
        """Loads a model from its bytes, or from a ModelProto."""
        if hasattr(serialized, "SerializeToString"):
            serialized = serialized.SerializeToString()
        if not isinstance(serialized, bytes):
            raise TypeError(f"the model must be bytes, not {type(serialized).__name__}")
        self._model = self._whole_model = Model(serialized)
        return True

    def _loaded(self) -> Model:
        if self._model is None:
            raise RuntimeError("INTERNAL: Model is not initialized.")
        return self._model

    # Options

    def _resolved_type(self, return_type: Any, out_type: Any, default: Any = None) -> Any:
        if out_type is not None:
            if return_type is not None:
                raise value_error("Cannot specify both out_type and return_type. Use return_type instead.")
            return_type = out_type
        if return_type is None:
            return self._return_type if default is None else default
        if is_old():
            if return_type not in _OLD_TYPES + _OLD_DECODE_TYPES:
                raise value_error(f"unknown out_type={return_type}")
        elif return_type == "immutable_proto":
            raise value_error("immutable_proto is deprecated and no longer supported. Use return_type='proto' instead.")
        elif return_type not in _TYPES:
            raise value_error(f"Invalid return_type: {return_type}. Must be one of {_TYPES}")
        return return_type

    def _threads(self, num_threads: Any, thread_pool: Any = None) -> int | None:
        number = self._num_threads if num_threads is None else num_threads
        if not isinstance(number, int):
            raise type_error("num_threads must be int")
        if thread_pool is not None:
            number = thread_pool.num_threads()
        return min(number, 1024) if number > 0 else None

    # Encoding

    def Encode(
        self,
        input: Any,
        add_bos: Any = None,
        add_eos: Any = None,
        reverse: Any = None,
        emit_unk_piece: Any = None,
        enable_sampling: Any = None,
        nbest_size: Any = None,
        alpha: Any = None,
        num_threads: Any = None,
        thread_pool: Any = None,
        return_type: Any = None,
        out_type: Any = None,
        return_bytes: Any = None,
    ) -> Any:
        """Encodes a text, or a list of texts."""
        if add_bos is not None and isinstance(add_bos, (type, str)):  # in 0.2.1, the type is the second argument
            if not is_old() or out_type is not None:
                raise TypeError(f"add_bos={add_bos!r} is not a bool: write return_type={add_bos!r}")
            out_type, add_bos = add_bos, None
        kind = self._resolved_type(return_type, out_type)
        if return_bytes is not None and kind != "offset_mapping":
            raise value_error("return_bytes is only supported when return_type='offset_mapping'")
        flags = self._flags(kind, add_bos, add_eos, reverse, emit_unk_piece)
        if self._enable_sampling if enable_sampling is None else enable_sampling:
            size = self._nbest_size if nbest_size is None else nbest_size
            strength = self._alpha if alpha is None else alpha
            if size in (0, 1, None) or strength is None:
                raise value_error(_SAMPLING_HELP)
            self._threads(num_threads)
            return self._sampled(input, kind, flags, size, strength, return_bytes)
        threads = self._threads(num_threads, thread_pool)
        if not isinstance(input, list):
            text = input if type(input) is str and input.isascii() else utf8(input)
            model = self._model if self._model is not None else self._loaded()
            if kind in MESSAGE_KINDS:
                return as_message(model.serialized(text), kind)
            if kind in PROTO_KINDS:
                return self._spanned(text, kind, answers_in_bytes(input, return_bytes))
            ids = model.encode_ids(text)
            return ids if kind is int and flags is _NO_FLAGS else self._ids_as(kind, ids, text, flags, is_best=True)
        texts = [utf8(text, is_item=True) for text in input]
        model = self._loaded()
        if kind in PROTO_KINDS:
            returns_bytes = answers_in_bytes(input, return_bytes)
            return [self._spanned(text, kind, returns_bytes) for text in texts]
        rows = model.tokenizer.encode_batch(texts, threads=threads).to_list()
        return [self._ids_as(kind, ids, text, flags, is_best=True) for ids, text in zip(rows, texts, strict=True)]

    def _flags(self, kind: Any, add_bos: Any, add_eos: Any, reverse: Any, emit_unk_piece: Any) -> _Flags:
        bos = self._add_bos if add_bos is None else add_bos
        eos = self._add_eos if add_eos is None else add_eos
        is_reversed = self._reverse if reverse is None else reverse
        is_named = self._emit_unk_piece if emit_unk_piece is None else emit_unk_piece
        if not (bos or eos or is_reversed or is_named):
            return _NO_FLAGS
        if kind in PROTO_KINDS:
            prefix = "Unimplemented" if is_old() else "UNIMPLEMENTED"
            raise RuntimeError(f"{prefix}: add_bos, add_eos, reverse, and emit_unk_piece is not supported in proto API")
        return _Flags(
            self._role_id("bos", kind) if bos else None,
            self._role_id("eos", kind) if eos else None,
            bool(is_reversed),
            bool(is_named),
        )

    def _role_id(self, role: str, kind: Any) -> int:
        id = self._loaded().named_id(role)
        if id < 0 and not is_old():
            raise ValueError(
                f"INVALID_ARGUMENT: {role.upper()} token is not defined as a control symbol in this model."
            )
        if id < 0 and kind is not int:
            raise out_of_range()
        return id

    def _ids_as(
        self,
        kind: Any,
        ids: list[int],
        text: str | bytes,
        flags: _Flags,
        is_best: bool = False,
    ) -> Any:
        """Returns ids, or their pieces, with what the flags add."""
        bos, eos, is_reversed, is_named = flags
        has_ids = kind is int or kind == "numpy"
        row: list[Any] = ids if has_ids else self._pieces_of(kind, ids, text, is_named, is_best)
        if is_reversed:
            row = row[::-1]
        if bos is not None or eos is not None:
            around = [[] if id is None else [id if has_ids else self._piece(kind, id)] for id in (bos, eos)]
            row = [*around[0], *row, *around[1]]
        return read_only_array(row) if kind == "numpy" else row

    def _piece(self, kind: Any, id: int) -> str | bytes:
        model = self._loaded()
        return model.texts[id] if kind is str else model.pieces[id]

    def _pieces_of(self, kind: Any, ids: list[int], text: str | bytes, is_named: bool, is_best: bool) -> list[Any]:
        """Returns the pieces of ids; the piece of unknown text is the normalized text."""
        model = self._loaded()
        if is_named or model.unk_id not in ids:
            table: list[Any] = model.texts if kind is str else model.pieces
            return [table[id] for id in ids]
        found = model.tokenizer.tokens(text) if is_best else model.align(bytes_of(text), ids).pieces
        pieces = [token.piece for token in found]
        return pieces if kind is bytes else [piece.decode("utf-8", errors="replace") for piece in pieces]

    def _spanned(self, text: str | bytes, kind: Any, returns_bytes: bool) -> Any:
        """Returns the best segmentation with spans."""
        model = self._loaded()
        if kind == "offset_mapping":
            return model.offsets(text, returns_bytes)
        if kind == "immutable_proto":
            return ImmutableSentencePieceText(model.encode(bytes_of(text)))
        return as_message(model.serialized(text), kind)

    def _sampled(self, input: Any, kind: Any, flags: _Flags, size: int, alpha: float, raw: Any) -> Any:
        model = self._loaded()
        if isinstance(input, list):
            return [self._sampled(text, kind, flags, size, alpha, raw) for text in input]
        text = utf8(input)
        ids = model.sample(text, size, alpha)
        if kind in PROTO_KINDS:
            return as_result(model.align(bytes_of(text), ids), kind, answers_in_bytes(input, raw))
        return self._ids_as(kind, ids, text, flags)

    def NBestEncode(
        self,
        input: Any,
        add_bos: Any = None,
        add_eos: Any = None,
        reverse: Any = None,
        emit_unk_piece: Any = None,
        nbest_size: Any = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """Returns the best segmentations of a text, or of each text of a list."""
        kind = self._resolved_type(return_type, out_type)
        if kind == "offset_mapping":
            raise value_error(f"unknown return_type={kind}")
        size = max(self._nbest_size if nbest_size is None else nbest_size, 1)
        flags = self._flags(kind, add_bos, add_eos, reverse, emit_unk_piece)
        if isinstance(input, list):
            return [self._nbest(utf8(text), kind, size, flags) for text in input]
        return self._nbest(utf8(input), kind, size, flags)

    def _nbest(self, text: str | bytes, kind: Any, size: int, flags: _Flags) -> Any:
        model = self._loaded()
        found = model.nbest(text, size)
        if kind not in PROTO_KINDS:
            return [self._ids_as(kind, ids, text, flags) for ids, _ in found]
        return as_nbest_result([model.align(bytes_of(text), ids, score) for ids, score in found], kind)

    def SampleEncodeAndScore(
        self,
        input: Any,
        out_type: Any = None,
        add_bos: Any = None,
        add_eos: Any = None,
        reverse: Any = None,
        emit_unk_piece: Any = None,
        num_samples: Any = None,
        alpha: Any = None,
        wor: Any = None,
        include_best: Any = None,
    ) -> Any:
        """Returns random segmentations with their log probabilities; only 0.2.1 has this method."""
        kind = self._resolved_type(None, out_type)
        count = 1 if num_samples is None else num_samples
        if count <= 0:
            raise RuntimeError("num_examples must be positive")
        if include_best and not wor:
            raise RuntimeError('When include_best is True, We must specify "wor = True".')
        flags = self._flags(kind, add_bos, add_eos, reverse, emit_unk_piece)
        options = (count, 1.0 if alpha is None else alpha, bool(wor), bool(include_best))
        if isinstance(input, list):
            return [self._scored(utf8(text), kind, flags, options) for text in input]
        return self._scored(utf8(input), kind, flags, options)

    def _scored(
        self,
        text: str | bytes,
        kind: Any,
        flags: _Flags,
        options: tuple[int, float, bool, bool],
    ) -> Any:
        model = self._loaded()
        found = model.sample_with_score(text, *options)
        if kind not in PROTO_KINDS:
            return [(self._ids_as(kind, ids, text, flags), score) for ids, score in found]
        return as_nbest_result([model.align(bytes_of(text), ids, score) for ids, score in found], kind)

    def ParallelEncode(
        self,
        input: Any,
        add_bos: Any = None,
        add_eos: Any = None,
        reverse: Any = None,
        emit_unk_piece: Any = None,
        chunk_len: Any = None,
        num_threads: Any = None,
        thread_pool: Any = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """Encodes texts as `Encode` does. The ids never depend on ``chunk_len``."""
        kind = self._resolved_type(return_type, out_type)
        self._threads(num_threads)
        if not isinstance(chunk_len, int) or chunk_len <= 0:
            raise value_error("chunk_len must be positive.")
        if kind == "offset_mapping":
            raise value_error(f"unknown return_type={kind}")
        flags = {"add_bos": add_bos, "add_eos": add_eos, "reverse": reverse, "emit_unk_piece": emit_unk_piece}
        return self.Encode(
            input, **flags, num_threads=num_threads, thread_pool=thread_pool, enable_sampling=False, return_type=kind
        )

    def CalculateEntropy(self, input: Any, alpha: float, num_threads: Any = None) -> Any:
        """Returns the entropy of the segmentations of a text, or of each text of a list; only in 0.2.1."""
        model = self._loaded()
        if isinstance(input, list):
            self._threads(num_threads)
            return [model.entropy(utf8(text), alpha) for text in input]
        return model.entropy(utf8(input), alpha)

    # Decoding

    def Decode(
        self,
        input: Any,
        return_type: Any = None,
        out_type: Any = None,
        num_threads: Any = None,
        thread_pool: Any = None,
        return_bytes: Any = None,
    ) -> Any:
        """Decodes ids or pieces, or a list of lists of them."""
        is_plain = out_type is num_threads is thread_pool is return_bytes is None
        if is_plain and type(input) is list and input and self._decodes_plainly(type(input[0]), return_type):
            return self._decoded(self._loaded(), input, return_type or str, False)
        kind = self._resolved_type(return_type, out_type, str)
        if return_bytes is not None and kind != "offset_mapping":
            raise value_error("return_bytes is only supported when return_type='offset_mapping'")
        self._threads(num_threads, thread_pool)
        if self._model is None and isinstance(input, list) and isinstance(next(iter(input), None), int):
            raise out_of_range()
        model = self._loaded()
        if is_old():
            check_old_input(input)
            if not input:
                return ""
        if kind not in _DECODE_TYPES or (is_old() and kind == "proto"):
            raise value_error(f"unknown return_type={kind} or input type")
        if input is None or (isinstance(input, (str, bytes)) and not input):
            input = []
        elif not is_row(input):
            input = [input]
        is_batch = input.ndim > 1 if hasattr(input, "ndim") else len(input) > 0 and is_row(input[0])
        rows = input if is_batch else [input]
        returns_bytes = bool(return_bytes) or has_bytes(rows)
        decoded = [self._decoded(model, row, kind, returns_bytes) for row in rows]
        return decoded if is_batch else decoded[0]

    @property
    def _processor(self) -> Binding:
        return Binding(self.Decode)

    def _decodes_plainly(self, item_type: type, return_type: Any) -> bool:
        """Reports whether a list of ids or pieces is decoded without looking at the other options: for short lists,
        this is most of the time."""
        return (
            (item_type is int or item_type is str)
            and return_type in _PLAIN_DECODE_TYPES
            and self._model is not None
            and type(self._num_threads) is int
            and not is_old()
        )

    def _decoded(self, model: Model, row: Any, kind: Any, returns_bytes: bool) -> Any:
        is_pieces = len(row) > 0 and isinstance(row[0], (str, bytes)) and not hasattr(row, "dtype")
        if kind is str or kind is bytes:
            text = model.decode_pieces(row) if is_pieces else model.decode(row)
            return text if kind is str else text.encode("utf-8")
        if is_pieces:
            pieces = [(piece, model.id_of_piece.get(piece)) for piece in map(bytes_of, row)]
            row = [id for _, id in pieces]
            if None in row or kind == "immutable_proto":
                result = model.decode_spans(pieces)
                is_mapping = kind == "offset_mapping"
                return as_offset_mapping(result, returns_bytes, True) if is_mapping else as_result(result, kind)
        if kind == "offset_mapping":
            return model.decode_mapping(row, returns_bytes)
        if kind == "immutable_proto":
            model.decode(row)  # checks the ids
            return as_result(model.decode_spans((model.pieces[id], int(id)) for id in row), kind)
        return as_message(model.decode_serialized(row), kind)

    # Texts and pieces

    def Normalize(self, input: Any, with_offsets: Any = None) -> Any:
        """Returns the normalized text, or of each text of a list; with offsets, also the place of each character in
        the text."""
        if type(input) is str and input.isascii() and self._model is not None:
            engine = self._model.normalizing
            if not with_offsets:
                return engine.normalized(input, True)
            result = engine.with_offsets(input, True)
            if result[0]:
                return result
        if isinstance(input, list):
            return [self.Normalize(text, with_offsets) for text in input]
        return normalized(self._loaded().normalizing, input, with_offsets)

    def OverrideNormalizerSpec(self, **kwargs: Any) -> None:
        """Changes flags of the normalizer; only 0.2.1 has this method."""
        names = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
        for name in kwargs:
            if name not in names:
                raise RuntimeError(f'NOT_FOUND: unknown field name "{name}" in NormalizerSpec; polytok has {names}')
        model = self._loaded().with_normalizer({name: is_true(value) for name, value in kwargs.items()})
        self._model = self._whole_model = model

    def SetEncodeExtraOptions(self, extra_option: str) -> NoReturn:
        """Raises NotImplementedError: give the options to the calls."""
        raise NotImplementedError(
            "polytok has no extra options: give add_bos=, add_eos= and reverse= to Encode instead"
        )

    def SetDecodeExtraOptions(self, extra_option: str) -> NoReturn:
        """Raises NotImplementedError: reverse the ids."""
        raise NotImplementedError("polytok has no extra options: reverse the ids before Decode instead")

    def SetVocabulary(self, valid_vocab: Iterable[str]) -> bool:
        """Emits only these pieces and single characters from now on; only 0.2.1 has this method."""
        self._model = self._loaded_whole().restrict(list(valid_vocab))
        return True

    def ResetVocabulary(self) -> bool:
        """Emits all pieces again; only 0.2.1 has this method."""
        self._model = self._loaded_whole()
        return True

    def LoadVocabulary(self, filename: str, threshold: int) -> bool:
        """Sets the vocabulary to the lines "piece<tab>count" of a file that have at least this count."""
        pieces: list[str] = []
        for line in Path(filename).read_text("utf-8").splitlines():
            piece, _, count = line.partition("\t")
            if not count or float(count) >= threshold:
                pieces.append(piece)
        return self.SetVocabulary(pieces)

    def _loaded_whole(self) -> Model:
        self._loaded()
        assert self._whole_model is not None
        return self._whole_model

    def GetPieceSize(self) -> int:
        """Returns the number of pieces."""
        if self._model is not None:
            return self._model.size
        return len(self._loaded()) if is_old() else 0

    def PieceToId(self, piece: Any) -> Any:
        """Returns the id of a piece, or of each piece of a list; the id of the unknown piece for other texts."""
        if type(piece) is str and self._model is not None and (id := self._model.id_of_text.get(piece)) is not None:
            return id
        if isinstance(piece, (str, bytes)):
            model = self._loaded()
            return model.id_of_piece.get(bytes_of(piece), model.unk_id)
        if is_row(piece):
            return [self.PieceToId(item) for item in piece]
        raise TypeError(f"a piece is a str or bytes, not {type(piece).__name__}")

    def IdToPiece(self, id: Any) -> Any:
        """Returns the piece of an id, or of each id of a list."""
        if type(id) is int and id >= 0 and self._model is not None:
            try:
                return self._model.texts[id]
            except IndexError:
                raise out_of_range() from None
        return self._of_ids(id, lambda model: model.texts)

    def GetScore(self, id: Any) -> Any:
        """Returns the score of an id, or of each id of a list."""
        if type(id) is int and id >= 0 and self._model is not None:
            try:
                return self._model.scores[id]
            except IndexError:
                raise out_of_range() from None
        return self._of_ids(id, lambda model: model.scores)

    def IsUnknown(self, id: Any) -> Any:
        """Reports whether an id is the unknown piece's."""
        return self._is_kind(id, 2)

    def IsControl(self, id: Any) -> Any:
        """Reports whether an id is a control symbol's."""
        return self._is_kind(id, 3)

    def IsUnused(self, id: Any) -> Any:
        """Reports whether an id is unused."""
        return self._is_kind(id, 5)

    def IsByte(self, id: Any) -> Any:
        """Reports whether an id is a byte piece's."""
        return self._is_kind(id, 6)

    def _is_kind(self, id: Any, kind: int) -> Any:
        if type(id) is int and id >= 0 and self._model is not None:
            try:
                return self._model.kinds[id] == kind
            except IndexError:
                raise out_of_range() from None
        found = self._of_ids(id, lambda model: model.kinds)
        return [item == kind for item in found] if isinstance(found, list) else found == kind

    def _of_ids(self, id: Any, column: Callable[[Model], list[Any]]) -> Any:
        if self._model is None:
            raise out_of_range()
        values = column(self._model)
        if is_row(id):
            return [_value_of(values, item) for item in id]
        return _value_of(values, id)

    def unk_id(self) -> int:
        """Returns the id of the unknown piece."""
        if self._model is None:
            raise RuntimeError("INTERNAL: unk is not defined.")
        return self._model.unk_id

    def bos_id(self) -> int:
        """Returns the id of <s>; -1 if the model has none."""
        return -1 if self._model is None else self._model.named_id("bos")

    def eos_id(self) -> int:
        """Returns the id of </s>; -1 if the model has none."""
        return -1 if self._model is None else self._model.named_id("eos")

    def pad_id(self) -> int:
        """Returns the id of <pad>; -1 if the model has none."""
        return -1 if self._model is None else self._model.named_id("pad")

    def serialized_model_proto(self) -> bytes:
        """Returns the bytes of the model."""
        return b"" if self._model is None else self._model.data

    piece_size = GetPieceSize
    vocab_size = GetPieceSize

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_model", "_whole_model")}
        return {**state, "model_proto": self.serialized_model_proto()}

    def __setstate__(self, state: Mapping[str, Any] | bytes) -> None:
        values = {"model_proto": state} if isinstance(state, bytes) else dict(state)  # 0.2.1 pickles only the model
        SentencePieceProcessor.__init__(self)
        if data := values.pop("model_proto"):
            self.LoadFromSerializedProto(data)
        self.__dict__.update(values)

    __len__ = GetPieceSize

    def __getitem__(self, piece: Any) -> Any:
        return self.PieceToId(piece)


def _add_methods() -> None:
    for name, method in typed_methods().items():
        setattr(SentencePieceProcessor, name, method)
    SentencePieceProcessor.Tokenize = SentencePieceProcessor.Encode
    SentencePieceProcessor.Detokenize = SentencePieceProcessor.Decode
    with_snake_case(SentencePieceProcessor)


def _value_of(values: list[Any], id: Any) -> Any:
    try:
        number = id.__index__()
    except AttributeError as error:
        raise TypeError("Input must be an integer buffer, list of integers, or a sequence of integers.") from error
    if not 0 <= number < len(values):
        raise out_of_range()
    return values[number]


_add_methods()
