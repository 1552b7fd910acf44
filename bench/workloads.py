"""The workloads of the benchmarks: sizes of documents, operations, and amounts of text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from .cases import CJK, ENGLISH, TEXTS, UNCACHED_ENGINE_NAME, VOCABULARIES, Text, Vocabulary
from .worst_texts import WORST_TEXTS


@dataclass(frozen=True, slots=True)
class RunSize:
    """The number of bytes of text for the warm-up and for the test, of rounds in each process, and of processes for
    each engine.

    The test text is divided among the rounds. A round repeats its text ``copy_count`` times, and each copy is split at
    other positions. ``is_shared`` is true if other programs run on the machine; processor time is then measured for
    operations in one thread.
    """

    warm_up_bytes: int
    test_bytes: int
    rounds: int
    processes: int
    copy_count: int = 1
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """Operations on texts; each text is split into documents of ``document_bytes`` bytes.

    If ``in_one_process`` is true, one process encodes all texts in turn; otherwise each text has its own process. If
    ``has_second_pass`` is true, all rounds are repeated. ``quick_texts`` are the texts of a quick run. ``engines`` are
    measured in addition to the engines of the vocabulary. ``vocabularies`` limits the vocabularies of every run, and
    ``quick_vocabularies`` those of a quick run.
    """

    name: str
    title: str
    document_bytes: int
    texts: tuple[Text, ...]
    operations: tuple[str, ...]
    quick_size: RunSize
    full_size: RunSize
    has_second_pass: bool = False
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
    quick_size=RunSize(warm_up_bytes=MB, test_bytes=5 * MB // 4, rounds=5, processes=1),
    full_size=RunSize(warm_up_bytes=3 * MB, test_bytes=3 * MB, rounds=5, processes=3),
    has_second_pass=True,
    engines=(UNCACHED_ENGINE_NAME,),
)
COLD_START = Workload(
    "cold",
    "the very first 4 KB",
    4 * KB,
    (ENGLISH,),
    ("list", "numpy"),
    quick_size=RunSize(warm_up_bytes=0, test_bytes=4 * KB, rounds=1, processes=3),
    full_size=RunSize(warm_up_bytes=0, test_bytes=4 * KB, rounds=1, processes=15),
    quick_vocabularies=_MAIN_VOCABULARY,
)
SHORT_TEXTS = Workload(
    "short",
    "texts of 100 bytes",
    100,
    (ENGLISH,),
    ("list", "numpy"),
    quick_size=RunSize(warm_up_bytes=MB // 2, test_bytes=MB // 4, rounds=5, processes=1),
    full_size=RunSize(warm_up_bytes=3 * MB, test_bytes=2 * MB, rounds=5, processes=3),
    quick_vocabularies=_MAIN_VOCABULARY,
)
LONG_DOCUMENTS = Workload(
    "long",
    "documents of 1 MB",
    MB,
    (ENGLISH,),
    ("list", "numpy"),
    quick_size=RunSize(warm_up_bytes=MB, test_bytes=3 * MB, rounds=3, processes=1),
    full_size=RunSize(warm_up_bytes=3 * MB, test_bytes=3 * MB, rounds=3, processes=3),
    quick_vocabularies=_MAIN_VOCABULARY,
)
BATCHES = Workload(
    "batch",
    "100 MB in one call",
    4 * KB,
    (ENGLISH,),
    ("batch 1", "batch 2"),
    quick_size=RunSize(warm_up_bytes=MB, test_bytes=4 * MB, rounds=1, processes=2, copy_count=4),
    full_size=RunSize(warm_up_bytes=MB, test_bytes=4 * MB, rounds=1, processes=5, copy_count=25),
    vocabularies=_FAMILY_EXAMPLES,
    quick_vocabularies=_MAIN_VOCABULARY,
)
WORST_CASES = Workload(
    "worst",
    "worst cases, 1 MB",
    MB,
    (ENGLISH, *WORST_TEXTS),
    ("ids",),
    quick_size=RunSize(warm_up_bytes=MB, test_bytes=MB, rounds=1, processes=1),
    full_size=RunSize(warm_up_bytes=MB, test_bytes=3 * MB, rounds=3, processes=1),
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
    quick_size=RunSize(warm_up_bytes=MB, test_bytes=4 * MB, rounds=5, processes=1),
    full_size=RunSize(warm_up_bytes=MB, test_bytes=4 * MB, rounds=5, processes=1),
    in_one_process=True,
    quick_texts=(ENGLISH, CJK),
    vocabularies=_FAMILY_EXAMPLES,
    quick_vocabularies=_MAIN_VOCABULARY,
)
COUNTS_AND_OFFSETS = Workload(
    "beside ids",
    "count and offsets beside ids, 4 KB documents",
    4 * KB,
    TEXTS,
    ("numpy", "count", "offsets"),
    quick_size=RunSize(warm_up_bytes=MB // 4, test_bytes=MB, rounds=5, processes=1),
    full_size=RunSize(warm_up_bytes=MB, test_bytes=3 * MB, rounds=5, processes=1),
    has_second_pass=True,
    in_one_process=True,
    quick_texts=(ENGLISH, CJK),
    quick_vocabularies=_FAMILY_EXAMPLES,
)

WORKLOADS = (DOCUMENTS, COLD_START, SHORT_TEXTS, LONG_DOCUMENTS, BATCHES, WORST_CASES, DECODING, COUNTS_AND_OFFSETS)


@dataclass(frozen=True, slots=True)
class Selection:
    """The cases to run. An empty collection of vocabularies, texts or workloads selects all of them."""

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

    def run_size(self, workload: Workload) -> RunSize:
        return replace(workload.quick_size if self.is_quick else workload.full_size, is_shared=self.is_shared)

    def _cases(self, vocabulary: Vocabulary, workload: Workload) -> list[Case]:
        if not self._includes(vocabulary, workload):
            return []
        preferred_texts = workload.quick_texts if self.is_quick and not self.texts else ()
        texts = tuple(text for text in preferred_texts or workload.texts if not self.texts or text.name in self.texts)
        groups = [texts] if workload.in_one_process else [(text,) for text in texts]
        return [Case(vocabulary, workload, group) for group in groups if group]

    def _includes(self, vocabulary: Vocabulary, workload: Workload) -> bool:
        """Reports whether the workload is run with the vocabulary."""
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
