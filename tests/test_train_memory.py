"""Tests that a whole training keeps its memory limit, and has the same result as without a limit."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

import polytok
from polytok import ArgumentError

LIMIT = 160
REFUSED = 112
TRAINING = """
import sys
from pathlib import Path
import polytok
path, kind, memory = sys.argv[1:]
try:
    found = polytok.train(Path(path), kind, vocab_size=6000, max_memory=memory or None, threads=1).fingerprint
except polytok.ArgumentError as error:
    found = error
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) // 1024, found)
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes about 600,000 distinct words of syllables; the first words are frequent."""
    rng = random.Random(1)
    syllables = [
        "".join(rng.choices("bcdfghklmnprstvwz", k=rng.randint(1, 2))) + rng.choice("aeiou") for _ in range(90)
    ]
    words = ["".join(rng.choices(syllables, k=rng.randint(3, 6))) for _ in range(600_000)]
    path = tmp_path_factory.mktemp("corpus") / "words.txt"
    path.write_text(" ".join([*words, *words[:2000] * 20]))
    return path


MANY = TRAINING.replace("Path(path)", "(text for _ in range(int(path) // 2) for text in ('ab', 'cd ef'))").replace(
    "6000", "280, hard_vocab_limit=False"
)


def train_within(corpus: Path | int, kind: str, memory: str) -> tuple[int, str]:
    """Trains on a file, or on many short texts; returns the peak in megabytes, and the result or the error."""
    command = [sys.executable, "-c", MANY if isinstance(corpus, int) else TRAINING, str(corpus), kind, memory]
    peak, output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(maxsplit=1)
    return int(peak), output.strip()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak can be read only on Linux")
@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "sentencepiece-bpe"])
def test_a_whole_training_keeps_its_limit(corpus: Path, kind: str) -> None:
    free, expected_output = train_within(corpus, kind, "")
    peak, output = train_within(corpus, kind, f"{LIMIT}M")
    assert output == expected_output
    assert peak <= LIMIT < free


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak can be read only on Linux")
@pytest.mark.parametrize("kind", ["unigram", "longest-match"])
def test_a_training_is_refused_within_its_limit(corpus: Path, kind: str) -> None:
    """Tests that the error names a sufficient limit."""
    peak, message = train_within(corpus, kind, f"{REFUSED}M")
    suggested_limit = re.search(r"raise max_memory to (\d+)M", message)
    assert suggested_limit is not None and REFUSED < int(suggested_limit[1]) < 4 * REFUSED, message
    assert peak <= REFUSED


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak can be read only on Linux")
def test_many_short_texts() -> None:
    _, expected_output = train_within(800_000, "unigram", "")
    peak, output = train_within(800_000, "unigram", "72M")
    assert output == expected_output
    assert peak <= 72


def test_sentences_that_do_not_fit_are_refused_for_any_threads() -> None:
    """Tests that training succeeds with the memory limit that the error names."""
    rng = random.Random(3)
    texts = ["".join(rng.choices("abcdefgh", k=40)) for _ in range(12_000)]

    def refusal_message(texts: list[str], memory: str, threads: int, **options: bool) -> str:
        with pytest.raises(ArgumentError, match="raise max_memory") as error:
            polytok.train(texts, "unigram", vocab_size=300, max_memory=memory, threads=threads, **options)
        return str(error.value)

    (message,) = {refusal_message(texts, "16M", threads, split_by_whitespace=False) for threads in (1, 2, 5)}
    suggested_limit = re.search("^without split_by_whitespace all.*raise max_memory to (2[0-9]M)", message)
    assert suggested_limit is not None, message
    assert refusal_message(texts, suggested_limit[1], 2, split_by_whitespace=False).startswith(
        "training on 12000 distinct words"
    )
    assert "some bytes of each sentence stay in memory" in refusal_message(["ab"] * 600_000, "16M", 2)


def test_a_sample_is_the_same_with_any_number_of_threads() -> None:
    rng = random.Random(4)
    texts = ["".join(rng.choices("abcdefgh ", k=40)) for _ in range(900)]
    options = {"input_sentence_size": 300, "hard_vocab_limit": False}
    fingerprints = {
        polytok.train(texts, "unigram", vocab_size=330, threads=n, **options).fingerprint for n in (1, 2, 3)
    }
    assert len(fingerprints) == 1


@pytest.mark.parametrize("suffix", ["</w>", "a"])
def test_texts_that_contain_the_suffix(suffix: str) -> None:
    """Tests that training without the limit is reported, and that the result is the same."""
    rng = random.Random(2)
    texts = ["".join(rng.choices("ab</w> ", k=60)) for _ in range(2000)]
    options = {
        "trainer": "huggingface",
        "byte_level": False,
        "pattern": "whitespace_split",
        "end_of_word_suffix": suffix,
    }
    report = polytok.TrainingReport()
    free, kept = (
        polytok.train(texts, "bpe", vocab_size=400, report=report, max_memory=memory, **options)
        for memory in (None, "16M")
    )
    assert kept.spec == free.spec


def test_fewer_entries_than_requested_are_reported() -> None:
    report = polytok.TrainingReport()
    tokenizer = polytok.train(["ab ab"], "wordpiece", vocab_size=50, report=report)
    note = "the vocabulary is smaller, as with tokenizers"
    assert report.notes == [f"the texts allow {tokenizer.vocab_size} entries, not 50; {note}"]
    assert str(report) == report.notes[0]
    with pytest.warns(polytok.TrainingWarning, match="the texts allow"):
        polytok.train(["ab ab"], "wordpiece", vocab_size=50)


def test_a_text_that_must_be_in_memory_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"some words " * 400_000)
    with pytest.raises(ArgumentError) as caught:
        polytok.train(path, kind="sentencepiece-bpe", vocab_size=300, max_memory="16M")
    message = str(caught.value)
    assert (
        message.startswith(f"{path}: a text of 4,400,000 bytes or more needs more memory")
        and "read each line" in message
    )


def test_a_record_that_must_be_in_memory_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text("".join('{"text": "%s"}\n' % ("some words " * count) for count in (1, 400_000, 2)))
    with pytest.raises(ArgumentError) as caught:
        polytok.train(path, kind="sentencepiece-bpe", vocab_size=300, max_memory="16M")
    assert str(caught.value).startswith(f"{path}:2: a text of 4,400,000 bytes or more needs more memory")
