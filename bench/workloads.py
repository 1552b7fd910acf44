"""The workloads of the benchmarks: sizes of documents, operations, and amounts of text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from .cases import CJK, ENGLISH, TEXTS, UNCACHED, VOCABULARIES, Text, Vocabulary
from .worst_texts import WORST_TEXTS


@dataclass(frozen=True, slots=True)
class Amount:
    """The bytes of text for the warm-up and the test, the rounds in each process, and the processes for each engine.

    The test text is divided among the rounds. A round has ``copies`` copies of its text, each split at different
    positions. If ``is_shared``, other programs run on the machine, and processor time is measured, except with several
    threads.
    """

    warm_up: int
    test: int
    rounds: int
    processes: int
    copies: int = 1
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """Operations on texts that are split into documents of ``document`` bytes.

    With ``in_one_process``, one process encodes all texts in turn; otherwise each text has its own process. With
    ``has_again``, all rounds are repeated in a second pass. ``quick_texts`` are the texts of a quick run, and
    ``engines`` are measured in addition to the engines of the vocabulary. ``vocabularies`` and ``quick_vocabularies``
    limit the vocabularies of any run and of a quick run.
    """

    name: str
    title: str
    document: int
    texts: tuple[Text, ...]
    operations: tuple[str, ...]
    quick: Amount
    full: Amount
    has_again: bool = False
    in_one_process: bool = False
    quick_texts: tuple[Text, ...] = ()
    engines: tuple[str, ...] = ()
    vocabularies: frozenset[str] | None = None
    quick_vocabularies: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A workload with a vocabulary and the texts that one process encodes."""

    vocabulary: Vocabulary
    workload: Workload
    texts: tuple[Text, ...]

    @property
    def engines(self) -> tuple[str, ...]:
        return self.vocabulary.engines + self.workload.engines

    @property
    def title(self) -> str:
        return f"{self.vocabulary.title}, {self.workload.title}: {', '.join(text.title for text in self.texts)}"


KB, MB = 1 << 10, 1 << 20
_FAMILY_EXAMPLES = frozenset({"cl100k_base", "llama2", "xlnet", "rwkv", "bert"})
_MAIN_VOCABULARY = frozenset({"cl100k_base"})

DOCUMENTS = Workload(
    "documents",
    "4 KB documents",
    4 * KB,
    TEXTS,
    ("list", "numpy"),
    quick=Amount(warm_up=MB, test=5 * MB // 4, rounds=5, processes=1),
    full=Amount(warm_up=3 * MB, test=3 * MB, rounds=5, processes=3),
    has_again=True,
    engines=(UNCACHED,),
)
COLD = Workload(
    "cold",
    "the very first 4 KB",
    4 * KB,
    (ENGLISH,),
    ("list", "numpy"),
    quick=Amount(warm_up=0, test=4 * KB, rounds=1, processes=3),
    full=Amount(warm_up=0, test=4 * KB, rounds=1, processes=15),
    quick_vocabularies=_MAIN_VOCABULARY,
)
SHORT = Workload(
    "short",
    "texts of 100 bytes",
    100,
    (ENGLISH,),
    ("list", "numpy"),
    quick=Amount(warm_up=MB // 2, test=MB // 4, rounds=5, processes=1),
    full=Amount(warm_up=3 * MB, test=2 * MB, rounds=5, processes=3),
    quick_vocabularies=_MAIN_VOCABULARY,
)
LONG = Workload(
    "long",
    "documents of 1 MB",
    MB,
    (ENGLISH,),
    ("list", "numpy"),
    quick=Amount(warm_up=MB, test=3 * MB, rounds=3, processes=1),
    full=Amount(warm_up=3 * MB, test=3 * MB, rounds=3, processes=3),
    quick_vocabularies=_MAIN_VOCABULARY,
)
BATCH = Workload(
    "batch",
    "100 MB in one call",
    4 * KB,
    (ENGLISH,),
    ("batch 1", "batch 2"),
    quick=Amount(warm_up=MB, test=4 * MB, rounds=1, processes=2, copies=4),
    full=Amount(warm_up=MB, test=4 * MB, rounds=1, processes=5, copies=25),
    vocabularies=_FAMILY_EXAMPLES,
    quick_vocabularies=_MAIN_VOCABULARY,
)
WORST_CASES = Workload(
    "worst",
    "worst cases, 1 MB",
    MB,
    (ENGLISH, *WORST_TEXTS),
    ("ids",),
    quick=Amount(warm_up=MB, test=MB, rounds=1, processes=1),
    full=Amount(warm_up=MB, test=3 * MB, rounds=3, processes=1),
    in_one_process=True,
    vocabularies=_FAMILY_EXAMPLES,
    quick_vocabularies=_MAIN_VOCABULARY,
)
DECODING = Workload(
    "decode",
    "decoding, 4 KB documents",
    4 * KB,
    TEXTS,
    ("decode", "decode bytes", "decode batch", "decode list"),
    quick=Amount(warm_up=MB, test=4 * MB, rounds=5, processes=1),
    full=Amount(warm_up=MB, test=4 * MB, rounds=5, processes=1),
    in_one_process=True,
    quick_texts=(ENGLISH, CJK),
    vocabularies=_FAMILY_EXAMPLES,
    quick_vocabularies=_MAIN_VOCABULARY,
)
BESIDE_IDS = Workload(
    "beside ids",
    "count and offsets beside ids, 4 KB documents",
    4 * KB,
    TEXTS,
    ("numpy", "count", "offsets"),
    quick=Amount(warm_up=MB // 4, test=MB, rounds=5, processes=1),
    full=Amount(warm_up=MB, test=3 * MB, rounds=5, processes=1),
    has_again=True,
    in_one_process=True,
    quick_texts=(ENGLISH, CJK),
    quick_vocabularies=_FAMILY_EXAMPLES,
)

WORKLOADS = (DOCUMENTS, COLD, SHORT, LONG, BATCH, WORST_CASES, DECODING, BESIDE_IDS)


@dataclass(frozen=True, slots=True)
class Selection:
    """The cases to run. An empty collection of names selects everything."""

    is_quick: bool = False
    vocabularies: Collection[str] = ()
    texts: Collection[str] = ()
    workloads: Collection[str] = ()
    is_shared: bool = False
    cases: tuple[Case, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Selects the cases. Exits for an unknown name."""
        known_texts = dict.fromkeys(text.name for workload in WORKLOADS for text in workload.texts)
        _check_names(self.vocabularies, [row.name for row in VOCABULARIES])
        _check_names(self.texts, list(known_texts))
        _check_names(self.workloads, [row.name for row in WORKLOADS])
        cases = [case for row in VOCABULARIES for workload in WORKLOADS for case in self._cases(row, workload)]
        object.__setattr__(self, "cases", tuple(cases))

    def amount(self, workload: Workload) -> Amount:
        return replace(workload.quick if self.is_quick else workload.full, is_shared=self.is_shared)

    def _cases(self, vocabulary: Vocabulary, workload: Workload) -> list[Case]:
        if not self._includes(vocabulary, workload):
            return []
        quick = workload.quick_texts if self.is_quick and not self.texts else ()
        texts = tuple(text for text in quick or workload.texts if not self.texts or text.name in self.texts)
        groups = [texts] if workload.in_one_process else [(text,) for text in texts]
        return [Case(vocabulary, workload, group) for group in groups if group]

    def _includes(self, vocabulary: Vocabulary, workload: Workload) -> bool:
        """Reports whether to run the workload with the vocabulary."""
        name = vocabulary.name
        if self.workloads and workload.name not in self.workloads:
            return False
        if workload.vocabularies is not None and name not in workload.vocabularies:
            return False
        if self.vocabularies:
            return name in self.vocabularies
        if not self.is_quick:
            return True
        return vocabulary.is_quick if workload.quick_vocabularies is None else name in workload.quick_vocabularies


def _check_names(requested_names: Collection[str], names: list[str]) -> None:
    if unknown_names := sorted(set(requested_names) - set(names)):
        raise SystemExit(f"unknown name {', '.join(unknown_names)}: choose from {', '.join(names)}")
