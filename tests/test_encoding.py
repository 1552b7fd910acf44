"""Tests encodings against tokenizers: first the rules, on columns from tokenizers, then files with the engine."""

from __future__ import annotations

import json
import os
import re
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from format_samples import real
from polytok import Encoding, Padding, Truncation
from polytok.encoding import Encoder
from polytok.errors import ArgumentError, EncodeError, FormatError
from polytok.spec import (
    Insert,
    Kind,
    PatternSplit,
    Slot,
    Spec,
    SpecialToken,
    Template,
    TrimOffsets,
    Vocab,
    WordLevel,
)

tokenizers = pytest.importorskip("tokenizers")

DATA = (
    Path(os.environ.get("POLYTOK_DATA", Path(__file__).parents[1] / ".." / "shared" / "data")) / "vocab" / "huggingface"
)
FILES = sorted(DATA.glob("*.json")) if DATA.is_dir() else []

WORDS = ("[UNK]", "[CLS]", "[SEP]", "a", "b", "ab")
STRATEGIES = ("longest_first", "only_first", "only_second")
LISTS = ("ids", "type_ids", "tokens", "offsets", "word_ids", "sequence_ids", "attention_mask", "special_tokens_mask")
TEMPLATES: dict[str, tuple[str, str]] = {
    "bert": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
    "types": ("$A:3 [SEP]:4", "$B:2 [SEP]:7 $A:1"),
    "twice": ("[CLS] $A $A:6", "$B:2 $A:1 $B:3"),
    "plain": ("$A", "$A $B:1"),
    "none": ("[CLS] [SEP]", "[SEP]:1 $A $B"),
}


def template(text: str) -> tuple[Insert | Slot, ...]:
    """Returns the parts of a template that tokenizers writes as a string."""
    parts: list[Insert | Slot] = []
    for part in text.split():
        name, _, type_id = part.partition(":")
        number = int(type_id or 0)
        parts.append(Slot("AB".index(name[1]), number) if name[0] == "$" else Insert((WORDS.index(name),), number))  # type: ignore[arg-type]
    return tuple(parts)


class ReferenceColumns:
    """Columns of tokens, as tokenizers encodes a text or a list of words."""

    def __init__(self, encoding: Any) -> None:
        self.encoding = encoding

    def __len__(self) -> int:
        return len(self.encoding)

    def ids(self, start: int, stop: int) -> Any:
        return self.encoding.ids[start:stop]

    def offsets(self, start: int, stop: int) -> Any:
        return self.encoding.offsets[start:stop]

    def words(self, start: int, stop: int) -> Any:
        return self.encoding.word_ids[start:stop]

    def own_texts(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        tokens = enumerate(self.encoding.tokens[start:stop])
        return [(index, token.encode()) for index, token in tokens if token not in WORDS]


class ReferenceEngine:
    """A fake engine that returns tokenizers' columns."""

    def __init__(self, reference: Any) -> None:
        self.reference = reference

    def token_columns(self, text: str, options: object) -> ReferenceColumns:
        return ReferenceColumns(self.reference.encode(text, add_special_tokens=False))

    def token_columns_of_words(self, words: list[str], options: object) -> ReferenceColumns:
        return ReferenceColumns(self.reference.encode(words, is_pretokenized=True, add_special_tokens=False))

    def token_bytes(self, id: int) -> bytes:
        token: str = self.reference.id_to_token(id)
        return token.encode()


def word_level() -> Any:
    """Returns a tokenizer of words, with a token that strips white space."""
    reference = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, "[UNK]"))
    reference.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    reference.add_tokens([tokenizers.AddedToken("<M>", normalized=False, lstrip=True, rstrip=True)])
    return reference


def reference_and_encoder(name: str) -> tuple[Any, Encoder]:
    """Returns the reference with a template, and the encoder under test."""
    single_template, pair = TEMPLATES[name]
    reference = word_level()
    special = [(word, WORDS.index(word)) for word in WORDS[:3]]
    reference.post_processor = tokenizers.processors.TemplateProcessing(single_template, pair, special)
    spec = Spec(
        Vocab.from_rows((word.encode(), i, 0.0, Kind.NORMAL) for i, word in enumerate(WORDS)),
        WordLevel(),
        (SpecialToken("<M>", len(WORDS), special=False, lstrip=True, rstrip=True),),
        post=Template(template(single_template), template(pair)),
    )
    return reference, Encoder(spec, ReferenceEngine(word_level()))  # type: ignore[arg-type]


def check_same(actual: Encoding, expected: Any) -> None:
    """Checks that every list and every method agree, also in the windows."""
    for name in LISTS:
        assert getattr(actual, name) == getattr(expected, name), name
    assert actual.n_sequences == expected.n_sequences
    for at in range(len(actual) + 2):
        assert actual.token_to_sequence(at) == expected.token_to_sequence(at)
        assert actual.token_to_chars(at) == expected.token_to_chars(at)
        assert actual.token_to_word(at) == expected.token_to_word(at)
        for sequence in range(3):
            assert actual.char_to_token(at, sequence) == expected.char_to_token(at, sequence)
            assert actual.char_to_word(at, sequence) == expected.char_to_word(at, sequence)
            assert actual.word_to_tokens(at, sequence) == expected.word_to_tokens(at, sequence)
            assert actual.word_to_chars(at, sequence) == expected.word_to_chars(at, sequence)
    assert len(actual.overflowing) == len(expected.overflowing)
    for actual_window, expected_window in zip(actual.overflowing, expected.overflowing, strict=True):
        check_same(actual_window, expected_window)


texts = st.lists(st.sampled_from(("a", "b", "ab", "x", " ", "  <M> ")), max_size=6).map(" ".join)
truncations = st.none() | st.builds(
    Truncation,
    max_length=st.integers(0, 9),
    stride=st.integers(0, 3),
    strategy=st.sampled_from(STRATEGIES),
    direction=st.sampled_from(("left", "right")),
)
paddings = st.none() | st.builds(
    Padding,
    length=st.none() | st.integers(0, 12),
    to_multiple_of=st.none() | st.integers(0, 5),
    id=st.integers(0, 3),
    type_id=st.integers(0, 3),
    token=st.none() | st.sampled_from(("[PAD]", "<p>")),
    direction=st.sampled_from(("left", "right")),
)


def set_up(reference: Any, truncation: Truncation | None, padding: Padding | None) -> bool:
    """Sets the reference's options; returns False if the reference refuses them."""
    reference.no_truncation()
    reference.no_padding()
    if padding is not None:
        reference.enable_padding(
            direction=padding.direction,
            pad_id=padding.id,
            pad_type_id=padding.type_id,
            pad_token="[PAD]" if padding.token is None else padding.token,
            length=padding.length,
            pad_to_multiple_of=padding.to_multiple_of,
        )
    if truncation is not None:
        try:
            reference.enable_truncation(
                truncation.max_length,
                stride=truncation.stride,
                strategy=truncation.strategy,
                direction=truncation.direction,
            )
        except ValueError:
            return False
    return True


@given(
    st.sampled_from(sorted(TEMPLATES)),
    st.lists(st.tuples(texts, st.none() | texts), min_size=1, max_size=3),
    st.booleans(),
    truncations,
    paddings,
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_options_against_the_reference(
    name: str,
    batch: list[tuple[str, str | None]],
    add_special: bool,
    truncation: Truncation | None,
    padding: Padding | None,
    pretokenized: bool,
) -> None:
    reference, encoder = reference_and_encoder(name)
    if not set_up(reference, truncation, padding):
        return

    def split(text: str) -> Any:
        return text.split(" ") if pretokenized else text

    pairs = [(split(text), None if pair is None else split(pair)) for text, pair in batch]
    actual = []
    options: Any = SimpleNamespace(add_special=add_special)
    for pair in pairs:
        try:
            actual.append(encoder.encode(*pair, options, truncation, pretokenized))
        except ArgumentError:
            return  # The reference panics, or does not truncate; see test_contradictory_options.
        except EncodeError as error:
            # Only this pair is encoded, because the reference might reach another pair of the batch first.
            with pytest.raises(Exception, match=str(error)):
                encode_batch(reference, [pair], pretokenized, add_special)
            return
    expected = encode_batch(reference, pairs, pretokenized, add_special)
    for actual_encoding, expected_encoding in zip(
        actual if padding is None else Encoder.pad(actual, padding), expected, strict=True
    ):
        check_same(actual_encoding, expected_encoding)


def encode_batch(reference: Any, pairs: list[Any], pretokenized: bool, add_special: bool) -> list[Any]:
    """Encodes a batch with the reference."""
    inputs = [text if pair is None else (text, pair) for text, pair in pairs]
    encodings: list[Any] = reference.encode_batch(inputs, is_pretokenized=pretokenized, add_special_tokens=add_special)
    return encodings


def test_contradictory_options() -> None:
    _, encoder = reference_and_encoder("bert")
    options: Any = SimpleNamespace(add_special=True)
    with pytest.raises(ArgumentError, match="the template alone has 2 tokens"):
        encoder.encode("a b", None, options, Truncation(1), False)
    with pytest.raises(ArgumentError, match="stride is 1, but must be less than 1"):
        encoder.encode("a b", None, options, Truncation(3, stride=1), False)
    with pytest.raises(ArgumentError, match="truncation=True uses the setting of the tokenizer's file"):
        encoder.settings.truncation(True)
    for invalid_options in (
        {"max_length": -1},
        {"max_length": 1, "strategy": "first"},
        {"max_length": 1, "direction": "up"},
    ):
        with pytest.raises(ArgumentError):
            Truncation(**invalid_options)
    with pytest.raises(ArgumentError):
        Padding(length=-1)
    with pytest.raises(TypeError):
        encoder.encode(["a"], None, options, None, False)
    with pytest.raises(TypeError):
        encoder.encode("a", None, options, None, True)


def test_padding_needs_an_id() -> None:
    """Tests that pads are the vocabulary's pad token, the pads of its file's settings, or those of the caller."""
    tokenizer = polytok.load("default")
    with pytest.raises(
        ArgumentError, match=r"Padding\(id='<\|endoftext\|>'\).*special tokens are '<\|endoftext\|>' \(id 32767\)"
    ):
        tokenizer.encoding("a", padding=Padding(length=3))
    encoding = tokenizer.encoding("a", padding=Padding(length=3, id=5))
    assert (encoding.ids[1:], encoding.tokens[1:]) == ([5, 5], ["[PAD]"] * 2)
    named = polytok.train(["low lower"], vocab_size=258, pad="<p>")
    encoding = named.encoding("a", padding=Padding(length=3))
    assert (encoding.ids[1:], encoding.tokens[1:]) == ([257, 257], ["<p>"] * 2)
    settings = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_type_id": 0}
    model = {"type": "WordLevel", "vocab": {"-": 0, "fox": 1}, "unk_token": "-"}
    file = {"padding": {**settings, "pad_id": 1, "pad_token": "fox"}, "model": model}
    encoding = polytok.load(json.dumps(file).encode()).encoding("-", padding=Padding(length=2))
    assert (encoding.ids, encoding.tokens) == ([0, 1], ["-", "fox"])


def test_pads_are_in_the_vocabulary() -> None:
    tokenizer = polytok.load("default")
    assert tokenizer.encoding("a", padding=Padding(2, token="<|endoftext|>")).ids == [97, 32767]
    with pytest.raises(ArgumentError, match=r"Padding\(token='\[PAD\]'\) is not in the vocabulary.*special tokens are"):
        tokenizer.encoding("a", padding=Padding(2, token="[PAD]"))
    assert tokenizer.encoding("a", padding=Padding(2, id="<|endoftext|>")).tokens == ["a", "<|endoftext|>"]
    assert tokenizer.encoding("a", padding=Padding(2, id="!", token="-")).tokens == ["a", "-"]
    assert tokenizer.encoding("a", padding=Padding(2, id=np.uint16(33))).ids == [97, 33]
    with pytest.raises(ArgumentError, match=r"Padding\(id='<pad>'\) is not in the vocabulary.*special tokens are"):
        tokenizer.encoding("a", padding=Padding(2, id="<pad>"))
    with pytest.raises(ArgumentError, match=r"Padding\(id=None\) has no id: .* pass Padding\(id='<\|endoftext\|>'\)"):
        tokenizer.encoding("a", padding=Padding(2, id=tokenizer.pad_id))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="has no number for pads"):
        tokenizer.encoding("a").padded(2, Padding(id="!"))
    with pytest.raises(ArgumentError, match=r"id=99999999\) is not an id of the vocabulary.*special tokens are"):
        tokenizer.encoding("a", padding=Padding(2, id=99999999))


@pytest.mark.parametrize("pads", [["[PAD]"], ["<pad>"], ["<|pad|>"], ["<PAD>"], ["[PAD]", "<pad>"], ["[pad]"]])
def test_pads_with_a_usual_text(pads: list[str]) -> None:
    tokenizer = polytok.train(["low lower"], vocab_size=260, special_tokens=["<x>", *pads])
    assert tokenizer.pad_id is None
    if pads in (["[PAD]", "<pad>"], ["[pad]"]):
        with pytest.raises(ArgumentError, match="the vocabulary names no pad token"):
            tokenizer.encodings(["a", "ab"], padding="longest")
        return
    (row, _) = tokenizer.encodings(["a", "b b"], padding="longest")
    assert row.tokens[-1] == pads[0] and row.ids[-1] == tokenizer.piece_to_id(pads[0])


def test_pads_of_bert() -> None:
    tokenizer = polytok.load(real("huggingface/bert_base_cased.json"))
    row, _ = tokenizer.encodings(["a", "a b"], padding="longest")
    assert (row.ids[1:], row.tokens[1:], row.attention_mask) == ([0], ["[PAD]"], [1, 0])


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda t: t.encodings(["a", ("a", "b", "c")]), ArgumentError, "texts[1]=('a', 'b', 'c') is a tuple of 3; a"),
        (lambda t: t.encodings([()]), ArgumentError, "texts[0]=() is a tuple of 0; a tuple is a pair of 2 texts"),
        (
            lambda t: t.encoding("a", text_pair="b"),
            TypeError,
            "has no keyword argument 'text_pair'; did you mean 'pair'",
        ),
        (
            lambda t: t.encodings(["a"], text_pair=["b"]),
            TypeError,
            "'text_pair': encodings([(text, pair)]) encodes pairs",
        ),
        (lambda t: t.vocab(kind="byte"), TypeError, "vocab() has no keyword argument 'kind': it returns all entries"),
    ],
)
def test_errors_of_wrong_calls(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        call(polytok.load("default"))


def test_lengths_without_their_classes() -> None:
    """Tests what users of the package transformers pass."""
    tokenizer = polytok.train(["low lower"], vocab_size=258, pad="<p>")
    assert tokenizer.encoding("a b c", truncation=2).ids == tokenizer.encoding("a b c", truncation=Truncation(2)).ids
    assert tokenizer.encoding("a", padding=3).ids == [97, 257, 257]
    for padding in ("longest", True):
        assert [row.ids for row in tokenizer.encodings(["a", "ab"], padding=padding)] == [[97, 257], [97, 98]]
    plain = tokenizer.encoding("a", padding="do_not_pad", truncation="do_not_truncate")
    assert plain.ids == [97]
    for wrong, message in (
        ({"padding": "max_length"}, "padding='max_length' has no length: pass the length, such as padding=128"),
        ({"padding": "shortest"}, "padding='shortest' is not a length, a polytok.Padding, 'longest', or True"),
        ({"padding": -1}, "padding=-1 is not a length"),
        ({"truncation": "longest_first"}, "truncation='longest_first' has no length"),
        ({"truncation": 1.5}, "truncation=1.5 is not a length, a polytok.Truncation, or True"),
    ):
        with pytest.raises(ArgumentError, match=re.escape(message)):
            tokenizer.encoding("a", **wrong)


def test_settings_of_a_file() -> None:
    fields = {"direction": "Left", "max_length": 5, "strategy": "OnlySecond", "stride": 2}
    assert Truncation.from_json(fields) == Truncation(5, 2, "only_second", "left")
    fields = {"strategy": {"Fixed": 7}, "direction": "Right", "pad_to_multiple_of": 8, "pad_id": 1, "pad_type_id": 2}
    assert Padding.from_json(fields | {"pad_token": "-"}) == Padding(7, 8, 1, 2, "-")
    assert Padding.from_json(fields | {"pad_token": "-", "strategy": "BatchLongest"}).length is None


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def loaded_file(request: pytest.FixtureRequest) -> tuple[polytok.Tokenizer, Any]:
    """Loads a file with both programs."""
    return polytok.load(request.param), tokenizers.Tokenizer.from_file(str(request.param))


FILE_TEXTS = (
    *(
        "",
        "Hello, world! It's  a test.",
        " leading and trailing  ",
        "naïve café 世界 😀\n\nx",
        "a<s>b</s> [MASK] <|endoftext|>",
    ),
    *(
        "\u00a0nbsp\u3000wide",
        "e\u0301 ﬁ Å",
        "tab\tnew\r\nline",
        "1234567 + 89",
        "ÀÉ don't  ' . ?",
        "\u200b\u200d",
        "   ",
    ),
)


@pytest.mark.parametrize("add_special", [False, True])
def test_encodings_of_files(loaded_file: tuple[polytok.Tokenizer, Any], add_special: bool) -> None:
    tokenizer, reference = loaded_file
    set_up(reference, None, None)
    for text in FILE_TEXTS:
        for pair in (None, "and B"):
            actual = tokenizer.encoding(text, pair, add_special=add_special, special="all")
            check_same(actual, reference.encode(text, pair, add_special_tokens=add_special))
        words = text.split(" ")
        actual = tokenizer.encoding(words, add_special=add_special, special="all", pretokenized=True)
        check_same(actual, reference.encode(words, is_pretokenized=True, add_special_tokens=add_special))


def test_windows_and_pads_of_files(loaded_file: tuple[polytok.Tokenizer, Any]) -> None:
    tokenizer, reference = loaded_file
    for direction in ("left", "right"):
        truncation, padding = (
            Truncation(12, stride=2, direction=direction),
            Padding(to_multiple_of=8, id=0, token="[PAD]", direction=direction),
        )
        set_up(reference, truncation, padding)
        actual = tokenizer.encodings(
            FILE_TEXTS, add_special=True, special="all", truncation=truncation, padding=padding
        )
        for actual_encoding, expected_encoding in zip(actual, reference.encode_batch(list(FILE_TEXTS)), strict=True):
            check_same(actual_encoding, expected_encoding)


SPACED = st.lists(
    st.sampled_from(
        ("a", " ", "  ", "\n", "é", "世", "😀", "\u00a0", "\u3000", "the", " of", "Ġ", "<|endoftext|>", "1", "\x85")
    ),
    max_size=12,
).map("".join)


@pytest.mark.skipif(not (DATA / "gpt2.json").exists(), reason="needs the vocabularies")
@pytest.mark.parametrize("add_prefix_space", [False, True])
def test_spans_are_trimmed(add_prefix_space: bool) -> None:
    """Tests a split whose matches cover all characters, so that the engine can use the matches only."""
    spec = polytok.formats.read((DATA / "gpt2.json").read_bytes())
    [split] = spec.split
    assert isinstance(split, PatternSplit)
    spec = replace(spec, split=(replace(split, behavior="matches"),), trim=TrimOffsets(add_prefix_space))
    tokenizer = polytok.Tokenizer(spec)
    reference = tokenizers.Tokenizer.from_file(str(DATA / "gpt2.json"))
    reference.post_processor = tokenizers.processors.ByteLevel(add_prefix_space=add_prefix_space, trim_offsets=True)

    @given(SPACED, st.none() | SPACED)
    @settings(max_examples=500, deadline=None)
    def check(text: str, pair: str | None) -> None:
        check_same(tokenizer.encoding(text, pair, special="all"), reference.encode(text, pair))

    check()


# Documents from a random search, whose encodings once differed from the reference.


def load_both(document: dict[str, Any]) -> tuple[Any, polytok.Tokenizer]:
    data = json.dumps({"version": "1.0", "added_tokens": [], **document})
    return tokenizers.Tokenizer.from_str(data), polytok.load(data.encode())


GPT2_LIKE: dict[str, Any] = {
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "Ġa": 3, "Ġb": 4}, "merges": ["Ġ a", "Ġ b"]},
}


def test_the_first_token_of_each_window_keeps_a_space() -> None:
    reference, tokenizer = load_both(GPT2_LIKE)
    reference.enable_truncation(2)
    check_same(tokenizer.encoding("a b a b a", truncation=Truncation(2)), reference.encode("a b a b a"))


def test_only_the_first_word_keeps_a_space() -> None:
    reference, tokenizer = load_both(GPT2_LIKE)
    words = ["a b", " a", "  b"]
    check_same(tokenizer.encoding(words, pretokenized=True), reference.encode(words, is_pretokenized=True))


def test_a_text_that_occurs_twice_in_the_template_is_encoded_once() -> None:
    parts = [{"Sequence": {"id": "A", "type_id": number}} for number in range(2)]
    pair = [*parts, {"Sequence": {"id": "B", "type_id": 2}}]
    template = {"type": "TemplateProcessing", "single": parts, "pair": pair, "special_tokens": {}}
    reference, tokenizer = load_both({**GPT2_LIKE, "post_processor": template})
    check_same(tokenizer.encoding("a"), reference.encode("a"))
    check_same(tokenizer.encoding("a", "b"), reference.encode("a", "b"))


FILE_PADDING: dict[str, Any] = {
    **{"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 1},
    **{"pad_type_id": 0, "pad_token": "b"},
}
FILE_TRUNCATION: dict[str, Any] = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
WRONG_VALUES: list[Any] = [None, "x", -1, 0, 1.0, True, 2**32, 2**64, {}, [], {"Fixed": 3}, {"Fixed": -1}]
WRONG_VALUES += [{"Fixed": 3, "x": 1}, {"BatchLongest": None}, {"Left": None}, {"OnlyFirst": None}, "left"]


def test_settings_are_checked_as_by_tokenizers() -> None:
    """Tests that a file with each wrong value of each field, or without the field, is refused if `tokenizers` refuses
    it, and that the settings of all other files are the same."""
    for member, whole in (("padding", FILE_PADDING), ("truncation", FILE_TRUNCATION)):
        variants: list[Any] = [{**whole, name: value} for name in whole for value in WRONG_VALUES]
        variants += [{other: whole[other] for other in whole if other != name} for name in whole]
        for variant in (*variants, *WRONG_VALUES, list(whole.values()), {**whole, "other": 1}):
            data = json.dumps({"version": "1.0", "added_tokens": [], **GPT2_LIKE, member: variant})
            try:
                reference = tokenizers.Tokenizer.from_str(data)
            except Exception:
                with pytest.raises(FormatError, match=member):
                    polytok.load(data.encode())
                continue
            document = polytok.load(data.encode()).spec.extra["huggingface"]["document"]
            assert read_settings(member, document[member]) == getattr(reference, member)


def read_settings(member: str, fields: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns a setting of a file with the names of `tokenizers`."""
    if fields is None:
        return None
    if member == "truncation":
        return vars_of(Truncation.from_json(fields))
    names = {"to_multiple_of": "pad_to_multiple_of", "id": "pad_id", "type_id": "pad_type_id", "token": "pad_token"}
    return {names.get(name, name): value for name, value in vars_of(Padding.from_json(fields)).items()}


def vars_of(value: Truncation | Padding) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclass_fields(value)}


@pytest.mark.parametrize(
    ("member", "change", "message"),
    [
        ("padding", {"pad_id": "x"}, "padding: pad_id is 'x', not of the type whole number"),
        ("padding", {"strategy": "longest"}, "padding: strategy is 'longest', not one of BatchLongest, {\"Fixed\":"),
        ("truncation", {"max_length": -5}, "truncation: max_length is -5, not a number from 0 to 2**64 - 1"),
        (
            "truncation",
            {"strategy": "x"},
            "truncation: strategy is 'x', not one of LongestFirst, OnlyFirst, OnlySecond",
        ),
    ],
)
def test_errors_name_the_file_and_the_field(tmp_path: Path, member: str, change: dict[str, Any], message: str) -> None:
    settings = FILE_PADDING if member == "padding" else FILE_TRUNCATION
    (tmp_path / "my.json").write_text(json.dumps({**GPT2_LIKE, member: {**settings, **change}}))
    with pytest.raises(FormatError, match=rf"my\.json: .*{re.escape(message)}"):
        polytok.load(tmp_path / "my.json")


def test_truncation_and_padding_of_the_file() -> None:
    truncation = {"direction": "Left", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    padding = {
        **{"strategy": {"Fixed": 4}, "direction": "Left", "pad_to_multiple_of": None, "pad_id": 1},
        **{"pad_type_id": 0, "pad_token": "b"},
    }
    reference, tokenizer = load_both({**GPT2_LIKE, "truncation": truncation, "padding": padding})
    check_same(tokenizer.encoding("a b a", truncation=True, padding=True), reference.encode("a b a"))


def test_an_empty_piece_is_not_a_word() -> None:
    added = {"id": 5, "content": "<x>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    strip = {"type": "Strip", "strip_left": True, "strip_right": True}
    reference, tokenizer = load_both({**GPT2_LIKE, "normalizer": strip, "added_tokens": [{**added, "special": True}]})
    actual, expected = tokenizer.encoding("  <x> a", special="all"), reference.encode("  <x> a")
    assert (actual.word_ids, actual.tokens) == (expected.word_ids, expected.tokens)


def test_texts_of_special_tokens_are_those_found_in_the_text() -> None:
    flags = {"single_word": False, "lstrip": True, "rstrip": False, "normalized": True}
    added = [{"id": 5, "content": "É", **flags, "special": True}, {"id": 0, "content": "a", **flags, "special": True}]
    reference, tokenizer = load_both({**GPT2_LIKE, "normalizer": {"type": "NFD"}, "added_tokens": added})
    for is_plain in (False, True):
        reference.encode_special_tokens = is_plain
        actual, expected = tokenizer.encoding("b  É  a", special=() if is_plain else "all"), reference.encode("b  É  a")
        assert (actual.ids, actual.tokens, actual.offsets) == (expected.ids, expected.tokens, expected.offsets)


@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("missing", [0, 0x80])
def test_an_entry_can_be_both_a_byte_and_unknown(byte_fallback: bool, missing: int) -> None:
    rows = [["a", -1.0], ["b", -9.0], ["bc", -3.0], *([f"<0x{byte:02X}>", 0.0] for byte in range(256 - missing))]
    model = {"type": "Unigram", "vocab": rows, "byte_fallback": byte_fallback}
    for byte in b"bcy":
        reference, tokenizer = load_both({"model": model | {"unk_id": 3 + byte}})
        for text in ("axc", "abcc", "a\u00e9b", "bb", "yb", "xyx", "<0x62>"):
            expected, actual = reference.encode(text), tokenizer.encoding(text)
            assert (actual.ids, actual.tokens, actual.offsets) == (expected.ids, expected.tokens, expected.offsets)


def test_spans_of_many_bytes_of_one_character_take_linear_time() -> None:
    rows = [["<unk>", 0.0], *([f"<0x{byte:02X}>", -1.0] for byte in range(256))]
    _, tokenizer = load_both({"model": {"type": "Unigram", "unk_id": 0, "vocab": rows, "byte_fallback": True}})
    encoding = tokenizer.encoding("é" * 200_000)
    assert len(encoding) == 400_000 and set(encoding.offsets) == {(0, 200_000)}


def test_ranges_of_texts() -> None:
    tokenizer = polytok.load("default")
    encoding = tokenizer.encoding("a b", "", padding=polytok.Padding(4, id=0, direction="left"))
    assert encoding.sequence_ranges == {0: range(2, 4), 1: range(4, 4)}


def test_windows_of_a_pair_with_roberta_have_the_type_0() -> None:
    processor = {"type": "RobertaProcessing", "sep": ["b", 1], "cls": ["a", 0], "trim_offsets": True}
    document = {
        "added_tokens": [],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {**processor, "add_prefix_space": True},
        "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"},
    }
    reference, ours = load_both(document)
    reference.enable_truncation(8, stride=1)
    for add_special in (True, False):
        expected = reference.encode("a b a b a", "b a b b", add_special_tokens=add_special)
        check_same(
            ours.encoding("a b a b a", "b a b b", truncation=Truncation(8, 1), add_special=add_special), expected
        )
