"""Tests the command in a process of its own: outputs, exit codes, pipes, bytes."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb

import gguf_samples
import polytok
from polytok.formats import sentencepiece_proto
from polytok.formats.sentencepiece_fields import _DEFAULTS

TEXT = "Der Hund läuft.\nThe dog runs, and 日本 too.\n\nlast  line \u2581 <s> ends"
SENTENCES = [
    "the dog runs over the hill",
    "a dog and a cat",
    "der Hund läuft",
    "many small words are here",
    "x y z",
] * 20
SPECIAL = '{"<|end|>": 256}'
described: Any = pb
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
ENVIRONMENT["PYTHONPATH"] = os.pathsep.join([str(Path(polytok.__file__).parents[1]), *sys.path[1:]])


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "polytok", *map(str, arguments)]


def run(*arguments: str | Path, stdin: bytes = b"", code: int = 0, **environment: str) -> bytes:
    """Runs the command and returns its output; checks the exit code and, if it is 0, that standard error is empty."""
    process = subprocess.run(
        command(*arguments), input=stdin, capture_output=True, env={**ENVIRONMENT, **environment}, timeout=60
    )
    assert process.returncode == code, process.stderr.decode()
    assert b"Traceback" not in process.stderr
    assert process.stderr == b"" or code != 0
    return process.stdout


def error_of(*arguments: str | Path, stdin: bytes = b"", code: int = 1) -> str:
    process = subprocess.run(command(*arguments), input=stdin, capture_output=True, env=ENVIRONMENT, timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in process.stderr
    return process.stderr.decode()


def message(number: int, data: bytes) -> bytes:
    """Returns a short protobuf field of bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a BPE model with byte fallback that is lossless except for U+2581."""
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=file,
        model_type="bpe",
        vocab_size=320,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        user_defined_symbols=["@@"],
        minloglevel=2,
    )
    path = tmp_path_factory.mktemp("models") / "small.model"
    sample = message(1, b"a dog") + message(2, "▁a ▁dog".encode())
    path.write_bytes(file.getvalue() + message(4, message(1, sample)))
    return path


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns the options that name a rank file of the 256 bytes."""
    path = tmp_path_factory.mktemp("models") / "bytes.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256)))
    return ["-m", str(path), "--pattern", r"\s+|\S+", "--special-tokens", SPECIAL]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    return path


# encode


def test_encode_ids(model: Path, text: Path) -> None:
    ids = polytok.load(model).encode(TEXT)
    expected = (" ".join(map(str, ids)) + "\n").encode()
    assert run("encode", "-m", model, text) == expected
    assert run("encode", "-m", model, stdin=TEXT.encode()) == expected
    assert run("encode", "-m", model, "-", text, stdin=TEXT.encode()) == expected * 2


def test_encode_lines(model: Path, text: Path) -> None:
    rows = run("encode", "-m", model, "--lines", text).decode().split("\n")
    assert [list(map(int, row.split())) for row in rows[:-1]] == [
        polytok.load(model).encode(line) for line in TEXT.split("\n")
    ]
    assert run("encode", "-m", model, "--lines", stdin=b"") == b""
    assert run("encode", "-m", model, "--lines", stdin=b"\n\n") == b"\n\n"
    assert run("encode", "-m", model, stdin=b"") == b"\n"


def test_encode_json(model: Path, text: Path) -> None:
    tokens = polytok.load(model).tokens(TEXT)
    record = json.loads(run("encode", "-m", model, "--to", "json", text))
    assert record["ids"] == [token.id for token in tokens]
    assert record["pieces"] == [token.piece.decode() for token in tokens]
    assert record["spans"] == [[token.start, token.end] for token in tokens]
    assert record["byte_spans"] == [[token.byte_start, token.byte_end] for token in tokens]
    lines = run("encode", "-m", model, "--to", "json", "--lines", text).splitlines()
    assert len(lines) == TEXT.count("\n") + 1
    assert all(json.loads(line)["ids"] is not None for line in lines)


def test_json_pieces_that_are_not_utf8_are_bytes(ranks: list[str]) -> None:
    record = json.loads(run("encode", *ranks, "--to", "json", stdin=b"a\xff"))
    assert record["pieces"] == ["a", [255]]


def test_encode_pieces(ranks: list[str]) -> None:
    assert run("encode", *ranks, "--to", "pieces", stdin=b"a \n\\\xff") == "a ␣ \\n \\\\ \\xff\n".encode()


def test_special_tokens_and_pieces_have_colours(ranks: list[str]) -> None:
    colored = run("encode", *ranks, "--to", "pieces", "--color=always", "--special=all", stdin=b"ab<|end|>").decode()
    first, second, special = (part[: part.index("m")] for part in colored.split("\x1b[")[1::2])
    assert len({first, second, special}) == 3
    for options in (["--color=auto"], ["--color=never"]):
        assert b"\x1b" not in run("encode", *ranks, "--to", "pieces", *options, stdin=b"ab")


@pytest.mark.parametrize(
    ("options", "variables", "is_colored"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"TERM": "dumb"}, False),
        (["--color=never"], {}, False),
        (["--color=always"], {"NO_COLOR": "1"}, True),
    ],
)
def test_a_terminal(ranks: list[str], options: list[str], variables: dict[str, str], is_colored: bool) -> None:
    """In a terminal the pieces are shown, with or without colours."""
    our_end, their_end = pty.openpty()
    process = subprocess.Popen(
        command("encode", *ranks, *options), stdin=subprocess.PIPE, stdout=their_end, env={**ENVIRONMENT, **variables}
    )
    process.communicate(b"a b", timeout=60)
    os.close(their_end)
    shown_bytes = os.read(our_end, 10_000)
    os.close(our_end)
    assert process.returncode == 0
    assert "␣".encode() in shown_bytes
    assert (b"\x1b[" in shown_bytes) == is_colored


def test_encode_npy(model: Path, text: Path, tmp_path: Path) -> None:
    expected = polytok.load(model).encode_array(TEXT)
    out = tmp_path / "ids.npy"
    assert run("encode", "-m", model, text, "-o", out) == b""
    for array in (np.load(out), np.load(io.BytesIO(run("encode", "-m", model, "--to", "npy", text)))):
        assert array.dtype == expected.dtype
        assert np.array_equal(array, expected)
    run("encode", "-m", model, "--to", "npy", "--lines", text, text, "-o", out, "--overwrite")
    lines = polytok.load(model).encode_batch(TEXT.split("\n") * 2)
    assert np.array_equal(np.load(out), lines.ids)
    run("encode", "-m", model, "--lines", "-o", out, "--overwrite")
    assert np.load(out).shape == (0,)


def test_output_files_are_replaced_completely_or_not_at_all(model: Path, text: Path, tmp_path: Path) -> None:
    out = tmp_path / "ids.txt"
    run("encode", "-m", model, text, "-o", out)
    old_content = out.read_bytes()
    assert old_content == run("encode", "-m", model, text)
    assert "no-such-file" in error_of("encode", "-m", model, text, "no-such-file", "-o", out, "--overwrite")
    assert out.read_bytes() == old_content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.txt", "text.txt"]
    assert str(tmp_path / "no") in error_of("encode", "-m", model, text, "-o", tmp_path / "no" / "ids.npy")
    assert run("encode", "-m", model, text, "-o", "/dev/null") == b""
    assert not Path("/dev/null").is_file()


def test_special_tokens(ranks: list[str], model: Path) -> None:
    stdin = b"<|end|>"
    plain_ids = " ".join(map(str, stdin)).encode() + b"\n"
    assert run("encode", *ranks, stdin=stdin) == plain_ids
    for option in ("all", "<|end|>"):
        assert run("encode", *ranks, "--special", option, stdin=stdin) == b"256\n"
        assert run("encode", *ranks, "--special", option, "--reject-special", stdin=stdin) == b"256\n"
    error = error_of("encode", *ranks, "--reject-special", stdin=stdin)
    assert "--special '<|end|>' or --special all, or encode it as plain text with no --reject-special" in error
    assert "not a special token" in error_of("encode", *ranks, "--special", "<|no|>", stdin=stdin)
    bos = polytok.load(model).bos_id
    assert run("encode", "-m", model, "--add-special", stdin=b"").decode() == f"{bos}\n"


# decode


@pytest.mark.parametrize(
    "stdin", [b"97 98 10", b"[97, 98, 10]", b"97,98,\t10", b"97\n98\n\n10\n", b" [ 97 98\r\n10 ] "]
)
def test_decode_text(ranks: list[str], stdin: bytes) -> None:
    assert run("decode", *ranks, stdin=stdin) == b"ab\n"


def test_decode_is_exact_for_bytes(ranks: list[str], tmp_path: Path) -> None:
    data = bytes(range(256)) * 3 + "日".encode() * 2
    path = tmp_path / "data"
    path.write_bytes(data)
    ids = run("encode", *ranks, path)
    assert run("decode", *ranks, stdin=ids) == data
    run("encode", *ranks, path, "-o", tmp_path / "ids.npy")
    assert run("decode", *ranks, tmp_path / "ids.npy") == data
    assert run("decode", *ranks, stdin=(tmp_path / "ids.npy").read_bytes()) == data
    assert run("decode", *ranks, "--errors", "replace", stdin=ids) == data.decode(errors="replace").encode()
    assert run("decode", *ranks, "--errors", "ignore", stdin=ids) == data.decode(errors="ignore").encode()
    assert "utf-8" in error_of("decode", *ranks, "--errors", "strict", stdin=ids)


def test_lines_round_trip(model: Path) -> None:
    stdin = b"one\n\n two \nthree\r\n"
    ids = run("encode", "-m", model, "--lines", stdin=stdin)
    assert run("decode", "-m", model, "--lines", stdin=ids) == stdin


def test_decode_skips_special(ranks: list[str]) -> None:
    assert run("decode", *ranks, stdin=b"97 256 98") == b"a<|end|>b"
    assert run("decode", *ranks, "--skip-special", stdin=b"97 256 98") == b"ab"


@pytest.mark.parametrize("separator", ["\n", " ", ","])
def test_decode_large_text(ranks: list[str], separator: str, tmp_path: Path) -> None:
    """Tests that numbers are not split at the end of a block."""
    data = bytes(np.random.default_rng(1).integers(0, 256, 1_000_000, dtype=np.uint8))
    path = tmp_path / "ids"
    path.write_text(separator.join(map(str, data)))
    assert run("decode", *ranks, path) == data


def test_decode_writes_text_as_ids_arrive(ranks: list[str]) -> None:
    process = subprocess.Popen(
        command("decode", *ranks), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"97 9")
    process.stdin.flush()
    assert process.stdout.read(1) == b"a"
    process.stdin.write(b"8")
    process.stdin.close()
    assert process.stdout.read() == b"b"
    assert process.wait(60) == 0
    process.stdout.close()


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize("dtype", ["u1", "<i8", ">u4", "i4"])
def test_decode_npy_types(ranks: list[str], dtype: str) -> None:
    assert run("decode", *ranks, stdin=npy(np.array([97, 98], dtype=dtype))) == b"ab"


@pytest.mark.parametrize(
    "stdin",
    [
        b"97 x",
        b"-1",
        b"1.5",
        b"9" * 40,
        b"9" * 3_000_000,
        b"999",
        "１".encode(),
        npy(np.array([-1])),
        npy(np.zeros(2)),
        npy(np.zeros((2, 2), dtype=int)),
        npy(np.array([97] * 9))[:-3],
        b"\x93NUMPY",
        b"\x93NUMPY\x09\x00",
    ],
)
def test_decode_refuses(ranks: list[str], stdin: bytes) -> None:
    assert error_of("decode", *ranks, stdin=stdin).startswith("polytok: ")


# count


def test_count(model: Path, text: Path, tmp_path: Path) -> None:
    other_path = tmp_path / "other.txt"
    other_path.write_bytes(b"dog")
    tokenizer = polytok.load(model)
    tokens = [tokenizer.count(TEXT), tokenizer.count("dog")]
    report = json.loads(run("count", "-m", model, "--json", text, other_path))
    assert [row["tokens"] for row in report["rows"]] == tokens
    assert report["total"]["tokens"] == sum(tokens)
    assert report["total"]["characters"] == len(TEXT) + 3
    assert report["total"]["bytes"] == len(TEXT.encode()) + 3
    assert [row["file"] for row in report["rows"]] == [str(text), str(other_path)]
    table = run("count", "-m", model, text, other_path).decode().splitlines()
    assert [row.split()[2] for row in table[1:]] == [*map(str, tokens), str(sum(tokens))]
    assert run("count", "-m", model).decode().splitlines()[1].split() == ["0", "0", "0", "-", "-"]
    lines = json.loads(run("count", "-m", model, "--json", "--lines", "--add-special", text))["total"]
    assert lines["tokens"] == sum(tokenizer.count(line, add_special=True) for line in TEXT.split("\n"))


def test_count_with_several_tokenizers(model: Path, text: Path) -> None:
    expected = [polytok.load(model).count(TEXT), polytok.load("default").count(TEXT)]
    report = json.loads(run("count", "-m", model, "-m", "default", "--json", text))
    assert list(report["total"]["tokens"].items()) == [(str(model), expected[0]), ("default", expected[1])]
    head, row = run("count", "-m", model, "-m", "default", text).decode().splitlines()
    assert head.split() == ["bytes", "characters", model.name, "bytes/token", "default", "bytes/token", "file"]
    assert row.split()[2::2] == [*map(str, expected), str(text)]
    assert "--format would apply to all tokenizers" in error_of(
        *("count", "-m", model, "-m", "default", "--format", "sentencepiece", text), code=2
    )


def test_count_by_folder_and_field(tmp_path: Path) -> None:
    for name, content in (("a/one.txt", "x"), ("a/b/two.txt", "xy"), ("a/b/three.log", "z"), ("c/four.txt", "")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "a/.gitignore").write_text("*.log\n.gitignore\n")
    rows = json.loads(run("count", "--json", "--by", "folder", tmp_path))["rows"]
    assert [(Path(row["folder"]).name, row["bytes"]) for row in rows] == [("b", 2), ("a", 1), ("c", 0)]
    lines = [{"text": "x", "lang": "en"}, {"text": "yy", "lang": "de"}, {"text": "zzz"}, {"text": "é", "lang": "en"}]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    rows = json.loads(run("count", "--json", "--by", "lang", path))["rows"]
    assert [(row["value"], row["bytes"], row["characters"]) for row in rows] == [
        ("en", 3, 2),
        ("de", 2, 2),
        ("(none)", 3, 3),
    ]


def test_count_with_a_maximum(text: Path) -> None:
    assert f"{text}: " in error_of("count", "--max", "3", text)
    run("count", "--max", "1000", text)


def test_the_maximum_is_for_each_text_and_each_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a", "lang": "en"}\n{"text": "b c d e", "lang": "en"}\n')
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        polytok.train(["abcde"], vocab_size=256).save(tmp_path / folder / "tokenizer.json")
    models = [argument for folder in ("x", "y") for argument in ("-m", f"{tmp_path}/{folder}/tokenizer.json")]
    run("count", "--max", "7", path, *models)
    for by in ("file", "lang"):
        message = error_of("count", "--by", by, "--max", "6", path, *models)
        for folder in ("x", "y"):
            assert f"polytok: {path}:2: 7 tokens of {folder}/tokenizer.json, more than 6" in message


def test_a_file_that_is_named_twice_is_counted_once(text: Path) -> None:
    arguments = ("count", text, f"{text.parent}/./{text.name}", "--json")
    assert f"{text.name} is named twice and read once" in error_of(*arguments, code=0)


# inputs


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_inputs_of_every_kind_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"texts.jsonl{suffix}"
    data = b'{"a": {"b": "one"}}\n{"a": {"b": "two"}}\n'
    path.write_bytes(gzip.compress(data) if suffix else data)
    expected = "".join(f"{' '.join(map(str, polytok.load('default').encode(text)))}\n" for text in ("one", "two"))
    for arguments in ((path,), (f"{tmp_path}/*.jsonl*",), (tmp_path,)):
        assert run("encode", "--field", "a.b", *arguments).decode() == expected
    (tmp_path / "list").write_text(f"{path}\n")
    assert run("encode", "--field", "a.b", "--files-from", tmp_path / "list").decode() == expected
    assert run("encode", "--text", "one", "--text", "two").decode() == expected


def test_skipped_texts_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b'{"text": "one"}\n{"txt": "two"}\n')
    assert "--bad-records skip skips such records" in error_of("count", path)
    process = subprocess.run(command("count", "--bad-records", "skip", path), capture_output=True, env=ENVIRONMENT)
    assert process.returncode == 0
    assert process.stderr.decode() == f"polytok: 1 text was skipped\n  no field 'text': 1, e.g. at {path}:2\n"


# tokenizers


def test_the_first_argument_can_be_the_tokenizer(model: Path, text: Path) -> None:
    expected = run("count", "-m", model, text)
    assert run("count", model, text) == expected
    assert run("encode", model, "--text", "a dog") == run("encode", "-m", model, "--text", "a dog")
    assert run("count", "default", text) == run("count", text)
    assert f"use -m {model}" in error_of("count", model, code=2)
    assert run("count", "-m", "default", model).decode().split()[5] == str(model.stat().st_size)
    assert run("info", model) == run("info", "-m", model)
    assert run("vocab", model, "--ids", "5-9") == run("vocab", "-m", model, "--ids", "5-9")
    words = text.parent / "de.txt"
    words.write_text("Haus 1\nHund 2\n")  # the bytes of a rank file, but not its name
    assert run("count", words, text).decode().splitlines()[1].endswith(str(words))
    assert "one tokenizer, not 2" in error_of("info", "-m", model, "-m", "default", code=2)


def test_the_target_of_a_conversion_can_stand_in_two_places(model: Path, tmp_path: Path) -> None:
    for number, arguments in enumerate(
        ((model, "{}"), (model, "-o", "{}"), ("-m", model, "{}"), ("-m", model, "-o", "{}"))
    ):
        target = tmp_path / f"{number}.ptok"
        run("convert", *(str(target) if argument == "{}" else argument for argument in arguments))
        assert polytok.load(target).vocab_size == 320
    assert "no file to write" in error_of("convert", model, code=2)


# help


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("enc",), "did you mean 'encode'?"),
        (("encode", "--lins"), "did you mean '--lines'?"),
        (("encode", "--to", "pices"), "did you mean 'pieces'?"),
        (("train", "--kind", "unigrm", "-o", "x"), "did you mean 'unigram'?"),
        (("count", "--max-tokens", "5"), "--max-tokens is an option of polytok tokenize; did you mean '--max'?"),
        (("count", "--vocab-size", "5"), "--vocab-size is an option of polytok train\n"),
        (("count", "--shards"), "--shards is an option of polytok corpus info\n"),
        (
            ("train", "x", "-o", "x", "--shrinking-factor", "0.5"),
            "--shrinking-factor is an option of --kind unigram\n",
        ),
    ],
)
def test_similar_names_are_suggested(arguments: tuple[str, ...], expected: str) -> None:
    assert expected in error_of(*arguments, code=2)


@pytest.mark.parametrize("arguments", [("encode", "--lins"), ("train", "x"), ("corpus", "inf"), ("enc",)])
def test_a_wrong_argument_is_one_message(arguments: tuple[str, ...]) -> None:
    """Tests that an error has one line, and no usage unless it is short."""
    usage, message, advice = ["", *error_of(*arguments, code=2).splitlines()][-3:]
    program = message.partition(":")[0]
    assert usage == "" or usage.startswith(f"usage: {program} ")
    assert advice == f"see {program} --help"


def test_a_text_instead_of_a_file() -> None:
    assert "use --text" in error_of("encode", "Hello  world")


@pytest.mark.parametrize(
    "verb", ["info", "vocab", "doctor", "convert", "edit -o x", "encode -m", "decode -m", "count -m"]
)
def test_a_missing_tokenizer_is_named(verb: str) -> None:
    arguments = [*verb.split(), "no-such.model"]
    assert "no-such.model" in error_of(*arguments, *(["out.json"] if verb == "convert" else []))


def test_completion() -> None:
    script = run("--print-completion", "bash").decode()
    assert "--bad-records" in script and "count-words" in script
    for words, completion in (
        ("train --kind uni", "unigram"),
        ("train --character-cov", "--character-coverage"),
        ("count-words --split-by-uni", "--split-by-unicode-script"),
        ("encode -m cl100", "cl100k_base"),
        ("doctor --against gpt-4", "gpt-4o"),
        ("info o200k_h", "o200k_harmony"),
        ("tokenize --to megat", "megatron"),
    ):
        *earlier, last = ["polytok", *words.split()]
        code = (
            f"{script}\nCOMP_WORDS=({' '.join([*earlier, last])}); COMP_CWORD={len(earlier)}; "
            f"_shtab_polytok polytok {last} {earlier[-1]}; echo ${{COMPREPLY[@]}}"
        )
        output = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=20).stdout
        assert completion in output.split(), (words, output)


# info


def test_info_has_every_field(model: Path) -> None:
    report = json.loads(run("info", "-m", model, "--json"))
    file = described.ModelProto.FromString(model.read_bytes())
    for name in ("trainer_spec", "normalizer_spec", "denormalizer_spec"):
        part = getattr(file, name)
        if not file.HasField(name):
            assert name not in report
            continue
        assert set(report[name]) == {field.name for field in part.DESCRIPTOR.fields}
        for field in part.DESCRIPTOR.fields:
            shown_value = report[name][field.name]
            is_set = bool(getattr(part, field.name)) if field.is_repeated else part.HasField(field.name)
            assert shown_value["set"] == is_set, field.name
            if field.type == field.TYPE_BOOL or field.type == field.TYPE_INT32:
                assert shown_value["value"] == getattr(part, field.name), field.name
    assert report["trainer_spec"]["model_type"] == {"value": "BPE", "set": True}
    assert report["self_test_data"]["samples"] == {"value": [["a dog", "▁a ▁dog"]], "set": True}
    assert "▁a ▁dog" in run("info", "-m", model).decode()
    assert report["vocab"]["user_defined"] == 1
    assert report["vocab"]["byte"] == 256
    assert report["special"]["names"] == {"unk": 0, "bos": 1, "eos": 2}
    assert list(report)[:9] == ["file", "lossless", "vocab", "special", "normalize", "split", "model", "post", "decode"]


def test_defaults_are_those_of_sentencepiece() -> None:
    for name, spec in (
        ("trainer_spec", described.TrainerSpec.DESCRIPTOR),
        ("normalizer_spec", described.NormalizerSpec.DESCRIPTOR),
    ):
        known_names = sentencepiece_proto.field_names(name)
        for field in spec.fields:
            our_default = _DEFAULTS[name].get(field.name, known_names[field.name])
            their_default = () if field.is_repeated else field.default_value
            their_default = their_default.encode() if isinstance(their_default, str) else their_default
            assert our_default == pytest.approx(their_default), field.name


def test_info_shows_what_is_lossless(model: Path, ranks: list[str]) -> None:
    report = json.loads(run("info", "-m", model, "--json"))["lossless"]
    assert report["valid UTF-8 text"] is False
    assert [reason["for"] for reason in report["reasons"]] == ["text", "bytes"]
    table = run("info", "-m", model).decode()
    assert "U+2581 is decoded to a space" in table
    assert "(default)" in table
    assert json.loads(run("info", *ranks, "--json"))["lossless"]["any bytes"] is True
    assert "sha256" in run("info", *ranks).decode()


@pytest.mark.parametrize("order", ["<", ">"])
def test_info_shows_the_metadata_of_a_gguf_file(order: str, tmp_path: Path) -> None:
    rows = [("<unk>", 2, 0.0), ("a", 1, -1.0), ("b", 1, -2.0)]
    keys = gguf_samples.vocabulary("llama", rows, name="x", architecture="llama")
    scalars = {"a.u8": (0, 255), "a.i8": (1, -1), "a.u16": (2, 65535), "a.i16": (3, -2), "a.u32": (4, 4096)}
    scalars |= {"a.i32": (5, -3), "a.f32": (6, 0.1), "a.u64": (10, 2**64 - 1), "a.i64": (11, -4), "a.f64": (12, 0.5)}
    keys |= {key: gguf_samples.Typed(*value) for key, value in scalars.items()}
    keys |= {"a.flag": True, "a.many": list(range(20)), "a.flags": [True, False], "a.bytes": b"\xff\n"}
    path = tmp_path / "a.gguf"
    path.write_bytes(gguf_samples.file(keys, order=order))
    metadata = json.loads(run("info", "-m", path, "--json"))["metadata"]
    assert list(metadata) == list(keys)
    assert {key: metadata[key] for key in scalars} == {key: value for key, (_, value) in scalars.items()}
    assert metadata["a.flag"] is True
    assert metadata["a.many"] == {"length": 20, "first": list(range(12))}
    assert metadata["a.flags"] == {"length": 2, "first": [True, False]}
    assert metadata["tokenizer.ggml.tokens"] == {"length": 3, "first": ["<unk>", "a", "b"]}
    assert metadata["tokenizer.ggml.scores"] == {"length": 3, "first": [0.0, -1.0, -2.0]}
    lines = [line.split(maxsplit=1) for line in run("info", "-m", path).decode().splitlines()]
    assert ["a.u32", "4096"] in lines
    assert ["a.many", "20 items: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …"] in lines
    assert ["a.flags", "2 items: yes, no"] in lines
    assert ["a.bytes", "\\xff\\n"] in lines


# vocab


def test_vocab(model: Path, ranks: list[str], tmp_path: Path) -> None:
    tokenizer = polytok.load(model)
    all_lines = run("vocab", "-m", model).decode().split("\n")[:-1]
    assert len(all_lines) == len(tokenizer.spec.vocab)
    assert all_lines[0].split() == ["0", "unknown", "-", "0.0", "<unk>"]
    assert [row.split()[0] for row in run("vocab", "-m", model, "--ids", "1-3,7,319-").decode().splitlines()] == [
        *["1", "2", "3", "7", "319"]
    ]
    assert len(run("vocab", "-m", model, "--kind", "byte").splitlines()) == 256
    matching_lines = run("vocab", "-m", model, "--search", "^▁d", "--kind", "normal").decode().splitlines()
    assert matching_lines
    assert all(row.split()[4].startswith("▁d") for row in matching_lines)
    assert len(run("vocab", "-m", model, "--contains", "@@").splitlines()) == 1
    assert run("vocab", "-m", model, "--contains", "no such piece", code=1) == b""
    assert run("vocab", *ranks, "--kind", "special").split() == [b"256", b"control", b"special", b"-", b"<|end|>"]


def test_vocab_has_one_row_for_each_id(tmp_path: Path) -> None:
    model = {"type": "WordLevel", "vocab": {"<unk>": 0, "<s>": 1, "a": 2}, "unk_token": "<unk>"}
    flags = {"special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [{"id": id, "content": text, **flags} for id, text in ((0, "<unk>"), (1, "<s>"), (3, "<b>"))]
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": model, "added_tokens": added}))
    rows = [line.split() for line in run("vocab", "-m", tmp_path / "tokenizer.json").decode().splitlines()]
    assert rows == [
        ["0", "unknown", "special", "<unk>"],
        ["1", "control", "special", "<s>"],
        ["2", "normal", "-", "a"],
        ["3", "control", "special", "<b>"],
    ]


def test_vocab_lists_merges(model: Path) -> None:
    merges = polytok.load(model).merges()
    head, *lines = run("vocab", "-m", model, "--merges", "--to", "tsv").decode().splitlines()
    assert head.split("\t") == ["rank", "id", "score", "left", "right", "piece"]
    assert "merges have no kind" in error_of("vocab", "-m", model, "--merges", "--kind", "normal", code=2)
    assert [line.split("\t")[:3] for line in lines] == [[str(m.rank), str(m.id), str(m.score)] for m in merges]
    assert json.loads(run("vocab", "-m", model, "--merges", "--ids", str(merges[0].id), "--json")) == [
        {
            **merges[0]._asdict(),
            **{name: getattr(merges[0], name).decode() for name in ("left", "right", "piece")},
        }
    ]


def test_vocab_without_merges(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(b"1 'a' 1\n2 'b' 1\n")
    assert "has no merges: its model is Longest" in error_of("vocab", "-m", tmp_path / "vocab.txt", "--merges", code=2)


def test_vocab_never_used(ranks: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(bytes(range(2, 256)) + b"<|end|>")
    (tmp_path / "b.jsonl").write_text('{"body": "\\u0001"}\n')
    rows = run("vocab", *ranks, "--never-used", tmp_path, "--field", "body").split(b"\n")
    assert [row.split()[0] for row in rows[:-1]] == [b"0"]
    assert run("vocab", *ranks, "--never-used", "--text", "ab", "--ids", "97-99").split()[0] == b"99"
    record = tmp_path / "b.jsonl"
    assert run("vocab", *ranks, "--never-used", "--field", "body", record, "--ids", "1-2").split()[0] == b"2"
    polytok.train(["a"], vocab_size=256).save(tmp_path / "tokenizer.json")
    model = tmp_path / "tokenizer.json"
    expected = run("vocab", "-m", model, "--never-used", record, "--field", "body")
    assert run("vocab", model, "--never-used", record, "--field", "body") == expected
    assert run("vocab", model, "--never-used", "--field", "body", record) == expected
    assert run("vocab", model, record, "--field", "body", "--never-used") == expected
    assert "add --never-used" in error_of("vocab", model, record, code=2)
    assert run("vocab", *ranks, "--never-used", "--ids", "97-99", stdin=b"ab").split()[0] == b"99"


def test_vocab_export(ranks: list[str], model: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in run("vocab", *ranks, "--to", "jsonl").splitlines()]
    pieces = [piece if isinstance(piece, list) else list(piece.encode()) for piece in (row["piece"] for row in rows)]
    assert pieces == [*([byte] for byte in range(256)), list(b"<|end|>")]
    tsv = [line.split("\t") for line in run("vocab", "-m", model, "--to", "tsv").decode().split("\n")[:-1]]
    vocab = polytok.load(model).spec.vocab
    assert tsv[0] == ["id", "kind", "special", "score", "rank", "piece"]
    assert [np.float32(row[3]) for row in tsv[1:]] == vocab.scores.tolist()
    for name in ("vocab.jsonl", "vocab.tsv", "vocab.csv", "vocab.json"):
        assert run("vocab", "-m", model, "-o", tmp_path / name) == b""
    assert json.loads((tmp_path / "vocab.jsonl").read_text().splitlines()[0])["kind"] == "unknown"
    assert [line.split("\t") for line in (tmp_path / "vocab.tsv").read_text().split("\n")[:-1]] == tsv
    assert list(csv.reader((tmp_path / "vocab.csv").read_text().splitlines())) == tsv
    assert len(json.loads((tmp_path / "vocab.json").read_text())) == len(tsv) - 1


# The whole command


def test_version_and_help() -> None:
    assert run("--version").decode() == f"polytok {polytok.__version__}\n"
    assert b"examples:" in run("--help")
    for verb in ("encode", "decode", "count", "info", "vocab"):
        assert b"examples:" in run(verb, "--help")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("no",),
        ("encode", "--no"),
        ("vocab", "--ids", "x"),
        ("vocab", "--search", "["),
        ("vocab", "--text", "a"),
        ("encode", "--to", "x"),
        ("info", "--special-tokens", "{"),
        ("info", "--special-tokens", "[]"),
        ("info", "--pattern", "x"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...]) -> None:
    assert "polytok" in error_of(*arguments, code=2)


def test_missing_and_wrong_files(model: Path, tmp_path: Path) -> None:
    (tmp_path / "odd").write_bytes(b"\0\1")
    assert "no-such" in error_of("info", "-m", "no-such")
    assert "no-such" in error_of("count", "-m", model, "no-such")
    assert str(tmp_path) in error_of("info", "-m", tmp_path)
    assert "no format recognises" in error_of("info", "-m", tmp_path / "odd")


@pytest.mark.parametrize("verb", ["encode --lines", "encode --to json --lines", "decode", "vocab"])
def test_a_reader_that_closes_the_pipe(verb: str, ranks: list[str], tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"97 98\n" * 400_000)
    files = [path] if verb != "vocab" else ["--ids", ",".join(["0-"] * 400)]
    process = subprocess.Popen(
        command(*verb.split(), *ranks, *files), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(3)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    # A vocabulary of 256 entries fits into the pipe before the reader closes the pipe.
    assert process.wait(60) in ((141,) if verb != "vocab" else (0, 141))


def test_interrupt(ranks: list[str]) -> None:
    process = subprocess.Popen(
        command("decode", *ranks),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job would ignore the signal
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"97 ")
    process.stdin.flush()
    assert process.stdout.read(1) == b"a"  # the command runs now
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"")


def test_output_is_utf8_in_every_locale(model: Path, text: Path) -> None:
    plain_output = run("encode", "-m", model, "--to", "pieces", text)
    assert (
        run("encode", "-m", model, "--to", "pieces", text, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        == plain_output
    )
    info = run("info", "-m", model)
    assert run("info", "-m", model, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii") == info
