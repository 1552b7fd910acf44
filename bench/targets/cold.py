"""Measures new processes that import a package, load a vocabulary and encode 4 KB, as a user's first program does.

The processor time begins before the import and ends when the ids exist; the start of Python is not included. The code
of a process is a few lines for each package, because the adapters of the benchmarks import numpy. All packages read the
same original file, except packages that contain their vocabularies, and all processes use compiled bytecode. The code
imports nothing else before the time begins, because some packages would need the imported modules too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from polytok import patterns

from ..cases import ENGLISH, OWN_ENGINE_NAME, Vocabulary
from ..engines import ENGINES
from ..engines.polytok import selected_level
from ..engines.tiktoken import PATTERNS
from ..measure import rotate
from ..texts import read_documents
from ..workloads import KB, RunSize

ROUNDS = 7


@dataclass(frozen=True, slots=True)
class ColdStart:
    """The seconds of processor time of a process, and whether the process has imported numpy."""

    seconds: float
    has_numpy: bool


Starts: TypeAlias = Mapping[tuple[str, str], ColdStart]
"""The median for each engine and each kind of output, which is "list" or "array"."""

_POLYTOK = "import polytok; level == 'auto' or polytok.set_simd_level(level); t = polytok.load(path); "
_GIGATOKEN = "import gigatoken; t = gigatoken.Tokenizer.{}; "
_TIKTOKEN = (
    "import tiktoken, tiktoken.load; t = tiktoken.Encoding('x', pat_str=pattern, special_tokens={}, "
    "mergeable_ranks=tiktoken.load.load_tiktoken_bpe(path)); "
)
CODE = {
    (OWN_ENGINE_NAME, "list"): f"{_POLYTOK}t.encode(text)",
    (OWN_ENGINE_NAME, "array"): f"{_POLYTOK}t.encode_array(text)",
    ("tiktoken", "list"): f"{_TIKTOKEN}t.encode_ordinary(text)",
    ("tiktoken", "array"): f"{_TIKTOKEN}t.encode_to_numpy(text, disallowed_special=())",
    ("gigatoken", "list"): f"{_GIGATOKEN}t.encode(text).tolist()",
    ("gigatoken", "array"): f"{_GIGATOKEN}t.encode(text)",
    ("quicktok-v1", "list"): "import quicktok; quicktok.get_encoding(name).encode_ordinary(text)",
    ("bpe-openai", "list"): "import bpe_openai; bpe_openai.get_encoding(name).encode_ordinary(text)",
    ("kitoken", "list"): "from kitoken import Kitoken; Kitoken.{}.encode(text)",
    ("sentencepiece", "list"): (
        "import sentencepiece; sentencepiece.SentencePieceProcessor(model_file=path).encode(text)"
    ),
    ("tokenizers", "list"): (
        "import tokenizers; tokenizers.Tokenizer.from_file(path).encode(text, add_special_tokens=False).ids"
    ),
    ("pyrwkv-tokenizer", "list"): "import pyrwkv_tokenizer; pyrwkv_tokenizer.RWKVTokenizer().encode(text)",
}
LOAD_CALLS = {
    ("gigatoken", ".tiktoken"): "from_tiktoken(path)",
    ("gigatoken", ".model"): "from_sentencepiece(path)",
    ("kitoken", ".tiktoken"): "from_tiktoken_file(path)",
    ("kitoken", ".model"): "from_sentencepiece_file(path)",
    ("kitoken", ".json"): "from_tokenizers_file(path)",
}
"""The functions of packages that have a function for each format, by the suffix of the file."""

FRAME = """
import sys, time
text, path, name, pattern, level = sys.argv[1:]
start = time.process_time()
{code}
print(time.process_time() - start, "numpy" in sys.modules)
"""


def measure_starts(vocabulary: Vocabulary) -> Starts:
    """Runs the processes of all engines in turns. An engine without a median cannot load the file."""
    codes = engine_codes(vocabulary)
    runs: dict[tuple[str, str], list[ColdStart]] = {key: [] for key in codes}
    for turn in range(ROUNDS):
        for key in rotate(list(codes), turn):
            start = run_process(codes[key], vocabulary)
            if start is not None:
                runs[key].append(start)
    return {
        key: ColdStart(median(start.seconds for start in starts), starts[0].has_numpy)
        for key, starts in runs.items()
        if starts
    }


def engine_codes(vocabulary: Vocabulary) -> dict[tuple[str, str], str]:
    """Returns the code of each installed engine of a vocabulary and each kind of output."""
    names = [name for name in vocabulary.engines if ENGINES[name].version is not None]
    call = {name: LOAD_CALLS.get((name, vocabulary.path.suffix), "") for name in names}
    return {
        key: code.replace("{}", call[key[0]] or "{}")
        for key, code in CODE.items()
        if key[0] in names and (call[key[0]] or key[0] not in ("gigatoken", "kitoken"))
    }


def run_process(code: str, vocabulary: Vocabulary) -> ColdStart | None:
    """Runs a process and returns its time, or None if the process fails."""
    _, documents = read_documents(ENGLISH, 4 * KB, RunSize(warm_up_bytes=0, test_bytes=8 * KB, rounds=1, processes=1))
    pattern = PATTERNS.get(vocabulary.name, patterns.CL100K)
    values = documents[0], str(vocabulary.path), vocabulary.name, pattern, selected_level()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", FRAME.format(code=code), *values]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        return None
    seconds, has_numpy = process.stdout.split()
    return ColdStart(float(seconds), has_numpy == "True")
