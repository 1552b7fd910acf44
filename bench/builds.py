"""Loads builds of polytok as engines, so that two builds can run in one process.

A build is the folder of a package (``…/python/polytok``) or the file of an extension module in such a folder
(``_core.*.so``). A folder is imported as a package with a new name, and the public functions of this package are
called. An extension module is called by its class `Tokenizer`, for which the installed polytok reads the vocabularies.

Python looks up the entry point of an extension module by the last part of the module's name, so each build is named
``_core`` in a package with a new name. Python loads a file only once, even if two paths lead to the file, so these two
paths are one build.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .cases import Vocabulary
from .engines import Adapter, Engine
from .engines.base import do_nothing
from .engines.polytok import SIMD, create_adapter


def create_engine(name: str, path: Path) -> Engine:
    """Returns an engine named ``name`` that runs the build at ``path``."""
    return Engine(name, "polytok", partial(load_vocabulary, name, path), simd=SIMD)


def parse_build(argument: str) -> tuple[str, Path]:
    """Returns the name and path of an argument ``name=path``. Exits if the argument is wrong."""
    name, _, path = argument.partition("=")
    if not name.isidentifier() or not path or not Path(path).exists():
        raise SystemExit(f"{argument} is not name=path: give the path of a package's folder or of an extension module")
    return name, Path(path).resolve()


def load_vocabulary(name: str, path: Path, vocabulary: Vocabulary) -> Adapter:
    """Loads a vocabulary with the build at ``path``."""
    if path.is_dir():
        return create_adapter(import_package(name, path).load(vocabulary.path))
    import polytok

    return extension_adapter(import_extension(name, path).Tokenizer(polytok.load(vocabulary.path).spec))


def import_package(name: str, folder: Path) -> ModuleType:
    """Imports the package in a folder; the imported package is named ``polytok_`` followed by ``name``."""
    import polytok.errors

    sys.modules[f"polytok_{name}.errors"] = polytok.errors  # all extension modules raise these error classes
    init_file = folder / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        f"polytok_{name}", init_file, submodule_search_locations=[str(folder)]
    )
    return _import_spec(spec, folder)


def import_extension(name: str, file: Path) -> ModuleType:
    """Imports the extension module in a file."""
    return _import_spec(importlib.util.spec_from_file_location(f"polytok_{name}._core", file), file)


def _import_spec(spec: ModuleSpec | None, path: Path) -> ModuleType:
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be imported")
    if spec.name not in sys.modules:
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[spec.name]


def extension_adapter(tokenizer: Any) -> Adapter:
    """Returns an adapter that calls the methods of an extension module's `Tokenizer`."""
    encode_array = adapt_text_method(tokenizer.encode_array)
    dtype = encode_array("").dtype
    return Adapter(
        warm_up=getattr(tokenizer, "warm_up", do_nothing),  # older builds lack this method
        encode=adapt_text_method(tokenizer.encode),
        encode_array=encode_array,
        count=adapt_text_method(tokenizer.count),
        encode_offsets=adapt_text_method(tokenizer.spans),
        get_token_ids=lambda span_columns: span_columns[0],
        to_native_ids=lambda ids: np.array(ids, dtype),
        decode=lambda ids: tokenizer.decode(ids, False, "replace"),
        decode_bytes=lambda ids: tokenizer.decode_bytes(ids, False),
    )


def adapt_text_method(method: Callable[..., Any]) -> Callable[[str], Any]:
    """Returns a function of the text that calls a method; in some builds the method needs ``add_special`` too."""
    try:
        method("", False)
    except TypeError:
        return method
    return lambda text: method(text, False)
