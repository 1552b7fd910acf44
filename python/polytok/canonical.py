"""Decides whether an encoder could have returned a list of ids, and where the list is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from . import _core
from .errors import PolytokError
from .parts import Parts
from .preimages import Preimages
from .spec import Insert, Kind, Metaspace, Slot, Spec

_MAX_KEPT_GROUPS = 4096


class _Section(NamedTuple):
    """Ids between two special tokens, and their place in the list. ``groups`` are the special tokens on both sides."""

    ids: list[int]
    start: int
    before: tuple[int, ...]
    after: tuple[int, ...]


class CanonicalTest:
    """Compares lists of ids with what one tokenizer returns for texts.

    A special token in a list stands for itself. The ids between two special tokens are those of a text if one of the
    texts that `Preimages` writes is encoded to them.
    """

    __slots__ = (
        "_all_special",
        "_core",
        "_groups",
        "_has_first_text_rule",
        "_ids_with_rules",
        "_known_ids",
        "_preimages",
        "_separators",
        "_template",
        "_texts",
    )

    def __init__(self, spec: Spec, core: _core.Tokenizer) -> None:
        self._core = core
        self._preimages = Preimages(spec, core)
        self._texts = {id: text for text, id in reversed(core.special_tokens())}
        self._all_special = core.options(False, {text for text, _ in core.special_tokens()}, set())
        kinds = dict(zip(spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True))
        added_ids = frozenset(token.id for token in spec.special)
        self._known_ids = frozenset(kinds) | added_ids
        control_ids = {id for id in self._texts if kinds.get(id) == Kind.CONTROL}
        special_ids = control_ids.union(token.id for token in spec.special if token.special)
        unknown_ids = {id for id, kind in kinds.items() if kind == Kind.UNKNOWN}
        # The id of a special token can also be that of unknown text, and some added tokens are always recognized, so
        # lists are divided in several ways.
        self._separators = [frozenset(ids) for ids in (special_ids - unknown_ids, special_ids, special_ids | added_ids)]
        self._template = _template_ids(spec)
        self._ids_with_rules = {
            token.id for token in spec.special if token.lstrip or token.rstrip or token.single_word or not token.special
        }
        self._has_first_text_rule = any(isinstance(step, Metaspace) and step.prepend == "first" for step in spec.split)
        self._groups: dict[tuple[int, ...], int | None] = {}

    def first_difference(self, ids: list[int]) -> int | None:
        """Returns the index of the first id that differs from all encodings that were tried, or None."""
        known = len(ids)
        if not self._known_ids.issuperset(frozenset(ids)):
            known = next(place for place, id in enumerate(ids) if id not in self._known_ids)
        last_difference = -1
        for start, stop in self._text_ranges(ids):
            text_ids = ids[start : min(stop, known)]
            for separators in self._separators_in(text_ids):
                difference = self._first_difference(text_ids, separators)
                if difference is None and stop <= known:
                    return None
                last_difference = max(last_difference, known if difference is None else start + difference)
            # Some models also find the texts of special tokens in plain text.
            if stop <= known and self._first_difference(text_ids, frozenset()) is None:
                return None
        return last_difference

    def _text_ranges(self, ids: list[int]) -> Iterator[tuple[int, int]]:
        """Yields the ranges of ids that can be those of a text: all ids, and those within the template."""
        yield 0, len(ids)
        before, after = self._template
        stop = len(ids) - len(after)
        if (before or after) and len(before) <= stop and (*ids[: len(before)], *ids[stop:]) == (*before, *after):
            yield len(before), stop

    def _separators_in(self, ids: list[int]) -> Iterator[frozenset[int]]:
        """Yields the different sets of the special tokens in a list that can separate texts."""
        different_ids = frozenset(ids)
        return iter(dict.fromkeys(separators & different_ids for separators in self._separators))

    def _first_difference(self, ids: list[int], separators: frozenset[int]) -> int | None:
        for section in _sections(ids, separators):
            difference = self._difference_of_special(section.before)
            if difference is not None:
                return section.start - len(section.before) + difference
            if section.ids:
                difference = self._difference_of_text(section)
                if difference is not None:
                    return section.start + difference
        return None

    def _difference_of_special(self, group: tuple[int, ...]) -> int | None:
        """Returns where adjacent special tokens differ from the encoding of their texts."""
        if not group:
            return None
        if group not in self._groups:
            if len(self._groups) >= _MAX_KEPT_GROUPS:
                self._groups.clear()
            text = b"".join([self._texts[id] for id in group])
            self._groups[group] = _difference(self._core.encode(text, self._all_special), [*group])
        return self._groups[group]

    def _difference_of_text(self, section: _Section) -> int | None:
        """Returns where the ids of a section differ from the encodings of texts that agree longest, or None."""
        last_difference = 0
        for text in self._preimages.texts(section.ids):
            try:
                difference = self._difference_of_encoding(text, section)
            except PolytokError:  # the vocabulary cannot cover the text
                continue
            if difference is None:
                return None
            last_difference = max(last_difference, difference)
        return last_difference

    def _difference_of_encoding(self, text: bytes, section: _Section) -> int | None:
        """Returns where the ids of a section differ from the encodings of one text that agree longest, or None."""
        depends = self._depends_on_neighbours(section)
        before, after = (section.before[-1:], section.after[:1]) if depends else ((), ())
        expected = [*before, *section.ids, *after]
        last_difference = 0
        for encoded in self._encodings(before, text, after):
            difference = _difference(encoded, expected)
            if difference is None:
                return None
            last_difference = max(last_difference, difference - len(before))
        return min(last_difference, len(section.ids) - 1)

    def _encodings(self, before: tuple[int, ...], text: bytes, after: tuple[int, ...]) -> Iterator[list[int]]:
        """Yields the ids of a text between special tokens: as a plain text, and as a part that is not trusted."""
        texts_before, texts_after = ([self._texts[id] for id in ids] for ids in (before, after))
        options = self._core.options(False, {*texts_before, *texts_after}, set()) if before or after else None
        yield self._core.encode(b"".join([*texts_before, text, *texts_after]), options)
        if options is not None or any(special_text in text for special_text in self._texts.values()):
            trusted = [(part, True) for part in texts_before], [(part, True) for part in texts_after]
            try:
                parts = [(part.decode(), trust) for part, trust in (*trusted[0], (text, False), *trusted[1])]
            except UnicodeDecodeError:  # a part is a str
                return
            yield self._core.encode(Parts(parts))

    def _depends_on_neighbours(self, section: _Section) -> bool:
        """Reports whether the text can have other ids than the same text without the special tokens at its sides."""
        if section.before and self._has_first_text_rule:
            return True
        return not self._ids_with_rules.isdisjoint((*section.before[-1:], *section.after[:1]))


def _sections(ids: list[int], separators: frozenset[int]) -> Iterator[_Section]:
    """Yields the texts of a list, each with the special tokens on both sides; the last text can be empty."""
    if separators.isdisjoint(ids):
        yield _Section(ids, 0, (), ())
        return
    start = 0
    before: tuple[int, ...] = ()
    place = 0
    while place < len(ids):
        if ids[place] not in separators:
            place += 1
            continue
        after_start = place
        while place < len(ids) and ids[place] in separators:
            place += 1
        after = tuple(ids[after_start:place])
        yield _Section(ids[start:after_start], start, before, after)
        start, before = place, after
    yield _Section(ids[start:], start, before, ())


def _difference(encoded: list[int], ids: list[int]) -> int | None:
    """Returns the first index at which ids differ from an encoding, which is at most that of the last id; or None.

    >>> _difference([1, 2, 3], [1, 2, 3]), _difference([1, 5], [1, 2, 3]), _difference([1, 2, 3], [1, 2])
    (None, 1, 1)
    """
    if encoded == ids:
        return None
    pairs = zip(encoded, ids, strict=False)
    place = next((place for place, (left, right) in enumerate(pairs) if left != right), min(len(encoded), len(ids)))
    return max(min(place, len(ids) - 1), 0)


def _template_ids(spec: Spec) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the ids that the template adds before and after one text."""
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    has_text = False
    for part in spec.post.single:
        if isinstance(part, Slot):
            has_text = True
        elif isinstance(part, Insert):
            before, after = (before, after + part.ids) if has_text else (before + part.ids, after)
    return before, after
