"""Tests what notebooks show of tokenizers, encodings and traces."""

from __future__ import annotations

import re

import polytok
from polytok.notebook import MOST_PIECES

TEXT = "<script>alert(1)</script> & \"'" + " a" * MOST_PIECES


def test_no_text_becomes_html() -> None:
    tokenizer = polytok.load("default")
    for value in (tokenizer.encoding(TEXT), tokenizer.trace(TEXT[:100])):
        html = value._repr_html_()
        assert "<script" not in html and html.count("<div") == html.count("</div>")
        assert set(re.findall(r"<(/?\w+)", html)) <= {"div", "/div", "p", "/p", "span", "/span", "wbr"}


def test_long_encodings_are_cut() -> None:
    encoding = polytok.load("default").encoding(TEXT)
    html = encoding._repr_html_()
    assert html.count("<span") == MOST_PIECES and f"and {len(encoding) - MOST_PIECES} more" in html


def test_special_tokens_are_marked() -> None:
    tokenizer = polytok.load("default")
    html = tokenizer.trace("a<|endoftext|>", special="all")._repr_html_()
    assert html.count("outline") == 1 and 'title="id 32767"' in html


def test_a_tokenizer_is_a_table() -> None:
    tokenizer = polytok.load("default")
    html = tokenizer._repr_html_()
    assert tokenizer.fingerprint in html and "&lt;|endoftext|&gt;" in html and "32,768" in html


def test_escapes_of_a_token_are_not_mixed_with_text_from_right_to_left() -> None:
    html = polytok.load("default").encoding("שלום 𓀀")._repr_html_()
    chips = html.split("<wbr>")
    assert len(chips) > 3 and all("unicode-bidi:isolate" in chip for chip in chips)
