"""Tests the promises of docs/stability.md: this version returns the ids of all versions whose files are in tests/data,
at every SIMD level, trains the same vocabularies, and reads the files and continues the jobs of these versions."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import xxhash

import golden_samples
import polytok
from polytok import ArgumentError, Tokenizer, corpus
from polytok.formats import ptok

VERSIONS = sorted(path.name for path in golden_samples.DATA.iterdir())
FILES = [path for version in VERSIONS for path in sorted((golden_samples.DATA / version).glob("*.ptok.gz"))]
GOLDEN = {version: json.loads((golden_samples.DATA / version / "ids.json").read_bytes()) for version in VERSIONS}


@pytest.fixture(params=polytok.simd_levels())
def simd_level(request: pytest.FixtureRequest) -> Iterator[str]:
    polytok.set_simd_level(request.param)
    yield request.param
    polytok.set_simd_level("auto")


def check(tokenizer: Tokenizer, version: str, name: str) -> None:
    golden = GOLDEN[version]
    assert golden_samples.answers(tokenizer, golden["texts"]) == golden["vocabularies"][name]


def test_a_version_is_stored() -> None:
    assert VERSIONS and all((golden_samples.DATA / version / "job/plan.json").exists() for version in VERSIONS)
    assert {path.name.split(".")[0] for path in FILES} >= {*golden_samples.TRAINED, *golden_samples.MADE}


@pytest.mark.usefixtures("simd_level")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_ids_of_the_default_vocabulary_never_change(version: str) -> None:
    check(polytok.load("default"), version, "default")


@pytest.mark.usefixtures("simd_level")
@pytest.mark.parametrize("kind", golden_samples.TRAINED)
def test_training_returns_the_same_vocabulary(kind: str) -> None:
    for version in VERSIONS:
        check(golden_samples.train(kind), version, kind)


@pytest.mark.usefixtures("simd_level")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name.removesuffix('.ptok.gz')}")
def test_files_of_earlier_versions_are_read(path: Path) -> None:
    name = path.name.removesuffix(".ptok.gz")
    check(golden_samples.load(path), path.parent.name, name)
    check(polytok.load(with_other_tables(gzip.decompress(path.read_bytes()))), path.parent.name, name)


def with_other_tables(file: bytes) -> bytes:
    """Returns a file as a version with another layout of the compiled tables writes it: the tables have another
    version, and their bytes have another meaning."""
    data = bytearray(file)
    data[12:16] = struct.pack("=I", 10)
    (section_count,) = struct.unpack_from("=I", data, 20)
    for row in range(64, 64 + 64 * section_count, 64):
        name = data[row : row + 48].rstrip(b"\0").decode()
        start, length = struct.unpack_from("=QQ", data, row + 48)
        if not name.startswith("vocab.") and name not in {"spec", "special", "extra", "data", "model.merges"}:
            data[start : start + length] = b"\xa5" * length
    seed = xxhash.xxh3_64_intdigest(data[:32])
    data[32:40] = struct.pack("=Q", xxhash.xxh3_64_intdigest(data[40:], seed=seed))
    return bytes(data)


def test_a_file_of_a_later_format_is_refused() -> None:
    data = bytearray(ptok.write(golden_samples.load(FILES[0]).spec).data)
    data[8:12] = struct.pack("=I", 2)
    with pytest.raises(polytok.FormatError, match="version 2, which is newer than the version 1 .* update polytok"):
        polytok.load(bytes(data))


@pytest.fixture(params=VERSIONS)
def job_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the folder of an unfinished job that an earlier version has begun."""
    shutil.copytree(golden_samples.DATA / request.param / "job", tmp_path / "job")
    return tmp_path / "job"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_job_of_an_earlier_version_is_continued(job_folder: Path, tmp_path: Path) -> None:
    begun = contents(job_folder)
    tokenizer = polytok.load(job_folder / "tokenizer.ptok")
    with golden_samples.job_inputs() as inputs:
        golden_samples.run_job(inputs, tokenizer, job_folder)
        golden_samples.run_job(inputs, tokenizer, tmp_path / "new")
    finished = contents(job_folder)
    assert {name: finished[name] for name in begun if not name.startswith("done/")} == {
        name: data for name, data in begun.items() if not name.startswith("done/")
    }
    new = contents(tmp_path / "new")
    assert {**finished, "tokenizer.ptok": b""} == {**new, "tokenizer.ptok": b""}
    check_dataset(job_folder, tokenizer)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_dataset_of_an_earlier_version_is_read(version: str) -> None:
    folder = golden_samples.DATA / version / "dataset"
    tokenizer = polytok.load(folder / "tokenizer.ptok")
    assert list(corpus.verify(folder)) == []
    check_dataset(folder, tokenizer)


def check_dataset(folder: Path, tokenizer: Tokenizer) -> None:
    """Checks that the documents of the dataset are the lines of the inputs, and their ids those of this version."""
    lines = [line for _, texts in sorted(golden_samples.JOB_SOURCES.items()) for line in "\n".join(texts).split("\n")]
    eos = tokenizer.special_tokens["<|endoftext|>"]
    assert [document.tolist() for document in corpus.open(folder)] == [[*tokenizer.encode(line), eos] for line in lines]


def test_a_job_with_an_unknown_option_is_refused_with_what_to_do(job_folder: Path) -> None:
    plan: dict[str, Any] = json.loads((job_folder / "plan.json").read_bytes())
    plan["options"]["later_option"] = 1
    (job_folder / "plan.json").write_text(json.dumps(plan))
    begun = contents(job_folder)
    with golden_samples.job_inputs() as inputs, pytest.raises(ArgumentError, match="another job") as raised:
        golden_samples.run_job(inputs, polytok.load(job_folder / "tokenizer.ptok"), job_folder)
    assert "later_option" in str(raised.value) and "overwrite" in str(raised.value)
    assert contents(job_folder) == begun
