"""GGUF, the files of llama.cpp. The metadata of a file contain the tokenizer; the tensors after them are not read.

A file does not contain all rules of llama.cpp: the pre-tokenizers of each name are in gguf_pretokenizers.py, and the
rules for special tokens in gguf_tokens.py. In a byte-level vocabulary, a row of type NORMAL is converted to bytes if
all its characters are in GPT-2's table; otherwise the row gets the kind UNUSED, because no text is encoded to it. Rows
of other types stay texts. All keys of a file are kept, so that an unchanged tokenizer is written with the same bytes.

Source: ggml-org/llama.cpp, src/llama-vocab.cpp; its twin is python/polytok/reference/llama_cpp.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

from .. import _core
from ..columns import column_of
from ..errors import FormatError
from ..records import replace
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
from .gguf_file import F32, I8, I32, U8, U32, GgufFile, Texts
from .gguf_pretokenizers import PreTokenizer
from .gguf_texts import join_texts, text_list, unescape
from .gguf_tokens import SPECIAL, Attribute, Tokens, attributes
from .gguf_write import FAMILIES, IS_NORMAL, KEY, KEY_OF_ROLE, column_values, rewrite

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
_KEYS_OF_FILL_IN_MIDDLE_ROLE = {
    **{"fim_pre": ("fim_pre", "prefix"), "fim_suf": ("fim_suf", "suffix"), "fim_mid": ("fim_mid", "middle")},
    **{role: (role,) for role in ("fim_pad", "fim_rep", "fim_sep")},
}
_MODEL_OF_FAMILY: Mapping[str, Model] = {
    "spm": Bpe("score", symbols="chars", reserved=True),
    "wpm": WordPiece(continuing_prefix="", max_chars=None, phantom_space=True),
    "ugm": Unigram("llama.cpp"),
    "plamo2": Plamo2(),
}
_IS_NOT_NORMAL = bytes(kind != Kind.NORMAL for kind in range(256))
_NO_PRE_TOKENIZER = PreTokenizer("default", clean_spaces=False)
_BYTE_TOKENS = [b"<0x%02X>" % byte for byte in range(256)]


def refusal(data: bytes) -> str | None:
    """Accepts bytes that begin with the magic."""
    return None if data[:4] == gguf_file.MAGIC else "the file does not begin with GGUF"


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a file, or the metadata at the start of a file without the rest."""
    file = gguf_file.read(data)
    spec = _SpecReader(file, options.pre_tokenizer).spec()
    derived_values = column_values(spec, file)
    kept_values = {
        key: (*value[:3], None) if derived_values.get(key) == value else value for key, value in file.values.items()
    }
    extra: dict[str, Any] = {"version": file.version, "big_endian": file.big_endian, "keys": kept_values}
    if options.pre_tokenizer is not None:
        extra["pre_tokenizer"] = options.pre_tokenizer
    return replace(spec, origin=Origin(name, options.name), extra={name: extra})


def write(spec: Spec) -> Written:
    """Writes a file without tensors."""
    return rewrite(spec, read)


class _SpecReader:
    """Converts the metadata of a file to a Spec. The methods follow the rules by which llama.cpp loads a file."""

    def __init__(self, file: GgufFile, pre_name: str | None) -> None:
        self.file = file
        self.pre_name = pre_name
        self.model = self.family = ""
        self.pre = _NO_PRE_TOKENIZER
        self.texts: Texts = (b"", column_of("I", [0]))
        self.token_texts: list[bytes] = []
        self.token_types: Sequence[int] = ()
        self.attributes: list[Attribute] = []
        self.names: dict[str, int] = {}

    def spec(self) -> Spec:
        self._choose_model_and_family()
        self._read_tokens()
        self.names = self._names_with_defaults()
        self.attributes = attributes(self._attribute_inputs())
        add_space = self.file.flag(f"{KEY}add_space_prefix", self.family == "spm")
        normalize, split = self._normalize_and_split(add_space)
        vocab, model = self._vocab_and_model()
        return Spec(
            vocab=vocab,
            model=model,
            special=tuple(self._special_tokens()),
            matching="longest_first",
            normalize=normalize,
            split=split,
            unknown=self._unknown_policy(),
            post=self._template(),
            decode=LlamaCppDecode(
                self.family,  # type: ignore[arg-type]
                strip_space=add_space,
                clean_spaces=self.family == "wpm" or self.pre.clean_spaces,
                escaped_spaces=self.pre.escaped,
            ),
            names=self._names_of_special_tokens(),
        )

    def _choose_model_and_family(self) -> None:
        self.model = self.file.text(f"{KEY}model")
        if self.model not in FAMILIES:
            readable_models = ", ".join(FAMILIES)
            raise FormatError(f"{KEY}model is {self.model!r}; polytok reads the models {readable_models}")
        self.family = FAMILIES[self.model]
        if self.family == "bpe":
            name_in_file = "gemma4" if self.model == "gemma4" else self.file.text(f"{KEY}pre", "") or "default"
            self.pre = gguf_pretokenizers.find_pre_tokenizer(self.pre_name or name_in_file)

    def _read_tokens(self) -> None:
        texts = self.file.texts(f"{KEY}tokens")
        if texts is None or len(texts[1]) < 2:
            raise FormatError(f"{KEY}tokens is {'missing' if texts is None else 'empty'}")
        self.token_texts = text_list(texts)
        if not all(self.token_texts):
            self.token_texts = [token_text or b"[EMPTY_%d]" % id for id, token_text in enumerate(self.token_texts)]
            texts = join_texts(self.token_texts)
        self.texts = texts
        token_types = self.file.numbers(f"{KEY}token_type", (I32,))
        if token_types is not None and len(token_types) < len(self.token_texts):
            raise FormatError(f"{KEY}token_type has {len(token_types)} elements for {len(self.token_texts)} tokens")
        count = len(self.token_texts)
        self.token_types = [int(Kind.NORMAL)] * count if token_types is None else token_types[:count].tolist()

    def _attribute_inputs(self) -> Tokens:
        ids = {token_text: id for id, token_text in enumerate(self.token_texts)}
        if len(ids) < len(self.token_texts):
            self._refuse_repeated_text()
        roles_in_file = {
            role
            for role, keys in _KEYS_OF_FILL_IN_MIDDLE_ROLE.items()
            if any(self._valid_id(key) is not None for key in keys)
        }
        general_values = (self.file.text(f"general.{key}", "") for key in ("name", "architecture"))
        model_name, architecture = general_values
        pre = self.file.text(f"{KEY}pre", "")
        return Tokens(self.token_texts, self.token_types, frozenset(roles_in_file), model_name, pre, architecture, ids)

    def _refuse_repeated_text(self) -> None:
        """Raises the error for the first text that an earlier token has too."""
        ids: dict[bytes, int] = {}
        for id, token_text in enumerate(self.token_texts):
            if ids.setdefault(token_text, id) != id:
                raise FormatError(
                    f"{KEY}tokens: ids {ids[token_text]} and {id} have the same text, {token_text[:40]!r}"
                )

    def _valid_id(self, key: str) -> int | None:
        id = self.file.number(f"{KEY}{key}_token_id", (U32,))
        return id if id is not None and id < len(self.token_texts) else None

    def _names_with_defaults(self) -> dict[str, int]:
        default_ids = {} if self.model == "gemma4" else dict(_DEFAULT_IDS[self.family])
        if not self.pre.has_bos:
            del default_ids["bos"]
        ids = {role: id for role, id in default_ids.items() if id < len(self.token_texts)}
        for role, key in KEY_OF_ROLE.items():
            id = self._valid_id(key)
            if id is not None:
                ids[role] = id
        return ids

    def _names_of_special_tokens(self) -> dict[str, int]:
        """Returns the roles that the file names, and llama.cpp's defaults if they are tokens of such a role.

        By default, llama.cpp ends a text of byte-level BPE at id 11, which can be an ordinary entry, and Unigram pads
        with id 0, which can be the unknown token.
        """
        attribute_of_role = {"unk": Attribute.UNKNOWN | Attribute.CONTROL}
        return {
            role: id
            for role, id in self.names.items()
            if self.attributes[id] & attribute_of_role.get(role, Attribute.CONTROL)
            or self._valid_id(KEY_OF_ROLE[role]) == id
        }

    def _decode_text(self, id: int) -> str:
        try:
            return self.token_texts[id].decode()
        except UnicodeDecodeError:
            raise FormatError(f"the special token {id}, {self.token_texts[id][:40]!r}, is not UTF-8") from None

    def _special_tokens(self) -> list[SpecialToken]:
        """Returns the special tokens, which llama.cpp searches in a text before all other tokens."""
        reserved_bits = Attribute.CONTROL | Attribute.UNKNOWN
        # Most tokens are normal: comparing them by identity is many times faster than testing their flags.
        normal = Attribute.NORMAL
        special_attributes = (
            (id, attribute)
            for id, attribute in enumerate(self.attributes)
            if attribute is not normal and attribute & SPECIAL
        )
        return [
            SpecialToken(
                self._decode_text(id),
                id,
                special=bool(attribute & reserved_bits),
                lstrip=bool(attribute & Attribute.LSTRIP),
                rstrip=bool(attribute & Attribute.RSTRIP),
            )
            for id, attribute in special_attributes
        ]

    def _template(self) -> Template:
        if self.family in ("rwkv", "plamo2"):
            return Template()
        add_bos = self.file.flag(f"{KEY}add_bos_token", self.family in ("spm", "wpm") or self.pre.add_bos)
        add_bos |= self.pre.newline_tokens
        add_eos = self.file.flag(f"{KEY}add_eos_token", self.family == "ugm")
        add_sep = self.file.flag(f"{KEY}add_sep_token", self.family == "wpm")
        for is_added, role in ((add_bos, "bos"), (add_eos, "eos"), (add_sep, "sep")):
            if is_added and role not in self.names:
                raise FormatError(
                    f"{KEY}add_{role}_token is true, but {KEY}{KEY_OF_ROLE[role]}_token_id names no token"
                )
        if self.family == "wpm":
            return Template.around(self._ids_of_role("bos"), self._ids_of_role("sep"))
        return Template.around(self._ids_of_role("bos") if add_bos else (), self._ids_of_role("eos") if add_eos else ())

    def _ids_of_role(self, role: str) -> tuple[int, ...]:
        return (self.names[role],) if role in self.names else ()

    def _normalize_and_split(self, add_space: bool) -> tuple[tuple[NormalizeStep, ...], tuple[SplitStep, ...]]:
        escape_spaces = Replace(" ", SPACE_MARK)
        steps: tuple[NormalizeStep, ...] = (ReplaceInvalid(lenient=True),)
        if self.family == "spm":
            return ((PrefixSpace(), escape_spaces) if add_space else (escape_spaces,)), ()
        if self.family == "ugm":
            collapses_spaces = self.file.flag(f"{KEY}remove_extra_whitespaces", False)
            return (UgmNormalize(self._charsmap(), add_space, collapses_spaces),), ()
        if self.family == "wpm":
            lowercase = self.file.flag(f"{KEY}normalizer.lowercase", True)
            strips_accents = self.file.flag(f"{KEY}normalizer.strip_accents", lowercase)
            return (*steps, WpmNormalize(lowercase, strips_accents)), (PatternSplit("\0", "removed", is_regex=False),)
        if self.family != "bpe":
            return (() if self.family == "rwkv" else steps), ()
        if self.pre.escaped:
            steps = (escape_spaces, *steps)
        if self.model == "whitespace" and self.file.flag(f"{KEY}normalizer.lowercase", False):
            steps += (Lowercase(),)
        return steps, gguf_pretokenizers.steps(self.pre)

    def _charsmap(self) -> bytes:
        blob = self.file.numbers(f"{KEY}precompiled_charsmap", (I8, U8))
        if blob is None:
            return b""
        data = blob.tobytes()
        if len(data) < 4 or int.from_bytes(data[:4], "little") + 4 >= len(data):
            raise FormatError(f"{KEY}precompiled_charsmap is truncated")
        return data

    def _unknown_policy(self) -> UnknownPolicy:
        if self.family in ("wpm", "ugm", "rwkv"):
            return "unk" if "unk" in self.names else "error"
        return "drop" if self.family == "bpe" else "bytes"

    def _vocab_and_model(self) -> tuple[Vocab, Model]:
        kind_of_type = {number: number if 1 <= number <= 6 else Kind.UNUSED for number in set(self.token_types)}
        kinds = bytearray(map(kind_of_type.__getitem__, self.token_types))
        self._adjust_kinds(kinds)
        texts = self.texts
        if self.family == "bpe":
            if not self.pre.raw:
                texts, rows_outside_table = _core.gguf_byte_level(self.texts, bytes(kinds.translate(IS_NORMAL)))
                for row in rows_outside_table:
                    kinds[row] = Kind.UNUSED
            model: Model = self._bpe_model(kinds)
        elif self.family == "rwkv":
            texts, model = join_texts([unescape(token_text) for token_text in self.token_texts]), Longest()
        else:
            model = _MODEL_OF_FAMILY[self.family]
        if self.family == "plamo2":
            self._require_byte_tokens(kinds)
        ids = column_of("I", range(len(self.token_texts)))
        return Vocab(*texts, ids, self._scores(), memoryview(kinds)), model

    def _adjust_kinds(self, kinds: bytearray) -> None:
        """Changes kinds that the engine would otherwise treat differently from llama.cpp."""
        if self.family in ("wpm", "ugm", "rwkv"):
            _replace_kind(kinds, Kind.UNKNOWN, Kind.CONTROL)
            if self.family != "ugm":  # wpm and rwkv match control tokens by their texts, like ordinary tokens.
                _replace_kind(kinds, Kind.CONTROL, Kind.NORMAL)
            if "unk" in self.names:
                kinds[self.names["unk"]] = Kind.UNKNOWN
        for id in _rows_of_kind(kinds, Kind.CONTROL):
            if not self.attributes[id] & SPECIAL:
                kinds[id] = Kind.NORMAL

    def _bpe_model(self, kinds: bytearray) -> Bpe:
        merge_lines = self.file.texts(f"{KEY}merges")
        if merge_lines is None:
            if self.file.text(f"{KEY}pre", "") != "kimi-k2":
                raise FormatError(f"the key {KEY}merges is missing")
            merge_lines = join_texts([])
        if self.pre.raw:
            merges = _core.gguf_merges(self.texts, merge_lines, [])
            tries_whole_piece = self.pre.newline_tokens
            return Bpe("merges", "scalars", tries_whole_piece, merges=merges, byte_fallback=True)
        not_normal = compress(range(len(kinds)), kinds.translate(_IS_NOT_NORMAL))
        ids_of_texts = [id for id in not_normal if not _is_printable_ascii(self.token_texts[id])]
        merges = _core.gguf_merges(self.texts, merge_lines, ids_of_texts)
        return Bpe("merges", whole_piece_first=self.pre.ignore_merges, merges=merges)

    def _scores(self) -> memoryview:
        scores = self.file.numbers(f"{KEY}scores", (F32, I32))
        if scores is None:
            return column_of("f", bytes(4 * len(self.token_texts)))
        if len(scores) < len(self.token_texts):
            raise FormatError(f"{KEY}scores has {len(scores)} elements for {len(self.token_texts)} tokens")
        scores = scores[: len(self.token_texts)]
        return scores if scores.format == "f" else column_of("f", scores)

    def _require_byte_tokens(self, kinds: bytearray) -> None:
        ids = {self.token_texts[id] for id in _rows_of_kind(kinds, Kind.BYTE) if id}
        missing_tokens = [text for text in _BYTE_TOKENS if text not in ids and text.lower() not in ids]
        if missing_tokens:
            raise FormatError(
                f"PLaMo-2 needs all 256 byte tokens after id 0, but {missing_tokens[0].decode()} is missing"
            )


def _rows_of_kind(kinds: bytearray, kind: Kind) -> list[int]:
    return [row for row, number in enumerate(kinds) if number == kind]


def _replace_kind(kinds: bytearray, kind: Kind, new_kind: Kind) -> None:
    kinds[:] = kinds.replace(bytes([kind]), bytes([new_kind]))


def _is_printable_ascii(token_text: bytes) -> bool:
    """Reports whether a text is printable ASCII, which GPT-2's table does not change."""
    return all(0x21 <= byte <= 0x7E for byte in token_text)
