"""``polytok corpus``: shows, verifies, merges and exports datasets."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import nullcontext
from typing import Any

from ..corpus import export, merge, verify
from ..corpus.manifest import Counted, Manifest, load, local
from ..corpus.report import Report, table
from ..corpus.write import WRITERS
from ..progress import ProgressBar
from .options import add_plain_verb
from .style import one_line, show

_EXAMPLES = """\
  polytok corpus info tokens                     documents, tokens, what was skipped
  polytok corpus verify tokens                   every byte against the checksums
  polytok corpus merge part1 part2 -o tokens     one dataset of several
  polytok corpus export tokens -o train          train.bin and train.idx for Megatron
  polytok corpus export tokens --flat -o train   train.bin, one stream of ids, and train.offsets
"""


def add_parser(verbs: Any) -> None:
    """Add the verb, with verbs of its own."""
    parser = add_plain_verb(verbs, "corpus", "datasets of tokens: shown, verified, merged, exported", _EXAMPLES)
    inner = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for add in (_add_info, _add_verify, _add_merge, _add_export):
        add(inner)


def _add_info(verbs: Any) -> None:
    parser = add_plain_verb(verbs, "info", "what a dataset holds", "  polytok corpus info tokens --shards\n")
    parser.add_argument("dataset", metavar="DIR")
    parser.add_argument("--shards", action="store_true", help="each shard, too")
    parser.add_argument("--json", action="store_true", help="the manifest, as JSON")
    parser.set_defaults(run=_info)


def _add_verify(verbs: Any) -> None:
    parser = add_plain_verb(
        verbs, "verify", "read everything and say what is damaged", "  polytok corpus verify tokens\n"
    )
    parser.add_argument("dataset", metavar="DIR")
    _add_quiet(parser)
    parser.set_defaults(run=_verify)


def _add_merge(verbs: Any) -> None:
    examples = "  polytok corpus merge part1 part2 -o tokens\n  polytok corpus merge tokens --to parquet -o tables\n"
    parser = add_plain_verb(verbs, "merge", "one dataset of several, or of another kind", examples)
    parser.add_argument("datasets", nargs="+", metavar="DIR")
    parser.add_argument("-o", "--out", required=True, metavar="NEWDIR", help="the folder to make")
    parser.add_argument("--to", choices=WRITERS, metavar="KIND", help=f"write the shards anew: {', '.join(WRITERS)}")
    parser.add_argument("--link", action="store_true", help="hard links instead of copies; nothing is checked then")
    _add_quiet(parser)
    parser.set_defaults(run=_merge)


def _add_export(verbs: Any) -> None:
    examples = "  polytok corpus export tokens -o train\n  polytok corpus export tokens --flat -o train\n"
    parser = add_plain_verb(verbs, "export", "all documents as one file or pair", examples)
    parser.add_argument("dataset", metavar="DIR")
    parser.add_argument("-o", "--out", required=True, metavar="PREFIX", help="the files' name without a suffix")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--to", choices=WRITERS, default="megatron", metavar="KIND", help=f"{', '.join(WRITERS)}; by default megatron"
    )
    kinds.add_argument("--flat", dest="to", action="store_const", const="flat", help="--to flat: for suffix arrays")
    parser.add_argument("--dtype", choices=["uint16", "uint32", "int32"], help="by default that of the dataset")
    _add_quiet(parser)
    parser.set_defaults(run=_export)


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")


def _bar(arguments: argparse.Namespace) -> Any:
    return ProgressBar() if sys.stderr.isatty() and not arguments.quiet else nullcontext()


def _info(arguments: argparse.Namespace) -> int:
    manifest = load(local(arguments.dataset))
    if arguments.json:
        plain = json.loads(manifest.data())
        show(json.dumps(plain if arguments.shards else {**plain, "shards": len(manifest.shards)}, indent=2))
        return 0
    _show_head(manifest)
    inputs: dict[str, Counted] = {}
    for source in manifest.sources:
        inputs[source.name] = inputs.get(source.name, Counted()).plus(source)
    lines = str(Report({one_line(name): counted for name, counted in inputs.items()})).split("\n")
    if arguments.shards:
        lines += ["", *table("shard", {shard.stem: shard for shard in manifest.shards})]
    # The reasons for skipped texts come from the manifest, which anyone could have written.
    show("\n".join(map(one_line, lines)))
    return 0


def _show_head(manifest: Manifest) -> None:
    used, size = manifest.tokenizer, sum(file.bytes for shard in manifest.shards for file in shard.files)
    show(f"kind       {manifest.kind}, {_shards(manifest)}, {size:,} bytes")
    show(f"ids        {manifest.dtype}")
    show(f"tokenizer  {one_line(used.name)}, {used.vocab_size:,} ids, fingerprint {one_line(used.fingerprint)}\n")


def _shards(manifest: Manifest) -> str:
    return f"{len(manifest.shards):,} shard{'s' * (len(manifest.shards) != 1)}"


def _verify(arguments: argparse.Namespace) -> int:
    with _bar(arguments) as progress:
        found = verify(arguments.dataset, progress=progress)
    for damage in found:
        show(f"{one_line(damage.file)}: {one_line(damage.what)}")
    if not found:
        show("whole: all checksums are right, and all ids are of the vocabulary")
    return 1 if found else 0


def _merge(arguments: argparse.Namespace) -> int:
    with _bar(arguments) as progress:
        merged = merge(arguments.datasets, arguments.out, kind=arguments.to, link=arguments.link, progress=progress)
    show(f"{_shards(merged)}, {merged.totals.documents:,} documents, {merged.totals.tokens:,} tokens")
    return 0


def _export(arguments: argparse.Namespace) -> int:
    with _bar(arguments) as progress:
        files = export(arguments.dataset, arguments.out, arguments.to, dtype=arguments.dtype, progress=progress)
    for file in files:
        show(f"{file.bytes}  {one_line(file.name)}")
    return 0
