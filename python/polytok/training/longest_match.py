"""``kind="longest-match"``: vocabularies as RWKV World's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal

from .. import _core
from ..checks import number, optional_number
from ..errors import ArgumentError
from ..lists import Emoji, Entry, collect_entries, emoji, kaomoji
from ..progress import Report
from ..resources import processors
from ..spec import Kind, Longest, Origin, Spec, SpecialToken, Vocab
from .counting import Counts
from .matching import checked
from .options import flag, sizes, text
from .splits import steps_of

MOST_IDS: Final = 65_536
_BYTES: Final = 256
_LONGEST: Final = 65_535
_PATTERN: Final = "default"
END_OF_TEXT: Final = SpecialToken("<|endoftext|>", 0)


class LongestMatchTrainer:
    """Chooses entries with which longest match splits the texts into the fewest tokens, or nearly so.

    Ids are as in RWKV World: 0 is ``<|endoftext|>`` and not in the file, 1 to 256 are the bytes, and then the entries
    follow, ordered by length and bytes. Any text can be encoded, including bytes that are not UTF-8.

    * ``vocab_size``: the number of ids, including id 0 and the bytes; at most 65,536. Several sizes give several Specs.
    * ``pattern``: an entry lies within one match of this regular expression, or of a named one (``gpt2``, ``cl100k``,
      ``o200k``, ``llama3``); the default separates words with a space before them, numbers of up to three digits,
      punctuation, and white space. With None, or an empty one, entries can cross anything. It shapes only the entries:
      a text is never split before it is encoded.
    * ``max_piece_length``: the most characters of an entry.
    * ``max_piece_bytes``: the most bytes of an entry.
    * ``min_count``: how often a string must occur to become an entry. The default depends on the amount of text and the
      size, so that strings that are rare here, and so hardly ever occur elsewhere, take no room.
    * ``whole_characters``: only the single bytes can hold a part of a character.
    * ``forced``: entries that are always included, of any length; they count against ``vocab_size``.
    * ``forced_files``: the same, from files with an entry per line.
    * ``emoji``: force ``all`` emoji of Unicode (or True), or the ``basic`` ones without skin tones, as listed by the
      package emoji.
    * ``kaomoji``: force a hundred faces made of characters.

    The result depends only on the counted words and these options: not on the order of the texts, nor on ``threads``.

    >>> trainer = LongestMatchTrainer(vocab_size=259, min_count=2)
    >>> trainer.push([b"to be or not to be"])
    >>> spec = trainer.finish()
    >>> spec.vocab.pieces()[256:]
    [b'to', b' be']
    """

    keeps_bytes: ClassVar[bool] = True
    counted: ClassVar[frozenset[str]] = frozenset({"pattern"})

    def __init__(
        self,
        *,
        vocab_size: int | Sequence[int],
        pattern: str | None = _PATTERN,
        max_piece_length: int = 16,
        max_piece_bytes: int | None = None,
        min_count: int | None = None,
        whole_characters: bool = False,
        forced: Sequence[str] | Sequence[str | bytes] = (),
        forced_files: Sequence[str] | Sequence[str | os.PathLike[str]] = (),
        emoji: Emoji | Literal[True] | None = None,
        kaomoji: bool = False,
        threads: int | None = None,
        counts: Counts | None = None,
    ) -> None:
        """Raises `ArgumentError` for an option out of its range."""
        for entry in () if isinstance(forced, (str, bytes)) else forced:
            if not isinstance(entry, bytes):
                text("forced", entry)
        lists = [_path(name) for name in forced_files]
        self._forced = _forced([*collect_entries(forced), *lists], emoji, flag("kaomoji", kaomoji))
        self._sizes = sizes(vocab_size)
        self._is_one = isinstance(vocab_size, int)
        for size in self._sizes:
            self._check_size(size)
        self._chars = number("max_piece_length", max_piece_length, least=1, most=_LONGEST)
        longest = _LONGEST if max_piece_bytes is None else max_piece_bytes
        self._bytes = number("max_piece_bytes", longest, least=1, most=_LONGEST)
        self._min_count = optional_number("min_count", min_count, least=1)
        self._whole_characters = flag("whole_characters", whole_characters)
        self._threads = processors() if threads is None else number("threads", threads, least=1, most=1024)
        expected = Counts(split=steps_of(pattern or None, "matches"))
        self.counts = expected if counts is None else checked(counts, expected, any_split=pattern == _PATTERN)

    def _check_size(self, size: int) -> None:
        least = 1 + _BYTES + len(self._forced)
        if not least <= size <= MOST_IDS:
            raise ArgumentError(
                f"vocab_size is {size}, which is not from {least} (id 0, the bytes and forced entries) to {MOST_IDS} "
                "(ids have 16 bits)"
            )

    def push(self, texts: Sequence[bytes]) -> None:
        """Count the words of a batch of texts."""
        self.counts.push(texts)

    def finish(self, progress: Report | None = None) -> Spec | list[Spec]:
        """Choose the entries; returns a list if several sizes are requested.

        Raises `ArgumentError` if the texts have too few strings.
        """
        words = self.counts.counter().words("bytes", progress, self.counts.room)
        specs = [self._spec(words, size, progress) for size in self._sizes]
        return specs[0] if self._is_one else specs

    def _spec(self, words: _core.Words, size: int, progress: Report | None) -> Spec:
        entries, _ = _core.train_longest_match(
            words,
            size - 1,
            self._chars,
            self._bytes,
            self._min_count,
            not self._whole_characters,
            self._forced,
            self._threads,
            self.counts.room,
            progress,
        )
        return Spec(
            vocab=Vocab.from_rows((entry, id, 0.0, Kind.NORMAL) for id, entry in enumerate(entries, start=1)),
            model=Longest(),
            special=(END_OF_TEXT,),
            names={"eos": END_OF_TEXT.id},
            origin=Origin("rwkv"),
        )


def _path(name: str | os.PathLike[str]) -> Path:
    if not isinstance(name, (str, os.PathLike)):
        raise ArgumentError(f"forced_files: {name!r} is no path of a file")
    return Path(name)


def _forced(entries: Iterable[Entry], which: Emoji | Literal[True] | None, faces: bool) -> list[bytes]:
    """All forced entries except single bytes, which are always included."""
    wanted = collect_entries(entries)
    if which:
        wanted += emoji("all" if which is True else which)
    if faces:
        wanted += kaomoji()
    wanted = [entry for entry in collect_entries(wanted) if len(entry) > 1]
    if wanted and len(wanted[-1]) > _LONGEST:
        raise ArgumentError(f"a forced entry has {len(wanted[-1])} bytes; at most {_LONGEST} can be")
    return wanted
