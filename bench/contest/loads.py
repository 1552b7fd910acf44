"""Measures how long builds take to load a vocabulary, and their peak memory for loading it and encoding 1 MB.

Each measurement runs in a new process that imports the build as ``polytok``. The builds take turns, and the figures are
medians. The time of a load is the fastest of five loads, without the import, as in bench.load_times.
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
from ..texts import documents
from ..workloads import KB, MB, Amount

ROOT = Path(__file__).parents[2]
ROUNDS = 9
HEAD = ("vocabulary", "load, ms", "beside", "load, ms", "is × as fast", "peak, MB", "peak, MB", "× less memory")


@dataclass(frozen=True, slots=True)
class LoadComparison:
    """The comparison of the last build with another build for one vocabulary.

    ``times`` has milliseconds and ``peaks`` MB; the figures of the last build are first.
    """

    vocabulary: Vocabulary
    other: str
    times: tuple[float, float]
    peaks: tuple[float, float]

    @property
    def ratios(self) -> tuple[float, float]:
        """The ratios of the other build's time and memory to those of the last build."""
        return self.times[1] / self.times[0], self.peaks[1] / self.peaks[0]

    def row(self) -> tuple[str, ...]:
        (time, other_time), (peak, other_peak) = self.times, self.peaks
        speed_ratio, memory_ratio = (f"{ratio:.3f}" for ratio in self.ratios)
        times = f"{time:.1f}", self.other, f"{other_time:.1f}", speed_ratio
        return (self.vocabulary.title, *times, f"{peak:.1f}", f"{other_peak:.1f}", memory_ratio)


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
    """Measures a build in a new process. Returns milliseconds and MB."""
    if not (folder / "__init__.py").is_file() or folder.name != "polytok":
        raise SystemExit(f"{folder} is not the folder of a polytok package, which --load needs")
    command = [sys.executable, "-m", "bench.contest.loads", vocabulary.name]
    paths = os.pathsep.join(map(str, (folder.parent, ROOT)))
    process = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONPATH": paths}, check=True)
    time, peak = json.loads(process.stdout)
    return time, peak


def measure_load(name: str) -> tuple[float, float]:
    """Measures loading in the new process. Returns milliseconds, and the peak MB of the first load and the encoding."""
    import polytok

    vocabulary = next(row for row in VOCABULARIES if row.name == name)
    _, test = documents(ENGLISH, 4 * KB, Amount(warm_up=0, test=MB, rounds=1, processes=1))
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
