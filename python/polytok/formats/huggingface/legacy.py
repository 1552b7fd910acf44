"""The files from before tokenizer.json: ``vocab.json`` with ``merges.txt``, and BERT's ``vocab.txt``.

They hold a vocabulary only. What belongs to it stands in the class that ``tokenizer_config.json`` names; here it is the
tokenizer.json that transformers makes of such files (transformers 4, convert_slow_tokenizer.py), one row per class.
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


class Family(NamedTuple):
    """Classes, the special tokens that they have by themselves, and their document."""

    classes: tuple[str, ...]
    special: Mapping[str, str]
    document: Callable[[Config, Mapping[str, int]], Document]


def read_pair(vocab_json: bytes, merges_txt: bytes, siblings: Mapping[str, bytes]) -> Spec:
    """vocab.json and merges.txt."""
    settings = config.parsed(siblings)
    family = _family(settings, _PAIRS)
    columns, _ = _core.huggingface_vocab(vocab_json)
    vocab = Vocab(*columns)
    merges = _core.huggingface_merges(merges_txt, vocab)
    return _read(family, settings, vocab, merges)


def read_vocab_txt(data: bytes, siblings: Mapping[str, bytes]) -> Spec:
    """BERT's vocab.txt: one token per line, the id is the line's number from 0; of equal tokens the last counts."""
    settings = config.parsed(siblings)
    return _read(_BERT, settings, vocab_of_lines(data), None)


def vocab_of_lines(data: bytes) -> Vocab:
    """The columns of a vocab.txt; white space at the end of a line is no part of the token."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 at byte {error.start}") from error
    lines = lines[:-1] if lines[-1] == "" else lines
    ids = {line.rstrip(): number for number, line in enumerate(lines)}
    return Vocab.from_rows((text.encode(), id, 0.0, Kind.NORMAL) for text, id in ids.items())


def _read(family: Family, settings: Config, vocab: Vocab, merges: Json) -> Spec:
    settings = {**{f"{role}_token": text for role, text in family.special.items()}, **settings}

    def lookup(texts: list[str]) -> dict[str, int]:
        return {text: int(vocab.ids[row]) for text, row in row_of(vocab, texts).items()}

    tokens = added_tokens.number(config.tokens_of(settings), lookup, len(vocab)).tokens
    ids = {role: token.id for role in _ROLES for token in tokens if token.text == config.text_of(settings.get(role))}
    document = family.document(settings, ids)
    document = {"version": "1.0", **document, "added_tokens": added_tokens.write(tokens)}
    spec = spec_of(document, vocab, merges)
    spec = replace(spec, origin=Origin("huggingface"), extra={"huggingface": {"document": document, "pairs": True}})
    return config.applied(spec, settings, lookup, len(vocab))


_ROLES = tuple(f"{role}_token" for role in ("bos", "eos", "unk", "pad", "sep", "cls", "mask"))


def _family(settings: Config, families: tuple[Family, ...]) -> Family:
    wanted = config.class_name(settings) or "GPT2Tokenizer"
    for family in families:
        if wanted in family.classes:
            return family
    known = ", ".join(name for family in families for name in family.classes)
    raise FormatError(f"{config.FILE} names the class {wanted!r:.60}; of vocab.json and merges.txt are known {known}")


def _byte_level(add_prefix_space: bool, trim_offsets: bool = True, use_regex: bool = True) -> Json:
    flags = {"add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def _bpe(settings: Config, **fields: Json) -> Json:
    names = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")
    flags = {"fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    return {"type": "BPE", **dict.fromkeys(names), **flags, **fields}


def _gpt2(settings: Config, ids: Mapping[str, int]) -> Document:
    space = settings.get("add_prefix_space") is True
    return {
        "pre_tokenizer": _byte_level(space),
        "post_processor": _byte_level(True, trim_offsets=False),
        "decoder": _byte_level(True),
        "model": _bpe(settings),
    }


def _roberta(settings: Config, ids: Mapping[str, int]) -> Document:
    space = settings.get("add_prefix_space") is True
    ends = {"sep": _named(settings, ids, "sep_token"), "cls": _named(settings, ids, "cls_token")}
    processor = {"type": "RobertaProcessing", **ends, "trim_offsets": True, "add_prefix_space": space}
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
    ends = {"sep": _named(settings, ids, "eos_token"), "cls": _named(settings, ids, "bos_token")}
    return {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, spaces, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, _byte_level(False)]},
        "post_processor": {"type": "RobertaProcessing", **ends, "trim_offsets": False, "add_prefix_space": False},
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
    ends = {"sep": _named(settings, ids, "sep_token"), "cls": _named(settings, ids, "cls_token")}
    fields = {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return {
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", **ends},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": config.text_of(settings["unk_token"]) or "[UNK]", **fields},
    }


def _named(settings: Config, ids: Mapping[str, int], role: str) -> list[Json]:
    if role not in ids:
        raise FormatError(f"the vocabulary and its configuration have no {role}")
    return [config.text_of(settings.get(role)), ids[role]]


_END = "<|endoftext|>"
_SENTENCE = {"bos": "<s>", "eos": "</s>", "sep": "</s>", "cls": "<s>", "unk": "<unk>", "pad": "<pad>", "mask": "<mask>"}
_PAIRS = (
    Family(("GPT2Tokenizer", "WhisperTokenizer", "CodeGenTokenizer"), {"eos": _END}, _gpt2),
    Family(("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer"), _SENTENCE, _roberta),
    Family(("Qwen2Tokenizer",), {"eos": _END}, _qwen2),
    Family(("CLIPTokenizer",), {"bos": "<|startoftext|>", "eos": _END, "unk": _END, "pad": _END}, _clip),
)
_BERT_SPECIAL = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
_BERT = Family(("BertTokenizer",), _BERT_SPECIAL, _bert)
