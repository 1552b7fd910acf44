"""Finds the format of a file to write by the file's name. (The format of a file to read is detected by the bytes.)

If several formats share the name, the tokenizer's own format is chosen if it has the name; otherwise the name is
ambiguous. If no format has the name, the tokenizer's own format is chosen.
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
_READ_ONLY_NAMES = frozenset({"vocab.json", "merges.txt"})
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
    """Returns all formats whose files can have this name.

    >>> formats_named(Path("m.model")), formats_named(Path("v.txt")), formats_named(Path("vocab.json"))
    (('sentencepiece', 'minbpe', 'tiktoken'), ('rwkv', 'wordpiece'), ())
    """
    if path.name.lower() in _READ_ONLY_NAMES:
        return ()
    candidates = (*_NAMES.get(path.name.lower(), ()), *_SUFFIXES.get(path.suffix.lower(), ()))
    return tuple(dict.fromkeys((*candidates, "wordpiece") if path.suffix.lower() == ".txt" else candidates))


def format_of(path: Path, origin: str) -> str:
    """Returns the format of a new file with this name, for a tokenizer of the format ``origin``.

    Raises ArgumentError if several other formats have files of this name.
    """
    candidates = _NAMES.get(path.name.lower()) or _SUFFIXES.get(path.suffix.lower(), ())
    if origin in candidates or not candidates:
        return origin
    if len(candidates) == 1:
        return candidates[0]
    choices = ", ".join(map(repr, candidates))
    raise ArgumentError(f"{path.name} can be a file of several formats; name one of them: {choices}")
