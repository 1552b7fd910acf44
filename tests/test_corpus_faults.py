"""Tests jobs on storage that fails: errors, torn writes, power losses, disks that lie, and object stores."""

from __future__ import annotations

import random

import corpus_faults


def test_jobs_survive_random_faults() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"repeat with: python -m corpus_faults --faults 25 --seed {seed}")
    print(corpus_faults.check(faults=25, seed=seed))
