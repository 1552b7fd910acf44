"""Tests vocabularies by name, with a server on this machine: downloads, the cache, and errors."""

from __future__ import annotations

import datetime
import functools
import importlib.metadata
import ipaddress
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import pytest
import tiktoken.model

import polytok
from format_samples import real, small_file
from local_server import Answer, Server, endless_answer, redirect, send, serving, slow_answer, truncated_answer
from polytok import ArgumentError, FetchError, fetch, model_names, named
from polytok.cli import main
from polytok.formats.tiktoken_known import KNOWN

BODY = b"a vocabulary " * 10_000


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def publish_file(server: Server, answer: bytes | Answer = BODY) -> named.PublishedFile:
    """Returns a file on the server, with the hash of `BODY`."""
    server.answers["/x.tiktoken"] = answer
    return named.PublishedFile(f"{server.address}/x.tiktoken", sha256(BODY).hexdigest())


def fetch_bytes(file: named.PublishedFile, folder: Path) -> bytes:
    return named.read_or_fetch(file, "cl100k_base", folder)


# Fetching


def test_names_are_identifiers() -> None:
    """`polytok.load` looks up only sources that are identifiers, or begin with ``hf:``."""
    assert all(name.isidentifier() for name in named.FILES)


def test_a_file_is_fetched_once(server: Server, tmp_path: Path) -> None:
    file, folder = publish_file(server), tmp_path / "a" / "b"
    assert fetch_bytes(file, folder) == BODY
    assert fetch_bytes(file, folder) == BODY
    assert server.asked == ["GET /x.tiktoken"]
    assert [path.name for path in folder.iterdir()] == [file.name]


def test_a_cached_file_needs_no_server(tmp_path: Path) -> None:
    with serving() as running:
        file = publish_file(running)
        fetch_bytes(file, tmp_path)
    assert fetch_bytes(file, tmp_path) == BODY


def test_a_damaged_file_in_the_cache_is_fetched_again(server: Server, tmp_path: Path) -> None:
    file = publish_file(server)
    (tmp_path / file.name).write_bytes(BODY[:-1])
    assert fetch_bytes(file, tmp_path) == BODY
    assert (tmp_path / file.name).read_bytes() == BODY


def test_a_redirect_is_followed(server: Server, tmp_path: Path) -> None:
    server.answers["/y"] = BODY
    assert fetch_bytes(publish_file(server, redirect("/y")), tmp_path) == BODY


WRONG: dict[str, tuple[bytes | Answer, str]] = {
    "another file": (BODY + b"!", "is not the file of 'cl100k_base'"),
    "nothing": (b"", "is not the file of 'cl100k_base'"),
    "truncated": (truncated_answer(BODY), "is not the file of 'cl100k_base'|cannot be fetched"),
    "no such page": (lambda handler: handler.send_error(404), "cannot be fetched: .*Not Found"),
    "an error": (lambda handler: handler.send_error(500), "cannot be fetched"),
    "no answer": (lambda handler: handler.connection.close(), "cannot be fetched"),
    "no http": (lambda handler: handler.wfile.write(b"\0" * 100), "cannot be fetched"),
    "to a file": (redirect("file:///etc/passwd"), "cannot be fetched"),
    "in a circle": (redirect("/x.tiktoken"), "cannot be fetched"),
    "to another protocol": (redirect("ftp://127.0.0.1/x"), "cannot be fetched: unknown url type: ftp"),
    "to no address": (redirect("http://[::1/"), "cannot be fetched: ValueError: Invalid IPv6 URL"),
    "to no name": (redirect("http://é.org/"), "cannot be fetched"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_failed_downloads_are_errors_and_leave_no_file(server: Server, tmp_path: Path, kind: str) -> None:
    answer, message = WRONG[kind]
    with pytest.raises(FetchError, match=message) as error_info:
        fetch_bytes(publish_file(server, answer), tmp_path)
    assert "polytok.load('/path/to/cl100k_base.tiktoken')" in str(error_info.value)
    assert isinstance(error_info.value, OSError)
    assert list(tmp_path.iterdir()) == []


def test_an_unreachable_server(tmp_path: Path) -> None:
    with serving() as running:
        file = publish_file(running)
    with pytest.raises(FetchError, match="cannot be fetched.*use a copy of the file"):
        fetch_bytes(file, tmp_path)


def test_servers_without_tls_or_with_a_certificate_of_their_own(server: Server, tmp_path: Path) -> None:
    file = publish_file(server)
    with pytest.raises(FetchError, match=r"cannot be fetched: \[SSL"):
        fetch_bytes(replace(file, address=file.address.replace("http:", "https:")), tmp_path)
    write_certificate(tmp_path / "certificate.pem")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "certificate.pem")
    with serving(tls) as encrypted, pytest.raises(FetchError, match="cannot be fetched: .*CERTIFICATE_VERIFY_FAILED"):
        fetch_bytes(publish_file(encrypted), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.pem"]


def write_certificate(path: Path) -> None:
    """Writes a key and a certificate for 127.0.0.1 that the key itself has signed."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    key_pem = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(key_pem + certificate.public_bytes(pem))


@pytest.mark.parametrize("protocol", ["http", "https"])
def test_a_server_that_accepts_and_never_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"{protocol}://127.0.0.1:{listener.getsockname()[1]}/x.tiktoken"
        with pytest.raises(FetchError, match="cannot be fetched: .*timed out"):
            fetch_bytes(named.PublishedFile(address, "0" * 64), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_ten_terabytes_are_not_read(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MAX_BYTES", 2**20)
    for head in (HEAD + b"\r\n", HEAD + b"Content-Length: 10000000000000\r\n\r\n"):
        with pytest.raises(FetchError, match="the file is longer than 1048576 bytes"):
            fetch_bytes(publish_file(server, endless_answer(head, b"x" * 2**17)), tmp_path)


def test_files_that_are_too_long_or_too_slow(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MAX_BYTES", len(BODY) - 1)
    with pytest.raises(FetchError, match=f"the file is longer than {len(BODY) - 1} bytes"):
        fetch_bytes(publish_file(server), tmp_path)
    monkeypatch.setattr(fetch, "TIMEOUT", 0.1)
    with pytest.raises(FetchError, match="the download takes longer than 1 seconds"):
        fetch_bytes(publish_file(server, slow_answer(BODY)), tmp_path)
    with pytest.raises(FetchError, match="timed out"):
        fetch_bytes(publish_file(server, lambda _handler: time.sleep(1)), tmp_path)


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED_HEAD = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("beginning", "repeated"),
    [
        (HEAD + b"X: ", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (CHUNKED_HEAD + b"1;", b"x"),
        (CHUNKED_HEAD + b"0\r\n", b"x: y\r\n"),
    ],
    ids=["header", "interim responses", "length of a chunk", "trailer"],
)
def test_an_endless_head_is_abandoned(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beginning: bytes, repeated: bytes
) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT", 0.05)
    with pytest.raises(FetchError, match="the download takes longer"):
        fetch_bytes(publish_file(server, endless_answer(beginning, repeated)), tmp_path)


def test_the_body_of_a_redirect_is_not_read(server: Server, tmp_path: Path) -> None:
    server.answers["/y"] = BODY
    head = b"HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 1000000000000\r\n\r\n"
    assert fetch_bytes(publish_file(server, endless_answer(head, b"x")), tmp_path) == BODY


def test_many_downloads_of_one_file(server: Server, tmp_path: Path) -> None:
    file = publish_file(server)
    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(lambda _: fetch_bytes(file, tmp_path), range(64))) == {BODY}
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


KILLED = """
import sys
from polytok import named
named.read_or_fetch(named.PublishedFile(sys.argv[1], sys.argv[2]), "cl100k_base", sys.argv[3])
"""


def test_a_kill_in_the_middle_leaves_no_broken_file(server: Server, tmp_path: Path) -> None:
    file = publish_file(server, slow_answer(BODY))
    process = subprocess.Popen([sys.executable, "-c", KILLED, file.address, file.sha256, str(tmp_path)])
    while not server.asked and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    assert process.poll() is None
    process.kill()
    process.wait()
    assert not (tmp_path / file.name).exists()
    assert fetch_bytes(publish_file(server), tmp_path) == BODY


def test_a_folder_that_cannot_be_written(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(polytok.FileError, match="cache_dir="):
        fetch_bytes(publish_file(server), tmp_path / "file")


def put_pipe(path: Path) -> None:
    os.mkfifo(path)


def put_endless_file(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("put", [put_pipe, put_endless_file])
def test_a_cache_that_others_write_to(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Path], None]
) -> None:
    monkeypatch.setenv("POLYTOK_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    file = publish_file(server)
    put(tmp_path / file.key)
    assert named.read_or_fetch(file, "cl100k_base", None) == BODY


# The folder of the cache


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "/home/me/.cache/polytok"),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/polytok"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/polytok"),
        ("linux", {"XDG_CACHE_HOME": "/xdg", "POLYTOK_CACHE_DIR": "/mine"}, "/mine"),
        ("darwin", {"XDG_CACHE_HOME": "/xdg"}, "/home/me/Library/Caches/polytok"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/polytok/Cache"),
    ],
)
def test_the_folder_of_the_cache(
    platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "POLYTOK_CACHE_DIR", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    assert named.cache_folder() == Path(expected)
    assert named.cache_folder("/given") == Path("/given")


# tiktoken's names


def test_the_names_are_those_of_tiktoken() -> None:
    constructors = pytest.importorskip("tiktoken_ext.openai_public").ENCODING_CONSTRUCTORS
    assert set(named.FILES) == set(constructors)


def test_gpt2_is_that_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    tiktoken_encodings = pytest.importorskip("tiktoken_ext.openai_public")
    requested_files: dict[str, str] = {}
    monkeypatch.setattr(
        tiktoken_encodings, "data_gym_to_mergeable_bpe_ranks", lambda **options: requested_files.update(options)
    )
    tiktoken_encodings.gpt2()
    assert named.FILES["gpt2"] == (
        named.PublishedFile(requested_files["vocab_bpe_file"], requested_files["vocab_bpe_hash"]),
        named.PublishedFile(requested_files["encoder_json_file"], requested_files["encoder_json_hash"]),
    )


def gpt2_files() -> tuple[bytes, bytes]:
    """Returns GPT-2's first files, byte for byte, from the same tokenizer in another format."""
    model = json.loads(real("huggingface/gpt2.json"))["model"]
    merges = (merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"])
    vocab = dict(sorted(model["vocab"].items(), key=lambda item: item[1]))
    return f"#version: 0.2\n{''.join(f'{merge}' + chr(10) for merge in merges)}".encode(), json.dumps(vocab).encode()


@pytest.fixture
def publisher(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Runs a server with all of tiktoken's files."""
    files = {}
    for name, listed_files in named.FILES.items():
        files[name] = tuple(
            named.PublishedFile(f"{server.address}/{file.address.rpartition('/')[2]}", file.sha256)
            for file in listed_files
        )
        if name != "gpt2":
            path = files[name][0].address.rpartition("/")[2]
            server.answers[f"/{path}"] = real(f"tiktoken/{path}")
    server.answers["/vocab.bpe"], server.answers["/encoder.json"] = gpt2_files()
    monkeypatch.setattr(named, "FILES", files)
    return server


TEXT = "Hello, naïve world! I'LL 12345 日本語\n\n  <|endoftext|>"


@pytest.mark.parametrize("name", named.FILES)
def test_every_name_loads(publisher: Server, tmp_path: Path, name: str) -> None:
    tokenizer = polytok.load(name, cache_dir=tmp_path)
    assert tokenizer.spec.origin.name == name
    assert tokenizer.decode(tokenizer.encode(TEXT, special="all")) == TEXT
    known_file = {row.name: row for row in KNOWN}.get(name)
    if known_file:
        assert tokenizer.special_tokens == dict(known_file.scheme.special_tokens)
    reloaded_tokenizer = polytok.load(name, cache_dir=tmp_path)
    assert reloaded_tokenizer.spec == tokenizer.spec
    assert len(publisher.asked) == (2 if name == "gpt2" else 1)


def test_gpt2_is_r50k(publisher: Server, tmp_path: Path) -> None:
    gpt2, r50k = (polytok.load(name, cache_dir=tmp_path) for name in ("gpt2", "r50k_base"))
    assert gpt2.spec.vocab == r50k.spec.vocab
    assert (gpt2.spec.special, gpt2.spec.split) == (r50k.spec.special, r50k.spec.split)


def test_two_names_of_one_file(publisher: Server, tmp_path: Path) -> None:
    assert polytok.load("o200k_harmony", cache_dir=tmp_path).piece_to_id("<|call|>") == 200012
    polytok.load("o200k_base", cache_dir=tmp_path)
    assert publisher.asked == ["GET /o200k_base.tiktoken"]


def test_options_of_a_name(publisher: Server, tmp_path: Path) -> None:
    tokenizer = polytok.load("cl100k_base", special_tokens={"<|mine|>": 100300}, cache_dir=tmp_path)
    assert (tokenizer.special_tokens, tokenizer.spec.origin.name) == ({"<|mine|>": 100300}, None)
    invalid_options: list[dict[str, Any]] = [{"format": "tiktoken"}, {"name": "x"}, {"sentencepiece_version": "0.2.1"}]
    for options in invalid_options:
        with pytest.raises(ArgumentError, match="cl100k_base"):
            polytok.load("cl100k_base", cache_dir=tmp_path, **options)


def test_the_cache_of_the_environment(publisher: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYTOK_CACHE_DIR", str(tmp_path))
    polytok.load("r50k_base")
    assert [path.name for path in tmp_path.iterdir()] == [named.FILES["r50k_base"][0].name]


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", "TIKTOKEN_RS_CACHE_DIR", ""])
def test_the_caches_of_other_packages_are_read(
    publisher: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", "TIKTOKEN_RS_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("POLYTOK_CACHE_DIR", str(tmp_path / "polytok"))
    monkeypatch.setenv(variable or "TIKTOKEN_ENCODINGS_BASE", str(tmp_path))
    file = named.FILES["r50k_base"][0]
    key = sha1(file.address.encode()).hexdigest() if variable else "r50k_base.tiktoken"
    (tmp_path / key).write_bytes(real("tiktoken/r50k_base.tiktoken"))
    assert polytok.load("r50k_base").encode("hello world") == [31373, 995]
    assert publisher.asked == [] and not (tmp_path / "polytok").exists()
    (tmp_path / key).write_bytes(b"another file")
    polytok.load("r50k_base")
    assert len(publisher.asked) == 1 and (tmp_path / key).read_bytes() == b"another file"


def test_a_name_is_not_a_path(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named, "FILES", {"cl100k_base": (publish_file(server, b"other"),)})
    monkeypatch.chdir(tmp_path)
    Path("cl100k_base").write_bytes(small_file("tekken"))
    assert polytok.load("./cl100k_base").spec.origin.format == "tekken"
    assert polytok.load(Path("cl100k_base")).spec.origin.format == "tekken"
    assert server.asked == []
    with pytest.raises(FetchError):
        polytok.load("cl100k_base", cache_dir=tmp_path)
    with pytest.raises(ArgumentError, match="cache_dir= has an effect only on names"):
        polytok.load("./cl100k_base", cache_dir=tmp_path)


# The command line


def command_line(*arguments: str, cache: Path) -> str:
    environment = {**os.environ, "POLYTOK_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "polytok", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, input="a b", env=environment).stdout


def test_fetched_files_are_found(
    publisher: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("POLYTOK_CACHE_DIR", "TIKTOKEN_CACHE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for _ in range(2):
        assert main(["fetch", "gpt-4o", "o200k_base"]) == 0
    path = tmp_path / "TIKTOKEN_CACHE_DIR" / sha1(named.FILES["o200k_base"][0].address.encode()).hexdigest()
    assert capsys.readouterr().out == f"o200k_base: {path}\no200k_base: {path} (was there)\n"
    assert polytok.load("gpt-4o").spec.origin.name == "o200k_base"
    assert main(["fetch", "o200k_harmony", "--cache-dir", str(tmp_path / "mine"), "--json"]) == 0
    assert [row["kept"] for row in json.loads(capsys.readouterr().out)] == [False]
    polytok.load("o200k_harmony", cache_dir=tmp_path / "mine")
    assert publisher.asked == ["GET /o200k_base.tiktoken"]
    assert main(["fetch", "o200k_bsae"]) == 2


def test_names_on_the_command_line(tmp_path: Path) -> None:
    file = named.FILES["r50k_base"][0]
    (tmp_path / file.name).write_bytes(real("tiktoken/r50k_base.tiktoken"))
    listed_names = dict(line.split(maxsplit=1) for line in command_line("info", "--names", cache=tmp_path).splitlines())
    models = {*model_names.VOCABULARY_OF_MODEL, *(f"{prefix}*" for prefix in model_names.VOCABULARY_OF_PREFIX)}
    assert listed_names.keys() == {"default", *named.FILES, *models, "hf:owner/name"}
    assert listed_names["gpt-4o"] == "the vocabulary of this model is o200k_base"
    assert listed_names["r50k_base"] == f"kept: {tmp_path / file.name}"
    assert listed_names["o200k_base"] == f"not fetched: {named.FILES['o200k_base'][0].address}"
    assert command_line("encode", "-m", "r50k_base", cache=tmp_path).split() == ["64", "275"]
    assert json.loads(command_line("info", "-m", "r50k_base", "--json", cache=tmp_path))["file"] == {
        "format": "tiktoken",
        "name": "r50k_base",
    }


# Models


def test_models_have_tiktokens_vocabularies() -> None:
    """Tests the table against the tiktoken release that it names."""
    version = re.search(r"tiktoken (\d+\.\d+)", model_names.__doc__ or "")
    assert version is not None
    if not importlib.metadata.version("tiktoken").startswith(version[1]):
        pytest.skip("the table is that of another release")
    assert dict(model_names.VOCABULARY_OF_MODEL) == tiktoken.model.MODEL_TO_ENCODING
    assert dict(model_names.VOCABULARY_OF_PREFIX) == tiktoken.model.MODEL_PREFIX_TO_ENCODING
    for name in (*tiktoken.model.MODEL_TO_ENCODING, *tiktoken.model.MODEL_PREFIX_TO_ENCODING):
        for model in (name, f"{name}x", f"{name}-2024"):
            try:
                expected = tiktoken.model.encoding_name_for_model(model)
            except KeyError:
                expected = None
            assert model_names.vocabulary_of_model(model) == expected, model


def test_a_model_is_loaded_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / named.FILES["cl100k_base"][0].name).write_bytes(real("tiktoken/cl100k_base.tiktoken"))
    for model in ("gpt-4", "gpt-3.5-turbo", "gpt-4-0613", "text-embedding-3-small"):
        assert polytok.load(model, cache_dir=tmp_path).spec.origin.name == "cl100k_base"
    monkeypatch.chdir(tmp_path)
    polytok.load("default").save(tmp_path / "gpt-4", "ptok")
    assert polytok.load("gpt-4").fingerprint == polytok.load("default").fingerprint


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("gpt4o", "no such file, and no vocabulary has this name; did you mean 'gpt-4o'\\? `polytok info --names`"),
        ("cl100k-base", "did you mean 'cl100k_base'"),
        ("deafult", "did you mean 'default'"),
        ("no-such", "no vocabulary has this name; `polytok info --names` lists the names"),
        ("meta/llama", "for a repository of the Hugging Face hub, write 'hf:meta/llama'"),
        ("no/model.json", "cannot read the tokenizer file: No such file"),
        ("./no-such", "cannot read the tokenizer file: No such file"),
    ],
)
def test_unknown_names(source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(polytok.FileError, match=message) as error_info:
        polytok.load(source)
    assert error_info.value.filename == source


@pytest.mark.parametrize("content", ['{"model": {}}', "a 0\nb 1\n"])
def test_the_content_of_a_file_is_not_a_path(content: str) -> None:
    with pytest.raises(ArgumentError, match=r"model= is the content of a file .* pass bytes, load\(text.encode\(\)\)"):
        polytok.load(content)


# The hub


COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = {
    "tekken.json": lambda: small_file("tekken"),
    "config.json": lambda: b"{}",
    "model.safetensors": lambda: b"weights",
    "params.json": lambda: b"{}",
    "deep/tekken.json": lambda: b"{}",
}


@pytest.fixture
def hub(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Runs a hub with one repository; its only commit is ``main`` and ``v1``."""
    huggingface_hub = pytest.importorskip("huggingface_hub")
    at_server = functools.partial(huggingface_hub.snapshot_download, endpoint=server.address, token=False)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", at_server)
    files = {name: make() for name, make in REPOSITORY.items()}
    api = "/api/models/owner/name"
    info = {"id": "owner/name", "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}
    tree = [{"type": "file", "path": name, "size": len(data), "oid": oid(data)} for name, data in files.items()]
    for revision in ("main", "v1", COMMIT):
        server.answers[f"{api}/revision/{revision}"] = json_answer(info)
    server.answers[f"{api}/tree/{COMMIT}"] = json_answer(tree)
    for name, data in files.items():
        server.answers[f"/owner/name/resolve/{COMMIT}/{name}"] = file_answer(data)
    return server


def oid(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data).hexdigest()


def json_answer(value: Any) -> Answer:
    return lambda handler: send(handler, json.dumps(value).encode(), Content_Type="application/json")


def file_answer(data: bytes) -> Answer:
    return lambda handler: send(handler, data, ETag=f'"{oid(data)}"', X_Repo_Commit=COMMIT)


def test_only_tokenizer_files_are_fetched(hub: Server, tmp_path: Path) -> None:
    folder = named.hub_folder("hf:owner/name", tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "tekken.json"]
    assert (folder / "tekken.json").read_bytes() == small_file("tekken")
    assert not any(
        name in requested_path for requested_path in hub.asked for name in ("weights", "params", "deep", "safetensors")
    )


@pytest.mark.parametrize("revision", ["v1", COMMIT])
def test_a_revision(hub: Server, tmp_path: Path, revision: str) -> None:
    assert named.hub_folder(f"hf:owner/name@{revision}", tmp_path).name == COMMIT


def test_a_cached_repository_needs_no_hub(hub: Server, tmp_path: Path) -> None:
    cached_folder = named.hub_folder("hf:owner/name", tmp_path)
    hub.answers.clear()
    assert named.hub_folder("hf:owner/name", tmp_path) == cached_folder


def test_loading_a_repository(hub: Server, tmp_path: Path) -> None:
    tokenizer = polytok.load("hf:owner/name", cache_dir=tmp_path)
    assert (tokenizer.spec.origin.format, tokenizer.spec.origin.name) == ("tekken", "hf:owner/name")
    assert tokenizer.encode("ab") == [261]


@pytest.mark.parametrize("name", ["hf:owner/name@v2", "hf:owner/other"])
def test_missing_repositories_and_files(hub: Server, tmp_path: Path, name: str) -> None:
    with pytest.raises(FetchError, match=r"(?s)cannot be fetched.*polytok\.load\('/path/to/folder'\)"):
        named.hub_folder(name, tmp_path)


def test_an_unreachable_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    with serving() as running:
        unreachable_download = functools.partial(
            huggingface_hub.snapshot_download, endpoint=running.address, token=False
        )
    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable_download)
    with pytest.raises(FetchError, match="'hf:owner/name' cannot be fetched"):
        named.hub_folder("hf:owner/name", tmp_path)


def test_a_missing_hub_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(FetchError, match=r"pip install 'polytok\[hub\]'"):
        polytok.load("hf:owner/name", cache_dir=tmp_path)


@pytest.mark.parametrize("name", ["hf:", "hf:@v1", "hf:owner/name@", "hf:a/b/c", "hf:../x", "hf:owner/na me"])
def test_malformed_repository_names(name: str, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    with pytest.raises(ArgumentError, match="hf:"):
        named.hub_folder(name, tmp_path)


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("gpt-4-o", "gpt-4o"),
        ("gpt-4-o-mini", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("o200k", "o200k_base"),
        ("tokeniser.json", "tokenizer.json"),
        ("tokenizer", "tokenizer.json"),
        ("sub/Tokeniser.json", "sub/tokenizer.json"),
    ],
)
def test_a_similar_name_or_file_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "tokenizer.json", tmp_path / "sub" / "tokenizer.json"):
        polytok.load("default").save(path)
    with pytest.raises(polytok.FileError, match=f"did you mean {meant!r}"):
        polytok.load(source)
    with pytest.raises(polytok.FileError, match="did you mean 'tokenizer.json'"):
        polytok.train(Path("tokenizers.json"), vocab_size=300)
