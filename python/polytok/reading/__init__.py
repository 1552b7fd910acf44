"""Reads the texts in files, for training and corpora.

names.py finds the files, streams.py detects compression and decompresses, kinds.py detects the format of a file,
blocks.py splits bytes into texts, tables.py reads the texts of Parquet and Arrow files, documents.py applies the
options of choices.py, fields.py refuses a field that no record has, and files.py reads a file from start to end. Memory
holds at most one block and one text.
"""

from .choices import BadBytes, ErrorOrSkip, Format, InputKeywords, InputOptions, split_keywords
from .documents import Documents
from .skipped import SkippedText, SkippedTexts

__all__ = [
    "BadBytes",
    "Documents",
    "ErrorOrSkip",
    "Format",
    "InputKeywords",
    "InputOptions",
    "SkippedText",
    "SkippedTexts",
    "split_keywords",
]
