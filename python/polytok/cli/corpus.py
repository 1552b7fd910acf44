"""``polytok corpus``: shows, verifies, merges and exports datasets."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import nullcontext
from typing import Any

from ..corpus import export, merge, verify
from ..corpus.manifest import DocumentCounts, Manifest, load, local_path
from ..corpus.report import Report, table
from ..corpus.write import WRITERS
from ..progress import ProgressBar
from .options import add_plain_verb
from .style import one_line, show

_EXAMPLES = """\
  polytok corpus info tokens                     count documents, tokens and skipped texts
  polytok corpus verify tokens                   compare every byte with the checksums
  polytok corpus merge part1 part2 -o tokens     join several datasets
  polytok corpus export tokens -o train          train.bin and train.idx for Megatron
  polytok corpus export tokens --flat -o train   train.bin, one stream of ids, and train.offsets
"""


def add_parser(verbs: Any) -> None:
    """Adds the parser of ``corpus``, which has four subverbs, to ``verbs``."""
    parser = add_plain_verb(verbs, "corpus", "show, verify, merge and export datasets of tokens", _EXAMPLES)
    subverbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for add_subverb in (_add_info, _add_verify, _add_merge, _add_export):
        add_subverb(subverbs)


def _add_info(verbs: Any) -> None:
    parser = add_plain_verb(verbs, "info", "show what a dataset holds", "  polytok corpus info tokens --shards\n")
    parser.add_argument("dataset", metavar="DIR")
    parser.add_argument("--shards", action="store_true", help="list each shard, too")
    parser.add_argument("--json", action="store_true", help="print the manifest as JSON")
    parser.set_defaults(run=_info)


def _add_verify(verbs: Any) -> None:
    parser = add_plain_verb(
        verbs, "verify", "read every file of a dataset and list damage", "  polytok corpus verify tokens\n"
    )
    parser.add_argument("dataset", metavar="DIR")
    _add_quiet(parser)
    parser.set_defaults(run=_verify)


def _add_merge(verbs: Any) -> None:
    examples = "  polytok corpus merge part1 part2 -o tokens\n  polytok corpus merge tokens --to parquet -o tables\n"
    parser = add_plain_verb(verbs, "merge", "join datasets, or convert their shards to another kind", examples)
    parser.add_argument("datasets", nargs="+", metavar="DIR")
    parser.add_argument("-o", "--out", required=True, metavar="NEWDIR", help="the folder to create")
    parser.add_argument("--to", choices=WRITERS, metavar="KIND", help=f"convert the shards to {', '.join(WRITERS)}")
    parser.add_argument(
        "--link", action="store_true", help="create hard links instead of copies, and check no checksums"
    )
    _add_quiet(parser)
    parser.set_defaults(run=_merge)


def _add_export(verbs: Any) -> None:
    examples = "  polytok corpus export tokens -o train\n  polytok corpus export tokens --flat -o train\n"
    parser = add_plain_verb(verbs, "export", "write all documents to one file and its index", examples)
    parser.add_argument("dataset", metavar="DIR")
    parser.add_argument(
        "-o", "--out", required=True, metavar="PREFIX", help="the name of the new files without a suffix"
    )
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--to", choices=WRITERS, default="megatron", metavar="KIND", help=f"{', '.join(WRITERS)}; by default megatron"
    )
    kinds.add_argument(
        "--flat", dest="to", action="store_const", const="flat", help="the same as --to flat, for suffix arrays"
    )
    parser.add_argument(
        "--dtype", choices=["uint16", "uint32", "int32"], help="by default the type of the dataset's ids"
    )
    _add_quiet(parser)
    parser.set_defaults(run=_export)


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress bar")


def _progress_bar(arguments: argparse.Namespace) -> Any:
    return ProgressBar() if sys.stderr.isatty() and not arguments.quiet else nullcontext()


def _info(arguments: argparse.Namespace) -> int:
    manifest = load(local_path(arguments.dataset))
    if arguments.json:
        record = json.loads(manifest.data())
        show(json.dumps(record if arguments.shards else {**record, "shards": len(manifest.shards)}, indent=2))
        return 0
    _show_head(manifest)
    inputs: dict[str, DocumentCounts] = {}
    for source in manifest.sources:
        inputs[source.name] = inputs.get(source.name, DocumentCounts()).plus(source)
    lines = str(Report({one_line(name): counts for name, counts in inputs.items()})).split("\n")
    if arguments.shards:
        lines += ["", *table("shard", {shard.stem: shard for shard in manifest.shards})]
    # The manifest's reasons for skipped texts can contain control characters.
    show("\n".join(map(one_line, lines)))
    return 0


def _show_head(manifest: Manifest) -> None:
    tokenizer, byte_count = manifest.tokenizer, sum(file.bytes for shard in manifest.shards for file in shard.files)
    name, fingerprint = one_line(tokenizer.name), one_line(tokenizer.fingerprint)
    show(f"kind       {manifest.kind}, {_shard_count(manifest)}, {byte_count:,} bytes")
    show(f"ids        {manifest.dtype}")
    show(f"tokenizer  {name}, {tokenizer.vocab_size:,} ids, fingerprint {fingerprint}\n")


def _shard_count(manifest: Manifest) -> str:
    return f"{len(manifest.shards):,} shard{'s' * (len(manifest.shards) != 1)}"


def _verify(arguments: argparse.Namespace) -> int:
    with _progress_bar(arguments) as progress:
        all_damage = verify(arguments.dataset, progress=progress)
    for damage in all_damage:
        show(f"{one_line(damage.file)}: {one_line(damage.what)}")
    if not all_damage:
        show("no damage: all checksums match, and all ids are in the vocabulary")
    return 1 if all_damage else 0


def _merge(arguments: argparse.Namespace) -> int:
    with _progress_bar(arguments) as progress:
        manifest = merge(arguments.datasets, arguments.out, kind=arguments.to, link=arguments.link, progress=progress)
    show(f"{_shard_count(manifest)}, {manifest.totals.documents:,} documents, {manifest.totals.tokens:,} tokens")
    return 0


def _export(arguments: argparse.Namespace) -> int:
    with _progress_bar(arguments) as progress:
        files = export(arguments.dataset, arguments.out, arguments.to, dtype=arguments.dtype, progress=progress)
    for file in files:
        show(f"{file.bytes}  {one_line(file.name)}")
    return 0
