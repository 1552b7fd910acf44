"""The file formats of a shard: one file per kind, one table naming them."""

from __future__ import annotations

from .arrow import ArrowShardWriter, ParquetShardWriter
from .base import ShardWriter
from .flat import FlatWriter, NpyShardWriter
from .megatron import MegatronWriter
from .output import OutputFile, ShardFile, checksum, checksum_of, force

WRITERS: dict[str, type[ShardWriter]] = {
    writer.kind: writer for writer in (MegatronWriter, FlatWriter, NpyShardWriter, ParquetShardWriter, ArrowShardWriter)
}
"""The kinds of output by name."""

__all__ = ["WRITERS", "OutputFile", "ShardFile", "ShardWriter", "checksum", "checksum_of", "force"]
