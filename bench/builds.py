"""Builds of polytok as engines, so that two of them can run in one process.

A build is the folder of a package (``…/python/polytok``) or the file of an extension module (``_core.abi3.so``). A
folder is imported as a package of another name, with all its modules, and used by its public functions. A file has no
Python of its own: files of vocabularies are read by the polytok that is installed, and its `Tokenizer` is called.

An extension module is found by the last part of its name, so each build is the ``_core`` of a package of its own. Two
paths to the same file are the same build.
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
from .engines.polytok import SIMD, adapted


def engine(name: str, path: Path) -> Engine:
    """A build as an engine of that name."""
    return Engine(name, "polytok", partial(load, name, path), simd=SIMD)


def named(argument: str) -> tuple[str, Path]:
    """The two of ``name=path``, or a usage error."""
    name, _, path = argument.partition("=")
    if not name.isidentifier() or not path or not Path(path).exists():
        raise SystemExit(f"{argument} is not name=path, with the path of a package's folder or of an extension module")
    return name, Path(path).resolve()


def load(name: str, path: Path, vocabulary: Vocabulary) -> Adapter:
    """A vocabulary, loaded by a build."""
    if path.is_dir():
        return adapted(package(name, path).load(vocabulary.path))
    import polytok

    return raw(extension(name, path).Tokenizer(polytok.load(vocabulary.path).spec))


def package(name: str, folder: Path) -> ModuleType:
    """The package in a folder under a name of its own."""
    import polytok.errors

    sys.modules[f"polytok_{name}.errors"] = polytok.errors  # what every extension module raises
    init = folder / "__init__.py"
    spec = importlib.util.spec_from_file_location(f"polytok_{name}", init, submodule_search_locations=[str(folder)])
    return _imported(spec, folder)


def extension(name: str, file: Path) -> ModuleType:
    """The extension module in a file."""
    return _imported(importlib.util.spec_from_file_location(f"polytok_{name}._core", file), file)


def _imported(spec: ModuleSpec | None, path: Path) -> ModuleType:
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be imported")
    if spec.name not in sys.modules:
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[spec.name]


def raw(tokenizer: Any) -> Adapter:
    """The functions of an extension module's tokenizer."""
    encode_array = plain(tokenizer.encode_array)
    dtype = encode_array("").dtype
    return Adapter(
        encode=plain(tokenizer.encode),
        encode_array=encode_array,
        count=plain(tokenizer.count),
        offsets=plain(tokenizer.spans),
        token_ids=lambda columns: columns[0],
        given_ids=lambda ids: np.array(ids, dtype),
        decode=lambda ids: tokenizer.decode(ids, False, "replace"),
        decode_bytes=lambda ids: tokenizer.decode_bytes(ids, False),
    )


def plain(method: Callable[..., Any]) -> Callable[[str], Any]:
    """A method as a function of the text alone; some builds also ask whether to add special tokens."""
    try:
        method("", False)
    except TypeError:
        return method
    return lambda text: method(text, False)
