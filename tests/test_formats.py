"""Tests all formats: real files, detection, options, and errors of wrong files."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

from format_samples import A_PIECE, REAL, SMALL, UNKNOWN_PIECE, real, sentencepiece_file, small_file
from polytok import conversion, file_names, formats
from polytok.errors import ArgumentError, FormatError
from polytok.spec import Template

# The table


def test_the_table_names_every_module() -> None:
    modules = [importlib.import_module(f"polytok.formats.{row.name}") for row in pkgutil.iter_modules(formats.__path__)]
    known_names = {row.name for row in formats.all_formats()}
    assert {module.name for module in modules if hasattr(module, "refusal")} == known_names


@pytest.mark.parametrize("name", [name for name, first_bytes in formats._FIRST_BYTES.items() if first_bytes])
def test_a_format_refuses_files_with_another_first_byte(name: str) -> None:
    """Tests that the table of first bytes, by which formats are chosen before they are imported, excludes no file."""
    file = small_file(name) if name in SMALL else {"ptok": b"\x93ptok\r\n\0", "bpe_files": b'{"a": 0}'}[name]
    file_format = formats.named(name, "format")
    assert file_format.refusal(file) is None and file_format in formats._possible_formats(file)
    for start in (b"", b" ", b"\n", b" \t\r\n\v\f"):
        for byte in range(256):
            data = start + bytes([byte]) + file[1:]
            assert file_format in formats._possible_formats(data) or file_format.refusal(data) is not None


def test_every_format_has_a_small_file() -> None:
    """Tests that no format is missing in SMALL, except formats whose samples are in other test files."""
    assert {*SMALL, "bpe_files", "wordpiece", "ptok"} == {row.name for row in formats.all_formats()}


def test_every_format_that_is_written_has_a_file_name() -> None:
    """Tests that saving under the usual name of a format's files chooses the format."""
    named = {
        name
        for names in (file_names._FORMATS_OF_NAME, file_names._FORMATS_OF_SUFFIX)
        for row in names.values()
        for name in row
    }
    assert {*named, "bpe_files"} == {row.name for row in formats.all_formats()}


def test_every_format_has_a_row_in_the_docs() -> None:
    page = (Path(__file__).parents[1] / "docs" / "formats.md").read_text("utf-8")
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert {row.name for row in formats.all_formats()} - rows == set()


def test_an_unknown_format_name_lists_the_known_ones() -> None:
    with pytest.raises(ArgumentError, match=", ".join(repr(row.name) for row in formats.all_formats())):
        formats.read(b"", format="gguf9")


# Real files


@pytest.mark.parametrize("path", REAL)
def test_a_real_file_is_written_byte_for_byte(path: str) -> None:
    data = real(path)
    format_name, size = REAL[path]
    spec = formats.read(data)
    assert (spec.origin.format, len(spec.vocab)) == (format_name, size)
    written_file = conversion.write(spec, format_name, strict=True)
    assert written_file.losses == ()
    assert written_file.data == data
    assert formats.read(written_file.data) == spec


@pytest.mark.parametrize("path", REAL)
def test_a_real_file_is_of_one_format(path: str) -> None:
    data = real(path)
    assert [module.name for module in formats.all_formats() if module.refusal(data) is None] == [REAL[path][0]]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("sentencepiece/grok1.model", {"pad": 0, "bos": 1, "eos": 2, "unk": 3}),
        ("sentencepiece/llama2.model", {"unk": 0, "bos": 1, "eos": 2}),
        ("sentencepiece/nai-t5.model", {"pad": 0, "eos": 1, "unk": 2}),
        ("sentencepiece/xlnet_base_cased.model", {"unk": 0, "bos": 1, "eos": 2, "pad": 5}),
        ("llama2c/tokenizer.bin", {"unk": 0, "bos": 1, "eos": 2}),
        ("rwkv/rwkv_vocab_v20230424.txt", {"eos": 0}),
        ("tiktoken/p50k_base.tiktoken", {"eos": 50256}),
        ("tiktoken/llama3_tokenizer.model", {"bos": 128000, "eos": 128001, "pad": 128004}),
        ("tiktoken/llama4.tiktoken", {"bos": 200000, "eos": 200001, "pad": 200018}),
    ],
)
def test_names_and_template(path: str, names: dict[str, int]) -> None:
    spec = formats.read(real(path))
    assert dict(spec.names) == names
    assert spec.post == Template.around(before=(names["bos"],) if "bos" in names else ())


# Detection and options


@pytest.mark.parametrize("format_name", SMALL)
def test_a_small_file_is_of_one_format(format_name: str) -> None:
    assert formats.detect(small_file(format_name)).name == format_name


@pytest.mark.parametrize("data", [b"\n", b"hello world\n", b"{}", b"\x00" * 100, b"\xff" * 9])
def test_the_error_for_unknown_bytes_names_every_format(data: bytes) -> None:
    with pytest.raises(FormatError) as error_info:
        formats.read(data)
    message = str(error_info.value)
    assert message.startswith(f"no format recognizes these {len(data)} bytes:")
    assert all(f"\n  {module.name}: " in message for module in formats.all_formats())


def test_ambiguous_bytes_need_a_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats.llama2c, "refusal", lambda _data: None)
    with pytest.raises(FormatError, match="choose with format='llama2c' or format='tiktoken'"):
        formats.read(small_file("tiktoken"))


@pytest.mark.parametrize(
    ("format_name", "option"),
    [(name, option) for name in ("sentencepiece", "llama2c", "minbpe") for option in ("pattern", "special_tokens")]
    + [("llama2c", "sentencepiece_version"), ("tiktoken", "sentencepiece_version"), ("rwkv", "pattern")],
)
def test_an_option_that_does_not_apply_is_an_error(format_name: str, option: str) -> None:
    values: dict[str, Any] = {"pattern": "x", "special_tokens": {}, "sentencepiece_version": "0.2.1"}
    with pytest.raises(ArgumentError, match=f"{option}= has no effect on a {format_name} file"):
        formats.read(small_file(format_name), **{option: values[option]})


def test_the_line_is_checked_and_stored() -> None:
    data = small_file("sentencepiece")
    assert formats.read(data).sentencepiece_version == "0.2.3"
    assert formats.read(data, sentencepiece_version="0.2.1").sentencepiece_version == "0.2.1"
    assert (
        conversion.write(formats.read(data, sentencepiece_version="0.2.1"), "sentencepiece", strict=True).data == data
    )
    with pytest.raises(ArgumentError, match="sentencepiece_version='0.1' is not"):
        formats.read(data, sentencepiece_version="0.1")  # type: ignore[arg-type]


# Files that are wrong


@pytest.mark.parametrize(
    ("format_name", "data", "message"),
    [
        ("sentencepiece", b"\x0a\x05ab", "a field of 5 bytes, but 2 bytes remain (byte 2)"),
        ("sentencepiece", b"\x0a\x02\x0a\x05", "piece 0 (byte 0): not a protobuf message: a field of 5 bytes"),
        ("sentencepiece", sentencepiece_file(UNKNOWN_PIECE, A_PIECE) + b"\x12\x02\x0a\x09", "are not valid protobuf"),
        ("llama2c", b"\0", "shorter than its header"),
        ("llama2c", b"\1\0\0\0\0\0\0\0\1\0\0\0", "token 0 (byte 4): the file ends within the token"),
        ("rwkv", b"", "no tokens"),
        ("rwkv", b"1 'a' 1\n2 'b' 2\n", "line 2: the token has 1 bytes, not 2"),
        ("rwkv", b"1 '\\N{BULLET}' 3\n", "\\N{…} escapes are not read"),
        ("minbpe", b"minbpe v2\n", "line 1: the version is not `minbpe v1`"),
        ("minbpe", b"minbpe v1\n", "line 2: the file ends before the pattern"),
        ("minbpe", b"minbpe v1\n\xff\n", "line 2: the pattern is not UTF-8"),
        ("minbpe", b"minbpe v1\n\nx\n", "line 3: 'x' is not a number"),
        ("minbpe", b"minbpe v1\n\n-1\n", "line 3: '-1' is not a number"),
        ("minbpe", b"minbpe v1\n\n2\n<a> 300\n", "line 5: the file ends before the last special token"),
        ("minbpe", b"minbpe v1\n\n1\n<a> b 300\n", "line 4: a special token is a text without white space and an id"),
        ("minbpe", b"minbpe v1\n\n1\n<a> 4294967295\n", "line 4: '4294967295' is not a number from 0 to 4294967294"),
        ("minbpe", b"minbpe v1\n\n1\n<a> 97\n", "line 4: the special token '<a>' has the id of token 97"),
        ("minbpe", b"minbpe v1\n\n2\n<a> 300\n<a> 301\n", "line 5: the special token '<a>' repeats"),
        ("minbpe", b"minbpe v1\n\n1\n<a> 300\n97 256\n", "line 5: the id 256 does not exist yet"),
        ("minbpe", b"minbpe v1\n\n0\n97 98\n97 98\n", "line 5: the pair repeats line 4"),
        ("tiktoken", b"\n", "no tokens"),
        ("tiktoken", b"YQ== 0\nYQ==0\n", "line 2: not two fields"),
        ("tiktoken", b"YQ== 0\nY-== 1\n", "line 2: the first field is not base64"),
        ("tiktoken", b"YQ== 0\nYQ== 1\n", 'line 2: the token "a" repeats line 1'),
    ],
)
def test_errors_name_the_position(format_name: str, data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as error_info:
        formats.read(data, format=format_name)
    assert str(error_info.value).startswith(f"{format_name}: ")
    assert message in str(error_info.value)
