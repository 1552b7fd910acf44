"""Tests polytok.compat.grammar: grammars are followed to their end by ids that the engines' masks allow.

`make test-xgrammar` installs XGrammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from random import Random
from typing import Any

import llguidance
import numpy as np
import pytest

import polytok
from format_samples import sentencepiece_spec
from parity.vocabularies import all_vocabularies
from polytok import Tokenizer
from polytok.compat import grammar
from reference_specs import DATA
from tokenizer_samples import rank_spec

# Byte BPE, SentencePiece with byte fallback, Unigram and longest match; the default vocabulary needs no data.
NAMES = [
    *("cl100k_base", "llama2", "llama2.json", "xlnet_base_cased", "rwkv_vocab_v20230424"),
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("gpt2.json", "mistral03.json", "ggml-vocab-llama-spm", "xlnet_base_cased.json")
    ),
]
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]
needs_outlines = pytest.mark.skipif(find_spec("outlines_core") is None, reason="outlines_core is not installed")
DATE = r"[a-z]{3,8} [0-9]{4}-[0-9]{2}-[0-9]{2}"
OBJECT = r'\{"name": "[a-z ]{1,12}", "colours": \["red"(, "dark green"){0,2}\], "number": [1-9][0-9]{0,2}\}'
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z ]{1,12}$"},
        "colours": {"type": "array", "items": {"enum": ["red", "dark green"]}, "minItems": 1, "maxItems": 3},
        "number": {"type": "integer", "minimum": 0, "maximum": 999},
    },
    "required": ["name", "colours", "number"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module", params=["default", *(NAMES if DATA.is_dir() else [])])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return polytok.load("default") if request.param == "default" else all_vocabularies()[request.param].load()


def end_of_text(tokenizer: Tokenizer) -> int:
    return next(iter(tokenizer.special_tokens.values())) if tokenizer.eos_id is None else tokenizer.eos_id


def check_object(text: str) -> None:
    """Checks a text against ``SCHEMA``."""
    value = json.loads(text)
    assert list(value) == ["name", "colours", "number"]
    assert re.fullmatch("[a-z ]{1,12}", value["name"]) and 0 <= value["number"] <= 999
    assert 1 <= len(value["colours"]) <= 3 and set(value["colours"]) <= {"red", "dark green"}


# llguidance


def follow(
    ll_tokenizer: llguidance.LLTokenizer, ll_grammar: str, seed: int, forces_ids: bool = False
) -> tuple[list[int], list[list[int]]]:
    """Returns ids that the masks allow, chosen at random, until the grammar ends; and the lists of forced ids."""
    matcher = llguidance.LLMatcher(ll_tokenizer, ll_grammar)
    rng = Random(seed)
    ids: list[int] = []
    forced_lists = []
    while not matcher.is_stopped():
        next_ids = matcher.compute_ff_tokens() if forces_ids else []
        if next_ids:
            forced_lists.append(next_ids)
        else:
            allowed = np.frombuffer(matcher.compute_logit_bias(), np.uint8).nonzero()[0].tolist()
            next_ids = [rng.choice(allowed)]
            if next_ids[0] in ll_tokenizer.eos_tokens:
                break
        assert matcher.consume_tokens(next_ids), matcher.get_error()
        ids += next_ids
    assert matcher.is_accepting(), matcher.get_error()
    return ids, forced_lists


def json_grammar(schema: Any) -> str:
    return llguidance.LLMatcher.grammar_from_json_schema({**schema, "x-guidance": {"whitespace_flexible": False}})


@pytest.mark.parametrize("seed", SEEDS)
def test_llguidance_follows_grammars(tokenizer: Tokenizer, seed: int) -> None:
    ll_tokenizer = grammar.llguidance(tokenizer, eos=end_of_text(tokenizer))
    assert ll_tokenizer.is_canonical
    ids, _ = follow(ll_tokenizer, llguidance.LLMatcher.grammar_from_regex(DATE), seed)
    assert re.fullmatch(DATE, tokenizer.decode(ids).lstrip(" "))
    ids, forced_lists = follow(ll_tokenizer, json_grammar(SCHEMA), seed, forces_ids=seed % 2 == 1)
    check_object(tokenizer.decode(ids))
    bytes_of_id = tokenizer.vocab_bytes()
    for forced_ids in forced_lists:
        assert b"".join([bytes_of_id[id] for id in forced_ids]).decode()


@pytest.mark.parametrize("text", ["Hello world", '{"a": [1, 2]}', " two  spaces", "naïve 日本 😀", ""])
def test_llguidance_encodes_as_within_a_text(tokenizer: Tokenizer, text: str) -> None:
    ll_tokenizer = grammar.llguidance(tokenizer, eos=end_of_text(tokenizer))
    ids = ll_tokenizer.tokenize_str(text)
    can_restore = "xlnet" not in str(tokenizer) or text.isascii()
    if can_restore:
        assert ll_tokenizer.decode_bytes(ids) == text.encode()
    whole = tokenizer.encode(f"x\n{text}" if tokenizer.lossless.for_bytes else text)
    if tokenizer.lossless.for_bytes and text[:1].isalpha():
        assert whole[-len(ids) :] == ids


def test_special_tokens_of_llguidance() -> None:
    tokenizer = Tokenizer(rank_spec(special={"<|end|>": 300, "[pad]": 301, "<tool>": 302}))
    ll_tokenizer = grammar.llguidance(tokenizer, eos="<|end|>", size=310)
    assert ll_tokenizer.vocab_size == 310 and ll_tokenizer.eos_token == 300
    assert ll_tokenizer.is_special_token(300) and ll_tokenizer.is_special_token(301)
    ids, _ = follow(ll_tokenizer, llguidance.LLMatcher.grammar_from_lark("start: /a{1,3}/ <tool> /b/"), 1)
    assert ids[-2:] == [302, 98]
    assert ll_tokenizer.tokenize_str("<|end|>") == list(b"<|end|>")


# outlines_core


@needs_outlines
@pytest.mark.parametrize("seed", SEEDS)
def test_outlines_follows_a_pattern(tokenizer: Tokenizer, seed: int) -> None:
    import outlines_core

    vocabulary = grammar.outlines_core(tokenizer, eos=end_of_text(tokenizer))
    assert vocabulary.get_eos_token_id() == end_of_text(tokenizer)
    for pattern in (DATE, OBJECT):
        guide = outlines_core.Guide(outlines_core.Index(pattern, vocabulary))
        rng = Random(seed)
        ids: list[int] = []
        while not guide.is_finished():
            ids.append(rng.choice(guide.get_tokens()))
            guide.advance(ids[-1])
        assert re.fullmatch(pattern, tokenizer.decode(ids).lstrip(" "))


# Arguments


ADAPTERS = [grammar.llguidance, pytest.param(grammar.outlines_core, marks=needs_outlines)]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_tokenizer_without_an_end_of_text(adapter: Callable[..., Any]) -> None:
    tokenizer = Tokenizer(rank_spec())
    with pytest.raises(polytok.ArgumentError, match="no token that ends a text; name one with eos="):
        adapter(tokenizer)
    with pytest.raises(polytok.PieceError, match="no such piece"):
        adapter(tokenizer, eos="no such piece")
    with pytest.raises(polytok.ArgumentError, match="eos=1.5"):
        adapter(tokenizer, eos=1.5)
    adapter(tokenizer, eos=0)


@needs_outlines
def test_what_load_accepts_is_a_tokenizer() -> None:
    assert grammar.outlines_core("default").get(b" the") == [6988]
    with pytest.raises(TypeError, match="tokenizer=5"):
        grammar.outlines_core(5)  # type: ignore[arg-type]
    with pytest.raises(polytok.ArgumentError, match="size=-1"):
        grammar.llguidance("default", size=-1)


@needs_outlines
def test_byte_pieces_and_characters_with_the_same_bytes() -> None:
    tokenizer = Tokenizer(sentencepiece_spec())
    assert grammar.outlines_core(tokenizer).get(b"a") == tokenizer.pieces_to_ids(["<0x61>", "a"])


# XGrammar


@pytest.mark.parametrize("seed", range(3))
def test_xgrammar_follows_a_schema(tokenizer: Tokenizer, seed: int) -> None:
    xgr = pytest.importorskip("xgrammar")
    size = tokenizer.vocab_size + 3  # as of a model whose matrix has more rows
    tokenizer_info = grammar.xgrammar(tokenizer, eos=end_of_text(tokenizer), size=size)
    assert tokenizer_info.vocab_size == size and tokenizer_info.stop_token_ids == [end_of_text(tokenizer)]
    assert tokenizer_info.decoded_vocab == tokenizer.vocab_bytes(size)
    compiled = xgr.GrammarCompiler(tokenizer_info).compile_json_schema(json.dumps(SCHEMA), any_whitespace=False)
    matcher = xgr.GrammarMatcher(compiled)
    mask = xgr.allocate_token_bitmask(1, size)
    rng = Random(seed)
    ids: list[int] = []
    while not matcher.is_terminated():
        matcher.fill_next_token_bitmask(mask)
        allowed = np.unpackbits(mask.numpy().view(np.uint8), bitorder="little")[:size].nonzero()[0].tolist()
        ids.append(rng.choice(allowed))
        assert matcher.accept_token(ids[-1])
    check_object(tokenizer.decode(ids, skip_special=True))
