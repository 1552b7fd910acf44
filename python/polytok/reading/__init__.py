"""Files as texts: what training and corpora read, and how.

opened.py detects and undoes compression, kinds.py detects the format of a file, blocks.py splits bytes into columns of
texts and tables.py takes them from Parquet and Arrow, documents.py applies the options of choices.py. Memory holds at
most a block and a text.
"""

from .choices import Choice, Format, Invalid, Reading, Unit
from .documents import Documents, Left

__all__ = ["Choice", "Documents", "Format", "Invalid", "Left", "Reading", "Unit"]
