"""What a face says about itself: the package whose place it takes, the tested versions and the submodules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Face", "FaceWarning"]


class Face(NamedTuple):
    """The attribute ``__polytok_face__`` of the modules in polytok.compat that `install` puts in.

    * ``package``: the name by which programs import the original.
    * ``versions``: the versions of the original that the face is tested against. The last one is the version that
      ``importlib.metadata`` answers where the original is not installed.
    * ``submodules``: the names of the submodules, below the package: ``("load", "model")``.
    * ``distribution``: the name of the package in the index, if it is not the name that is imported.
    * ``modules``: modules of other packages that the original brings along, by their full name, each with the module
      that stands for it: ``{"tiktoken_ext.openai_public": "polytok.compat.tiktoken.openai_public"}``.

    A face that patches the original, instead of taking its place, has the functions ``patch()`` and ``unpatch()``.
    """

    package: str
    versions: tuple[str, ...]
    submodules: tuple[str, ...] = ()
    distribution: str | None = None
    modules: Mapping[str, str] = {}


class FaceWarning(UserWarning):
    """A warning of `install`: the original was imported before, or its version is not tested."""
