"""Reads the texts in files, for training and corpora.

streams.py detects compression and decompresses, kinds.py detects the format of a file, blocks.py splits bytes into
texts, tables.py reads the texts of Parquet and Arrow files, and documents.py applies the options of choices.py. Memory
holds at most one block and one text.
"""

from .choices import BadBytes, ErrorOrSkip, Format, InputKeywords, InputOptions, split_keywords
from .documents import Documents, SkippedText

__all__ = [
    "BadBytes",
    "Documents",
    "ErrorOrSkip",
    "Format",
    "InputKeywords",
    "InputOptions",
    "SkippedText",
    "split_keywords",
]
