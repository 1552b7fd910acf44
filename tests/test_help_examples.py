"""Runs the examples in the help of all verbs on prepared files."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import polytok
from cli_process import ENVIRONMENT, write_tool
from format_samples import real
from optional_packages import zstd_package
from polytok import corpus
from test_conventions import VERBS

# The examples that tests cannot run, with the reason.
NOT_RUN = {
    "polytok count -m gpt2 -m llama.model corpus.jsonl.zst": "gpt2 is downloaded",
    "polytok tokenize s3://bucket/*.parquet --field content --columns url --to parquet -o tokens": "reads a bucket",
}
# The doctor's exit code is 1 if it finds problems, and that of diff if ids differ.
EXIT_CODES = {"doctor": {0, 1}, "diff": {0, 1}}
WORD_COUNT = 9000


def examples() -> Iterator[tuple[str, str]]:
    """Yields the verb and the command line of each example, without the remark after three spaces."""
    for verb, parser in VERBS.items():
        for line in (parser.epilog or "").splitlines():
            if line.startswith("  "):
                yield verb, re.split(" {3,}", line.strip())[0]


VERB_OF_LINE = {line: verb for verb, line in examples() if line not in NOT_RUN}


def random_texts() -> list[str]:
    """Returns texts of many different words, so that large vocabularies can be trained."""
    chooser = random.Random(1)
    words = ["".join(chooser.choices("abcdefghiklmnoprstuv", k=chooser.randint(3, 9))) for _ in range(WORD_COUNT)]
    return [" ".join(chooser.choices(words, k=100)) for _ in range(900)]


def write_texts(folder: Path) -> None:
    texts = random_texts()
    for name in ("book", "texts", "corpus", "chat"):
        (folder / f"{name}.txt").write_text("Hello, world\nx = 1 (^_^)\nsinging\n" * 4)
    (folder / "novels.txt").write_text("吾輩は猫である。名前はまだ無い。\n" * 50)
    (folder / "unwanted.txt").write_text("the\n")
    (folder / "mine.txt").write_text("polytok polytok\n")
    (folder / "list.txt").write_text("book.txt\n")
    for name in ("english", "french"):
        (folder / f"{name}.txt").write_text("Hello\n")
    (folder / "chat_template.jinja").write_text("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}")
    conversation = json.dumps([{"role": "user", "content": "Hi"}])
    for name in ("messages.json", "conversations.jsonl"):
        (folder / name).write_text(f"{conversation}\n" * (1 + name.endswith("l")))
    for name in ("corpus", "data/one", "prompts", "part1"):
        (folder / name).mkdir(parents=True)
    for name in ("data/one/a.txt", "prompts/a.txt"):
        (folder / name).write_text("Hello\n")
    for name in ("corpus/a.txt", "notes.txt"):
        (folder / name).write_text("\n".join(texts))
    records = [{"text": text, "content": text, "meta": {"language": "en"}} for text in texts]
    lines = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(lines))
    short_lines = b"".join(lines.splitlines(keepends=True)[:9])
    for name in ("corpus.jsonl", "prompts.jsonl", "corpus/a.jsonl"):
        (folder / name).write_bytes(short_lines)
    for name in ("corpus/a.jsonl.zst", "part1/a.jsonl.zst"):
        (folder / name).write_bytes(zstd_package().compress(short_lines))


def write_tokenizers(folder: Path) -> None:
    (folder / "llama.model").write_bytes(real("sentencepiece/llama2.model"))
    (folder / "rwkv_vocab.txt").write_bytes(real("rwkv/rwkv_vocab_v20230424.txt"))
    (folder / "o200k_base.tiktoken").write_bytes(real("tiktoken/o200k_base.tiktoken"))
    tokenizer = polytok.load("default")
    tokenizer.save(folder / "tokenizer.json")
    tokenizer.save(folder / "model.gguf")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the inputs of all examples."""
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("prepared")
    write_texts(folder)
    write_tokenizers(folder)
    tokenizer = polytok.load("default")
    corpus.tokenize(folder / "texts.txt", tokenizer, folder / "tokens", lines=True, workers=1)
    for name in ("web", "books", "part1", "part2"):
        shutil.copytree(folder / "tokens", folder / name, dirs_exist_ok=True)
    for name in ("counts", "counts1", "counts2"):
        polytok.count_words([folder / "corpus/a.txt"], kind="bpe").save(folder / name)
    for name in ("book.npy", "corpus.npy"):
        np.save(folder / name, polytok.load(folder / "llama.model").encode_array("Hello, world"))
    tool = folder / "bin" / "polytok"
    write_tool(tool)
    (tool.parent / "jq").write_text("#!/bin/sh\nexec cat\n")
    (tool.parent / "jq").chmod(0o755)
    return folder


def copy_inputs(prepared: Path, folder: Path, line: str) -> None:
    """Copies the files that a command line reads to a folder."""
    words = shlex.split(line)
    outputs = {after for word, after in itertools.pairwise(words) if word in ("-o", ">", "--id-map", "--html")}
    outputs |= {words[3]} if words[1] == "convert" else set()
    for word in set(words) - outputs:
        for path in prepared.glob(word.partition("=")[0]) if re.match(r"[\w*]", word) else ():
            if path.name == "rwkv_vocab.txt" != word:  # a tokenizer is not one of the texts *.txt
                continue
            target = folder / path.relative_to(prepared)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(path, target) if path.is_dir() else shutil.copy(path, target)
    if "list.txt" in words:
        shutil.copy(prepared / "book.txt", folder)


def test_the_lists_are_complete() -> None:
    assert len(VERB_OF_LINE) > 50 and set(NOT_RUN) < {line for _, line in examples()}


@pytest.mark.skipif(os.name != "posix", reason="the examples are for a POSIX shell")
@pytest.mark.parametrize("line", VERB_OF_LINE)
def test_an_example_runs(line: str, prepared: Path, tmp_path: Path) -> None:
    if "--add-emoji" in line:
        pytest.importorskip("emoji")
    if VERB_OF_LINE[line] == "fetch":
        pytest.skip("fetch needs the network; tests/test_named.py has its tests")
    if VERB_OF_LINE[line] == "web" or line.startswith("polytok web"):
        pytest.skip("web ends when it is interrupted; tests/test_web.py has its tests")
    copy_inputs(prepared, tmp_path, line)
    environment = {**ENVIRONMENT, "PATH": f"{prepared / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.run(["/bin/sh", "-c", line], capture_output=True, cwd=tmp_path, env=environment, timeout=120)
    assert process.returncode in EXIT_CODES.get(VERB_OF_LINE[line], {0}), process.stderr.decode()
    assert b"Traceback" not in process.stderr
