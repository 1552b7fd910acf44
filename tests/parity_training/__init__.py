"""Compares trainers live with their reference programs, with cases that take too long for the tests.

Every module except `cases` has a function `cases()`, which yields the comparisons of one part.
``cd tests && python -m parity_training`` runs all comparisons, and ``--write`` writes the table into docs/training.md.
"""
