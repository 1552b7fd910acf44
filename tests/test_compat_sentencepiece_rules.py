"""polytok.compat.sentencepiece: pretokenizers and normalizers of sentencepiece 0.2.3, compared with the original."""

import inspect
import io
import itertools
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece as original

from polytok.compat import sentencepiece as face
from reference_specs import DATA

MODEL = str(DATA / "vocab" / "sentencepiece" / "test_model.model")
WORDS = 12 * [
    "Low lower lowest 12345",
    "don't  newer newest ﬁ",
    "foo bar <s> apple",
    "\u2585 skipped",
    "藤の newer wide",
]
CAMEL = re.compile(r"'[a-zA-Z]+|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d{1,3}|[^\w\s]|▁+|\w+|\s+")
RULES = [("foo", "bar"), ("apple", "orange"), ("e", "E"), ("藤", "")]


def trained(package: Any, **options: Any) -> Any:
    """Returns the bytes of a trained model, or the type of the error and the start of its message."""
    model = io.BytesIO()
    if "normalizer" in options:
        options["normalizer"] = package.SentencePieceNormalizer(**options["normalizer"])
    defaults = {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2}
    try:
        package.SentencePieceTrainer.train(sentence_iterator=iter(WORDS), model_writer=model, **{**defaults, **options})
    except Exception as error:
        return type(error), str(error).partition(":")[0]
    return model.getvalue()


def fails(sentence: str) -> list[str]:
    raise KeyError(sentence)


@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word", "char"])
@pytest.mark.parametrize(
    "pretokenizer",
    [CAMEL.findall, lambda text: [text[:3], text[3:]], lambda text: ["hello"], fails, lambda text: [1]],
    ids=["pattern", "cut", "other", "fails", "number"],
)
def test_pretokenizers_divide_the_texts(model_type: str, pretokenizer: Callable[[str], list[str]]) -> None:
    options: dict[str, Any] = {"model_type": model_type, "pretokenizer": pretokenizer}
    for more in (
        {},
        {"user_defined_symbols": ["newer", "foo"], "byte_fallback": True, "vocab_size": 330},
        {"normalization_rule_name": "identity", "add_dummy_prefix": False, "max_sentence_length": 20},
        {"allow_inconsistent_pretokenization": True},
        {"pretokenization_delimiter": "||"},
        {"split_digits": True, "treat_whitespace_as_suffix": True, "required_chars": "xyz"},
    ):
        assert trained(face, **options, **more) == trained(original, **options, **more), more


def test_pretokenizers_divide_files_and_counted_texts(tmp_path: Path) -> None:
    file = tmp_path / "texts.tsv"
    file.write_text("".join(f"{text}\t{count}\n" for count, text in enumerate(WORDS, 1)), "utf-8")
    models = []
    for package in (original, face):
        package.SentencePieceTrainer.train(
            input=str(file),
            input_format="tsv",
            model_prefix=str(tmp_path / "m"),
            vocab_size=50,
            hard_vocab_limit=False,
            pretokenizer=CAMEL.findall,
            minloglevel=2,
        )
        models.append((tmp_path / "m.model").read_bytes())
    assert models[0] == models[1]


def test_the_type_is_recorded_if_it_is_given() -> None:
    for options in ({}, {"model_type": "unigram"}, {"model_type": "bpe"}):
        assert trained(face, **options) == trained(original, **options)


@pytest.mark.parametrize(
    "normalizer",
    [
        {"norm_map": RULES},
        {"norm_map": RULES, "add_dummy_prefix": False, "escape_whitespaces": True},
        {"norm_map": RULES, "add_dummy_prefix": True, "remove_extra_whitespaces": True},
        {"norm_map": RULES, "escape_whitespaces": False},
        {"rule_name": "nfkc_cf"},
        {"rule_name": "identity", "remove_extra_whitespaces": False},
        {"model_file": MODEL},
    ],
    ids=["rules", "escaped", "defaults", "spaces", "name", "identity", "model"],
)
def test_normalizers_are_trained_with(normalizer: dict[str, Any]) -> None:
    theirs, ours = (package.SentencePieceNormalizer(**normalizer) for package in (original, face))
    assert ours.serialized_model_proto() == theirs.serialized_model_proto()
    assert ours.serialized_normalizer_spec() == theirs.serialized_normalizer_spec()
    if normalizer.get("rule_name") == "identity":
        with pytest.raises(RuntimeError, match="No precompiled charsmap"):
            ours.Decompile()
    else:
        assert ours.Decompile() == theirs.Decompile()
    for more in ({}, {"model_type": "bpe", "pretokenizer": lambda text: [text[:4], text[4:]]}, {"name": "x"}):
        assert trained(face, normalizer=normalizer, **more) == trained(original, normalizer=normalizer, **more)


@pytest.mark.parametrize(
    "pairs",
    [
        [(b"\xff", b"bar")],
        [(b"foo", b"\xff")],
        [("", "bar")],
        [("foo", b"foo")],
        [("foo", "bar"), (b"foo", "baz")],
        {"foo": "bar"},
        [("foo",)],
        [("foo", "bar", "baz")],
        ["ab"],
        [("foo", 1)],
        [(b"foo", "bar"), ["a", "b"]],
    ],
    ids=repr,
)
def test_rules_are_checked_as_by_the_original(pairs: Any) -> None:
    results = []
    for package in (original, face):
        try:
            results.append(package.SentencePieceNormalizer(norm_map=pairs).Decompile())
        except Exception as error:
            results.append(next(kind for kind in (TypeError, ValueError, RuntimeError) if isinstance(error, kind)))
    assert results[0] == results[1]


def test_arrays_are_read_only_over_a_buffer() -> None:
    processor = face.SentencePieceProcessor(model_file=MODEL)
    for array in (processor.encode("hello world", return_type="numpy"), processor.encode("", return_type="numpy")):
        assert isinstance(array.base, memoryview)
        assert array.dtype == np.int32
        assert array.base.obj.data_address() == array.__array_interface__["data"][0]
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 9


def test_pieces_in_bytes_are_decoded_to_bytes() -> None:
    theirs, ours = (package.SentencePieceProcessor(model_file=MODEL) for package in (original, face))
    pieces = ours.encode("hello wörld", return_type=bytes)
    for row in (pieces, [pieces, [], pieces[:2]]):
        assert ours.decode(row, return_type="offset_mapping") == theirs.decode(row, return_type="offset_mapping")


def test_a_timeout_leaves_the_best_segmentation() -> None:
    processor = face.SentencePieceProcessor(model_file=MODEL)
    text = "the" * 5000
    best = processor.nbest_encode(text, nbest_size=4)
    assert len(best) == 4
    face.SetNBestTimeout(1)
    try:
        assert processor.nbest_encode(text, nbest_size=4) == best[:1]
        face.set_nbest_timeout(0)
        assert processor.nbest_encode(text, nbest_size=4) == best
    finally:
        face.SetNBestTimeout(30_000)


@pytest.mark.parametrize(
    "rules",
    [
        {"norm_map": [("e", "E"), ("\t", " "), ("x y", "z"), ("q", "")]},
        {"rule_name": "nmt_nfkc"},
        {"rule_name": "identity"},
        {"model_file": str(DATA / "vocab" / "sentencepiece" / "nai-t5.model")},
    ],
    ids=["rules", "nmt_nfkc", "identity", "symbols"],
)
def test_texts_of_ascii_are_normalized_as_by_the_original(rules: dict[str, Any]) -> None:
    draw = random.Random(3)
    parts = [*"abex q\t\n\r\x00\x1f", "  ", "x y", " the ", "word", "</s>"]
    texts = ["".join(draw.choices(parts, k=draw.randrange(9))) for _ in range(150)]
    for flags in itertools.product([False, True], repeat=3):
        names = ("add_dummy_prefix", "escape_whitespaces", "remove_extra_whitespaces")
        options = {**rules, **dict(zip(names, flags, strict=True))}
        theirs, ours = (package.SentencePieceNormalizer(**options) for package in (original, face))
        assert ours.normalize(texts) == theirs.normalize(texts)
    if "model_file" in rules:
        theirs, ours = (package.SentencePieceProcessor(**rules) for package in (original, face))
        assert ours.normalize(texts) == theirs.normalize(texts)


def test_decoded_messages_are_those_of_the_original() -> None:
    draw = random.Random(4)
    for name in ("llama2", "test_model", "nai-t5", "mistral01"):
        path = str(DATA / "vocab" / "sentencepiece" / f"{name}.model")
        theirs, ours = (package.SentencePieceProcessor(model_file=path) for package in (original, face))
        common = [*range(300), *theirs.piece_to_id(["▁", "▁▁", "▁the", "the"])]
        for _ in range(150):
            ids = draw.choices(common, k=draw.randrange(8))
            assert ours.decode(ids, return_type="serialized_proto") == theirs.decode(
                ids, return_type="serialized_proto"
            )
            pieces = theirs.id_to_piece(ids)
            assert ours.decode(pieces) == theirs.decode(pieces)


def test_the_methods_of_both_lines_are_there(tmp_path: Path) -> None:
    file = tmp_path / "rules.tsv"
    file.write_text("0041\t0042\n")
    normalizer = face.SentencePieceNormalizer(rule_name="identity", escape_whitespaces=False, add_dummy_prefix=False)
    assert normalizer.Normalize("A\uff21") == "A\uff21"
    assert normalizer.load_from_rule_name("nfkc")
    assert normalizer.Normalize("\uff21") == "▁A"
    assert normalizer.LoadFromRuleTSV(str(file))
    assert normalizer.Normalize("A") == "▁B"
    assert normalizer.LoadFromFile(MODEL)
    assert normalizer.LoadFromSerializedProto(Path(MODEL).read_bytes())
    processor = face.SentencePieceProcessor()
    processor.Init(model_file=MODEL, add_bos=True)
    assert processor.encode("a")[0] == processor.bos_id()
    with pytest.raises(NotImplementedError, match="add_bos="):
        processor.set_encode_extra_options("bos")
    with pytest.raises(NotImplementedError, match="reverse the ids"):
        processor.SetDecodeExtraOptions("reverse")


def test_the_signatures_are_those_of_the_original() -> None:
    for cls in ("SentencePieceProcessor", "SentencePieceNormalizer", "SentencePieceTrainer"):
        for name, theirs in vars(getattr(original, cls)).items():
            if not name.startswith("_") and inspect.isfunction(theirs):
                ours = getattr(getattr(face, cls), name)
                assert _parameters(ours) == _parameters(theirs), name


def _parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(item.name, item.kind, item.default) for item in inspect.signature(function).parameters.values()]
