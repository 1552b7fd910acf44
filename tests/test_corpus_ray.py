"""Tests jobs on a Ray cluster of two nodes, one of which is killed: the folder equals that of a local job."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import corpus_kills
import polytok
from polytok import ArgumentError, FormatError, InputOptions
from polytok.corpus import count_words, tokenize
from test_corpus_jobs import contents

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Starts a cluster of two nodes, each with processes of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", ":".join(filter(None, [str(Path(__file__).parent), *sys.path])))
        ray_cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        ray.init(address=ray_cluster.address, logging_level="ERROR", log_to_driver=False)
        yield ray_cluster
        ray.shutdown()
        ray_cluster.shutdown()


@pytest.mark.slow
def test_a_node_is_killed_while_the_job_runs(tmp_path: Path, cluster: Any) -> None:
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()

    class Killing(io.StringIO):
        def write(self, text: str) -> int:
            if '"task"' in text and node in cluster.worker_nodes:
                cluster.remove_node(node, allow_graceful=False)
            return super().write(text)

    inputs = corpus_kills.write_inputs(tmp_path / "inputs", 2_000_000)
    options: dict[str, Any] = {"input_options": InputOptions(lines=True), "shard_size": 500_000, "shuffle": 100}
    log = Killing()
    tokenize(inputs, "default", tmp_path / "out", runner="ray", json_log=log, **options)
    assert node not in cluster.worker_nodes
    tasks = [json.loads(line)["event"] for line in log.getvalue().splitlines()].count("task")
    assert tasks == len(list((tmp_path / "out").glob("*.bin"))) > 4
    tokenize(inputs, "default", tmp_path / "one", workers=1, **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


@pytest.mark.parametrize("shuffle", [100, "all"])
def test_datasets_equal_those_of_a_local_job(tmp_path: Path, cluster: Any, shuffle: Any) -> None:
    inputs = corpus_kills.write_inputs(tmp_path / "inputs", 400_000)
    options: dict[str, Any] = {"input_options": InputOptions(lines=True), "shard_size": 100_000, "shuffle": shuffle}
    report = tokenize(inputs, "default", tmp_path / "out", runner="ray", **options)
    assert tokenize(inputs, "default", tmp_path / "one", workers=1, **options) == report
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


def test_counts_equal_those_of_a_local_job(tmp_path: Path, cluster: Any) -> None:
    inputs = corpus_kills.write_inputs(tmp_path / "inputs", 200_000)
    input_options = InputOptions(lines=True)
    count_words(inputs, "bpe", tmp_path / "counts", input_options=input_options, runner="ray", shard_size=100_000)
    polytok.count_words([Path(name) for name in inputs], "bpe", input_options=input_options).save(tmp_path / "expected")
    assert (tmp_path / "counts").read_bytes() == (tmp_path / "expected").read_bytes()


def test_errors_of_tasks_equal_those_of_a_local_job(tmp_path: Path, cluster: Any) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": 5}\n')
    with pytest.raises(FormatError, match=r"a.jsonl: byte 14: the field 'text' is not a text"):
        tokenize(tmp_path / "a.jsonl", "default", tmp_path / "out", runner="ray")
    with pytest.raises(ArgumentError, match="workers=0"):
        tokenize(tmp_path / "a.jsonl", "default", tmp_path / "out", runner="ray", workers=0)
