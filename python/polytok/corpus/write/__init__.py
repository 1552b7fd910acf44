"""The writers of shards: each format has its own file, and this file has the table of the writers."""

from __future__ import annotations

from .arrow import ArrowShardWriter, ParquetShardWriter
from .base import ShardWriter
from .documents_table import DOCUMENTS_SUFFIX
from .flat import FlatWriter, NpyShardWriter
from .megatron import MegatronWriter
from .output import OutputFile, ShardFile, checksum, checksum_of, force

WRITERS: dict[str, type[ShardWriter]] = {
    writer.kind: writer for writer in (MegatronWriter, FlatWriter, NpyShardWriter, ParquetShardWriter, ArrowShardWriter)
}
"""The classes of shard writers, by the name of their format."""

RUNS_SUFFIX = ".runs"
"""The suffix of temporary files of a job that shuffles all documents; see shuffle_all.py."""

__all__ = [
    "DOCUMENTS_SUFFIX",
    "RUNS_SUFFIX",
    "WRITERS",
    "OutputFile",
    "ShardFile",
    "ShardWriter",
    "checksum",
    "checksum_of",
    "force",
]
