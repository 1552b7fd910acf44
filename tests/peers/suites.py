"""Runs a peer's own test suite, unmodified, with the face of the peer in the place of the peer.

The suites are not part of this project: they are read from ``../shared/peers``. Each of a suite's tests must pass,
except those in the face's list of allowed failures, with a reason each (docs/compat.md).
"""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from reference_specs import DATA

PEERS = DATA.parent / "peers"
needs_peers = pytest.mark.skipif(not PEERS.is_dir(), reason="no test suites of other packages")


class SuiteResult(NamedTuple):
    """The names of a suite's test cases, by outcome, and the output of pytest."""

    passed: list[str]
    failed: list[str]
    skipped: list[str]
    output: str


def run_suite(
    folder: Path,
    packages: Sequence[str],
    report: Path,
    *,
    tests: Sequence[str] = ("tests",),
    environment: Mapping[str, str] | None = None,
    timeout: float = 600,
) -> SuiteResult:
    """Runs pytest in a folder, in a process of its own in which the packages' faces are put in.

    ``report`` is the file for pytest's results. ``tests`` are pytest's arguments. Without packages, the suite runs with
    the original, which is the measure of what can pass.
    """
    runner = ["-m", "polytok.compat", ",".join(packages), "--"] if packages else []
    options = ["-q", "--tb=short", "-p", "no:cacheprovider", "--continue-on-collection-errors", f"--junitxml={report}"]
    # The folder can be read-only, so Python and hypothesis write nothing there.
    written_elsewhere = {
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(report.parent / "hypothesis"),
    }
    process = subprocess.run(
        [sys.executable, *runner, "-m", "pytest", *options, *tests],
        cwd=folder,
        env={**os.environ, **written_elsewhere, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    output = process.stdout + process.stderr
    assert report.is_file(), output
    outcomes: dict[str, list[str]] = {"passed": [], "failed": [], "skipped": []}
    for case in ElementTree.parse(report).iter("testcase"):
        tags = {element.tag for element in case}
        outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        outcomes[outcome].append(f"{case.get('classname')}.{case.get('name')}".lstrip("."))
    return SuiteResult(**outcomes, output=output)


def check_suite(result: SuiteResult, *, passes: int, allowed_failures: Mapping[str, str] | None = None) -> None:
    """Checks that exactly the allowed failures fail, and that the number of tests that pass is the expected one.

    The keys of ``allowed_failures`` are ends of names, such as ``test_pickle``; the values are the reasons.
    """
    allowed = allowed_failures or {}
    unexpected = [name for name in result.failed if not any(name.endswith(end) for end in allowed)]
    assert not unexpected, f"{unexpected}\n{result.output[-6000:]}"
    obsolete = [end for end in allowed if not any(name.endswith(end) for name in result.failed)]
    assert not obsolete, f"listed as failures, but they pass: {obsolete}"
    assert len(result.passed) == passes, result.output[-2000:]
