"""Measures how much memory and time building suffix arrays takes, over the bytes and over the tokens of texts.

``python -m bench.suffix_arrays TEXT... -m MODEL [-m MODEL ...]`` prints the table of docs/suffix-arrays.md. Each row is
measured in a new process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydivsufsort import divsufsort

import polytok

_TABLE_HEAD = (
    "| over | symbols | their bytes | suffix array | both, per byte of text | most memory, per byte of text | CPU |"
)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("-m", "--model", action="append", default=[])
    parser.add_argument("--row", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        print(_measure_row(arguments.texts, *arguments.model))
        return
    print(_TABLE_HEAD + "\n|---|---|---|---|---|---|---|", flush=True)
    for model in ([], *([model] for model in arguments.model)):
        options = [option for name in model for option in ("-m", name)]
        command = [sys.executable, "-m", "bench.suffix_arrays", "--row", *map(str, arguments.texts), *options]
        subprocess.run(command, check=True)


def _measure_row(paths: list[Path], model: str | None = None) -> str:
    size = sum(path.stat().st_size for path in paths)
    symbols = _read_bytes(paths) if model is None else _encode_files(paths, model)
    _reset_peak_memory()
    memory_before, start_time = _memory_bytes("VmRSS"), time.process_time()
    suffixes = suffix_array(symbols)
    seconds, peak = time.process_time() - start_time, _memory_bytes("VmHWM") - memory_before + symbols.nbytes
    name = "bytes" if model is None else f"{symbols.dtype} of {Path(model).name}"
    size_cells = (f"{count / 1e6:.1f} M" for count in (len(symbols), symbols.nbytes, suffixes.nbytes))
    ratio_cells = (f"{count / size:.2f}" for count in (symbols.nbytes + suffixes.nbytes, peak))
    return f"| {' | '.join((name, *size_cells, *ratio_cells))} | {seconds:.1f} s |"


def suffix_array(symbols: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.signedinteger]:
    """Returns the suffix array of ids, computed by sorting the suffixes of their big-endian bytes.

    Sorting big-endian bytes sorts the ids as numbers. Suffixes that begin inside an id are removed block by block,
    which takes less memory than the same method of pydivsufsort.
    """
    width, block_size = symbols.itemsize, 1 << 20
    positions: npt.NDArray[np.signedinteger] = divsufsort(
        symbols.astype(symbols.dtype.newbyteorder(">"), copy=False).view(np.uint8)
    )
    kept_count = 0
    for block_start in range(0, len(positions), block_size):
        block_positions = positions[block_start : block_start + block_size]
        block_positions = block_positions[block_positions % width == 0] // width
        positions[kept_count : kept_count + len(block_positions)] = block_positions
        kept_count += len(block_positions)
    return positions[:kept_count]


def _read_bytes(paths: list[Path]) -> npt.NDArray[np.uint8]:
    return np.concatenate([np.fromfile(path, dtype=np.uint8) for path in paths])


def _encode_files(paths: list[Path], model: str) -> npt.NDArray[np.unsignedinteger]:
    tokenizer = polytok.load(model)
    return np.concatenate([tokenizer.encode_array(path.read_bytes()) for path in paths])


def _reset_peak_memory() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _memory_bytes(name: str) -> int:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) << 10


if __name__ == "__main__":
    main()
