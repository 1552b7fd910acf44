"""Trains longest-match vocabularies, such as the vocabulary of RWKV World (``kind="longest-match"``)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal

from .. import _core
from ..checks import flag, number, optional_number
from ..errors import ArgumentError
from ..keywords import engine_keywords, keyword
from ..lists import Emoji, Entry, collect_entries, emoji, kaomoji
from ..progress import ReportProgress
from ..reach import needed_variants, usages, words_of
from ..resources import processors
from ..spec import Kind, Longest, Origin, Spec, SpecialToken, Vocab
from ..tokenizer import Tokenizer
from .counting import Counts
from .matching import check_counts
from .options import check_sizes, check_special_tokens, check_text
from .roles import check_roles, with_names, with_role_tokens
from .splits import split_steps

MAX_IDS: Final = 65_536
_BYTE_COUNT: Final = 256
_MAX_ENTRY_LENGTH: Final = 65_535
_DEFAULT_PATTERN: Final = "default"
END_OF_TEXT: Final = SpecialToken("<|endoftext|>", 0)


class LongestMatchTrainer:
    """Trains a longest-match vocabulary: chooses entries that encode the texts to about the smallest number of tokens.

    The ids have RWKV World's order: id 0 is ``eos``, which is not in the file; ids 1 to 256 are the bytes; the ids of
    all other entries follow, ordered by length and bytes; special tokens are last. The vocabulary can encode any bytes.

    * ``vocab_size``: the number of ids, including special tokens and the bytes; at most 65,536. A list of sizes trains
      all sizes.
    * ``special_tokens``: the texts of further special tokens.
    * ``bos``: the text of the special token that begins a text. The token is created unless ``special_tokens`` has it.
    * ``eos``: the text of the special token that ends a text, by default ``<|endoftext|>``.
    * ``pad``: the text of the special token for padding.
    * ``unk``: the text of the special token for unknown text.
    * ``pattern``: a regular expression, or the name of a pattern (``default``, ``gpt2``, ``cl100k``, ``o200k``,
      ``llama3``, ``qwen2``, ``qwen35``), that splits the texts before training, so that every entry is within one
      match. The default separates words with a space before them, numbers of up to three digits, punctuation, and
      white space. With None or an empty pattern, entries can be any strings. Encoding never splits texts.
    * ``max_piece_length``: the maximum number of characters of an entry.
    * ``max_piece_bytes``: the maximum number of bytes of an entry.
    * ``min_count``: the minimum number of occurrences of an entry in the texts. The default depends on the amount of
      text and the size, and excludes strings that are too rare to be useful in other texts.
    * ``whole_characters``: whether all entries except single bytes consist of whole characters.
    * ``forced``: entries that are always included, of any length; they are counted in ``vocab_size``.
    * ``forced_files``: files that list entries to include always, one a line.
    * ``emoji``: include ``all`` emoji of Unicode (or True), or the ``basic`` emoji without skin tones. The package
      emoji must be installed.
    * ``kaomoji``: include a hundred faces drawn with characters.

    If the trained entries would prevent that an emoji or kaomoji is used after a space or a line feed, the variant with
    this character before it is included too. Forced entries that are not used there are reported.

    The result depends only on the counted words and these options, not on the order of the texts or on ``threads``.

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
        special_tokens: Sequence[str] = (),
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
        unk: str | None = None,
        pattern: str | None = _DEFAULT_PATTERN,
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
        """Checks the options. Raises `ArgumentError` for an invalid value."""
        for entry in () if isinstance(forced, (str, bytes)) else forced:
            if not isinstance(entry, bytes):
                check_text("forced", entry)
        list_paths = [_check_path(name) for name in forced_files]
        self._symbols = _symbols(emoji, flag("kaomoji", kaomoji))
        self._forced_entries = _forced_entries([*collect_entries(forced), *list_paths, *self._symbols])
        self.notes: list[str] = []
        self._text_by_role = check_roles(unk=unk, bos=bos, eos=END_OF_TEXT.text if eos is None else eos, pad=pad)
        self._special_texts = self._check_special_texts(special_tokens)
        self._sizes = check_sizes(vocab_size)
        self._is_single_size = isinstance(vocab_size, int)
        for size in self._sizes:
            self._check_size(size, self._forced_entries)
        self._max_characters = number("max_piece_length", max_piece_length, least=1, most=_MAX_ENTRY_LENGTH)
        max_bytes = _MAX_ENTRY_LENGTH if max_piece_bytes is None else max_piece_bytes
        self._max_bytes = number("max_piece_bytes", max_bytes, least=1, most=_MAX_ENTRY_LENGTH)
        self._min_count = optional_number("min_count", min_count, least=1)
        self._whole_characters = flag("whole_characters", whole_characters)
        self._threads = processors() if threads is None else number("threads", threads, least=1, most=1024)
        expected_counts = Counts(split=split_steps(pattern or None, "matches"))
        self.counts = (
            expected_counts
            if counts is None
            else check_counts(counts, expected_counts, any_split=pattern == _DEFAULT_PATTERN)
        )

    def _check_special_texts(self, special_tokens: Sequence[str]) -> list[str]:
        """Returns the texts of all special tokens: that with id 0, followed by those with the last ids."""
        special = check_special_tokens(special_tokens)
        if isinstance(special_tokens, Mapping):
            raise ArgumentError(
                f"{keyword('special_tokens')}: the trainer assigns the ids of special tokens: give a list of texts"
            )
        return list(with_role_tokens({self._text_by_role["eos"]: None, **special}, self._text_by_role))

    def _check_size(self, size: int, forced_entries: list[bytes]) -> None:
        min_size = len(self._special_texts) + _BYTE_COUNT + len(forced_entries)
        if not min_size <= size <= MAX_IDS:
            raise ArgumentError(
                f"{keyword('vocab_size')} is {size}, which is not from {min_size} (special tokens, the bytes and "
                f"forced entries) to {MAX_IDS} (ids have 16 bits)"
            )

    def push(self, texts: Sequence[bytes]) -> None:
        """Counts the words of further texts."""
        self.counts.push(texts)

    def finish(self, progress: ReportProgress | None = None) -> Spec | list[Spec]:
        """Chooses the entries and returns the Spec; returns a list of Specs if several sizes were requested.

        Raises `ArgumentError` if the texts have too few different strings.
        """
        words = self.counts.counter().words("bytes", progress, self.counts.room)
        specs = [self._spec(words, size, progress) for size in self._sizes]
        return specs[0] if self._is_single_size else specs

    def _spec(self, words: _core.Words, size: int, progress: ReportProgress | None) -> Spec:
        forced_entries = self._forced_entries
        while True:
            spec = self._trained_spec(words, size, forced_entries, progress)
            if not forced_entries:
                return spec
            tokenizer = Tokenizer(spec)
            variants = needed_variants(tokenizer, self._symbols) - set(forced_entries)
            if not variants:
                forced_words = words_of(self._forced_entries).difference(self._symbols)
                contexts = usages(tokenizer, self._forced_entries, words=forced_words)
                self.notes += [f"forced entries: {usage}" for usage in contexts if usage.unused]
                return spec
            forced_entries = _forced_entries([*forced_entries, *variants])
            self._check_size(size, forced_entries)

    def _trained_spec(
        self, words: _core.Words, size: int, forced_entries: list[bytes], progress: ReportProgress | None
    ) -> Spec:
        with engine_keywords("max_piece_length"):
            entries, _ = _core.train_longest_match(
                words,
                size - len(self._special_texts),
                self._max_characters,
                self._max_bytes,
                self._min_count,
                not self._whole_characters,
                forced_entries,
                self._threads,
                self.counts.room,
                progress,
            )
        special_ids = (0, *range(1 + len(entries), len(self._special_texts) + len(entries)))
        spec = Spec(
            vocab=Vocab.from_rows((entry, id, 0.0, Kind.NORMAL) for id, entry in enumerate(entries, start=1)),
            model=Longest(),
            special=tuple(map(SpecialToken, self._special_texts, special_ids)),
            origin=Origin("rwkv"),
        )
        return with_names(spec, self._text_by_role)


def _check_path(name: str | os.PathLike[str]) -> Path:
    if not isinstance(name, (str, os.PathLike)):
        raise ArgumentError(f"forced_files: {name!r} is not the path of a file")
    return Path(name)


def _symbols(emoji_set: Emoji | Literal[True] | None, has_kaomoji: bool) -> list[bytes]:
    """Returns the requested emoji and kaomoji."""
    symbols = emoji("all" if emoji_set is True else emoji_set) if emoji_set else []
    return [*symbols, *(kaomoji() if has_kaomoji else [])]


def _forced_entries(entries: Iterable[Entry]) -> list[bytes]:
    """Returns all forced entries except single bytes, which are always included."""
    forced_entries = [entry for entry in collect_entries(entries) if len(entry) > 1]
    if forced_entries and len(forced_entries[-1]) > _MAX_ENTRY_LENGTH:
        raise ArgumentError(
            f"a forced entry has {len(forced_entries[-1])} bytes, but at most {_MAX_ENTRY_LENGTH} are allowed"
        )
    return forced_entries
