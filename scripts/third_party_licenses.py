"""Writes THIRD-PARTY-LICENSES.txt: the licences of all crates whose code is in the extension module.

The file is in the repository, so that every way of installing polytok includes it, also one that has no network. A test
compares its list with Cargo.lock. Equal texts are written once, with the crates that have them.

    python scripts/third_party_licenses.py                  writes the file
    python scripts/third_party_licenses.py --check-wheel W  checks that a wheel contains the file and the licence
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LICENSES = ROOT / "THIRD-PARTY-LICENSES.txt"
BINDING = "polytok-py"
# The kinds of systems that wheels are built for; the processor selects no crates.
TARGETS = ("x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-apple-darwin", "x86_64-pc-windows-msvc")
LINE = "=" * 120
HEAD = f"""\
polytok's extension module contains code of the crates below, under their licences, which follow the list. Where a crate
offers a choice, polytok uses it under the first of Apache-2.0 and MIT that it offers. The module also contains parts of
Rust's standard library (MIT OR Apache-2.0, copyright The Rust Project Developers).

{LINE}
"""
CRATE_ROW = re.compile(r"^(\S+) (\d\S*): (.+)$", re.MULTILINE)


def main() -> None:
    """Writes the file, or checks a wheel."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check-wheel", type=Path, metavar="WHEEL")
    arguments = parser.parse_args()
    if arguments.check_wheel is None:
        LICENSES.write_text(file_text(), encoding="utf-8", newline="\n")
    else:
        check_wheel(arguments.check_wheel)


def check_wheel(path: Path) -> None:
    """Raises SystemExit if a wheel lacks the licences."""
    with zipfile.ZipFile(path) as wheel:
        for file in (ROOT / "LICENSE", LICENSES):
            names = [name for name in wheel.namelist() if name.endswith(f".dist-info/licenses/{file.name}")]
            if not names or wheel.read(names[0]) != file.read_bytes():
                raise SystemExit(f"{path}: {file.name} is missing, or differs from that of the repository")


def listed_crates() -> set[tuple[str, str]]:
    """Returns the names and versions of the crates in the file."""
    return {(row[1], row[2]) for row in CRATE_ROW.finditer(LICENSES.read_text(encoding="utf-8").partition(LINE)[2])}


def bundled_crates() -> list[dict[str, Any]]:
    """Returns cargo's descriptions of the crates that are linked into the module of any wheel, without those that only
    build it."""
    crates = {crate["id"]: crate for target in TARGETS for crate in linked_crates(target)}
    return sorted(crates.values(), key=lambda crate: (crate["name"], crate["version"]))


def linked_crates(target: str) -> Iterator[dict[str, Any]]:
    """Yields cargo's descriptions of the crates that are linked into the module on a system."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    seen: set[str] = set()
    pending = [id for id, package in packages.items() if package["name"] == BINDING]
    while pending:
        id = pending.pop()
        if id in seen or any("proc-macro" in target["kind"] for target in packages[id]["targets"]):
            continue
        seen.add(id)
        if packages[id]["source"] is not None:
            yield packages[id]
        dependencies = nodes[id]["deps"]
        pending += [crate["pkg"] for crate in dependencies if any(kind["kind"] is None for kind in crate["dep_kinds"])]


def file_text() -> str:
    """Returns the content of the file."""
    texts: dict[str, str] = {}
    crates_of_text: dict[str, list[str]] = {}
    rows = []
    for crate in bundled_crates():
        name = f"{crate['name']} {crate['version']}"
        rows.append(f"{name}: {crate['license']}\n")
        for text in _license_texts(crate):
            words = " ".join(text.split())  # texts that differ in white space are equal
            texts.setdefault(words, text)
            crates_of_text.setdefault(words, []).append(name)
    sections = (f"\n{LINE}\n{', '.join(crates_of_text[words])}\n{LINE}\n\n{text}\n" for words, text in texts.items())
    return HEAD + "".join(rows) + "".join(sections)


def _license_texts(crate: dict[str, Any]) -> Iterator[str]:
    """Yields the texts of the files of a crate that have licences or notices."""
    folder = Path(crate["manifest_path"]).parent
    files = [file for file in sorted(folder.iterdir()) if _is_license(file)]
    if not files:
        raise SystemExit(f"{crate['name']} {crate['version']} has no file with its licence: write its text here")
    for file in files:
        text = file.read_text(encoding="utf-8")
        yield "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def _is_license(file: Path) -> bool:
    return file.is_file() and re.match(r"(?i)(un)?licen[cs]e|copying|copyright|notice", file.name) is not None


if __name__ == "__main__":
    main()
