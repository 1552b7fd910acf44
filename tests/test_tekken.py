"""Tests tekken.json: contents, layout, versions, and errors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from format_samples import rank_spec, real, small_file, tekken_spec
from polytok import Tokenizer, conversion, formats
from polytok.errors import FormatError
from polytok.spec import PatternSplit, Spec, SpecialToken, Template

REAL = "tekken/mistral2410_rebuilt.json"


def document(**changes: Any) -> dict[str, Any]:
    """Returns the small file as parsed JSON, with some changed top-level keys."""
    return {**json.loads(small_file("tekken")), **changes}


def config(**changes: Any) -> dict[str, Any]:
    return {**document()["config"], **changes}


def read(value: dict[str, Any]) -> Spec:
    return formats.read(json.dumps(value).encode(), format="tekken")


def entry(rank: int, text: bytes, shown_text: str | None) -> dict[str, Any]:
    return {"rank": rank, "token_bytes": base64.b64encode(text).decode(), "token_str": shown_text}


# Contents


def test_ids_are_ranks_after_the_special_tokens() -> None:
    spec = formats.read(small_file("tekken"))
    assert replace(spec, origin=tekken_spec().origin, extra={}) == tekken_spec()
    tokenizer = Tokenizer(spec)
    assert tokenizer.encode("ab<s>") == [261, *(byte + 5 for byte in b"<s>")]
    assert tokenizer.encode("ab<s>", special="all", add_special=True) == [1, 261, 1]
    assert tokenizer.decode([1, 261, 4]) == "<s>ab<SPECIAL_4>"
    assert tokenizer.decode([1, 261, 4], skip_special=True) == "ab"


def test_the_real_file() -> None:
    spec = formats.read(real(REAL))
    assert (len(spec.special), len(spec.vocab), spec.vocab.ids[0]) == (1000, 130072, 1000)
    assert spec.special[17] == SpecialToken("[SYSTEM_PROMPT]", 17)
    assert spec.special[20].text == "<SPECIAL_20>"
    assert dict(spec.names) == {"unk": 0, "bos": 1, "eos": 2, "pad": 11}
    assert spec.post == Template.around(before=(1,))


def test_ids_agree_with_tiktoken() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    data = json.loads(real(REAL))
    ranks = {base64.b64decode(row["token_bytes"]): row["rank"] for row in data["vocab"]}
    reference = tiktoken.Encoding("t", pat_str=data["config"]["pattern"], mergeable_ranks=ranks, special_tokens={})
    tokenizer = Tokenizer(formats.read(real(REAL)))
    for text in (
        "",
        "Hello [INST] world</s>",
        "naïve ÉtÉ 12345\r\n\n  日本語 🤦🏼‍♂️",
        "\t\u0085 \u2028x/\n",
        "a" * 5000,
    ):
        assert tokenizer.encode(text) == [rank + 1000 for rank in reference.encode(text)]


def test_entries_after_the_used_ones_are_stored() -> None:
    value = document()
    value["vocab"] += [entry(len(value["vocab"]), b"abab", "abab"), {"rank": None}]
    data = json.dumps(value).encode()
    spec = formats.read(data)
    assert len(spec.vocab) == len(tekken_spec().vocab)
    assert conversion.write(spec, "tekken", strict=True).data == data
    shorter_spec = replace(spec, special=spec.special[:4], vocab=replace(spec.vocab, ids=spec.vocab.ids - 1))
    written_file = conversion.write(shorter_spec, "tekken")
    assert [loss.split(":")[0] for loss in written_file.losses] == ["extra"]
    assert len(json.loads(written_file.data)["vocab"]) == len(spec.vocab)


def test_other_fields_are_stored() -> None:
    value = document(image={"image_patch_size": 16, "special_ids": {"img": 10}}, audio={"sampling_rate": 16000.5})
    value["special_tokens"][3]["is_control"] = False
    spec = read(value)
    assert json.loads(conversion.write(spec, "tekken", strict=True).data) == value


# Layout


LAYOUTS: list[dict[str, Any]] = [
    {},
    {"ensure_ascii": False},
    {"indent": 2},
    {"indent": 4, "ensure_ascii": False},
    {"indent": "\t"},
    {"separators": (",", ":")},
    {"separators": (",", ":"), "ensure_ascii": False},
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("end", ["", "\n"])
def test_files_by_json_dumps_are_written_byte_for_byte(layout: dict[str, Any], end: str) -> None:
    value = document(image={"a": {}, "b": [1, 2.5, [], {"c": None}]})
    value["vocab"][97]["token_str"] = None
    value["vocab"][258]["token_str"] = "\ufffd"
    data = (json.dumps(value, **layout) + end).encode()
    assert conversion.write(formats.read(data), "tekken", strict=True).data == data


def test_other_layouts_are_written_as_equal_json() -> None:
    data = b"\n " + small_file("tekken").replace(b'"rank"', b'"r\\u0061nk" ').replace(b',"token_', b' ,\r\n"token_')
    spec = formats.read(data, format="tekken")
    assert json.loads(conversion.write(spec, "tekken", strict=True).data) == json.loads(data)


# Versions


@pytest.mark.parametrize("version", ["v1", "v2", "v3", "v7", "v11", "v13", "v15"])
def test_versions(version: str) -> None:
    value = document(config=config(version=version))
    assert json.loads(conversion.write(read(value), "tekken", strict=True).data) == value


def test_old_files_need_no_special_tokens() -> None:
    value = document(config=config(version="v3", default_num_special_tokens=30, default_vocab_size=290))
    del value["special_tokens"]
    spec = read(value)
    assert [token.text for token in spec.special[17:22]] == [
        *("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]", "<SPECIAL_20>", "<SPECIAL_21>")
    ]
    assert "special_tokens" not in json.loads(conversion.write(spec, "tekken", strict=True).data)
    renamed_spec = replace(
        spec, special=(SpecialToken("<a>", 0), *spec.special[1:]), names={"bos": 1, "eos": 2, "pad": 11}
    )
    reread_spec = formats.read(conversion.write(renamed_spec, "tekken").data)
    assert reread_spec.special == renamed_spec.special


# Errors


def without_key(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name != key}


WRONG: list[tuple[Callable[[], dict[str, Any]], str]] = [
    (lambda: document(config=config(version="v4")), "the version is 'v4'; known are v1, v2"),
    (lambda: document(config=without_key(config(), "version")), "the version is None"),
    (lambda: without_key(document(config=config(version="v11")), "special_tokens"), "v11 must list its special_tokens"),
    (lambda: document(config=config(version="v13"), multimodal={"a": 1}), '"multimodal" is called "image"'),
    (lambda: document(model_settings_builder={"a": 1}), 'cannot have a "model_settings_builder"'),
    (lambda: document(config=[]), '"config" is not an object with a "pattern"'),
    (lambda: document(config=config(pattern=None)), '"config" is not an object with a "pattern"'),
    (lambda: document(config=config(pattern="\ud800")), "half of a surrogate pair"),
    (lambda: document(config=config(default_vocab_size=True)), "default_vocab_size is True"),
    (lambda: document(config=config(default_vocab_size=2**40)), "default_vocab_size is 1099511627776"),
    (lambda: document(config=config(default_vocab_size=5)), "default_vocab_size must be greater than 5"),
    (
        lambda: document(config=config(default_vocab_size=300)),
        "vocab: 260 entries, but the configuration requires 295",
    ),
    (lambda: document(config=config(default_num_special_tokens=10**9)), "not a number from 0 to 65536"),
    (lambda: document(config=config(default_num_special_tokens=3)), "5 special tokens, but default_num_special_tokens"),
    (lambda: document(special_tokens=[{"rank": 1, "token_str": "a"}]), "special_tokens: entry 0 is not an object"),
    (lambda: document(special_tokens={}), "special_tokens is not a list"),
    (lambda: document(special_tokens=[{"rank": 0, "token_str": "<SPECIAL_3>"}]), "special token 3 is '<SPECIAL_3>'"),
    (lambda: without_key(document(), "vocab"), "missing field `vocab`"),
    (lambda: document(vocab=[entry(0, b"b", "b")]), "the first 256 entries must be the 256 single bytes"),
    (lambda: document(vocab=document()["vocab"][1:]), "vocab: entry 0: the rank is 1"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_files_are_errors(make: Callable[[], dict[str, Any]], message: str) -> None:
    with pytest.raises(FormatError) as error_info:
        read(make())
    assert str(error_info.value).startswith("tekken: ") and message in str(error_info.value)


def test_deeply_nested_json_is_an_error() -> None:
    deep = "[" * 10**6 + "]" * 10**6
    data = small_file("tekken").replace(b'{"config"', f'{{"image":{deep},"config"'.encode())
    with pytest.raises(FormatError, match="nested too deeply"):
        formats.read(data)


@pytest.mark.parametrize(
    "data", [b"{}", b'{"vocab": {"token_bytes": 1}, "merges": []}', b'{"vocab": [["a", 0.0]]}', b'["rank"]']
)
def test_other_json_is_not_tekken(data: bytes) -> None:
    with pytest.raises(FormatError, match="no format recognizes"):
        formats.read(data)


# Writing


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (rank_spec(), "tekken splits by exactly one pattern"),
        (rank_spec(split=(PatternSplit("x"),)), "row 257 has 300"),
        (tekken_spec(special=tekken_spec().special[1:]), "the first ids, without gaps"),
        (tekken_spec(vocab=replace(tekken_spec().vocab, blob=tekken_spec().vocab.blob[::-1])), "the 256 bytes first"),
    ],
)
def test_what_tekken_cannot_express(spec: Spec, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        conversion.write(spec, "tekken")
