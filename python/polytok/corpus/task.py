"""One task: reads and encodes some documents and writes them as a shard. It is a pure function of its description.

    documents ──▶ ids ──▶ limits, bos and eos ──▶ shuffled ──▶ shard ──▶ record

Each step passes on some documents at a time, so that memory does not grow with the shard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import EncodeError, FormatError, SpecialTokenError
from ..loading import load
from ..reading import Documents
from ..tokenizer import Tokenizer
from .documents import documents, schema_of
from .journal import TOKENIZER, Journal, stem
from .manifest import Counted
from .options import DocumentOptions
from .plan import Part
from .report import EXAMPLES
from .rows import Limited, Rows, gathered, limited
from .run.base import DoTask, Tell
from .shuffle import shuffled
from .sources import Source
from .storage import Storage, storage
from .write import WRITERS, ShardFile

if TYPE_CHECKING:
    import pyarrow


def prepare(setup: dict[str, Any]) -> DoTask:
    """Does the tasks of a job. ``setup`` has the job's identity, output, options, and the threads per task."""
    place = storage(setup["storage"])
    options = DocumentOptions.from_json(setup["options"])
    tokenizer = _tokenizer(place, setup["fingerprint"])
    # All shards have the columns of the first input, even shards without a document.
    columns = schema_of(Source(**setup["first"]), options.reading, options.columns) if options.columns else None

    def do_task(description: dict[str, Any], tell: Tell) -> dict[str, Any]:
        return _Task(setup["job"], place, options, tokenizer, columns, setup["threads"], description, tell).run()

    return do_task


def _tokenizer(place: Storage, fingerprint: str) -> Tokenizer:
    """The job's own tokenizer, mapped if it is in a folder."""
    with place.fetched(TOKENIZER) as path:
        tokenizer = load(path)
    if tokenizer.fingerprint != fingerprint:
        raise FormatError(f"{place.name}/{TOKENIZER} is another tokenizer than the job began with: begin it again")
    return tokenizer


@dataclass(slots=True)
class _Task:
    job: str
    storage: Storage
    options: DocumentOptions
    tokenizer: Tokenizer
    columns: pyarrow.Schema | None
    threads: int
    description: dict[str, Any]
    tell: Tell
    total: Counted = field(default_factory=Counted)
    counts: dict[int, Counted] = field(default_factory=dict)
    examples: list[tuple[str, str]] = field(default_factory=list)

    @property
    def number(self) -> int:
        return int(self.description["number"])

    def run(self) -> dict[str, Any]:
        with self.storage.filled() as folder:
            files = self._write(folder)
        record = self._record(files)
        Journal(self.storage).note(self.job, record)
        return record

    def _write(self, folder: Path) -> tuple[ShardFile, ...]:
        options = self.options
        make = WRITERS[options.output]
        with make(folder, stem(self.number), np.dtype(options.dtype), self.columns) as writer:
            for rows in shuffled(gathered(self._rows()), options.shuffle, options.seed, self.number):
                writer.write(*rows)
            # The job forces all shards to the disk before it reports that it is done. If the machine fails earlier,
            # their checksums show which are complete.
            return writer.finish(forced=False)

    def _rows(self) -> Iterator[Rows]:
        """The documents of all parts as they are written, in order; counts them on the way."""
        sources = {int(number): Source(**source) for number, source in self.description["sources"].items()}
        for part in (Part(**part) for part in self.description["parts"]):
            for found in documents(part, sources[part.source], self.options.reading, self.options.columns):
                kept = limited(self._encoded(found), self.options)
                self._count(part.source, found, kept)
                if len(found):
                    self._check_columns(found)
                    yield kept.rows

    def _check_columns(self, found: Documents) -> None:
        if self.columns is not None and found.columns.schema != self.columns:
            here, first = (
                ", ".join(f"{field.name}: {field.type}" for field in schema)
                for schema in (found.columns.schema, self.columns)
            )
            raise FormatError(
                f"{found.place(0)}: its columns are {here}, and those of the first input {first}: tokenize them apart"
            )

    def _encoded(self, found: Documents) -> Rows:
        options, (bos, eos) = self.options, self.options.ids
        try:
            batch = self.tokenizer._encode_texts(
                found.texts, options.encoding, begin=bos, end=eos, threads=self.threads
            )
        except (EncodeError, SpecialTokenError) as error:
            raise self._at_fault(found) or error from error
        return Rows(batch.ids, batch.offsets, found.columns)

    def _at_fault(self, found: Documents) -> Exception | None:
        """The error for the first document that cannot be encoded, with its place."""
        for row in range(len(found)):
            try:
                self.tokenizer.count(found.texts[row], options=self.options.encoding)
            except (EncodeError, SpecialTokenError) as error:
                return type(error)(f"{found.place(row)}: {error}")
        return None

    def _count(self, source: int, found: Documents, kept: Limited) -> None:
        skipped = Counter(left.reason for left in found.left)
        changed = Counter({"no UTF-8, replaced": found.replaced})
        (skipped if self.options.long == "skip" else changed)[self._long] += kept.long
        skipped[f"fewer than {self.options.min_tokens} tokens"] += kept.short
        counted = Counted(len(kept.rows.offsets) - 1, kept.rows.tokens, found.texts.nbytes, +skipped, +changed)
        self.total = self.total.plus(counted)
        self.counts[source] = self.counts.get(source, Counted()).plus(counted)
        for left in found.left[: EXAMPLES - len(self.examples)]:
            self.examples.append((f"{left.place} ({left.detail})" if left.detail else left.place, left.reason))
        self.tell(self.total.documents, self.total.tokens, self.total.text_bytes)

    @property
    def _long(self) -> str:
        done = {"truncate": ", cut off", "split": ", split", "skip": ""}
        return f"more than {self.options.max_tokens} tokens{done[self.options.long]}"

    def _record(self, files: tuple[ShardFile, ...]) -> dict[str, Any]:
        return {
            "number": self.number,
            **asdict(self.total),
            "files": [file._asdict() for file in files],
            "examples": self.examples,
            "sources": {str(number): asdict(counted) for number, counted in sorted(self.counts.items())},
        }
