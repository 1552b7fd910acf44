"""Tests the local page's server: what it answers, and which requests it refuses."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok.web import PageServer
from polytok.web.answers import ANSWERS
from polytok.web.guard import MAX_TEXT_BYTES
from polytok.web.models import MAX_UPLOADS
from polytok.web.page import saved_page

TEXT = "Hi 👩‍🚀, שלום\n吾"


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    tokenizer = polytok.load("default")
    latin = polytok.train(["to be or not to be"], kind="longest-match", vocab_size=259, min_count=2)
    with PageServer([("default", tokenizer), ("small", latin)]) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


@pytest.fixture
def folder_with_template(tmp_path: Path) -> Path:
    """A folder with a small tokenizer and a chat template."""
    pytest.importorskip("jinja2")
    polytok.train(["to be or not to be"] * 3, vocab_size=262).save(tmp_path / "tokenizer.json")
    messages = "{% for m in messages %}({{ m.role }}) {{ m.content }}\n{% endfor %}"
    prompt = "{% if add_generation_prompt %}(me){% endif %}"
    (tmp_path / "chat_template.jinja").write_text(messages + prompt)
    return tmp_path


def request(
    server: PageServer, method: str, path: str, body: bytes | None = None, token: str | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    address = f"/{server.guard.token if token is None else token}/{path}"
    connection.request(method, address, body, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    return response.status, dict(response.headers), response.read()


def ask(server: PageServer, name: str, **values: Any) -> Any:
    status, _, body = request(server, "POST", f"api/{name}", json.dumps(values).encode())
    assert status == (400 if b'"error"' in body[:9] else 200)
    answer = json.loads(body)
    if "results" in answer:
        answer["results"] = [unpacked(result) for result in answer["results"]]
    return unpacked(answer)


def unpacked(answer: Any) -> Any:
    """The columns of an answer, from base64 to numbers."""
    columns = [
        name for name in ("ids", "starts", "ends", "origins", "fragment_starts", "fragment_ends") if name in answer
    ]
    return {**answer, **{name: list(memoryview(b64decode(answer[name])).cast("i")) for name in columns}}


def units(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("latin-1")


# The page and its files


def test_the_page_loads_only_files_of_the_server(server: PageServer) -> None:
    status, headers, body = request(server, "GET", "")
    assert status == 200 and b"<h1>polytok</h1>" in body
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    names = re.findall(rb'(?:src|href)="([^"]+)"', body)
    assert names and all(request(server, "GET", name.decode())[0] == 200 for name in names)
    assert not re.search(rb"https?://|<script>| on\w+=| style=", body)


def test_saved_files_load_nothing_and_close_no_script() -> None:
    html = saved_page({"title": "<b>", "text": "</script><script>alert(1)</script><!--", "results": []})
    assert html.count("</script>") == html.count("<script") == 6
    assert "<b>" not in html and "alert(1)</script>" not in html
    assert not re.search(r'(?:src|href)="', html)
    data = html.split('id="content">')[1].split("</script>")[0]
    assert json.loads(data)["text"] == "</script><script>alert(1)</script><!--"


# Answers


@pytest.mark.parametrize("text", [TEXT, "", "a\ud83d b", "é" * 1000])
def test_tokens_have_places_in_utf_16(server: PageServer, text: str) -> None:
    tokenizer = polytok.load("default")
    [result] = ask(server, "encode", text=text, models=["m1"])["results"]
    assert result["ids"] == tokenizer.encode(text)
    whole = units(text)
    covered = "".join(whole[2 * a : 2 * b] for a, b in zip(result["starts"], result["ends"], strict=True))
    assert covered == whole
    assert result["bytes"] == len(text.encode("utf-8", "surrogatepass")) and result["characters"] == len(text)
    for row, piece in enumerate(tokenizer.ids_to_pieces(result["ids"])):
        a, b = result["starts"][row], result["ends"][row]
        if str(row) not in result["labels"]:
            assert whole[2 * a : 2 * b] == units(piece.decode("utf-8", "surrogatepass"))


def test_special_tokens_count_only_if_asked(server: PageServer) -> None:
    text = "a<|endoftext|>"
    [plain] = ask(server, "encode", text=text, models=["m1"])["results"]
    [special] = ask(server, "encode", text=text, models=["m1"], special=True)["results"]
    assert plain["special"] == [] and special["special"] == [1] and special["ids"] == [97, 32767]


def test_ids_become_text_with_places(server: PageServer) -> None:
    ids = polytok.load("default").encode(TEXT)
    result, other = ask(server, "decode", models=["m1", "m2"], ids=ids)["results"]
    assert result["text"] == TEXT and result["canonical"] is True and result["ids"] == ids
    assert result["ends"][-1] == len(units(TEXT)) // 2
    assert str(max(ids)) in other["error"] or "id" in other["error"]
    assert ask(server, "decode", models=["m1"], ids=["a"])["error"].startswith("ids are whole numbers")


def test_a_wrong_text_or_model_is_an_error_of_its_column(server: PageServer) -> None:
    results = ask(server, "encode", text="日本", models=["m1", "m99", "m2"])["results"]
    assert [("error" in result) for result in results] == [False, True, False]
    assert "drop its file" in results[1]["error"]


def test_fragments_of_characters_have_their_offsets_in_bytes(server: PageServer) -> None:
    text = "é𓀀ꙮ👩‍🚀"
    spans = polytok.load("default").spans(text)
    [result] = ask(server, "encode", text=text, models=["m1"])["results"]
    rows = [int(row) for row in result["labels"]]
    assert len(rows) > 2
    assert result["fragment_starts"] == spans.byte_starts[rows].tolist()
    assert result["fragment_ends"] == spans.byte_ends[rows].tolist()


def test_conversations_are_encoded_with_the_origin_of_each_token(folder_with_template: Path) -> None:
    tokenizer = polytok.load(folder_with_template)
    messages = [{"role": "user", "content": "to be"}, {"role": "assistant", "content": "not to be"}]
    with PageServer([("small", tokenizer)]) as server:
        models = server.models
        for has_prompt in (False, True):
            request = {"messages": json.dumps(messages), "models": ["m1"], "prompt": has_prompt}
            result = unpacked(ANSWERS["encode"](models, request)["results"][0])
            encoding = tokenizer.encode_chat(messages, add_generation_prompt=has_prompt)
            assert result["text"] == encoding.parts.text and result["roles"] == ["user", "assistant"]
            assert result["ids"] == list(encoding.ids)
            assert result["origins"] == list(encoding.message_ids)
            assert {-1, 0, 1} == set(result["origins"])


def test_a_conversation_that_cannot_be_rendered_says_why(server: PageServer) -> None:
    messages = '[{"role": "user", "content": "Hi"}]'
    [result] = ask(server, "encode", messages=messages, models=["m1"])["results"]
    assert "has no chat template: start the page" in result["error"]
    [result] = ask(server, "encode", messages="no JSON", models=["m1"])["results"]
    assert "JSON list" in result["error"]


def test_files_are_loaded_and_forgotten(server: PageServer, tmp_path: Any) -> None:
    path = tmp_path / "x.json"
    polytok.load("default").save(path, to="huggingface")
    keys = []
    for _ in range(MAX_UPLOADS + 1):
        status, _, body = request(server, "POST", "api/upload?name=x.json", path.read_bytes())
        assert status == 200
        keys.append(json.loads(body)["key"])
    listed = [model["key"] for model in ask(server, "models")["models"]]
    assert listed == ["m1", "m2", *keys[1:]]
    [result] = ask(server, "encode", text="a b", models=[keys[-1]])["results"]
    assert result["ids"] == polytok.load("default").encode("a b")
    for key in keys:
        ask(server, "remove", model=key)
    ask(server, "remove", model="m1")
    assert [model["key"] for model in ask(server, "models")["models"]] == ["m1", "m2"]
    status, _, body = request(server, "POST", "api/upload?name=x", b"no tokenizer")
    assert status == 400 and "error" in json.loads(body)


def test_the_doctor_answers(server: PageServer) -> None:
    assert ask(server, "doctor", model="m1")["well"] is True


# Refusals


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "[::1]:80", ""])
def test_other_hosts_are_refused(server: PageServer, host: str) -> None:
    assert request(server, "GET", "", Host=host)[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_other_origins_are_refused(server: PageServer, origin: str) -> None:
    assert request(server, "POST", "api/models", b"{}", Origin=origin)[0] == 403


def test_the_own_origin_is_answered(server: PageServer) -> None:
    for host in server.guard.hosts:
        assert request(server, "POST", "api/models", b"{}", Origin=f"http://{host}", Host=host)[0] == 200


@pytest.mark.parametrize("token", ["", "x", "%C3%BC", "%00"])
def test_without_the_token_nothing_is_answered(server: PageServer, token: str) -> None:
    for method in ("GET", "POST"):
        assert request(server, method, "", b"{}" if method == "POST" else None, token=token)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        *(
            "assets/../server.py",
            "assets/..%2fserver.py",
            "assets//etc/passwd",
            "assets/",
            "../",
            "assets/page.html/..",
        ),
        *("assets/%2e%2e/%2e%2e/etc/passwd", "assets/C:\\windows", "api/models", "server.py", "assets/style.css%00.js"),
    ],
)
def test_no_path_leads_to_another_file(server: PageServer, path: str) -> None:
    assert request(server, "GET", path)[0] == 404


def test_long_bodies_are_refused_before_they_are_sent(server: PageServer) -> None:
    for length in ("1000000000", str(MAX_TEXT_BYTES + 1), "9" * 5000):
        assert raw(server, f"Content-Length: {length}\r\n").startswith(b"HTTP/1.1 413 ")
    for header in ("", "Content-Length: -1\r\n", "Content-Length: x\r\n", "Transfer-Encoding: chunked\r\n"):
        assert raw(server, header).startswith(b"HTTP/1.1 411 ")


def raw(server: PageServer, headers: str) -> bytes:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        start = f"POST /{server.guard.token}/api/encode HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
        connection.sendall(f"{start}{headers}\r\n".encode())
        return connection.recv(100)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"1", b"{", b"[" * 100_000, b'{"text":1}', b'{"models":1,"text":""}', b"\xff"]
)
def test_other_bodies_are_errors(server: PageServer, body: bytes) -> None:
    status, _, answer = request(server, "POST", "api/encode", body)
    assert status == 400 and "error" in json.loads(answer)
    assert ask(server, "models")["models"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_are_refused(server: PageServer, method: str) -> None:
    assert request(server, method, "")[0] == 501


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_command_serves_until_it_is_interrupted(options: list[str]) -> None:
    command = [sys.executable, "-m", "polytok", "web", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    assert process.stdout
    lines = process.stdout.readline() + process.stdout.readline()
    address = re.findall(r"http://[^\s\"]+", lines.decode())[0]
    host, _, path = address.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.request("GET", f"/{path}")
    assert connection.getresponse().status == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert process.communicate()[1] == b""


def test_a_taken_port_is_an_error(server: PageServer) -> None:
    command = [sys.executable, "-m", "polytok", "web", "--port", str(server.server_port)]
    result = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert result.returncode == 2 and b"--port" in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and only glibc gives memory back when asked")
def test_the_memory_of_removed_files_is_given_back() -> None:
    """Tests that files that come and go leave the memory about where it was; run in a process of its own."""
    script = """
import sys, polytok
from polytok.web.models import Models
from polytok.web.answers import encode
models = Models([])
data = open(sys.argv[1], "rb").read()
sizes = []
for _ in range(3):
    keys = [models.upload("x", data).key for _ in range(10)]
    encode(models, {"text": "to be or not " * 1000, "models": keys})
    for key in keys:
        models.remove(key)
    sizes.append(int(open("/proc/self/status").read().split("VmRSS:")[1].split()[0]) >> 10)
print(*sizes)
"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        polytok.load("default").save(path)
        command = [sys.executable, "-c", script, str(path)]
        first, _, last = map(int, subprocess.run(command, capture_output=True, check=True, timeout=120).stdout.split())
    assert last < first + 30
