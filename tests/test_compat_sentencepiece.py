"""polytok.compat.sentencepiece: the test suite of sentencepiece 0.2.0, and the same calls to sentencepiece 0.2.3."""

import io
import itertools
import os
import pickle
import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sentencepiece as original

from peers.suites import PEERS, check_suite, needs_peers, run_suite
from polytok import compat
from polytok.compat import sentencepiece as face
from polytok.compat.sentencepiece.normalizing import NormalizingEngine
from polytok.records import replace
from polytok.reference.sentencepiece_normalize import normalize
from polytok.reference.stages import Aligned
from polytok.spec import Kind
from reference_specs import DATA

MODELS = sorted((DATA / "vocab" / "sentencepiece").glob("*.model"))
TEXTS = [
    "",
    " ",
    "Hello world.",
    " I  saw 藤藤é ㍻\n",
    "😀a\u0000b ▁x",
    "ＡＢＣ clear   spaces \t and tabs",
    "清水寺は京都にある。",
    "<s> control </s> <unk> <pad>",
    "ﷺ ½ ﬁ e\u0301 \u200b zero",
]
KINDS = (int, str, bytes, "serialized_proto", "offset_mapping")


@pytest.fixture
def old_line() -> Iterator[None]:
    face.set_line("0.2.1")
    yield
    face.set_line("0.2.3")


@needs_peers
def test_the_suite_of_sentencepiece_0_2_0_passes(tmp_path: Path) -> None:
    source = PEERS / "sentencepiece-0.2.0" / "python" / "test"
    shutil.copytree(source, tmp_path / "test", copy_function=shutil.copyfile)
    (tmp_path / "old_line.py").write_text("import sentencepiece\nsentencepiece.set_line('0.2.1')\n")
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    result = run_suite(
        tmp_path,
        ["sentencepiece"],
        tmp_path / "report.xml",
        tests=["-p", "old_line", "test/sentencepiece_test.py"],
        environment={"PYTHONPATH": paths},
    )
    check_suite(result, passes=23)


def result(call: Any) -> Any:
    """Returns what a call returns, or the type of its error."""
    try:
        value = call()
    except Exception as error:
        return next(kind for kind in (IndexError, TypeError, ValueError, RuntimeError) if isinstance(error, kind))
    return value.SerializeToString() if hasattr(value, "SerializeToString") else value


def random_texts(count: int) -> list[str]:
    draw = random.Random(19)
    parts = [*"ab éß藤京都 ▁．Ａ\u3000\n\t😀㍻", "the ", "ing", "<s>", "  ", "▁the", "\ufffd"]
    return ["".join(draw.choices(parts, k=draw.randrange(1, 14))) for _ in range(count)]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_texts_are_encoded_and_decoded_as_by_the_original(path: Path) -> None:
    theirs, ours = (package.SentencePieceProcessor(model_file=str(path)) for package in (original, face))
    texts = TEXTS + random_texts(40)
    for kind in KINDS:
        assert ours.encode(texts, out_type=kind) == theirs.encode(texts, out_type=kind)
        for text in texts:
            assert ours.encode(text, out_type=kind) == theirs.encode(text, out_type=kind), (kind, text)
            assert ours.encode(text.encode(), out_type=kind) == theirs.encode(text.encode(), out_type=kind)
    for text in texts:
        ids, pieces = theirs.encode(text), theirs.encode(text, out_type=str)
        for kind in (str, bytes, "serialized_proto", "offset_mapping", "proto"):
            for row in (ids, ids[::-1], ids[1:], pieces, [*pieces, "▁no such piece"], [ids, ids[:2]]):
                want = result(lambda row=row, kind=kind: theirs.decode(row, out_type=kind))
                got = result(lambda row=row, kind=kind: ours.decode(row, out_type=kind))
                assert got == want or str(got) == str(want), (kind, row)
        for flags in ({"add_bos": True}, {"add_eos": True, "reverse": True}, {"emit_unk_piece": True}):
            for kind in (int, str, bytes, "proto"):
                want = result(lambda text=text, flags=flags, kind=kind: theirs.encode(text, out_type=kind, **flags))
                assert (
                    result(lambda text=text, flags=flags, kind=kind: ours.encode(text, out_type=kind, **flags)) == want
                )
        assert ours.normalize(text) == theirs.normalize(text)
        assert ours.normalize(text, with_offsets=True) == theirs.normalize(text, with_offsets=True)
        assert ours.normalize(text.encode(), with_offsets=True) == theirs.normalize(text.encode(), with_offsets=True)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_vocabularies_are_those_of_the_original(path: Path) -> None:
    theirs, ours = (package.SentencePieceProcessor(model_file=str(path)) for package in (original, face))
    assert len(ours) == len(theirs)
    ids = list(range(len(theirs)))
    assert ours.id_to_piece(ids) == theirs.id_to_piece(ids)
    assert ours.get_score(ids) == theirs.get_score(ids)
    pieces = theirs.id_to_piece(ids)
    assert ours.piece_to_id(pieces) == theirs.piece_to_id(pieces)
    for name in ("is_unknown", "is_control", "is_unused", "is_byte"):
        assert getattr(ours, name)(ids) == getattr(theirs, name)(ids)
    for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
        assert getattr(ours, name)() == getattr(theirs, name)()
    assert ours["no such piece"] == theirs["no such piece"] == ours.unk_id()


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_texts_are_normalized_as_by_the_original(path: Path) -> None:
    ours, theirs = (package.SentencePieceProcessor(model_file=str(path)) for package in (face, original))
    user_defined = [theirs.id_to_piece(id) for id in range(len(theirs)) if ours._model.kinds[id] == Kind.USER_DEFINED]
    choices = [*"ab  \t\n\u3000\u2581é\u0301ﬁ\ufdfaｱﾞ😀\x00\u200b안\u1100\u1161", *user_defined[:5]]
    generator = random.Random(7)
    for _ in range(100):
        text = "".join(generator.choices(choices, k=generator.choice([0, 1, 2, 3, 8, 30])))
        for source in (text, text.encode()):
            for with_offsets in (False, True):
                expected = theirs.normalize(source, with_offsets=with_offsets)
                assert ours.normalize(source, with_offsets=with_offsets) == expected
    step = ours._model.normalizer
    for flags in itertools.product((False, True), repeat=3):
        names = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
        changed_step = replace(step, **dict(zip(names, flags, strict=True)))
        engine = ours._model.with_normalizer(dict(zip(names, flags, strict=True))).normalizing
        for _ in range(10):
            text = "".join(generator.choices(choices, k=8))
            data = text.encode().replace(b"a", generator.choice([b"\xff", b"\xe3\x80", b"a"]))
            expected = normalize(changed_step, data, [piece.encode() for piece in user_defined])
            assert Aligned(*engine.with_offsets(data, False)) == expected
            assert engine.text(data) == expected.text
            if not user_defined:
                assert NormalizingEngine.of_step(changed_step).text(data) == expected.text


@pytest.mark.skipif(not MODELS, reason="needs the vocabularies")
def test_messages_of_long_texts_and_pieces_are_those_of_the_original() -> None:
    for path in MODELS:
        ours, theirs = (package.SentencePieceProcessor(model_file=str(path)) for package in (face, original))
        for text in ("", "\ufdfa", "\ufdfa" * 99, "😀é \x00", "a\ufdfab " * 15000):
            assert ours.encode(text, out_type="serialized_proto") == theirs.encode(text, out_type="serialized_proto")


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_messages_of_random_bytes_and_ids_are_those_of_the_original(path: Path) -> None:
    theirs, ours = (package.SentencePieceProcessor(model_file=str(path)) for package in (original, face))
    draw = random.Random(23)
    parts = [b"the ", b" ", b"a", b"\xff", b"\xe8\x97", "藤".encode(), "😀".encode(), "\ua9fa".encode(), "ﷺ".encode()]
    kinds = ("serialized_proto", "proto", "offset_mapping")
    for _ in range(60):
        data = b"".join(draw.choices(parts, k=draw.randrange(12)))
        for text, kind in itertools.product((data, data.decode(errors="replace")), kinds):
            want, got = (result(partial(each.encode, text, return_type=kind)) for each in (theirs, ours))
            assert got == want, (text, kind)
    few = [id for id in range(len(theirs)) if theirs.is_byte(id)] or [0]
    spaces = [id for id in range(len(theirs)) if theirs.id_to_piece(id).startswith("▁")][:9]
    for _ in range(60):
        choices = [range(len(theirs)), few, spaces, range(4)]
        ids = [draw.choice(draw.choice(choices)) for _ in range(draw.randrange(1, 20))]
        pieces = theirs.id_to_piece(ids)
        for row, kind in itertools.product((ids, pieces), kinds):
            want, got = (result(partial(each.decode, row, return_type=kind)) for each in (theirs, ours))
            assert got == want, (row, kind)


@pytest.mark.skipif(not MODELS, reason="needs the vocabularies")
def test_nbest_segmentations_are_those_of_the_original() -> None:
    path = DATA / "vocab" / "sentencepiece" / "test_model.model"
    theirs, ours = (package.SentencePieceProcessor(model_file=str(path)) for package in (original, face))
    for text in TEXTS[2:]:
        for kind in (int, str, bytes):
            assert ours.nbest_encode(text, nbest_size=4, out_type=kind) == theirs.nbest_encode(
                text, nbest_size=4, out_type=kind
            )
        want = theirs.nbest_encode(text, nbest_size=3, out_type="proto")
        for got, best in zip(ours.nbest_encode(text, nbest_size=3, out_type="proto").nbests, want.nbests, strict=True):
            assert str(got.pieces) == str(best.pieces)
            assert got.score == pytest.approx(best.score, rel=1e-6)


@pytest.mark.skipif(not MODELS, reason="needs the vocabularies")
def test_wrong_values_raise_the_errors_of_the_original() -> None:
    path = DATA / "vocab" / "sentencepiece" / "test_model.model"
    theirs, ours = (package.SentencePieceProcessor(model_file=str(path)) for package in (original, face))
    empty = (original.SentencePieceProcessor(), face.SentencePieceProcessor())
    calls: list[Any] = [
        lambda sp: sp.encode(3),
        lambda sp: sp.encode(None),
        lambda sp: sp.encode(["a", 3]),
        lambda sp: sp.encode(("a", "b")),
        lambda sp: sp.encode("a", out_type="x"),
        lambda sp: sp.encode("a", out_type=int, return_type=int),
        lambda sp: sp.encode("a", return_bytes=True),
        lambda sp: sp.encode("a", str),
        lambda sp: sp.encode("a", num_threads="1"),
        lambda sp: sp.encode("a", enable_sampling=True, nbest_size=1),
        lambda sp: sp.encode("a", add_bos=True, out_type="proto"),
        lambda sp: sp.encode("\ud800a"),
        lambda sp: sp.encode("a", out_type="immutable_proto"),
        lambda sp: sp.decode([1000]),
        lambda sp: sp.decode([-1]),
        lambda sp: sp.decode([1.5]),
        lambda sp: sp.decode([9], out_type=int),
        lambda sp: sp.decode([9], out_type="numpy"),
        lambda sp: [sp.decode(row) for row in ("", [], None, (9, 9), 3, "▁a", [[], ["a"]])],
        lambda sp: sp.id_to_piece(1000),
        lambda sp: sp.id_to_piece(-1),
        lambda sp: sp.id_to_piece("a"),
        lambda sp: sp.piece_to_id(3),
        lambda sp: sp.nbest_encode("a", out_type="offset_mapping"),
        lambda sp: sp.parallel_encode("a", chunk_len=0),
        lambda sp: sp.parallel_encode("hello world", chunk_len=3, out_type=str),
        lambda sp: sp.sample_encode_as_ids("a", 600, 0.1),
        lambda sp: sp.Load("/no/such/file"),
        lambda sp: sp.Load(),
        lambda sp: sp.LoadFromSerializedProto(b"abc"),
    ]
    for number, call in enumerate(calls):
        assert result(lambda call=call: call(ours)) == result(lambda call=call: call(theirs)), number
        if number < 14:
            assert result(lambda call=call: call(empty[1])) == result(lambda call=call: call(empty[0])), number


@pytest.mark.skipif(not MODELS, reason="needs the vocabularies")
def test_samples_are_segmentations_of_the_text() -> None:
    processor = face.SentencePieceProcessor(model_file=str(DATA / "vocab" / "sentencepiece" / "test_model.model"))
    seen = set()
    for _ in range(30):
        pieces = processor.encode("hello 藤 world", enable_sampling=True, alpha=0.1, out_type=str)
        seen.add(tuple(pieces))
        assert "".join(pieces) == "▁hello▁藤▁world"
    assert len(seen) > 1
    face.set_random_generator_seed(7)
    first = processor.sample_encode_as_ids("hello world", -1, 0.1)
    face.set_random_generator_seed(7)
    assert processor.sample_encode_as_ids("hello world", -1, 0.1) == first


def trained(package: Any, texts: list[str], **options: Any) -> bytes:
    model = io.BytesIO()
    keywords = {"sentence_iterator": iter(texts), "model_writer": model, "minloglevel": 2, **options}
    if package is face:
        package.SentencePieceTrainer.train(**keywords)
    else:
        package.SentencePieceTrainer.Train(**keywords)
    return model.getvalue()


@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word", "char"])
def test_models_are_trained_byte_for_byte(model_type: str) -> None:
    texts = ["low lower lowest", "new newer newest, wide wider", "the 1234 times"] * 9
    options: dict[str, Any] = {"model_type": model_type, "vocab_size": 26, "user_defined_symbols": ["<x>", "a,b"]}
    if model_type == "word":
        options["vocab_size"] = 12
    assert trained(face, texts, **options) == trained(original, texts, **options)


def test_flags_in_a_text_train_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("low lower lowest\nnew newer newest\n" * 9)
    flags = "--input=in.txt --model_prefix=m --vocab_size=20 --model_type=bpe --minloglevel=2 --input_format=text"
    files = []
    for package in (original, face):
        package.SentencePieceTrainer.Train(flags)
        files.append((Path("m.model").read_bytes(), Path("m.vocab").read_bytes()))
    assert files[0] == files[1]
    for call in ("--foo=1", "--input=/no/such/file --model_prefix=x --vocab_size=10", "--input=in.txt"):
        with pytest.raises(RuntimeError):
            face.SentencePieceTrainer.Train(call)


def test_normalizers_are_those_of_the_original() -> None:
    texts = ["Ａ  b", "㍻", "", "  ", "é\tﬁ"]
    for options in (
        {"rule_name": "nfkc"},
        {"rule_name": "nmt_nfkc_cf", "add_dummy_prefix": False},
        {"rule_name": "identity", "remove_extra_whitespaces": False, "escape_whitespaces": False},
        {"norm_map": [("a", "bc"), ("é", "e")]},
    ):
        ours, theirs = face.SentencePieceNormalizer(**options), original.SentencePieceNormalizer(**options)
        for normalizer in (ours, pickle.loads(pickle.dumps(ours))):
            assert normalizer.normalize(texts, with_offsets=True) == theirs.normalize(texts, with_offsets=True)
        spec = ours.serialized_normalizer_spec()
        copy = original.SentencePieceNormalizer(normalizer_spec=spec)
        assert copy.normalize(texts) == theirs.normalize(texts)
    with pytest.raises(ValueError, match="no model is specified"):
        face.SentencePieceNormalizer()
    with pytest.raises(RuntimeError):
        face.SentencePieceNormalizer(rule_name="zz")


@pytest.mark.skipif(not MODELS, reason="needs the vocabularies")
@pytest.mark.filterwarnings("ignore::polytok.compat.face.FaceWarning")
def test_processors_are_pickled_and_messages_do_not_clash() -> None:
    from sentencepiece import sentencepiece_model_pb2 as their_messages

    from polytok.compat.sentencepiece import sentencepiece_model_pb2 as our_messages

    path = DATA / "vocab" / "sentencepiece" / "test_model.model"
    processor = face.SentencePieceProcessor.from_file(str(path), out_type=str, add_bos=True)
    copy = pickle.loads(pickle.dumps(processor))
    assert copy.encode("hello") == processor.encode("hello") and copy.encode("hello")[0] == "<s>"
    data = pickle.dumps(original.SentencePieceProcessor(model_file=str(path)))
    with compat.installed("sentencepiece"):
        our_data, from_theirs = pickle.dumps(processor), pickle.loads(data)
    assert isinstance(from_theirs, face.SentencePieceProcessor)
    assert from_theirs.encode("hello") == pickle.loads(our_data).encode("hello", out_type=int, add_bos=False)
    ours, theirs = (module.ModelProto.FromString(path.read_bytes()) for module in (our_messages, their_messages))
    assert str(ours) == str(theirs) and ours.SerializeToString() == theirs.SerializeToString()
    assert face.SentencePieceProcessor(model_proto=ours).encode("hello") == processor.encode(
        "hello", add_bos=False, out_type=int
    )


@pytest.mark.skipif(not MODELS, reason="needs the vocabularies")
@pytest.mark.usefixtures("old_line")
def test_the_line_0_2_1_has_its_errors_and_methods() -> None:
    path = DATA / "vocab" / "sentencepiece" / "test_model.model"
    processor = face.SentencePieceProcessor(model_file=str(path))
    assert face.__version__ == "0.2.1"
    with pytest.raises(RuntimeError, match="unknown out_type=x"):
        processor.encode("a", out_type="x")
    with pytest.raises(OSError, match="Not found"):
        processor.Load("/no/such/file")
    assert processor.encode("a b", str) == ["▁a", "▁b"]
    text = processor.encode("é b", out_type="immutable_proto")
    assert [(piece.piece, piece.begin, piece.end) for piece in text.pieces] == [("▁", 0, 0), ("é", 0, 1), ("▁b", 1, 3)]
    assert processor.set_vocabulary(["▁hello"]) and processor.encode("hello") != []
    assert processor.reset_vocabulary()
