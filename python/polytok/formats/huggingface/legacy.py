"""Reads the formats before tokenizer.json: ``vocab.json`` with ``merges.txt``, and BERT's ``vocab.txt``.

The files contain only a vocabulary. The class that ``tokenizer_config.json`` names determines the other components.
This module builds the tokenizer.json that transformers derives from such files (transformers 4,
convert_slow_tokenizer.py), with one row for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from ... import _core
from ...errors import FormatError
from ...spec import Kind, Origin, Spec, Vocab
from ..tiktoken_families import QWEN
from . import added_tokens, config, spec_of
from .fields import Json
from .models import row_of

Document = dict[str, Json]
Config = Mapping[str, Json]


class TokenizerFamily(NamedTuple):
    """Tokenizer classes with the same components, their default special tokens, and a function for their document."""

    classes: tuple[str, ...]
    special: Mapping[str, str]
    document: Callable[[Config, Mapping[str, int]], Document]


def read_pair(vocab_json: bytes, merges_txt: bytes, siblings: Mapping[str, bytes]) -> Spec:
    """Reads vocab.json and merges.txt."""
    settings = config.parse(siblings)
    family = _family(settings, _PAIR_FAMILIES)
    columns, _ = _core.huggingface_vocab(vocab_json)
    vocab = Vocab(*columns)
    merges = _core.huggingface_merges(merges_txt, vocab)
    return _read(family, settings, vocab, merges)


def read_vocab_txt(data: bytes, siblings: Mapping[str, bytes]) -> Spec:
    """Reads BERT's vocab.txt: one token per line; the id is the number (from 0) of the last line with the token."""
    settings = config.parse(siblings)
    return _read(_BERT_FAMILY, settings, vocab_of_lines(data), None)


def vocab_of_lines(data: bytes) -> Vocab:
    """Returns the columns of a vocab.txt. White space at the end of a line does not belong to the token."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 at byte {error.start}") from error
    lines = lines[:-1] if lines[-1] == "" else lines
    ids = {line.rstrip(): number for number, line in enumerate(lines)}
    return Vocab.from_rows((text.encode(), id, 0.0, Kind.NORMAL) for text, id in ids.items())


def _read(family: TokenizerFamily, settings: Config, vocab: Vocab, merges: Json) -> Spec:
    settings = {**{f"{role}_token": text for role, text in family.special.items()}, **settings}

    def lookup(texts: list[str]) -> dict[str, int]:
        return {text: int(vocab.ids[row]) for text, row in row_of(vocab, texts).items()}

    tokens = added_tokens.assign_ids(config.tokens_of(settings), lookup, len(vocab)).tokens
    ids = {role: token.id for role in _ROLES for token in tokens if token.text == config.text_of(settings.get(role))}
    document = family.document(settings, ids)
    document = {"version": "1.0", **document, "added_tokens": added_tokens.write(tokens)}
    spec = spec_of(document, vocab, merges)
    spec = replace(spec, origin=Origin("huggingface"), extra={"huggingface": {"document": document, "pairs": True}})
    return config.apply(spec, settings, lookup, len(vocab))


_ROLES = tuple(f"{role}_token" for role in ("bos", "eos", "unk", "pad", "sep", "cls", "mask"))


def _family(settings: Config, families: tuple[TokenizerFamily, ...]) -> TokenizerFamily:
    class_name = config.class_name(settings) or "GPT2Tokenizer"
    for family in families:
        if class_name in family.classes:
            return family
    known_classes = ", ".join(name for family in families for name in family.classes)
    raise FormatError(
        f"{config.FILE} names the class {class_name!r:.60}, but the classes known for vocab.json and merges.txt are "
        f"{known_classes}"
    )


def _byte_level(add_prefix_space: bool, trim_offsets: bool = True, use_regex: bool = True) -> Json:
    flags = {"add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def _bpe(settings: Config, **fields: Json) -> Json:
    names = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")
    flags = {"fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    return {"type": "BPE", **dict.fromkeys(names), **flags, **fields}


def _gpt2(settings: Config, ids: Mapping[str, int]) -> Document:
    add_space = settings.get("add_prefix_space") is True
    return {
        "pre_tokenizer": _byte_level(add_space),
        "post_processor": _byte_level(True, trim_offsets=False),
        "decoder": _byte_level(True),
        "model": _bpe(settings),
    }


def _roberta(settings: Config, ids: Mapping[str, int]) -> Document:
    add_space = settings.get("add_prefix_space") is True
    boundary_tokens = {
        "sep": _token_with_id(settings, ids, "sep_token"),
        "cls": _token_with_id(settings, ids, "cls_token"),
    }
    processor = {"type": "RobertaProcessing", **boundary_tokens, "trim_offsets": True, "add_prefix_space": add_space}
    return {**_gpt2(settings, ids), "post_processor": processor}


def _qwen2(settings: Config, ids: Mapping[str, int]) -> Document:
    split = {"type": "Split", "pattern": {"Regex": QWEN}, "behavior": "Isolated", "invert": False}
    bytes_only = _byte_level(settings.get("add_prefix_space") is True, use_regex=False)
    return {
        **_gpt2(settings, ids),
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytes_only]},
    }


_CLIP_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def _clip(settings: Config, ids: Mapping[str, int]) -> Document:
    spaces = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
    split = {"type": "Split", "pattern": {"Regex": _CLIP_PATTERN}, "behavior": "Removed", "invert": True}
    boundary_tokens = {
        "sep": _token_with_id(settings, ids, "eos_token"),
        "cls": _token_with_id(settings, ids, "bos_token"),
    }
    return {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, spaces, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, _byte_level(False)]},
        "post_processor": {
            "type": "RobertaProcessing",
            **boundary_tokens,
            "trim_offsets": False,
            "add_prefix_space": False,
        },
        "decoder": _byte_level(True),
        "model": _bpe(settings, end_of_word_suffix="</w>", unk_token=config.text_of(settings.get("unk_token"))),
    }


def _bert(settings: Config, ids: Mapping[str, int]) -> Document:
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": settings.get("tokenize_chinese_chars", True) is True,
        "strip_accents": settings.get("strip_accents"),
        "lowercase": settings.get("do_lower_case", True) is True,
    }
    boundary_tokens = {
        "sep": _token_with_id(settings, ids, "sep_token"),
        "cls": _token_with_id(settings, ids, "cls_token"),
    }
    fields = {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return {
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", **boundary_tokens},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": config.text_of(settings["unk_token"]) or "[UNK]", **fields},
    }


def _token_with_id(settings: Config, ids: Mapping[str, int], role: str) -> list[Json]:
    if role not in ids:
        raise FormatError(f"the vocabulary and its configuration have no {role}")
    return [config.text_of(settings.get(role)), ids[role]]


_END_OF_TEXT = "<|endoftext|>"
_SENTENCE_TOKENS = {
    "bos": "<s>",
    "eos": "</s>",
    "sep": "</s>",
    "cls": "<s>",
    "unk": "<unk>",
    "pad": "<pad>",
    "mask": "<mask>",
}
_PAIR_FAMILIES = (
    TokenizerFamily(("GPT2Tokenizer", "WhisperTokenizer", "CodeGenTokenizer"), {"eos": _END_OF_TEXT}, _gpt2),
    TokenizerFamily(
        ("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer"), _SENTENCE_TOKENS, _roberta
    ),
    TokenizerFamily(("Qwen2Tokenizer",), {"eos": _END_OF_TEXT}, _qwen2),
    TokenizerFamily(
        ("CLIPTokenizer",),
        {"bos": "<|startoftext|>", "eos": _END_OF_TEXT, "unk": _END_OF_TEXT, "pad": _END_OF_TEXT},
        _clip,
    ),
)
_BERT_TOKENS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
_BERT_FAMILY = TokenizerFamily(("BertTokenizer",), _BERT_TOKENS, _bert)
