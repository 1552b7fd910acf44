"""Encodings with masks, word numbers, windows and padding, like Hugging Face's ``Encoding``.

An `Encoding` consists of parts in order: tokens of texts, ids of the template, and pads. All windows of a text share
the text's columns, and a list of an encoding is built only when a caller reads it. Truncation, overflowing windows and
padding follow the rules of tokenizers 0.23.
"""

from __future__ import annotations

from .encoder import Encoder, Words
from .result import Encoding
from .windows import tokens_to_keep

__all__ = ["Encoder", "Encoding", "Words", "tokens_to_keep"]
