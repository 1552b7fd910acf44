"""Measures the figures of the targets. Each function returns a function of a vocabulary and a text.

Most figures are ratios of speeds in a race: the engines take turns in one process (bench.contest.race). The ratio is
polytok's speed divided by the other engine's, so a larger figure is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TypeAlias

from ..cases import ENGLISH, OWN_ENGINE_NAME, UNCACHED_ENGINE_NAME, VOCABULARIES, Text, Vocabulary
from ..contest.entrants import Entrant, Match, engine_entrant, match_engines
from ..contest.race import Cell, IdChecker, prepare_cell, race
from ..engines import ENGINES
from ..measure import Result, checkers, measure
from ..results import Results
from ..texts import read_documents
from ..workloads import BATCHES, KB, MB, Case, RunSize
from ..worst_texts import WORST_TEXTS, generate_worst_text
from . import cold
from .special_engines import ARRAYS_AS_SPANS, ENCODING, PYTHON_DECODER, TOKENIZERS_ENCODING

WORST_BYTES = 256 * KB
WORST_BYTES_WITH_PEERS = 8 * KB
"""The size of the worst inputs for other engines, some of which take quadratic time."""
WORST_ROUNDS = 6
LONG_DOCUMENT_BYTES = 4 * MB
"""The number of bytes of text to time if a document is 1 MB."""
FASTEST_BATCH_ENGINE = "gigatoken"
BATCH_SIZE = RunSize(warm_up_bytes=MB, test_bytes=4 * MB, rounds=1, processes=5, copy_count=25)


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure. ``remark`` names the compared engine or text, or has the reason why the value is missing."""

    value: float | None
    remark: str = ""


FigureFunction: TypeAlias = "Callable[[Races, Vocabulary, Text], Figure]"
CellKey: TypeAlias = tuple[tuple[tuple[str, str], ...], str, str, int]


@dataclass(slots=True)
class Races:
    """The races so far. A race that several targets need is run once."""

    megabytes: float
    id_checker: IdChecker = field(default_factory=IdChecker)
    _cells: dict[CellKey, Cell] = field(default_factory=dict)
    _batches: dict[str, Results] = field(default_factory=dict)
    _cold_starts: dict[str, cold.Starts] = field(default_factory=dict)

    def cell(self, match: Match, text: Text, operation: str, document_bytes: int = 4 * KB) -> Cell:
        """Returns the results of a race."""
        entrants = tuple((entrant.label, entrant.vocabulary.name) for entrant in match)
        key = entrants, text.name, operation, document_bytes
        if key not in self._cells:
            test_bytes = LONG_DOCUMENT_BYTES if document_bytes >= MB else int(self.megabytes * MB)
            cell, warm_up, turns = prepare_cell(match, text, operation, self.id_checker, document_bytes, test_bytes)
            race(cell.entries, operation, warm_up, turns, 0)
            self._cells[key] = cell
        return self._cells[key]

    def batches(self, vocabulary: Vocabulary) -> Results:
        """Returns the speeds of batches of 100 MB, each in a process of its own.

        Only the fastest other engine takes part, because the others need minutes; its ids are right in the races.
        """
        if vocabulary.name not in self._batches:
            two_engines = replace(vocabulary, reference=FASTEST_BATCH_ENGINE, peers=())
            case = Case(two_engines, BATCHES, (ENGLISH,))
            checkers_by_name = checkers(two_engines)
            self._batches[vocabulary.name] = Results(measure(case, BATCH_SIZE, checkers_by_name))
            for checker in checkers_by_name.values():
                checker.finish()
        return self._batches[vocabulary.name]

    def worst_cell(self, match: Match, text: Text, document_bytes: int) -> Cell:
        """Returns the results of a race with one of the worst inputs; each round has another document.

        polytok returns the expected ids of inputs that are not UTF-8.
        """
        key = tuple((entrant.label, entrant.vocabulary.name) for entrant in match), text.name, "ids", document_bytes
        if key not in self._cells:
            inputs = [generate_worst_text(text.name, document_bytes, turn) for turn in range(WORST_ROUNDS)]
            if any(isinstance(document, bytes) for document in inputs):
                match = tuple(replace(entrant, reference_engine=ENGINES[OWN_ENGINE_NAME]) for entrant in match)
            cell = Cell(match[-1].vocabulary, text, "ids", self.id_checker.entries(match, "ids", inputs))
            warm_up = read_documents(ENGLISH, 4 * KB, RunSize(MB // 2, 4 * KB, rounds=1, processes=1))[0]
            race(cell.entries, "ids", warm_up, [[document] for document in inputs], 0)
            self._cells[key] = cell
        return self._cells[key]

    def cold_starts(self, vocabulary: Vocabulary) -> cold.Starts:
        """Returns the times of new processes that import, load and encode."""
        if vocabulary.name not in self._cold_starts:
            self._cold_starts[vocabulary.name] = cold.measure_starts(vocabulary)
        return self._cold_starts[vocabulary.name]

    def finish(self) -> None:
        """Ends the processes that check ids."""
        self.id_checker.finish()


def ratio(cell: Cell, pass_name: str = "first") -> Figure:
    """Returns the lowest ratio of a cell over its engines, and the name of the engine."""
    own_entry = cell.entries[-1]
    if own_entry.failure_reason is not None:
        return Figure(0, f"{own_entry.entrant.label}: {own_entry.failure_reason}")
    ratios = [(value, other.entrant.label) for name, other, value in cell.median_ratios() if name == pass_name]
    if ratios:
        return Figure(*min(ratios))
    reasons = [f"{entry.entrant.label}: {entry.failure_reason}" for entry in cell.entries[:-1]]
    return Figure(None, "; ".join(reasons) or "no other engine")


def lowest(figures: Sequence[Figure]) -> Figure:
    """Returns the figure with the lowest value; a figure without a value if none has a value."""
    valued = [figure for figure in figures if figure.value is not None]
    return min(valued, key=lambda figure: figure.value or 0, default=(*figures, Figure(None, "no other engine"))[0])


def over(peer: str, pass_name: str = "first") -> FigureFunction:
    """polytok's arrays over an engine's fastest kind of output."""

    def measure_figure(races: Races, vocabulary: Vocabulary, text: Text) -> Figure:
        match = engine_entrant(peer, vocabulary), engine_entrant(OWN_ENGINE_NAME, vocabulary)
        figure = ratio(races.cell(match, text, "ids"), pass_name)
        return Figure(figure.value, "" if figure.value else figure.remark)

    return measure_figure


def over_other_file(vocabulary_name: str) -> FigureFunction:
    """polytok over the reference package with the file of another vocabulary, for files that no package reads."""
    other = next(row for row in VOCABULARIES if row.name == vocabulary_name)

    def measure_figure(races: Races, vocabulary: Vocabulary, text: Text) -> Figure:
        match = engine_entrant(other.reference, other), engine_entrant(OWN_ENGINE_NAME, vocabulary)
        return Figure(ratio(races.cell(match, text, "ids")).value)

    return measure_figure


def over_fastest(operation: str, document_bytes: int = 4 * KB) -> FigureFunction:
    """polytok over the fastest other engine, by the same operation."""

    def measure_figure(races: Races, vocabulary: Vocabulary, text: Text) -> Figure:
        matches = match_engines(vocabulary, [])
        return lowest([ratio(races.cell(match, text, operation, document_bytes)) for match in matches])

    return measure_figure


def batch_over_fastest(operation: str) -> FigureFunction:
    """polytok's batches over those of the fastest other engine."""

    def measure_figure(races: Races, vocabulary: Vocabulary, text: Text) -> Figure:
        speed = _batch_speed(races, vocabulary, operation)
        others = list(races.batches(vocabulary).peer_results(BATCHES.name, vocabulary.name, text.name, operation))
        if not speed or not others:
            return Figure(None, "no time")
        fastest = max(others, key=_speed)
        return Figure(speed / _speed(fastest), fastest.engine)

    return measure_figure


def two_threads_over_one(races: Races, vocabulary: Vocabulary, text: Text) -> Figure:
    one, two = (_batch_speed(races, vocabulary, operation) for operation in BATCHES.operations)
    return Figure(two / one) if one and two else Figure(None, "no time")


def _batch_speed(races: Races, vocabulary: Vocabulary, operation: str) -> float | None:
    result = races.batches(vocabulary).own_result(BATCHES.name, vocabulary.name, ENGLISH.name, operation)
    return None if result is None else _speed(result)


def _speed(result: Result) -> float:
    return median(result.first_pass_speeds)


def encoding_over_tokenizers(races: Races, vocabulary: Vocabulary, text: Text) -> Figure:
    """``encoding(text).ids`` over the same call of tokenizers, with 20 bytes in each call."""
    reference = ENGINES[vocabulary.reference]
    match = tuple(Entrant(engine.name, engine, vocabulary, reference) for engine in (TOKENIZERS_ENCODING, ENCODING))
    return Figure(ratio(races.cell(match, text, "list", 20)).value)


def decoding_over_python(races: Races, vocabulary: Vocabulary, text: Text) -> Figure:
    """Decoding ids to `str` over decoding the same text's UTF-8 by Python."""
    reference = ENGINES[vocabulary.reference]
    own_engine = ENGINES[OWN_ENGINE_NAME]
    match = tuple(Entrant(engine.name, engine, vocabulary, reference) for engine in (PYTHON_DECODER, own_engine))
    return Figure(ratio(races.cell(match, text, "decode")).value)


def spans_over_arrays(races: Races, vocabulary: Vocabulary, text: Text) -> Figure:
    """Spans over arrays of ids: the lower ratio of both passes."""
    own_engine = ENGINES[OWN_ENGINE_NAME]
    match = tuple(Entrant(engine.name, engine, vocabulary, own_engine) for engine in (ARRAYS_AS_SPANS, own_engine))
    cell = races.cell(match, text, "offsets")
    return Figure(lowest([ratio(cell, pass_name) for pass_name in ("first", "again")]).value)


def worst_slowdown(races: Races, vocabulary: Vocabulary, _: Text) -> Figure:
    """The time for a byte of the worst input over that of English, which polytok encodes without its cache."""
    uncached, own = (
        (Entrant(name, ENGINES[name], vocabulary, ENGINES[OWN_ENGINE_NAME]),)
        for name in (UNCACHED_ENGINE_NAME, OWN_ENGINE_NAME)
    )
    english_speed = median(races.cell(uncached, ENGLISH, "ids").entries[-1].speeds("first"))
    cells = [races.worst_cell(own, text, WORST_BYTES) for text in WORST_TEXTS]
    speed, name = min((median(cell.entries[-1].speeds("first")), cell.text.name) for cell in cells)
    return Figure(english_speed / speed, name)


def worst_over_fastest(races: Races, vocabulary: Vocabulary, _: Text) -> Figure:
    """The lowest ratio over all other engines and all of the ten inputs."""
    figures = [
        Figure(figure.value, f"{figure.remark}, {text.name}")
        for text in WORST_TEXTS
        for match in match_engines(vocabulary, [])
        for figure in [ratio(races.worst_cell(match, text, WORST_BYTES_WITH_PEERS))]
    ]
    return lowest(figures)


def cold_over_fastest(output: str) -> FigureFunction:
    """The time of the fastest other engine in new processes over polytok's."""

    def measure_figure(races: Races, vocabulary: Vocabulary, text: Text) -> Figure:
        times = races.cold_starts(vocabulary)
        others = [
            (start.seconds, engine)
            for (engine, engine_output), start in times.items()
            if engine != OWN_ENGINE_NAME and (engine_output == "list" if output == "list" else start.has_numpy)
        ]
        if not others:
            return Figure(None, "no other engine")
        seconds, engine = min(others)
        return Figure(seconds / times[OWN_ENGINE_NAME, output].seconds, engine)

    return measure_figure
