"""Corpora of any size: many files of text to compact tokens, in tasks that may be done anywhere and in any order."""
