"""Tests edits of every family: new entries are reached, other texts keep their tokens, and the reference of each format
encodes with the written file as polytok does."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

import gguf_samples
import polytok
from editing_samples import NAMES, reference_encoder, sentences, tokenizer_of
from polytok import ArgumentError, Kind, PieceError, Spec, Tokenizer, Vocab, cli, conversion, editing, formats
from polytok.editing.families import Family, family_of
from polytok.editing.rows import Rows
from polytok.spec import Bpe, Longest, Unigram

TEXTS = [*sentences(60, seed=5), "", " ", "zebra Ωmega 水獺 🦦 \u0301", "[PAD 300] [PAD300] <|new|>"]
DECODED_WITH_SPACES = (
    *("huggingface, characters", "huggingface, affixes"),  # they have no decoder, so tokens are joined by spaces
    *("sentencepiece, word", "sentencepiece, char"),  # a text without its entry is unknown
)
NEW_WORDS = {
    "bpe": ["therefore", "quickly", "猫名前", "水獺", "theth"],
    "unigram": ["therefore", "猫名前", "水獺", "theory of", "quickly"],
    "wordpiece": ["therefore", "##quick", "猫", "水獺"],
    "word": ["▁therefore", "猫である"],
    "char": ["Ω", "水", "獺"],
    "longest": ["therefore", "猫名前", "水獺", " quickly"],
}


def new_words(tokenizer: Tokenizer) -> list[str]:
    return NEW_WORDS[tokenizer.spec.model.kind]


def family(tokenizer: Tokenizer) -> Family | None:
    return None if isinstance(tokenizer.spec.model, Longest) else family_of(Rows(tokenizer.spec))


def spelled(tokenizer: Tokenizer, pieces: list[bytes]) -> list[tuple[int, ...]]:
    """Returns the ids of pieces, as the model alone encodes them."""
    if (family_of_model := family(tokenizer)) is None:
        return [tuple(tokenizer.encode(piece)) for piece in pieces]
    model = tokenizer.spec.model
    if isinstance(model, Bpe) and model.whole_piece_first:  # only merges count
        spec = polytok.spec.Spec(tokenizer.spec.vocab, Bpe(model.priority, model.symbols, merges=model.merges))
        return family_of_model.spell(spec, pieces)
    return family_of_model.spell(tokenizer.spec, pieces)


def pieces_by_id(tokenizer: Tokenizer) -> dict[int, bytes]:
    table = tokenizer.vocab()
    return dict(zip(table.ids.tolist(), table.pieces, strict=True))


def check(result: polytok.Edit) -> None:
    """Checks everything that is true of every edit."""
    old, new = result.source, result.tokenizer
    assert old is not None
    old_pieces, new_pieces = pieces_by_id(old), pieces_by_id(new)
    named = set(result.special_tokens.values())  # a tekken file has unnamed special tokens, which get names
    assert all(old_pieces[id] == new_pieces[new_id] for id, new_id in result.kept.items() if new_id not in named)
    assert len(set(result.kept.values())) == len(result.kept)
    added = {entry.id: entry.piece for entry in result.added}
    assert all(new_pieces[id] == piece for id, piece in added.items())
    assert new_pieces.keys() == {*result.kept.values(), *added, *result.reserved}
    assert result.removed.keys() | result.kept.keys() == {
        id for id, piece in old_pieces.items() if not re.search(rb"\[PAD ?\d+\]", piece)
    }
    assert not added.keys() & set(result.kept.values())
    entries = [entry for entry in result.added if entry.piece.decode(errors="ignore") not in result.special_tokens]
    assert spelled(new, [entry.piece for entry in entries]) == [(entry.id,) for entry in entries]
    for id, new_ids in result.replaced.items():
        text_of = family(new).text_of if family(new) else bytes  # type: ignore[union-attr]
        if new_ids and not has_bytes(new, new_ids):
            assert b"".join(text_of(new_pieces[new_id]) for new_id in new_ids) == text_of(old_pieces[id])
    compare_with_reference(new)
    used_ids = {id for text in TEXTS for id in new.encode(text)}
    assert not used_ids & set(result.reserved)


def has_bytes(tokenizer: Tokenizer, ids: tuple[int, ...]) -> bool:
    return any(piece.startswith(b"<0x") for piece in tokenizer.ids_to_pieces(ids))


def compare_with_reference(tokenizer: Tokenizer) -> None:
    assert reference_encoder(tokenizer)(TEXTS) == [tokenizer.encode(text, add_special=False) for text in TEXTS]


@pytest.mark.parametrize("plan", ["reuse", "compact"])
@pytest.mark.parametrize("name", NAMES)
def test_new_entries_are_one_token(name: str, plan: str) -> None:
    old = tokenizer_of(name)
    if name == "minbpe" and plan == "reuse":
        with pytest.raises(polytok.ArgumentError, match="which special tokens have: use ids='compact'"):
            polytok.edit(old, add=new_words(old))
        return
    result = polytok.edit(old, add=new_words(old), ids=plan)  # type: ignore[arg-type]
    check(result)
    assert not result.removed
    if plan == "reuse":
        assert all(old_id == new_id for old_id, new_id in result.kept.items())
    new_texts = [family(old).text_of(entry.piece) if family(old) else entry.piece for entry in result.added]  # type: ignore[union-attr]
    for text in sentences(200, seed=7):
        if not any(new_text in text.encode() or new_text in b" " + text.encode() for new_text in new_texts):
            assert [result.kept[id] for id in old.encode(text)] == result.tokenizer.encode(text)


@pytest.mark.parametrize("plan", ["reuse", "compact"])
@pytest.mark.parametrize("name", NAMES)
def test_entries_of_other_scripts_are_removed(name: str, plan: str) -> None:
    old = tokenizer_of(name)
    result = polytok.edit(old, remove=[editing.other_scripts("Latin")], ids=plan)  # type: ignore[arg-type]
    check(result)
    proof = result.prove(TEXTS)
    latin_texts = [index for index, text in enumerate(TEXTS) if text.isascii()]
    assert not set(latin_texts) & set(proof.changed)
    if name not in DECODED_WITH_SPACES:
        assert not proof.mapped_differently and not proof.decoded_differently
        assert proof.unknown_after == proof.unknown_before
    assert not result.reserved or plan == "reuse"
    has_room = old.spec.origin.format not in ("rwkv", "tiktoken")
    if plan == "reuse" and has_room and result.removed:
        last_id = max(result.kept.values())
        assert set(result.reserved) == {id for id in result.removed if id < last_id}


@pytest.mark.parametrize("name", NAMES)
def test_random_entries_are_removed_and_their_ids_used_again(name: str) -> None:
    old = tokenizer_of(name)
    rng = random.Random(name)
    removed = rng.sample(list(Rows(old.spec).entries), 12)
    plan = "compact" if name == "minbpe" else "reuse"
    result = polytok.edit(old, remove=[editing.among(removed)], add=new_words(old), ids=plan)  # type: ignore[arg-type]
    check(result)
    again = polytok.edit(result.tokenizer, add=["furthermore"] if "char" not in name else ["F"], ids=plan)  # type: ignore[arg-type]
    check(again)
    for text in TEXTS:
        if name not in DECODED_WITH_SPACES:
            ids = old.encode(text)
            assert result.tokenizer.decode_bytes(result.map_ids(ids)) == old.decode_bytes(ids)


@pytest.mark.parametrize("name", NAMES)
def test_the_size_is_padded_to_a_multiple(name: str) -> None:
    old = tokenizer_of(name)
    plan = "compact" if name == "minbpe" else "reuse"
    result = polytok.edit(old, add=new_words(old)[:1], pad_to_multiple=64, ids=plan)  # type: ignore[arg-type]
    check(result)
    assert result.tokenizer.vocab_size % 64 == 0 and len(result.reserved) < 64
    if "minbpe" not in name:
        again = polytok.edit(result.tokenizer, add=["F", "thequick"][-1:] if "char" not in name else ["F"])
        assert again.added[0].id in result.reserved


@pytest.mark.parametrize("plan", ["reuse", "compact"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "llama2c"])
def test_special_tokens_are_added(name: str, plan: str) -> None:
    old = tokenizer_of(name)
    result = polytok.edit(old, add_special_tokens=["<|new|>", "<|second|>"], ids=plan)  # type: ignore[arg-type]
    check(result)
    ids = result.special_tokens
    assert list(ids) == ["<|new|>", "<|second|>"]
    assert result.tokenizer.special_tokens.items() >= ids.items()
    if name != "gguf, rwkv":  # llama.cpp has no special tokens there that are not in texts
        assert not set(ids.values()) & set(result.tokenizer.encode("a<|new|>b"))
    if old.spec.origin.format not in ("sentencepiece",):
        assert ids["<|new|>"] in result.tokenizer.encode("a<|new|>b", special="all")
    assert polytok.edit(result.tokenizer, add_special_tokens=["<|new|>"]).special_tokens == {}


# What merges need


def merged(*words: bytes) -> Tokenizer:
    """Returns a vocabulary of ranks with all bytes and these words."""
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)]
    rows += [(word, 256 + number, 0.0, Kind.NORMAL) for number, word in enumerate(words)]
    return Tokenizer(Spec(Vocab.from_rows(rows), Bpe("rank", whole_piece_first=True)))


def test_an_entry_that_merges_need_is_refused_kept_or_removed_with_its_dependents() -> None:
    old = merged(b"th", b"the", b"then", b"xy")
    with pytest.raises(ArgumentError, match="'th': the merges that build 'the' need it.*needed"):
        polytok.edit(old, remove=["th"])
    with pytest.raises(ArgumentError, match="cannot remove 'th'"):
        polytok.edit(old, remove=[editing.among(["th"])], needed="refuse")
    kept = polytok.edit(old, remove=["th", "xy"], needed="keep")
    assert (list(kept.removed.values()), kept.needed) == ([b"xy"], (b"th",))
    selected = polytok.edit(old, remove=[editing.matching("^(th|xy)$")])
    assert (list(selected.removed.values()), selected.needed) == ([b"xy"], (b"th",))
    assert (
        selected.summary == "1 entry removed, 0 added, 0 ids changed, 1 selected stays, needed by merges: ids up to 258"
    )
    removed = polytok.edit(old, remove=["th"], needed="remove")
    assert list(removed.removed.values()) == [b"th", b"the", b"then"]
    with pytest.raises(ArgumentError, match="cannot remove 'the': the merges that build 'then' need it"):
        polytok.edit(old, remove=["th"], add=["then"], needed="remove")


def test_an_entry_needs_its_halves_also_if_other_pairs_could_build_it() -> None:
    """Tests that no text changes its tokens unless one is removed: without da, the text cdaa would be cd, aa."""
    old = merged(b"da", b"aa", b"cd", b"daa")
    with pytest.raises(ArgumentError, match="cannot remove 'da': the merges that build 'daa' need it"):
        polytok.edit(old, remove=["da"])
    without_both = polytok.edit(old, remove=["da", "daa"])
    assert without_both.tokenizer.encode("cdaa") == [258, 257]


def test_a_new_entry_of_ranks_has_the_lowest_priority_and_gets_the_halves_it_needs() -> None:
    old = merged(b"ab", b"cd")
    result = polytok.edit(old, remove=["ab"], add=["abcde", "abc"])
    assert [(entry.id, entry.piece) for entry in result.added] == [
        (258, b"ab"),
        (259, b"abc"),
        (260, b"abcd"),
        (261, b"abcde"),
    ]
    assert result.intermediates == (b"ab", b"abcd")
    assert all(entry.id > 257 for entry in result.added)  # the free id 256 would merge before cd
    assert result.tokenizer.encode("xabcdex") != old.encode("xabcdex")
    assert result.tokenizer.encode("cdcd") == old.encode("cdcd")


def test_an_entry_that_was_never_reached_is_reached_after_it_is_added() -> None:
    old = merged(b"abcd")
    assert old.encode("xabcd") == [120, 97, 98, 99, 100]
    result = polytok.edit(old, add=["abcd"])
    assert result.present == (b"abcd",) and set(result.intermediates) == {entry.piece for entry in result.added}
    assert result.tokenizer.encode("xabcd") == [120, 256]


def test_the_score_of_a_new_entry_of_unigram() -> None:
    old = tokenizer_of("sentencepiece, unigram")
    table = old.vocab()
    assert table.scores is not None
    result = polytok.edit(old, add=["therefore", "猫名前"])
    new_scores = {entry.piece.decode(): entry.score for entry in result.tokenizer.vocab() if entry.id >= len(table)}
    lowest_score = min(entry.score for entry in table if entry.kind == Kind.NORMAL)
    for entry in result.added:
        was_sum = sum(float(table.scores[id]) for id in entry.was)
        assert new_scores[entry.piece.decode()] == pytest.approx(max(was_sum + 0.1, lowest_score), abs=1e-4)


# Refusals


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("tiktoken", {"remove": ["a"]}, ArgumentError, "texts with this byte or character could not be encoded"),
        ("tiktoken", {"remove": ["no such"]}, PieceError, "not an entry"),
        ("tiktoken", {"make_room": ["a"]}, ArgumentError, "make_room is for vocabularies whose ids have 16 bits"),
        ("tiktoken", {"pad_to_multiple": 0}, ArgumentError, "pad_to_multiple=0 is not a whole number"),
        ("tiktoken", {"needed": "yes"}, ArgumentError, "needed='yes' is not one of 'refuse', 'keep', 'remove'"),
        ("tiktoken", {"add_special_tokens": ["the"]}, ArgumentError, "it is already an ordinary entry"),
        ("tiktoken", {"add_special_tokens": [""]}, ArgumentError, "a special token cannot be empty"),
        ("tiktoken", {"add_special_tokens": "<x>"}, TypeError, "add_special_tokens='<x>' is a single text"),
        (
            "huggingface, wordpiece",
            {"remove": ["[CLS]"]},
            ArgumentError,
            "special tokens, unknown and byte pieces stay",
        ),
        ("huggingface, wordpiece", {"remove": ["##s"]}, ArgumentError, "could not be encoded without it"),
        ("huggingface, wordpiece", {"add": ["two words"]}, ArgumentError, "no word contains white space"),
        ("sentencepiece, bpe", {"remove": ["<0x41>"]}, ArgumentError, "byte pieces stay"),
        ("sentencepiece, bpe", {"add": ["</s>"]}, ArgumentError, "it is a special token"),
        ("sentencepiece, unigram", {"add": [b"\xff"]}, ArgumentError, "are texts in UTF-8"),
        ("sentencepiece, unigram", {"remove": ["猫"]}, ArgumentError, "could not be encoded"),
        ("sentencepiece, char", {"add": ["ab"]}, ArgumentError, "encodes each character by itself"),
        ("llama2c", {"add_special_tokens": ["<x>"]}, ArgumentError, "llama2.c has no special tokens besides its own"),
        ("minbpe", {"pad_to_multiple": 64}, ArgumentError, "reserved entries need ids before.*ids='compact'"),
    ],
)
def test_refusals_say_why(name: str, options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        polytok.edit(tokenizer_of(name), **options)  # type: ignore[arg-type]


def test_a_model_of_whole_numbers_is_refused() -> None:
    plamo = Tokenizer(formats.read(gguf_samples.file(gguf_samples.plamo2()), format="gguf"))
    with pytest.raises(ArgumentError, match="the model Plamo2 cannot be edited"):
        polytok.edit(plamo, add=["xyz"])


# What files keep besides the vocabulary


def test_the_messages_of_a_sentencepiece_model_have_the_new_size_and_ids() -> None:
    old = tokenizer_of("sentencepiece, bpe")
    result = polytok.edit(old, add=["therefore"], add_special_tokens=["<|new|>"], remove=["▁the"], needed="remove")
    fields = result.tokenizer.spec.extra["sentencepiece"]["trainer_spec"]
    assert fields["vocab_size"] == result.tokenizer.vocab_size
    assert fields["control_symbols"][-1] == b"<|new|>"
    assert result.tokenizer.eos_id == old.eos_id


def test_the_roles_and_settings_of_a_tokenizer_json_follow_their_tokens() -> None:
    old = tokenizer_of("huggingface, bytes")
    text = {"added_tokens_decoder": {"419": {"content": "<|end|>", "special": True}}, "eos_token": "<|end|>"}
    data = conversion.write(old.spec, "huggingface").data
    document = json.loads(data)
    document["padding"] = {
        **{"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None},
        **{"pad_id": 419, "pad_type_id": 0, "pad_token": "<|end|>"},
    }
    siblings = {"tokenizer_config.json": json.dumps(text).encode()}
    assert old.special_tokens == {"<|end|>": 419}
    loaded = Tokenizer(formats.read(json.dumps(document).encode(), siblings=siblings))
    removed = [entry.piece for entry in old.vocab() if not entry.piece.isascii() and len(entry.piece) > 1]
    result = polytok.edit(loaded, remove=[editing.among(removed)], ids="compact", add_special_tokens=["<|pad|>"])
    new_id = result.kept[419]
    assert new_id < 419 and result.tokenizer.eos_id == new_id
    written = conversion.write(result.tokenizer.spec, "huggingface")
    assert json.loads(written.data)["padding"]["pad_id"] == new_id
    config = json.loads(written.companions["tokenizer_config.json"])
    pad_id = result.special_tokens["<|pad|>"]
    assert {int(id): token["content"] for id, token in config["added_tokens_decoder"].items()} == {
        new_id: "<|end|>",
        pad_id: "<|pad|>",
    }


def test_all_ids_in_the_keys_of_a_gguf_file_follow_their_tokens() -> None:
    keys = gguf_samples.bpe()
    keys |= {"tokenizer.ggml.eot_token_id": len(keys["tokenizer.ggml.tokens"]) - 1, "llama.vocab_size": 0}
    keys["llama.vocab_size"] = len(keys["tokenizer.ggml.tokens"])
    old = Tokenizer(formats.read(gguf_samples.file(keys), format="gguf"))
    removed = [piece for piece, id in Rows(old.spec).entries.items() if len(piece) > 1][:3]
    result = polytok.edit(old, remove=removed, ids="compact", needed="remove")
    spec = result.tokenizer.spec
    values = spec.extra["gguf"]["keys"]
    last_id = result.kept[old.vocab_size - 1]
    assert int.from_bytes(values["tokenizer.ggml.eot_token_id"][3], "little") == last_id < old.vocab_size - 1
    assert int.from_bytes(values["llama.vocab_size"][3], "little") == result.tokenizer.vocab_size
    assert conversion.write(spec, "gguf").losses == ()


def test_a_tekken_file_names_its_unnamed_special_tokens() -> None:
    old = tokenizer_of("tekken")
    names = [f"<|{number}|>" for number in range(8)]
    result = polytok.edit(old, add_special_tokens=names)
    assert list(result.special_tokens.values()) == list(range(8)) and not result.added
    with pytest.raises(ArgumentError, match="all special tokens have names.*use ids='compact'"):
        polytok.edit(result.tokenizer, add_special_tokens=["<|8|>"])
    renumbered = polytok.edit(result.tokenizer, add_special_tokens=["<|8|>"], ids="compact")
    assert renumbered.special_tokens == {"<|8|>": 8}
    check(renumbered)


# The map of ids, and the proof


def test_the_map_resizes_a_matrix() -> None:
    old = tokenizer_of("sentencepiece, bpe")
    result = polytok.edit(old, add=["therefore", "水獺"], remove=[editing.script("Cyrillic")], pad_to_multiple=16)
    matrix = np.arange(old.vocab_size * 3, dtype=np.float32).reshape(-1, 3)
    rows = result.resize_rows(matrix)
    assert rows.shape == (result.tokenizer.vocab_size, 3) and rows.dtype == np.float32
    assert all((rows[new_id] == matrix[id]).all() for id, new_id in result.kept.items())
    for entry in result.added:
        assert rows[entry.id] == pytest.approx(matrix[list(entry.was)].mean(axis=0))
    mean_of_kept = matrix[list(result.kept)].mean(axis=0)
    assert rows[list(result.reserved)] == pytest.approx(np.tile(mean_of_kept, (len(result.reserved), 1)))
    with pytest.raises(ArgumentError, match=r"the matrix has shape \(3,\), but the old vocabulary has ids up to"):
        result.resize_rows([1, 2, 3])


def test_the_arrays_of_the_map() -> None:
    old = tokenizer_of("huggingface, unigram")
    result = polytok.edit(old, add=["therefore"], remove=[editing.script("Cyrillic")], ids="compact")
    arrays = result.id_arrays()
    assert {id: new for id, new in enumerate(arrays["new_ids"].tolist()) if new >= 0} == dict(result.kept)
    assert arrays["removed"].tolist() == list(result.removed)
    assert arrays["added"].tolist() == [entry.id for entry in result.added]
    starts, ends = arrays["was_offsets"][:-1].tolist(), arrays["was_offsets"][1:].tolist()
    was = [tuple(arrays["was"][start:end].tolist()) for start, end in zip(starts, ends, strict=True)]
    assert was == [entry.was for entry in result.added]
    starts, ends = arrays["replaced_offsets"][:-1].tolist(), arrays["replaced_offsets"][1:].tolist()
    replaced = [tuple(arrays["replaced"][start:end].tolist()) for start, end in zip(starts, ends, strict=True)]
    assert replaced == list(result.replaced.values()) and arrays["size"] == result.tokenizer.vocab_size


def test_the_proof_counts_and_names_texts() -> None:
    old = merged(b"the", b"xy")
    result = polytok.edit(old, remove=["xy"], add=["ab"], ids="compact")
    proof = result.prove(["ab ab", "the", "xy", "c", "", b"\xff"])
    assert (proof.texts, proof.tokens_before, proof.tokens_after) == (6, 9, 8)
    assert (proof.changed, proof.renumbered, proof.decoded_differently) == ((0, 2), (), ())
    assert [(example.index, example.before, example.after) for example in proof.examples] == [
        (0, (b"a", b"b", b" ", b"a", b"b"), (b"ab", b" ", b"ab")),
        (2, (b"xy",), (b"x", b"y")),
    ]
    assert result.map_ids([257, 99]) == [120, 121, 99]
    with pytest.raises(polytok.TokenIdError, match="id 999 was not in use"):
        result.map_ids([999])
    lost = polytok.edit(tokenizer_of("sentencepiece, word"), remove=["▁the"])
    assert lost.prove(["the the"]).mapped_differently == (0,)
    with pytest.raises(polytok.TokenIdError, match="was removed, and its text cannot be encoded"):
        lost.map_ids([next(iter(lost.removed))])


def test_least_used_and_unused_entries() -> None:
    old = merged(b"th", b"the", b"xy", b"zz")
    assert editing.unused(old, ["the xy"]) == [b"th", b"zz"]
    assert editing.least_used(old, ["the xy the"], 3) == [b"th", b"zz", b"xy"]
    result = polytok.edit(old, remove=[editing.among(editing.unused(old, ["the xy"]))])
    assert (list(result.removed.values()), result.needed) == ([b"zz"], (b"th",))
    pieces = tokenizer_of("huggingface, wordpiece")
    assert all(len(piece.removeprefix(b"##").decode()) > 1 for piece in editing.unused(pieces, ["x"]))


# The command


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    code = cli.main([str(argument) for argument in arguments])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("name", ["sentencepiece, unigram", "huggingface, bytes", "gguf, wpm"])
def test_the_command(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old_tokenizer = tokenizer_of(name)
    suffix = {"sentencepiece": ".model", "huggingface": ".json", "gguf": ".gguf"}[old_tokenizer.spec.origin.format]
    old, new, text = tmp_path / f"old{suffix}", tmp_path / f"new{suffix}", tmp_path / "text.txt"
    old_tokenizer.save(old)
    text.write_text("\n".join(sentences(20)), "utf-8")
    arguments = ("edit", old, "-o", new, "--keep-script", "Latin", "--add-entry", "therefore", "--ids", "compact")
    arguments += ("--add-special-tokens", "<|new|>", "--pad-to-multiple", "32", "--prove", text)
    code, out = run(capsys, *arguments, "--id-map", tmp_path / "map.npz")
    assert code == 0 and "the special token <|new|> has the id" in out and "20 texts: " in out
    edited = polytok.load(new)
    arrays = np.load(tmp_path / "map.npz")
    assert edited.vocab_size % 32 == 0 and arrays["size"] == edited.vocab_size
    code, out = run(capsys, *arguments, "--id-map", tmp_path / "map.json", "--overwrite", "--json")
    report, id_map = json.loads(out), json.loads((tmp_path / "map.json").read_text("utf-8"))
    assert report["proof"]["texts"] == 20 and report["proof"]["mapped_differently"] == []
    assert {int(id): new_id for id, new_id in id_map["kept"].items()} == {
        id: new_id for id, new_id in enumerate(arrays["new_ids"].tolist()) if new_id >= 0
    }
    assert report["special_tokens"] == id_map["special_tokens"] and id_map["size"] == edited.vocab_size


def test_the_command_removes_what_texts_do_not_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, text = tmp_path / "old.json", tmp_path / "new.json", tmp_path / "text.txt"
    tokenizer_of("huggingface, bytes").save(old)
    text.write_text("the quick fox\n", "utf-8")
    code, out = run(capsys, "edit", old, "-o", new, "--unused-in", text, "--prove", text)
    assert code == 0 and "not removed because merges need them: " in out and "0 have other tokens" in out
    code, out = run(capsys, "edit", old, text, "-o", new, "--least-used", "5", "--lines", "--dry-run", "--json")
    report = json.loads(out)
    assert len(report["removed"]) + len(report["needed"]) == 5
    assert cli.main(["edit", str(old), "-o", str(tmp_path / "x.json"), "--remove-entry", "th"]) == 2
    assert "(--needed remove)" in capsys.readouterr().err
    assert cli.main(["edit", str(old), "-o", str(text), "--unused-in", str(text), "--overwrite"]) == 2


# Random vocabularies


def random_vocabulary(rng: random.Random, kind: str) -> Tokenizer:
    """Returns a vocabulary of a few letters in which many entries overlap, and some are never reached."""
    letters = "abcd"
    words = {"".join(rng.choices(letters, k=rng.choice([2, 2, 3, 3, 4, 5]))) for _ in range(14)}
    pieces = [*letters, *rng.sample(sorted(words), len(words))]
    if kind == "rank":
        rows = [(bytes([byte]), byte, 0.0, 1) for byte in range(256)]
        rows += [(piece.encode(), 256 + number, 0.0, 1) for number, piece in enumerate(pieces[4:])]
        return Tokenizer(Spec(Vocab.from_rows(rows), Bpe("rank")))
    rows = [(b"<unk>", 0, 0.0, 2)]
    rows += [(piece.encode(), number, rng.uniform(-9, -1), 1) for number, piece in enumerate(pieces, start=1)]
    if kind == "unigram":
        return Tokenizer(Spec(Vocab.from_rows(rows), Unigram(), unknown="unk"))
    if kind == "score":
        return Tokenizer(Spec(Vocab.from_rows(rows), Bpe("score", symbols="chars"), unknown="unk"))
    id_of_piece = {piece: number for number, piece in enumerate(pieces, start=1)}
    merges = [
        (id_of_piece[piece[:at]], id_of_piece[piece[at:]], id)
        for piece, id in id_of_piece.items()
        for at in range(1, len(piece))
        if piece[:at] in id_of_piece and piece[at:] in id_of_piece
    ]
    rng.shuffle(merges)
    model = Bpe("merges", symbols="scalars", merges=np.array(merges, dtype=np.uint32).reshape(-1, 3), fuse_unknown=True)
    return Tokenizer(Spec(Vocab.from_rows(rows), model, unknown="unk"))


@pytest.mark.parametrize("kind", ["rank", "score", "merges", "unigram"])
def test_edits_of_random_vocabularies(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(150):
        old = random_vocabulary(rng, kind)
        texts = ["".join(rng.choices("abcd", k=rng.randrange(1, 12))) for _ in range(30)]
        entries = [piece for piece in Rows(old.spec).entries if len(piece) > 1]
        removed = rng.sample(entries, rng.randrange(4))
        new_words = ["".join(rng.choices("abcde", k=rng.randrange(2, 7))) for _ in range(rng.randrange(4))]
        plan, needed = rng.choice(["reuse", "compact"]), rng.choice(["keep", "remove"])
        try:
            result = polytok.edit(old, remove=removed, add=new_words, ids=plan, needed=needed)  # type: ignore[arg-type]
        except ArgumentError:
            assert needed == "remove"  # an entry that is added needs a removed one
            continue
        new = result.tokenizer
        asked = {word.encode() for word in new_words} - ({*result.present} if kind == "unigram" else set())
        assert all(len(ids) == 1 for ids in spelled(new, list(asked)))
        reachable = [piece for piece, ids in zip(entries, spelled(old, entries), strict=True) if len(ids) == 1]
        stay = [piece for piece in reachable if piece not in result.removed.values()]
        if kind != "unigram":
            assert all(len(ids) == 1 for ids in spelled(new, stay))
        removed_ids = result.removed.keys()
        new_texts = [entry.piece.decode() for entry in result.added]
        new_texts += [piece.decode() for piece in result.present if piece not in reachable]
        for text in texts:
            ids = old.encode(text)
            assert new.decode(result.map_ids(ids)) == text
            if removed_ids.isdisjoint(ids) and not any(new_text in text for new_text in new_texts):
                assert new.encode(text) == [result.kept[id] for id in ids]
