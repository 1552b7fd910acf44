"""Edits a vocabulary of any family: removes and adds entries, and reports the changes of ids."""

from .edit import Added, Edit, IdPlan, edit
from .proof import ChangedText, Proof
from .select import CODE, ENGLISH, Selector, among, least_used, matching, other_scripts, script, unused
from .words import japanese_words

__all__ = [
    "CODE",
    "ENGLISH",
    "Added",
    "ChangedText",
    "Edit",
    "IdPlan",
    "Proof",
    "Selector",
    "among",
    "edit",
    "japanese_words",
    "least_used",
    "matching",
    "other_scripts",
    "script",
    "unused",
]
