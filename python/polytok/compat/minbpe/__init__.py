"""minbpe's classes, run by polytok: the same ids, files and errors.

>>> from polytok.compat import minbpe
>>> tokenizer = minbpe.BasicTokenizer()
>>> tokenizer.train("aaabdaaabac", 256 + 3)
>>> tokenizer.encode("aaabdaaabac")
[258, 100, 258, 97, 99]
"""

from ..face import Face
from .base import Tokenizer
from .basic import BasicTokenizer
from .gpt4 import GPT4Tokenizer
from .regex import RegexTokenizer

__all__ = ["BasicTokenizer", "GPT4Tokenizer", "RegexTokenizer", "Tokenizer"]

__polytok_face__ = Face("minbpe", ("0.1.0",), submodules=("base", "basic", "gpt4", "regex"))
