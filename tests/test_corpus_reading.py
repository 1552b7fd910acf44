"""Tests reading by corpus jobs: wherever files are divided, the parts contain each document exactly once."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optional_packages import zstd_package
from polytok import ArgumentError, EncodeError, FormatError, InputOptions
from polytok.corpus import ranges as ranges_module
from polytok.corpus.documents import Documents, SkippedText, documents, schema_of
from polytok.corpus.plan import Part, Plan, plan
from polytok.corpus.sources import sources
from polytok.reading import blocks as blocks_module
from polytok.reading.streams import decompress, peek_first_bytes

LINES = InputOptions(lines=True)


def read_plan(planned: Plan, input_options: InputOptions, columns: Sequence[str] = ()) -> list[Documents]:
    parts = [part for task in planned.tasks for part in task.parts]
    return [block for part in parts for block in documents(part, planned.sources[part.source], input_options, columns)]


def read_documents(inputs: Any, input_options: InputOptions, shard_size: int = 1 << 28) -> list[bytes]:
    blocks = read_plan(plan(inputs, input_options, shard_size), input_options)
    return [text for block in blocks for text in block.texts.to_list() if text is not None]


def read_with_skipped(inputs: Any, input_options: InputOptions) -> tuple[list[bytes], list[SkippedText]]:
    blocks = read_plan(plan(inputs, input_options), input_options)
    texts = [text for block in blocks for text in block.texts.to_list() if text is not None]
    return texts, [skipped_text for block in blocks for skipped_text in block.skipped]


def split_at_separators(data: bytes, separator: bytes) -> list[bytes]:
    """Defines separated texts: the parts between separators; a separator at the end starts no further text."""
    texts = data.split(separator)
    return texts if texts[-1] else texts[:-1]


GOOD = [b'{"text": "a"}', '{"text":"é😀"}'.encode(), b'"alone"\r']
BAD = [b'{"text": "\\n\\ud83d"}', b"nothing", b'{"text": 7}', b'{"text": "\xff"}', b'{"other": 1}']
BLANK = [b"", b"\r"]
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
def test_separated_texts_for_any_division_of_a_file(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, separator: str, cuts: list[int], block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "texts.txt"
    data = b"." + data  # must not look like a compressed file
    path.write_bytes(data)
    input_options = InputOptions(separator=separator, bad_bytes="replace")
    (source,) = sources(path)
    borders = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "BLOCK_BYTES", block)
        patch.setattr(ranges_module, "_FIRST_SCAN_BYTES", block)
        texts: list[bytes | None] = []
        for start, end in pairwise(borders):
            for text_block in documents(Part(0, start, end, "bytes", end - start), source, input_options):
                texts += text_block.texts.to_list()
                assert [text_block.place(row) for row in range(len(text_block))] == [
                    f"{path}: byte {n}" for n in text_block.numbers
                ]
                assert all(start <= number < end for number in text_block.numbers)
    expected = [text.decode(errors="replace").encode() for text in split_at_separators(data, separator.encode())]
    assert texts == expected


@settings(max_examples=100, deadline=None)
@given(
    lines=st.lists(st.sampled_from([*GOOD, *BAD, *BLANK]), max_size=12),
    end=st.sampled_from([b"", b"\n"]),
    cuts=st.lists(st.integers(0, 200), max_size=6),
    block=st.sampled_from([1, 30, 1 << 20]),
)
def test_json_lines_for_any_division_of_a_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], end: bytes, cuts: list[int], block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "texts.jsonl"
    data = b"\n".join(lines) + end
    path.write_bytes(data)
    input_options = InputOptions(bad_records="skip", bad_bytes="skip")
    (source,) = sources(path)

    def read_ranges(borders: list[int]) -> tuple[list[Any], list[SkippedText]]:
        texts: list[Any] = []
        skipped_texts: list[SkippedText] = []
        for start, stop in pairwise(borders):
            for block in documents(Part(0, start, stop, "bytes", stop - start), source, input_options):
                texts += zip(block.numbers.tolist(), block.texts.to_list(), strict=True)
                skipped_texts += block.skipped
        return texts, skipped_texts

    expected = read_ranges([0, len(data)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "BLOCK_BYTES", block)
        parts = read_ranges(sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)}))
    assert parts == expected
    assert len(expected[0]) == sum(line in GOOD for line in lines)
    assert len(expected[1]) == sum(line in BAD for line in lines)


def test_lines_of_real_files_in_shards(tmp_path: Path) -> None:
    lines = [f"line {number} {'é' * (number % 97)}" for number in range(3000)] + ["x" * 20_000, "", ""]
    for name, file_lines in (("a", lines), ("b", lines[:5]), ("c", []), ("d", lines[::-1])):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in file_lines), "utf-8")
    planned = plan(tmp_path / "*.txt", LINES, 4000)
    assert len(planned.tasks) > 20 and Plan.from_plain(json.loads(json.dumps(planned.to_plain()))) == planned
    assert all(task.bytes <= 4000 for task in planned.tasks)
    assert sum(task.bytes for task in planned.tasks) == sum(source.size for source in planned.sources)
    expected = [line.encode() for line in [*lines, *lines[:5], *lines[::-1]]]
    assert read_documents(tmp_path / "*.txt", LINES, 4000) == read_documents(tmp_path / "*.txt", LINES) == expected
    assert read_documents(tmp_path / "*.txt", InputOptions(), 4000) == [
        path.read_bytes() for path in sorted(tmp_path.iterdir()) if path.stat().st_size
    ]


def test_a_separator_that_overlaps_itself_has_one_range(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\n\n\nb\n\n" * 100)
    assert len(plan(path, InputOptions(separator="\n\n"), 100).tasks) == 1
    assert len(plan(path, InputOptions(separator="b\n"), 100).tasks) == 7
    assert read_documents(path, InputOptions(separator="\n\n"), 100) == [b"a", b"\nb"] * 100


def compress_with_checksum(data: bytes) -> bytes:
    zstd = zstd_package()
    compressed: bytes = zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    return compressed


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": lambda data: bz2.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": compress_with_checksum,
}


@pytest.mark.parametrize("kind", PACKED)
def test_compression_in_members(tmp_path: Path, kind: str) -> None:
    pack = PACKED[kind]
    path = tmp_path / "texts"
    for members in ([b"a\nb", b"c\n"], [b"", b"x" * 100_000, b"", b"\ny", b""], [b""], []):
        path.write_bytes(b"".join(map(pack, members)))
        assert read_documents(path, LINES, 100 if kind != "plain" else 1 << 20) == split_at_separators(
            b"".join(members), b"\n"
        )


@pytest.mark.parametrize("window_log", [28, 31])
def test_zstd_of_a_large_window(tmp_path: Path, window_log: int) -> None:
    zstd = zstd_package()
    name = zstd.CompressionParameter
    compressor = zstd.ZstdCompressor(options={name.window_log: window_log, name.hash_log: 10, name.chain_log: 10})
    path = tmp_path / "texts.txt.zst"
    path.write_bytes(compressor.compress(b"a\nb\n") + compressor.flush())
    # The byte after the magic number and the frame's description has the logarithm of the window less 10.
    assert path.read_bytes()[5] >> 3 == window_log - 10
    assert read_documents(path, InputOptions(lines=True, damaged_files="skip")) == [b"a", b"b"]


@pytest.mark.parametrize("kind", PACKED)
def test_memory_does_not_depend_on_the_compression_ratio(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "texts"
    path.write_bytes(PACKED[kind](bytes(1 << 26)))
    with path.open("rb") as file:
        content = decompress("texts", *peek_first_bytes(file, 16))
        lengths = []
        while data := content.read(1 << 20):
            lengths.append(len(data))
    assert sum(lengths) == 1 << 26 and max(lengths) <= (1 << 20) + (1 << 23)


@pytest.mark.parametrize("input_options", [LINES, InputOptions(separator="\n\n")], ids=["lines", "separated"])
def test_a_block_has_a_limited_number_of_texts(tmp_path: Path, input_options: InputOptions) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(b"\n" * 1_000_000 + b"x" * 1_000_000 + b"\n\n")
    lengths = [len(block) for block in read_plan(plan(path), input_options)]
    assert max(lengths) <= blocks_module.MAX_BLOCK_TEXTS
    assert sum(lengths) == (1_000_002 if input_options is LINES else 500_001)


@pytest.mark.parametrize("kind", [kind for kind in PACKED if kind != "plain"])
@pytest.mark.parametrize("damage", ["cut", "flip", "behind"])
def test_damaged_compression(tmp_path: Path, kind: str, damage: str) -> None:
    path = tmp_path / f"texts.txt.{kind}"
    lines = [os.urandom(30).hex().encode() for _ in range(8_000)]
    compressed = PACKED[kind](b"\n".join(lines))
    middle = len(compressed) // 2
    path.write_bytes(
        {
            "cut": compressed[:middle],
            "flip": compressed[:middle]
            + bytes(byte ^ 255 for byte in compressed[middle : middle + 64])
            + compressed[middle + 64 :],
            "behind": compressed + b"something else",
        }[damage]
    )
    with pytest.raises(FormatError, match=rf"texts\.txt\.{kind} cannot be decompressed.*byte \d+.*damaged_files="):
        read_documents(path, LINES)
    input_options = InputOptions(lines=True, damaged_files="skip")
    texts, skipped_texts = read_with_skipped(path, input_options)
    (found_damage,) = filter(None, (block.damage for block in read_plan(plan(path, input_options), input_options)))
    assert not skipped_texts
    if damage == "behind":
        assert texts == lines[:-1]  # the last document might be incomplete
    elif damage == "cut" or kind in ("bz2", "xz"):
        assert len(texts) > 2_000
        assert texts == lines[: len(texts)]
        end = sum(len(text) + 1 for text in texts)
        assert found_damage.endswith(f"; the texts before {path}: byte {end} were read")
    assert read_with_skipped(path, InputOptions(damaged_files="skip"))[0] == []


def test_skipped_documents_are_reported_with_their_positions(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(
        b'{"text": "a"}\n{"txt": 1}\n{"text": "\\ud800"}\n{"text": \n\n{"text": null}\n{"text": 1}\n{"text":"z"}'
    )
    with pytest.raises(FormatError, match=r"texts\.jsonl: byte 14: no field 'text'; bad_records='skip'"):
        read_documents(path, InputOptions())
    with pytest.raises(EncodeError, match=r"texts\.jsonl: byte 25: not UTF-8 at byte 0; bad_bytes='replace'"):
        read_documents(path, InputOptions(bad_records="skip"))
    texts, skipped_texts = read_with_skipped(path, InputOptions(bad_records="skip", bad_bytes="skip"))
    assert texts == [b"a", b"z"]
    assert [(skipped_text.reason, skipped_text.place.rpartition(" ")[2]) for skipped_text in skipped_texts] == [
        ("no field 'text'", "14"),
        ("not UTF-8", "25"),
        ("not JSON", "44"),
        ("the field 'text' is null", "55"),
        ("the field 'text' is not a text", "70"),
    ]
    blocks = read_plan(plan(path), InputOptions(bad_records="skip", bad_bytes="replace"))
    assert [block.texts.to_list() for block in blocks] == [[b"a", "\ufffd".encode()], [b"z"]]
    assert [block.replaced for block in blocks] == [1, 0]


def test_a_text_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(b"good\ncaf\xe9\n\xed\xa0\x80\nfine")
    with pytest.raises(EncodeError, match=r"texts\.txt: byte 5: not UTF-8 at byte 3"):
        read_documents(path, LINES)
    assert read_documents(path, InputOptions(lines=True, bad_bytes="replace")) == [
        b"good",
        "caf\ufffd".encode(),
        "\ufffd".encode() * 3,
        b"fine",
    ]
    texts, skipped_texts = read_with_skipped(path, InputOptions(lines=True, bad_bytes="skip"))
    assert texts == [b"good", b"fine"]
    assert skipped_texts == [SkippedText("not UTF-8", f"{path}: byte {at}") for at in (5, 10)]
    with pytest.raises(EncodeError, match="byte 0"):
        read_documents(path, InputOptions())
    path.write_bytes(b"\xef\xbb\xbfwith a mark\r\n\r\n")
    assert read_documents(path, LINES) == ["\ufeffwith a mark\r".encode(), b"\r"]


def test_fields_of_json_lines_as_columns(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "texts.jsonl"
    lines = ['{"text": "a", "id": "x", "n": {"m": [1, "é"]}}', "", '{"text": 1}', '{"text": "b", "id": 7, "n": 1}']
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (block,) = read_plan(plan(path), InputOptions(bad_records="skip"), ["id", "n.m"])
    expected = {"id": ["x", "7"], "n.m": ['[1, "é"]', None]}
    assert block.columns.to_pydict() == expected and block.columns.schema.types == [arrow.string()] * 2
    assert schema_of(sources(path)[0], InputOptions(bad_records="skip"), ["id", "n.m"]) == block.columns.schema
    deep = '{"text": "deep", "id": ' + "[" * 100_000 + "]" * 100_000 + "}"
    path.write_text("\n".join(['"alone"', deep, '{"text": "z", "id": "\\ud800x"}', "1", ""]))
    (block,) = read_plan(plan(path), InputOptions(bad_records="skip"), ["id"])
    assert block.texts.to_list() == [b"alone", b"z"] and block.columns["id"].to_pylist() == [None, "\ufffdx"]
    assert [skipped_text.reason for skipped_text in block.skipped] == ["fields that cannot be read", "no field 'text'"]
    assert read_documents(path, InputOptions(bad_records="skip")) == [b"alone", b"deep", b"z"]
    (tmp_path / "texts.txt").write_text("a")
    (block,) = read_plan(plan(tmp_path / "texts.txt"), InputOptions(), ["id"])
    assert block.texts.to_list() == [b"a"] and block.columns is None
    with pytest.raises(ArgumentError, match=r"texts.txt is text and has no field 'id'"):
        schema_of(sources(tmp_path / "texts.txt")[0], InputOptions(), ["id"])
