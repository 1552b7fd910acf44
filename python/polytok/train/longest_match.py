"""``kind="longest-match"``: vocabularies as RWKV World's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Final

from .. import _core
from ..data import DEFAULT_PATTERN
from ..errors import ArgumentError
from ..lists import Emoji, Entry, emoji, kaomoji, listed
from ..spec import Kind, Longest, Origin, Spec, SpecialToken, Vocab
from .counting import Counts
from .progress import Report
from .resources import processors

MOST_IDS: Final = 65_536
_BYTES: Final = 256
_LONGEST: Final = 65_535
END_OF_TEXT: Final = SpecialToken("<|endoftext|>", 0)


class LongestMatchTrainer:
    """Chooses the entries with which longest match cuts the texts into the fewest tokens, or nearly so.

    Ids are as in RWKV World: 0 is ``<|endoftext|>`` and not in the file, 1 to 256 are the bytes, and then come the
    entries by length and bytes. Any text can be encoded, bytes that are no UTF-8 too.

    * ``vocab_size``: the number of ids, id 0 and the bytes among them; at most 65,536.
    * ``pattern``: an entry lies within one match of this regular expression; by default words with a space before
      them, numbers of up to three digits, punctuation, and white space are apart. With None, or an empty one, entries
      may cross anything. It shapes the entries alone: a text is never split before it is encoded.
    * ``max_piece_length``: the most characters of an entry.
    * ``max_piece_bytes``: the most bytes of an entry.
    * ``min_count``: how often a string must occur to become an entry; by default it follows from the amount of text
      and the size, so that what is rare in the texts, and so hardly ever in others, takes no room.
    * ``whole_characters``: no entry but the bytes holds a part of a character.
    * ``forced``: entries that there must be, of any length; they count against ``vocab_size``.
    * ``forced_files``: the same, from files with an entry on each line.
    * ``emoji``: force all emoji of Unicode (True or "all"), or those without skin tones ("basic"), as the package
      emoji has them.
    * ``kaomoji``: force a hundred faces made of characters.

    The result depends on nothing but the counted words and these options: not on the order of the texts, nor on
    ``threads``.

    >>> trainer = LongestMatchTrainer(vocab_size=259, min_count=2)
    >>> trainer.push([b"to be or not to be"])
    >>> spec = trainer.finish()
    >>> spec.vocab.pieces()[256:]
    [b'to', b' be']
    """

    keeps_bytes: ClassVar[bool] = True

    def __init__(
        self,
        *,
        vocab_size: int,
        pattern: str | None = DEFAULT_PATTERN,
        max_piece_length: int = 16,
        max_piece_bytes: int | None = None,
        min_count: int | None = None,
        whole_characters: bool = False,
        forced: Sequence[str | bytes] = (),
        forced_files: Sequence[str | os.PathLike[str]] = (),
        emoji: bool | Emoji = False,
        kaomoji: bool = False,
        threads: int | None = None,
        counts: Counts | None = None,
    ) -> None:
        """Raises `ArgumentError` for an option out of its range."""
        self._forced = _forced([*listed(forced), *map(Path, forced_files)], emoji, kaomoji)
        least = 1 + _BYTES + len(self._forced)
        if not least <= vocab_size <= MOST_IDS:
            raise ArgumentError(
                f"vocab_size is {vocab_size}, which is not from {least} (id 0, the bytes and forced entries) to "
                f"{MOST_IDS} (ids have 16 bits)"
            )
        self._entries = vocab_size - 1
        self._chars = _checked("max_piece_length", max_piece_length, _LONGEST)
        self._bytes = _checked("max_piece_bytes", _LONGEST if max_piece_bytes is None else max_piece_bytes, _LONGEST)
        self._min_count = None if min_count is None else _checked("min_count", min_count, 2**63)
        self._whole_characters = whole_characters
        self._threads = processors() if threads is None else _checked("threads", threads, 256)
        if counts is not None and pattern != DEFAULT_PATTERN:
            raise ArgumentError("what was counted has its pattern already: give counts or a pattern")
        self.counts = Counts(split=pattern or None, threads=threads) if counts is None else counts

    def push(self, texts: Sequence[bytes]) -> None:
        """Count the words of a batch of texts."""
        self.counts.push(texts)

    def finish(self, progress: Report | None = None) -> Spec:
        """Choose the entries.

        Raises `ArgumentError` if the texts have too few strings.
        """
        entries, _ = _core.train_longest_match(
            self.counts.words("bytes", progress),
            self._entries,
            self._chars,
            self._bytes,
            self._min_count,
            not self._whole_characters,
            self._forced,
            self._threads,
            progress,
        )
        return Spec(
            vocab=Vocab.from_rows((entry, id, 0.0, Kind.NORMAL) for id, entry in enumerate(entries, start=1)),
            model=Longest(),
            special=(END_OF_TEXT,),
            names={"eos": END_OF_TEXT.id},
            origin=Origin("rwkv"),
        )


def _forced(entries: Iterable[Entry], which: bool | Emoji, faces: bool) -> list[bytes]:
    """All forced entries but single bytes, which there are anyway."""
    wanted = listed(entries)
    if which:
        wanted += emoji("all" if which is True else which)
    if faces:
        wanted += kaomoji()
    wanted = [entry for entry in listed(wanted) if len(entry) > 1]
    if wanted and len(wanted[-1]) > _LONGEST:
        raise ArgumentError(f"a forced entry has {len(wanted[-1])} bytes; at most {_LONGEST} can be")
    return wanted


def _checked(name: str, value: int, most: int) -> int:
    if not 1 <= value <= most:
        raise ArgumentError(f"{name} is {value}, which is not from 1 to {most}")
    return value
