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
    texts = _last_texts(ids, tokens, core)
    removed = len(ids) - stable
    if removed > min(_MAX_REMOVED, len(texts)):
        parts = (b"".join(texts[-length:]) for length in range(len(texts), 0, -1))
        removed = next((len(texts) - place for place, part in enumerate(parts) if tokens.has_extension(part)), 0)
    return Healed(ids[: len(ids) - removed], b"".join(texts[len(texts) - removed :]))


def _last_texts(ids: list[int], tokens: TokenBytes, core: _core.Tokenizer) -> list[bytes]:
    """Returns the bytes of the last ids that can be removed: those after the last id without text, and no more ids
    than can be the start of one entry or can be stable."""
    texts: list[bytes] = []
    for id in reversed(ids[-max(tokens.longest, _MAX_REMOVED) :]):
        core.token_bytes(id)  # raises the error of an id that is not in the vocabulary
        if not tokens.texts[id]:
            break
        texts.append(tokens.texts[id])
    return texts[::-1]
