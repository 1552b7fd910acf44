"""Edits a longest-match vocabulary: removes and adds entries, and reports the changes of ids."""

from .edit import Added, Edit, IdPlan, edit
from .select import CODE, ENGLISH, Selector, least_used, matching, script
from .words import japanese_words

__all__ = [
    "CODE",
    "ENGLISH",
    "Added",
    "Edit",
    "IdPlan",
    "Selector",
    "edit",
    "japanese_words",
    "least_used",
    "matching",
    "script",
]
