"""What was seen to agree is not compared again, and what is new always is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import polytok
from parity.checks import Outcome
from parity.references import Expected
from parity.seen import Seen

TEXTS = [b"a word", b"", "été 中文".encode(), b"\xff\xfe a"]


class Counting:
    """A reference that is polytok itself but for what is ``wrong``, and counts how often it is asked."""

    name = "polytok"

    def __init__(self, wrong: bytes | None = None) -> None:
        self.wrong = wrong
        self.asked = 0

    def accepts(self, text: bytes) -> bool:
        return True

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        self.asked += 1
        tokenizer = polytok.load("default")
        return [Expected([0] if text == self.wrong else tokenizer.encode(text)) for text in texts]

    def decode(self, rows: Sequence[list[int]]) -> None:
        return None


def compare(folder: Path | None, reference: Counting, texts: Sequence[bytes]) -> Outcome:
    outcome = Outcome("default", reference.name, "texts")
    Seen(folder).encoding(outcome, polytok.load("default"), reference, texts, by_columns=True)
    return outcome


def test_what_was_seen_counts_without_being_compared(tmp_path: Path) -> None:
    reference = Counting()
    first = compare(tmp_path, reference, TEXTS)
    assert reference.asked == 1
    assert compare(tmp_path, reference, TEXTS) == first
    assert reference.asked == 1
    assert first.texts == len(TEXTS) and first.tokens > len(TEXTS)


def test_without_a_folder_everything_is_compared(tmp_path: Path) -> None:
    reference = Counting()
    for _ in range(2):
        compare(None, reference, TEXTS)
    assert reference.asked == 2 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("changed", [TEXTS[:-1], [*TEXTS, b""], [TEXTS[1], TEXTS[0], *TEXTS[2:]]])
def test_other_texts_are_compared(tmp_path: Path, changed: Sequence[bytes]) -> None:
    reference = Counting()
    compare(tmp_path, reference, TEXTS)
    compare(tmp_path, reference, changed)
    assert reference.asked == 2


def test_what_differs_is_not_kept(tmp_path: Path) -> None:
    reference = Counting(wrong=TEXTS[0])
    for _ in range(2):
        assert compare(tmp_path, reference, TEXTS).differences == 1
    assert reference.asked == 2


@pytest.mark.parametrize("method", ["encode", "spans", "decode_bytes"])
def test_another_answer_of_polytok_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    reference = Counting()
    compare(tmp_path, reference, TEXTS)
    answer = getattr(polytok.Tokenizer, method)
    monkeypatch.setattr(polytok.Tokenizer, method, lambda self, given: answer(self, given[:1]))
    compare(tmp_path, reference, TEXTS)
    assert reference.asked == 2
