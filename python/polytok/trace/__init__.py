"""What happened to a text: `Tokenizer.trace` and its result.

`build` runs the stages one by one (`probes`) and takes the walks of the models from `polytok.reference`. `data` has the
classes of the result.
"""

from .data import Trace

__all__ = ["Trace"]
