"""The options of tokenizing a corpus, which together with the inputs and the tokenizer define the output."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

import numpy as np

from ..checked import checked_fields
from ..checks import flag, iterable, number, one_of, piece_or_id
from ..errors import ArgumentError, PieceError
from ..keywords import keyword
from ..options import OptionKeywords, Options
from ..reading import InputKeywords, InputOptions
from ..spec import Slot
from ..special_list import sorted_for_role, special_tokens_text
from ..suggestions import did_you_mean
from ..tokenizer import Tokenizer
from ..values import Special
from .plan import SHARD_SIZE
from .write import WRITERS

Output = Literal["megatron", "flat", "npy", "parquet", "arrow"]
LongDocumentAction = Literal["truncate", "skip", "split"]
Dtype = Literal["auto", "uint16", "uint32", "int32"]

_MAX_SHARD_SIZE = 1 << 40
_MAX_OPTION_VALUE = 1 << 62
_MAX_VOCAB_SIZES = {"uint16": 2**16, "uint32": 2**32, "int32": 2**31}  # the number of ids that each dtype can hold


class DocumentKeywords(OptionKeywords, InputKeywords, total=False):
    """The fields of `DocumentOptions` as keyword arguments."""

    to: Output
    dtype: Dtype
    bos: int | str | None
    eos: int | str | None
    min_tokens: int
    max_tokens: int | None
    long_documents: LongDocumentAction
    shuffle: int | Literal["all"]
    seed: int
    shard_size: int
    columns: Sequence[str]
    documents: bool


@checked_fields
@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """The options of tokenizing documents.

    * ``to``: the format of the shards, ``megatron``, ``flat``, ``npy``, ``parquet`` or ``arrow``.
    * ``dtype``: the dtype of the ids; ``auto`` selects uint16 if it can hold all ids of the vocabulary, else uint32.
      Only Megatron's format, which has no uint32, gets int32 instead.
    * ``bos``, ``eos``: the token to begin or end each document with: an id, a piece, or ``auto``, which is the token
      that the tokenizer defines.
    * ``add_special``, ``special``, ``reject_special``: as in `Tokenizer.encode`.
    * ``min_tokens``: documents with fewer tokens are skipped. Tokens are counted with bos and eos.
    * ``max_tokens``, ``long_documents``: documents with more tokens are truncated but keep eos (``truncate``), skipped
      (``skip``) or split into several consecutive documents (``split``).
    * ``shuffle``, ``seed``: each window of ``shuffle`` consecutive documents of a shard is shuffled; ``all`` shuffles
      all documents of all inputs.
    * ``shard_size``: the size of the input of each shard in bytes; a file that cannot be split is in one shard.
    * ``columns``: the names of fields of the inputs to store with the documents, in Parquet and Arrow shards or in the
      documents table.
    * ``documents``: whether to write a documents table: for each document its input, the position of its record, and
      the ``columns``. Parquet and Arrow shards have these columns themselves.
    * ``input_options``: a `polytok.InputOptions`.
    """

    to: Output = "megatron"
    dtype: Dtype = "auto"
    bos: int | str | None = None
    eos: int | str | None = None
    add_special: bool = False
    special: Special = ()
    reject_special: bool = False
    min_tokens: int = 0
    max_tokens: int | None = None
    long_documents: LongDocumentAction = "truncate"
    shuffle: int | Literal["all"] = 0
    seed: int = 0
    shard_size: int = SHARD_SIZE
    columns: Sequence[str] = ()
    documents: bool = False
    input_options: InputOptions = field(default_factory=InputOptions)

    def __post_init__(self) -> None:
        """Checks all values. Raises `ArgumentError` for an invalid value."""
        one_of("to", self.to, tuple(WRITERS))
        one_of("dtype", self.dtype, get_args(Dtype))
        one_of("long_documents", self.long_documents, get_args(LongDocumentAction))
        number("min_tokens", self.min_tokens, least=0, most=_MAX_OPTION_VALUE)
        if isinstance(self.shuffle, str) and self.shuffle != "all":
            raise ArgumentError(f"{keyword('shuffle', self.shuffle)} is neither a number of documents nor 'all'")
        number("shuffle", self.shuffle_window, least=0, most=_MAX_OPTION_VALUE)
        number("seed", self.seed, least=0, most=2**64 - 1)
        number("shard_size", self.shard_size, least=1, most=_MAX_SHARD_SIZE)
        if self.max_tokens is not None:
            number("max_tokens", self.max_tokens, least=1, most=_MAX_OPTION_VALUE)
            if self.max_tokens < self.min_tokens:
                raise ArgumentError(
                    f"{keyword(f'max_tokens={self.max_tokens}')} is less than "
                    f"{keyword(f'min_tokens={self.min_tokens}')}"
                )
        if not isinstance(self.input_options, InputOptions):
            raise ArgumentError(f"input_options={self.input_options!r} is not a polytok.InputOptions")
        if self.input_options.bad_bytes == "keep":
            raise ArgumentError(
                f"{keyword('bad_bytes', 'keep')} is only for training: choose 'error', 'replace' or 'skip'"
            )
        flag("documents", self.documents)
        for name in ("bos", "eos"):
            if getattr(self, name) is True:
                raise ArgumentError(
                    f"{keyword(name, True)} names no token: write {keyword(name, 'auto')} for the {name} of the "
                    "vocabulary, or the text of a token"
                )
            piece_or_id(name, getattr(self, name))
        object.__setattr__(self, "columns", self._checked_columns())
        if not isinstance(self.special, str):
            object.__setattr__(self, "special", tuple(sorted(self.encoding.special)))

    def _checked_columns(self) -> tuple[str, ...]:
        if isinstance(self.columns, str):
            raise ArgumentError(f"{keyword('columns', self.columns)} is a single name: give a list of names")
        columns = tuple(iterable("columns", self.columns, "names of fields"))
        if not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
            raise ArgumentError(f"{keyword(f'columns={list(columns)}')} is not a list of different names")
        if columns and not WRITERS[self.to].can_hold_columns and not self.documents:
            table_kinds = ", ".join(kind for kind, writer in WRITERS.items() if writer.can_hold_columns)
            raise ArgumentError(
                f"{keyword('to', self.to)} cannot hold columns: choose one of {table_kinds}, or use "
                f"{keyword('documents', True)}, which writes "
                "the columns to a table beside the shards"
            )
        return columns

    def resolved(self, tokenizer: Tokenizer) -> DocumentOptions:
        """Returns these options with bos and eos as ids, in place of ``add_special`` too, and with a dtype instead of
        ``auto``. Without a shuffle, the seed has no effect and is 0, so that it does not distinguish two jobs.

        Raises `ArgumentError` for a token that the tokenizer does not have, and for a dtype that cannot hold the ids.
        """
        # This call raises ArgumentError if a text in `special` is not a special token.
        tokenizer.encode("", options=self.encoding)
        bos, eos = _resolve_id("bos", self.bos, tokenizer), _resolve_id("eos", self.eos, tokenizer)
        dtype, seed = resolve_dtype(self.to, self.dtype, tokenizer.vocab_size), self.seed if self.shuffle else 0
        options = replace(self, dtype=dtype, bos=bos, eos=eos, seed=seed)
        return options._with_template(tokenizer) if self.add_special else options._check_room_for_text(0)

    def _with_template(self, tokenizer: Tokenizer) -> DocumentOptions:
        """Returns options that set bos and eos instead of ``add_special``, if the tokenizer's template allows the
        change.

        The template must add at most one id before the text and at most one id after the text.
        """
        template = tokenizer.spec.post
        for name, option_id, template_ids in (("bos", self.bos, template.before), ("eos", self.eos, template.after)):
            if option_id is not None and template_ids:
                raise ArgumentError(
                    f"{keyword('add_special', True)} and {name} would both add a token; {keyword('add_special')} adds "
                    f"{_piece_texts(template_ids, tokenizer)}: remove {name} or {keyword('add_special')}"
                )
        slots = [part for part in template.single if isinstance(part, Slot)]
        if slots == [Slot(0)] and max(len(template.before), len(template.after)) <= 1:
            (bos,), (eos,) = template.before or (self.bos,), template.after or (self.eos,)
            return replace(self, bos=bos, eos=eos, add_special=False)._check_room_for_text(0)
        if template.after and self.max_tokens is not None and self.long_documents == "truncate":
            raise ArgumentError(
                f"{keyword('long_documents', 'truncate')} would remove {_piece_texts(template.after, tokenizer)}, "
                "which "
                f"{keyword('add_special', True)} adds after documents: choose {keyword('long_documents', 'skip')} or "
                "'split', or "
                f"set bos and eos instead of {keyword('add_special')}"
            )
        return self._check_room_for_text(len(template.before))

    def _check_room_for_text(self, template_id_count: int) -> DocumentOptions:
        """Returns these options. Raises `ArgumentError` if truncated documents would have no room for text.

        ``template_id_count`` is the number of ids that ``add_special`` adds before the text.
        """
        added_count = template_id_count + (self.bos is not None) + (self.eos is not None)
        if self.max_tokens is not None and self.long_documents == "truncate" and self.max_tokens <= added_count:
            raise ArgumentError(
                f"{keyword(f'max_tokens={self.max_tokens}')} leaves no room for text, because {added_count} special "
                "ids are added: "
                f"choose at least {added_count + 1}"
            )
        return self

    @property
    def shuffle_window(self) -> int:
        """The number of documents in each window that is shuffled; 0 if all documents are shuffled."""
        return 0 if isinstance(self.shuffle, str) else self.shuffle

    @property
    def encoding(self) -> Options:
        """The options of encoding."""
        return Options(self.add_special, self.special, self.reject_special)

    @property
    def ids(self) -> tuple[int | None, int | None]:
        """The ids of bos and eos. Can be used only on options that `resolved` returned: other options can name
        pieces."""
        bos, eos = self.bos, self.eos
        assert not isinstance(bos, str) and not isinstance(eos, str)
        return bos, eos

    def to_json(self) -> dict[str, Any]:
        """Returns the options as a JSON value, as plans of jobs have them."""
        return {**dataclasses.asdict(self), "input_options": self.input_options.to_json()}

    @classmethod
    def from_json(cls, json_object: dict[str, Any]) -> DocumentOptions:
        """Returns the options from a value that `to_json` returned."""
        return cls(**{**json_object, "input_options": InputOptions(**json_object["input_options"])})


def resolve_dtype(to: str, dtype: str, vocab_size: int) -> Dtype:
    """Returns the dtype of the ids of a vocabulary in shards of a format.

    Raises `ArgumentError` for a dtype that cannot hold the ids, or that the format does not have.

    >>> [resolve_dtype(to, "auto", 65537) for to in ("flat", "megatron")], resolve_dtype("flat", "auto", 65536)
    (['uint32', 'int32'], 'uint16')
    """
    name = dtype
    if name == "auto":
        name = "uint16" if vocab_size <= _MAX_VOCAB_SIZES["uint16"] else "uint32"
        name = WRITERS[to].stored_dtype(np.dtype(name)).name
    if vocab_size > _MAX_VOCAB_SIZES[name]:
        raise ArgumentError(
            f"{keyword('dtype', name)} cannot hold the ids of a vocabulary of {vocab_size:,} entries: choose "
            f"{keyword('dtype', 'auto')}"
        )
    if WRITERS[to].stored_dtype(np.dtype(name)).name != name:
        raise ArgumentError(WRITERS[to].unsupported_dtype(name))
    return cast("Dtype", name)


def _resolve_id(name: str, value: int | str | None, tokenizer: Tokenizer) -> int | None:
    """Returns the id for an option ``bos`` or ``eos``, which is an id, a piece, ``auto`` or None."""
    if value is None:
        return None
    if isinstance(value, int):
        if isinstance(value, bool) or not 0 <= value < tokenizer.vocab_size:
            tokens_text = special_tokens_text(tokenizer.special_tokens, name)
            raise ArgumentError(f"{keyword(name, value)} is not an id of the vocabulary; {tokens_text}")
        return value
    if value == "auto":
        default_id: int | None = getattr(tokenizer, f"{name}_id")
        if default_id is None:
            raise ArgumentError(_no_role_message(name, tokenizer))
        return default_id
    try:
        return tokenizer.piece_to_id(value)
    except PieceError as error:
        problem = str(error).removeprefix(repr(value))
        tokens_text = special_tokens_text(tokenizer.special_tokens, name)
        suggestion = did_you_mean(value, tokenizer.special_tokens)
        raise ArgumentError(f"{keyword(name, value)}{problem}; {tokens_text}{suggestion}") from error


def _no_role_message(role: str, tokenizer: Tokenizer) -> str:
    """Returns the message for a vocabulary that names no token for a role, with the special tokens that it has."""
    tokens = {text: id for text, id in tokenizer.special_tokens.items() if id != tokenizer.unk_id}
    if not tokens:
        return (
            f"the vocabulary names no {role} and has no special tokens: train with {keyword(role, '<|endoftext|>')} "
            f"to create one, or leave {keyword(f'{role}=')} out"
        )
    return (
        f"the vocabulary names no {role}; {special_tokens_text(tokens, role)}: give one, such as "
        f"{keyword(role, sorted_for_role(tokens, role)[0])}, or leave {keyword(f'{role}=')} out"
    )


def _piece_texts(ids: Sequence[int], tokenizer: Tokenizer) -> str:
    return " ".join(repr(tokenizer.id_to_piece(id).decode(errors="replace")) for id in ids)
