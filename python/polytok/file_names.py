"""Chooses the format of a file to write by the file's name. (The format of a file to read is detected by the bytes.)

If no format uses the name, the tokenizer's own format is chosen. If several formats use the name, the tokenizer's own
format is chosen if it is one of them; otherwise a ``.json`` is Hugging Face's, and any other name is ambiguous, which
is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ArgumentError
from .keywords import keyword

if TYPE_CHECKING:
    from pathlib import Path

_FORMATS_OF_NAME = {
    "tokenizer.json": ("huggingface",),
    "tekken.json": ("tekken",),
    "tokenizer.bin": ("llama2c",),
    "vocab.txt": ("wordpiece",),
}
# The suffixes that mean the first of their formats, if the tokenizer's own format does not have them.
_SUFFIXES_OF_FIRST_FORMAT = frozenset({".json"})
# GPT-2's two files, which can be read but not written.
_READ_ONLY_NAMES = frozenset({"vocab.json", "merges.txt"})
_FORMATS_OF_SUFFIX = {
    ".gguf": ("gguf",),
    ".ptok": ("ptok",),
    ".tiktoken": ("tiktoken",),
    ".model": ("sentencepiece", "minbpe", "tiktoken"),
    ".json": ("huggingface", "tekken"),
    ".bin": ("llama2c",),
    ".txt": ("rwkv",),
}
# Suffixes of files of any kind, which do not contradict a format that the user names.
_NEUTRAL_SUFFIXES = frozenset({".bin", ".txt"})


def check_name(path: Path, format: str) -> None:
    """Raises `ArgumentError` if a file of this name would be taken for a file of another format than ``format``.

    >>> from pathlib import Path
    >>> check_name(Path("ranks.txt"), "tiktoken")
    >>> check_name(Path("a.gguf"), "ptok")
    Traceback (most recent call last):
        ...
    polytok.errors.ArgumentError: a.gguf is the name of a gguf file, not of to='ptok': change the name or the format
    """
    name, suffix = path.name.lower(), path.suffix.lower()
    named_formats = _FORMATS_OF_NAME.get(name) or _FORMATS_OF_SUFFIX.get(suffix, ())
    is_neutral = suffix in _NEUTRAL_SUFFIXES and name not in _FORMATS_OF_NAME
    if not named_formats or is_neutral or format in (*named_formats, *formats_named(path)):
        return
    raise ArgumentError(
        f"{path.name} is the name of a {' or '.join(named_formats)} file, not of {keyword('to', format)}: change the "
        "name or the format"
    )


def settings_file_of(name: str) -> str:
    """Returns the name of the file with the settings of transformers for a tokenizer file of Hugging Face's format.

    >>> settings_file_of("tokenizer.json"), settings_file_of("other.json")
    ('tokenizer_config.json', 'other_config.json')
    """
    return f"{name.removesuffix('.json')}_config.json"


def formats_named(path: Path) -> tuple[str, ...]:
    """Returns all formats whose files can have this name.

    >>> from pathlib import Path
    >>> formats_named(Path("m.model")), formats_named(Path("v.txt")), formats_named(Path("vocab.json"))
    (('sentencepiece', 'minbpe', 'tiktoken'), ('rwkv', 'wordpiece'), ())
    """
    if path.name.lower() in _READ_ONLY_NAMES:
        return ()
    candidates = (*_FORMATS_OF_NAME.get(path.name.lower(), ()), *_FORMATS_OF_SUFFIX.get(path.suffix.lower(), ()))
    return tuple(dict.fromkeys((*candidates, "wordpiece") if path.suffix.lower() == ".txt" else candidates))


def format_of(path: Path, origin: str) -> str:
    """Returns the format of a new file with this name. ``origin`` is the tokenizer's own format.

    Raises ArgumentError if several other formats have files of this name.
    """
    candidates = _FORMATS_OF_NAME.get(path.name.lower()) or _FORMATS_OF_SUFFIX.get(path.suffix.lower(), ())
    if origin in candidates or not candidates:
        return origin
    if len(candidates) == 1 or path.suffix.lower() in _SUFFIXES_OF_FIRST_FORMAT:
        return candidates[0]
    choices = ", ".join(map(repr, candidates))
    raise ArgumentError(f"{path.name} can be a file of several formats; name one of them: {choices}")
