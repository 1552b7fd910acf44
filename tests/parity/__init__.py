"""Compares polytok live with the programs whose vocabularies it runs: ids, pieces, offsets and decoding.

`vocabularies` lists what is compared with which reference, `references` wraps the reference packages, `checks` does one
comparison, and `tasks` lists all comparisons and runs one of them. `report` prints the table of results and updates
docs/parity.md and docs/generated/parity.md. A small part runs in pytest (test_parity.py), everything with
``python -m tests.parity --full``.
"""
