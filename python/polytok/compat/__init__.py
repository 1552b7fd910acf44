"""polytok in other packages: adapters that pass a tokenizer to them, and faces that take their place.

`grammar` has adapters to engines that constrain what a model generates. A face is a module with the interface of
another package, named as this package; `install` puts it in the package's place, so that an unchanged program runs on
polytok. A package or face is imported only when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from . import grammar

if TYPE_CHECKING:
    from .face import Face, FaceWarning
    from .installing import install, installed, uninstall

__all__ = ["Face", "FaceWarning", "grammar", "install", "installed", "uninstall"]

_MODULE_OF_NAME = {
    **dict.fromkeys(("Face", "FaceWarning"), "face"),
    **dict.fromkeys(("install", "installed", "uninstall"), "installing"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Imports a public name or a face when it is first used."""
        if name in _MODULE_OF_NAME:
            return getattr(import_module(f"{__name__}.{_MODULE_OF_NAME[name]}"), name)
        path = f"{__name__}.{name}"
        try:
            return import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
