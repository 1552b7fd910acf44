"""Tests inputs of training: every kind of input has the same texts, is read once, and reports skipped texts."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import json
import lzma
import os
import warnings
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest

import polytok
from optional_packages import zstd_package
from polytok import ArgumentError, Counts, EncodeError, FileError, FormatError, InputOptions, TrainingReport
from polytok.reading import blocks as blocks_module
from polytok.reading import files as files_module
from polytok.reading.files import Part
from polytok.training.feeding import bad_bytes_for, feed
from polytok.training.inputs import Inputs, InputStream

TEXTS = ["to be", "or not to be", "", "ありがとう 😀", "a\tb"]
LINES = "\n".join(TEXTS)


def read_texts(
    inputs: Inputs, *, keeps_bytes: bool = False, report: TrainingReport | None = None, **how: Any
) -> list[bytes]:
    """Reads the texts, and joins the parts of each text."""
    texts: list[bytes] = []
    partial_text = b""
    options = InputOptions(**how)
    bad_bytes = bad_bytes_for(Counts() if keeps_bytes else None, options)
    stream = InputStream(inputs, options, report or TrainingReport(), bad_bytes)
    for batch in stream:
        if isinstance(batch, Part):
            partial_text += batch.data
            if batch.is_last:
                texts.append(partial_text)
                partial_text = b""
        else:
            texts += batch
    assert not partial_text
    if stream.total:
        assert stream.done == stream.total
    return texts


def set_block_size(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "_PART_BYTES", size)
    monkeypatch.setattr(blocks_module, "BLOCK_BYTES", size)


def encode_all(texts: list[str]) -> list[bytes]:
    return [text.encode() for text in texts]


def records(texts: list[str]) -> bytes:
    return "".join(json.dumps({"text": text, "meta": {"body": text}}) + "\n" for text in texts).encode()


def test_iterables_are_read_once() -> None:
    def generator() -> Iterator[str]:
        yield from TEXTS

    assert read_texts(TEXTS) == read_texts(generator()) == read_texts(tuple(TEXTS)) == encode_all(TEXTS)
    assert read_texts(encode_all(TEXTS)) == encode_all(TEXTS)


def test_iterables_can_contain_batches_records_and_files(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("from a file")
    mixed_inputs: list[Any] = ["one", ["two", b"three"], {"text": "four"}, path, BytesIO(b"five")]
    assert read_texts(iter(mixed_inputs)) == [b"one", b"two", b"three", b"four", b"from a file", b"five"]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_files_compressed_or_not(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    text, lines = tmp_path / "texts.txt", tmp_path / ("texts.jsonl" if compress is bytes else "texts.jsonl.gz")
    text.write_bytes(compress(LINES.encode()))
    lines.write_bytes(compress(records(TEXTS)))
    assert read_texts(text) == [LINES.encode()]
    assert read_texts(str(text), lines=True) == encode_all(TEXTS)
    assert read_texts([lines], field="meta.body") == read_texts([lines]) == encode_all(TEXTS)
    assert read_texts(str(tmp_path / "*")) == [*encode_all(TEXTS), LINES.encode()]


def test_zstd_in_several_frames(tmp_path: Path) -> None:
    compress = zstd_package().compress
    path = tmp_path / "texts.txt.zst"
    path.write_bytes(compress(b"to ") + compress(b"be"))
    assert read_texts(path) == [b"to be"]


def test_without_a_zstd_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_import(name: str) -> None:
        raise ImportError(name)

    path = tmp_path / "texts.txt"
    path.write_bytes(b"\x28\xb5\x2f\xfd")
    monkeypatch.setattr(importlib, "import_module", fail_import)
    with pytest.raises(ArgumentError, match=r"polytok\[zstd\]"):
        read_texts(path)


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="needs the extra parquet")
def test_parquet(tmp_path: Path) -> None:
    arrow = importlib.import_module("pyarrow")
    path = tmp_path / "texts.parquet"
    table = arrow.table({"text": [*TEXTS, None], "meta": [{"body": text} for text in [*TEXTS, "x"]]})
    importlib.import_module("pyarrow.parquet").write_table(table, path)
    report = TrainingReport()
    assert read_texts(path, bad_records="skip", report=report) == encode_all(TEXTS)
    assert report.examples == [(f"{path}: row {len(TEXTS)}", "the field 'text' is null")]
    assert read_texts(path, field="meta.body") == encode_all([*TEXTS, "x"])
    with pytest.raises(ArgumentError, match="'text', 'meta'"):
        read_texts(path, field="content")


def test_parquet_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_import(name: str) -> None:
        raise ModuleNotFoundError(name, name=name)

    path = tmp_path / "texts"
    path.write_bytes(b"PAR1")
    monkeypatch.setattr(importlib, "import_module", fail_import)
    with pytest.raises(ArgumentError, match=r"polytok\[parquet\]"):
        read_texts(path)


def test_lines_of_any_length_and_files_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_block_size(7, monkeypatch)
    path = tmp_path / "texts.txt"
    path.write_bytes(LINES.encode() + b"\n")
    assert read_texts(path, lines=True) == encode_all(TEXTS)
    assert read_texts(path) == [LINES.encode() + b"\n"]
    path.write_bytes(b"\n\n")
    assert read_texts(path, lines=True) == [b"", b""]
    path.write_bytes(b"")
    assert read_texts(path, lines=True) == read_texts(path) == []


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
@pytest.mark.parametrize("lines", [False, True])
def test_invalid_utf8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, lines: bool) -> None:
    set_block_size(chunk, monkeypatch)
    path, good = tmp_path / "b.txt", tmp_path / "a.txt"
    path.write_bytes(b"caf\xc3\xa9 \xff\xe6\xbc!")
    good.write_bytes("漢字".encode())
    both_inputs = [good, path]
    with pytest.raises(EncodeError, match=r"b\.txt.*not UTF-8 at byte 6;"):
        read_texts(both_inputs, lines=lines)
    assert read_texts(both_inputs, lines=lines, bad_bytes="replace") == encode_all(["漢字", "café \ufffd\ufffd!"])
    report = TrainingReport()
    assert read_texts(both_inputs, lines=lines, bad_bytes="skip", report=report) == encode_all(["漢字"])
    assert (report.texts, report.skipped) == (1, {"not UTF-8": 1})
    assert read_texts(both_inputs, lines=lines, keeps_bytes=True) == ["漢字".encode(), path.read_bytes()]
    with pytest.raises(ArgumentError, match="a kind over bytes"):
        read_texts(both_inputs, bad_bytes="keep")


@pytest.mark.parametrize("kind", [kind.name for kind in polytok.training.KINDS])
@pytest.mark.parametrize("how", [{}, {"lines": True}])
def test_the_kinds_that_train_on_bytes_that_are_not_utf8(tmp_path: Path, kind: str, how: Any) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"to be\xff or not to be\n" * 20)
    is_sentencepiece = kind in ("sentencepiece-bpe", "unigram", "word", "char")
    options: Any = {"vocab_size": 280, **({"hard_vocab_limit": False} if is_sentencepiece else {})}
    if kind in ("bpe", "longest-match"):
        assert polytok.train([path], kind, vocab_size=257, **how).vocab_size == 257
        return
    place = "bad.txt:1" if how or kind == "unigram" else "bad.txt"
    with pytest.raises(EncodeError, match=f"{place}: not UTF-8 at byte 5; bad_bytes='replace' replaces"):
        polytok.train([path], kind, **options, **how)
    trained = polytok.train([path], kind, bad_bytes="replace", **options, **how)
    assert any("\ufffd".encode() in piece for piece in trained.spec.vocab.pieces()) or trained.spec.unknown
    if kind != "wordpiece":
        assert polytok.train([path], kind, bad_bytes="keep", **options, **how).spec.vocab == trained.spec.vocab


def test_surrogates(tmp_path: Path) -> None:
    texts = ["\ud83d\ude00", "x\ud800"]
    assert (
        read_texts(texts, keeps_bytes=True) == read_texts(texts, bad_bytes="replace") == encode_all(["😀", "x\ufffd"])
    )
    with pytest.raises(EncodeError, match="text 1"):
        read_texts(texts)
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "\\ud83d\\ude00"}\n{"text": "\\ud800"}')
    report = TrainingReport()
    assert read_texts(path, bad_bytes="skip", report=report) == ["😀".encode()]
    assert report.examples == [(f"{path}:2", "not UTF-8")]


def test_broken_records_are_errors_or_reported(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b'{"text": "a"}\n\n{"text": \n{"other": 1}\n{"text": 7}\n"bare"\n' + b"[" * 100_000)
    with pytest.raises(FormatError, match=r"texts\.jsonl:3: not JSON.*bad_records='skip'"):
        read_texts(path)
    report = TrainingReport()
    assert read_texts(path, bad_records="skip", report=report) == [b"a", b"bare"]
    places = [place for place, _ in report.examples]
    assert places == [f"{path}:{number}" for number in (3, 4, 5, 7)]
    assert report.skipped["no field 'text'"] == report.skipped["the field 'text' is not a text"] == 1
    assert sum(report.skipped.values()) == 4 and "4 texts were skipped" in str(report)


def test_skipped_texts_are_a_warning_without_a_report() -> None:
    rows = [{"text": "a"}, {"text": None}]
    with pytest.warns(polytok.TrainingWarning, match="1 text was skipped"):
        polytok.count_words(rows, input_options=InputOptions(bad_records="skip"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        polytok.count_words(rows, input_options=InputOptions(bad_records="skip"), report=TrainingReport())


@pytest.mark.parametrize(
    "data",
    [gzip.compress(LINES.encode(), mtime=0)[:-9], b"\x1f\x8b\x08 no gzip", b"BZh9 no", b"\xfd7zXZ\x00 no"],
    ids=["cut gzip", "gzip", "bzip2", "xz"],
)
def test_damaged_compression(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="cannot be decompressed"):
        read_texts(path)


def test_wrong_inputs(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        read_texts(tmp_path / "absent")
    with pytest.raises(ArgumentError, match="no file is in the folder"):
        read_texts(tmp_path)
    with pytest.raises(ArgumentError, match="no file matches"):
        read_texts(str(tmp_path / "*.txt"))
    with pytest.raises(ArgumentError, match="a single text"):
        read_texts(b"a text")
    with pytest.raises(FormatError, match="text 1: the field 'text' is not a text"):
        read_texts([{"text": 7}])
    with pytest.raises(FormatError, match="text 1"):
        read_texts([7])
    name = tmp_path / "texts.txt"
    name.write_text("a")
    with pytest.raises(ArgumentError, match="pathlib"):
        read_texts([str(name)])


class Collecting:
    """A trainer that stores the texts it receives."""

    lines = False

    def __init__(self) -> None:
        self.texts: list[bytes] = []

    def push(self, texts: list[bytes]) -> None:
        self.texts += texts


class Lines(Collecting):
    lines = True


def test_parts_are_joined_for_trainers_of_whole_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_block_size(5, monkeypatch)
    path = tmp_path / "texts.txt"
    path.write_bytes(b"one\ntwo\nthree is longer\n\nfour")
    collecting_trainer, lines = Collecting(), Lines()
    for trainer in (collecting_trainer, lines):
        feed(trainer, [path, path], InputOptions(), None, None)
    assert collecting_trainer.texts == [path.read_bytes()] * 2
    assert b"".join(lines.texts) == path.read_bytes() * 2
    assert len(lines.texts) > 2 and all(text.endswith((b"\n", b"four")) for text in lines.texts)


def test_counting_accepts_parts_of_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_block_size(11, monkeypatch)
    path = tmp_path / "texts.txt"
    path.write_text(LINES * 50)
    counts = Counts(split=r"\w+|\W+")
    progress_calls: list[tuple[str, int, int]] = []
    feed(counts, [path], InputOptions(), None, lambda *args: progress_calls.append(args))
    text_counts = Counts(split=r"\w+|\W+")
    text_counts.push([path.read_bytes()])
    assert counts.words().to_list() == text_counts.words().to_list()
    assert progress_calls[-1] == ("reading", path.stat().st_size, path.stat().st_size)


def test_zstd_that_is_damaged(tmp_path: Path) -> None:
    package = zstd_package()
    path = tmp_path / "texts.txt.zst"
    lines = "\n".join(map(str, range(20_000))).encode()
    compressed = package.compress(lines)
    for data in (
        compressed[: len(compressed) // 2],
        compressed + compressed[:-1],
        compressed + compressed[:3],
        compressed + b"garbage",
        b"\x28\xb5\x2f\xfd no",
    ):
        path.write_bytes(data)
        for is_split in (False, True):
            with pytest.raises(FormatError, match=r"texts\.txt\.zst cannot be decompressed"):
                read_texts(path, lines=is_split)
    path.write_bytes(compressed * 2)
    assert read_texts(path) == [lines * 2]


def test_open_files_of_any_kind(tmp_path: Path) -> None:
    path, packed = tmp_path / "texts.txt", tmp_path / "texts.gz"
    path.write_text(LINES, encoding="utf-8")
    packed.write_bytes(gzip.compress(LINES.encode()))
    read_end, write_end = os.pipe()
    os.write(write_end, packed.read_bytes())
    os.close(write_end)
    with (
        open(path, encoding="utf-8") as text,
        open(packed, "rb", buffering=0) as unbuffered,
        open(read_end, "rb", buffering=0) as pipe,
    ):
        for file in (text, unbuffered, pipe, StringIO(LINES), BytesIO(packed.read_bytes()), BytesIO(LINES.encode())):
            assert read_texts([file], lines=True) == encode_all(TEXTS)
            assert not file.closed
    assert read_texts([StringIO("漢" * 9), StringIO("")]) == ["漢".encode() * 9]
    assert read_texts([StringIO("a\ud800")], bad_bytes="skip") == []


def test_counts_are_not_texts(tmp_path: Path) -> None:
    for name in "ab":
        counts = Counts(split=r"\w+")
        counts.push([b"to be"])
        counts.save(tmp_path / f"{name}.counts")
    paths = sorted(tmp_path.iterdir())
    merged_tokenizer = polytok.train(paths, vocab_size=257)
    assert polytok.train(str(tmp_path / "*.counts"), vocab_size=257).fingerprint == merged_tokenizer.fingerprint
    assert polytok.train([tmp_path / "*.counts"], vocab_size=257).fingerprint == merged_tokenizer.fingerprint
    with open(paths[0], "rb") as file:
        for inputs in ((path for path in paths), [paths[0], "a text"], [file], [[paths[0]]]):
            with pytest.raises(ArgumentError, match=r"a\.counts is a file of counts"):
                polytok.train(inputs, vocab_size=257)
    with pytest.raises(ArgumentError, match="--merge"):
        polytok.count_words(paths)
    for count_source in (paths, Counts.load(*paths)):
        with pytest.raises(ArgumentError, match="lines= has an effect only on texts"):
            polytok.train(count_source, vocab_size=257, lines=True)


@pytest.mark.parametrize(
    "how",
    [{"lines": "yes"}, {"input_format": "json"}, {"bad_bytes": "ignore"}, {"bad_records": "drop"}, {"field": ""}],
)
def test_input_options_are_checked_immediately(how: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="is not one of '|is not the name|is neither"):
        InputOptions(**how)


def test_options_that_do_not_change_counts() -> None:
    assert polytok.count_words(["a b"], "bpe", pattern="gpt2").words().to_list() == [(b"a", 1), (b" b", 1)]
    with pytest.raises(ArgumentError, match="no option min_frequency; the options are bos, byte_level"):
        polytok.count_words(["a"], "bpe", min_frequency=2)
    with pytest.raises(ArgumentError, match="no option input_sentence_size; the options are add_dummy_prefix"):
        polytok.count_words(["a"], "sentencepiece-bpe", input_sentence_size=101)


def test_separated_texts_and_arrow(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes("<|x|>".join(TEXTS).encode() + b"<|x|>")
    assert read_texts(path, separator="<|x|>") == encode_all(TEXTS)
    with pytest.raises(ArgumentError, match="exclude each other"):
        InputOptions(separator="x", lines=True)
    with pytest.raises(TypeError, match="input_options= and lines= set the same options"):
        polytok.count_words(["a"], input_options=InputOptions(), lines=True)
    pytest.importorskip("pyarrow")
    table = importlib.import_module("pyarrow").table({"text": TEXTS})
    importlib.import_module("pyarrow.feather").write_feather(table, str(tmp_path / "texts.feather"))
    assert read_texts(tmp_path / "texts.feather") == encode_all(TEXTS)


def test_texts_before_damage_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt.gz"
    lines = [os.urandom(9).hex().encode() for _ in range(5000)]
    path.write_bytes(gzip.compress(b"\n".join(lines), mtime=0)[:30_000])
    report = TrainingReport()
    texts_read = read_texts(path, lines=True, damaged_files="skip", report=report)
    assert len(texts_read) > 1000 and texts_read == lines[: len(texts_read)]
    assert not report.skipped and not report.examples
    (damage,) = report.damage
    assert damage.startswith(f"{path} cannot be decompressed completely: it is truncated after byte 30000")
    assert damage.endswith(f"the texts before {path}:{len(texts_read) + 1} were read")
    (text,) = read_texts(path, damaged_files="skip")
    assert text.startswith(b"\n".join(texts_read)) and b"\n".join(lines).startswith(text)
    path.write_bytes(path.read_bytes()[:12])
    assert read_texts(path, damaged_files="skip") == []
    report = TrainingReport()
    assert read_texts(path, damaged_files="skip", report=report) == [] and len(report.damage) == 1


@pytest.mark.parametrize("suffix", ["txt.gz", "txt.zst", "jsonl.bz2", "txt.XZ"])
def test_a_file_that_is_not_compressed_in_spite_of_its_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"texts.{suffix}"
    path.write_text('{"text": "<html>"}\n')
    message = f"is not compressed, although its name ends with .{suffix.split('.')[-1]}: get the complete file"
    for lines in (False, True):
        report = TrainingReport()
        with pytest.raises(FormatError, match=f"{message}.*damaged_files='skip' reads"):
            read_texts(path, lines=lines)
        assert read_texts(path, lines=lines, damaged_files="skip", report=report) == []
        assert message in report.damage[0]
        for shard_size in (4, 1 << 20):
            options = {"lines": lines, "workers": 1, "shard_size": shard_size}
            with pytest.raises(FormatError, match=f"{message}.*damaged_files='skip' reads"):
                polytok.corpus.tokenize(path, "default", tmp_path / "out", **options)
    corpus_report = polytok.corpus.tokenize(path, "default", tmp_path / "out", workers=1, damaged_files="skip")
    assert message in corpus_report.damage[0] and not corpus_report.total.documents


def test_a_file_object_can_decompress_a_file(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "texts.gz", "wb") as file:
        file.write(b"content")
    with gzip.open(tmp_path / "texts.gz") as file:
        assert read_texts(file) == [b"content"]


@pytest.mark.parametrize("names", [["missing.txt"], ["a/b.jsonl.gz", "C.PARQUET"], iter(["x.txt"])])
def test_names_of_missing_files_are_not_texts(names: Any) -> None:
    with pytest.raises(ArgumentError, match=r"all texts look like names of files.* give pathlib.Path\('.*as bytes"):
        read_texts(names)
    with pytest.raises(ArgumentError, match=r"give the pattern itself, 'data/\*\.txt', without a list"):
        read_texts(["data/*.txt"])


def test_names_of_folders_are_not_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/a.txt").write_text("to be")
    monkeypatch.chdir(tmp_path)
    refused = pytest.raises(
        ArgumentError, match=r"such as the folder 'corpus'.* give pathlib.Path\('corpus'\).*as bytes"
    )
    with refused:
        polytok.train(["corpus"], vocab_size=258)
    with refused:
        polytok.count_words(["corpus", "corpus"])
    with refused:
        polytok.count_ids("default", ["corpus"])
    with pytest.raises(ArgumentError, match=r"is also the name of a file: .* give pathlib.Path\('corpus/a.txt'\)"):
        polytok.count_ids("default", ["corpus/a.txt"])
    assert read_texts(["corpus", "of texts"]) == [b"corpus", b"of texts"]
    assert read_texts([b"corpus"]) == [b"corpus"]


def test_count_ids_reads_what_training_reads(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"to be or not \xff " * 600_000)  # more than two parts of a file
    tokenizer = polytok.load("default")
    expected = polytok.count_ids(tokenizer, [path.read_bytes()])
    for inputs in (path, [path], [path.open("rb")], [{"text": path.read_bytes()}]):
        assert (polytok.count_ids(tokenizer, inputs) == expected).all()
    with pytest.raises(TypeError, match=r"texts='a.txt' is a single text: pass a list, or a pathlib.Path"):
        polytok.count_ids(tokenizer, "a.txt")
    assert (polytok.count_ids(tokenizer, [tmp_path]) == expected).all()


def test_texts_can_contain_names_of_files() -> None:
    for texts in (["missing.txt", "a text"], ["see missing.txt"], ["a.txt"] * 17, ["a text.txt"]):
        assert read_texts(texts) == encode_all(texts)
    assert read_texts([b"missing.txt"]) == [b"missing.txt"]
