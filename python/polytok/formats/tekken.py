"""Mistral's ``tekken.json``: a pattern, special tokens, and a vocabulary of base64 texts by rank.

The algorithm is tiktoken's. Ids are ranks after as many special tokens as the configuration says; those that the file
does not name are ``<SPECIAL_i>``. Only as many entries are live as the configuration's size has room for; those behind
them are kept as they stand in the file, and so are its layout, its version, and its fields for images and audio.

mistral-common decodes by one of three policies. KEEP is what `Tokenizer.decode` does, and IGNORE ``skip_special=True``
(but here the bytes on both sides of a skipped token may make one character); RAISE has no like. Special tokens in a
text are text to it, as they are to ``special=()``.

Source: mistralai/mistral-common, src/mistral_common/tokens/tokenizers/tekken.py and base.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from ..errors import FormatError
from ..spec import Bpe, Origin, PatternSplit, Spec, SpecialToken, Template, Vocab, described
from .base import MAX_ID, ReadOptions, Written, written

name = "tekken"
options: frozenset[str] = frozenset()

_MODEL = Bpe("rank", whole_piece_first=True)
_VERSIONS = ("v1", "v2", "v3", "v7", "v11", "v13", "v15")
_VERSION_WHERE_NONE = "v7"
# The special tokens of files up to v7 that do not list their own.
_OLD_SPECIAL = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
_NAMES = {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}
_MOST_SPECIAL = 2**16
"""Special tokens that a file does not name cost it nothing; Mistral's files have 1,000."""

_ENTRIES = re.compile(rb'"vocab"\s*:\s*\[\s*\{\s*"(?:rank|token_bytes|token_str)"\s*:')
_TOP = re.compile(rb'\s*\{([ \t\r\n]*)"[^"\\]{0,100}"[ \t\r\n]*:([ \t]*)')
_ITEM = re.compile(rb'\[\s*\{\s*"[a-z_]*"\s*:\s*[0-9]+[ \t]*,([ \t]*)')


def refusal(data: bytes) -> str | None:
    """A JSON object whose ``vocab`` is a list of ranks and base64."""
    if not data[:100].lstrip().startswith(b"{"):
        return "it is not a JSON object"
    return None if _ENTRIES.search(data) else 'it has no "vocab" that is a list of objects with rank and token_bytes'


def read(data: bytes, options: ReadOptions) -> Spec:
    """Read a tekken.json."""
    start, end = _core.tekken_vocab_range(data)
    document = _document(data[:start] + b"[]" + data[end:])
    _check_version(document)
    config = document["config"]
    special = _special_texts(document, _number(config, "default_num_special_tokens", _MOST_SPECIAL))
    live = _number(config, "default_vocab_size", MAX_ID) - len(special)
    if live <= 0:
        raise FormatError(f"config: default_vocab_size leaves no token beside {len(special)} special ones")
    columns, odd_texts, unused = _core.tekken_read(data[start:end], live, len(special))
    kept: dict[str, Any] = {"document": document, "layout": _layout(data, data[start:end])}
    if odd_texts:
        kept["token_str"] = [list(pair) for pair in odd_texts]
    if unused:
        kept["unused"] = data[start:end][slice(*unused)]
    return _spec(Vocab(*columns), config["pattern"], special, options.name, kept)


def write(spec: Spec) -> Written:
    """Write a tekken.json, laid out as the one that was read."""
    special = [token.text for token in sorted(spec.special, key=lambda token: token.id)]
    pattern = _expressible(spec, len(special))
    kept = spec.extra.get(name, {})
    document = _updated(kept.get("document"), pattern, special, len(spec.vocab))
    layout = {**_LAYOUT_WHERE_NONE, **kept.get("layout", {})}
    vocab = _vocab_text(spec.vocab, kept, layout, fits=document == kept.get("document"))
    data = _joined(document, vocab, layout)
    return written(spec, data, read(data, ReadOptions(name=spec.origin.name)))


def _spec(vocab: Vocab, pattern: str, special: Sequence[str], called: str | None, kept: Mapping[str, Any]) -> Spec:
    names = {role: special.index(text) for role, text in _NAMES.items() if text in special}
    return Spec(
        vocab=vocab,
        model=_MODEL,
        special=tuple(SpecialToken(text, number) for number, text in enumerate(special)),
        split=(PatternSplit(pattern),),
        post=Template.around(before=(names["bos"],) if "bos" in names else ()),
        names=names,
        origin=Origin(name, called),
        extra={name: kept},
    )


# Reading


def _document(text: bytes) -> dict[str, Any]:
    """All of the file but the vocabulary."""
    try:
        document = json.loads(text.decode())
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise FormatError("a text holds half of a surrogate pair") from error
    except ValueError as error:
        raise FormatError(f"the JSON around the vocabulary cannot be read: {error}") from error
    except RecursionError as error:
        raise FormatError("the JSON around the vocabulary is nested too deeply") from error
    config = document.get("config")
    if not isinstance(config, dict) or not isinstance(config.get("pattern"), str):
        raise FormatError('"config" is not an object with a "pattern"')
    return document  # type: ignore[no-any-return]


def _check_version(document: Mapping[str, Any]) -> None:
    """The rules of mistral-common on what a version may have."""
    version = document["config"].get("version")
    if version not in _VERSIONS:
        raise FormatError(f"config: the version is {version!r:.40}; known are {', '.join(_VERSIONS)}")
    number = int(version[1:])
    if document.get("special_tokens") is None and number > 7:
        raise FormatError(f"a file of version {version} has to list its special_tokens")
    if document.get("multimodal") and number > 11:
        raise FormatError(f'"multimodal" is called "image" in a file of version {version}')
    if document.get("model_settings_builder") and number < 15:
        raise FormatError(f'a file of version {version} cannot have a "model_settings_builder"')


def _number(config: Mapping[str, Any], key: str, most: int) -> int:
    value = config.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise FormatError(f"config: {key} is {value!r:.40}, not a number from 0 to {most}")
    return value


def _special_texts(document: Mapping[str, Any], count: int) -> list[str]:
    """The texts of the special tokens; the id is the place."""
    listed = document.get("special_tokens")
    texts = list(_OLD_SPECIAL) if listed is None else _listed_texts(listed)
    if len(texts) > count:
        raise FormatError(f"{len(texts)} special tokens, but default_num_special_tokens is {count}")
    texts += [f"<SPECIAL_{number}>" for number in range(len(texts), count)]
    number_of: dict[str, int] = {}
    for number, text in enumerate(texts):
        if number_of.setdefault(text, number) != number:
            raise FormatError(f"special token {number} is {text!r:.60}, which is special token {number_of[text]} too")
    return texts


def _listed_texts(listed: Any) -> list[str]:
    if not isinstance(listed, list):
        raise FormatError("special_tokens is not a list")
    for number, token in enumerate(listed):
        text = token.get("token_str") if isinstance(token, dict) else None
        if not isinstance(text, str) or not text or token.get("rank") != number:
            raise FormatError(f"special_tokens: entry {number} is not an object with a token_str and the rank {number}")
    return [token["token_str"] for token in listed]


# Layout: what json.dumps was told when the file was made

_LAYOUT_WHERE_NONE = {"indent": None, "item": ",", "key": ":", "ascii": False, "end": "\n"}


def _layout(data: bytes, vocab: bytes) -> dict[str, Any]:
    top, item = _TOP.match(data), _ITEM.match(vocab)
    margin = top[1].decode() if top else ""
    return {
        "indent": margin.rpartition("\n")[2] if "\n" in margin else None,
        "item": "," + (item[1].decode() if item else ""),
        "key": ":" + (top[2].decode() if top else ""),
        "ascii": data.isascii(),
        "end": data[len(data.rstrip(b" \t\r\n")) :].decode(),
    }


def _breaks(layout: Mapping[str, Any], depth: int) -> str:
    """What stands before an item at a depth."""
    indent: str | None = layout["indent"]
    return "" if indent is None else "\n" + indent * depth


# Writing


def _expressible(spec: Spec, special: int) -> str:
    """The pattern of a Spec that the file can hold, but for what is reported as lost."""
    if spec.model != _MODEL:
        raise FormatError(f"tekken merges bytes by rank; it cannot run this model: {described(spec.model)}")
    if len(spec.split) != 1 or not isinstance(spec.split[0], PatternSplit) or not spec.split[0].is_regex:
        raise FormatError("tekken splits by one pattern, neither by none nor by more")
    if sorted(token.id for token in spec.special) != list(range(special)):
        raise FormatError("tekken's special tokens are the first ids, without holes")
    wrong = np.flatnonzero(spec.vocab.ids != np.arange(special, special + len(spec.vocab), dtype=np.uint32))
    if len(wrong):
        row = int(wrong[0])
        raise FormatError(
            f"tekken's ids are ranks after {special} special tokens, but row {row} has {spec.vocab.ids[row]}"
        )
    if len(spec.vocab) < 256 or spec.vocab.pieces()[:256] != [bytes([byte]) for byte in range(256)]:
        raise FormatError("tekken numbers the 256 bytes first, in order")
    return spec.split[0].pattern


def _updated(document: Mapping[str, Any] | None, pattern: str, special: list[str], live: int) -> dict[str, Any]:
    """The document with what the Spec says now."""
    sizes = {"default_vocab_size": live + len(special), "default_num_special_tokens": len(special)}
    if document is None:
        config = {"pattern": pattern, "num_vocab_tokens": live, **sizes, "version": _VERSION_WHERE_NONE}
        return {"config": config, "vocab": [], "special_tokens": _listed(special)}
    updated = {**document, "config": {**document["config"], "pattern": pattern, **sizes}}
    if _special_texts(document, document["config"]["default_num_special_tokens"]) != special:
        updated["special_tokens"] = _listed(special)
    return updated


def _listed(special: list[str]) -> list[dict[str, Any]]:
    return [{"rank": rank, "token_str": text, "is_control": True} for rank, text in enumerate(special)]


def _vocab_text(vocab: Vocab, kept: Mapping[str, Any], layout: Mapping[str, Any], *, fits: bool) -> bytes:
    """The array of entries. What was not live before is written again only if it still comes at its place."""
    key, inner, outer = layout["key"], _breaks(layout, 3), _breaks(layout, 2)
    texts = [
        f'{{{inner}"rank"{key}',
        f'{layout["item"]}{inner}"token_bytes"{key}',
        f'{layout["item"]}{inner}"token_str"{key}',
        f"{outer}}}",
        f"{layout['item']}{outer}",
    ]
    odd_texts = [(row, text) for row, text in kept.get("token_str", ())]
    entries = _core.tekken_write(vocab, odd_texts, texts, layout["ascii"])
    if fits and "unused" in kept:
        entries = texts[-1].encode().join((entries, kept["unused"]))
    return f"[{outer}".encode() + entries + f"{_breaks(layout, 1)}]".encode()


def _joined(document: Mapping[str, Any], vocab: bytes, layout: Mapping[str, Any]) -> bytes:
    """The file of a document and its vocabulary."""
    parts = [
        _dumped(key, layout) + layout["key"].encode() + (vocab if key == "vocab" else _dumped(value, layout))
        for key, value in document.items()
    ]
    line = _breaks(layout, 1).encode()
    joined: bytes = (layout["item"].encode() + line).join(parts)
    return b"{" + line + joined + f"{_breaks(layout, 0)}}}{layout['end']}".encode()


def _dumped(value: Any, layout: Mapping[str, Any]) -> bytes:
    """A value of the document as json.dumps has it there."""
    separators = (layout["item"], layout["key"])
    text: str = json.dumps(value, ensure_ascii=layout["ascii"], indent=layout["indent"], separators=separators)
    return text.replace("\n", _breaks(layout, 1)).encode() if layout["indent"] is not None else text.encode()
