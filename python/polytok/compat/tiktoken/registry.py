"""tiktoken.registry: encodings by name, those of plugins too."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import threading
from collections.abc import Callable, Sequence
from typing import Any

from . import openai_public
from .core import Encoding

__all__ = ["ENCODINGS", "ENCODING_CONSTRUCTORS", "get_encoding", "list_encoding_names"]

_OPENAI_PUBLIC = "tiktoken_ext.openai_public"
_lock = threading.RLock()
ENCODINGS: dict[str, Encoding] = {}
ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] | None = None


@functools.lru_cache
def _available_plugin_modules() -> Sequence[str]:
    """Returns the modules of the namespace package tiktoken_ext; that of OpenAI's encodings is always there."""
    try:
        paths = importlib.import_module("tiktoken_ext").__path__
    except ImportError:
        return [_OPENAI_PUBLIC]
    names = [name for _, name, _ in pkgutil.iter_modules(paths, "tiktoken_ext.")]
    return names if _OPENAI_PUBLIC in names else [_OPENAI_PUBLIC, *names]


def _constructors_of(module_name: str) -> dict[str, Callable[[], dict[str, Any]]]:
    module = openai_public if module_name == _OPENAI_PUBLIC else importlib.import_module(module_name)
    try:
        constructors: dict[str, Callable[[], dict[str, Any]]] = module.ENCODING_CONSTRUCTORS
    except AttributeError as error:
        raise ValueError(f"tiktoken plugin {module_name} does not define ENCODING_CONSTRUCTORS") from error
    return constructors


def _find_constructors() -> None:
    global ENCODING_CONSTRUCTORS
    with _lock:
        if ENCODING_CONSTRUCTORS is not None:
            return
        found: dict[str, Callable[[], dict[str, Any]]] = {}
        for module_name in _available_plugin_modules():
            for encoding_name, constructor in _constructors_of(module_name).items():
                if encoding_name in found:
                    raise ValueError(f"Duplicate encoding name {encoding_name} in tiktoken plugin {module_name}")
                found[encoding_name] = constructor
        ENCODING_CONSTRUCTORS = found


def get_encoding(encoding_name: str) -> Encoding:
    """Returns an encoding by its name; its file is read, or downloaded, once."""
    if not isinstance(encoding_name, str):
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    if encoding_name in ENCODINGS:
        return ENCODINGS[encoding_name]
    with _lock:
        if encoding_name in ENCODINGS:
            return ENCODINGS[encoding_name]
        _find_constructors()
        assert ENCODING_CONSTRUCTORS is not None
        if encoding_name not in ENCODING_CONSTRUCTORS:
            from . import __version__

            raise ValueError(
                f"Unknown encoding {encoding_name}.\n"
                f"Plugins found: {_available_plugin_modules()}\n"
                f"tiktoken version: {__version__} (are you on latest?)"
            )
        encoding = ENCODINGS[encoding_name] = Encoding(**ENCODING_CONSTRUCTORS[encoding_name]())
        return encoding


def list_encoding_names() -> list[str]:
    """Returns the names of all encodings."""
    with _lock:
        _find_constructors()
        assert ENCODING_CONSTRUCTORS is not None
        return list(ENCODING_CONSTRUCTORS)
