"""tiktoken 0.14.0's interface on polytok's engine. tiktoken's own documentation applies.

>>> from polytok.compat import tiktoken
>>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
>>> encoding = tiktoken.Encoding("small", pat_str=".+", mergeable_ranks=ranks, special_tokens={"<|end|>": 257})
>>> encoding.encode("abc<|end|>", allowed_special="all")
[256, 99, 257]
"""

from ..face import Face
from .core import Encoding as Encoding
from .model import encoding_for_model as encoding_for_model
from .model import encoding_name_for_model as encoding_name_for_model
from .registry import get_encoding as get_encoding
from .registry import list_encoding_names as list_encoding_names

__version__ = "0.14.0"

__polytok_face__ = Face(
    package="tiktoken",
    versions=(__version__,),
    submodules=("_educational", "_tiktoken", "core", "load", "model", "registry"),
    modules={"tiktoken_ext.openai_public": "polytok.compat.tiktoken.openai_public"},
)
