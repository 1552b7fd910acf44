"""Tests editing longest-match vocabularies: removed entries, added entries, and the new id of each old id."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import polytok
import texts
from optional_packages import rwkv_package
from polytok import Kind, Spec, Tokenizer, Vocab, cli, editing, lists, reference
from polytok.lists import kaomoji
from polytok.spec import Longest, Origin, SpecialToken
from reference_specs import DATA, needs_data

WORDS = [
    *(b" the", b" of", b"The", b"    ", b"()", b" {\n", b"camelCase", b"x_y"),
    *(
        "naïve".encode(),
        "日本".encode(),
        "мир".encode(),
        b"\xe3\x81",
        b"\n\n",
        b"2024",
        "漢字かな".encode(),
        "aя".encode(),
    ),
]


def vocabulary(words: Sequence[bytes] = WORDS, **options: Any) -> Tokenizer:
    pieces = [bytes([byte]) for byte in range(256)] + sorted(words, key=lambda word: (len(word), word))
    options = {"special": (SpecialToken("<|endoftext|>", 0),), "names": {"eos": 0}, **options}
    numbers = (id for id in itertools.count() if id not in {token.id for token in options["special"]})
    rows = [(piece, id, 0.0, Kind.NORMAL) for piece, id in zip(pieces, numbers, strict=False)]
    return Tokenizer(Spec(Vocab.from_rows(rows), Longest(), origin=Origin("rwkv"), **options))


def ids_by_piece(tokenizer: Tokenizer) -> dict[bytes, int]:
    vocab = tokenizer.spec.vocab
    return dict(zip(vocab.pieces(), vocab.ids.tolist(), strict=True))


def select_entries(select: editing.Selector, words: Sequence[bytes] = WORDS) -> list[bytes]:
    return list(itertools.compress(words, select(words)))


def test_free_ids_are_reused() -> None:
    old_tokenizer = vocabulary()
    result = polytok.edit(old_tokenizer, remove=[" the", b" of", "2024"], add=["東京", b"\xff\xfe", "The", " is"])
    old_ids, new_ids = ids_by_piece(old_tokenizer), ids_by_piece(result.tokenizer)
    free = sorted(old_ids[word] for word in (b" the", b" of", b"2024"))
    assert result.removed == {old_ids[word]: word for word in (b" of", b" the", b"2024")}
    assert [(new_entry.piece, new_entry.id) for new_entry in result.added] == [
        *zip([b"\xff\xfe", b" is", "東京".encode()], free, strict=True),
    ]
    assert result.present == (b"The",)
    assert all(old_tokenizer.decode_bytes(new_entry.was) == new_entry.piece for new_entry in result.added)
    assert result.added[0].was == (256, 255)
    kept_ids = {id: id for word, id in old_ids.items() if id not in free}
    assert result.kept == {0: 0, **kept_ids}
    assert new_ids == {word: id for word, id in old_ids.items() if id not in free} | {
        new_entry.piece: new_entry.id for new_entry in result.added
    }
    pieces = result.tokenizer.spec.vocab.pieces()
    assert pieces == sorted(pieces, key=lambda piece: (len(piece), piece))
    assert (
        result.summary
        == f"3 entries removed, 3 added, 0 ids changed, 1 to add was already present: ids up to {max(kept_ids)}"
    )


def test_removing_leaves_gaps_and_adding_appends_ids() -> None:
    old_tokenizer = vocabulary([b"aa", b"bb", b"cc"])
    first_edit = polytok.edit(old_tokenizer, remove=[b"aa", b"bb"], add=[b"dd"])
    assert ids_by_piece(first_edit.tokenizer)[b"dd"] == 257
    assert 258 not in ids_by_piece(first_edit.tokenizer).values()
    second_edit = polytok.edit(first_edit.tokenizer, add=[b"ee", b"ff", b"gg"])
    assert [new_entry.id for new_entry in second_edit.added] == [258, 260, 261]


def test_compact_renumbers_all_entries() -> None:
    old_tokenizer = vocabulary(special=(SpecialToken("<|endoftext|>", 0), SpecialToken("<|user|>", 258)), names={})
    result = polytok.edit(old_tokenizer, remove=[b" the", b"camelCase"], add=[b"zz", "東京".encode()], ids="compact")
    vocab = result.tokenizer.spec.vocab
    expected = {*ids_by_piece(old_tokenizer), b"zz", "東京".encode()} - {b" the", b"camelCase"}
    assert vocab.pieces() == sorted(expected, key=lambda word: (len(word), word))
    assert vocab.ids.tolist() == [id for id in range(1, len(expected) + 2) if id != 258]
    assert {result.kept[id] for id in (0, 258)} == {0, 258}
    new_ids = ids_by_piece(result.tokenizer)
    assert all(new_ids[word] == result.kept[id] for word, id in ids_by_piece(old_tokenizer).items() if word in new_ids)
    assert (
        ids_by_piece(polytok.edit(old_tokenizer, ids="compact").tokenizer).keys() == ids_by_piece(old_tokenizer).keys()
    )


def test_selectors() -> None:
    assert select_entries(editing.ENGLISH) == [b" the", b" of", b"The", b"camelCase"]
    assert select_entries(editing.CODE) == [b"    ", b"()", b" {\n", b"camelCase", b"x_y"]
    latin = [b" the", b" of", b"The", b"camelCase", b"x_y", "naïve".encode()]
    assert select_entries(editing.script("Latin")) == latin
    assert select_entries(editing.script("Han")) == ["日本".encode()]
    assert select_entries(editing.script("Cyrillic")) == ["мир".encode()]
    assert select_entries(editing.matching(r"^\p{N}+$")) == [b"2024"]
    assert select_entries(editing.matching(r"[\s\S]*")) == [word for word in WORDS if word != b"\xe3\x81"]
    for invalid_pattern in ("(", r"\p{Script=Klingon}"):
        with pytest.raises(polytok.ArgumentError):
            editing.matching(invalid_pattern)
    own_selector = lambda entries: [b"\n" in entry for entry in entries]  # noqa: E731
    result = polytok.edit(vocabulary(), remove=[editing.matching("[a-z]"), own_selector])
    assert not any(word in ids_by_piece(result.tokenizer) for word in (*latin, b"\n\n", b" {\n"))
    assert all(bytes([byte]) in ids_by_piece(result.tokenizer) for byte in range(256))


def test_least_used() -> None:
    old_tokenizer = vocabulary([b"aa", b"ab", b"abc", b"zz"])
    assert editing.least_used(old_tokenizer, ["aaab ab", "aa"], 3) == [b"abc", b"zz", b"aa"]
    assert editing.least_used(old_tokenizer, [], 9) == [b"abc", b"aa", b"ab", b"zz"]


def test_japanese_words() -> None:
    text = "今日は雨です。アメリカの今日と、アメと飴。ビール、お茶、日々。" * 2 + "猫が大好き"
    words = editing.japanese_words([text, b"\xff" + "今日".encode()], 4)
    assert [(word.decode(), times) for word, times in words] == [("今日", 5), ("です", 2), ("アメ", 2), ("ビール", 2)]
    assert [word.decode() for word, _ in editing.japanese_words([text], 9, lengths=[4])] == ["アメリカ"]
    with pytest.raises(polytok.ArgumentError):
        editing.japanese_words([text], -1)


def test_lists_from_files(tmp_path: Path) -> None:
    removed_list, added_list = tmp_path / "gone.txt", tmp_path / "new.txt"
    removed_list.write_text(" the\n of\n", "utf-8")
    added_list.write_text("東京\n(^_^)\n the\n", "utf-8")
    result = polytok.edit(vocabulary(), remove=[removed_list], add=added_list)
    assert list(result.removed.values()) == [b" of"]
    assert [entry.piece.decode() for entry in result.added] == ["(^_^)", "東京"]
    assert result.present == (b" the",)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"remove": ["a"]}, polytok.ArgumentError, "cannot remove"),
        ({"remove": ["nowhere"]}, polytok.PieceError, "not an entry"),
        ({"remove": "The"}, polytok.ArgumentError, "give a list"),
        ({"add": "The"}, polytok.ArgumentError, "give a list"),
        ({"add": [""]}, polytok.ArgumentError, "cannot be empty"),
        ({"add": [b"x" * 65536]}, polytok.ArgumentError, "at most 65535"),
        ({"add": [f"{number} x" for number in range(65536)]}, polytok.ArgumentError, "remove 273 entries, or pass"),
        ({"make_room": 5}, TypeError, "make_room=5 is not a list of texts"),
        ({"remove": [[" the", " of"]]}, polytok.ArgumentError, "contains a list: unpack it with"),
        ({"ids": "some"}, polytok.ArgumentError, "unknown ids"),
        ({"remove": [lambda entries: [True]]}, polytok.ArgumentError, "return one value"),
    ],
)
def test_impossible_edits_are_errors(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        polytok.edit(vocabulary(), **options)


def test_the_result_encodes_as_the_twin_and_as_rwkvs_reader(tmp_path: Path) -> None:
    added = [*kaomoji(), b"\xf0\x9f\x98", b"\n'\"", "\u2028".encode(), b"\r\n\r\n"]
    for plan in ("reuse", "compact"):
        edited_tokenizer = polytok.edit(vocabulary(), remove=[editing.ENGLISH], add=added, ids=plan).tokenizer  # type: ignore[arg-type]
        path = tmp_path / f"{plan}.txt"
        edited_tokenizer.save(path, "rwkv")
        assert polytok.load(path).spec.vocab == edited_tokenizer.spec.vocab
        rwkv_tokenizer = rwkv_package().WorldTokenizer(str(path))
        for data in texts.generate_texts(3, 150, texts.VocabularyPieces(edited_tokenizer.spec.vocab.pieces())):
            text = data.decode(errors="ignore")
            assert (
                edited_tokenizer.encode(text)
                == rwkv_tokenizer.encode(text)
                == reference.encode(edited_tokenizer.spec, text)
            )


@pytest.mark.parametrize("plan", ["reuse", "compact"])
def test_a_gguf_file_has_every_id(tmp_path: Path, plan: Any) -> None:
    vocabulary().save(tmp_path / "old.gguf")
    old_tokenizer = polytok.load(tmp_path / "old.gguf")
    result = polytok.edit(old_tokenizer, remove=[" the", "мир"], add=["東京"], ids=plan)
    result.tokenizer.save(tmp_path / "new.gguf")
    reloaded_tokenizer = polytok.load(tmp_path / "new.gguf")
    assert reloaded_tokenizer.spec.vocab == result.tokenizer.spec.vocab
    assert reloaded_tokenizer.vocab_size == old_tokenizer.vocab_size - (plan == "compact")
    assert reloaded_tokenizer.special_tokens == {"<|endoftext|>": 0} and reloaded_tokenizer.eos_id == 0
    assert reloaded_tokenizer.decode(reloaded_tokenizer.encode("東京 the мир")) == "東京 the мир"
    assert result.kept[0] == 0
    filled_edit = polytok.edit(reloaded_tokenizer, add=["京都"])
    assert filled_edit.added[0].id == (
        ids_by_piece(old_tokenizer)["мир".encode()] if plan == "reuse" else reloaded_tokenizer.vocab_size
    )


@needs_data
def test_rwkv_world_without_english_and_with_japanese() -> None:
    world = polytok.load(DATA / "vocab/rwkv/rwkv_vocab_v20230424.txt")
    text = (DATA / "corpus/ja.txt").read_text("utf-8")[:300_000]
    words = [word for word, _ in editing.japanese_words([text], 3000)]
    result = polytok.edit(world, remove=[editing.ENGLISH, editing.CODE], add=words)
    assert result.tokenizer.count(text) < 0.9 * world.count(text)
    assert len(result.removed) > 40_000
    assert all(world.decode_bytes(new_entry.was) == new_entry.piece for new_entry in result.added)


# Entries that are not used


@pytest.mark.parametrize("list_name", ["kaomoji", "emoji"])
def test_symbols_are_used_after_letters_and_white_space(list_name: str) -> None:
    """Tests the numbers of RWKV's vocabulary before and after variants are added."""
    if not (path := DATA / "vocab" / "rwkv" / "rwkv_vocab_v20230424.txt").exists():
        pytest.skip("no data")
    if list_name == "emoji":
        pytest.importorskip("emoji")
    symbols = getattr(lists, list_name)()
    old, removed = polytok.load(path), [editing.script("Han")]
    before, after = (
        polytok.edit(old, remove=removed, add=symbols),
        polytok.edit(old, remove=removed, add_symbols=symbols),
    )
    # A face such as orz would be a part of a word after a letter.
    not_words = [symbol for symbol in symbols if not symbol[:1].isalnum()]
    contexts = {b"": symbols, "の".encode(): symbols, b"Z": not_words, b"a": not_words}
    contexts |= dict.fromkeys((b" ", b"a ", b"\n", b"a\n"), symbols)
    unused_before = {
        context: sum(not is_used(before.tokenizer, symbol, context) for symbol in examined_symbols)
        for context, examined_symbols in contexts.items()
    }
    counts = {key: count for key, count in unused_before.items() if count}
    if list_name == "kaomoji":
        assert counts == {b" ": 91, b"a ": 91}
    assert counts.keys() == {b" ", b"a "}
    after_letters = ["OTZ", "orz", "m(__)m", "m(_ _)m", "Uo・ェ・oU"] if list_name == "kaomoji" else []
    assert [(usage.context, usage.examined, len(usage.unused)) for usage in before.usage] == [
        ("at the start of a text", len(symbols), 0),
        ("after a letter", sum(not symbol.decode()[0].isalnum() for symbol in symbols), 0),
        ("after a space", len(symbols), counts[b" "]),
        ("after a line feed", len(symbols), 0),
    ]
    assert all(usage.examined == len(symbols) for usage in after.usage)
    assert [unused.entry.decode() for usage in after.usage for unused in usage.unused] == after_letters
    for context, examined_symbols in contexts.items():
        assert [symbol for symbol in examined_symbols if not is_used(after.tokenizer, symbol, context)] == []
    variants = {entry.piece for entry in after.added} - set(symbols)
    assert len(variants) == counts[b" "]
    assert {variant[:1] for variant in variants} == {b" "}


def is_used(tokenizer: Tokenizer, symbol: bytes, context: bytes) -> bool:
    """Reports whether a symbol after ``context`` is one token, maybe with a space before it."""
    return tokenizer.id_to_piece(tokenizer.encode(context + symbol)[-1]) in (symbol, b" " + symbol, b"\n" + symbol)


def test_entries_that_are_not_used_are_reported() -> None:
    old = vocabulary([b" (", b"\n(", b"a(", b"a "])
    result = polytok.edit(old, add=["(^_^)", " x", "b(", "\n\n"])
    assert unused_entries(result) == [
        ("after a letter", b" x", b"a", b"a "),
        ("after a letter", b"(^_^)", b"a", b"a("),
        ("after a space", b"(^_^)", b" ", b" ("),
        ("after a line feed", b"(^_^)", b"\n", b"\n("),
    ]
    assert [usage.examined for usage in result.usage] == [4, 3, 2, 2]
    result = polytok.edit(old, add_symbols=["(^_^)"])
    assert {entry.piece for entry in result.added} == {b"(^_^)", b" (^_^)", b"\n(^_^)"}
    assert [str(usage) for usage in result.usage if usage.unused] == [
        'after a letter, 0 of 1 are one token: "(^_^)" after "a" gives "a(", "^", "_", "^", ")"',
    ]
    word = vocabulary([b"a ", b"a ("])
    assert unused_entries(polytok.edit(word, add_symbols=["(^_^)"])) == [("after a space", b"(^_^)", b"a ", b"a (")]


def unused_entries(result: polytok.Edit) -> list[tuple[str, bytes, bytes, bytes]]:
    """Returns the context of each entry that is not one token, the entry, the text before it, and the first token."""
    return [
        (usage.context, unused.entry, unused.before, unused.pieces[0])
        for usage in result.usage
        for unused in usage.unused
    ]


def test_symbols_that_begin_with_a_letter_are_examined_after_letters() -> None:
    """Tests that words are not examined after letters, where they are parts of other words, but symbols are."""
    old = vocabulary([b"Zo", b"kno"])
    assert unused_entries(polytok.edit(old, add=["orz"])) == []
    assert unused_entries(polytok.edit(old, add_symbols=["orz"])) == [("after a letter", b"orz", b"Z", b"Zo")]


@pytest.mark.parametrize("plan", ["reuse", "compact"])
def test_room_is_made_for_symbols_and_their_variants(plan: Any) -> None:
    """Tests that exactly as many entries are removed as ids are missing, the least used first."""
    full = vocabulary([b" (", *(b"%d" % number for number in range(100_000, 165_273))])
    symbols = ["(^_^)", "(*_*)", ":-)", ";-)", "(x)"]
    with pytest.raises(polytok.ArgumentError, match="8 entries to add need ids, but 5 ids are free.*remove 3 entries"):
        polytok.edit(full, add_symbols=symbols, ids=plan)
    result = polytok.edit(full, add_symbols=symbols, make_room=[" (", "100000100002"], ids=plan)
    assert list(result.removed.values()) == [b"100001", b"100003", b"100004"]
    assert len(result.added) == 8 and result.tokenizer.vocab_size == 65_536
    assert polytok.edit(full, add_symbols=symbols, remove=["100001", "100007", "100008"], ids=plan).added


# The command


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    code = cli.main([str(argument) for argument in arguments])
    return code, capsys.readouterr().out


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old_path, new_path, text, ids_file = (tmp_path / name for name in ("old.txt", "new.txt", "text.txt", "map.json"))
    vocabulary().save(old_path, "rwkv")
    text.write_text("今日は雨\n今日もアメ\n", "utf-8")
    code, out = run(
        capsys,
        *("edit", old_path, "-o", new_path, "--to", "rwkv", "--remove-english", "--remove-script", "Cyrillic"),
        *("--remove-entry", "()", "--remove-least-used", "1", "--add-japanese", "2", text),
        *("--add-entry", "ab", "--add-kaomoji", "--ids", "compact", "--id-map", ids_file),
    )
    assert code == 0
    assert "7 entries removed" in out
    assert "not used" not in out
    reloaded_tokenizer = polytok.load(new_path)
    id_changes = json.loads(ids_file.read_text("utf-8"))
    assert {"今日", "アメ", "ab", "(^_^)"} <= {entry["piece"] for entry in id_changes["added"]}
    assert all(reloaded_tokenizer.piece_to_id(entry["piece"]) == entry["id"] for entry in id_changes["added"])
    assert {" the", "мир", "()", "漢字かな"} <= set(id_changes["removed"].values())
    assert id_changes["kept"]["0"] == 0
    code, out = run(capsys, "edit", old_path, "-o", tmp_path / "no.txt", "--to", "rwkv", "--remove-code", "--dry-run")
    assert (code, "not written" in out) == (0, True)
    assert not (tmp_path / "no.txt").exists()


@pytest.mark.parametrize(
    "arguments", [("--remove-least-used", "3"), ("--text", "x"), ("--remove-entry", "a"), ("--remove-regex", "(")]
)
def test_wrong_arguments(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    vocabulary().save(tmp_path / "old.txt", "rwkv")
    assert cli.main(["edit", str(tmp_path / "old.txt"), "-o", str(tmp_path / "new.txt"), *arguments]) == 2
    assert not (tmp_path / "new.txt").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--remove-script", "Klingon"), "'Klingon' is not the Unicode name of a script"),
        (("--remove-regex", "ab("), "'ab(' is not a valid regex"),
        (("--add", "no-such.txt"), "no-such.txt: cannot read the list of entries"),
        (("--remove-entry", "no such entry"), "cannot remove 'no such entry': it is not an entry"),
    ],
)
def test_errors_of_the_command_are_in_its_words(
    option: tuple[str, str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{number + 1} {bytes([number])!r} 1\n" for number in range(256))
    (tmp_path / "in.txt").write_text(rows)
    assert cli.main(["edit", str(tmp_path / "in.txt"), "-o", str(tmp_path / "out.txt"), *option]) in (1, 2)
    errors = capsys.readouterr().err
    assert message in errors and "fancy_regex" not in errors


@needs_data
def test_the_page_of_the_cookbook_on_rwkvs_own_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs the first commands of the page, and compares their results with the numbers on the page."""
    pytest.importorskip("emoji")
    page = (Path(__file__).parents[1] / "docs/cookbook/kaomoji-in-rwkv.md").read_text("utf-8")
    edit_command, doctor_command = page.split("```sh\n")[1].split("```")[0].splitlines()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat.txt").write_bytes((DATA / "corpus/chat_emoji.txt").read_bytes()[:100_000])
    vocabulary_name = "rwkv_vocab_v20230424.txt"
    (tmp_path / vocabulary_name).write_bytes((DATA / "vocab/rwkv" / vocabulary_name).read_bytes())
    code, out = run(capsys, *edit_command.split()[1:])
    assert (code, "5,584 entries removed, 5,590 added, 0 ids changed" in out) == (0, True)
    assert "5,584" in page and "5,590" in page and "5,496" in page
    code, out = run(capsys, *doctor_command.split()[1:])
    assert code == 1  # five faces are not one token after letters
    assert [line for line in out.splitlines() if "are one token" in line] == [
        "at the start of a text, 5496 of 5496 are one token",
        "after a letter, 5491 of 5496 are one token",
        "after a space, 5496 of 5496 are one token",
        "after a line feed, 5496 of 5496 are one token",
    ]
    assert '  "orz" after "a" gives "ao", "rz"' in out.splitlines()
    code, out = run(capsys, "doctor", "faces.txt", "--one-token", "kaomoji", "--json")
    assert [usage["examined"] for usage in json.loads(out)["usage"]] == [100] * 4
