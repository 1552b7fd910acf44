"""What llama.cpp makes of token types when it loads a vocabulary: some tokens are known by their texts, some models by
their names (llama-vocab.cpp, `llama_vocab::impl::load`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag


class Attribute(IntFlag):
    """llama.cpp's attributes of a token, of which some may go together."""

    UNDEFINED = 0
    UNKNOWN = 1
    UNUSED = 2
    NORMAL = 4
    CONTROL = 8
    USER_DEFINED = 16
    BYTE = 32
    LSTRIP = 128
    RSTRIP = 256


SPECIAL = Attribute.CONTROL | Attribute.USER_DEFINED | Attribute.UNKNOWN
"""Tokens with one of these are cut out of a text before anything else."""

OF_TYPE = {
    1: Attribute.NORMAL,
    2: Attribute.UNKNOWN,
    3: Attribute.CONTROL,
    4: Attribute.USER_DEFINED,
    5: Attribute.UNUSED,
    6: Attribute.BYTE,
}

END_OF_GENERATION = (
    *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>"),
    *("<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>"),
    *("<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>", "<｜end▁of▁sentence｜>", "[e~["),
)
"""They are control tokens whatever their type says."""

FILL_IN_MIDDLE = {
    "fim_pre": "<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|> <|prefix|>",
    "fim_suf": "<|fim_suffix|> <fim-suffix> <fim_suffix> <｜fim▁hole｜> <SUF> ▁<SUF> <|code_suffix|> <|suffix|>",
    "fim_mid": "<|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> <|code_middle|> <|middle|>",
    "fim_pad": "<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD]",
    "fim_rep": "<|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame>",
    "fim_sep": "<|file_sep|>",
}
"""If the file does not name such a token, one of these is it, and a control token. llama.cpp takes whichever its hash
table has first; here it is the one with the smallest id."""

ALWAYS_SHOWN = ("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>")


@dataclass(slots=True)
class Tokens:
    """Texts, types and what else the attributes depend on."""

    texts: Sequence[bytes]
    types: Sequence[int]
    named: frozenset[str] = frozenset()
    """The roles of `FILL_IN_MIDDLE` that the file gives an id."""
    name: str = ""
    pre: str = ""
    architecture: str = ""
    ids: Mapping[bytes, int] = field(default_factory=dict)


def attributes(tokens: Tokens) -> list[Attribute]:
    """The attributes that llama.cpp works with, by id."""
    result = [OF_TYPE.get(number, Attribute.UNDEFINED) for number in tokens.types]
    _by_text(tokens, result)
    _by_model(tokens, result)
    return result


def _by_text(tokens: Tokens, result: list[Attribute]) -> None:
    def of(text: str) -> int | None:
        return tokens.ids.get(text.encode())

    for role, texts in FILL_IN_MIDDLE.items():
        found = [id for id in map(of, texts.split()) if id is not None]
        if found and role not in tokens.named:
            result[min(found)] |= Attribute.CONTROL
    for id in map(of, END_OF_GENERATION):
        if id is not None:
            result[id] |= Attribute.CONTROL
    for id in map(of, ALWAYS_SHOWN):
        if id is not None:
            result[id] = Attribute.USER_DEFINED
    end, call = of("<|end|>"), of("<|call|>") is not None or of("<|calls|>") is not None
    if end is not None and call and (of("<|return|>") is not None or of("<|flush|>") is not None):
        result[end] = Attribute.USER_DEFINED
    stop = of("</s>")
    if stop is not None and of("<|tool_response>") is not None:
        result[stop] = Attribute.NORMAL


def _by_model(tokens: Tokens, result: list[Attribute]) -> None:
    """White space goes around some tokens of some models."""
    name = tokens.name.lower()
    of_jina = any(pre in tokens.pre for pre in ("jina-v2-de", "jina-v2-es", "jina-v2-code"))
    if of_jina or "nomic-bert-moe" in tokens.architecture or "jina-bert-v3" in tokens.architecture:
        _strip_before(tokens, result, b"<mask>")
    elif "phi-3" in name or "phi3" in name:
        for id, attribute in enumerate(result):
            if attribute & SPECIAL or tokens.texts[id] == b"</s>":
                result[id] |= Attribute.RSTRIP
        for text in (b"<unk>", b"<s>", b"<|endoftext|>"):
            if text in tokens.ids:
                result[tokens.ids[text]] &= ~Attribute.RSTRIP
    elif "modern-bert" in name:
        _strip_before(tokens, result, b"[MASK]")


def _strip_before(tokens: Tokens, result: list[Attribute], text: bytes) -> None:
    if text in tokens.ids:
        result[tokens.ids[text]] |= Attribute.LSTRIP
