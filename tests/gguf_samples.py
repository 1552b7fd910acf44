"""Writes GGUF files for the tests: small vocabularies of every family of llama.cpp; also locates the real files."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, NamedTuple

from polytok.byte_level import CHARACTERS

FOLDER = Path(os.environ.get("POLYTOK_DATA", Path(__file__).parents[2] / "shared" / "data")) / "vocab" / "gguf"
REAL_FILES = sorted(FOLDER.glob("*.gguf"))

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)
_CODES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


class Typed(NamedTuple):
    """A value with its type; ``element`` is the type of an array's elements."""

    kind: int
    value: Any
    element: int = 0


def file(keys: dict[str, Any], *, version: int = 3, order: str = "<") -> bytes:
    """Returns a GGUF file with these keys."""
    head = b"GGUF" + struct.pack(f"{order}IQQ", version, 0, len(keys))
    return head + b"".join(_entry(key, _typed(value), order) for key, value in keys.items())


def _typed(value: Any) -> Typed:
    """Returns the value with the type that llama.cpp's own converter chooses."""
    if isinstance(value, Typed):
        return value
    if isinstance(value, bool):
        return Typed(7, value)
    if isinstance(value, int):
        return Typed(4, value)
    if isinstance(value, float):
        return Typed(6, value)
    if isinstance(value, (str, bytes)):
        return Typed(STRING, value)
    elements = {_typed(element).kind for element in value} or {STRING}
    return Typed(ARRAY, value, {4: 5}.get(min(elements), min(elements)))


def _entry(key: str, typed: Typed, order: str) -> bytes:
    name = _string(key, order) + struct.pack(f"{order}I", typed.kind)
    if typed.kind != ARRAY:
        return name + _value(typed.kind, typed.value, order)
    values = b"".join(_value(typed.element, element, order) for element in typed.value)
    return name + struct.pack(f"{order}IQ", typed.element, len(typed.value)) + values


def _value(kind: int, value: Any, order: str) -> bytes:
    return _string(value, order) if kind == STRING else struct.pack(order + _CODES[kind], value)


def _string(text: str | bytes, order: str) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(f"{order}Q", len(data)) + data


Rows = list[tuple[Any, int, float]]


def vocabulary(model: str, rows: Rows, **keys: Any) -> dict[str, Any]:
    """Returns the keys of a file with these (text, type, score) rows; other keys are given without their prefix."""
    texts, types, scores = zip(*rows, strict=True)
    fields = {"model": model, "tokens": list(texts), "token_type": list(types), "scores": list(scores), **keys}
    named = {"name": "general.name", "architecture": "general.architecture"}
    return {
        named.get(key, f"tokenizer.ggml.{key.replace('__', '.')}"): value
        for key, value in fields.items()
        if value is not None
    }


BYTES: Rows = [(f"<0x{byte:02X}>", BYTE, 0.0) for byte in range(256)]
_WORDS = (
    "a b c d e t s h i n r o l k ab abc the he th in ing ▁ ▁a ▁the ▁▁ ▁▁▁ é en er 1 2 12 123 ' 's ! . , ." + " 日 日本"
)
PIECES = list(dict.fromkeys(_WORDS.split()))


def _scored(pieces: list[str]) -> Rows:
    return [(piece, NORMAL, -1.0 - number * 0.75) for number, piece in enumerate(pieces)]


def spm(**changes: Any) -> dict[str, Any]:
    head: Rows = [("<unk>", UNKNOWN, 0.0), ("<s>", CONTROL, 0.0), ("</s>", CONTROL, 0.0), *BYTES]
    rows = [*head, *_scored(PIECES), ("<|user|>", USER, -9.0), ("▁<x>", USER, -9.0), ("unused", UNUSED, -0.5)]
    return vocabulary("llama", rows, **changes)


def byte_level(text: str) -> str:
    return "".join(CHARACTERS[byte] for byte in text.encode())


_MERGED = (
    "th",
    "the",
    " the",
    "in",
    "ing",
    " a",
    "ab",
    "abc",
    "12",
    "123",
    "'s",
    "  ",
    "\n\n",
    "é",
    "日",
    "aa",
    "!!",
    " !",
)


def bpe(pre: str | None = "default", **changes: Any) -> dict[str, Any]:
    """Returns a byte-level vocabulary whose merges build some common texts, character by character from the left."""
    tokens = [CHARACTERS[byte] for byte in range(256)]
    merges = []
    for text in map(byte_level, _MERGED):
        for end in range(2, len(text) + 1):
            if text[:end] not in tokens:
                merges.append(f"{text[: end - 1]} {text[end - 1]}")
                tokens.append(text[:end])
    merges += ["t h", "x", "Ġ nothing"]
    rows: Rows = [(token, NORMAL, 0.0) for token in tokens]
    rows += [("<|endoftext|>", CONTROL, 0.0), ("   ", USER, 0.0), ("<|im_end|>", NORMAL, 0.0), ("<mask>", USER, 0.0)]
    rows += [("▁foreign", NORMAL, 0.0), ("[PAD1]", UNUSED, 0.0), ("<|end|>", CONTROL, 0.0), ("<|endof", USER, 0.0)]
    keys = {"pre": pre, "merges": merges, "bos_token_id": 256, "eos_token_id": 256, "scores": None, **changes}
    return vocabulary("gpt2", rows, **keys)


def gemma(model: str = "gemma4", **changes: Any) -> dict[str, Any]:
    """Returns a vocabulary of characters with escaped spaces, and byte tokens for other characters."""
    characters = list("abcdehinst▁é日1!\n'")
    merges = ["t h", "th e", "▁ the", "▁ a", "▁ ▁", "i n", "a b"]
    rows: Rows = [("<pad>", CONTROL, 0.0), ("<bos>", CONTROL, 0.0), ("<eos>", CONTROL, 0.0), *BYTES]
    rows += [(text, NORMAL, 0.0) for text in (*characters, *(merge.replace(" ", "") for merge in merges), "\n\n")]
    keys = {"merges": merges, "bos_token_id": 1, "eos_token_id": 2, "scores": None, **changes}
    return vocabulary(model, rows, **keys)


def wpm(**changes: Any) -> dict[str, Any]:
    head: Rows = [("[PAD]", CONTROL, 0.0), ("[UNK]", CONTROL, 0.0), ("[CLS]", CONTROL, 0.0), ("[SEP]", CONTROL, 0.0)]
    texts = [
        "▁a",
        "▁the",
        "▁ab",
        "b",
        "c",
        "s",
        "ing",
        "▁e",
        "▁!",
        "▁'",
        "▁1",
        "2",
        "3",
        "▁日",
        "▁é",
        "é",
        "▁in",
        "▁.",
        "▁İ",
        "▁i",
    ]
    rows = [*head, *((text, NORMAL, 0.0) for text in texts), ("[MASK]", USER, 0.0)]
    ids = {"unknown": 1, "bos": 2, "seperator": 3, "padding": 0, "mask": len(rows) - 1}
    keys = {f"{role}_token_id": id for role, id in ids.items()} | {"scores": None} | changes
    return vocabulary("bert", rows, **keys)


def ugm(**changes: Any) -> dict[str, Any]:
    head: Rows = [("<pad>", CONTROL, 0.0), ("</s>", CONTROL, 0.0), ("<unk>", UNKNOWN, 0.0)]
    rows = [*head, *_scored(PIECES), ("<extra_id_0>", USER, 0.0), ("unused", UNUSED, -3.0)]
    return vocabulary("t5", rows, **changes)


def rwkv(**changes: Any) -> dict[str, Any]:
    texts = [bytes([byte]) for byte in range(256)] + [
        b"the",
        b" the",
        b"  ",
        b"it's",
        "日本".encode(),
        b"\xe6\x97",
        b"<s>x",
    ]
    rows: Rows = [("<s>", CONTROL, 0.0), *((repr(text)[2:-1], NORMAL, 0.0) for text in texts)]
    return vocabulary("rwkv", rows, scores=None, **changes)


def plamo2(**changes: Any) -> dict[str, Any]:
    head: Rows = [(f"<|plamo:{name}|>", CONTROL, 0.0) for name in ("unk", "bos", "eos", "pad")]
    rows = [*head, *BYTES, *_scored([piece for piece in PIECES if piece != "▁"]), (" the", NORMAL, -3.25)]
    return vocabulary("plamo2", rows, **changes)


SMALL_VOCABULARIES: dict[str, dict[str, Any]] = {
    "spm": spm(),
    "spm without a space before": spm(add_space_prefix=False, add_bos_token=False, add_eos_token=True),
    "spm of phi-3": spm(name="Phi-3 mini"),
    "bpe": bpe(),
    "bpe whole pieces": bpe("llama3", add_eos_token=True),
    "bpe stripping": bpe("jina-v2-de"),
    "bpe kimi": bpe("kimi-k2"),
    "bpe without spaces before marks": bpe("gpt-2"),
    "gemma": gemma(),
    "sarvam": gemma("gpt2", pre="sarvam-moe"),
    "whitespace": gemma("whitespace", pre="whitespace", normalizer__lowercase=True),
    "wpm": wpm(),
    "wpm as it is written": wpm(normalizer__lowercase=False),
    "wpm with accents": wpm(normalizer__strip_accents=False),
    "ugm": ugm(),
    "ugm as T5": ugm(add_space_prefix=True, remove_extra_whitespaces=True),
    "rwkv": rwkv(),
    "plamo2": plamo2(),
}
