"""Tests ``polytok chat``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import polytok
from cli_process import run

pytest.importorskip("jinja2")

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|endoftext|>{% endfor %}{{ tools }}{{ documents }}"
HI = [{"role": "user", "content": "Hi <|endoftext|>\n"}]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hi.json").write_text(json.dumps(HI))
    (tmp_path / "chat.jinja").write_text(TEMPLATE)
    return tmp_path


def test_a_pipe_gets_the_text() -> None:
    text = b"<|user|>Hi <|endoftext|>\n<|endoftext|>NoneNone\n"
    assert run("chat", "hi.json", "--template", "chat.jinja") == text
    assert run("chat", "--template", "chat.jinja", stdin=json.dumps(HI).encode()) == text
    assert run("chat", "-", "--template", "chat.jinja", stdin=json.dumps(HI).encode()) == text


def test_people_see_who_wrote_what() -> None:
    lines = run("chat", "hi.json", "--template", "chat.jinja", "--color", "always").decode().splitlines()
    assert [line[:9] for line in lines] == ["template ", "message 0", "template ", "input    "]
    assert "Hi␣<|endoftext|>\\n" in lines[1]
    assert all(line.count("\x1b[") == 2 for line in lines)


def test_ids_and_json() -> None:
    encoding = polytok.load("default").encode_chat(HI, template=TEMPLATE)
    ids = run("chat", "hi.json", "--template", "chat.jinja", "--ids").decode()
    assert ids == " ".join(map(str, encoding.ids)) + "\n"
    (value,) = json.loads(run("chat", "hi.json", "--template", "chat.jinja", "--json"))
    assert value["ids"] == encoding.ids and value["message_ids"] == encoding.message_ids.tolist()
    assert value["parts"][1] == {"text": "Hi <|endoftext|>\n", "message": 0}
    assert "".join(part["text"] for part in value["parts"]) == value["text"]
    allowed = run("chat", "hi.json", "--template", "chat.jinja", "--ids", "--special-in-messages", "allow").decode()
    assert allowed.split().count("32767") == ids.split().count("32767") + 1
    error = run("chat", "hi.json", "--template", "chat.jinja", "--special-in-messages", "error", code=2)
    assert error == b""


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (json.dumps({"messages": HI}), 1),
        (json.dumps({"messages": HI, "tools": [{"name": "f"}], "documents": None}), 1),
        (json.dumps([HI, HI]), 2),
        (json.dumps([{"messages": HI}, HI]), 2),
        (f"{json.dumps(HI)}\n\n{json.dumps({'messages': HI})}\n", 2),
    ],
)
def test_forms_of_conversations(folder: Path, content: str, count: int) -> None:
    (folder / "a.json").write_text(content)
    values = json.loads(run("chat", "a.json", "--template", "chat.jinja", "--json"))
    assert len(values) == count
    assert ("'name': 'f'" in values[0]["text"]) == ("tools" in content)


def test_tools_and_documents(folder: Path) -> None:
    (folder / "tools.json").write_text('[{"name": "f"}]')
    (folder / "documents.json").write_text('[{"title": "T"}]')
    arguments = ("--tools", "tools.json", "--documents", "documents.json", "--add-generation-prompt")
    text = run("chat", "hi.json", "--template", "chat.jinja", *arguments)
    assert b"[{'name': 'f'}][{'title': 'T'}]" in text
    text = run("chat", "hi.json", "--template", "chat.jinja", "--continue-final-message")
    assert text == b"<|user|>Hi <|endoftext|>\n\n"


def test_the_template_of_the_tokenizer(folder: Path) -> None:
    (folder / "model").mkdir()
    polytok.load("default").save(folder / "model" / "tokenizer.json")
    (folder / "model" / "chat_template.jinja").write_text("own {{ messages[0].role }}")
    (folder / "model" / "additional_chat_templates").mkdir()
    (folder / "model" / "additional_chat_templates" / "short.jinja").write_text("short")
    assert run("chat", "hi.json", "-m", "model") == b"own user\n"
    assert run("chat", "hi.json", "-m", "model", "--template", "short") == b"short\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "neither JSON nor JSON lines"),
        (f"{json.dumps(HI)}\n[", "a.json: this is neither JSON nor JSON lines: line 2"),
        (f"{json.dumps(HI)}\n[]", "a.json: line 2: messages=[] is"),
        ("5", "neither a list of messages"),
        ('["a"]', "messages[0]"),
        ("[]", "empty conversation"),
        ("", ""),
    ],
)
def test_errors(folder: Path, capfd: pytest.CaptureFixture[str], content: str, message: str) -> None:
    from polytok.cli import main

    (folder / "a.json").write_text(content)
    code = main(["chat", "a.json", "--template", "chat.jinja"])
    assert code == (2 if content else 0)
    assert message in capfd.readouterr().err
