"""Mistral's ``tekken.json``: a pattern, special tokens, and a vocabulary of base64 texts by rank.

The algorithm is tiktoken's. Special tokens have the first ids; the configuration contains their number. A special token
without a name in the file is named ``<SPECIAL_i>``. The id of an entry is its rank plus the number of special tokens.
The configuration also contains the size of the vocabulary; entries beyond this size are not used. The unused entries
are kept as the text in the file, and the file's layout, version, and fields for images and audio are kept too.

mistral-common decodes by one of three policies. KEEP equals `Tokenizer.decode`. IGNORE equals ``skip_special=True``,
except that polytok can combine the bytes before and after a skipped token into one character. polytok has no equivalent
of RAISE. mistral-common encodes special tokens in a text as ordinary text, like polytok with ``special=()``.

Source: mistralai/mistral-common, src/mistral_common/tokens/tokenizers/tekken.py and base.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _core
from ..errors import FormatError
from ..spec import Bpe, Origin, PatternSplit, Spec, SpecialToken, Template, Vocab, described
from .base import MAX_ID, ReadOptions, Written, with_losses

name = "tekken"
options: frozenset[str] = frozenset()

_MODEL = Bpe("rank", whole_piece_first=True)
_VERSIONS = ("v1", "v2", "v3", "v7", "v11", "v13", "v15")
_DEFAULT_VERSION = "v7"
# The special tokens of files that contain no list of special tokens; only versions up to v7 can omit the list.
_DEFAULT_SPECIAL_TEXTS = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
_TEXT_OF_ROLE = {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}
_MAX_SPECIAL_TOKENS = 2**16
"""The largest number of special tokens. Without a limit, a small file could demand billions; Mistral's have 1,000."""

_ENTRIES_PATTERN = re.compile(rb'"vocab"\s*:\s*\[\s*\{\s*"(?:rank|token_bytes|token_str)"\s*:')
_TOP_LEVEL_PATTERN = re.compile(rb'\s*\{([ \t\r\n]*)"[^"\\]{0,100}"[ \t\r\n]*:([ \t]*)')
_FIRST_ITEM_PATTERN = re.compile(rb'\[\s*\{\s*"[a-z_]*"\s*:\s*[0-9]+[ \t]*,([ \t]*)')


def refusal(data: bytes) -> str | None:
    """Accepts a JSON object whose ``vocab`` is a list of ranks and base64."""
    if not data[:100].lstrip().startswith(b"{"):
        return "it is not a JSON object"
    return None if _has_entries(data) else 'it has no "vocab" that is a list of objects with rank and token_bytes'


def _has_entries(data: bytes) -> bool:
    # bytes.find is much faster than a search for the pattern, which also stops at every quotation mark.
    start = data.find(b'"vocab"')
    while start >= 0 and not _ENTRIES_PATTERN.match(data, start):
        start = data.find(b'"vocab"', start + 1)
    return start >= 0


def read(data: bytes, options: ReadOptions) -> Spec:
    """Reads a tekken.json."""
    start, end = _core.tekken_vocab_range(data)
    document = _read_document(data[:start] + b"[]" + data[end:])
    _check_version(document)
    config = document["config"]
    special = _special_texts(document, _bounded_number(config, "default_num_special_tokens", _MAX_SPECIAL_TOKENS))
    used_entry_count = _bounded_number(config, "default_vocab_size", MAX_ID) - len(special)
    if used_entry_count <= 0:
        raise FormatError(
            f"config: default_vocab_size must be greater than {len(special)}, the number of special tokens"
        )
    columns, unusual_texts, unused_range = _core.tekken_read(data[start:end], used_entry_count, len(special))
    kept_parts: dict[str, Any] = {"document": document, "layout": _detect_layout(data, data[start:end])}
    if unusual_texts:
        kept_parts["token_str"] = [list(pair) for pair in unusual_texts]
    if unused_range:
        kept_parts["unused"] = data[start:end][slice(*unused_range)]
    return _build_spec(Vocab(*columns), config["pattern"], special, options.name, kept_parts)


def write(spec: Spec) -> Written:
    """Writes a tekken.json, with the layout of the file that the Spec was read from."""
    special = [token.text for token in sorted(spec.special, key=lambda token: token.id)]
    pattern = _pattern_of(spec, len(special))
    kept_parts = spec.extra.get(name, {})
    document = _update_document(kept_parts.get("document"), pattern, special, len(spec.vocab))
    layout = {**_DEFAULT_LAYOUT, **kept_parts.get("layout", {})}
    vocab = _vocab_text(spec.vocab, kept_parts, layout, is_unchanged=document == kept_parts.get("document"))
    data = _join_parts(document, vocab, layout)
    return with_losses(spec, data, read(data, ReadOptions(name=spec.origin.name)))


def _build_spec(
    vocab: Vocab, pattern: str, special: Sequence[str], vocab_name: str | None, kept_parts: Mapping[str, Any]
) -> Spec:
    names = {role: special.index(text) for role, text in _TEXT_OF_ROLE.items() if text in special}
    return Spec(
        vocab=vocab,
        model=_MODEL,
        special=tuple(SpecialToken(text, number) for number, text in enumerate(special)),
        split=(PatternSplit(pattern),),
        post=Template.around(before=(names["bos"],) if "bos" in names else ()),
        names=names,
        origin=Origin(name, vocab_name),
        extra={name: kept_parts},
    )


# Reading


def _read_document(text: bytes) -> dict[str, Any]:
    """Parses the file's JSON, from which the vocabulary was removed."""
    try:
        document = json.loads(text.decode())
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise FormatError("a text contains half of a surrogate pair") from error
    except ValueError as error:
        raise FormatError(f"the JSON around the vocabulary cannot be read: {error}") from error
    except RecursionError as error:
        raise FormatError("the JSON around the vocabulary is nested too deeply") from error
    config = document.get("config")
    if not isinstance(config, dict) or not isinstance(config.get("pattern"), str):
        raise FormatError('"config" is not an object with a "pattern"')
    return document  # type: ignore[no-any-return]


def _check_version(document: Mapping[str, Any]) -> None:
    """Checks the file by mistral-common's rules for its version."""
    version = document["config"].get("version")
    if version not in _VERSIONS:
        raise FormatError(f"config: the version is {version!r:.40}; known are {', '.join(_VERSIONS)}")
    number = int(version[1:])
    if document.get("special_tokens") is None and number > 7:
        raise FormatError(f"a file of version {version} must list its special_tokens")
    if document.get("multimodal") and number > 11:
        raise FormatError(f'"multimodal" is called "image" in a file of version {version}')
    if document.get("model_settings_builder") and number < 15:
        raise FormatError(f'a file of version {version} cannot have a "model_settings_builder"')


def _bounded_number(config: Mapping[str, Any], key: str, maximum: int) -> int:
    value = config.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= maximum:
        raise FormatError(f"config: {key} is {value!r:.40}, not a number from 0 to {maximum}")
    return value


def _special_texts(document: Mapping[str, Any], count: int) -> list[str]:
    """Returns the texts of the special tokens by id."""
    token_list = document.get("special_tokens")
    texts = list(_DEFAULT_SPECIAL_TEXTS) if token_list is None else _texts_in_list(token_list)
    if len(texts) > count:
        raise FormatError(f"the file lists {len(texts)} special tokens, but default_num_special_tokens is {count}")
    texts += [f"<SPECIAL_{number}>" for number in range(len(texts), count)]
    id_of_text: dict[str, int] = {}
    for number, text in enumerate(texts):
        if id_of_text.setdefault(text, number) != number:
            raise FormatError(f"special token {number} is {text!r:.60}, which is special token {id_of_text[text]} too")
    return texts


def _texts_in_list(token_list: Any) -> list[str]:
    if not isinstance(token_list, list):
        raise FormatError("special_tokens is not a list")
    for number, token in enumerate(token_list):
        text = token.get("token_str") if isinstance(token, dict) else None
        if not isinstance(text, str) or not text or token.get("rank") != number:
            raise FormatError(f"special_tokens: entry {number} is not an object with a token_str and the rank {number}")
    return [token["token_str"] for token in token_list]


# Layout: the options with which json.dumps wrote the file

_DEFAULT_LAYOUT = {"indent": None, "item": ",", "key": ":", "ascii": False, "end": "\n"}


def _detect_layout(data: bytes, vocab: bytes) -> dict[str, Any]:
    top_match, item_match = _TOP_LEVEL_PATTERN.match(data), _FIRST_ITEM_PATTERN.match(vocab)
    margin = top_match[1].decode() if top_match else ""
    return {
        "indent": margin.rpartition("\n")[2] if "\n" in margin else None,
        "item": "," + (item_match[1].decode() if item_match else ""),
        "key": ":" + (top_match[2].decode() if top_match else ""),
        "ascii": data.isascii(),
        "end": data[len(data.rstrip(b" \t\r\n")) :].decode(),
    }


def _line_start(layout: Mapping[str, Any], depth: int) -> str:
    """Returns the line break and the indentation before an item at a depth."""
    indent: str | None = layout["indent"]
    return "" if indent is None else "\n" + indent * depth


# Writing


def _pattern_of(spec: Spec, special: int) -> str:
    """Returns the pattern of a Spec; raises FormatError if a tekken.json cannot express its model, pattern or ids."""
    if spec.model != _MODEL:
        raise FormatError(f"tekken merges bytes by rank; it cannot run this model: {described(spec.model)}")
    if len(spec.split) != 1 or not isinstance(spec.split[0], PatternSplit) or not spec.split[0].is_regex:
        raise FormatError(
            "tekken splits by exactly one pattern, but this tokenizer has another number of patterns, or other steps"
        )
    if sorted(token.id for token in spec.special) != list(range(special)):
        raise FormatError("tekken's special tokens must have the first ids, without gaps")
    for row, id in enumerate(spec.vocab.ids.tolist()):
        if id != special + row:
            raise FormatError(f"tekken's ids are ranks after {special} special tokens, but row {row} has {id}")
    if len(spec.vocab) < 256 or spec.vocab.pieces()[:256] != [bytes([byte]) for byte in range(256)]:
        raise FormatError(
            "tekken numbers the 256 bytes first, in order; the entries of this vocabulary begin differently"
        )
    return spec.split[0].pattern


def _update_document(
    document: Mapping[str, Any] | None, pattern: str, special: list[str], used_entry_count: int
) -> dict[str, Any]:
    """Updates the pattern, the special tokens and the sizes in the document to those of the Spec."""
    sizes = {"default_vocab_size": used_entry_count + len(special), "default_num_special_tokens": len(special)}
    if document is None:
        config = {"pattern": pattern, "num_vocab_tokens": used_entry_count, **sizes, "version": _DEFAULT_VERSION}
        return {"config": config, "vocab": [], "special_tokens": special_token_list(special)}
    new_document = {**document, "config": {**document["config"], "pattern": pattern, **sizes}}
    if _special_texts(document, document["config"]["default_num_special_tokens"]) != special:
        new_document["special_tokens"] = special_token_list(special)
    return new_document


def special_token_list(special: list[str]) -> list[dict[str, Any]]:
    """Returns the file's list of special tokens, whose ranks are their positions."""
    return [{"rank": rank, "token_str": text, "is_control": True} for rank, text in enumerate(special)]


def _vocab_text(vocab: Vocab, kept_parts: Mapping[str, Any], layout: Mapping[str, Any], *, is_unchanged: bool) -> bytes:
    """Returns the JSON array of entries.

    Unused entries of the original file are appended only if the document is unchanged.
    """
    key, inner_start, outer_start = layout["key"], _line_start(layout, 3), _line_start(layout, 2)
    texts = [
        f'{{{inner_start}"rank"{key}',
        f'{layout["item"]}{inner_start}"token_bytes"{key}',
        f'{layout["item"]}{inner_start}"token_str"{key}',
        f"{outer_start}}}",
        f"{layout['item']}{outer_start}",
    ]
    unusual_texts = [(row, text) for row, text in kept_parts.get("token_str", ())]
    entries = _core.tekken_write(vocab, unusual_texts, texts, layout["ascii"])
    if is_unchanged and "unused" in kept_parts:
        entries = texts[-1].encode().join((entries, kept_parts["unused"]))
    return f"[{outer_start}".encode() + entries + f"{_line_start(layout, 1)}]".encode()


def _join_parts(document: Mapping[str, Any], vocab: bytes, layout: Mapping[str, Any]) -> bytes:
    """Joins the document and its vocabulary to the bytes of a file."""
    parts = [
        _dump(key, layout) + layout["key"].encode() + (vocab if key == "vocab" else _dump(value, layout))
        for key, value in document.items()
    ]
    line_start = _line_start(layout, 1).encode()
    members: bytes = (layout["item"].encode() + line_start).join(parts)
    return b"{" + line_start + members + f"{_line_start(layout, 0)}}}{layout['end']}".encode()


def _dump(value: Any, layout: Mapping[str, Any]) -> bytes:
    """Returns the JSON of a member of the document, indented for its depth."""
    separators = (layout["item"], layout["key"])
    text: str = json.dumps(value, ensure_ascii=layout["ascii"], indent=layout["indent"], separators=separators)
    return text.replace("\n", _line_start(layout, 1)).encode() if layout["indent"] is not None else text.encode()
