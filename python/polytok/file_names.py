"""Finds the format to write from a file's name. (Reading detects the format by the bytes.)

If several formats share a name, it selects the tokenizer's own format if that is one of them, and none otherwise. The
same holds for a name that matches no format.
"""

from __future__ import annotations

from pathlib import Path

from .errors import ArgumentError

_NAMES = {
    "tokenizer.json": ("huggingface",),
    "tekken.json": ("tekken",),
    "tokenizer.bin": ("llama2c",),
    "vocab.txt": ("wordpiece",),
}
# GPT-2's two files, which can be read but not written.
_PAIR = frozenset({"vocab.json", "merges.txt"})
_SUFFIXES = {
    ".gguf": ("gguf",),
    ".ptok": ("ptok",),
    ".tiktoken": ("tiktoken",),
    ".model": ("sentencepiece", "minbpe", "tiktoken"),
    ".json": ("huggingface", "tekken"),
    ".bin": ("llama2c",),
    ".txt": ("rwkv",),
}


def formats_named(path: Path) -> tuple[str, ...]:
    """All formats whose files have such a name.

    >>> formats_named(Path("m.model")), formats_named(Path("v.txt")), formats_named(Path("vocab.json"))
    (('sentencepiece', 'minbpe', 'tiktoken'), ('rwkv', 'wordpiece'), ())
    """
    if path.name.lower() in _PAIR:
        return ()
    named = (*_NAMES.get(path.name.lower(), ()), *_SUFFIXES.get(path.suffix.lower(), ()))
    return tuple(dict.fromkeys((*named, "wordpiece") if path.suffix.lower() == ".txt" else named))


def format_of(path: Path, origin: str) -> str:
    """The format of a new file of this name, for a tokenizer of a format; ArgumentError if it is unclear."""
    named = _NAMES.get(path.name.lower()) or _SUFFIXES.get(path.suffix.lower(), ())
    if origin in named or not named:
        return origin
    if len(named) == 1:
        return named[0]
    listed = ", ".join(map(repr, named))
    raise ArgumentError(f"{path.name} may be a file of several formats; say which one: {listed}")
