"""The option ``--version``, which prints the version and, with ``--json``, what a report of a problem should have."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__, _core
from ..resources import processors
from ..simd import simd_level, simd_levels
from .json_output import print_json
from .parsers import HelpfulParser

_PACKAGES = ("numpy", "pathspec", "protobuf")


def add_version_option(parser: HelpfulParser) -> None:
    """Adds the option ``--version``."""
    help_text = "print the version; with --json also the build, the processor and the Python"
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help=help_text)


class _PrintVersion(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        if isinstance(parser, HelpfulParser) and "--json" in parser.all_arguments:
            print_json(environment())
        else:
            print(f"polytok {__version__}")
        parser.exit()


def environment() -> dict[str, Any]:
    """Returns the version, the build, the processor and the Python. The values contain no names of users or folders.

    >>> environment()["version"] == __version__
    True
    """
    return {
        "version": __version__,
        "build": _build(),
        "simd_level": simd_level(),
        "simd_levels": list(simd_levels()),
        "processors": processors(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "packages": {name: _package_version(name) for name in _PACKAGES},
    }


def _build() -> dict[str, Any]:
    """Returns the file of the extension module, and what the installed package says of itself."""
    import importlib.metadata  # takes a tenth of the time of a short command

    try:
        distribution = importlib.metadata.distribution("polytok")
    except importlib.metadata.PackageNotFoundError:  # a folder in PYTHONPATH
        wheel, installer = "", None
    else:
        wheel, installer = distribution.read_text("WHEEL") or "", distribution.read_text("INSTALLER")
    return {
        "extension": Path(_core.__file__ or "").name,
        "wheel_tags": [line.removeprefix("Tag: ") for line in wheel.splitlines() if line.startswith("Tag: ")],
        "installer": None if installer is None else installer.strip(),
        "direct_access": _core.has_direct_access(),
    }


def _package_version(name: str) -> str | None:
    import importlib.metadata

    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
