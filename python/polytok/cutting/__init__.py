"""Cuts texts by their tokens: whether a text fits, its longest start or end that fits, and chunks that fit.

The number of tokens does not grow evenly with a text: one more character can make it smaller. A text is therefore cut
where the count of the part itself says so, not where a token of the whole text ends. reference/cutting.py has the same
functions as definitions, which try every length; here, counts.py proves with safe cuts which lengths need no trial.
"""

from .chunks import chunk
from .engine import Engine
from .limits import TokenLimit, fits, truncate, truncate_batch

__all__ = ["Engine", "TokenLimit", "chunk", "fits", "truncate", "truncate_batch"]
