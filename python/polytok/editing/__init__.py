"""Editing a vocabulary of longest match: entries go, others come, and every id's fate is told."""

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
