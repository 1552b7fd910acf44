"""Selects the entrants of each match: polytok and other engines, several builds, or files of one vocabulary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..cases import OWN_ENGINE_NAME, VOCABULARIES, Vocabulary
from ..engines import ENGINES, Engine


@dataclass(frozen=True, slots=True)
class Entrant:
    """An engine with a vocabulary. ``reference_engine`` returns the expected ids."""

    label: str
    engine: Engine
    vocabulary: Vocabulary
    reference_engine: Engine


Match: TypeAlias = tuple[Entrant, ...]
"""Two or three entrants; the last entrant is compared with each other entrant."""

MAX_PEERS = 2


def select_vocabularies(names: Collection[str]) -> list[Vocabulary]:
    """Returns the vocabularies with these names, or all vocabularies if ``names`` is empty."""
    if unknown_names := set(names) - {row.name for row in VOCABULARIES}:
        known_names = ", ".join(row.name for row in VOCABULARIES)
        raise SystemExit(f"unknown vocabulary {', '.join(sorted(unknown_names))}: choose from {known_names}")
    return [row for row in VOCABULARIES if not names or row.name in names]


def match_builds(builds: Sequence[Engine], vocabulary: Vocabulary) -> list[Match]:
    """Returns one match between all builds. The first build returns the expected ids."""
    return [tuple(Entrant(build.name, build, vocabulary, builds[0]) for build in builds)]


def match_files(vocabulary: Vocabulary) -> list[Match]:
    """Returns a match between polytok with the counterpart's file and polytok with the vocabulary's file."""
    counterpart = [row for row in VOCABULARIES if row.name == vocabulary.counterpart]
    entrant_pairs = [
        (replace(engine_entrant(OWN_ENGINE_NAME, row), label=row.title), engine_entrant(OWN_ENGINE_NAME, vocabulary))
        for row in counterpart
    ]
    return [
        (counterpart_entrant, replace(polytok_entrant, label=vocabulary.title))
        for counterpart_entrant, polytok_entrant in entrant_pairs
    ]


def match_engines(vocabulary: Vocabulary, names: Collection[str]) -> list[Match]:
    """Returns matches between polytok and the installed engines of the vocabulary, at most `MAX_PEERS` in a match."""
    peer_names = [name for name in vocabulary.engines if name != OWN_ENGINE_NAME and (not names or name in names)]
    peers = [name for name in peer_names if ENGINES[name].is_timed and ENGINES[name].version is not None]
    polytok_entrant = engine_entrant(OWN_ENGINE_NAME, vocabulary)
    return [
        (*(engine_entrant(name, vocabulary) for name in peer_group), polytok_entrant)
        for peer_group in _peer_groups(peers)
    ]


def engine_entrant(name: str, vocabulary: Vocabulary) -> Entrant:
    return Entrant(name, ENGINES[name], vocabulary, ENGINES[vocabulary.reference])


def _peer_groups(names: Sequence[str]) -> Iterable[Sequence[str]]:
    return (names[start : start + MAX_PEERS] for start in range(0, len(names), MAX_PEERS))
