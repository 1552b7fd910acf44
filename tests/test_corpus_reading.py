"""What a corpus job reads: wherever files are cut, the parts together have the documents of the whole, once each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polytok import Reading
from polytok.corpus.documents import Documents, Left, documents
from polytok.corpus.plan import Part, Plan, plan
from polytok.corpus.sources import sources
from polytok.reading import blocks as blocks_module

LINES = Reading(unit="line")
TEXTS = ["to be", "or not to be", "", "ありがとう 😀", "a\tb"]


def found_in(planned: Plan, reading: Reading, columns: Sequence[str] = ()) -> list[Documents]:
    parts = [part for task in planned.tasks for part in task.parts]
    return [found for part in parts for found in documents(part, planned.sources[part.source], reading, columns)]


def read(inputs: Any, reading: Reading, shard_size: int = 1 << 28) -> list[bytes]:
    found = found_in(plan(inputs, reading, shard_size), reading)
    return [text for some in found for text in some.texts.to_list() if text is not None]


def left_of(inputs: Any, reading: Reading) -> tuple[list[bytes], list[Left]]:
    found = found_in(plan(inputs, reading), reading)
    texts = [text for some in found for text in some.texts.to_list() if text is not None]
    return texts, [left for some in found for left in some.left]


def separated(data: bytes, separator: bytes) -> list[bytes]:
    """The definition: what stands between separators; one at the end does not begin another text."""
    texts = data.split(separator)
    return texts if texts[-1] else texts[:-1]


JSON_LINES = [
    b'{"text": "a"}',
    b'{"text": "\\n\\ud83d"}',
    b"",
    b"\r",
    b"nothing",
    b'{"text": 7}',
    '{"text":"é😀"}'.encode(),
]
SEPARATORS = ["\n", "\r\n", "<|>", "ab", "\0"]


@settings(max_examples=150, deadline=None)
@given(
    data=st.one_of(
        st.binary(max_size=300).map(lambda data: data.replace(b"\xff", b"\n").replace(b"\x01", b"ab")),
        st.lists(st.sampled_from([b"\n", b"\r\n", b"<|>", b"<", b"|>", b"ab", b"a", b"b", b"\0", b"x" * 40])).map(
            b"".join
        ),
    ),
    separator=st.sampled_from(SEPARATORS),
    cuts=st.lists(st.integers(0, 400), max_size=8),
    block=st.sampled_from([1, 5, 64, 1 << 20]),
)
def test_separated_texts_wherever_a_file_is_cut(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, separator: str, cuts: list[int], block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "texts.txt"
    path.write_bytes(data)
    reading = Reading(unit="separator", separator=separator, invalid="replace")
    (source,) = sources(path)
    borders = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "BLOCK", block)
        texts: list[bytes | None] = []
        for start, end in zip(borders, borders[1:], strict=False):
            for found in documents(Part(0, start, end, "bytes", end - start), source, reading):
                texts += found.texts.to_list()
                assert [found.place(row) for row in range(len(found))] == [f"{path}: byte {n}" for n in found.numbers]
                assert all(start <= number < end for number in found.numbers)
    expected = [text.decode(errors="replace").encode() for text in separated(data, separator.encode())]
    assert texts == expected


@settings(max_examples=100, deadline=None)
@given(
    lines=st.lists(st.sampled_from(JSON_LINES), max_size=12),
    end=st.sampled_from([b"", b"\n"]),
    cuts=st.lists(st.integers(0, 200), max_size=6),
    block=st.sampled_from([1, 30, 1 << 20]),
)
def test_json_lines_wherever_a_file_is_cut(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], end: bytes, cuts: list[int], block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "texts.jsonl"
    data = b"\n".join(lines) + end
    path.write_bytes(data)
    reading = Reading(records="skip", invalid="skip")
    (source,) = sources(path)

    def seen(borders: list[int]) -> tuple[list[Any], list[Left]]:
        texts: list[Any] = []
        left: list[Left] = []
        for start, stop in zip(borders, borders[1:], strict=False):
            for found in documents(Part(0, start, stop, "bytes", stop - start), source, reading):
                texts += zip(found.numbers.tolist(), found.texts.to_list(), strict=True)
                left += found.left
        return texts, left

    whole = seen([0, len(data)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "BLOCK", block)
        parts = seen(sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)}))
    assert parts == whole
    assert len(whole[0]) == sum(line in (JSON_LINES[0], JSON_LINES[6]) for line in lines)
    assert len(whole[1]) == sum(line in (JSON_LINES[1], JSON_LINES[4], JSON_LINES[5]) for line in lines)
