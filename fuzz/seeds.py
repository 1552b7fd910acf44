"""Writes the first inputs of the fuzzing targets: small files made by polytok's own writers, none from outside."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from polytok import corpus

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import test_damaged_files

PATTERNS = (
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'s|'t|'re| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t)|\w+|\W",
    r"[a-z]+|(?<=a)b|^c$",
)
TEXT = "The naïve 吾輩は猫 123\n\n  I'll😀 \u0301"
TEMPLATES = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content | trim }}{% endfor %}",
    "{{ bos_token }}{% if tools %}{{ tools | tojson }}{% endif %}"
    "{% set ns = namespace(n=0) %}{{ messages[0]['content'][1:] }}",
    "{% macro m(a) %}{{ a ~ 'b' * 3 }}{% endmacro %}{{ m(messages | length) }}{{ raise_exception('no') }}",
)
JSON_LINES = (
    b'{"text": "a\\u00e9\\ud83d\\ude00", "n": [1, 2.5e3, null, true, {"text": "b"}]}\n{"text": null}\n\n"whole"\n',
    b'\xef\xbb\xbf{"text": {"a": "c\\n"}}\nNaN\n{"a": Infinity}\n{"text": "\\ud800"}\n',
)
CONFIGS = (
    b'{"tokenizer_class": "LlamaTokenizer", "add_bos_token": true, "bos_token": "a", "eos_token": {"content": "b", '
    b'"lstrip": true, "special": true}, "added_tokens_decoder": {"7": {"content": "<x>", "normalized": false}}}',
    b'{"chat_template": [{"name": "default", "template": "{{ messages }}"}], "model_max_length": 512}',
    b'{"<y>": 3}',
)


def seeds(target: str) -> Iterator[bytes]:
    """Yields the inputs for a target."""
    name = target.removeprefix("py_")
    samples = [create() for create in test_damaged_files.SMALL_FILES.values()]
    files = [data for format_name, data in samples if name in (format_name, "detect")]
    if name == "tekken" and not target.startswith("py_"):
        yield from (b"\x3c" + data for data in files)
    elif name == "vocab_json":
        vocab = json.dumps({"a": 0, "b": 1, "ab": 2}).encode()
        yield bytes([len(vocab) // 4 + 1]) + vocab.ljust(len(vocab) // 4 * 4 + 4) + b"#version: 0.2\na b\n"
    elif name == "pattern":
        yield from (bytes([0, len(pattern), *pattern.encode(), 0, 0]) + TEXT.encode() for pattern in PATTERNS)
        yield bytes([1, 20, *range(20), 1, 0, *range(30)])
    elif name == "json_lines":
        yield from (bytes([128, path]) + lines for path in range(3) for lines in JSON_LINES)
    elif name == "chat":
        yield from map(str.encode, TEMPLATES)
    elif name == "settings":
        yield from (bytes([at]) + b"\n" + data for at in range(4) for data in CONFIGS)
    elif name == "journal":
        yield from _job_files()
    elif name in ("encode", "decode", "incremental", "models", "native", "texts", "python_str"):
        rng = random.Random(target)
        yield from (rng.randbytes(rng.randrange(40, 300)) for _ in range(100))
    yield from files


def _job_files() -> Iterable[bytes]:
    """Yields the plan, the record and the manifest of small jobs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.txt").write_text("one two\nthree\n", encoding="utf-8")
        corpus.tokenize(folder / "in.txt", "default", folder / "out")
        plan, manifest = ((folder / "out" / file).read_bytes() for file in ("plan.json", "dataset.json"))
        yield plan + b"\x00\x00" + manifest
        yield plan


def write(target: str, folder: Path) -> None:
    """Writes the inputs of a target to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds(target)):
        (folder / f"seed-{number:03d}").write_bytes(data)
