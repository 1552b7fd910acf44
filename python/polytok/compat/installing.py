"""Puts faces in the place of the packages whose names they have, and takes them out again."""

from __future__ import annotations

import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module, metadata
from importlib.machinery import PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

from ..errors import ArgumentError
from ..suggestions import did_you_mean
from .face import Face, FaceWarning
from .finding import FaceFinder

__all__ = ["install", "installed", "names", "uninstall"]

_OWN_MODULES = frozenset({"__main__", "face", "finding", "grammar", "installing"})
_PLAIN_MODULES = frozenset({"llama_cpp", "vllm"})
"""The modules that are passed to a package, or used by their own name, and take no package's place."""
_FACE = "__polytok_face__"


@dataclass
class _Installed:
    """An installed face: what it replaced, and who installed it: the program for good, or blocks of code."""

    face: Face
    module: ModuleType
    names: tuple[str, ...] = ()
    originals: dict[str, ModuleType] = field(default_factory=dict)
    own_names: dict[Any, str] = field(default_factory=dict)
    is_permanent: bool = False
    blocks: int = 0


_lock = RLock()
_installed: dict[str, _Installed] = {}
_finder = FaceFinder()
_original_preparation: list[Callable[[str], dict[str, Any]]] = []


def names() -> tuple[str, ...]:
    """Returns the names of the packages that have a face which `install` puts in.

    >>> import polytok
    >>> "tiktoken" in polytok.compat.installing.names()
    True
    """
    found = (module.name for module in pkgutil.iter_modules(import_module("polytok.compat").__path__))
    other_modules = _OWN_MODULES | _PLAIN_MODULES
    return tuple(sorted(name for name in found if name not in other_modules and not name.startswith("_")))


def install(*packages: str) -> None:
    """Puts polytok's faces in the place of packages: ``install("tiktoken")`` before ``import tiktoken``.

    A face that is already in stays. If one of the packages has no face, or cannot be put in, none of them is. Modules
    that imported the original before keep it; `FaceWarning` names them. docs/compat.md explains what a face is.

    Raises `ArgumentError` for a package that has no face.

    >>> import polytok
    >>> polytok.compat.install("tiktoken")
    >>> import tiktoken
    >>> tiktoken.__name__
    'polytok.compat.tiktoken'
    >>> polytok.compat.uninstall("tiktoken")
    """
    with _lock:
        _put_in(packages, lambda entry: setattr(entry, "is_permanent", True))


def uninstall(*packages: str) -> None:
    """Takes faces out, so that the packages are again what they were before; without names, all of them.

    A face that is not in is ignored. A face that a block of `installed` uses stays until the end of this block.
    """
    with _lock:
        for package in _checked(packages) if packages else tuple(_installed):
            if entry := _installed.get(package):
                entry.is_permanent = False
                _take_out_unused(entry)


@contextmanager
def installed(*packages: str) -> Iterator[None]:
    """Puts faces in for the time of a ``with`` block, as `install`; blocks can be nested and run in several threads.

    All threads of the process see the faces. A face that was in before stays in afterwards.

    >>> import polytok
    >>> with polytok.compat.installed("tiktoken"):
    ...     import tiktoken
    """
    with _lock:
        entries = _put_in(packages, lambda entry: setattr(entry, "blocks", entry.blocks + 1))
    try:
        yield
    finally:
        with _lock:
            for entry in reversed(entries):
                entry.blocks -= 1
                _take_out_unused(entry)


def _checked(packages: tuple[str, ...]) -> tuple[str, ...]:
    known = names()
    for package in packages:
        if package in _PLAIN_MODULES:
            raise ArgumentError(f"{package!r} has no face that is put in: see help(polytok.compat.{package})")
        if package not in known:
            suggestion = did_you_mean(str(package), known)
            raise ArgumentError(f"{package!r:.100} has no face{suggestion or '; faces: ' + ', '.join(known)}")
    if not packages:
        raise ArgumentError(f"no package is named; faces: {', '.join(known)}")
    return tuple(dict.fromkeys(packages))


def _put_in(packages: tuple[str, ...], keep: Callable[[_Installed], None]) -> list[_Installed]:
    """Puts in the faces that are not yet in, all or none, and marks them as wanted."""
    packages = _checked(packages)
    modules = [import_module(f"polytok.compat.{package}") for package in packages]
    new_entries: list[_Installed] = []
    try:
        for package, module in zip(packages, modules, strict=True):
            if package not in _installed:
                new_entries.append(_put_in_one(package, module))
    except BaseException:
        for entry in reversed(new_entries):
            _take_out(entry)
        raise
    entries = [_installed[package] for package in packages]
    for entry in entries:
        keep(entry)
    return entries


def _put_in_one(package: str, module: ModuleType) -> _Installed:
    entry = _Installed(getattr(module, _FACE), module)
    if hasattr(module, "patch"):
        _warn_of_version(entry.face)
        module.patch()
    else:
        _replace(entry)
    _installed[package] = entry
    _connect()
    return entry


def _take_out_unused(entry: _Installed) -> None:
    if not entry.is_permanent and not entry.blocks and _installed.get(entry.face.package) is entry:
        _take_out(entry)


def _take_out(entry: _Installed) -> None:
    del _installed[entry.face.package]
    if hasattr(entry.module, "unpatch"):
        entry.module.unpatch()
    else:
        _restore(entry)
    _connect()


def _connect() -> None:
    """Connects the finder and multiprocessing while there is a face, and only then."""
    from multiprocessing import spawn  # slow to import, and needed only here

    if _installed and _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        _original_preparation.append(spawn.get_preparation_data)
        spawn.get_preparation_data = _preparation_with_faces
    elif not _installed and _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        original = _original_preparation.pop()
        if spawn.get_preparation_data is _preparation_with_faces:
            spawn.get_preparation_data = original  # type: ignore[assignment]


# The place of a package


def _replace(entry: _Installed) -> None:
    """Puts a face's modules in the place of the original's, in sys.modules."""
    face = entry.face
    replacements = {face.package: entry.module}
    for name in face.submodules:
        replacements[f"{face.package}.{name}"] = import_module(f"{entry.module.__name__}.{name}")
    for name, target in face.modules.items():
        replacements[name] = import_module(target)
        parent = name.rpartition(".")[0]
        if parent not in sys.modules and PathFinder.find_spec(parent) is None:
            replacements[parent] = _empty_package(parent)
    entry.names = tuple(replacements)
    entry.originals = {
        name: module
        for name, module in list(sys.modules.items())
        if _is_within(name, face.package) or name in replacements
    }
    _warn_of_holders(face.package, entry.originals)
    for name in entry.originals:
        del sys.modules[name]
    sys.modules.update(replacements)
    for name in face.modules:
        _set_in_parent(name, sys.modules[name])
    _finder.add(face, entry.module)
    _rename(entry, replacements)


def _restore(entry: _Installed) -> None:
    face = entry.face
    _finder.remove(face)
    for value, name in entry.own_names.items():
        value.__module__ = name
    for name in [name for name in sys.modules if _is_within(name, face.package) or name in entry.names]:
        del sys.modules[name]
    sys.modules.update(entry.originals)
    for name in face.modules:
        _set_in_parent(name, entry.originals.get(name))


def _set_in_parent(name: str, module: ModuleType | None) -> None:
    """Makes a module an attribute of the package that contains it, or removes this attribute."""
    parent, _, attribute = name.rpartition(".")
    if parent in sys.modules:
        if module is None:
            vars(sys.modules[parent]).pop(attribute, None)
        else:
            setattr(sys.modules[parent], attribute, module)


def _empty_package(name: str) -> ModuleType:
    """Returns a package for modules that the face brings along, where no other package has this name."""
    package = ModuleType(name)
    package.__path__ = []
    return package


def _rename(entry: _Installed, modules: Mapping[str, ModuleType]) -> None:
    """Gives classes and functions the module names of the original for as long as the face is in.

    Pickles that a program writes are then read where the original is installed, and pickles of the original by us. A
    class of a module that the original lacks gets the name of the first module that has it too.
    """
    own_prefix = entry.module.__name__
    for module_name, module in modules.items():
        for value in list(vars(module).values()):
            name = getattr(value, "__module__", None)
            if isinstance(name, str) and _is_within(name, own_prefix) and isinstance(value, (type, _FUNCTION)):
                entry.own_names[value] = name
                renamed = entry.face.package + name.removeprefix(own_prefix)
                value.__module__ = renamed if renamed in modules else module_name


_FUNCTION = type(_rename)


def _is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


# Warnings


def _warn_of_holders(package: str, originals: dict[str, ModuleType]) -> None:
    """Warns if modules imported the original before: they keep it."""
    if package not in originals:
        return
    holders = sorted(
        name
        for name, module in list(sys.modules.items())
        if name not in originals and not _is_within(name, "polytok") and _holds(module, package)
    )
    if holders:
        listed = ", ".join(holders[:5]) + (f" and {len(holders) - 5} more" if len(holders) > 5 else "")
        warnings.warn(
            f"{package} was imported before its face was put in, and its original is still used by {listed}; call "
            f"polytok.compat.install({package!r}) before the first import of {package}",
            FaceWarning,
            stacklevel=_STACK_LEVEL,
        )


_STACK_LEVEL = 6  # the caller of install


def _holds(module: ModuleType, package: str) -> bool:
    """Reports whether a module has the original, or a class or function of it, among its names."""
    for value in list(getattr(module, "__dict__", {}).values()):
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        is_named = isinstance(value, (ModuleType, type, _FUNCTION))
        if is_named and isinstance(name, str) and _is_within(name, package):
            return True
    return False


def _warn_of_version(face: Face) -> None:
    """Warns if the version of a package that is patched is not tested."""
    try:
        version = metadata.version(face.distribution or face.package)
    except metadata.PackageNotFoundError:
        return
    if version not in face.versions:
        warnings.warn(
            f"{face.package} {version} is not tested with this polytok (tested: {', '.join(face.versions)})",
            FaceWarning,
            stacklevel=_STACK_LEVEL - 1,
        )


# Child processes


def _preparation_with_faces(name: str) -> dict[str, Any]:
    """Returns what multiprocessing sends a new interpreter, and with it the faces.

    The interpreter reads this data before it imports the program's main module, so the faces are in before.
    """
    data = _original_preparation[-1](name)
    with _lock:
        packages = tuple(_installed)
    if not packages:
        return data
    # The fork server asks, too. Since Python 3.13.8 and 3.14.1 it would import the main module before the faces are in,
    # and its children would inherit the originals; so each child imports the main module itself, as before.
    if sys._getframe(1).f_globals["__name__"] == "multiprocessing.forkserver":
        data.pop("init_main_from_path", None)
    return {**data, "polytok_faces": _FacesOfParent(packages)}


class _FacesOfParent:
    """Puts in the faces of the parent process when it is read from a pickle."""

    def __init__(self, packages: tuple[str, ...]) -> None:
        self.packages = packages

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str, ...]]:
        return install, self.packages
