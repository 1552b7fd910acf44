"""Reads the texts in files, for training and corpora.

streams.py detects compression and decompresses, kinds.py detects the format of a file, blocks.py splits bytes into
texts, tables.py reads the texts of Parquet and Arrow files, and documents.py applies the options of choices.py. Memory
holds at most one block and one text.
"""

from .choices import Choice, Format, Invalid, Reading, Unit
from .documents import Documents, SkippedText

__all__ = ["Choice", "Documents", "Format", "Invalid", "Reading", "SkippedText", "Unit"]
