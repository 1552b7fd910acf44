"""The finder of faces that are put in: answers ``importlib`` and ``importlib.metadata``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module, metadata
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from .face import Face

__all__ = ["FaceFinder"]


class FaceFinder(MetaPathFinder):
    """Finds the submodules of faces, and the metadata of packages that only a face stands for."""

    def __init__(self) -> None:
        self._modules: dict[str, str] = {}
        self._distributions: dict[str, Face] = {}

    def add(self, face: Face, module: ModuleType) -> None:
        """Adds a face."""
        self._modules[face.package] = module.__name__
        name = face.distribution or face.package
        if not _is_installed(name):
            self._distributions[_normalized(name)] = face

    def remove(self, face: Face) -> None:
        """Removes a face."""
        self._modules.pop(face.package, None)
        self._distributions.pop(_normalized(face.distribution or face.package), None)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """Finds a module of a face that is not in sys.modules yet: it is the module of polytok.compat."""
        package, _, rest = fullname.partition(".")
        if package not in self._modules:
            return None
        name = f"{self._modules[package]}.{rest}" if rest else self._modules[package]
        spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
        if spec is None:
            return None
        return ModuleSpec(
            fullname, _FaceLoader(name), origin=spec.origin, is_package=spec.submodule_search_locations is not None
        )

    def find_distributions(self, context: Any = None) -> Iterator[metadata.Distribution]:
        """Finds the metadata of a package that is not installed, for ``importlib.metadata``."""
        name = getattr(context, "name", None)
        for normalized_name, face in self._distributions.copy().items():  # other threads can add faces meanwhile
            if name is None or _normalized(name) == normalized_name:
                yield FaceDistribution(face)


class FaceDistribution(metadata.Distribution):
    """The metadata of a package for which a face stands: its name and the newest tested version."""

    def __init__(self, face: Face) -> None:
        self._face = face

    def read_text(self, filename: str | PathLike[str]) -> str | None:
        """Returns the text of METADATA; there are no other files."""
        if filename != "METADATA":
            return None
        face = self._face
        return f"Metadata-Version: 2.1\nName: {face.distribution or face.package}\nVersion: {face.versions[-1]}\n"

    def locate_file(self, path: str | PathLike[str]) -> Any:
        """Returns the path of a file in the folder of the faces."""
        return Path(__file__).parent / path


class _FaceLoader(Loader):
    """Loads a module of a face under the original's name: the same module, not a copy."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._name)
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own_spec  # the import system has set the spec of the original's name


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _normalized(name: str) -> str:
    return name.replace("-", "_").replace(".", "_").lower()
