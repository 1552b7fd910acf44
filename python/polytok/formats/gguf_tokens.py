"""The attributes that llama.cpp assigns to tokens when it loads a vocabulary (llama-vocab.cpp).

A token's attributes follow from its type in the file. The exceptions are some tokens, which llama.cpp recognizes by
their texts, and the tokens of some models, which it recognizes by their names (`llama_vocab::impl::load`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntFlag

from ..records import dataclass, field


class Attribute(IntFlag):
    """An attribute that llama.cpp gives to a token. A token can have several attributes."""

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
"""The attributes of special tokens, which are searched in a text before all other tokens."""

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
"""The texts of tokens that are control tokens even if the file gives them another type."""

FILL_IN_MIDDLE = {
    "fim_pre": "<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|> <|prefix|>",
    "fim_suf": "<|fim_suffix|> <fim-suffix> <fim_suffix> <｜fim▁hole｜> <SUF> ▁<SUF> <|code_suffix|> <|suffix|>",
    "fim_mid": "<|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> <|code_middle|> <|middle|>",
    "fim_pad": "<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD]",
    "fim_rep": "<|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame>",
    "fim_sep": "<|file_sep|>",
}
"""The texts of control tokens by role, for roles without a token in the file.

If a vocabulary has several of the texts, llama.cpp chooses by the order of its hash table; polytok chooses the smallest
id.
"""

ALWAYS_SHOWN = ("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The data that determine the attributes: the texts and types of tokens, and the names in the file."""

    texts: Sequence[bytes]
    types: Sequence[int]
    roles_in_file: frozenset[str] = frozenset()
    """The roles of `FILL_IN_MIDDLE` that have an id in the file."""
    name: str = ""
    pre: str = ""
    architecture: str = ""
    ids: Mapping[bytes, int] = field(default_factory=dict)


def attributes(tokens: Tokens) -> list[Attribute]:
    """Returns the attributes of the tokens by id."""
    undefined = Attribute.UNDEFINED  # reading a member of the class takes longer than the lookup
    attributes_by_id = [OF_TYPE.get(number, undefined) for number in tokens.types]
    _adjust_by_text(tokens, attributes_by_id)
    _adjust_by_model(tokens, attributes_by_id)
    return attributes_by_id


def _adjust_by_text(tokens: Tokens, attributes_by_id: list[Attribute]) -> None:
    def id_of(text: str) -> int | None:
        return tokens.ids.get(text.encode())

    for role, texts in FILL_IN_MIDDLE.items():
        role_ids = [id for id in map(id_of, texts.split()) if id is not None]
        if role_ids and role not in tokens.roles_in_file:
            attributes_by_id[min(role_ids)] |= Attribute.CONTROL
    for id in map(id_of, END_OF_GENERATION):
        if id is not None:
            attributes_by_id[id] |= Attribute.CONTROL
    for id in map(id_of, ALWAYS_SHOWN):
        if id is not None:
            attributes_by_id[id] = Attribute.USER_DEFINED
    end_id, has_call_token = id_of("<|end|>"), id_of("<|call|>") is not None or id_of("<|calls|>") is not None
    if end_id is not None and has_call_token and (id_of("<|return|>") is not None or id_of("<|flush|>") is not None):
        attributes_by_id[end_id] = Attribute.USER_DEFINED
    stop_id = id_of("</s>")
    if stop_id is not None and id_of("<|tool_response>") is not None:
        attributes_by_id[stop_id] = Attribute.NORMAL


def _adjust_by_model(tokens: Tokens, attributes_by_id: list[Attribute]) -> None:
    """Sets LSTRIP and RSTRIP, which include white space in a match, for models recognized by their names."""
    name = tokens.name.lower()
    is_jina = any(pre in tokens.pre for pre in ("jina-v2-de", "jina-v2-es", "jina-v2-code"))
    if is_jina or "nomic-bert-moe" in tokens.architecture or "jina-bert-v3" in tokens.architecture:
        _set_lstrip(tokens, attributes_by_id, b"<mask>")
    elif "phi-3" in name or "phi3" in name:
        for id, attribute in enumerate(attributes_by_id):
            if attribute & SPECIAL or tokens.texts[id] == b"</s>":
                attributes_by_id[id] |= Attribute.RSTRIP
        for text in (b"<unk>", b"<s>", b"<|endoftext|>"):
            if text in tokens.ids:
                attributes_by_id[tokens.ids[text]] &= ~Attribute.RSTRIP
    elif "modern-bert" in name:
        _set_lstrip(tokens, attributes_by_id, b"[MASK]")


def _set_lstrip(tokens: Tokens, attributes_by_id: list[Attribute], text: bytes) -> None:
    if text in tokens.ids:
        attributes_by_id[tokens.ids[text]] |= Attribute.LSTRIP
