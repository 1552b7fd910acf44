"""Lists the special tokens of a vocabulary in error messages, those that fit a role first."""

from __future__ import annotations

from collections.abc import Mapping

_MAX_LISTED_TOKENS = 8
_EOS_PARTS = ("endoftext", "end_of_text", "eos", "</s>", "eot", "end", "sep")
# Parts of the usual texts of tokens with a role, the most usual first.
_USUAL_PARTS = {
    "bos": ("begin_of_text", "beginoftext", "bos", "<s>", "start", "cls"),
    "eos": _EOS_PARTS,
    "pad": ("pad", *_EOS_PARTS),
}


def sorted_for_role(ids_of_tokens: Mapping[str, int], role: str) -> list[str]:
    """Returns the special tokens; the first is the most likely token for the role bos, eos or pad.

    >>> sorted_for_role({"<mask>": 4, "</s>": 2, "<pad>": 0}, "pad")
    ['<pad>', '</s>', '<mask>']
    """
    parts = _USUAL_PARTS[role]

    def place(token: str) -> int:
        text = token.lower()
        return next((place for place, part in enumerate(parts) if part in text), len(parts))

    return sorted(ids_of_tokens, key=place)


def special_tokens_text(ids_of_tokens: Mapping[str, int], role: str) -> str:
    """Returns the end of an error message with the special tokens and their ids.

    >>> special_tokens_text({"<|endoftext|>": 50256}, "pad"), special_tokens_text({}, "pad")
    ("its special tokens are '<|endoftext|>' (id 50256)", 'it has no special tokens')
    """
    tokens = sorted_for_role(ids_of_tokens, role)
    texts = [f"{token!r} (id {ids_of_tokens[token]})" for token in tokens[:_MAX_LISTED_TOKENS]]
    more = f" and {len(tokens) - len(texts)} more" if len(tokens) > len(texts) else ""
    return f"its special tokens are {', '.join(texts)}{more}" if texts else "it has no special tokens"
