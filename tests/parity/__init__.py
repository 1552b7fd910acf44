"""polytok against the programs whose vocabularies it runs: ids, pieces, offsets and decoding, live.

`vocabularies` says what is compared with what, `references` wraps the packages, `checks` compares, `tasks` is the list
of all work and `run` does it in two processes; `report` prints the table and updates docs/parity.md and
docs/generated/parity.md. A part of it runs in pytest (test_parity.py), all of it by ``python -m tests.parity --full``.
"""
