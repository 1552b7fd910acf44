"""Token healing: removes the last tokens of a prompt that could join with the text after it."""

from __future__ import annotations

from typing import NamedTuple

from . import _core
from .token_bytes import TokenBytes


class Healed(NamedTuple):
    """A prompt without the last ids, which could join with the text that a model generates.

    * ``ids``: the ids to give to the model: the first ids of the prompt.
    * ``prefix``: the bytes of the removed ids, with which the generated text must begin; see
      `Tokenizer.prefix_mask`.

    >>> import polytok
    >>> tokenizer = polytok.load("default")
    >>> healed = tokenizer.heal(tokenizer.encode("see http:"))
    >>> tokenizer.decode(healed.ids), healed.prefix
    ('see http', b':')
    """

    ids: list[int]
    prefix: bytes


def heal(ids: list[int], tokens: TokenBytes, core: _core.Tokenizer) -> Healed:
    """Removes all ids from the first one on from which the joined bytes are the start of a longer entry.

    Ids without text, such as special tokens, and all ids before one are not removed.
    """
    kept = len(ids)
    joined = b""
    for place in reversed(range(len(ids))):
        core.token_bytes(ids[place])  # raises the error of an id that is not in the vocabulary
        text = tokens.texts[ids[place]]
        joined = text + joined
        if not text or len(joined) >= tokens.longest:
            break
        if tokens.has_extension(joined):
            kept = place
    return Healed(ids[:kept], b"".join([tokens.texts[id] for id in ids[kept:]]))
