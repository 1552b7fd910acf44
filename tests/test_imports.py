"""Tests when modules are imported, and that all public names exist. Each import runs in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import polytok
from format_samples import REAL, SMALL, VOCAB, merges_spec, rank_spec, sentencepiece_spec, small_file, unigram_spec
from polytok.spec import Spec

HEAVY = (
    *("numpy", "google.protobuf", "pyarrow", "asyncio", "urllib.request"),
    *("polytok.encoding", "polytok.named", "polytok.formats.tiktoken"),
)


def imported_modules(code: str, *arguments: str) -> set[str]:
    """Returns the heavy modules that some code imports."""
    code = f"import sys\n{code}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    command = [sys.executable, "-c", code, *arguments]
    return set(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert imported_modules("import polytok; dir(polytok); polytok.PolytokError; polytok.Options") == set()


def test_importing_the_package_imports_no_other_module_of_it() -> None:
    code = "import polytok, sys; print([name for name in sys.modules if name.startswith('polytok.')])"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout == "[]\n"


USE = """
import polytok
tokenizer = polytok.load(sys.argv[1])
ids = tokenizer.encode("ab", add_special=True)
assert tokenizer.encode("ab", options=polytok.Options(special="all")) and tokenizer.count("ab")
tokenizer.decode(ids), [tokenizer.decoder().push(id) for id in ids], tokenizer.tokens("ab"), tokenizer.fingerprint
"""


@pytest.mark.parametrize("make", [rank_spec, merges_spec, sentencepiece_spec, unigram_spec])
def test_a_mapped_file_and_lists_need_no_numpy(tmp_path: Path, make: type[Spec]) -> None:
    polytok.Tokenizer(make()).save(tmp_path / "a.ptok")
    assert imported_modules(USE, str(tmp_path / "a.ptok")) == set()
    assert imported_modules(f"{USE}\ntokenizer.encode_array('ab')", str(tmp_path / "a.ptok")) >= {"numpy"}


ENCODE_EACH = """
import polytok
for path in sys.argv[1:]:
    options = {"pattern": "", "special_tokens": {}} if path.endswith("unknown.tiktoken") else {}
    tokenizer = polytok.load(path, **options)
    assert tokenizer.decode(tokenizer.encode("a")) and tokenizer.tokens("a")
"""


@pytest.mark.parametrize("format_name", SMALL)
def test_loading_a_small_file_of_any_format_imports_no_numpy(tmp_path: Path, format_name: str) -> None:
    path = tmp_path / f"unknown.{format_name}"
    path.write_bytes(small_file(format_name))
    assert "numpy" not in imported_modules(ENCODE_EACH, str(path))


@pytest.mark.parametrize("folder", sorted({path.partition("/")[0] for path in REAL}))
def test_loading_real_files_imports_no_numpy(folder: str) -> None:
    files = [str(VOCAB / path) for path in REAL if path.startswith(f"{folder}/") and (VOCAB / path).exists()]
    if not files:
        pytest.skip("no test data; set POLYTOK_DATA to its folder")
    assert "numpy" not in imported_modules(ENCODE_EACH, *files)


@pytest.mark.parametrize("file", ["tiktoken/cl100k_base.tiktoken", "sentencepiece/llama2.model"])
def test_loading_a_common_file_imports_no_module_that_it_does_not_need(file: str) -> None:
    if not (VOCAB / file).exists():
        pytest.skip("no test data; set POLYTOK_DATA to its folder")
    code = f"{ENCODE_EACH}\nprint({{'pathlib', 'json', 'dataclasses', 'inspect'}} & set(sys.modules))"
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}", str(VOCAB / file)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout == "set()\n"


def test_every_public_name_exists_and_is_listed() -> None:
    assert sorted(polytok._MODULE_OF_NAME) == sorted(polytok.__all__)
    assert set(dir(polytok)) >= {*polytok.__all__, *polytok._PUBLIC_MODULES}
    for name in (*polytok.__all__, *polytok._PUBLIC_MODULES):
        assert getattr(polytok, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        polytok.nothing  # noqa: B018
    assert callable(polytok.train)


def test_all_names_can_be_imported_together() -> None:
    names: dict[str, object] = {}
    exec("from polytok import *", names)
    assert set(polytok.__all__) <= names.keys()


# Modules of the standard library that are missing if Python was compiled without the headers of their C libraries.
NEED_C_LIBRARIES = ("zlib", "bz2", "lzma", "ctypes", "ssl", "sqlite3", "readline", "curses")

WITHOUT_C_LIBRARIES = f"""
import pathlib
import sys
for name in {NEED_C_LIBRARIES!r}:
    sys.modules[name] = None
import polytok
from polytok.resources import return_free_memory

return_free_memory()
folder, compressed = sys.argv[1:]
tokenizer = polytok.train(pathlib.Path(folder, "a.txt"), "unigram", vocab_size=270)
tokenizer.trace("lower")
print(polytok.corpus.tokenize(f"{{folder}}/a.txt", tokenizer, f"{{folder}}/out").total.documents)
try:
    polytok.corpus.tokenize(compressed, tokenizer, f"{{folder}}/other")
except polytok.ArgumentError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("module", "compression", "suffix"), [("zlib", "gzip", "gz"), ("bz2", "bzip2", "bz2"), ("lzma", "xz", "xz")]
)
def test_a_python_without_optional_c_libraries_does_all_but_decompress(
    tmp_path: Path, module: str, compression: str, suffix: str
) -> None:
    package = pytest.importorskip("gzip" if module == "zlib" else module)
    (tmp_path / "a.txt").write_text("lower newer widest\n" * 20, encoding="utf-8")
    compressed = tmp_path / f"a.txt.{suffix}"
    compressed.write_bytes(package.compress(b"lower\n"))
    command = [sys.executable, "-c", WITHOUT_C_LIBRARIES, str(tmp_path), str(compressed)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout.splitlines() == [
        "1",
        f"{compressed} is compressed with {compression}, and this Python was built without the module {module}: "
        "decompress the file, or use another Python",
    ]
