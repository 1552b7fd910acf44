"""The options for the documents of a corpus: everything that shapes the output beside the inputs and the tokenizer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

import numpy as np

from ..checks import number, one_of
from ..errors import ArgumentError, PieceError
from ..options import OptionKeywords, Options
from ..reading import Reading
from ..spec import Slot
from ..tokenizer import Tokenizer
from ..values import Special
from .plan import SHARD_SIZE
from .write import WRITERS

Output = Literal["megatron", "flat", "npy", "parquet", "arrow"]
Long = Literal["truncate", "skip", "split"]
Dtype = Literal["auto", "uint16", "uint32", "int32"]

_LARGEST_SHARD = 1 << 40
_MOST = 1 << 62
_DTYPES = {"uint16": 2**16, "uint32": 2**32, "int32": 2**31}


class DocumentKeywords(OptionKeywords, total=False):
    """The fields of `DocumentOptions` as keywords of a call."""

    output: Output
    dtype: Dtype
    bos: int | str | None
    eos: int | str | None
    min_tokens: int
    max_tokens: int | None
    long: Long
    shuffle: int
    seed: int
    shard_size: int
    columns: Sequence[str]
    reading: Reading


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """The options for documents.

    * ``output``: ``megatron``, ``flat``, ``npy``, ``parquet`` or ``arrow``.
    * ``dtype``: of ids; ``auto`` is the smallest that holds the vocabulary and that the output can have.
    * ``bos``, ``eos``: the token that begins and ends each document: an id, a piece, or ``auto``, the tokenizer's own.
    * ``add_special``, ``special``, ``reject_special``: as in `Tokenizer.encode`.
    * ``min_tokens``: documents of fewer are skipped. Tokens are counted as they are written, with bos and eos.
    * ``max_tokens`` and ``long``: longer documents are truncated, keeping eos (``truncate``), skipped (``skip``) or
      split into several consecutive ones (``split``).
    * ``shuffle`` and ``seed``: documents are shuffled within windows of ``shuffle`` consecutive documents of a shard.
    * ``shard_size``: the bytes of input that make a shard, as far as inputs can be split.
    * ``columns``: names of columns, or fields, of the inputs to keep with the documents (parquet, arrow).
    * ``reading``: how the inputs are read.
    """

    output: str = "megatron"
    dtype: Dtype = "auto"
    bos: int | str | None = None
    eos: int | str | None = None
    add_special: bool = False
    special: Special = ()
    reject_special: bool = False
    min_tokens: int = 0
    max_tokens: int | None = None
    long: Long = "truncate"
    shuffle: int = 0
    seed: int = 0
    shard_size: int = SHARD_SIZE
    columns: Sequence[str] = ()
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        """Raises `ArgumentError` for an invalid value."""
        one_of("output", self.output, tuple(WRITERS))
        one_of("dtype", self.dtype, get_args(Dtype))
        one_of("long", self.long, get_args(Long))
        number("min_tokens", self.min_tokens, least=0, most=_MOST)
        number("shuffle", self.shuffle, least=0, most=_MOST)
        number("seed", self.seed, least=0, most=2**64 - 1)
        number("shard_size", self.shard_size, least=1, most=_LARGEST_SHARD)
        if self.max_tokens is not None:
            number("max_tokens", self.max_tokens, least=1, most=_MOST)
            if self.max_tokens < self.min_tokens:
                raise ArgumentError(f"max_tokens={self.max_tokens} is less than min_tokens={self.min_tokens}")
        if not isinstance(self.reading, Reading):
            raise ArgumentError(f"reading={self.reading!r} is no polytok.Reading")
        if self.reading.invalid == "keep":
            raise ArgumentError("invalid='keep' is for training: choose 'error', 'replace' or 'skip'")
        object.__setattr__(self, "columns", self._checked_columns())
        if not isinstance(self.special, str):
            object.__setattr__(self, "special", tuple(sorted(self.special)))

    def _checked_columns(self) -> tuple[str, ...]:
        if isinstance(self.columns, str):
            raise ArgumentError(f"columns={self.columns!r} is one name: give a list of names")
        columns = tuple(self.columns)
        if not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
            raise ArgumentError(f"columns={list(columns)} are not names, each of them once")
        if columns and not WRITERS[self.output].takes_columns:
            takes = ", ".join(kind for kind, writer in WRITERS.items() if writer.takes_columns)
            raise ArgumentError(f"output={self.output!r} holds ids alone: columns go with {takes}")
        return columns

    def resolved(self, tokenizer: Tokenizer) -> DocumentOptions:
        """Resolve pieces and the additions of ``add_special`` to ids, and ``auto`` to a dtype.

        Raises `ArgumentError` for a token that the tokenizer does not have, and for a dtype that cannot hold its ids.
        """
        tokenizer.encode("", options=self.encoding)  # checks that those are special tokens
        bos, eos = _id("bos", self.bos, tokenizer), _id("eos", self.eos, tokenizer)
        chosen = replace(self, dtype=self._dtype(tokenizer.vocab_size), bos=bos, eos=eos)
        return chosen._with_template(tokenizer) if self.add_special else chosen._with_room(0)

    def _with_template(self, tokenizer: Tokenizer) -> DocumentOptions:
        """Use what ``add_special`` adds as bos and eos, if each of them is a single id."""
        template = tokenizer.spec.post
        for name, given, around in (("bos", self.bos, template.before), ("eos", self.eos, template.after)):
            if given is not None and around:
                raise ArgumentError(f"add_special=True puts {_texts(around, tokenizer)} there too: leave {name} out")
        slots = [part for part in template.single if isinstance(part, Slot)]
        if slots == [Slot(0)] and max(len(template.before), len(template.after)) <= 1:
            (bos,), (eos,) = template.before or (self.bos,), template.after or (self.eos,)
            return replace(self, bos=bos, eos=eos, add_special=False)._with_room(0)
        if template.after and self.max_tokens is not None and self.long == "truncate":
            raise ArgumentError(
                f"{_texts(template.after, tokenizer)}, which add_special=True puts behind documents, would be cut off "
                "with them: choose long='skip' or 'split', or bos and eos instead"
            )
        return self._with_room(len(template.before))

    def _with_room(self, before: int) -> DocumentOptions:
        """Return these options, unless truncated documents would have no room for text."""
        room = before + (self.bos is not None) + (self.eos is not None)
        if self.max_tokens is not None and self.long == "truncate" and self.max_tokens <= room:
            raise ArgumentError(f"max_tokens={self.max_tokens} leaves no room for text beside what is put around it")
        return self

    def _dtype(self, vocab_size: int) -> Dtype:
        name: str = self.dtype
        if name == "auto":
            name = "uint16" if vocab_size <= _DTYPES["uint16"] else "uint32"
            name = WRITERS[self.output].stored(np.dtype(name)).name
        if vocab_size > _DTYPES[name]:
            raise ArgumentError(f"dtype={name} does not hold the ids of a vocabulary of {vocab_size}: choose uint32")
        if WRITERS[self.output].stored(np.dtype(name)).name != name:
            raise ArgumentError(
                f"output={self.output!r} has no {name}: choose {', '.join(WRITERS[self.output].dtypes)}"
            )
        return cast("Dtype", name)

    @property
    def encoding(self) -> Options:
        """The options of encoding among these."""
        return Options(self.add_special, self.special, self.reject_special)

    @property
    def ids(self) -> tuple[int | None, int | None]:
        """The ids of bos and eos, once they are resolved."""
        bos, eos = self.bos, self.eos
        assert not isinstance(bos, str) and not isinstance(eos, str)
        return bos, eos

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> DocumentOptions:
        """The options that `to_json` serialized."""
        return cls(**{**plain, "reading": Reading(**plain["reading"])})


def _id(name: str, said: int | str | None, tokenizer: Tokenizer) -> int | None:
    """The id of the token that begins or ends a document."""
    if said is None:
        return None
    if isinstance(said, int):
        if isinstance(said, bool) or not 0 <= said < tokenizer.vocab_size:
            raise ArgumentError(f"{name}={said!r} is no id of the vocabulary")
        return said
    if said == "auto":
        found: int | None = getattr(tokenizer, f"{name}_id")
        if found is None:
            raise ArgumentError(f"the tokenizer names no {name}: say its piece or id ({name}='<|endoftext|>'), or none")
        return found
    try:
        return tokenizer.id_of(said)
    except PieceError as error:
        raise ArgumentError(f"{name}={said!r} is no piece of the vocabulary") from error


def _texts(ids: Sequence[int], tokenizer: Tokenizer) -> str:
    return " ".join(repr(tokenizer.token_bytes(id).decode(errors="replace")) for id in ids)
