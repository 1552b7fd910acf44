"""Compares the trainers of SentencePiece's kinds with sentencepiece: the model files are equal, byte for byte."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest
import sentencepiece

import polytok
from polytok.errors import ArgumentError
from polytok.formats import sentencepiece as model_format
from polytok.formats.base import ReadOptions
from polytok.spec import Spec
from polytok.training import TrainingReport, kind_named, specs
from polytok.training.sentencepiece import vocab_text
from polytok.training.sentencepiece.normalization import named_charsmap

_WORDS = {
    "latin": "the quick brown fox jumps over 13 lazy dogs, and 2024's café-owner said: naïve! x² ™ ﬁne",
    "cyrillic": "съешь же ещё этих мягких французских булок да выпей чаю 42 раза №7",
    "japanese": "吾輩は猫である。 名前はまだ無い。 どこで生れたか ﾄﾝﾄ 見当がつかぬ。 ラーメン ２杯 𠮷野家",
    "arabic": "كل إنسان له حق في الحياة والحرية و ١٢٣ سلامة شخصه ، مُحَمَّد",
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में १२ जन्मजात स्वतन्त्रता",
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 ㄱㅏ 있어 동등하다 3번",
}
SCRIPTS = sorted(_WORDS)


def texts(script: str, count: int = 60) -> list[str]:
    """Returns sentences with special cases: runs of spaces, tabs, reserved texts, U+2581, U+2585, empty sentences."""
    rng = random.Random(script)
    words = _WORDS[script].split()
    spaces = [" ", " ", " ", "  ", "\t", "\u3000", " \u200b", "▁"]
    random_strings = [
        "".join(rng.choice(words) + rng.choice(spaces) for _ in range(rng.randrange(1, 14))) for _ in range(count)
    ]
    return [*random_strings, "", "  ", "a<sep>b</s>c<0x41>", "rare ▅ char", "abababab " * 3, "x" * 300]


def train_reference(items: list[str], **options: Any) -> bytes:
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(items), model_writer=out, minloglevel=4, **options)
    return out.getvalue()


def kind_of(model: str) -> str:
    """Returns the kind that trains SentencePiece's model type ``model``."""
    return "sentencepiece-bpe" if model == "bpe" else model


def train_ours(items: list[str], model: str, **options: Any) -> Spec:
    all_options = {"profile": "sentencepiece", "sentences": "items", **options}
    (spec,) = specs(items, kind_of(model), report=TrainingReport(), **all_options)
    return spec


CASES: list[tuple[str, dict[str, Any]]] = [
    ("bpe", {"vocab_size": 400}),
    ("bpe", {"vocab_size": 300, "character_coverage": 0.98, "normalization_rule_name": "identity"}),
    ("bpe", {"vocab_size": 600, "byte_fallback": True, "split_digits": True, "remove_extra_whitespaces": False}),
    ("bpe", {"vocab_size": 400, "split_by_whitespace": False, "split_by_unicode_script": False}),
    ("bpe", {"vocab_size": 400, "treat_whitespace_as_suffix": True, "split_by_number": False}),
    ("bpe", {"vocab_size": 400, "allow_whitespace_only_pieces": True, "normalization_rule_name": "identity"}),
    ("bpe", {"vocab_size": 400, "user_defined_symbols": ["<sep>", "</s>", "▁a"], "control_symbols": ["<c>", "e"]}),
    ("bpe", {"vocab_size": 350, "required_chars": "zqé漢", "max_sentencepiece_length": 3, "pad_id": 3}),
    ("bpe", {"vocab_size": 400, "pretokenization_delimiter": "a", "add_dummy_prefix": False}),
    ("bpe", {"vocab_size": 400, "unk_id": 5, "bos_id": -1, "max_sentence_length": 60, "unk_surface": "?"}),
    ("bpe", {"vocab_size": 420, "auto_character_coverage": True, "byte_fallback": True}),
    ("word", {"vocab_size": 80, "user_defined_symbols": ["<sep>", "▁x"]}),
    ("word", {"vocab_size": 80, "use_all_vocab": True, "add_dummy_prefix": False}),
    ("word", {"vocab_size": 40, "character_coverage": 0.98, "normalization_rule_name": "nfkc"}),
    ("char", {"vocab_size": 60}),
    ("char", {"vocab_size": 400, "byte_fallback": True, "use_all_vocab": True, "character_coverage": 1.0}),
]


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(("model", "options"), CASES)
def test_models_are_the_same(script: str, model: str, options: dict[str, Any]) -> None:
    options = {"hard_vocab_limit": False, **options}
    expected = train_reference(texts(script), model_type=model, **options)
    spec = train_ours(texts(script), model, **options)
    expected_spec = model_format.read(expected, ReadOptions())
    assert spec.vocab.pieces() == expected_spec.vocab.pieces()
    assert spec.vocab == expected_spec.vocab
    written_model = model_format.write(spec)
    assert written_model.data == expected and not written_model.losses
    assert model_format.read(expected, ReadOptions()).extra == spec.extra


@pytest.mark.parametrize("name", ["nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"])
def test_character_maps_are_the_same(name: str) -> None:
    expected = train_reference(["a b"], model_type="char", vocab_size=5, normalization_rule_name=name)
    (normalize,) = model_format.read(expected, ReadOptions()).normalize
    assert named_charsmap(name) == normalize.charsmap  # type: ignore[union-attr]


def test_normalization_rules_from_files(tmp_path: Any) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text("41\t61\nU+63 64\t\t# gone\n3042 3099\t78 20 79\n", "utf-8")
    options = {"vocab_size": 30, "hard_vocab_limit": False, "normalization_rule_tsv": str(rules)}
    items = ["A cd b あ\u3099 AcdA"] * 3
    assert model_format.write(train_ours(items, "bpe", **options)).data == train_reference(
        items, model_type="bpe", **options
    )
    all_options = {**options, "denormalization_rule_tsv": str(rules)}
    assert model_format.write(train_ours(items, "char", **all_options)).data == train_reference(
        items, model_type="char", **all_options
    )


def test_files_are_read_by_lines(tmp_path: Any) -> None:
    """Trains from a file to .model and .vocab. The report names reserved characters and lines that are too long."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes("\r\n".join(texts("latin")).encode() + b"\n\n\xff\xfe a\n")
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / "m"), vocab_size=150, model_type="bpe", max_sentence_length=200
    )
    report = TrainingReport()
    (spec,) = specs(
        corpus,
        "sentencepiece-bpe",
        profile="sentencepiece",
        vocab_size=150,
        max_sentence_length=200,
        bad_bytes="keep",
        report=report,
    )
    expected = model_format.read((tmp_path / "m.model").read_bytes(), ReadOptions())
    assert spec.vocab == expected.vocab
    assert vocab_text(spec) == (tmp_path / "m.vocab").read_bytes()
    assert report.skipped == {"longer than 200 bytes": 1, "contains U+2585": 1}


@pytest.mark.parametrize("model", ["bpe", "word", "char"])
def test_counted_lines(tmp_path: Any, model: str) -> None:
    table = tmp_path / "words.tsv"
    table.write_text("hello world\t7\nhello\t3000000000\nwörld\t2\n", "utf-8")
    prefix = tmp_path / "m"
    options = {"vocab_size": 30, "hard_vocab_limit": False, "character_coverage": 1.0}
    sentencepiece.SentencePieceTrainer.train(
        input=str(table), input_format="tsv", model_prefix=str(prefix), model_type=model, **options
    )
    (spec,) = specs(table, kind_of(model), profile="sentencepiece", tsv=True, **options)
    assert spec.vocab == model_format.read(prefix.with_suffix(".model").read_bytes(), ReadOptions()).vocab
    with pytest.raises(ArgumentError, match="one tab"):
        train_ours(["no tab"], model, tsv=True, **options)


@pytest.mark.parametrize("model", ["bpe", "word", "char"])
def test_neither_threads_nor_batches_nor_memory_matter(model: str) -> None:
    options = {"profile": "sentencepiece", "vocab_size": 200, "hard_vocab_limit": False}
    items = [text.encode() for script in SCRIPTS for text in texts(script)]
    models = []
    for threads, size, memory in [(1, 1000, None), (3, 7, None), (2, 1, 2**20)]:
        trainer = kind_named(kind_of(model)).load()(**options, threads=threads, max_memory=memory)
        for start in range(0, len(items), size):
            trainer.push(items[start : start + size])
        models.append(trainer.finish())
    assert models[0] == models[1] == models[2]


def test_the_first_sentences(tmp_path: Any) -> None:
    options = {
        "vocab_size": 200,
        "hard_vocab_limit": False,
        "input_sentence_size": 101,
        "shuffle_input_sentence": False,
    }
    items = [text for script in SCRIPTS for text in texts(script)]
    assert model_format.write(train_ours(items, "bpe", **options)).data == train_reference(
        items, model_type="bpe", **options
    )
    shuffle_options = {**options, "shuffle_input_sentence": True}
    assert train_ours(items, "bpe", **shuffle_options) == train_ours(items, "bpe", **shuffle_options)


def test_a_trained_model_encodes_the_same_in_sentencepiece() -> None:
    spec = train_ours(
        texts("latin") + texts("japanese"), "bpe", vocab_size=700, byte_fallback=True, hard_vocab_limit=False
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model_format.write(spec).data)
    tokenizer = polytok.Tokenizer(spec)
    for text in [*texts("japanese"), *texts("korean")]:
        assert processor.encode(text) == tokenizer.encode(text, add_special=False)


@pytest.mark.parametrize("kind", ["sentencepiece-bpe", "char"])
def test_the_lossless_profile_is_lossless(kind: str) -> None:
    items = [
        *texts("latin"),
        "line\nbreaks\r\n\r\n",
        "   indented",
        "tabs\t\tand   runs  ",
        "▅ block",
        "\x00 zero",
        "é e\u0301",
    ]
    tokenizer = polytok.train(items, kind=kind, vocab_size=500, hard_vocab_limit=False)
    for text in [item for item in items if "▁" not in item]:  # U+2581 itself decodes to a space
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_llama2c(tmp_path: Any) -> None:
    """Tests that one command writes the file that llama2.c's run.c reads."""
    corpus = tmp_path / "stories.txt"
    corpus.write_text("\n".join(texts("latin")), "utf-8")
    options = {
        "character_coverage": 1.0,
        "split_digits": True,
        "allow_whitespace_only_pieces": True,
        "byte_fallback": True,
        "unk_surface": " \u2047 ",
        "normalization_rule_name": "identity",
        "hard_vocab_limit": False,
    }
    expected = model_format.read(
        train_reference(texts("latin"), model_type="bpe", vocab_size=400, **options), ReadOptions()
    )
    from polytok.cli import main

    out = tmp_path / "tokenizer.bin"
    command = ["train", str(corpus), "--kind", "sentencepiece-bpe", "--profile", "llama2c", "--vocab-size", "400"]
    assert main([*command, "--no-hard-vocab-limit", "-o", str(out)]) == 0
    tokenizer = polytok.load(str(out))
    pieces = [piece.replace("▁".encode(), b" ") for piece in expected.vocab.pieces()]
    assert tokenizer.spec.vocab.pieces()[3:] == pieces[3:]
    assert tokenizer.spec.vocab.scores.tolist() == expected.vocab.scores.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 0}, "vocab_size"),
        ({"character_coverage": 0.5}, "character_coverage"),
        ({"max_sentencepiece_length": 600}, "max_sentencepiece_length"),
        ({"input_sentence_size": 50}, "input_sentence_size"),
        ({"use_all_vocab": True}, "use_all_vocab"),
        ({"unk_id": -1}, "unknown piece"),
        ({"bos_id": 0}, "bos_id=0"),
        ({"eos_id": 1000}, "eos_id"),
        ({"user_defined_symbols": ["<unk>"]}, "unknown piece"),
        ({"user_defined_symbols": ["a", "a"]}, "twice"),
        ({"byte_fallback": True, "vocab_size": 200}, "too small for 259"),
        ({"normalization_rule_name": "nfd"}, "nfd"),
        ({"profile": "other"}, "profile"),
        ({"sentencepiece_version": "0.1"}, "sentencepiece_version"),
        ({"bos_piece": ""}, "bos_piece"),
    ],
)
def test_options_are_checked_immediately(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        kind_named("sentencepiece-bpe").load()(**{"vocab_size": 100, "profile": "sentencepiece", **options})


def test_impossible_vocabulary_sizes() -> None:
    with pytest.raises(ArgumentError, match="too small for"):
        train_ours(texts("japanese"), "bpe", vocab_size=20)
    with pytest.raises(ArgumentError, match="too high, because the texts allow"):
        train_ours(["a b"], "bpe", vocab_size=200)
    with pytest.raises(ArgumentError, match="nothing to train on"):
        train_ours(["", " "], "bpe", vocab_size=200)
