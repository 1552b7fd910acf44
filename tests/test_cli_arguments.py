"""Tests the arguments of the command, its errors, exit codes, pipes and signals."""

from __future__ import annotations

import json
import platform
import signal
import subprocess
import time
from pathlib import Path

import pytest

import polytok
from cli_process import ENVIRONMENT, command, error_of, run
from polytok.visible import visible_text
from test_conventions import VERBS

pytest_plugins = ("cli_fixtures",)


# help


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("enc",), "did you mean 'encode'?"),
        (("encode", "--lins"), "did you mean '--lines'?"),
        (("encode", "--text", "-hi"), "for a value that begins with a dash, write --text=-hi"),
        (("encode", "--text", "--lines"), "argument --text: expected one argument: TEXT"),
        (("encode", "--add_special"), "arguments: --add_special; did you mean '--add-special'?"),
        (("count", "--vocab_size", "5"), "--vocab-size is an option of polytok train"),
        (("encode", "--to", "pices"), "did you mean 'pieces'?"),
        (("train", "--kind", "unigrm", "-o", "x"), "did you mean 'unigram'?"),
        (
            ("count", "--max-tokens", "5"),
            "polytok truncate and polytok chunk and polytok tokenize; did you mean '--max'?",
        ),
        (("count", "--vocab-size", "5"), "--vocab-size is an option of polytok train\n"),
        (("tokenize", "x", "-o", "y", "--shuffle"), "--shuffle: expected one argument: N|all\n"),
        (("tokenize", "-o", "y", "--eos", "."), "--eos has taken '.' as its piece: write the input before --eos\n"),
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


def test_two_dashes_end_the_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("-w.txt", "--text"):
        Path(name).write_text("hi\n")
        assert name in run("count", "--", name).decode() and name in run("count", "--lines", "--", name).decode()
    assert run("encode", "--", "-w.txt", "--text") == 2 * run("encode", "--", "--text")
    assert "cannot read" in error_of("count", "--", "--json", code=2)
    assert "argument --text: expected one argument" in error_of("encode", "--text", "--", "x", code=2)
    assert "-x: this folder does not exist" in error_of("corpus", "info", "--", "-x", code=2)


def test_the_limit_is_not_negative() -> None:
    assert "argument --max: '-1' is not a whole number of 0 or more" in error_of("count", "--max", "-1", code=2)


def test_a_text_instead_of_a_file() -> None:
    assert "use --text" in error_of("encode", "Hello  world")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("tokenize", __file__, "--documents", "--columns", "url", "meta.lang", "-o", "out"),
            "No such file or directory; --columns takes one name: repeat it for each, as in --columns url --columns "
            "meta.lang\n",
        ),
        (
            ("count", "--text", "to be", "or not"),
            "No such file or directory; --text takes one text: repeat it for each, as in --text 'to be' --text "
            "'or not'\n",
        ),
        (
            ("count", "-m", "default", "absent"),
            "No such file or directory; for a text on the command line, use --text\n",
        ),
        (("tokenize", "-o", "absent", "--eos", "1", "absent"), "No such file or directory\n"),
    ],
)
def test_a_second_value_of_an_option(arguments: tuple[str, ...], expected: str) -> None:
    assert error_of(*arguments).endswith(expected)


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


# The whole command


def test_version_and_help() -> None:
    assert run("--version").decode() == f"polytok {polytok.__version__}\n"
    for arguments in (("--version", "--json"), ("--json", "--version")):
        environment = json.loads(run(*arguments))
        assert environment["version"] == polytok.__version__
        assert environment["simd_level"] in environment["simd_levels"] == list(polytok.simd_levels())
        assert environment["build"]["extension"].startswith("_core.")
        assert environment["python"].split()[1] == platform.python_version()
        assert str(Path.home()) not in json.dumps(environment)
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
    assert "no format recognizes" in error_of("info", "-m", tmp_path / "odd")


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


def test_the_escapes_of_pieces_are_documented() -> None:
    page = (Path(__file__).parents[1] / "docs/cli.md").read_text("utf-8")
    pieces = [" ", "\u2423", "\n", "\r", "\t", "\u00ad", "\U000e0001", "\\"]
    texts = [visible_text(piece.encode()) for piece in pieces] + [visible_text(b"\xff")]
    assert [text for text in texts if f"`{text}`" not in page] == []
    help_text = run("vocab", "--help").decode()
    assert [text for text in texts if f" {text}" not in help_text] == [r"\r", r"\U000e0001", r"\xff"]
    assert "as\n\\xff" in help_text


def test_never_used_reads_the_inputs_of_count() -> None:
    actions = {verb: VERBS[verb]._option_string_actions for verb in ("count", "vocab")}
    reading = {"--text", "--files-from", "--input-format", "--field", "--lines", "--separator"}
    reading |= {"--bad-bytes", "--bad-records", "--damaged-files"}
    assert reading <= set(actions["count"]) & set(actions["vocab"])
    assert all(actions["count"][name].choices == actions["vocab"][name].choices for name in reading)
