"""Reads the formats that are older than tokenizer.json: ``vocab.json`` with ``merges.txt``, and BERT's ``vocab.txt``.

The files contain only a vocabulary. The other components follow from the class in ``tokenizer_config.json``. For each
class, a function of this module builds the tokenizer.json that transformers derives from such files (transformers 4,
convert_slow_tokenizer.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ... import _core
from ...columns import buffer
from ...errors import FormatError
from ...patterns import QWEN2
from ...records import replace
from ...spec import Kind, Origin, Spec, Vocab
from . import added_tokens, config, spec_of
from .fields import Json
from .models import rows_of_texts

Document = dict[str, Json]
Config = Mapping[str, Json]


class TokenizerFamily(NamedTuple):
    """Tokenizer classes with the same components, their default special tokens, and the builder of their document."""

    classes: tuple[str, ...]
    special: Mapping[str, str]
    build_document: Callable[[Config, Mapping[str, int]], Document]


def read_pair(vocab_json: bytes, merges_txt: bytes, siblings: Mapping[str, bytes]) -> Spec:
    """Reads vocab.json and merges.txt."""
    settings = config.parse(siblings)
    family = _family_of_class(settings, _PAIR_FAMILIES)
    columns, _ = _core.huggingface_vocab(vocab_json)
    vocab = Vocab(*columns)
    merges = _core.huggingface_merges(merges_txt, vocab)
    return _read_family(family, settings, vocab, merges)


def read_vocab_txt(data: bytes, siblings: Mapping[str, bytes]) -> Spec:
    """Reads BERT's vocab.txt, with one token per line. The id of a token is the number (from 0) of its last line."""
    settings = config.parse(siblings)
    return _read_family(_BERT_FAMILY, settings, vocab_of_lines(data), None)


def vocab_of_lines(data: bytes) -> Vocab:
    """Returns the vocabulary of a vocab.txt. White space at the end of a line is not part of the token."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 at byte {error.start}") from error
    lines = lines[:-1] if lines[-1] == "" else lines
    ids = {line.rstrip(): number for number, line in enumerate(lines)}
    return Vocab.from_rows((text.encode(), id, 0.0, Kind.NORMAL) for text, id in ids.items())


def _read_family(family: TokenizerFamily, settings: Config, vocab: Vocab, merges: Json) -> Spec:
    settings = {**{f"{role}_token": text for role, text in family.special.items()}, **settings}

    stored_ids = buffer(vocab, "ids")

    def lookup_ids(texts: list[str]) -> dict[str, int]:
        return {text: stored_ids[row] for text, row in rows_of_texts(vocab, texts).items()}

    tokens = added_tokens.assign_ids(config.tokens_of(settings), lookup_ids, len(vocab)).tokens
    ids = {role: token.id for role in _ROLES for token in tokens if token.text == config.text_of(settings.get(role))}
    document = family.build_document(settings, ids)
    document = {"version": "1.0", **document, "added_tokens": added_tokens.write(tokens)}
    spec = spec_of(document, vocab, merges)
    spec = replace(spec, origin=Origin("huggingface"), extra={"huggingface": {"document": document, "pairs": True}})
    return config.apply(spec, settings, lookup_ids, len(vocab))


_ROLES = tuple(f"{role}_token" for role in ("bos", "eos", "unk", "pad", "sep", "cls", "mask"))


def _family_of_class(settings: Config, families: tuple[TokenizerFamily, ...]) -> TokenizerFamily:
    class_name = config.class_name(settings) or "GPT2Tokenizer"
    for family in families:
        if class_name in family.classes:
            return family
    known_classes = ", ".join(name for family in families for name in family.classes)
    raise FormatError(
        f"{config.CONFIG_FILE} names the class {class_name!r:.60}, but the classes known for vocab.json and "
        f"merges.txt are {known_classes}"
    )


def _byte_level_json(add_prefix_space: bool, trim_offsets: bool = True, use_regex: bool = True) -> Json:
    flags = {"add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def _bpe_json(settings: Config, **fields: Json) -> Json:
    names = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")
    flags = {"fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    return {"type": "BPE", **dict.fromkeys(names), **flags, **fields}


def _gpt2_document(settings: Config, ids: Mapping[str, int]) -> Document:
    add_space = settings.get("add_prefix_space") is True
    return {
        "pre_tokenizer": _byte_level_json(add_space),
        "post_processor": _byte_level_json(True, trim_offsets=False),
        "decoder": _byte_level_json(True),
        "model": _bpe_json(settings),
    }


def _roberta_document(settings: Config, ids: Mapping[str, int]) -> Document:
    add_space = settings.get("add_prefix_space") is True
    boundary_tokens = {
        "sep": _text_and_id_of_role(settings, ids, "sep_token"),
        "cls": _text_and_id_of_role(settings, ids, "cls_token"),
    }
    processor = {"type": "RobertaProcessing", **boundary_tokens, "trim_offsets": True, "add_prefix_space": add_space}
    return {**_gpt2_document(settings, ids), "post_processor": processor}


def _qwen2_document(settings: Config, ids: Mapping[str, int]) -> Document:
    split = {"type": "Split", "pattern": {"Regex": QWEN2}, "behavior": "Isolated", "invert": False}
    byte_level_without_regex = _byte_level_json(settings.get("add_prefix_space") is True, use_regex=False)
    return {
        **_gpt2_document(settings, ids),
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level_without_regex]},
    }


_CLIP_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def _clip_document(settings: Config, ids: Mapping[str, int]) -> Document:
    collapse_spaces = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
    split = {"type": "Split", "pattern": {"Regex": _CLIP_PATTERN}, "behavior": "Removed", "invert": True}
    boundary_tokens = {
        "sep": _text_and_id_of_role(settings, ids, "eos_token"),
        "cls": _text_and_id_of_role(settings, ids, "bos_token"),
    }
    return {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, collapse_spaces, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, _byte_level_json(False)]},
        "post_processor": {
            "type": "RobertaProcessing",
            **boundary_tokens,
            "trim_offsets": False,
            "add_prefix_space": False,
        },
        "decoder": _byte_level_json(True),
        "model": _bpe_json(settings, end_of_word_suffix="</w>", unk_token=config.text_of(settings.get("unk_token"))),
    }


def _bert_document(settings: Config, ids: Mapping[str, int]) -> Document:
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": settings.get("tokenize_chinese_chars", True) is True,
        "strip_accents": settings.get("strip_accents"),
        "lowercase": settings.get("do_lower_case", True) is True,
    }
    boundary_tokens = {
        "sep": _text_and_id_of_role(settings, ids, "sep_token"),
        "cls": _text_and_id_of_role(settings, ids, "cls_token"),
    }
    fields = {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return {
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", **boundary_tokens},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": config.text_of(settings["unk_token"]) or "[UNK]", **fields},
    }


def _text_and_id_of_role(settings: Config, ids: Mapping[str, int], role: str) -> list[Json]:
    if role not in ids:
        raise FormatError(f"the vocabulary and its configuration have no {role}")
    return [config.text_of(settings.get(role)), ids[role]]


_END_OF_TEXT = "<|endoftext|>"
_ROBERTA_TOKENS = {
    "bos": "<s>",
    "eos": "</s>",
    "sep": "</s>",
    "cls": "<s>",
    "unk": "<unk>",
    "pad": "<pad>",
    "mask": "<mask>",
}
_PAIR_FAMILIES = (
    TokenizerFamily(("GPT2Tokenizer", "WhisperTokenizer", "CodeGenTokenizer"), {"eos": _END_OF_TEXT}, _gpt2_document),
    TokenizerFamily(
        ("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer"), _ROBERTA_TOKENS, _roberta_document
    ),
    TokenizerFamily(("Qwen2Tokenizer",), {"eos": _END_OF_TEXT}, _qwen2_document),
    TokenizerFamily(
        ("CLIPTokenizer",),
        {"bos": "<|startoftext|>", "eos": _END_OF_TEXT, "unk": _END_OF_TEXT, "pad": _END_OF_TEXT},
        _clip_document,
    ),
)
_BERT_TOKENS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
_BERT_FAMILY = TokenizerFamily(("BertTokenizer",), _BERT_TOKENS, _bert_document)
