"""Tests tokenizer.json: every component is read, written and compared with ``tokenizers``; hostile files."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

tokenizers = pytest.importorskip("tokenizers")

import texts  # noqa: E402
from format_samples import SMALL, VOCAB, real  # noqa: E402
from huggingface_samples import SAMPLES, sample  # noqa: E402
from polytok import Tokenizer, conversion, formats  # noqa: E402
from polytok.errors import EncodeError, FormatError  # noqa: E402
from polytok.spec import Bpe, Kind, PatternSplit, Spec  # noqa: E402
from texts import VocabularyPieces  # noqa: E402

FILES = sorted(path.name for path in (VOCAB / "huggingface").glob("*.json"))
SMALL_TEXTS, REAL_TEXTS = 150, 400
ALPHABET = [
    *("a", "b", "c", "ab", "abc", "e\u0301", "é", "世", "界", "世界", "▁", " ", "  ", "\n", "\t", "\u00a0", "\u3000"),
    *("1", "12", "٣", "½", ".", ",", "!", "…", "'s", "'S", "A", "AB", "ÉA", "éa", "ÉAb", "x", "😀", "\u0000", "\u200b"),
    *("<x>", "<x>y", "<mask>", "[R]", "[r]", "<unk>", "[UNK]", "Ġ", "Ã©", "か", "カ", "ー", "й", "\ufffd", "##b", "_"),
    *("ﬁ", "Ａ", "①", "\u00ad", "\u0085", "ǅ", "İ", "ß", "\U00011de0", "\u061d"),
]


def small_texts(seed: str) -> list[str]:
    rng = random.Random(seed)
    random_strings = ["".join(rng.choices(ALPHABET, k=rng.randrange(1, 9))) for _ in range(SMALL_TEXTS)]
    return ["", " ", *ALPHABET, *random_strings]


def real_texts(spec: Spec) -> list[str]:
    words = VocabularyPieces(
        [piece for piece in spec.vocab.pieces() if piece], [token.text.encode() for token in spec.special]
    )
    return [text.decode() for text in texts.generate_texts(7, REAL_TEXTS, words)]


def check_equal(reference: Any, tokenizer: Tokenizer, text: str) -> None:
    """Compares ids with and without special tokens, spans, and the decoded text."""
    try:
        expected = reference.encode(text, add_special_tokens=False)
    except Exception:
        with pytest.raises(EncodeError):
            tokenizer.encode(text, special="all")
        return
    assert tokenizer.encode(text, special="all") == expected.ids, text
    tokens = tokenizer.tokens(text, special="all")
    assert [(token.start, token.end) for token in tokens] == expected.offsets, (text, expected.tokens)
    assert tokenizer.encode(text, special="all", add_special=True) == reference.encode(text).ids, text
    for skip in (False, True):
        decoded_text = reference.decode(expected.ids, skip_special_tokens=skip)
        assert tokenizer.decode(expected.ids, skip_special=skip) == decoded_text, (text, expected.tokens)


# Components


@pytest.mark.parametrize(("kind", "name"), SAMPLES)
def test_a_component_encodes_as_tokenizers_does(kind: str, name: str) -> None:
    reference = sample(kind, name)
    tokenizer = Tokenizer(formats.read(reference.to_str().encode()))
    for text in small_texts(name):
        check_equal(reference, tokenizer, text)


@pytest.mark.parametrize(("kind", "name"), SAMPLES)
def test_a_component_is_written_unchanged(kind: str, name: str) -> None:
    data = sample(kind, name).to_str().encode()
    spec = formats.read(data)
    written_file = conversion.write(spec, "huggingface", strict=True)
    assert json.loads(written_file.data) == json.loads(data)
    assert formats.read(written_file.data) == spec


@pytest.mark.parametrize(("kind", "name"), SAMPLES)
def test_a_component_is_written_from_its_spec(kind: str, name: str) -> None:
    reference = sample(kind, name)
    spec = replace(formats.read(reference.to_str().encode()), extra={})
    written_file = conversion.write(spec, "huggingface", strict=True)
    assert replace(formats.read(written_file.data), extra={}) == spec
    reloaded_reference = tokenizers.Tokenizer.from_str(written_file.data.decode())
    for text in small_texts(name)[:80]:
        try:
            expected = reference.encode(text)
        except Exception:
            continue
        actual = reloaded_reference.encode(text)
        assert (actual.ids, actual.offsets) == (expected.ids, expected.offsets), text


# Real files


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_is_written_unchanged(name: str) -> None:
    data = real(f"huggingface/{name}")
    spec = formats.read(data)
    assert spec.origin.format == "huggingface"
    written_file = conversion.write(spec, "huggingface", strict=True)
    assert json.loads(written_file.data) == json.loads(data)
    assert formats.read(written_file.data) == spec


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_encodes_as_tokenizers_does(name: str) -> None:
    data = real(f"huggingface/{name}")
    reference = tokenizers.Tokenizer.from_str(data.decode())
    spec = formats.read(data)
    tokenizer = Tokenizer(spec)
    for text in real_texts(spec):
        check_equal(reference, tokenizer, text)


@pytest.mark.parametrize("name", FILES)
def test_a_rewritten_real_file_encodes_as_before(name: str) -> None:
    data = real(f"huggingface/{name}")
    reference = tokenizers.Tokenizer.from_str(data.decode())
    spec = replace(formats.read(data), extra={})
    reloaded_reference = tokenizers.Tokenizer.from_str(conversion.write(spec, "huggingface", strict=True).data.decode())
    for text in real_texts(spec)[:100]:
        assert reloaded_reference.encode(text).ids == reference.encode(text).ids
        assert reloaded_reference.encode(text).offsets == reference.encode(text).offsets


# How components are read


def document(**members: Any) -> dict[str, Any]:
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    return {"version": "1.0", "model": model, **members}


def read_document(**members: Any) -> Spec:
    return formats.read(json.dumps(document(**members)).encode(), format="huggingface")


def added_token(content: str, id: int, **flags: bool) -> dict[str, Any]:
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": id, "content": content, **dict.fromkeys(names, False), **flags}


def test_byte_level_bpe_is_over_bytes() -> None:
    spec = formats.read(sample("pre_tokenizer", "byte level, space").to_str().encode())
    assert isinstance(spec.model, Bpe) and spec.model.symbols == "bytes"
    rows = dict(zip(spec.vocab.pieces(), spec.vocab.kinds.tolist(), strict=True))
    assert rows[b" ab"] == Kind.NORMAL
    assert rows["世".encode()] == rows["▁a".encode()] == Kind.UNUSED
    assert spec.vocab.pieces().count(b" ") == 2
    assert [step.kind for step in spec.split] == ["piece_space", "pattern"]


def test_ids_of_added_tokens_are_those_of_tokenizers() -> None:
    added_tokens = [
        added_token("x", 9),
        added_token("a", 7, special=True),
        added_token("", 8),
        added_token("y", 4),
        added_token("x", 9, rstrip=True),
    ]
    spec = read_document(added_tokens=added_tokens)
    assert [(token.text, token.id, token.rstrip) for token in spec.special] == [
        ("x", 3, True),
        ("a", 0, False),
        ("y", 4, False),
    ]
    reference = tokenizers.Tokenizer.from_str(json.dumps(document(added_tokens=added_tokens)))
    assert all(reference.token_to_id(token.text) == token.id for token in spec.special)
    assert "'x' has the id 9 in the file, but 3 in tokenizers" in spec.extra["huggingface"]["warnings"][0]
    assert conversion.write(spec, "huggingface").losses == ()


def test_ids_of_added_tokens_if_the_vocabulary_has_gaps() -> None:
    added_tokens = [added_token("a", 0), added_token("y", 1), added_token("z", 2)]
    model = {"type": "BPE", "vocab": {"a": 700, "b": 3}, "merges": []}
    spec = read_document(added_tokens=added_tokens, model=model)
    reference = tokenizers.Tokenizer.from_str(json.dumps(document(added_tokens=added_tokens, model=model)))
    assert [(token.text, token.id) for token in spec.special] == [("a", 700), ("y", 2), ("z", 3)]
    assert all(reference.token_to_id(token.text) == token.id for token in spec.special)


def test_a_special_token_is_skipped_by_its_normalized_text() -> None:
    added_tokens = [
        added_token("AB", 3, special=True, normalized=True),
        added_token("a", 0, special=True),
        added_token("A", 4, normalized=True),
    ]
    data = json.dumps(document(added_tokens=added_tokens, normalizer={"type": "Lowercase"})).encode()
    reference, tokenizer = tokenizers.Tokenizer.from_buffer(data), Tokenizer(formats.read(data))
    for skip in (False, True):
        for id in (0, 1, 2, 3, 4):
            assert tokenizer.decode([id], skip_special=skip) == reference.decode([id], skip_special_tokens=skip)


def test_an_entry_that_is_not_bytes_decodes_to_its_text() -> None:
    document = json.loads(sample("pre_tokenizer", "byte level").to_str())
    id = document["model"]["vocab"]["世"]
    for decoder in (None, {"type": "Fuse"}, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}):
        data = json.dumps({**document, "decoder": decoder}).encode()
        tokenizer, reference = Tokenizer(formats.read(data)), tokenizers.Tokenizer.from_buffer(data)
        assert tokenizer.decode([id, id]) == reference.decode([id, id])


def test_a_piece_that_fails_before_many_others() -> None:
    reference = sample("model", "word level, unk is not an entry")
    reference.pre_tokenizer = tokenizers.pre_tokenizers.Digits(individual_digits=True)
    tokenizer = Tokenizer(formats.read(reference.to_str().encode()))
    with pytest.raises(EncodeError):
        tokenizer.tokens("9" * 300)
    with pytest.raises(EncodeError):
        tokenizer.encode("9" * 300)


UNTAGGED: list[tuple[str, Any]] = [
    ("normalizer", {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}),
    ("normalizer", {"strip_left": True, "strip_right": False}),
    ("normalizer", {"normalizers": [{"prepend": "x"}, {"pattern": {"String": "a"}, "content": "b"}]}),
    ("decoder", {"suffix": "b"}),
    ("decoder", {"type": "BPE", "suffix": "b"}),
    ("decoder", {"prefix": "a", "cleanup": True}),
    ("decoder", {"pad_token": "a", "word_delimiter_token": "b", "cleanup": True}),
    ("decoder", {"content": "a", "start": 1, "stop": 0}),
    ("decoder", {"pattern": {"String": "a"}, "content": "x"}),
    ("post_processor", {"sep": ["a", 0], "cls": ["b", 1]}),
    ("post_processor", {"sep": ["a", 0], "cls": ["b", 1], "trim_offsets": True, "add_prefix_space": True}),
    ("post_processor", {"type": "RobertaProcessing", "sep": ["a", 0], "cls": ["b", 1]}),
    ("pre_tokenizer", {"type": "Metaspace", "replacement": "_", "add_prefix_space": True, "str_rep": "_"}),
    ("pre_tokenizer", {"type": "Metaspace", "replacement": "_", "add_prefix_space": False, "prepend_scheme": "never"}),
    ("pre_tokenizer", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}),
    ("model", {"vocab": {"a": 0, "b": 1}, "merges": []}),
    ("model", {"vocab": {"a": 0, "b": 1}, "unk_token": "a"}),
    (
        "model",
        {"vocab": {"a": 0}, "unk_token": "a", "continuing_subword_prefix": "##", "max_input_chars_per_word": 3},
    ),
    ("model", {"vocab": [["a", 0.5], ["b", -1]], "unk_id": 0}),
]


@pytest.mark.parametrize(("member", "value"), UNTAGGED)
def test_legacy_components(member: str, value: Any) -> None:
    legacy_document = {**document(), member: value}
    reference = tokenizers.Tokenizer.from_str(json.dumps(legacy_document))
    spec = formats.read(json.dumps(legacy_document).encode(), format="huggingface")
    newest_spec = formats.read(reference.to_str().encode(), format="huggingface")
    assert replace(spec, extra={}) == replace(newest_spec, extra={})
    assert json.loads(conversion.write(spec, "huggingface", strict=True).data) == legacy_document


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"version": "2.0"}, "version is '2.0'"),
    ({"foo": 1}, "no member 'foo'"),
    ({"normalizer": {"type": "Foo"}}, "normalizer: unknown type 'Foo'"),
    ({"normalizer": {"type": "Strip", "strip_left": True}}, "'strip_right' is missing"),
    ({"normalizer": {"type": "Sequence", "normalizers": [None]}}, r"normalizer.normalizers\[0\]: null"),
    ({"normalizer": "NFC"}, "normalizer: not an object"),
    ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}}, "not base64"),
    ({"normalizer": {"type": "Replace", "pattern": "a", "content": "b"}}, "pattern is 'a'"),
    ({"pre_tokenizer": {"type": "Metaspace", "replacement": "__"}}, "not one character"),
    (
        {"pre_tokenizer": {"type": "Metaspace", "replacement": "_", "add_prefix_space": False}},
        "scheme is always",
    ),
    ({"pre_tokenizer": {"type": "Digits"}}, "'individual_digits' is missing"),
    ({"pre_tokenizer": {"delimiter": "x"}}, "without a type"),
    ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "length is 0"),
    ({"decoder": {"type": "ByteLevel"}}, "fields add_prefix_space, trim_offsets of ByteLevel are missing"),
    ({"decoder": {"type": "Strip", "content": "x", "start": -1, "stop": 0}}, "start is -1"),
    ({"post_processor": {"sep": ["a", 0], "cls": ["b", "1"]}}, "not a text and an id"),
    (
        {"post_processor": {"single": [{"SpecialToken": {"id": "x", "type_id": 0}}], "pair": [], "special_tokens": {}}},
        "'x' is missing",
    ),
    ({"model": {"type": "BPE", "vocab": {"a": 0}}}, "BPE without merges"),
    ({"model": {"type": "BPE", "vocab": [["a", 1]], "merges": []}}, "not an object"),
    ({"model": {"type": "Unigram", "vocab": {"a": 0}}}, "not a list"),
    ({"model": {"type": "Unigram", "vocab": [["a", 0]], "unk_id": 3}}, "unk_id is 3"),
    ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 1.5}}, "dropout is 1.5"),
    ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}, 'the token "b" is not in the vocabulary'),
    ({"model": {"type": "Foo", "vocab": {"a": 0}}}, "unknown type 'Foo'"),
    ({"model": []}, "a model, which is an object"),
    ({"added_tokens": None}, "added_tokens: not a list"),
    ({"added_tokens": [{"id": 0, "content": "x"}]}, r"added_tokens\[0\]: the field 'special' is missing"),
]


@pytest.mark.parametrize(("members", "message"), BROKEN)
def test_wrong_files_are_refused(members: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_document(**members)


def test_unusual_json() -> None:
    for data, message in [
        (b'{"normalizer":' + b"[" * 10**6 + b"]" * 10**6 + b',"model":{"vocab":{}}}', "nested deeper than 128"),
        (b'{"normalizer":{"type":"Prepend","prepend":"\\ud800"},"model":{"vocab":{},"merges":[]}}', "surrogate"),
        (b'{"model":{"vocab":{"\\ud800":1},"merges":[]}}', "hex escape"),
        (b'{"model":{"vocab":{"\xff":1},"merges":[]}}', "line 1 column"),
        (b'{"padding":' + b"9" * 10**5 + b',"model":{"vocab":{},"merges":[]}}', "JSON"),
        (b'{"model":{"vocab":{"a":1},"merges":[]}', "EOF"),
        (b'{"model":{"vocab":{"a":1},"merges":[]}} x', "trailing"),
    ]:
        with pytest.raises(FormatError, match=message):
            formats.read(data, format="huggingface")
    nested_json: Any = None
    for _ in range(60):
        nested_json = {"type": "Sequence", "normalizers": [nested_json] if nested_json else []}
    assert len(read_document(normalizer=nested_json).normalize) == 1


def test_an_edited_spec_writes_the_edit() -> None:
    spec = read_document(normalizer={"type": "NFC"}, pre_tokenizer={"type": "Whitespace"})
    edited_spec = replace(spec, split=(PatternSplit("x|y", "isolated"),))
    written_document = json.loads(conversion.write(edited_spec, "huggingface", strict=True).data)
    assert written_document["normalizer"] == {"type": "NFC"}
    assert written_document["pre_tokenizer"]["pattern"] == {"Regex": "x|y"}


def test_patterns_convert_to_oniguruma_and_back() -> None:
    pattern = r"\p{N}{1,3}+|\s++$|(?:a|b){2}+"
    written_document = json.loads(
        conversion.write(replace(read_document(), split=(PatternSplit(pattern),)), "huggingface", strict=True).data
    )
    expected = r"(?>\p{N}{1,3})|\s++\z|(?>(?:a|b){2})"
    assert written_document["pre_tokenizer"] == {
        "type": "Split", "pattern": {"Regex": expected}, "behavior": "Removed", "invert": True,
    }  # fmt: skip


def test_settings_with_half_a_surrogate_pair_are_written() -> None:
    data = conversion.write(SMALL["huggingface"](), "huggingface").data
    settings = rb'{"bos_token": "<s>", "note": "\ud800"}'
    spec = formats.read(data, siblings={"tokenizer_config.json": settings})
    written_settings = conversion.write(spec, "huggingface").companions["tokenizer_config.json"]
    assert json.loads(written_settings)["note"] == "\ud800"
