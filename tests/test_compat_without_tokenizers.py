"""Tests transformers on the face of tokenizers where the package tokenizers is not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import transformers_bank as bank
from format_samples import VOCAB

pytest.importorskip("transformers")
pytestmark = pytest.mark.skipif(not VOCAB.is_dir(), reason="no test data; set POLYTOK_DATA to its folder")
ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import copy, importlib.util, json, sys
from pathlib import Path
if sys.argv[2] == "face":
    assert importlib.util.find_spec("tokenizers") is None
    import polytok.compat
    polytok.compat.install("tokenizers")
import transformers_bank as bank
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
calls = [*bank.encode_calls(), *bank.other_calls()]
answers = {name: bank.result_of(call, copy.deepcopy(tokenizer)) for name, call in calls}
print(sys.modules[type(tokenizer._tokenizer).__module__].__file__)
print(json.dumps(answers, default=str))
"""


@pytest.fixture
def without_tokenizers(tmp_path: Path) -> Path:
    """Returns a folder that leads to all installed packages except tokenizers."""
    folder = tmp_path / "packages"
    folder.mkdir()
    for entry in Path(sysconfig.get_paths()["platlib"]).iterdir():
        if not entry.name.startswith(("tokenizers", "__pycache__")) and entry.suffix != ".pth":
            (folder / entry.name).symlink_to(entry)
    return folder


def answers(packages: list[Path], *arguments: str) -> tuple[str, dict[str, object]]:
    """Runs the program with these packages alone; returns the file of the package of its tokenizer, and all answers."""
    paths = [ROOT / "python", ROOT / "tests", *packages]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, "-S", "-W", "ignore", "-c", PROGRAM, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    file, _, found = done.stdout.strip().rpartition("\n")
    return file.splitlines()[-1], json.loads(found)


def test_transformers_runs_without_tokenizers(tmp_path: Path, without_tokenizers: Path) -> None:
    folder = bank.write_folder(VOCAB / "huggingface" / "bert_base_cased.json", "BertTokenizer", tmp_path)
    installed = Path(sysconfig.get_paths()["platlib"])
    file, expected = answers([installed], str(folder), "original")
    assert Path(file) == installed / "tokenizers" / "__init__.py"
    file, found = answers([without_tokenizers], str(folder), "face")
    assert Path(file) == ROOT / "python" / "polytok" / "compat" / "tokenizers" / "__init__.py"
    assert len(expected) > 100
    assert [name for name in expected if not bank.is_same(expected[name], found[name])] == []
