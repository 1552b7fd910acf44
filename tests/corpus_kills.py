"""Kills jobs at random moments and continues them; the final folder must equal that of an undisturbed job.

    python -m corpus_kills --moments 100

At each moment a SIGKILL ends a worker (the job must survive), the job's main process (its workers must end by
themselves), or all processes of the job. Four of five kills happen after the first record of a run, while shards are
written; the others happen while a run plans the job and verifies the work of earlier runs. A job is restarted until it
is complete; then the next job starts.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

TARGETS = ("worker", "job", "group")


def write_inputs(folder: Path, size: int, seed: int = 0) -> list[str]:
    """Writes texts of every format, about ``size`` bytes; returns the arguments that name the files."""
    rng = random.Random(seed)
    words = ["the", "tokens", "漢字", "naïve", "🦜", "of", "streams", "0123", "\\", "  "]
    lines = [" ".join(rng.choices(words, k=rng.randrange(40))) for _ in range(size // 400)]
    records = [
        json.dumps({"text": "\n".join(lines[place : place + 5]), "number": place}) for place in range(len(lines))
    ]
    folder.mkdir()
    (folder / "lines.txt").write_text("\n".join(lines), "utf-8")
    (folder / "records.jsonl").write_text("\n".join(records), "utf-8")
    for part in range(4):
        (folder / f"part{part}.jsonl.gz").write_bytes(gzip.compress("\n".join(records[part::9]).encode()))
    with suppress(ImportError):
        compress = importlib.import_module("backports.zstd").compress
        (folder / "part.jsonl.zst").write_bytes(compress("\n".join(records[4::9]).encode()))
    with suppress(ImportError):
        table = importlib.import_module("pyarrow").table({"text": lines})
        write_table = importlib.import_module("pyarrow.parquet").write_table
        write_table(table, folder / "table.parquet", row_group_size=max(len(lines) // 5, 1))
    return [str(path) for path in sorted(folder.iterdir())]


def command(inputs: list[str], out: Path, shard_size: int) -> list[str]:
    options = ["--lines", "--eos", "--shuffle", "100", "--workers", "2", "--shard-size", str(shard_size), "--quiet"]
    return [sys.executable, "-m", "polytok", "tokenize", *inputs, *options, "-o", str(out)]


def contents(folder: Path) -> dict[str, bytes]:
    """Returns the content of every file in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def children(process: int) -> list[int]:
    """Returns the child processes of a process."""
    child_pids = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            status = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(status[1]) == process and status[0] != "Z":
            child_pids.append(int(path.parent.name))
    return child_pids


def kill(process: int, target: str, rng: random.Random) -> bool:
    """Kills the target; returns False if the target is not running."""
    try:
        if target == "group":
            os.killpg(process, signal.SIGKILL)
        elif target == "job":
            os.kill(process, signal.SIGKILL)
        else:
            os.kill(rng.choice(children(process)), signal.SIGKILL)
    except (ProcessLookupError, IndexError):
        return False
    return True


def wait_for_record(process: subprocess.Popen[bytes], out: Path) -> None:
    """Waits until another task is complete, or the job ends."""
    earlier_records = records(out)
    while process.poll() is None and records(out) <= earlier_records:
        time.sleep(0.005)


def records(out: Path) -> set[str]:
    """Returns the records of complete tasks."""
    return {path.name for path in out.glob("done/0*.json")}


def remaining_share(out: Path) -> float:
    """Returns the share of the tasks that are not complete."""
    try:
        return 1 - len(records(out)) / len(json.loads((out / "plan.json").read_bytes())["tasks"])
    except FileNotFoundError:
        return 1


def run_with_kills(arguments: list[str], out: Path, seconds: float, rng: random.Random, most: int) -> Counter[str]:
    """Runs a job, kills it at most ``most`` times, and restarts it until it is complete; returns the killed targets."""
    kill_counts: Counter[str] = Counter()
    while True:
        process = subprocess.Popen(arguments, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if kill_counts.total() < most:
            if rng.random() < 0.8:
                wait_for_record(process, out)
            time.sleep(rng.uniform(0, seconds * remaining_share(out)))
            target = rng.choice(TARGETS)
            if process.poll() is None and kill(process.pid, target, rng):
                kill_counts[target] += 1
        output = process.communicate()[0]
        if process.returncode == 0:
            return kill_counts
        if process.returncode != -signal.SIGKILL:
            raise AssertionError(f"the job ended with {process.returncode}: {output.decode()}")


def check(moments: int, size: int, shard_size: int, seed: int) -> str:
    """Kills jobs at ``moments`` moments and compares the folders; returns a summary or raises AssertionError."""
    rng, kill_counts, jobs = random.Random(seed), Counter[str](), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = write_inputs(folder / "inputs", size)
        process = subprocess.Popen(command(inputs, folder / "undisturbed", shard_size))
        wait_for_record(process, folder / "undisturbed")
        start_time = time.monotonic()
        assert process.wait() == 0
        seconds = time.monotonic() - start_time
        expected = contents(folder / "undisturbed")
        while kill_counts.total() < moments:
            out = folder / f"out{jobs}"
            kill_counts += run_with_kills(
                command(inputs, out, shard_size), out, seconds, rng, moments - kill_counts.total()
            )
            actual = contents(out)
            assert actual.keys() == expected.keys(), sorted(actual.keys() ^ expected.keys())
            assert actual == expected, [name for name in actual if actual[name] != expected[name]]
            jobs += 1
    return (
        f"{jobs} jobs of {seconds:.1f} s, {len(expected)} files each, equal after {dict(sorted(kill_counts.items()))}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--size", type=int, default=20_000_000)
    parser.add_argument("--shard-size", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(check(arguments.moments, arguments.size, arguments.shard_size, arguments.seed))


if __name__ == "__main__":
    main()
