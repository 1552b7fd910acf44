"""Does one task: reads and encodes the documents of its parts, and writes a shard and a record of the shard.

    documents ──▶ ids ──▶ limits, bos and eos ──▶ shuffle ──▶ shard ──▶ record

A job that shuffles all documents has two kinds of tasks; see shuffle_all.py.

The result depends only on the description of the task. Each step processes some documents at a time, so that memory
does not grow with the shard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import EncodeError, FormatError, SpecialTokenError
from ..keywords import keyword, mark_engine_keywords, marked_message
from ..loading import load
from ..reading import Documents
from ..reading.tables import require_pyarrow
from ..tokenizer import Tokenizer
from .documents import documents, schema_of
from .journal import TOKENIZER_NAME, Journal, task_file_stem
from .manifest import DocumentCounts
from .options import DocumentOptions
from .origin import add_origin, origin_schema
from .plan import Part
from .report import MAX_EXAMPLES
from .rows import LimitedRows, Rows, join_small_portions, limit_rows
from .run.base import ProgressFunction, TaskFunction
from .shuffle import shuffle_rows
from .shuffle_all import read_shard, runs_name, write_runs
from .sources import Source
from .storage import Storage, open_storage
from .write import WRITERS, ShardFile, ShardWriter

if TYPE_CHECKING:
    from ..arrow import pyarrow


def prepare(setup: dict[str, Any]) -> TaskFunction:
    """Returns the function that does the tasks of a job.

    ``setup`` has the job's identity, storage and options, the tokenizer's fingerprint, and the threads of each task.
    """
    job_storage = open_storage(setup["storage"])
    options = DocumentOptions.from_json(setup["options"])
    tokenizer = _load_tokenizer(job_storage, setup["fingerprint"])
    # All shards have the columns of one input, even shards without documents.
    source = setup["columns_source"]
    columns = None if source is None else schema_of(Source(**source), options.input_options, options.columns)
    table_schema = origin_schema(columns) if options.documents else columns

    def do_task(description: dict[str, Any], report_progress: ProgressFunction) -> dict[str, Any]:
        if "shard" in description:
            return _ShuffledShardTask(setup["job"], job_storage, options, table_schema, description).run()
        return _TokenizeTask(
            setup["job"],
            job_storage,
            options,
            tokenizer,
            columns,
            table_schema,
            setup["threads"],
            description,
            report_progress,
        ).run()

    return do_task


def _load_tokenizer(job_storage: Storage, fingerprint: str) -> Tokenizer:
    """Loads the tokenizer file in the job's storage. Raises `FormatError` if the tokenizer has another fingerprint than
    the job."""
    with job_storage.local_copy(TOKENIZER_NAME) as path:
        tokenizer = load(path)
    if tokenizer.fingerprint != fingerprint:
        raise FormatError(
            f"{job_storage.name}/{TOKENIZER_NAME} is not the tokenizer that the job began with: begin the job again "
            f"with {keyword('overwrite', True)}"
        )
    return tokenizer


def create_shard_writer(
    options: DocumentOptions, folder: Path, stem: str, table_schema: pyarrow.Schema | None
) -> ShardWriter:
    """Returns the writer of a shard for a job with these options."""
    dtype = np.dtype(options.dtype)
    return WRITERS[options.to](folder, stem, dtype, table_schema, has_documents_table=options.documents)


def write_shard(portions: Iterable[Rows], writer: ShardWriter) -> tuple[ShardFile, ...]:
    """Writes documents and returns the files."""
    for rows in portions:
        writer.write(*rows)
    # The job forces all shards to the disk before it writes its manifest. If the machine fails earlier, the checksums
    # show which shards are complete.
    return writer.finish(is_forced=False)


@dataclass(slots=True)
class _ShuffledShardTask:
    """A task of the second pass of a job that shuffles all documents; see shuffle_all.py."""

    job: str
    storage: Storage
    options: DocumentOptions
    table_schema: pyarrow.Schema | None
    description: dict[str, Any]

    def run(self) -> dict[str, Any]:
        stem = task_file_stem(self.description["shard"])
        with (
            self.storage.output_folder() as folder,
            create_shard_writer(self.options, folder, stem, self.table_schema) as writer,
        ):
            files = write_shard(self._read_documents(), writer)
        record = {
            "number": self.description["number"],
            "shard": {"documents": writer.documents, "tokens": writer.tokens},
            "files": [file._asdict() for file in files],
            "examples": [],
            "damage": [],
            "sources": {},
        }
        Journal(self.storage).write_record(self.job, record)
        return record

    def _read_documents(self) -> Iterator[Rows]:
        shard, shards = self.description["shard"], self.description["shards"]
        names = (runs_name(task_file_stem(number)) for number in range(self.description["first_pass_tasks"]))
        return read_shard(map(self.storage.open, names), np.dtype(self.options.dtype), shard, shards)


@dataclass(slots=True)
class _TokenizeTask:
    job: str
    storage: Storage
    options: DocumentOptions
    tokenizer: Tokenizer
    columns: pyarrow.Schema | None
    table_schema: pyarrow.Schema | None
    threads: int
    description: dict[str, Any]
    report_progress: ProgressFunction
    total: DocumentCounts = field(default_factory=DocumentCounts)
    counts: dict[int, DocumentCounts] = field(default_factory=dict)
    examples: list[tuple[str, str]] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)

    @property
    def number(self) -> int:
        return int(self.description["number"])

    def run(self) -> dict[str, Any]:
        with self.storage.output_folder() as folder:
            files = self._write_runs(folder) if self.options.shuffle == "all" else self._write_shard(folder)
        record = self._record(files)
        Journal(self.storage).write_record(self.job, record)
        return record

    def _write_runs(self, folder: Path) -> tuple[ShardFile, ...]:
        path = folder / runs_name(task_file_stem(self.number))
        dtype, shards = np.dtype(self.options.dtype), self.description["shards"]
        return write_runs(self._limited_rows_of_parts(), path, dtype, self.options.seed, self.number, shards)

    def _write_shard(self, folder: Path) -> tuple[ShardFile, ...]:
        options = self.options
        portions = join_small_portions(self._limited_rows_of_parts())
        shuffled_portions = shuffle_rows(portions, options.shuffle_window, options.seed, self.number)
        with create_shard_writer(options, folder, task_file_stem(self.number), self.table_schema) as writer:
            return write_shard(shuffled_portions, writer)

    def _limited_rows_of_parts(self) -> Iterator[Rows]:
        """Yields the documents of all parts in order, encoded and limited, and counts them."""
        sources = {int(number): Source(**source) for number, source in self.description["sources"].items()}
        for part in (Part(**part) for part in self.description["parts"]):
            source, options = sources[part.source], self.options
            for block in documents(part, source, options.input_options, options.columns, needs_field=True):
                block = self._with_columns(block)
                limited_rows = limit_rows(self._encode(block, source.name), options)
                self._add_counts(part.source, block, limited_rows)
                if len(block):
                    self._check_columns(block)
                    yield limited_rows.rows

    def _with_columns(self, block: Documents) -> Documents:
        """Returns documents of a text file, which have no columns, with a null in each column."""
        if self.columns is None or block.columns is not None or not len(block):
            return block
        arrow = require_pyarrow()
        nulls = [arrow.nulls(len(block), field.type) for field in self.columns]
        return replace(block, columns=arrow.table(nulls, schema=self.columns))

    def _check_columns(self, block: Documents) -> None:
        if self.columns is not None and block.columns.schema != self.columns:
            block_columns, first_columns = (
                ", ".join(f"{field.name}: {field.type}" for field in schema)
                for schema in (block.columns.schema, self.columns)
            )
            raise FormatError(
                f"{block.place(0)}: the columns are {block_columns}, but other inputs have {first_columns}: tokenize "
                "these inputs to different folders"
            )

    def _encode(self, block: Documents, source_name: str) -> Rows:
        options, (bos, eos) = self.options, self.options.ids
        try:
            batch = self.tokenizer._encode_texts(
                block.texts, options.encoding, begin=bos, end=eos, threads=self.threads
            )
        except (EncodeError, SpecialTokenError) as error:
            raise self._error_with_place(block) or error from error
        if self.options.documents and len(block):
            return Rows(batch.ids, batch.offsets, add_origin(block, source_name, self.table_schema))
        return Rows(batch.ids, batch.offsets, block.columns)

    def _error_with_place(self, block: Documents) -> Exception | None:
        """Returns the error for the first document that cannot be encoded, with the place of the document."""
        for row in range(len(block)):
            try:
                self.tokenizer.count(block.texts[row], options=self.options.encoding)
            except (EncodeError, SpecialTokenError) as error:
                mark_engine_keywords(error, "special", "reject_special")
                return type(error)(f"{block.place(row)}: {marked_message(error)}")
        return None

    def _add_counts(self, source: int, block: Documents, limited_rows: LimitedRows) -> None:
        skipped_counts = Counter(text.reason for text in block.skipped)
        changed_counts = Counter({"not UTF-8, replaced": block.replaced})
        (skipped_counts if self.options.long_documents == "skip" else changed_counts)[self._long_document_reason] += (
            limited_rows.long_count
        )
        skipped_counts[f"fewer than {self.options.min_tokens} tokens"] += limited_rows.short_count
        counts = DocumentCounts(
            len(limited_rows.rows.offsets) - 1,
            limited_rows.rows.tokens,
            block.texts.nbytes,
            +skipped_counts,
            +changed_counts,
            int(block.damage is not None),
        )
        self.total = self.total.plus(counts)
        self.counts[source] = self.counts.get(source, DocumentCounts()).plus(counts)
        if block.damage is not None and len(self.damage) < MAX_EXAMPLES:
            self.damage.append(block.damage)
        for text in block.skipped[: MAX_EXAMPLES - len(self.examples)]:
            self.examples.append((f"{text.place} ({text.detail})" if text.detail else text.place, text.reason))
        self.report_progress(self.total.documents, self.total.tokens, self.total.text_bytes)

    @property
    def _long_document_reason(self) -> str:
        action_texts = {"truncate": ", cut off", "split": ", split", "skip": ""}
        return f"more than {self.options.max_tokens} tokens{action_texts[self.options.long_documents]}"

    def _record(self, files: tuple[ShardFile, ...]) -> dict[str, Any]:
        return {
            "number": self.number,
            **asdict(self.total),
            "files": [file._asdict() for file in files],
            "examples": self.examples,
            "damage": self.damage,
            "sources": {str(number): asdict(counts) for number, counts in sorted(self.counts.items())},
        }
