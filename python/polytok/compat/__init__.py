"""Adapters that pass a tokenizer to other packages, or give it their interfaces.

Each module adapts to one kind of package: `grammar` to engines that constrain what a model generates. A package is
imported only when its adapter is used.
"""

from . import grammar

__all__ = ["grammar"]
