"""Compares the components of polytok.compat.tokenizers with those of the package tokenizers."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

tokenizers = pytest.importorskip("tokenizers")

from polytok import compat  # noqa: E402
from polytok.compat import tokenizers as face  # noqa: E402
from test_compat_tokenizers import described, outcome  # noqa: E402

TEXTS = [
    "",
    " ",
    "Hello, wörld! it's 12  o'clock",
    "a-b--c",
    "\u00e9e\u0301 \u4e16\u754c\u3000ｱ",
    "x\ty\nz",
    "▁a▁b",
    "日本12",
]
TOKENS = [
    [],
    ["Ġa", "b", "Ġ", "Ã©"],
    ["▁Hello", "▁wor", "ld"],
    ["hel", "##lo", "wor", "##ld", "!", "do", "n't"],
    ["ab</w>", "c", "d</w>"],
    ["a", "a", "<pad>", "b", "|", "b"],
    ["<0xE4>", "<0xB8>", "<0x96>", "<0xE4>", "x", " y "],
]

Make = Callable[[Any], Any]

NORMALIZERS: list[Make] = [
    lambda m: m.normalizers.NFC(),
    lambda m: m.normalizers.NFD(),
    lambda m: m.normalizers.NFKC(),
    lambda m: m.normalizers.NFKD(),
    lambda m: m.normalizers.Nmt(),
    lambda m: m.normalizers.Lowercase(),
    lambda m: m.normalizers.StripAccents(),
    lambda m: m.normalizers.ByteLevel(),
    lambda m: m.normalizers.Strip(),
    lambda m: m.normalizers.Strip(left=False),
    lambda m: m.normalizers.Prepend("_"),
    lambda m: m.normalizers.Replace("l", "L"),
    lambda m: m.normalizers.Replace(m.Regex("[a-e]+"), "<>"),
    lambda m: m.normalizers.BertNormalizer(),
    lambda m: m.normalizers.BertNormalizer(lowercase=False, strip_accents=True, clean_text=False),
    lambda m: m.normalizers.Sequence([m.normalizers.NFKC(), m.normalizers.Lowercase()]),
    lambda m: m.normalizers.Sequence([]),
]
PRE_TOKENIZERS: list[Make] = [
    lambda m: m.pre_tokenizers.ByteLevel(),
    lambda m: m.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    lambda m: m.pre_tokenizers.Whitespace(),
    lambda m: m.pre_tokenizers.WhitespaceSplit(),
    lambda m: m.pre_tokenizers.BertPreTokenizer(),
    lambda m: m.pre_tokenizers.UnicodeScripts(),
    lambda m: m.pre_tokenizers.Split(" ", "removed"),
    lambda m: m.pre_tokenizers.Split(m.Regex("[a-z]+"), "isolated", invert=True),
    lambda m: m.pre_tokenizers.Split("-", "merged_with_previous"),
    lambda m: m.pre_tokenizers.Split("-", "merged_with_next"),
    lambda m: m.pre_tokenizers.Split("-", "contiguous"),
    lambda m: m.pre_tokenizers.CharDelimiterSplit("-"),
    lambda m: m.pre_tokenizers.Metaspace(),
    lambda m: m.pre_tokenizers.Metaspace("_", "never", split=False),
    lambda m: m.pre_tokenizers.Metaspace(prepend_scheme="first"),
    lambda m: m.pre_tokenizers.Punctuation(),
    lambda m: m.pre_tokenizers.Punctuation("removed"),
    lambda m: m.pre_tokenizers.Digits(individual_digits=True),
    lambda m: m.pre_tokenizers.FixedLength(3),
    lambda m: m.pre_tokenizers.Sequence([m.pre_tokenizers.WhitespaceSplit(), m.pre_tokenizers.Digits()]),
]
DECODERS: list[Make] = [
    lambda m: m.decoders.ByteLevel(),
    lambda m: m.decoders.WordPiece(),
    lambda m: m.decoders.WordPiece("__", cleanup=False),
    lambda m: m.decoders.Metaspace(),
    lambda m: m.decoders.Metaspace(prepend_scheme="never"),
    lambda m: m.decoders.BPEDecoder(),
    lambda m: m.decoders.CTC(),
    lambda m: m.decoders.CTC(cleanup=False),
    lambda m: m.decoders.Fuse(),
    lambda m: m.decoders.ByteFallback(),
    lambda m: m.decoders.Strip("H", 1, 0),
    lambda m: m.decoders.Replace("▁", " "),
    lambda m: m.decoders.Sequence([m.decoders.ByteFallback(), m.decoders.Fuse()]),
]
PROCESSORS: list[Make] = [
    lambda m: m.processors.BertProcessing(("[SEP]", 1), ("[CLS]", 0)),
    lambda m: m.processors.RobertaProcessing(("[SEP]", 1), ("[CLS]", 0)),
    lambda m: m.processors.RobertaProcessing(("[SEP]", 1), ("[CLS]", 0), trim_offsets=False, add_prefix_space=False),
    lambda m: m.processors.ByteLevel(),
    lambda m: m.processors.ByteLevel(add_prefix_space=False),
    lambda m: m.processors.ByteLevel(trim_offsets=False),
    lambda m: m.processors.TemplateProcessing("[CLS] $0 [SEP]", "[CLS] $A $B:1 [SEP]:1", [("[SEP]", 1), (0, "[CLS]")]),
    lambda m: m.processors.TemplateProcessing(["$1"], ["$B:0", "$A:3"]),
    lambda m: m.processors.Sequence(
        [m.processors.ByteLevel(), m.processors.TemplateProcessing("$A [SEP]", "$A [SEP] $B", [("[SEP]", 1)])]
    ),
]
VOCAB = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "a": 3, "b": 4, "ab": 5, "##b": 6, "Ġ": 7, "Ġa": 8, "é": 9}
MODELS: list[Make] = [
    lambda m: m.models.BPE(),
    lambda m: m.models.BPE(VOCAB, [("a", "b"), ("Ġ", "a")], unk_token="[UNK]"),
    lambda m: m.models.BPE(VOCAB, [("a", "b")], unk_token="[UNK]", fuse_unk=True, ignore_merges=True),
    lambda m: m.models.WordPiece(VOCAB, unk_token="[UNK]", max_input_chars_per_word=6),
    lambda m: m.models.WordLevel(VOCAB, unk_token="[UNK]"),
    lambda m: m.models.Unigram([("<unk>", -9.5), ("a", -1.0), ("b", -1.5), ("ab", -2.0), ("é", -3.25)], 0),
    lambda m: m.models.Unigram(),
]


OTHERS: list[Make] = [
    lambda m: m.AddedToken("x", lstrip=True),
    lambda m: m.Tokenizer(m.models.WordLevel({"a": 0}, unk_token="a")),
    lambda m: m.Tokenizer(m.models.WordLevel({"a": 0}, unk_token="a")).encode("a"),
    lambda m: m.trainers.BpeTrainer(vocab_size=7),
    lambda m: m.trainers.UnigramTrainer(unk_token="?"),
]


def check_alike(make: Make) -> tuple[Any, Any]:
    """Returns the component of the package and ours, after a comparison of their states."""
    expected, found = make(tokenizers), make(face)
    assert found.__getstate__() == expected.__getstate__()
    assert repr(found) == repr(expected)
    for made in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert type(made) is type(found)
        assert made.__getstate__() == expected.__getstate__()
    return expected, found


@pytest.mark.parametrize("make", NORMALIZERS)
def test_normalizers(make: Make) -> None:
    expected, found = check_alike(make)
    for text in TEXTS:
        assert found.normalize_str(text) == expected.normalize_str(text)


@pytest.mark.parametrize("make", PRE_TOKENIZERS)
def test_pre_tokenizers(make: Make) -> None:
    expected, found = check_alike(make)
    for text in TEXTS:
        assert found.pre_tokenize_str(text) == expected.pre_tokenize_str(text), text


@pytest.mark.parametrize("make", DECODERS)
def test_decoders(make: Make) -> None:
    expected, found = check_alike(make)
    for tokens in TOKENS:
        assert found.decode(tokens) == expected.decode(tokens), tokens


@pytest.mark.parametrize("make", MODELS)
def test_models(make: Make, tmp_path: Path) -> None:
    expected, found = check_alike(make)
    for text in ("a", "ab", "abba", "xaéb", "Ġab", "世a"):
        tokens = outcome(lambda text=text: [token.as_tuple() for token in expected.tokenize(text)])
        assert outcome(lambda text=text: [token.as_tuple() for token in found.tokenize(text)]) == tokens
    assert [found.id_to_token(id) for id in range(12)] == [expected.id_to_token(id) for id in range(12)]
    assert [found.token_to_id(token) for token in VOCAB] == [expected.token_to_id(token) for token in VOCAB]
    folders = [tmp_path / "expected", tmp_path / "found"]
    for model, folder in zip((expected, found), folders, strict=True):
        folder.mkdir()
        model.save(str(folder), "x")
    names = [sorted(path.name for path in folder.iterdir()) for folder in folders]
    assert names[0] == names[1]
    if names[0] != ["x-unigram.json"]:
        assert [(folders[0] / name).read_text() for name in names[0]] == [
            (folders[1] / name).read_text() for name in names[0]
        ]


@pytest.mark.parametrize("make", PROCESSORS)
def test_processors(make: Make) -> None:
    expected, found = check_alike(make)
    for is_pair in (False, True):
        assert found.num_special_tokens_to_add(is_pair) == expected.num_special_tokens_to_add(is_pair)
    pair = []
    for package, processor in ((tokenizers, expected), (face, found)):
        tokenizer = package.Tokenizer(package.models.BPE(VOCAB, [("a", "b"), ("Ġ", "a")], unk_token="[UNK]"))
        tokenizer.pre_tokenizer = package.pre_tokenizers.ByteLevel()
        pair.append((tokenizer, processor))
    for arguments in (("a ab b",), ("a ab b", "b a a"), ("", "a")):
        for adds in (True, False):
            results = []
            for tokenizer, processor in pair:
                tokenizer.post_processor = None
                tokenizer.no_truncation()
                tokenizer.no_padding()
                parts = [tokenizer.encode(text) for text in arguments]
                processed = [described(processor.process(*parts, add_special_tokens=adds))]
                tokenizer.post_processor = processor
                tokenizer.enable_truncation(7)
                tokenizer.enable_padding(length=9, direction="left")
                processed.append(described(tokenizer.post_process(*parts, add_special_tokens=adds)))
                processed.append(described(tokenizer.encode(*arguments, add_special_tokens=adds)))
                results.append(processed)
            assert results[1] == results[0]


def test_components_of_the_package_are_accepted() -> None:
    tokenizer = face.Tokenizer(MODELS[1](tokenizers))
    tokenizer.normalizer = NORMALIZERS[5](tokenizers)
    tokenizer.pre_tokenizer = PRE_TOKENIZERS[0](tokenizers)
    tokenizer.post_processor = PROCESSORS[0](tokenizers)
    tokenizer.decoder = DECODERS[0](tokenizers)
    assert tokenizer.encode("A Ab").tokens == ["[CLS]", "Ġa", "Ġ", "ab", "[SEP]"]
    assert tokenizer.decode(tokenizer.encode("A Ab").ids) == "[CLS] a ab[SEP]"
    with pytest.raises(TypeError):
        tokenizer.normalizer = PRE_TOKENIZERS[0](tokenizers)


def test_a_changed_component_changes_the_tokenizer() -> None:
    for package in (tokenizers, face):
        tokenizer = package.Tokenizer(package.models.WordLevel({"a": 0, "A": 1, "?": 2}, unk_token="?"))
        tokenizer.normalizer = package.normalizers.BertNormalizer()
        assert tokenizer.encode("A").tokens == ["a"]
        tokenizer.normalizer.lowercase = False
        assert tokenizer.encode("A").tokens == ["A"]
        tokenizer.normalizer = package.normalizers.Sequence([package.normalizers.NFC()])
        tokenizer.normalizer[0] = package.normalizers.Lowercase()
        assert tokenizer.encode("A").tokens == ["a"]


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.pre_tokenizers.Split(" ", "wrong"),
        lambda m: m.pre_tokenizers.CharDelimiterSplit(""),
        lambda m: m.pre_tokenizers.Metaspace("ab"),
        lambda m: m.pre_tokenizers.Metaspace(prepend_scheme="wrong"),
        lambda m: m.normalizers.Replace(5, "a"),
        lambda m: m.normalizers.Replace("a", "b").pattern,
        lambda m: m.normalizers.Sequence([5]),
        lambda m: m.processors.TemplateProcessing("[CLS] $0"),
        lambda m: m.processors.TemplateProcessing("$$"),
        lambda m: m.processors.BertProcessing("a", "b"),
        lambda m: m.models.BPE({"a": 0}),
        lambda m: m.models.BPE(dropout=3.0),
        lambda m: m.models.BPE("/no/such/file", "/no/such/file"),
        lambda m: m.Tokenizer(m.normalizers.NFC()),
        lambda m: m.decoders.Metaspace("ab"),
    ],
)
def test_errors(call: Make) -> None:
    assert outcome(lambda: call(face)) == outcome(lambda: call(tokenizers)) != None  # noqa: E711


def test_models_that_sample_are_refused() -> None:
    m = face
    tokenizer = m.Tokenizer(m.models.BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=[("a", "b")], dropout=0.5))
    again = m.Tokenizer.from_str(tokenizer.to_str())
    unigram = m.Tokenizer(m.models.Unigram([("a", -1.0), ("b", -1.0)], unk_id=0, alpha=0.1, nbest_size=4))
    for sampling in (tokenizer, again, unigram):
        with pytest.raises(NotImplementedError, match="samples segmentations"):
            sampling.encode("ab")
        with pytest.raises(NotImplementedError, match="samples segmentations"):
            sampling.encode_batch(["ab"])
    tokenizer.model.dropout = None
    assert tokenizer.encode("ab").ids == [2]


def test_a_template_without_entries_can_be_read() -> None:
    model = {"type": "WordPiece", "vocab": {}, "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    processor = {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
    document = {"model": {**model, "max_input_chars_per_word": 100}, "post_processor": processor}
    for package in (tokenizers, face):
        tokenizer = package.Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], **document}))
        assert json.loads(tokenizer.to_str())["post_processor"] == processor
        assert tokenizer.num_special_tokens_to_add(True) == 3
    tokenizer.model = face.models.WordPiece({"[SEP]": 102, "[CLS]": 101, "a": 0}, unk_token="a")
    assert tokenizer.encode("a").ids == [101, 0, 102]


@pytest.mark.parametrize(
    "model",
    [
        lambda m: m.models.Unigram([("a", 0.0)]),
        lambda m: m.models.WordLevel({"a": 0}),
        lambda m: m.models.WordPiece({"a": 0}, unk_token="?"),
        lambda m: m.models.BPE({"a": 0}, [], unk_token="[U]"),
    ],
)
def test_unknown_text_without_an_unknown_token_is_the_error_of_the_original(model: Any) -> None:
    class Unchanged:
        def normalize(self, text: Any) -> None:
            pass

    errors = []
    for package in (tokenizers, face):
        tokenizer, in_python = package.Tokenizer(model(package)), package.Tokenizer(model(package))
        in_python.normalizer = package.normalizers.Normalizer.custom(Unchanged())
        for call in (
            tokenizer.encode,
            lambda text, tokenizer=tokenizer: tokenizer.encode_batch([text]),
            tokenizer.model.tokenize,
            in_python.encode,
        ):
            with pytest.raises(Exception, match="unk|Unk|UNK") as caught:
                call("b")
            errors.append((type(caught.value), str(caught.value)))
    assert errors[4:] == errors[:4]


def test_the_members_of_models_that_concern_training_and_caches() -> None:
    for name in ("BPE", "WordPiece", "WordLevel", "Unigram"):
        theirs, ours = (getattr(package.models, name)().get_trainer() for package in (tokenizers, face))
        assert (type(ours), repr(ours)) == (
            getattr(face.trainers, type(theirs).__name__),
            repr(theirs),
        )
    for model in (face.models.BPE(), face.models.Unigram()):
        assert model._clear_cache() is model._resize_cache(10) is None
        with pytest.raises(OverflowError):
            model._resize_cache(-1)


def test_the_template_of_a_text_can_be_read_and_set() -> None:
    shown = []
    for package in (tokenizers, face):
        processor = package.processors.TemplateProcessing(
            single='[A] $A $B:1 "é"', pair="$A $B", special_tokens=[("[A]", 1), ('"é"', 2)]
        )
        shown.append([processor.single])
        for template in ("$A [A]", ["$A:1", "[A]"]):
            processor.single = template
            shown[-1] += [processor.single, str(processor)]
        with pytest.raises(TypeError):
            processor.single = 3
    assert shown[0] == shown[1]
    with pytest.raises(ValueError, match="Missing"):
        processor.single = "[B] $A"


@pytest.mark.parametrize("text", ['a"b', "é", "\\", "\n", "\0", "a" * 130])
def test_texts_are_not_escaped_in_a_repr(text: str) -> None:
    shown = []
    for package in (tokenizers, face):
        tokenizer = package.Tokenizer(package.models.WordLevel({text: 0}, text))
        tokenizer.add_tokens([f"x{text}"])
        many = package.models.WordLevel({f"{text}{number}": number for number in range(150)})
        parts = package.normalizers.Replace(text, text), package.models.Unigram([(text, 0.5)], 0), many, tokenizer
        shown.append([(repr(part), str(part)) for part in parts])
    assert shown[0] == shown[1]


@pytest.mark.filterwarnings("ignore::polytok.compat.face.FaceWarning")
@pytest.mark.parametrize("make", [*NORMALIZERS, *PRE_TOKENIZERS, *PROCESSORS, *DECODERS, *MODELS, *OTHERS])
def test_pickles_are_read_both_ways(make: Make) -> None:
    theirs = make(tokenizers)
    data = pickle.dumps(theirs)
    with compat.installed("tokenizers"):
        ours = make(face)
        our_data, from_theirs = pickle.dumps(ours), pickle.loads(data)
    from_ours = pickle.loads(our_data)
    assert (type(from_theirs), type(from_ours)) == (type(ours), type(theirs))
    assert str(from_theirs) == str(from_ours) == str(theirs)
