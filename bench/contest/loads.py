"""Measures how long builds take to load a vocabulary, and how much memory they need to load it and to encode 1 MB.

Each measurement runs in a new process that imports the build as ``polytok``. The builds take turns, and the figures are
medians. The load time is the time of the fastest of five loads, without the import, as in bench.load_times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ..cases import ENGLISH, VOCABULARIES, Vocabulary
from ..load_times import measure
from ..measure import rotate
from ..texts import read_documents
from ..workloads import KB, MB, RunSize

ROOT = Path(__file__).parents[2]
ROUNDS = 9
TABLE_HEAD = ("vocabulary", "load, ms", "beside", "load, ms", "is × as fast", "peak, MB", "peak, MB", "× less memory")


@dataclass(frozen=True, slots=True)
class LoadComparison:
    """The comparison of the last build with another build for one vocabulary.

    ``load_times`` are in milliseconds and ``peak_memories`` in MB. The first figure of each pair is that of the last
    build.
    """

    vocabulary: Vocabulary
    other_build: str
    load_times: tuple[float, float]
    peak_memories: tuple[float, float]

    @property
    def ratios(self) -> tuple[float, float]:
        """The other build's time and memory, each divided by the last build's."""
        return self.load_times[1] / self.load_times[0], self.peak_memories[1] / self.peak_memories[0]

    def row(self) -> tuple[str, ...]:
        (time, other_time), (peak, other_peak) = self.load_times, self.peak_memories
        speed_ratio, memory_ratio = (f"{ratio:.3f}" for ratio in self.ratios)
        load_times = f"{time:.1f}", self.other_build, f"{other_time:.1f}", speed_ratio
        return (self.vocabulary.title, *load_times, f"{peak:.1f}", f"{other_peak:.1f}", memory_ratio)


def compare_builds(vocabulary: Vocabulary, builds: Sequence[tuple[str, Path]]) -> Iterator[LoadComparison]:
    """Yields the comparison of the last build with each other build."""
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name, _ in builds}
    for turn in range(ROUNDS):
        for name, folder in rotate(list(builds), turn):
            figures[name].append(_measure_in_process(folder, vocabulary))
    medians = [
        (median(time for time, _ in build_figures), median(peak for _, peak in build_figures))
        for build_figures in figures.values()
    ]
    last_median = medians[-1]
    for (name, _), build_median in zip(builds[:-1], medians[:-1], strict=True):
        yield LoadComparison(vocabulary, name, (last_median[0], build_median[0]), (last_median[1], build_median[1]))


def _measure_in_process(folder: Path, vocabulary: Vocabulary) -> tuple[float, float]:
    """Measures a build in a new process. Returns the load time in milliseconds and the peak memory in MB."""
    if not (folder / "__init__.py").is_file() or folder.name != "polytok":
        raise SystemExit(f"{folder} is not the folder of a polytok package: --load needs such folders")
    command = [sys.executable, "-m", "bench.contest.loads", vocabulary.name]
    paths = os.pathsep.join(map(str, (folder.parent, ROOT)))
    process = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONPATH": paths}, check=True)
    time, peak = json.loads(process.stdout)
    return time, peak


def measure_load(name: str) -> tuple[float, float]:
    """Measures loading in this process. Returns the milliseconds of a load, and the peak MB of loading and encoding."""
    import polytok

    vocabulary = next(row for row in VOCABULARIES if row.name == name)
    _, test = read_documents(ENGLISH, 4 * KB, RunSize(warm_up_bytes=0, test_bytes=MB, rounds=1, processes=1))
    tokenizer = polytok.load(vocabulary.path)
    for document in test:
        tokenizer.encode_array(document)
    peak = peak_memory()
    del tokenizer
    return measure("polytok", vocabulary.path, is_shared=False), peak


def peak_memory() -> float:
    """Returns the peak memory of this process in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6


if __name__ == "__main__":
    print(json.dumps(measure_load(sys.argv[1])))
