"""Trainers against the programs that they follow, live: what is too long for the tests.

Every module here but `cases` gives `cases()`, the comparisons of one part; ``cd tests && python -m parity_training``
runs them all, and with ``--write`` puts the table into docs/training.md.
"""
