"""Files as texts: what training and corpora read, and how.

opened.py tells and undoes compression, kinds.py tells what a file is, blocks.py cuts bytes into columns of texts and
tables.py takes them from Parquet and Arrow, documents.py applies the choices of choices.py. Nothing longer than a block
and a text is held.
"""

from .choices import Choice, Format, Invalid, Reading, Unit
from .documents import Documents, Left

__all__ = ["Choice", "Documents", "Format", "Invalid", "Left", "Reading", "Unit"]
