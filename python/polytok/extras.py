"""Imports the packages that polytok's extras install."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import ArgumentError, PolytokError


def import_extra(
    module: str, extra: str, user: str, *, error_class: type[PolytokError] = ArgumentError, advice: str = ""
) -> Any:
    """Returns a module of a package that an extra of polytok installs.

    Raises the error if the package is missing, or if it is installed but cannot be imported, as after an update of
    numpy. ``user`` says what needs the package, and ``advice`` is the end of the message.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        is_missing = isinstance(error, ModuleNotFoundError) and error.name in (package, module)
        reason = f": pip install 'polytok[{extra}]'" if is_missing else f", whose import fails: {error}"
        raise error_class(f"{user} needs the package {package}{reason}{advice}") from error
