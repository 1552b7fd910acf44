"""Tests what can become outdated in the files around the code: workflows, issue forms, licences, versions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import polytok
from polytok.cli.version import environment

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import third_party_licenses  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = [path for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]
MAKE_TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def steps_of(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def test_workflows_exist() -> None:
    assert {path.stem for path in WORKFLOWS} >= {"benchmarks", "docs", "fuzz", "tests", "wheels"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_name_what_exists(workflow: Path) -> None:
    """Tests that a workflow runs only targets of make, scripts and tests that exist."""
    commands = "\n".join(step.get("run", "") for step in steps_of(workflow))
    assert set(re.findall(r"\bmake ([a-z-]+)", commands)) <= MAKE_TARGETS
    for path in re.findall(r"\b(?:scripts|tests)/[\w./-]+", commands):
        assert (ROOT / path).is_file(), path


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_can_do_little(workflow: Path) -> None:
    """Tests that a workflow can only read the repository, except for the jobs that publish, and that these check out
    nothing; and that each action has a version."""
    content = yaml.safe_load(workflow.read_text("utf-8"))
    assert content["permissions"] == {"contents": "read"}
    for name, job in content["jobs"].items():
        actions = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v1|[0-9a-f]{40})", action) for action in actions)
        if "permissions" in job:
            assert name in ("deploy", "publish")
            assert not any(action.startswith("actions/checkout@") for action in actions)
    checkouts = [step for step in steps_of(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.name)
def test_issue_forms_ask_for_the_environment(form: Path) -> None:
    """Tests that the forms ask for commands that exist."""
    labels = [field["attributes"].get("label") for field in yaml.safe_load(form.read_text("utf-8"))["body"]]
    assert "polytok --version --json" in labels
    assert ("polytok doctor FILE --json" in labels) == (form.name != "speed.yml")


def test_versions_agree() -> None:
    """Tests that all files have the version of the crates."""
    version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text("utf-8"), re.MULTILINE)
    assert version and version[1] == polytok.__version__ == environment()["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == polytok.__version__
    assert citation["authors"] == [{"name": "The polytok authors"}]
    assert f"({polytok.__version__})" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_licenses_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that THIRD-PARTY-LICENSES.txt has the crates that are linked, in the versions of Cargo.lock."""
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    linked = third_party_licenses.linked_crates(third_party_licenses.TARGETS[0])
    listed = third_party_licenses.listed_crates()
    hint = "run `make licenses` and commit the file"
    assert {(crate["name"], crate["version"]) for crate in linked} <= listed, hint
    lock = (ROOT / "Cargo.lock").read_text("utf-8")
    locked = set(re.findall(r'^name = "(.+)"\nversion = "(.+)"$', lock, re.MULTILINE))
    assert listed <= locked, hint


def test_no_allowed_license_is_unused() -> None:
    """Tests that deny.toml allows only licences that crates have."""
    allowed = re.search(r"^allow = \[(.+)\]$", (ROOT / "deny.toml").read_text("utf-8"), re.MULTILINE)
    assert allowed
    names = set(re.findall(r'"([^"]+)"', allowed[1]))
    rows = third_party_licenses.CRATE_ROW.findall(third_party_licenses.LICENSES.read_text("utf-8"))
    assert names <= set(re.findall(r"[\w.-]+", " ".join(expression for _, _, expression in rows)))


def test_scripts_are_valid_shell() -> None:
    for script in ("build_wheels.sh", "build_sdist.sh"):
        subprocess.run(["bash", "-n", ROOT / "scripts" / script], check=True)
