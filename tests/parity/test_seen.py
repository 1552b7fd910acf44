"""What was seen to agree is not compared again, and what is new always is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import polytok
from format_samples import rank_spec, unigram_spec
from parity import seen
from parity.checks import Outcome
from parity.references import Expected
from parity.seen import Seen
from polytok import EncodeError, Tokenizer
from polytok.spec import Kind, Vocab

TEXTS = [b"a word", b"", "été 中文".encode(), b"\xff\xfe a"]


class Counting:
    """A reference that is a tokenizer of polytok but for what is ``wrong``, and counts how often it is asked."""

    name = "polytok"

    def __init__(self, tokenizer: Tokenizer | None = None, wrong: bytes | None = None) -> None:
        self.tokenizer = tokenizer or polytok.load("default")
        self.wrong = wrong
        self.asked = 0

    def accepts(self, text: bytes) -> bool:
        return True

    def encode(self, texts: Sequence[bytes]) -> list[Expected]:
        self.asked += 1
        return [self._one(text) for text in texts]

    def _one(self, text: bytes) -> Expected:
        try:
            return Expected([0] if text == self.wrong else self.tokenizer.encode(text))
        except EncodeError as error:
            return Expected([], error=str(error))

    def decode(self, rows: Sequence[list[int]]) -> None:
        return None


def compare(
    folder: Path | None, reference: Counting, texts: Sequence[bytes] = TEXTS, *, by_columns: bool = True
) -> Outcome:
    outcome = Outcome("default", reference.name, "texts")
    Seen(folder).encoding(outcome, reference.tokenizer, reference, texts, by_columns=by_columns)
    return outcome


def test_what_was_seen_counts_without_being_compared(tmp_path: Path) -> None:
    reference = Counting()
    first = compare(tmp_path, reference)
    assert reference.asked == 1
    assert compare(tmp_path, reference) == first
    assert reference.asked == 1
    assert first.texts == len(TEXTS) and first.tokens > len(TEXTS)


def test_without_a_folder_everything_is_compared() -> None:
    reference = Counting()
    for _ in range(2):
        compare(None, reference)
    assert reference.asked == 2


@pytest.mark.parametrize("changed", [TEXTS[:-1], [*TEXTS, b""], [TEXTS[1], TEXTS[0], *TEXTS[2:]]])
def test_other_texts_are_compared(tmp_path: Path, changed: Sequence[bytes]) -> None:
    reference = Counting()
    compare(tmp_path, reference)
    compare(tmp_path, reference, changed)
    assert reference.asked == 2


def test_what_differs_is_not_kept(tmp_path: Path) -> None:
    reference = Counting(wrong=TEXTS[0])
    for _ in range(2):
        assert compare(tmp_path, reference).differences == 1
    assert reference.asked == 2


def test_what_is_refused_is_listed_each_time(tmp_path: Path) -> None:
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256) if byte != ord("q")]
    reference = Counting(Tokenizer(replace(rank_spec(), vocab=Vocab.from_rows(rows))))
    for _ in range(2):
        outcome = compare(tmp_path, reference, [b"a", b"q"])
        assert (outcome.refused, outcome.differences) == (1, 0)
    assert reference.asked == 2


@pytest.mark.parametrize("method", ["encode", "spans", "decode_bytes", "tokens"])
def test_another_answer_of_polytok_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    reference = Counting()
    compare(tmp_path, reference, by_columns=False)
    answer = getattr(Tokenizer, method)
    monkeypatch.setattr(Tokenizer, method, lambda self, given: answer(self, given[:1]))
    compare(tmp_path, reference, by_columns=False)
    assert reference.asked == 2


def test_by_columns_tokens_count_where_text_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = Counting(Tokenizer(unigram_spec(normalize=())))
    known, unknown = [b"aba"], ["ab 中".encode()]
    compare(tmp_path, reference, known)
    compare(tmp_path, reference, unknown)
    monkeypatch.setattr(Tokenizer, "tokens", lambda self, text: [])
    compare(tmp_path, reference, known)
    assert reference.asked == 2
    compare(tmp_path, reference, unknown)
    assert reference.asked == 3


def test_another_reference_is_asked(tmp_path: Path) -> None:
    reference = Counting()
    compare(tmp_path, reference)
    reference.name = "polytok, newer"
    compare(tmp_path, reference)
    assert reference.asked == 2


def test_another_way_to_compare_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text("1 + 1")
    monkeypatch.setattr(seen, "PROGRAMS", (program,))
    monkeypatch.setattr(seen, "programs", seen.programs.__wrapped__)
    reference = Counting()
    for text, asked in [("1 + 1", 1), ("1 + 2", 2), ("1 + 2", 2), ('"""A docstring."""\n1 + 2  # a comment', 2)]:
        program.write_text(text)
        compare(tmp_path, reference)
        assert reference.asked == asked


def test_a_twin_depends_on_its_own_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "twin.py"
    monkeypatch.setattr(seen, "TWINS", (program,))
    hashes = []
    for text in ("1", "2"):
        program.write_text(text)
        hashes.append([seen.programs.__wrapped__(is_twin=is_twin) for is_twin in (False, True)])
    (package, twin), (package_later, twin_later) = hashes
    assert package == package_later and twin != twin_later


def test_another_spec_is_compared(tmp_path: Path) -> None:
    reference = Counting(Tokenizer(rank_spec()))
    compare(tmp_path, reference)
    reference.tokenizer = Tokenizer(replace(rank_spec(), names={"eos": 1}))
    compare(tmp_path, reference)
    assert reference.asked == 2


def test_a_line_that_was_cut_short_counts_for_nothing(tmp_path: Path) -> None:
    reference = Counting()
    compare(tmp_path, reference)
    (path,) = tmp_path.glob("*.seen")
    whole = path.read_text("ascii")
    for length in range(len(whole) - 1):
        path.write_text(whole[:length], "ascii")
        assert Seen(tmp_path).counts == {}
    path.write_text(whole, "ascii")
    assert len(Seen(tmp_path).counts) == 1
