"""Tests the figures of vocabularies: on small ones by hand, and the parts of the reports."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import polytok
from cli_process import error_of, run
from format_samples import VOCAB, longest_spec
from polytok import _core
from polytok.spec import Bpe, Kind, Vocab
from polytok.statistics import matplotlib_plots
from polytok.statistics import texts as texts_module
from polytok.statistics.plots import DotPlot, plots_of
from polytok.statistics.scripts import HAN_AND_KANA, NO_LETTERS, SEVERAL, UNICODE, Scripts
from polytok.statistics.svg import draw
from polytok.statistics.tables import markdown, tables_of
from polytok.statistics.texts import TextCounter
from polytok.statistics.tokens import ranked
from texts import VocabularyPieces, generate_texts
from tokenizer_samples import rank_spec, word_unigram

CORPUS = VOCAB.parent / "corpus"
LANGUAGES = {"en": ["the cat", "the mat"], "ja": ["猫は", "ネコ 123"]}


def words_tokenizer(*words: str) -> polytok.Tokenizer:
    return polytok.Tokenizer(rank_spec(*(word.encode() for word in words)))


def one_group(tokenizer: Any, *texts: str | bytes, **keywords: Any) -> Any:
    (model,) = polytok.stats(tokenizer, {"all": list(texts)}, **keywords).models
    return model.groups[0]


# Texts


def test_texts_are_counted() -> None:
    (group,) = polytok.stats("default", {"x": ["the  cat\n", "é\u3000日本", b"\xff a"]}).groups
    assert (group.texts, group.bytes, group.characters, group.words) == (3, 9 + 11 + 3, 9 + 4 + 3, 2 + 2 + 2)
    assert group.scripts == {"Latin": 8, "Han": 2}


def test_texts_are_counted_in_slices_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = VocabularyPieces([b"ab", "日".encode()])
    texts = list(generate_texts(1, 100, pieces))
    results = []
    for size in (1 << 22, 7, 4):
        monkeypatch.setattr(texts_module, "_SLICE_BYTES", size)
        counter = TextCounter("x", Scripts())
        counter.add(texts)
        results.append(counter.result())
    assert results[0] == results[1] == results[2]
    decoded = [text.decode() for text in texts]
    assert results[0].characters == sum(map(len, decoded)) and results[0].words == sum(len(t.split()) for t in decoded)


@pytest.mark.parametrize(
    ("text", "is_spaced"),
    [("the cat", True), ("猫はどこ", False), ("แมวอยู่ที่ไหน", False), ("고양이 어디", True), ("123", True), ("", True)],
)
def test_words_of_scripts_without_spaces_are_not_compared(text: str, is_spaced: bool) -> None:
    stats = polytok.stats("default", {"x": [text, "1"]})
    assert stats.groups[0].has_spaced_words == is_spaced
    assert (stats.models[0].groups[0].tokens_per_word is not None) == is_spaced


# Tokens


def test_figures_of_a_small_vocabulary() -> None:
    tokenizer = words_tokenizer("the", "cat", "he", "dog")
    tokens = one_group(tokenizer, "the cat", "the 日")
    assert (tokens.tokens, tokens.used_entries) == (3 + 2 + 3, 6)  # the, space, cat; the, space, three bytes
    assert (
        tokens.bytes_per_token == 14 / 8 and tokens.characters_per_token == 12 / 8 and tokens.tokens_per_word == 8 / 4
    )
    assert (tokens.fallback_tokens, tokens.fallback_bytes, tokens.unknown_tokens) == (3, 3, 0)
    assert tokens.scripts == {"Latin": 3, "parts of characters": 3, "no letters": 2}
    (model,) = polytok.stats(tokenizer, {"x": ["the cat", "the 日"]}).models
    assert (model.entries, model.special, model.kinds) == (260, 0, {"normal": 260})
    assert model.never_used == 260 - 6 and model.lengths == (0, 256, 1, 3) and model.token_lengths == (0, 5, 0, 3)
    assert model.zipf == ((1, 2), (2, 2), (3, 1), (4, 1), (5, 1), (6, 1))


def test_totals_are_sums_of_groups() -> None:
    (model,) = polytok.stats("default", LANGUAGES).models
    for name in ("tokens", "unknown_bytes", "fallback_bytes"):
        assert getattr(model.total, name) == sum(getattr(tokens, name) for tokens in model.groups)
    assert sum(model.total.scripts.values()) == model.total.tokens
    assert sum(model.scripts.values()) == sum(model.kinds.values()) == sum(model.lengths) == model.entries
    assert model.never_used == model.entries - model.special - model.total.used_entries


def test_the_total_of_tokens_per_word_is_that_of_texts_with_spaces_between_words() -> None:
    (model,) = polytok.stats("default", {**LANGUAGES, "fi": ["kissa ja koira"]}).models
    english, japanese, finnish = model.groups
    assert japanese.tokens_per_word is None
    assert model.total.tokens_per_word == (english.tokens + finnish.tokens) / (4 + 3)
    (model,) = polytok.stats("default", {"ja": LANGUAGES["ja"], "th": ["แมว"]}).models
    assert model.total.tokens_per_word is None


def test_counts_are_those_of_count_ids() -> None:
    texts = ["the cat", "猫 the", "x" * 50]
    counts = polytok.count_ids("default", texts)
    (model,) = polytok.stats("default", {"x": texts}).models
    assert model.zipf[0] == (1, counts.max()) and model.groups[0].tokens == counts.sum()
    assert model.groups[0].used_entries == np.count_nonzero(counts)


def test_unknown_text_is_measured_in_bytes() -> None:
    tokens = one_group(polytok.Tokenizer(word_unigram()), "ab日本ab", "aba")
    assert (tokens.unknown_bytes, tokens.fallback_bytes) == (6, 0) and tokens.unknown_tokens > 0


def test_byte_pieces_are_parts_of_characters() -> None:
    if not (VOCAB / "sentencepiece/llama2.model").exists():
        pytest.skip("needs ../shared/data")
    tokens = one_group(VOCAB / "sentencepiece/llama2.model", "a\U0001f9ff")
    assert (tokens.fallback_tokens, tokens.fallback_bytes, tokens.unknown_tokens) == (4, 4, 0)


def test_duplicate_and_unreachable_entries() -> None:
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)]
    rows += [(b"ab", 256, 0.0, Kind.NORMAL), (b"ab", 257, 0.0, Kind.NORMAL)]
    (model,) = polytok.stats(polytok.Tokenizer(longest_spec(vocab=Vocab.from_rows(rows)))).models
    assert (model.duplicates, model.unreachable, model.never_used) == (1, 0, None)
    unreachable = replace(rank_spec(b"abc"), model=Bpe("rank"))  # no pair of entries makes it
    (model,) = polytok.stats(polytok.Tokenizer(unreachable)).models
    assert (model.duplicates, model.unreachable, model.entries) == (0, 1, 257)


def test_ranks_are_dense_at_first_and_logarithmic_later() -> None:
    points = ranked(np.arange(100_000))
    ranks = [rank for rank, _ in points]
    assert ranks[:10] == list(range(1, 11)) and ranks[-1] == 99_999 and len(ranks) < 70
    assert ranks == sorted(set(ranks)) and all(count == 100_000 - rank for rank, count in points)
    assert ranked(np.zeros(5, dtype=np.int64)) == ()


def test_options_are_those_of_encoding() -> None:
    texts = {"x": ["a<|endoftext|>"]}
    (plain,) = polytok.stats("default", texts).models
    (special,) = polytok.stats("default", texts, options=polytok.Options(special="all")).models
    assert plain.total.tokens > special.total.tokens == 2


def test_parity() -> None:
    texts = {"a": ["the cat"], "b": ["猫猫猫"], "c": [""]}
    groups = polytok.stats("default", texts, aligned=True).models[0].groups
    assert [tokens.parity for tokens in groups] == [1, groups[1].tokens / groups[0].tokens, 0]
    stats = polytok.stats("default", texts, baseline="b")
    assert stats.baseline == "b" and stats.models[0].groups[1].parity == 1 and stats.models[0].total.parity is None
    assert polytok.stats("default", texts).models[0].groups[0].parity is None


def test_groups_that_are_not_aligned() -> None:
    with pytest.raises(polytok.ArgumentError, match="a has 1 and b has 2; to compare"):
        polytok.stats("default", {"a": ["x"], "b": ["x", "y"]}, aligned=True)
    with pytest.raises(
        polytok.ArgumentError, match="baseline='en' needs a group of texts: the groups are eng; did you"
    ):
        polytok.stats("default", {"eng": ["x"]}, baseline="en")
    with pytest.raises(polytok.ArgumentError, match="aligned=True needs a group of texts: there are no texts"):
        polytok.stats("default", aligned=True)


def test_a_refused_text_names_the_vocabulary() -> None:
    spec = longest_spec(vocab=Vocab.from_rows([(b"a", 1, 0.0, Kind.NORMAL)]))
    with pytest.raises(polytok.EncodeError, match=r"^small refuses a text: "):
        polytok.stats({"small": polytok.Tokenizer(spec)}, {"x": ["a", "b"]})


# Models and groups


def test_names_of_models_and_groups(tmp_path: Path) -> None:
    for name in ("en.txt", "fi.txt", "more/en.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    tokenizer = words_tokenizer("ab")
    stats = polytok.stats([tokenizer, "default", tokenizer], [tmp_path / "en.txt", tmp_path / "fi.txt"])
    assert [model.name for model in stats.models] == ["memory 1", "default", "memory 2"]
    assert [group.name for group in stats.groups] == ["en", "fi"]
    stats = polytok.stats({"own": tokenizer}, [tmp_path / "en.txt", tmp_path / "more/en.txt", tmp_path / "more"])
    assert [group.name for group in stats.groups] == [f"{tmp_path.name}/en.txt", "more/en.txt", "more"]
    assert [group.name for group in polytok.stats(tokenizer, ["a", "b"]).groups] == ["texts"]
    assert [group.texts for group in polytok.stats(tokenizer, {"none": []}).groups] == [0]


@pytest.mark.parametrize(
    ("models", "texts", "expected"),
    [
        ([], None, "models=.. names no tokenizer"),
        ([1], None, "models: 1 is neither a polytok.Tokenizer nor a path"),
        ("default", "text", "texts='text' is a single text"),
        ("default", {"a": "text"}, r"texts\['a'\]='text' is a single text"),
    ],
)
def test_wrong_arguments(models: Any, texts: Any, expected: str) -> None:
    with pytest.raises((TypeError, ValueError), match=expected):
        polytok.stats(models, texts)


# Scripts


@pytest.mark.parametrize(
    ("text", "script"),
    [
        (" the", "Latin"),
        ("naïve1", "Latin"),
        ("a\u0301", "Latin"),
        ("ा", "Devanagari"),
        ("日本", "Han"),
        ("食べ", HAN_AND_KANA),
        ("アー", "Katakana"),
        ("Aя", SEVERAL),
        ("Ⅷ 12!", NO_LETTERS),
        ("😀", NO_LETTERS),
        ("", NO_LETTERS),
    ],
)
def test_scripts_of_texts(text: str, script: str) -> None:
    expected = "Latin" if text == "Ⅷ 12!" else script  # a Roman numeral has the script, but is a number
    assert Scripts().of_text(text) == (script if text == "Ⅷ 12!" else expected)


def test_every_letter_has_a_script_or_is_used_by_many() -> None:
    """Tests that the list of scripts is complete: letters without one are Common or Inherited."""
    letters = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code))[0] in "LM"]
    letters = letters[::7] + letters[-500:]
    scripts = Scripts()
    without = [letter for letter, script in zip(letters, scripts.of_characters(letters), strict=True) if script is None]
    shared = _core.pattern_matches(r"\p{Script=Common}|\p{Script=Inherited}", [letter.encode() for letter in without])
    assert all(shared) and UNICODE == "16.0" and len(without) < len(letters) / 20


# Reports


@pytest.fixture(scope="module")
def stats() -> polytok.Stats:
    models = {'<one> & "two"': words_tokenizer("the", "cat"), "default": "default", "third|*": words_tokenizer()}
    return polytok.stats(models, {**LANGUAGES, "<script>alert(1)</script>": ["x", "y"]}, aligned=True)


def test_json_has_all_figures(stats: polytok.Stats) -> None:
    value = json.loads(json.dumps(stats.to_json()))
    assert value["schema"] == 1 and value["baseline"] == "en" and value["unicode"] == UNICODE
    model = value["models"][1]
    assert model["groups"][0]["tokens"] == stats.models[1].groups[0].tokens
    assert Counter({item["name"]: item["count"] for item in model["scripts"]}) == stats.models[1].scripts
    assert model["zipf"][0] == list(stats.models[1].zipf[0])


def test_tables_have_a_column_for_each_model(stats: polytok.Stats) -> None:
    tables = {table.title: table for table in tables_of(stats)}
    for title in ("Tokens", "Parity", "Entries by script, %", "Lengths of tokens, in bytes"):
        assert tables[title].heads == tuple(model.name for model in stats.models)
        assert all(len(cells) == 3 for _, cells in tables[title].rows)
    assert [name for name, _ in tables["Tokens"].rows] == [*(group.name for group in stats.groups), "total"]
    assert tables["Parity"].rows[0][1] == ("1.00",) * 3
    without_texts = [table.title for table in tables_of(polytok.stats("default"))]
    assert "Tokens" not in without_texts and "Entries by kind" in without_texts


def test_markdown_has_no_markup_of_names(stats: polytok.Stats) -> None:
    text = markdown(tables_of(stats))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert "| third\\|\\* |" in text and "\\<script>alert" in text and "<script>" not in text.replace("\\<script>", "")
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows if "default" in row and "one" in row}) == 1


class Page(HTMLParser):
    """Collects the tags and their attributes, and checks that they are balanced."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open_tags: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag != "meta":
            self.open_tags.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open_tags.pop() == tag


def test_the_page_loads_nothing_and_escapes_names(stats: polytok.Stats) -> None:
    page = Page()
    html = stats.to_html()
    page.feed(html)
    assert page.open_tags == [] and "<script" not in html
    assert not {"src", "onload", "onclick"} & {name for _, attributes in page.tags for name in attributes}
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids)) and {f"#{id}" for id in ids} >= set(links)
    assert any(attributes.get("http-equiv") == "Content-Security-Policy" for _, attributes in page.tags)
    plots = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(plots) == len(plots_of(stats)) and all(plot["role"] == "img" for plot in plots)
    assert {id for plot in plots for id in str(plot["aria-labelledby"]).split()} <= set(ids)
    assert sum(tag == "table" for tag, _ in page.tags) == len(tables_of(stats))


def test_series_of_plots_differ_in_more_than_colour(stats: polytok.Stats) -> None:
    for plot in plots_of(stats):
        root = ElementTree.fromstring(draw(plot, has_style=True))
        name = "{http://www.w3.org/2000/svg}"
        assert root.find(f"{name}title") is not None and root.find(f"{name}desc") is not None
        lines = root.findall(f"{name}polyline")  # those of the legend
        assert len(lines) == len({(line.get("stroke"), line.get("stroke-dasharray")) for line in lines}) == 3
        assert len({line.get("stroke-dasharray") for line in lines}) == 3
        assert len({mark.get("d") for mark in root.findall(f"{name}path")}) == 3
        description = root.findtext(f"{name}desc")
        assert description is not None and '<one> & "two"' in description


def test_plots_of_many_series_and_of_no_values() -> None:
    models = {f"m{number}": words_tokenizer() for number in range(20)}
    for texts in ({"x": ["a b"]}, {"x": [""]}, None):
        for plot in plots_of(polytok.stats(models, texts)):
            assert "NaN" not in draw(plot) and ElementTree.fromstring(draw(plot)) is not None
            if isinstance(plot, DotPlot):
                assert all(len(values) == len(plot.rows) for _, values in plot.series)


@pytest.mark.parametrize(("format", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_matplotlib_draws_all_plots(stats: polytok.Stats, format: str, magic: bytes) -> None:
    pytest.importorskip("matplotlib")
    for plot in plots_of(stats):
        assert matplotlib_plots.draw(plot, format).startswith(magic)


def test_without_matplotlib_an_error_says_what_to_install(
    stats: polytok.Stats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(polytok.ArgumentError, match=r"pip install 'polytok\[plots\]', or write SVG"):
        matplotlib_plots.draw(plots_of(stats)[0], "png")


# The command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "langs").mkdir()
    (tmp_path / "langs/en.txt").write_text("the cat\nthe mat\n")
    (tmp_path / "langs/ja.txt").write_text("猫は\nネコ\n")
    (tmp_path / "small.model").write_text("minbpe v1\n\\w+|\\W+\n0\n97 98\n")
    (tmp_path / "texts.jsonl").write_text('{"text": "a b", "lang": "en"}\n{"text": "b", "lang": "xx"}\n')
    return tmp_path


def groups_of(*arguments: str) -> list[tuple[str, int]]:
    value = json.loads(run("stats", *arguments, "--json"))
    return [(group["name"], group["texts"]) for group in value["groups"]]


@pytest.mark.usefixtures("folder")
def test_groups_of_the_command() -> None:
    assert groups_of("default", "--on", "langs/en.txt", "langs/ja.txt") == [("en", 1), ("ja", 1)]
    assert groups_of("default", "--on", "langs/*.txt", "--lines") == [("en", 2), ("ja", 2)]
    assert groups_of("default", "--on", "langs", "--on", "texts.jsonl") == [("langs", 2), ("texts", 2)]
    assert groups_of("--on", "langs", "--by", "file") == [("en", 1), ("ja", 1)]
    assert groups_of("--on", "langs", "texts.jsonl", "--by", "folder") == [("langs", 2), (".", 2)]
    assert groups_of("--on", "texts.jsonl", "--by", "lang") == [("en", 1), ("xx", 1)]
    assert groups_of("--text", "a b") == [("--text", 1)]
    assert groups_of("small.model") == []


def test_the_command_prints_tables_and_writes_files(folder: Path) -> None:
    arguments = ("small.model", "-m", "default", "--on", "langs/en.txt", "langs/ja.txt", "--lines", "--baseline", "ja")
    report = run("stats", *arguments, "--html", "out/page.html", "--plots", "out/plots").decode()
    parity = report.partition("\nParity\n")[2].splitlines()
    assert parity[0].split() == ["small.model", "default", "group"] and parity[2].split() == ["1.00", "1.00", "ja"]
    assert (folder / "out/page.html").read_text().startswith("<!DOCTYPE html>")
    names = {path.name for path in (folder / "out/plots").iterdir()}
    assert {"zipf.svg", "bytes_per_token.svg", "parity.svg", "lengths_of_tokens.svg", "scripts.svg"} <= names
    for path in (folder / "out/plots").iterdir():
        assert "<style>" in path.read_text() and ElementTree.parse(path)
    assert "out/page.html exists" in error_of("stats", "default", "--html", "out/page.html")
    text = run("stats", *arguments, "--markdown").decode()
    assert text.startswith("## Vocabularies\n") and "| ja | 1.00 | 1.00 |" in text


@pytest.mark.usefixtures("folder")
def test_errors_of_the_command() -> None:
    unknown_group = error_of("stats", "default", "--on", "langs/en.txt", "--baseline", "fr")
    assert "--baseline fr needs a group of texts: the groups are en" in unknown_group
    assert "small.model is a tokenizer, not a text" in error_of("stats", "default", "--on", "small.model")
    assert "No such file" in error_of("stats", "default", "--on", "missing.txt")
    assert "en.txt is not a tokenizer: write the texts after --on" in error_of("stats", "default", "langs/en.txt")


def test_a_stream_of_10_mb_takes_seconds() -> None:
    if not CORPUS.exists():
        pytest.skip("needs ../shared/data")
    names = ("tiktoken/cl100k_base.tiktoken", "sentencepiece/llama2.model", "huggingface/bert_base_cased.json")
    stats = polytok.stats([VOCAB / name for name in names], [CORPUS / "en_prose.txt", CORPUS / "ja.txt"])
    cl100k, llama, bert = (model.groups for model in stats.models)
    assert [tokens.unknown_bytes for tokens in (*cl100k, *llama)] == [0] * 4 and bert[1].unknown_bytes > 10**6
    assert llama[1].fallback_bytes > llama[0].fallback_bytes and cl100k[0].tokens < llama[0].tokens
    assert sum(stats.models[2].kinds.values()) == stats.models[2].entries == 28996
