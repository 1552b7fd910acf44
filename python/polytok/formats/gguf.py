"""GGUF, the files of llama.cpp: a model's metadata, which holds its tokenizer, and tensors, which are not looked at.

The rules of llama.cpp that are no part of the file are in gguf_pretokenizers.py (what the name of a pre-tokenizer
stands for) and gguf_tokens.py (which tokens are special). Rows of a byte-level vocabulary are bytes where the type is
normal and all characters are GPT-2's; a normal text with another character is of kind UNUSED, since no text can reach
it, and all others are texts. Every key of a file is kept, so that an unchanged tokenizer is written as it was.

Source: ggml-org/llama.cpp, src/llama-vocab.cpp; python/polytok/reference/llama_cpp.py is its twin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import FormatError
from ..space_mark import SPACE_MARK
from ..spec import (
    Bpe,
    Kind,
    LlamaCppDecode,
    Longest,
    Lowercase,
    Model,
    NormalizeStep,
    Origin,
    PatternSplit,
    Plamo2,
    PrefixSpace,
    Replace,
    ReplaceInvalid,
    Spec,
    SpecialToken,
    SplitStep,
    Template,
    UgmNormalize,
    Unigram,
    UnknownPolicy,
    Vocab,
    WordPiece,
    WpmNormalize,
)
from . import gguf_file, gguf_pretokenizers
from .base import ReadOptions, Written
from .gguf_file import F32, I8, I32, U8, U32, File, Texts
from .gguf_pretokenizers import PreTokenizer
from .gguf_texts import cut, joined, unescaped
from .gguf_tokens import SPECIAL, Attribute, Tokens, attributes
from .gguf_write import FAMILIES, KEY, ROLES, columns, rewritten

name = "gguf"
options = frozenset({"pre_tokenizer"})

_DEFAULT_IDS: Mapping[str, Mapping[str, int]] = {
    "spm": {"bos": 1, "eos": 2, "unk": 0},
    "bpe": {"bos": 11, "eos": 11},
    "wpm": {"bos": 101, "unk": 100, "sep": 102, "pad": 0, "mask": 103},
    "ugm": {"eos": 1, "unk": 2, "pad": 0},
    "rwkv": {},
    "plamo2": {"bos": 1, "eos": 2, "unk": 0, "pad": 3},
}
_FILL_IN_MIDDLE = {
    **{"fim_pre": ("fim_pre", "prefix"), "fim_suf": ("fim_suf", "suffix"), "fim_mid": ("fim_mid", "middle")},
    **{role: (role,) for role in ("fim_pad", "fim_rep", "fim_sep")},
}
_MODELS: Mapping[str, Model] = {
    "spm": Bpe("score", symbols="chars", reserved=True),
    "wpm": WordPiece(continuing_prefix="", max_chars=None, phantom_space=True),
    "ugm": Unigram("llama.cpp"),
    "plamo2": Plamo2(),
}
_NO_TYPE = PreTokenizer("default", clean_spaces=False)
_BYTES = [b"<0x%02X>" % byte for byte in range(256)]


def refusal(data: bytes) -> str | None:
    """The magic."""
    return None if data[:4] == gguf_file.MAGIC else "the file does not begin with GGUF"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Read a file, or the metadata that it begins with."""
    file = gguf_file.read(data)
    spec = _Reader(file, options.pre_tokenizer).spec()
    made = columns(spec, file)
    kept = {key: (*value[:3], None) if made.get(key) == value else value for key, value in file.values.items()}
    extra: dict[str, Any] = {"version": file.version, "big_endian": file.big_endian, "keys": kept}
    if options.pre_tokenizer is not None:
        extra["pre_tokenizer"] = options.pre_tokenizer
    return replace(spec, origin=Origin(name, options.name), extra={name: extra})


def write(spec: Spec) -> Written:
    """Write a file without tensors."""
    return rewritten(spec, read)


@dataclass(slots=True)
class _Reader:
    """A file on its way to a Spec; the methods follow llama.cpp's loading."""

    file: File
    pre_name: str | None
    model: str = ""
    family: str = ""
    pre: PreTokenizer = _NO_TYPE
    texts: Texts = (b"", np.zeros(1, np.uint32))
    words: list[bytes] = field(default_factory=list)
    types: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    attributes: list[Attribute] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)

    def spec(self) -> Spec:
        self._choose_model()
        self._read_tokens()
        self.names = self._ids()
        self.attributes = attributes(self._tokens())
        space = self.file.flag(f"{KEY}add_space_prefix", self.family == "spm")
        normalize, split = self._steps(space)
        vocab, model = self._vocab_and_model()
        return Spec(
            vocab=vocab,
            model=model,
            special=tuple(self._special()),
            matching="longest_first",
            normalize=normalize,
            split=split,
            unknown=self._unknown(),
            post=self._template(),
            decode=LlamaCppDecode(
                self.family,  # type: ignore[arg-type]
                strip_space=space,
                clean_spaces=self.family == "wpm" or self.pre.clean_spaces,
                escaped_spaces=self.pre.escaped,
            ),
            names=self.names,
        )

    def _choose_model(self) -> None:
        self.model = self.file.text(f"{KEY}model")
        if self.model not in FAMILIES:
            known = ", ".join(FAMILIES)
            raise FormatError(f"{KEY}model is {self.model!r}; those that can be read are {known}")
        self.family = FAMILIES[self.model]
        if self.family == "bpe":
            said = "gemma4" if self.model == "gemma4" else self.file.text(f"{KEY}pre", "") or "default"
            self.pre = gguf_pretokenizers.named(self.pre_name or said)

    def _read_tokens(self) -> None:
        texts = self.file.texts(f"{KEY}tokens")
        if texts is None or len(texts[1]) < 2:
            raise FormatError(f"{KEY}tokens is {'missing' if texts is None else 'empty'}")
        self.words = cut(texts)
        if not all(self.words):
            self.words = [word or b"[EMPTY_%d]" % id for id, word in enumerate(self.words)]
            texts = joined(self.words)
        self.texts = texts
        types = self.file.numbers(f"{KEY}token_type", (I32,))
        if types is not None and len(types) < len(self.words):
            raise FormatError(f"{KEY}token_type has {len(types)} elements for {len(self.words)} tokens")
        self.types = np.ones(len(self.words), np.int32) if types is None else types[: len(self.words)].astype(np.int32)

    def _tokens(self) -> Tokens:
        ids: dict[bytes, int] = {}
        for id, word in enumerate(self.words):
            if ids.setdefault(word, id) != id:
                raise FormatError(f"{KEY}tokens: ids {ids[word]} and {id} have the same text, {word[:40]!r}")
        given = {role for role, keys in _FILL_IN_MIDDLE.items() if any(self._id(key) is not None for key in keys)}
        general = (self.file.text(f"general.{key}", "") for key in ("name", "architecture"))
        model_name, architecture = general
        pre = self.file.text(f"{KEY}pre", "")
        return Tokens(self.words, self.types.tolist(), frozenset(given), model_name, pre, architecture, ids)

    def _id(self, key: str) -> int | None:
        id = self.file.number(f"{KEY}{key}_token_id", (U32,))
        return id if id is not None and id < len(self.words) else None

    def _ids(self) -> dict[str, int]:
        defaults = {} if self.model == "gemma4" else dict(_DEFAULT_IDS[self.family])
        if not self.pre.has_bos:
            del defaults["bos"]
        found = {role: id for role, id in defaults.items() if id < len(self.words)}
        for role, key in ROLES.items():
            id = self._id(key)
            if id is not None:
                found[role] = id
        return found

    def _text(self, id: int) -> str:
        try:
            return self.words[id].decode()
        except UnicodeDecodeError:
            raise FormatError(f"the special token {id}, {self.words[id][:40]!r}, is no UTF-8") from None

    def _special(self) -> list[SpecialToken]:
        """The tokens that are cut out of a text before anything else."""
        reserved = Attribute.CONTROL | Attribute.UNKNOWN
        cut_out = int(SPECIAL)  # numbers are many times as quick as flags
        return [
            SpecialToken(
                self._text(id),
                id,
                special=bool(attribute & reserved),
                lstrip=bool(attribute & Attribute.LSTRIP),
                rstrip=bool(attribute & Attribute.RSTRIP),
            )
            for id, attribute in enumerate(self.attributes)
            if int(attribute) & cut_out
        ]

    def _template(self) -> Template:
        if self.family in ("rwkv", "plamo2"):
            return Template()
        add_bos = self.file.flag(f"{KEY}add_bos_token", self.family in ("spm", "wpm") or self.pre.add_bos)
        add_bos |= self.pre.newline_tokens
        add_eos = self.file.flag(f"{KEY}add_eos_token", self.family == "ugm")
        add_sep = self.file.flag(f"{KEY}add_sep_token", self.family == "wpm")
        for wanted, role in ((add_bos, "bos"), (add_eos, "eos"), (add_sep, "sep")):
            if wanted and role not in self.names:
                raise FormatError(f"{KEY}add_{role}_token is true, but {KEY}{ROLES[role]}_token_id gives no token")
        if self.family == "wpm":
            return Template.around(self._named("bos"), self._named("sep"))
        return Template.around(self._named("bos") if add_bos else (), self._named("eos") if add_eos else ())

    def _named(self, role: str) -> tuple[int, ...]:
        return (self.names[role],) if role in self.names else ()

    def _steps(self, space: bool) -> tuple[tuple[NormalizeStep, ...], tuple[SplitStep, ...]]:
        escape = Replace(" ", SPACE_MARK)
        steps: tuple[NormalizeStep, ...] = (ReplaceInvalid(lenient=True),)
        if self.family == "spm":
            return ((PrefixSpace(), escape) if space else (escape,)), ()
        if self.family == "ugm":
            merged = self.file.flag(f"{KEY}remove_extra_whitespaces", False)
            return (UgmNormalize(self._charsmap(), space, merged),), ()
        if self.family == "wpm":
            fold = self.file.flag(f"{KEY}normalizer.lowercase", True)
            strips = self.file.flag(f"{KEY}normalizer.strip_accents", fold)
            return (*steps, WpmNormalize(fold, strips)), (PatternSplit("\0", "removed", is_regex=False),)
        if self.family != "bpe":
            return (() if self.family == "rwkv" else steps), ()
        if self.pre.escaped:
            steps = (escape, *steps)
        if self.model == "whitespace" and self.file.flag(f"{KEY}normalizer.lowercase", False):
            steps += (Lowercase(),)
        return steps, gguf_pretokenizers.steps(self.pre)

    def _charsmap(self) -> bytes:
        blob = self.file.numbers(f"{KEY}precompiled_charsmap", (I8, U8))
        if blob is None:
            return b""
        data = blob.tobytes()
        if len(data) < 4 or int.from_bytes(data[:4], "little") + 4 >= len(data):
            raise FormatError(f"{KEY}precompiled_charsmap is cut off")
        return data

    def _unknown(self) -> UnknownPolicy:
        if self.family in ("wpm", "ugm", "rwkv"):
            return "unk" if "unk" in self.names else "error"
        return "drop" if self.family == "bpe" else "bytes"

    def _vocab_and_model(self) -> tuple[Vocab, Model]:
        kinds = np.where((self.types >= 1) & (self.types <= 6), self.types, Kind.UNUSED).astype(np.uint8)
        self._follow_rewrites(kinds)
        texts = self.texts
        if self.family == "bpe":
            if not self.pre.raw:
                texts, foreign = _core.gguf_byte_level(self.texts, kinds == Kind.NORMAL)
                kinds[foreign] = Kind.UNUSED
            model: Model = self._bpe(kinds)
        elif self.family == "rwkv":
            texts, model = joined([unescaped(word) for word in self.words]), Longest()
        else:
            model = _MODELS[self.family]
        if self.family == "plamo2":
            self._require_bytes(kinds)
        return Vocab(*texts, np.arange(len(self.words), dtype=np.uint32), self._scores(), kinds), model

    def _follow_rewrites(self, kinds: npt.NDArray[np.uint8]) -> None:
        """Kinds are the file's types but where the engine would take them for something else."""
        if self.family in ("wpm", "ugm", "rwkv"):
            kinds[kinds == Kind.UNKNOWN] = Kind.CONTROL
            if self.family != "ugm":  # Matched by their texts, like all others.
                kinds[kinds == Kind.CONTROL] = Kind.NORMAL
            if "unk" in self.names:
                kinds[self.names["unk"]] = Kind.UNKNOWN
        for id in np.flatnonzero(kinds == Kind.CONTROL).tolist():
            if not self.attributes[id] & SPECIAL:
                kinds[id] = Kind.NORMAL

    def _bpe(self, kinds: npt.NDArray[np.uint8]) -> Bpe:
        lines = self.file.texts(f"{KEY}merges")
        if lines is None:
            if self.file.text(f"{KEY}pre", "") != "kimi-k2":
                raise FormatError(f"the key {KEY}merges is missing")
            lines = joined([])
        merges = _core.gguf_merges(self.texts, lines)
        if self.pre.raw:
            first = self.pre.newline_tokens
            return Bpe("merges", "scalars", first, merges=merges, byte_fallback=True)
        texts = [id for id in np.flatnonzero(kinds != Kind.NORMAL).tolist() if not _is_plain(self.words[id])]
        reachable = ~np.isin(merges, np.array(texts, np.uint32)).any(axis=1)
        return Bpe("merges", whole_piece_first=self.pre.ignore_merges, merges=merges[reachable])

    def _scores(self) -> npt.NDArray[np.float32]:
        scores = self.file.numbers(f"{KEY}scores", (F32, I32))
        if scores is None:
            return np.zeros(len(self.words), np.float32)
        if len(scores) < len(self.words):
            raise FormatError(f"{KEY}scores has {len(scores)} elements for {len(self.words)} tokens")
        return scores[: len(self.words)].astype(np.float32)

    def _require_bytes(self, kinds: npt.NDArray[np.uint8]) -> None:
        found = {self.words[id] for id in np.flatnonzero(kinds == Kind.BYTE).tolist() if id}
        missing = [text for text in _BYTES if text not in found and text.lower() not in found]
        if missing:
            raise FormatError(f"PLaMo-2 needs all 256 byte tokens behind id 0, but {missing[0].decode()} is none")


def _is_plain(word: bytes) -> bool:
    """Whether a text is spelled in GPT-2's characters as it is in bytes."""
    return all(0x21 <= byte <= 0x7E for byte in word)
