"""Builds small tokenizers with the package ``tokenizers``, one for each component and option."""

from __future__ import annotations

import base64
import json
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from format_samples import real
from polytok import byte_level

Json = dict[str, Any]

LETTERS = ["a", "b", "c", "d", "e", "A", "B", "é", "世", "界", "▁", " ", "Ġ", "Ã", "©", ".", ",", "1", "2", "'", "s"]
WORDS = ["ab", "abc", "▁a", "▁ab", "Ġa", "Ġab", "Ã©", "世界", "12", "'s"]
MERGES = [
    *[("a", "b"), ("ab", "c"), ("▁", "a"), ("▁a", "b"), ("▁", "ab"), ("Ġ", "a"), ("Ġa", "b"), ("Ġ", "ab")],
    *[("Ã", "©"), ("世", "界"), ("1", "2"), ("'", "s")],
]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
TABLE = list(byte_level.BYTES)


def bpe(*more: str, merges: list[tuple[str, str]] | None = None, **options: Any) -> models.Model:
    texts = dict.fromkeys(["<unk>", *LETTERS, *WORDS, *more])
    return models.BPE(
        vocab={text: id for id, text in enumerate(texts)}, merges=MERGES if merges is None else merges, **options
    )


def byte_bpe(*more: str, **options: Any) -> models.Model:
    return bpe(*TABLE, *more, merges=[pair for pair in MERGES if "▁" not in pair[0] and pair[0] != "世"], **options)


def unigram(**options: Any) -> models.Model:
    texts = ["<unk>", *LETTERS, *WORDS, *BYTES]
    scored = [(text, -1.0 - 0.37 * number / (1 + len(text))) for number, text in enumerate(texts)]
    return models.Unigram(scored, **{"unk_id": 0, **options})


def wordpiece(**options: Any) -> models.Model:
    texts = ["[UNK]", "[CLS]", "[SEP]", *LETTERS, *WORDS, *(f"##{text}" for text in (*LETTERS, *WORDS))]
    vocab = {text: id for id, text in enumerate(dict.fromkeys(texts))}
    return models.WordPiece(vocab, unk_token="[UNK]", **options)


def word_level(**options: Any) -> models.Model:
    vocab = {text: id for id, text in enumerate(["<unk>", *LETTERS, *WORDS])}
    return models.WordLevel(vocab, **{"unk_token": "<unk>", **options})


MODELS = {
    "bpe": lambda: bpe(unk_token="<unk>"),
    "bpe without unk": bpe,
    "bpe, unk is not an entry": lambda: bpe(unk_token="<none>"),
    "bpe, fused unk": lambda: bpe(unk_token="<unk>", fuse_unk=True),
    "bpe, bytes": lambda: bpe(*BYTES, unk_token="<unk>", byte_fallback=True, fuse_unk=True),
    "bpe, some bytes": lambda: bpe(*BYTES[:0xC4], unk_token="<unk>", byte_fallback=True),
    "bpe, whole pieces": lambda: bpe("a b", "abcd", unk_token="<unk>", ignore_merges=True),
    "bpe, suffix": lambda: bpe(
        *("a</w>", "b</w>", "ab</w>"), merges=[*MERGES, ("a", "b</w>")], unk_token="<unk>", end_of_word_suffix="</w>"
    ),
    "bpe, prefix": lambda: bpe(
        *("##b", "##c", "a##b"), merges=[("a", "##b"), ("ab", "##c")], continuing_subword_prefix="##", unk_token="<unk>"
    ),
    "unigram": unigram,
    "unigram, bytes": lambda: unigram(byte_fallback=True),
    "unigram without unk": lambda: unigram(unk_id=None),
    "wordpiece": wordpiece,
    "wordpiece, short words": lambda: wordpiece(max_input_chars_per_word=3),
    "wordpiece, other prefix": lambda: wordpiece(continuing_subword_prefix=""),
    "word level": word_level,
    "word level, unk is not an entry": lambda: word_level(unk_token="<none>"),
}
NORMALIZERS = {
    "bert": lambda: normalizers.BertNormalizer(),
    "bert, cased": lambda: normalizers.BertNormalizer(lowercase=False),
    "bert, accents": lambda: normalizers.BertNormalizer(False, False, True, False),
    "strip": lambda: normalizers.Strip(),
    "strip left": lambda: normalizers.Strip(left=True, right=False),
    "strip accents": lambda: normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
    **{form: lambda form=form: getattr(normalizers, form)() for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "lowercase": lambda: normalizers.Lowercase(),
    "nmt": lambda: normalizers.Nmt(),
    "replace": lambda: normalizers.Replace("a", "bb"),
    "replace regex": lambda: normalizers.Replace(Regex(r"\s+|b{2,}"), " "),
    "prepend": lambda: normalizers.Prepend("▁"),
    "byte level": lambda: normalizers.ByteLevel(),
    "nested": lambda: normalizers.Sequence(
        [normalizers.Sequence([normalizers.NFKC(), normalizers.Sequence([])]), normalizers.Lowercase()]
    ),
}
BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
PRE_TOKENIZERS = {
    "bert": lambda: pre_tokenizers.BertPreTokenizer(),
    "char delimiter": lambda: pre_tokenizers.CharDelimiterSplit("b"),
    "metaspace": lambda: pre_tokenizers.Metaspace(),
    "metaspace first": lambda: pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
    "metaspace never": lambda: pre_tokenizers.Metaspace("_", prepend_scheme="never"),
    "metaspace after a split": lambda: pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")]
    ),
    "whitespace": lambda: pre_tokenizers.Whitespace(),
    "whitespace split": lambda: pre_tokenizers.WhitespaceSplit(),
    **{
        f"punctuation {behavior}": lambda behavior=behavior: pre_tokenizers.Punctuation(behavior)
        for behavior in BEHAVIORS
    },
    **{
        f"split {behavior} {invert}": lambda behavior=behavior, invert=invert: pre_tokenizers.Split(
            Regex(r"[ab]+|\s"), behavior, invert
        )
        for behavior in BEHAVIORS
        for invert in (False, True)
    },
    "split text": lambda: pre_tokenizers.Split("ab", "isolated"),
    "digits": lambda: pre_tokenizers.Digits(False),
    "single digits": lambda: pre_tokenizers.Digits(True),
    "scripts": lambda: pre_tokenizers.UnicodeScripts(),
    "fixed length": lambda: pre_tokenizers.FixedLength(3),
    "byte level": lambda: pre_tokenizers.ByteLevel(add_prefix_space=False),
    "byte level, space": lambda: pre_tokenizers.ByteLevel(add_prefix_space=True),
    "byte level, no pattern": lambda: pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False),
    "digits, then byte level": lambda: pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    ),
    "byte level in the middle": lambda: pre_tokenizers.Sequence(
        [pre_tokenizers.ByteLevel(add_prefix_space=True), pre_tokenizers.FixedLength(2)]
    ),
}
DECODERS = {
    "byte level": lambda: decoders.ByteLevel(),
    "bpe": lambda: decoders.BPEDecoder(suffix="b"),
    "wordpiece": lambda: decoders.WordPiece(prefix="a"),
    "wordpiece, no cleanup": lambda: decoders.WordPiece(cleanup=False),
    "metaspace": lambda: decoders.Metaspace(),
    "metaspace never": lambda: decoders.Metaspace(prepend_scheme="never"),
    "ctc": lambda: decoders.CTC(pad_token="a", word_delimiter_token="b"),
    "fuse": lambda: decoders.Fuse(),
    "byte fallback": lambda: decoders.ByteFallback(),
    "llama": lambda: decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    ),
    "replace regex": lambda: decoders.Replace(Regex("[ab]"), "x"),
    "empty sequence": lambda: decoders.Sequence([]),
}
PROCESSORS = {
    "bert": lambda: processors.BertProcessing(("b", 2), ("a", 1)),
    "roberta": lambda: processors.RobertaProcessing(("b", 2), ("a", 1)),
    "roberta, no trimming": lambda: processors.RobertaProcessing(("b", 2), ("a", 1), trim_offsets=False),
    "byte level": lambda: processors.ByteLevel(trim_offsets=True),
    "byte level, no space": lambda: processors.ByteLevel(trim_offsets=True, add_prefix_space=False),
    "template": lambda: processors.TemplateProcessing("$A:3 a $A a:1", "a $B:2 b $A", [("a", 1), ("b", 2)]),
    "several ids": lambda: processors.TemplateProcessing(
        "x $A", "x $A $B:1", [{"id": "x", "ids": [1, 2], "tokens": ["a", "b"]}]
    ),
    "sequence": lambda: processors.Sequence(
        [processors.ByteLevel(trim_offsets=True), processors.TemplateProcessing("a $A", "a $A $B", [("a", 1)])]
    ),
}
ADDED = [
    AddedToken("<x>", special=True),
    AddedToken("ab", special=False, single_word=True),
    AddedToken("<mask>", special=True, lstrip=True, normalized=False),
    AddedToken("[R]", special=False, rstrip=True, normalized=True),
    AddedToken("ÉA", special=False, normalized=True),
    AddedToken("<x>y", special=False, normalized=False),
]


def tokenizer_with_model(model: models.Model) -> Tokenizer:
    return Tokenizer(model)


def precompiled() -> normalizers.Normalizer:
    """Returns the charsmap of a real file."""
    document = json.loads(real("huggingface/xlnet_base_cased.json"))
    steps = [step for step in document["normalizer"]["normalizers"] if step["type"] == "Precompiled"]
    return normalizers.Precompiled(base64.b64decode(steps[0]["precompiled_charsmap"]))


def sample(kind: str, name: str) -> Tokenizer:
    """Returns a tokenizer with the named component."""
    if kind == "model":
        return Tokenizer(MODELS[name]())
    level = "byte" in name and kind != "decoder"
    tokenizer = Tokenizer(byte_bpe() if level else bpe(*BYTES, unk_token="<unk>"))
    if kind == "normalizer":
        tokenizer.normalizer = precompiled() if name == "precompiled" else NORMALIZERS[name]()
    if kind == "pre_tokenizer":
        tokenizer.pre_tokenizer = PRE_TOKENIZERS[name]()
    if kind == "decoder":
        tokenizer.decoder = DECODERS[name]()
    if kind == "post_processor":
        tokenizer.post_processor = PROCESSORS[name]()
    if kind == "added_tokens":
        tokenizer.normalizer = normalizers.Lowercase() if "lower" in name else None
        tokenizer.add_tokens(ADDED)
        if "byte" in name:
            tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(False), decoders.ByteLevel()
    return tokenizer


SAMPLES = [
    *(("model", name) for name in MODELS),
    *(("normalizer", name) for name in (*NORMALIZERS, "precompiled")),
    *(("pre_tokenizer", name) for name in PRE_TOKENIZERS),
    *(("decoder", name) for name in DECODERS),
    *(("post_processor", name) for name in PROCESSORS),
    *(("added_tokens", name) for name in ("plain", "lower", "bytes", "bytes, lower")),
]
