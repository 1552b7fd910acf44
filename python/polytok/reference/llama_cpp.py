"""llama.cpp's tokenizer, straight from a GGUF file's metadata: the oracle of polytok's GGUF format.

`LlamaCpp` follows llama-vocab.cpp. It matches special tokens in the text, the longest first over the whole text; the
model converts the texts between them to ids; BOS and EOS are added around the result. The models are in
`llama_cpp_models` and `llama_cpp_ugm`, the pre-tokenizers in `llama_cpp_split`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polytok.byte_level import BYTES
from polytok.formats.gguf_pretokenizers import PRE_TOKENIZERS, PreTokenizer
from polytok.formats.gguf_tokens import OF_TYPE, SPECIAL, Attribute, Tokens, attributes
from polytok.reference import llama_cpp_models as models
from polytok.reference.llama_cpp_ugm import UgmTokenizer
from polytok.space_mark import SPACE_MARK_BYTES

_C_SPACES = b" \t\n\v\f\r"
_FAMILIES = {"llama": "spm", "bert": "wpm", "t5": "ugm", "rwkv": "rwkv", "plamo2": "plamo2"}
_DEFAULT_IDS = {
    "spm": {"bos": 1, "eos": 2, "unknown": 0},
    "bpe": {"bos": 11, "eos": 11},
    "wpm": {"bos": 101, "unknown": 100, "seperator": 102},
    "ugm": {"eos": 1, "unknown": 2},
    "rwkv": {},
    "plamo2": {"bos": 1, "eos": 2, "unknown": 0},
}


class LlamaCpp:
    """llama.cpp's tokenizer of one vocabulary, from the metadata of its GGUF file."""

    def __init__(self, metadata: dict[str, Any]) -> None:
        self.metadata = metadata
        self.model = self.get_key("model").decode()
        self.family = _FAMILIES.get(self.model, "bpe")
        self.texts = [text or b"[EMPTY_%d]" % id for id, text in enumerate(self.get_key("tokens"))]
        self.ids = {text: id for id, text in enumerate(self.texts)}
        self.scores: list[float] = self.get_key("scores") or [0.0] * len(self.texts)
        self._set_flags()
        self._set_attributes()
        if self.family == "bpe":
            self.ranks: dict[tuple[bytes, bytes], int] = {}
            for rank, line in enumerate(self.get_key("merges", [])):
                left, space, right = line[1:].partition(b" ")
                self.ranks.setdefault((line[:1] + left, right) if space else (b"", b""), rank)

    def get_key(self, name: str, default: Any = None) -> Any:
        """Returns the value of a key ``tokenizer.ggml.<name>``."""
        return self.metadata.get(f"tokenizer.ggml.{name}", default)

    def _set_flags(self) -> None:
        name = "gemma4" if self.model == "gemma4" else self.get_key("pre", b"").decode() or "default"
        self.pre = PRE_TOKENIZERS[name] if self.family == "bpe" else PreTokenizer("default", clean_spaces=False)
        defaults = {} if self.model == "gemma4" else dict(_DEFAULT_IDS[self.family])
        if not self.pre.has_bos:
            del defaults["bos"]
        roles = ("bos", "eos", "unknown", "seperator")
        self.special_ids = {role: self._special_id(role, defaults.get(role)) for role in roles}
        self.add_bos = self.get_key("add_bos_token", self.family in ("spm", "wpm") or self.pre.add_bos)
        self.add_bos |= self.pre.newline_tokens
        self.add_eos = self.get_key("add_eos_token", self.family == "ugm")
        self.add_space_prefix = self.get_key("add_space_prefix", self.family == "spm")
        self.clean_spaces = self.pre.clean_spaces or self.family == "wpm"
        lowercase = self.get_key("normalizer.lowercase", self.model != "whitespace")
        self.lowercase, self.strip_accents = lowercase, self.get_key("normalizer.strip_accents", lowercase)

    def _special_id(self, role: str, default: int | None) -> int | None:
        id = self.get_key(f"{role}_token_id")
        if id is None or id >= len(self.texts):
            id = default
        return id if id is not None and id < len(self.texts) else None

    def _set_attributes(self) -> None:
        types = self.get_key("token_type") or [1] * len(self.texts)
        aliases = {"fim_pre": "prefix", "fim_suf": "suffix", "fim_mid": "middle"}
        roles = ("fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep")
        named_roles = frozenset(
            role
            for role in roles
            if any(self._special_id(name, None) is not None for name in (role, aliases.get(role, role)))
        )
        name, architecture = (self.metadata.get(f"general.{key}", b"").decode() for key in ("name", "architecture"))
        pre = self.get_key("pre", b"").decode()
        tokens = Tokens(self.texts, types, named_roles, name, pre, architecture, self.ids)
        self.attributes = attributes(tokens)
        special = [id for id, attribute in enumerate(self.attributes) if attribute & SPECIAL]
        self.special = sorted(special, key=lambda id: -len(self.texts[id]))
        if self.family == "ugm":
            type_attributes = [OF_TYPE.get(number, Attribute.UNDEFINED) for number in types]
            charsmap = bytes(value & 0xFF for value in self.get_key("precompiled_charsmap", []))
            self.ugm = UgmTokenizer(self.texts, self.scores, type_attributes, charsmap)

    def tokenize(self, text: bytes, *, add_special: bool = False, parse_special: bool = False) -> list[int]:
        """Returns the ids of a text."""
        ids: list[int] = []
        for part in self._partition(text, parse_special):
            ids += [part] if isinstance(part, int) else self._encode_text(part)
        if not add_special or self.family in ("rwkv", "plamo2"):
            return ids
        if self.family == "wpm":
            return [self.special_ids["bos"] or 0, *ids, self.special_ids["seperator"] or 0]
        before = [self.special_ids["bos"]] if self.add_bos else []
        after = [self.special_ids["eos"]] if self.add_eos else []
        return [id for id in (*before, *ids, *after) if id is not None]

    def _partition(self, text: bytes, parse_special: bool) -> list[bytes | int]:
        """Splits a text at its special tokens into ids and the texts between them."""
        parts: list[bytes | int] = [text] if text else []
        for id in self.special:
            if not parse_special and self.attributes[id] & (Attribute.CONTROL | Attribute.UNKNOWN):
                continue
            parts = [
                new
                for part in parts
                for new in ([part] if isinstance(part, int) else self._split_part(part, id))
                if new != b""
            ]
        return parts

    def _split_part(self, part: bytes, id: int) -> list[bytes | int]:
        parts: list[bytes | int] = []
        left, token_text, right = part.partition(self.texts[id])
        while token_text:
            parts += [left.rstrip(_C_SPACES) if self.attributes[id] & Attribute.LSTRIP else left, id]
            remaining_text = right.lstrip(_C_SPACES) if self.attributes[id] & Attribute.RSTRIP else right
            left, token_text, right = remaining_text.partition(self.texts[id])
        return [*parts, left]

    def _encode_text(self, text: bytes) -> list[int]:
        """Returns the ids of a text that contains no special token."""
        unknown = self.special_ids["unknown"]
        if self.family == "spm":
            prefixed_text = b" " + text if self.add_space_prefix else text
            return models.spm(self.ids, self.scores, prefixed_text.replace(b" ", SPACE_MARK_BYTES))
        if self.family == "wpm":
            return models.wpm(self.ids, unknown or 0, text, lowercase=self.lowercase, strip_accents=self.strip_accents)
        if self.family == "ugm":
            merges_spaces = self.get_key("remove_extra_whitespaces", False)
            is_user_defined = [bool(attribute & Attribute.USER_DEFINED) for attribute in self.attributes]
            scores = {id: 0.0 if is_user_defined[id] else score for id, score in enumerate(self.scores)}
            return self.ugm.segment(
                self.ugm.normalize(text, self.add_space_prefix, merges_spaces), scores, unknown or 0
            )
        if self.family == "rwkv":
            return models.rwkv({models.unescape(text): id for text, id in self.ids.items()}, unknown, text)
        if self.family == "plamo2":
            usable_ids = {id for id, attribute in enumerate(self.attributes) if not attribute & Attribute.BYTE}
            return models.plamo2(self.ids, self.scores, usable_ids, text)
        if self.model == "whitespace":
            return models.whitespace(self.ids, self.ranks, self.pre, self.lowercase, text)
        return models.bpe(
            self.ids, self.ranks, self.pre, text.replace(b" ", SPACE_MARK_BYTES) if self.pre.escaped else text
        )

    def piece(self, id: int) -> bytes:
        """Returns the bytes that a token prints."""
        text, attribute = self.texts[id], self.attributes[id]
        if self.family == "rwkv":
            return models.unescape(text)
        if attribute & Attribute.BYTE and (self.family == "plamo2" or not attribute & (SPECIAL | Attribute.NORMAL)):
            return bytes.fromhex(text[3:5].decode())
        if attribute & SPECIAL or self.family == "plamo2":
            return text
        if not attribute & Attribute.NORMAL:
            return b""
        if self.family != "bpe" or self.pre.escaped:
            return text.replace(SPACE_MARK_BYTES, b" ")
        return b"".join(_decode_character(character, text) for character in text.decode("utf-8", "replace"))

    def detokenize(self, ids: Sequence[int], *, skip_special: bool = False) -> bytes:
        """Returns the bytes of the text of ids."""
        text = b""
        for at, id in enumerate(ids):
            if skip_special and self.attributes[id] & (Attribute.CONTROL | Attribute.UNKNOWN):
                continue
            piece = self.piece(id)
            is_stripped = at == 0 and self.add_space_prefix and self.family != "rwkv"
            text += piece[1:] if is_stripped and piece[:1] == b" " else piece
        return _clean_spaces(text) if self.clean_spaces else text


def _decode_character(character: str, text: bytes) -> bytes:
    if character in BYTES:
        return bytes([BYTES[character]])
    return b"[UNK_BYTE_0x" + character.encode().hex().encode() + text + b"]"


def _clean_spaces(text: bytes) -> bytes:
    """Removes the spaces before English punctuation in three passes, each over the result of the previous one."""
    for mark in b"?!.,":
        text = text.replace(b" %c" % mark, b"%c" % mark)
    cleaned, source, at = bytearray(text[:1]), bytearray(text), 1
    while at < len(source):
        if source[at] == 0x27 and source[at - 1] == 0x20 and source[at + 1 : at + 2] == b" ":
            cleaned[-1:] = b"'"
            source[at + 1] = 0
            at += 2
            continue
        cleaned.append(source[at])
        at += 1
    text = bytes(cleaned)
    for ending in (b"s", b"m", b"re", b"ve"):
        text = text.replace(b" '" + ending, b"'" + ending)
    return text
