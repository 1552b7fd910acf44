"""Token healing: removes the last tokens of a prompt that could join with the text after it."""

from __future__ import annotations

from typing import NamedTuple

from . import _core
from .token_bytes import TokenBytes

_MAX_REMOVED = 16


class Healed(NamedTuple):
    """A prompt without the last ids, which could join with the text that a model generates.

    * ``ids``: the ids to give to the model: the first ids of the prompt.
    * ``prefix``: the bytes of the removed ids, with which the generated text must begin; see
      `Tokenizer.prefix_mask`.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> healed = tokenizer.heal(tokenizer.encode("see http:"))
    >>> tokenizer.decode(healed.ids), healed.prefix
    ('see', b' http:')
    """

    ids: list[int]
    prefix: bytes


def heal(ids: list[int], stable: int, tokens: TokenBytes, core: _core.Tokenizer) -> Healed:
    """Removes the last ids of a prompt; ``stable`` is the number of leading ids that no later text changes.

    The ids after the stable ones are removed, unless these are too many. Then little is proven about this text, and
    the ids from the first one on are removed from which the joined bytes are the start of a longer entry. Ids without
    text, such as special tokens, and all ids before one are not removed.
    """
    first = _first_removable(ids, tokens, core)
    kept = stable if stable >= first and len(ids) - stable <= _MAX_REMOVED else _before_extensions(ids, first, tokens)
    return Healed(ids[:kept], b"".join([tokens.texts[id] for id in ids[kept:]]))


def _first_removable(ids: list[int], tokens: TokenBytes, core: _core.Tokenizer) -> int:
    """Returns the place after the last id without text."""
    for place in reversed(range(len(ids))):
        core.token_bytes(ids[place])  # raises the error of an id that is not in the vocabulary
        if not tokens.texts[ids[place]]:
            return place + 1
    return 0


def _before_extensions(ids: list[int], first: int, tokens: TokenBytes) -> int:
    """Returns the first place from which the joined bytes are the start of a longer entry."""
    kept = len(ids)
    joined = b""
    for place in reversed(range(first, len(ids))):
        joined = tokens.texts[ids[place]] + joined
        if len(joined) >= tokens.longest:
            break
        if tokens.has_extension(joined):
            kept = place
    return kept
