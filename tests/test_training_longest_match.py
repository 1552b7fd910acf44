"""Tests training for longest match, against RWKV's readers, the plain twin and byte-pair encoding."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, models, pre_tokenizers, trainers
from tokenizers import Tokenizer as HuggingFaceTokenizer

import polytok
import texts
from optional_packages import rwkv_package
from polytok import Spec, Tokenizer, reference
from polytok.data import DEFAULT_PATTERN
from polytok.lists import emoji, kaomoji
from polytok.training import Counts, specs
from polytok.training.longest_match import LongestMatchTrainer

ROOT = Path(__file__).parents[1]
TEXTS = [path.read_bytes() for path in sorted((ROOT / "docs").glob("*.md"))[:6]]
NASTY = [
    *(
        b"\xff\xfe",
        b"\x80\x80",
        b"a\xc3",
        b"\xf0\x9f",
        "\u0085\u2028".encode(),
        b"\r\n",
        b"\n'\"",
        b"'",
        b"''",
        b'"\'"',
    ),
    *(b"\\n", b"\\U0001f600", b"\\", b"\\'", b" ' ", b"b'a'", b"1 'a' 1", b"\0\0", b"\x7f\x1b", b"  "),
    "é'\U0010ffff".encode(),
]


def train(*documents: bytes, **options: Any) -> Spec:
    trainer = LongestMatchTrainer(**options)
    trainer.push(documents)
    spec = trainer.finish()
    assert isinstance(spec, Spec)
    return spec


def entries(spec: Spec) -> list[bytes]:
    """Returns the entries except the bytes."""
    return spec.vocab.pieces()[256:]


@pytest.fixture(scope="module")
def trained_spec() -> Spec:
    return train(*TEXTS, vocab_size=1200, forced=NASTY, kaomoji=True)


def test_ids_are_those_of_rwkv_world(trained_spec: Spec) -> None:
    pieces = trained_spec.vocab.pieces()
    assert trained_spec.vocab.ids.tolist() == list(range(1, 1200))
    assert pieces[:256] == [bytes([byte]) for byte in range(256)]
    assert pieces == sorted(pieces, key=lambda piece: (len(piece), piece))
    assert set(NASTY) | set(kaomoji()) <= set(pieces)
    assert Tokenizer(trained_spec).vocab_size == 1200
    assert Tokenizer(trained_spec).encode("<|endoftext|>", special="all") == [0]


@pytest.mark.parametrize("name", ["vocab.txt", "vocab.gguf", "vocab.ptok"])
def test_files_give_the_same_vocabulary(trained_spec: Spec, tmp_path: Path, name: str) -> None:
    tokenizer = Tokenizer(trained_spec)
    losses = tokenizer.save(tmp_path / name, "rwkv" if name == "vocab.txt" else None)
    reloaded_tokenizer = polytok.load(tmp_path / name)
    data = b"".join(NASTY) + TEXTS[0]
    assert reloaded_tokenizer.encode(data) == tokenizer.encode(data)
    if name != "vocab.gguf":
        assert not losses
        assert reloaded_tokenizer.spec.vocab == trained_spec.vocab


def test_rwkvs_readers_encode_the_same(trained_spec: Spec, tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    tokenizer = Tokenizer(trained_spec)
    tokenizer.save(path, "rwkv")
    for line, piece in zip(path.read_text("utf-8").split("\n"), trained_spec.vocab.pieces(), strict=False):
        literal = ast.literal_eval(line[line.index(" ") : line.rindex(" ")].strip())
        assert (literal.encode() if isinstance(literal, str) else literal) == piece
        assert int(line[line.rindex(" ") :]) == len(piece)
    rwkv_tokenizer = rwkv_package().WorldTokenizer(str(path))
    words = texts.VocabularyPieces(trained_spec.vocab.pieces())
    for data in [*TEXTS, *texts.generate_texts(1, 400, words)]:
        text = data.decode(errors="ignore")
        assert tokenizer.encode(text) == rwkv_tokenizer.encode(text)


def test_the_plain_twin_encodes_the_same(trained_spec: Spec) -> None:
    tokenizer = Tokenizer(trained_spec)
    words = texts.VocabularyPieces(trained_spec.vocab.pieces())
    for data in [TEXTS[0][:5000], b"".join(NASTY), *texts.generate_texts(2, 200, words, has_invalid_utf8=True)]:
        ids = tokenizer.encode(data)
        assert ids == reference.encode(trained_spec, data)
        assert tokenizer.decode_bytes(ids) == data


def test_texts_need_fewer_tokens_than_with_byte_pair_entries() -> None:
    size = 2000
    our_tokenizer = Tokenizer(train(*TEXTS, vocab_size=size + 1))
    bpe = HuggingFaceTokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(Regex(DEFAULT_PATTERN), "isolated")
    bpe.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    bpe.train_from_iterator([text.decode() for text in TEXTS], trainer)
    bpe_tokenizer = polytok.load(bpe.to_str().encode())
    pieces = bpe_tokenizer.spec.vocab.pieces()
    vocab = polytok.Vocab.from_rows((piece, id, 0.0, polytok.Kind.NORMAL) for id, piece in enumerate(pieces))
    greedy = Tokenizer(Spec(vocab, polytok.spec.Longest()))
    tokens = [sum(tokenizer.count(text) for text in TEXTS) for tokenizer in (our_tokenizer, greedy, bpe_tokenizer)]
    assert tokens[0] < 0.97 * min(tokens[1:])


def test_neither_order_nor_threads_nor_batches_nor_memory_matter() -> None:
    expected = train(*TEXTS, vocab_size=900, threads=1)
    assert train(*reversed(TEXTS), vocab_size=900, threads=3) == expected
    trainer = LongestMatchTrainer(vocab_size=900)
    for text in TEXTS[::2] + TEXTS[1::2]:
        trainer.push([text])
    assert trainer.finish() == expected
    spec = polytok.train(TEXTS, kind="longest-match", vocab_size=900, max_memory="16M", threads=2)
    assert spec.spec == expected
    counts = polytok.count_words(TEXTS, kind="longest-match")
    assert train(vocab_size=900, counts=counts) == expected
    specs_by_size = specs(counts, "longest-match", vocab_size=[900, 600])
    assert specs_by_size[0] == expected
    assert [len(spec.vocab) for spec in specs_by_size] == [899, 599]


def test_the_pattern_limits_the_span_of_an_entry() -> None:
    text = b"in the middle of the night, " * 5
    words = entries(train(text, vocab_size=260, min_count=2))
    assert all(b" " not in entry[1:] and b"," not in entry[1:] for entry in words)
    for pattern in (None, ""):
        crossing = entries(train(text, vocab_size=258, min_count=2, pattern=pattern, max_piece_length=20))
        assert crossing == [b" of the night, in th"] or len(crossing[0]) == 20


def test_limits_of_entries() -> None:
    text = "日本語のテキスト、日本語の文章。" * 9
    free = train(text.encode(), vocab_size=270, min_count=2)
    assert max(len(entry.decode(errors="replace")) for entry in entries(free)) > 3
    short_vocab = train(text.encode(), vocab_size=267, min_count=2, max_piece_length=3, whole_characters=True)
    assert {len(entry.decode()) for entry in entries(short_vocab)} <= {1, 2, 3}
    narrow = train(text.encode(), vocab_size=266, min_count=2, max_piece_bytes=6)
    assert max(map(len, entries(narrow))) <= 6
    assert entries(train(b"ab ab ab cd", vocab_size=258, min_count=3)) in ([b"ab"], [b" ab"])


def test_rare_characters_share_their_first_bytes() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E40))).encode()
    assert entries(train(text, vocab_size=258, min_count=2)) == [b"\xe4\xb8"]


def test_text_can_be_invalid_utf8() -> None:
    spec = train(b"\xff\xfe\xff\xfe" * 4 + b"abab\xc3", vocab_size=258, min_count=2, pattern=None)
    assert Tokenizer(spec).decode_bytes(Tokenizer(spec).encode(b"\xfe\xff\xc3")) == b"\xfe\xff\xc3"
    report = polytok.TrainingReport()
    polytok.train([b"ab\xff ab", "ab"], kind="longest-match", vocab_size=258, min_count=2, report=report)
    assert (report.texts, report.skipped) == (2, {})


def test_lists_of_entries(tmp_path: Path) -> None:
    pytest.importorskip("emoji")
    path = tmp_path / "own.txt"
    path.write_bytes("eins\r\nzwei drei\n\neins\n\u6f22".encode())
    options: dict[str, Any] = {"forced": ["né", b"\xff\xff"], "forced_files": [path], "emoji": "basic"}
    spec = train(b"x", vocab_size=257 + len(emoji("basic")) + 5, **options)
    assert set(entries(spec)) == {"né".encode(), b"\xff\xff", b"eins", b"zwei drei", "漢".encode(), *emoji("basic")}
    assert {"👍🏽".encode(), "👩‍👩‍👧".encode(), "🏽".encode()} <= set(emoji())
    assert "👍🏽".encode() not in emoji("basic")
    assert {"👍", "❤️", "❤", "⌚", "⌚️", "🏳️‍🌈", "🏳‍🌈"} <= {entry.decode() for entry in emoji("basic")}


def test_symbols_get_the_variants_that_they_need() -> None:
    text = b"a (b) c (d)\n(e) " * 999 + b" ".join(b"%d-word" % number for number in range(300)) * 2
    report = polytok.TrainingReport()
    options: dict[str, Any] = {"kind": "longest-match", "min_count": 2, "whole_characters": True, "report": report}
    tokenizer = polytok.train([text], vocab_size=500, forced=["(^o^)!"], kaomoji=True, **options)
    pieces = set(tokenizer.spec.vocab.pieces())
    assert {b" (", b" (^_^)", b"(^_^)"} <= pieces
    assert b" (^o^)!" not in pieces
    for face in kaomoji():
        assert all(
            tokenizer.id_to_piece(tokenizer.encode(context + face)[-1]).endswith(face) for context in (b" ", b"\n")
        )
    assert report.notes and all(': "(^o^)!" after " " gives' in note for note in report.notes)
    with pytest.raises(polytok.ArgumentError, match=r"vocab_size is 370, which is not from 4\d\d"):
        polytok.train([text], vocab_size=370, kaomoji=True, **options)
    with pytest.warns(polytok.TrainingWarning, match="forced entries: after a space, 0 of 1 are one token"):
        polytok.train([text], "longest-match", vocab_size=270, min_count=2, forced=["(^o^)!"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 256}, "not from 257"),
        ({"vocab_size": 258, "forced": ["ab", "cd"]}, "not from 259"),
        ({"vocab_size": 65537}, "ids have 16 bits"),
        ({"vocab_size": 300, "max_piece_length": 0}, "max_piece_length=0"),
        ({"vocab_size": 300, "min_count": 0}, "min_count=0"),
        ({"vocab_size": 300, "threads": 0}, "threads=0"),
        (
            {"vocab_size": 300, "counts": Counts(split="a"), "pattern": "b+"},
            "other words than this training needs: split",
        ),
        ({"vocab_size": 300, "forced": "abc"}, "give a list"),
        ({"vocab_size": 300, "forced": [""]}, "cannot be empty"),
        ({"vocab_size": 9000, "emoji": "some"}, "is not"),
    ],
)
def test_options_are_checked_immediately(options: dict[str, Any], message: str) -> None:
    with pytest.raises(polytok.ArgumentError, match=message):
        LongestMatchTrainer(**options)


def test_too_little_text_is_an_error() -> None:
    with pytest.raises(polytok.ArgumentError, match="set vocab_size to at most 258"):
        train(b"ab ab", vocab_size=300)
    assert len(entries(train(vocab_size=257))) == 0


def test_too_much_work_is_refused_before_training() -> None:
    text = " ".join(f"{number:018b}".translate({48: "a", 49: "b"}) for number in range(100_000))
    with pytest.raises(polytok.ArgumentError, match=r"takes about \d+M of memory; raise max_memory to \d+M"):
        polytok.train([text], kind="longest-match", vocab_size=60_000, max_memory="16M", threads=1)
    with pytest.raises(polytok.ArgumentError, match="max_piece_length=65535 takes too long"):
        train(b"a" * 200_000, vocab_size=300, max_piece_length=65535)


def test_emoji_need_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "emoji", None)
    with pytest.raises(polytok.ArgumentError, match=r"polytok\[emoji\]"):
        LongestMatchTrainer(vocab_size=9000, emoji=True)


def test_progress_can_stop_training() -> None:
    stages: list[str] = []

    def stop(stage: str, done_count: int, total_count: int) -> None:
        stages.append(stage)
        if stage == "swapping entries":
            raise RuntimeError("enough")

    trainer = LongestMatchTrainer(vocab_size=900)
    trainer.push(TEXTS)
    with pytest.raises(RuntimeError, match="enough"):
        trainer.finish(stop)
    assert stages.index("finding frequent strings") < stages.index("dropping entries") < len(stages) - 1
