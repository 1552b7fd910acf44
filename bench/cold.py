"""Measures new processes that import a package, load a vocabulary file and encode 4 KB of English.

``python -m bench.cold`` prints a table with a row for each file: the milliseconds of processor time of the whole
process, as a median of ``--rounds`` processes that take turns. ``list`` converts the ids to a list, ``array`` to a
numpy array. A peer that cannot read a file has an empty cell. ``--against`` adds a column for another build of polytok.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from . import markdown
from .cases import DATA

TEXT = "text = ('The quick brown fox jumps over 12 lazy dogs, and nobody knows why. ' * 60)[:4096]\n"
LOAD_POLYTOK = "import sys, polytok\ntokenizer = polytok.load(sys.argv[1])\n"
LOAD_GIGATOKEN = (
    "import sys, pathlib, gigatoken\npath = pathlib.Path(sys.argv[1])\n"
    "if path.suffix == '.json': tokenizer = gigatoken.Tokenizer.from_json(path.read_text(encoding='utf-8'))\n"
    "elif path.suffix == '.tiktoken': tokenizer = gigatoken.Tokenizer.from_tiktoken(path)\n"
    "else: tokenizer = gigatoken.Tokenizer.from_sentencepiece(path)\n"
)
PROGRAMS: Mapping[str, str] = {
    "Python alone": "",
    "polytok, list": f"{TEXT}{LOAD_POLYTOK}tokenizer.encode(text)",
    "polytok, array": f"{TEXT}{LOAD_POLYTOK}tokenizer.encode_array(text)",
    "sentencepiece, list": (
        f"{TEXT}import sys, sentencepiece\nsentencepiece.SentencePieceProcessor(model_file=sys.argv[1]).encode(text)"
    ),
    "tokenizers, list": f"{TEXT}import sys, tokenizers\ntokenizers.Tokenizer.from_file(sys.argv[1]).encode(text).ids",
    "tiktoken, list": (
        f"{TEXT}import sys, tiktoken, tiktoken.load\nranks = tiktoken.load.load_tiktoken_bpe(sys.argv[1])\n"
        "tiktoken.Encoding('x', pat_str=r'\\w+|\\W+', mergeable_ranks=ranks, special_tokens={}).encode(text)"
    ),
    "pyrwkv, list": f"{TEXT}import pyrwkv_tokenizer\npyrwkv_tokenizer.RWKVTokenizer().encode(text)",
    "gigatoken, list": f"{TEXT}{LOAD_GIGATOKEN}tokenizer.encode(text).tolist()",
    "gigatoken, array": f"{TEXT}{LOAD_GIGATOKEN}tokenizer.encode(text)",
}
PEERS_OF_FOLDER: Mapping[str, tuple[str, ...]] = {
    "sentencepiece": ("sentencepiece, list", "gigatoken, list", "gigatoken, array"),
    "huggingface": ("tokenizers, list", "gigatoken, list", "gigatoken, array"),
    "tiktoken": ("tiktoken, list", "gigatoken, list", "gigatoken, array"),
    "rwkv": ("pyrwkv, list",),
}
"""The peers that read the files in a folder of ``vocab/``."""


def processor_time(program: str, path: Path, package: Path | None = None) -> float | None:
    """Runs a program in a new process; returns its milliseconds of processor time, or None if the program failed.

    ``package`` is the folder of another build of polytok.
    """
    environment = {**os.environ, **({"PYTHONPATH": str(package.parent)} if package else {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages are compiled to bytecode too
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return None if status else (usage.ru_utime + usage.ru_stime) * 1e3


def median_times(path: Path, against: Path | None, rounds: int) -> dict[str, float | None]:
    """Returns the median of each program for a file; the programs take turns."""
    jobs: dict[str, tuple[str, Path | None]] = {
        name: (PROGRAMS[name], None)
        for name in ("Python alone", "polytok, list", "polytok, array", *PEERS_OF_FOLDER.get(path.parent.name, ()))
    }
    if against is not None:
        jobs["other polytok, list"] = PROGRAMS["polytok, list"], against
        jobs["other polytok, array"] = PROGRAMS["polytok, array"], against
    times: dict[str, list[float | None]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, (program, package) in jobs.items():
            if None not in times[name]:
                times[name].append(processor_time(program, path, package))
    return {
        name: None if None in values else statistics.median(value for value in values if value is not None)
        for name, values in times.items()
    }


def main() -> None:
    arguments = create_parser().parse_args()
    others = ("other polytok, list", "other polytok, array") if arguments.against else ()
    columns = ["Python alone", "polytok, list", "polytok, array", *others, *list(PROGRAMS)[3:]]
    print(markdown.table(["file", *columns], []))
    for path in sorted((DATA / "vocab").glob("*/*")):
        if path.suffix in (".inp", ".out") or (arguments.files and path.name not in arguments.files):
            continue
        times = median_times(path, arguments.against, arguments.rounds)
        cells = ["" if times.get(name) is None else f"{times[name]:.0f}" for name in columns]
        print(f"| {' | '.join((f'{path.parent.name}/{path.name}', *cells))} |", flush=True)


def create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.cold", description="The processor time of new processes.")
    parser.add_argument("--against", type=Path, help="the folder of another build of the package polytok")
    parser.add_argument("--rounds", type=int, default=7, help="the number of processes of each program (7)")
    parser.add_argument("files", nargs="*", help="the names of the files to measure (all)")
    return parser


if __name__ == "__main__":
    main()
