"""Tests the doctor: for every finding, one Spec has it and another does not."""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polytok
from format_samples import (
    REAL,
    VOCAB,
    longest_spec,
    merges_spec,
    rank_spec,
    real,
    sentencepiece_spec,
    unigram_spec,
)
from polytok import cli, conversion
from polytok.conversion import adapted
from polytok.conversion.rows import with_texts
from polytok.doctor import CHECKS, Severity, examine, findings
from polytok.doctor.entries import find_unreachable
from polytok.doctor.origins import find_huggingface_errors
from polytok.doctor.reached import _FOLLOWING_BYTES, _completed_texts, find_unreached, unreached_entries
from polytok.doctor.round_trip import find_round_trip_errors
from polytok.doctor.splits import find_dropped_text
from polytok.formats import huggingface as huggingface_format
from polytok.formats.base import ReadOptions
from polytok.formats.tiktoken_known import LLAMA3, O200K
from polytok.probes import DIFFICULT_TEXTS
from polytok.spec import Bpe, Kind, LlamaCppDecode, PatternSplit, Prepend, Spec, SpecialToken, Vocab

COVERING = (PatternSplit(r"\s+|\S+"),)


def byte_vocab(*more_rows: tuple[bytes, int], kind: Kind = Kind.NORMAL) -> Vocab:
    """Returns rows of the 256 bytes and these entries."""
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)]
    return Vocab.from_rows([*rows, *((text, number, 0.0, kind) for text, number in more_rows)])


def scored_vocab(*pieces: tuple[str, float]) -> Vocab:
    rows = [(text.encode(), number, score, Kind.NORMAL) for number, (text, score) in enumerate(pieces, start=1)]
    return Vocab.from_rows([(b"<unk>", 0, 0.0, Kind.UNKNOWN), *rows])


def chars(vocab: Vocab) -> Spec:
    return unigram_spec(vocab=vocab, model=Bpe("score", symbols="chars"))


def digits(pattern: str) -> Spec:
    numbers = [(b"%03d" % number, 256 + 100 + number) for number in range(1000)]
    pairs = [(b"%02d" % number, 256 + number) for number in range(100)]
    return rank_spec(vocab=byte_vocab(*pairs, *numbers), split=(PatternSplit(pattern),))


WITH_AND_WITHOUT_FINDING: dict[str, tuple[Spec, Spec]] = {
    "not-usable": (rank_spec(split=(PatternSplit("("),)), rank_spec()),
    "id-out-of-range": (rank_spec(names={"eos": 999}), rank_spec(names={"eos": 256})),
    "special-id-taken": (rank_spec(special=(SpecialToken("<x>", 97),)), rank_spec(special=(SpecialToken("ab", 256),))),
    "special-id-shared": (
        rank_spec(special=(SpecialToken("<x>", 400), SpecialToken("<y>", 400))),
        rank_spec(special=(SpecialToken("<x>", 400), SpecialToken("<y>", 401))),
    ),
    "special-text-twice": (
        rank_spec(special=(SpecialToken("ab", 400),)),
        rank_spec(special=(SpecialToken("<x>", 400),)),
    ),
    "sparse-ids": (rank_spec(special=(SpecialToken("<x>", 10**6),)), rank_spec(special=(SpecialToken("<x>", 400),))),
    "duplicate-entry": (
        rank_spec(vocab=byte_vocab((b"ab", 256), (b"ab", 257))),
        rank_spec(),
    ),
    "unreachable-entry": (
        unigram_spec(vocab=scored_vocab(("a", -1.0), ("b", -1.0), ("ab", -9.0))),
        unigram_spec(vocab=scored_vocab(("a", -1.0), ("b", -1.0), ("ab", -1.5))),
    ),
    "entry-not-reached": (
        rank_spec(vocab=byte_vocab((b"a b", 256)), split=(PatternSplit(r"\s+|\S+"),)),
        rank_spec(vocab=byte_vocab((b"ab", 256)), split=(PatternSplit(r"\s+|\S+"),)),
    ),
    "not-used-after-space": (
        longest_spec(vocab=byte_vocab((b" (", 256), (b"(^_^)", 257))),
        longest_spec(vocab=byte_vocab((b" (", 256), (b"(^_^)", 257), (b" (^_^)", 258))),
    ),
    "missing-byte": (
        longest_spec(vocab=Vocab.from_rows([(b"a", 1, 0.0, Kind.NORMAL)])),
        longest_spec(),
    ),
    "missing-byte-piece": (unigram_spec(unknown="bytes"), unigram_spec()),
    "equal-scores": (
        chars(scored_vocab(("a", 0.0), ("b", 0.0), ("c", 0.0), ("ab", 0.0), ("bc", 0.0))),
        chars(
            scored_vocab(("a", 0.0), ("b", 0.0), ("c", 0.0), ("ab", -1.0), ("bc", -2.0), ("aa", -3.0), ("aaa", -3.0))
        ),
    ),
    "no-unknown-piece": (
        rank_spec(unknown="unk"),
        unigram_spec(),
    ),
    "literal-pattern": (
        rank_spec(split=(PatternSplit(r"\p{L}+", "isolated", is_regex=False),)),
        rank_spec(split=(PatternSplit(" ", "isolated", is_regex=False),)),
    ),
    "mistral-pattern": (
        rank_spec(
            special=(SpecialToken("[INST]", 301), SpecialToken("[TOOL_CALLS]", 302)), split=(PatternSplit(LLAMA3),)
        ),
        rank_spec(special=(SpecialToken("<s>", 301),), split=(PatternSplit(LLAMA3),)),
    ),
    "drops-text": (rank_spec(split=(PatternSplit(r"\w+"),)), rank_spec(split=COVERING)),
    "pattern-not-of-vocabulary": (digits(r"\d{1,2}|\D"), digits(r"\d{1,3}|\D")),
    "end-anchor": (
        rank_spec(split=(PatternSplit(r"\s+$|\s|\S+"),)),
        rank_spec(split=(PatternSplit(r"[$]+|\s|[^\s$]+"),)),
    ),
}


def gguf(**keys: bytes) -> Spec:
    """Returns the Spec of a GGUF file with these keys."""
    family: Any = "spm" if "spm" in keys else "bpe"
    fields = {f"tokenizer.ggml.{key}": (8, 8, 1, value) for key, value in keys.items() if key != "spm"}
    return rank_spec(
        decode=LlamaCppDecode(family), unknown="drop", extra={"gguf": {"keys": {"general.name": (), **fields}}}
    )


def with_eos_id(id: int) -> Spec:
    """Returns the Spec of a GGUF file that names an id of the end of text."""
    keys = {"general.name": (), "tokenizer.ggml.pre": (8, 8, 1, b"gpt-2"), "tokenizer.ggml.token_type": ()}
    keys["tokenizer.ggml.eos_token_id"] = (4, 4, 1, struct.pack("<I", id))
    facts = {"keys": keys, "version": 3, "big_endian": False}
    return rank_spec(decode=LlamaCppDecode("bpe"), unknown="drop", extra={"gguf": facts})


def huggingface(**parts: Any) -> Spec:
    """Returns the Spec of a tokenizer.json with these parts."""
    document = {"model": {"dropout": None}, "added_tokens": [], "decoder": {"type": "ByteLevel"}, **parts}
    return rank_spec(special=(SpecialToken("<x>", 301),), extra={"huggingface": {"document": document}})


def with_class(name: str) -> Spec:
    """Returns the Spec of a folder whose tokenizer_config.json names a class of transformers."""
    vocab = json.loads(conversion.write(rank_spec(), "huggingface").data)
    vocab["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    settings = json.dumps({"tokenizer_class": name}).encode()
    siblings = {"tokenizer_config.json": settings}
    return huggingface_format.read(json.dumps(vocab).encode(), ReadOptions(siblings=siblings))


ADDED = {"id": 301, "content": "<x>"}
TYPED = {"token_type": b""}
llama2c = adapted(sentencepiece_spec(), "llama2c").spec
spelled = replace(
    llama2c, vocab=with_texts(llama2c.vocab, [b"ab" if n == 1 else p for n, p in enumerate(llama2c.vocab.pieces())])
)
WITH_AND_WITHOUT_FINDING |= {
    "gguf-default-split": (gguf(**TYPED), gguf(pre=b"gpt-2", **TYPED)),
    "gguf-approximate-split": (gguf(pre=b"tekken", **TYPED), gguf(pre=b"gpt-2", **TYPED)),
    "gguf-no-token-types": (gguf(pre=b"gpt-2"), gguf(pre=b"gpt-2", **TYPED)),
    "gguf-space-prefix-unsaid": (gguf(spm=b"", **TYPED), gguf(spm=b"", add_space_prefix=b"\0", **TYPED)),
    "gguf-token-id-out-of-range": (with_eos_id(99_999), with_eos_id(0)),
    "dropout": (huggingface(model={"dropout": 0.1}), huggingface()),
    "added-id-ignored": (huggingface(added_tokens=[{**ADDED, "id": 400}]), huggingface(added_tokens=[ADDED])),
    "no-decoder": (huggingface(decoder=None), huggingface()),
    "space-behind-special": (replace(huggingface(), normalize=(Prepend("x"),)), huggingface()),
    "control-in-text": (spelled, llama2c),
    "transformers-rebuilds": (with_class("GPT2Tokenizer"), with_class("PreTrainedTokenizerFast")),
}


@pytest.mark.parametrize("id", WITH_AND_WITHOUT_FINDING)
def test_each_finding(id: str) -> None:
    sick_spec, well_spec = WITH_AND_WITHOUT_FINDING[id]
    findings_by_id = {finding.id: finding for finding in findings(sick_spec)}
    assert id in findings_by_id, findings_by_id
    assert findings_by_id[id].message and findings_by_id[id].advice
    assert id not in {finding.id for finding in findings(well_spec)}


def test_every_check_has_a_sample() -> None:
    """Tests that every check of the doctor has a sample with its finding."""
    sick = [spec for id, (spec, _) in WITH_AND_WITHOUT_FINDING.items() if id != "not-usable"]
    assert not [check for check in CHECKS if not any(list(check(spec)) for spec in sick)]


def test_bpe_entries_that_merging_never_builds() -> None:
    spec = merges_spec()
    assert isinstance(spec.model, Bpe) and spec.model.merges is not None
    shorter_spec = replace(spec, model=Bpe("merges", merges=spec.model.merges[:1]))
    finding = next(finding for finding in findings(shorter_spec) if finding.id == "unreachable-entry")
    assert finding.message.endswith("because no merge builds them")
    assert "unreachable-entry" not in {finding.id for finding in findings(spec)}


@pytest.mark.parametrize(("count", "severity"), [(1, Severity.NOTE), (3, Severity.WARNING)])
def test_a_large_share_of_unreachable_entries_is_a_warning(count: int, severity: Severity) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs = [(first + second, -9.0) for first, second in itertools.pairwise(letters)][:count]
    spec = unigram_spec(vocab=scored_vocab(*((letter, -1.0) for letter in letters), *pairs))
    (finding,) = [finding for finding in findings(spec) if finding.id == "unreachable-entry"]
    assert (finding.severity, finding.message.startswith(f"{count} of {27 + count} ")) == (severity, True)
    assert ("get the file again" in finding.advice) == finding.is_wrong
    assert ("list them in added_tokens" in finding.advice) != finding.is_wrong


def test_gpt2_without_most_merges_and_with_a_wrong_unk_token() -> None:
    document = json.loads(real("huggingface/gpt2.json"))
    document["model"]["merges"] = document["model"]["merges"][:1000]
    finding = next(find_unreachable(polytok.load(json.dumps(document).encode()).spec))
    assert finding.is_wrong and finding.message.startswith("49000 of 50257 entries are produced from no text")
    document["model"]["unk_token"] = "<unk>"
    finding = next(find_huggingface_errors(polytok.load(json.dumps(document).encode()).spec))
    assert (finding.id, finding.severity) == ("unk-token-not-in-vocabulary", Severity.WARNING)
    assert finding.message.startswith("the model's unk_token '<unk>' is not in its vocabulary")
    assert not list(find_huggingface_errors(polytok.load(real("huggingface/bert_base_cased.json")).spec))


def test_a_role_whose_token_is_not_in_tokenizer_json(tmp_path: Path) -> None:
    vocab = {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}
    added = [{"id": 1, "content": "b", **flags}, {"id": 2, "content": "<x>", **flags}]
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": vocab, "added_tokens": added}))

    def role_findings(config: dict[str, Any]) -> list[str]:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
        found = find_huggingface_errors(polytok.load(tmp_path).spec)
        return [finding.message for finding in found if finding.id == "role-token-not-in-vocabulary"]

    assert role_findings({"eos_token": "b", "bos_token": {"content": "<x>"}, "unk_token": "a", "pad_token": None}) == []
    (message,) = role_findings({"eos_token": "</s>", "bos_token": "b"})
    assert message.startswith(
        "tokenizer_config.json names '</s>' as eos, which tokenizer.json does not have: the token"
    )
    assert "the new id 3" in message
    (message,) = role_findings({"eos_token": "</s>", "added_tokens_decoder": {"1": {"content": "b"}}})
    assert message.endswith("there is no such token, so eos is not set")


def test_entries_that_are_not_reached_name_what_is_encoded_instead() -> None:
    finding = next(iter(find_unreached(WITH_AND_WITHOUT_FINDING["entry-not-reached"][0])))
    assert finding.severity == Severity.NOTE
    assert finding.message.startswith("1 of 257 entries do not encode to themselves")
    assert "('a b' gives 'a', ' ', 'b')" in finding.message


NOT_REACHED = {
    "huggingface/bert_base_cased.json": (299, b"[unused1]"),
    "huggingface/gpt_neox.json": (221, b"  "),
    "gguf/ggml-vocab-falcon.gguf": (0, b""),
    "sentencepiece/llama2.model": (0, b""),
    "rwkv/rwkv_vocab_v20230424.txt": (0, b""),
    "tiktoken/cl100k_base.tiktoken": (0, b""),
    "tiktoken/o200k_base.tiktoken": (7, b" I'"),
}


_SLOW = ("huggingface/gpt_neox.json", "gguf/ggml-vocab-falcon.gguf", "tiktoken/cl100k_base.tiktoken")


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[pytest.mark.slow] * (path in _SLOW)) for path in NOT_REACHED]
)
def test_entries_of_published_vocabularies_that_are_not_reached(path: str) -> None:
    tokenizer = polytok.load(real(path))
    ids = [entry.id for entry in tokenizer.vocab() if len(entry.piece) > 1 and not entry.special]
    entries = [entry for entry in unreached_entries(tokenizer, ids) if tokenizer.vocab()[entry.id].kind == Kind.NORMAL]
    assert (len(entries), entries[0].piece if entries else b"") == NOT_REACHED[path]
    texts = [entry.piece.decode(errors="replace") for entry in entries]
    found_ids = {id for text in (*DIFFICULT_TEXTS, *texts) for id in tokenizer.encode(text)}
    assert not found_ids & {entry.id for entry in entries}


@pytest.mark.parametrize("part", [b"\xe2\x80", b"\xbf\xbd", b"a\xf0", b"\x80\x80\x80b\xf4", b"\xc3", b"\x80"])
def test_parts_of_characters_are_completed(part: bytes) -> None:
    texts = [text for followings in _FOLLOWING_BYTES for text in _completed_texts(part, followings)]
    assert texts
    assert all(part in text and text.decode() for text in texts)


FILES = [
    *REAL,
    *(str(path.relative_to(VOCAB)) for name in ("*.json", "*.gguf") for path in sorted(VOCAB.glob(f"*/{name}"))),
]
KNOWN_TO_LACK = {"gguf/ggml-vocab-falcon.gguf": ["missing-byte"]}


_FILES = dict.fromkeys(FILES)


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[pytest.mark.slow] * (at % 4 > 0)) for at, path in enumerate(_FILES)]
)
def test_published_vocabularies_have_no_findings(path: str) -> None:
    diagnosis = examine(polytok.load(real(path)))
    wrong_findings = [finding.id for finding in diagnosis.findings if finding.is_wrong]
    assert wrong_findings == KNOWN_TO_LACK.get(path, []), diagnosis.findings


def test_another_vocabularys_pattern() -> None:
    tokenizer = polytok.load(real("tiktoken/r50k_base.tiktoken"), pattern=O200K)
    assert [finding.id for finding in examine(tokenizer).findings if finding.is_wrong] == ["pattern-not-of-vocabulary"]


# Comparison with another tokenizer


KIN: dict[str, tuple[Spec, Spec]] = {
    "ids-moved": (rank_spec(vocab=byte_vocab((b"ab", 256))), rank_spec(vocab=byte_vocab((b"ab", 257)))),
    "entries-missing": (rank_spec(vocab=byte_vocab((b"ab", 256))), rank_spec(vocab=byte_vocab((b"cd", 256)))),
    "special-tokens-moved": (
        rank_spec(special=(SpecialToken("<x>", 400),)),
        rank_spec(special=(SpecialToken("<x>", 401),)),
    ),
    "special-tokens-missing": (rank_spec(special=(SpecialToken("<x>", 400),)), rank_spec()),
    "other-ids": (rank_spec(vocab=byte_vocab((b"ab", 256))), rank_spec(vocab=byte_vocab((b"ba", 256)))),
}


@pytest.mark.parametrize("id", KIN)
def test_each_finding_of_a_comparison(id: str) -> None:
    left_tokenizer, right_tokenizer = (polytok.Tokenizer(spec) for spec in KIN[id])
    diagnosis = examine(left_tokenizer, right_tokenizer, ["abba"])
    assert id in {finding.id for finding in diagnosis.findings}
    assert not examine(left_tokenizer, left_tokenizer, ["abba"]).findings
    assert bool(diagnosis.divergences) == (id in ("other-ids", "ids-moved", "entries-missing"))


def test_another_spelling_of_spaces_and_special_tokens_is_not_a_difference() -> None:
    spec = sentencepiece_spec()
    respelt = replace(spec, vocab=with_texts(spec.vocab, [p.replace("▁".encode(), b" ") for p in spec.vocab.pieces()]))
    for left, right in itertools.permutations(map(polytok.Tokenizer, (spec, respelt))):
        diagnosis = examine(left, right, ["ab"])
        assert diagnosis.differences is not None and diagnosis.differences.entries.respelled > 0
        assert {"ids-moved", "entries-missing"}.isdisjoint(finding.id for finding in diagnosis.findings)
    tokenizer, other_tokenizer = (
        polytok.Tokenizer(rank_spec(special=(SpecialToken(text, 400),))) for text in ("<s>", "\n<s>\n")
    )
    differences = polytok.compare(tokenizer, other_tokenizer)
    assert differences.special_tokens.only_left == differences.special_tokens.only_right == {}


def test_round_trips() -> None:
    tokenizer = polytok.Tokenizer(sentencepiece_spec())
    assert [finding.id for finding in find_round_trip_errors(tokenizer, ["a\u2581b", "a", "ab"])] == ["not-lossless"]
    refusing = polytok.Tokenizer(longest_spec(vocab=Vocab.from_rows([(b"a", 1, 0.0, Kind.NORMAL)])))
    assert [finding.id for finding in find_round_trip_errors(refusing, ["a", "b"])] == ["text-refused"]


# The command


@pytest.fixture
def file(tmp_path: Path) -> Callable[[Spec, str, str], Path]:
    def written(spec: Spec, format: str, name: str) -> Path:
        path = tmp_path / name
        path.write_bytes(conversion.write(spec, format).data)
        return path

    return written


def test_doctor_exit_codes(file: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    well_file = file(merges_spec(split=COVERING), "minbpe", "well.model")
    sick = file(merges_spec(split=(PatternSplit(r"\w+"),)), "minbpe", "sick.model")
    assert cli.main(["doctor", str(well_file)]) == 0
    assert capsys.readouterr().out == "nothing found\n"
    assert cli.main(["doctor", str(sick)]) == 1
    assert "[drops-text]" in capsys.readouterr().out
    assert cli.main(["doctor", str(sick), "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert [finding["id"] for finding in record["findings"]] == ["drops-text"] and record["well"] is False


def test_doctor_against(file: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = merges_spec(split=COVERING)
    assert isinstance(spec.model, Bpe) and spec.model.merges is not None
    first_file = file(spec, "minbpe", "one.model")
    other_file = file(replace(spec, split=()), "minbpe", "other.model")
    swapped_merges = np.array([[97, 32, 256], [256, 256, 257], [0xF0, 0x9F, 258]], dtype=np.uint32)
    texts = [b"a ", b"a a ", b"\xf0\x9f"]
    vocab = byte_vocab(*((text, 256 + n) for n, text in enumerate(texts)))
    third_file = file(replace(spec, vocab=vocab, model=Bpe("merges", merges=swapped_merges)), "minbpe", "third.model")
    assert cli.main(["doctor", str(first_file), "--against", str(other_file), "--text", "ab ab", "--text", "x"]) == 0
    capsys.readouterr()
    assert cli.main(["doctor", str(first_file), "--against", str(third_file), "--text", "xab ab"]) == 1
    out = capsys.readouterr().out
    assert "byte 1 (model): x[ab]␣ab" in out
    assert f"{first_file}    256 ab" in out and f"{third_file}  97 a, 98 b" in out
    lines = tmp_path / "lines.txt"
    lines.write_bytes(b"xab\nx\n")
    assert cli.main(["doctor", str(first_file), "--against", str(third_file), "--lines", str(lines), "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert [divergence["text"] for divergence in record["divergences"]] == ["xab"]
    assert record["divergences"][0]["left"] == {"ids": [256], "pieces": ["ab"], "error": None}
    assert record["divergences"][0]["place"] == f"{lines}:1"
    lines.write_bytes(b"".join(b"xab%d\n" % number for number in range(30)))
    assert cli.main(["doctor", str(first_file), "--against", str(third_file), "--lines", str(lines)]) == 1
    out = capsys.readouterr().out
    assert out.count("byte 1 (model)") == 20 and "and 10 more (--json has all)" in out


def test_doctor_names_the_place_of_each_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first_file, other_file = tmp_path / "one.model", tmp_path / "two.model"
    first_file.write_text("minbpe v1\n\\w+|\\W+\n0\n97 98\n")
    other_file.write_text("minbpe v1\n\\w+|\\W+\n0\n98 97\n")
    (tmp_path / "a.txt").write_text("x\n" * 3 + "ab\nx\nab\n")
    (tmp_path / "b.jsonl").write_text('{"text": "x"}\n{"text": "ab"}\n')
    texts = [str(tmp_path / name) for name in ("a.txt", "b.jsonl")]
    places = ["--text", *(f"{tmp_path}/{place}" for place in ("a.txt:4", "a.txt:6", "b.jsonl:2"))]
    arguments = ["doctor", str(first_file), "--against", str(other_file), "--lines", "--text", "ab", *texts]
    assert cli.main(arguments) == 1
    out = capsys.readouterr().out
    assert [line.partition(": byte 0 (model)")[0] for line in out.splitlines() if "(model)" in line] == places
    assert cli.main([*arguments, "--json"]) == 1
    assert [divergence["place"] for divergence in json.loads(capsys.readouterr().out)["divergences"]] == places
    target = tmp_path / "three.model"
    assert cli.main(["convert", str(first_file), str(target), "--lines", *texts, "--json"]) == 0
    assert cli.main(["doctor", "-m", str(first_file), str(tmp_path / "a.txt")]) == 0


def test_severities_are_ordered() -> None:
    assert Severity.NOTE < Severity.WARNING < Severity.ERROR


def test_rwkvs_vocabulary_without_a_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests that the file is examined to the end, encodes texts without the byte, and can be mended as advised."""
    original = real("rwkv/rwkv_vocab_v20230424.txt")
    rows = original.splitlines(keepends=True)
    path, mended_path = tmp_path / "vocab.txt", tmp_path / "mended.txt"
    path.write_bytes(b"".join(row for row in rows if not row.startswith(b"66 ")))
    assert cli.main(["doctor", str(path)]) == 1
    assert "1 byte that occurs in UTF-8 has no entry ('0x41 A') [missing-byte]" in capsys.readouterr().out
    tokenizer = polytok.load(path)
    assert tokenizer.decode(tokenizer.encode("to be And")) == "to be And"
    with pytest.raises(polytok.EncodeError):
        tokenizer.encode("A")
    assert cli.main(["edit", str(path), "-o", str(mended_path), "--add-entry", "A"]) == 0
    assert polytok.load(mended_path).encode("A, B") == polytok.load(original).encode("A, B")


def test_the_exit_code_of_against_says_whether_ids_differ(file: Any, capsys: pytest.CaptureFixture[str]) -> None:
    plain_file = file(merges_spec(split=COVERING), "minbpe", "plain.model")
    special_files = [
        file(merges_spec(split=COVERING, special=(SpecialToken("<x>", id),)), "minbpe", f"{id}.model")
        for id in (400, 401)
    ]
    assert cli.main(["doctor", str(plain_file), "--against", str(special_files[0]), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["same_ids"], record["well"]) == (True, False)
    assert [finding["id"] for finding in record["findings"]] == ["special-tokens-missing"]
    assert cli.main(["doctor", str(special_files[0]), "--against", str(special_files[1]), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["same_ids"] is False
    assert cli.main(["doctor", str(plain_file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["same_ids"] is None


def test_against_compares_templates_and_flags_of_special_tokens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(real("huggingface/bert_base_cased.json"))
    original = tmp_path / "tokenizer.json"
    no_template = tmp_path / "nobos.json"
    original.write_text(json.dumps(document))
    no_template.write_text(json.dumps({**document, "post_processor": None}))
    assert cli.main(["doctor", str(original), "--against", str(original)]) == 0
    capsys.readouterr()
    assert cli.main(["doctor", str(original), "--against", str(no_template)]) == 1
    out = capsys.readouterr().out
    assert "452 of 452 texts have the same ids" in out
    assert (
        "error: with add_special, 452 of 452 texts get other ids: 'a' gets 101 '[CLS]', 170 'a', 102 '[SEP]', " in out
    )
    assert "and in the other file 170 'a' [other-added-ids]" in out
    plain, stripping = (rank_spec(special=(SpecialToken("<x>", 400, lstrip=lstrip),)) for lstrip in (False, True))
    diagnosis = examine(polytok.Tokenizer(plain), against=polytok.Tokenizer(stripping))
    assert [finding.id for finding in diagnosis.findings if finding.is_wrong] == ["other-special-ids"]
    assert (diagnosis.divergences, diagnosis.same_ids) == ((), False)


@pytest.mark.parametrize(("pattern", "ids"), [(r"[^\w\s]+", ["drops-text"]), (r"\s+", [])])
def test_text_that_a_split_removes(pattern: str, ids: list[str]) -> None:
    """Tests that a split that removes punctuation is a warning, and that one that removes white space is not."""
    spec = rank_spec(split=(PatternSplit(pattern, "removed"),))
    found = list(find_dropped_text(spec))
    assert [finding.id for finding in found if finding.is_wrong] == ids
    assert all("white space ('!', " in finding.message for finding in found)
