"""``polytok corpus``: shows, verifies, merges and exports datasets.

The subverbs ``show`` and ``mix`` are in corpus_show.py and corpus_mix.py.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..corpus import export, job_status, merge, verify
from ..corpus.export import export_paths
from ..corpus.manifest import DocumentCounts, Manifest, load, local_path
from ..corpus.report import Report, table
from ..corpus.status import JobStatus, has_unfinished_job
from ..corpus.write import WRITERS
from .continuing import continuing_command
from .corpus_mix import add_mix_parser
from .corpus_show import add_show_parser
from .json_output import add_json_option, print_json
from .options import add_quiet_option, add_verb_parser, shows_progress
from .outputs import add_overwrite_option, refuse_existing
from .style import escape_line_breaks, print_line, shorten_list

_EXAMPLES = """\
  polytok corpus info tokens                     count documents, tokens and skipped texts
  polytok corpus show tokens --sample 5          print documents as text
  polytok corpus verify tokens                   compare every byte with the checksums
  polytok corpus merge part1 part2 -o tokens     join several datasets
  polytok corpus mix web=0.7 books=0.3 -o mixed   mix datasets by weight
  polytok corpus export tokens -o train          train.bin and train.idx for Megatron
  polytok corpus export tokens --to flat -o train   train.bin, one stream of ids, and train.offsets
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``corpus``, which has a parser for each subverb, to ``subparsers``."""
    parser = add_verb_parser(subparsers, "corpus", "show, verify, merge, mix and export datasets of tokens", _EXAMPLES)
    subverb_parsers = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for add_subverb_parser in (
        _add_info_parser,
        add_show_parser,
        _add_verify_parser,
        _add_merge_parser,
        add_mix_parser,
        _add_export_parser,
    ):
        add_subverb_parser(subverb_parsers)


def _add_info_parser(subparsers: Any) -> None:
    summary = "show what a dataset holds, or how much of an unfinished job is done"
    parser = add_verb_parser(subparsers, "info", summary, "  polytok corpus info tokens --shards\n")
    parser.add_argument("dataset", metavar="DIR", help="the folder of a dataset")
    parser.add_argument("--shards", action="store_true", help="list each shard, too")
    add_json_option(parser)
    parser.set_defaults(run=_run_info)


def _add_verify_parser(subparsers: Any) -> None:
    parser = add_verb_parser(
        subparsers, "verify", "read every file of a dataset and list damage", "  polytok corpus verify tokens\n"
    )
    parser.add_argument("dataset", metavar="DIR", help="the folder of a dataset")
    add_json_option(parser)
    add_quiet_option(parser)
    parser.set_defaults(run=_run_verify)


def _add_merge_parser(subparsers: Any) -> None:
    examples = "  polytok corpus merge part1 part2 -o tokens\n  polytok corpus merge tokens --to parquet -o tables\n"
    parser = add_verb_parser(subparsers, "merge", "join datasets, or convert their shards to another format", examples)
    parser.add_argument("datasets", nargs="+", metavar="DIR", help="the folders of datasets")
    parser.add_argument("-o", "--out", required=True, metavar="NEWDIR", help="the folder to create")
    parser.add_argument("--to", choices=list(WRITERS), help="convert the shards to this format")
    parser.add_argument(
        "--link", action="store_true", help="create hard links instead of copies, and check no checksums"
    )
    add_json_option(parser)
    add_quiet_option(parser)
    parser.set_defaults(run=_run_merge)


def _add_export_parser(subparsers: Any) -> None:
    examples = "  polytok corpus export tokens -o train\n  polytok corpus export tokens --to flat -o train\n"
    parser = add_verb_parser(subparsers, "export", "write all documents to one file and its index", examples)
    parser.add_argument("dataset", metavar="DIR", help="the folder of a dataset")
    parser.add_argument(
        "-o", "--out", required=True, metavar="PREFIX", help="the name of the new files without a suffix"
    )
    parser.add_argument(
        "--to", choices=list(WRITERS), default="megatron", help="the format of the files; by default megatron"
    )
    parser.add_argument(
        "--dtype", choices=["uint16", "uint32", "int32"], help="by default the type of the dataset's ids"
    )
    add_overwrite_option(parser)
    add_json_option(parser)
    add_quiet_option(parser)
    parser.set_defaults(run=_run_export)


def _run_info(arguments: argparse.Namespace) -> int:
    folder = local_path(arguments.dataset)
    if has_unfinished_job(folder):
        _print_status(job_status(folder), folder, arguments.json)
        return 0
    manifest = load(folder)
    if arguments.json:
        manifest_json = json.loads(manifest.data())
        print_json(manifest_json if arguments.shards else {**manifest_json, "shards": len(manifest.shards)})
        return 0
    _print_heading(manifest)
    inputs: dict[str, DocumentCounts] = {}
    for source in manifest.sources:
        inputs[source.name] = inputs.get(source.name, DocumentCounts()).plus(source)
    lines = str(Report({escape_line_breaks(name): counts for name, counts in inputs.items()})).split("\n")
    if arguments.shards:
        lines += ["", *table("shard", {shard.stem: shard for shard in manifest.shards})]
    # The manifest's reasons for skipped texts can contain control characters.
    print_line("\n".join(map(escape_line_breaks, lines)))
    return 0


def _print_status(status: JobStatus, folder: Path, is_json: bool) -> None:
    command = continuing_command(status.plan, folder)
    if is_json:
        print_json({"finished": False, **status.to_json(), "continue": command})
        return
    print_line(f"{'running' if status.running else 'unfinished'} job: no dataset yet")
    print_line(f"tasks      {status.tasks_done:,} of {status.tasks:,} done")
    if status.input_bytes:
        print_line(f"input      {status.input_bytes_done:,} of {status.input_bytes:,} bytes in these tasks")
    counts = [_count_text(status.documents, "document"), _count_text(status.tokens, "token")]
    print_line(f"so far     {', '.join(counts)}, {_count_text(status.text_bytes, 'byte')} of text")
    if not status.running:
        print_line(f"continue   {escape_line_breaks(command)}")


def _print_heading(manifest: Manifest) -> None:
    tokenizer, byte_count = manifest.tokenizer, sum(file.bytes for shard in manifest.shards for file in shard.files)
    name, fingerprint = escape_line_breaks(tokenizer.name), escape_line_breaks(tokenizer.fingerprint)
    table = ", with a documents table" if manifest.documents else ""
    print_line(f"kind       {manifest.kind}, {_count_text(len(manifest.shards), 'shard')}, {byte_count:,} bytes{table}")
    reason = " (Megatron's format has no uint32)" if manifest.dtype == "int32" and manifest.kind == "megatron" else ""
    print_line(f"ids        {manifest.dtype}{reason}")
    print_line(f"tokenizer  {name}, {tokenizer.vocab_size:,} ids, fingerprint {fingerprint}\n")


def _count_text(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _run_verify(arguments: argparse.Namespace) -> int:
    all_damage = verify(arguments.dataset, progress=shows_progress(arguments))
    if arguments.json:
        print_json([damage._asdict() for damage in all_damage])
        return 1 if all_damage else 0
    for line in shorten_list(f"{escape_line_breaks(file)}: {escape_line_breaks(what)}" for file, what in all_damage):
        print_line(line)
    if not all_damage:
        print_line("no damage: all checksums match, and all ids are in the vocabulary")
    return 1 if all_damage else 0


def _run_merge(arguments: argparse.Namespace) -> int:
    manifest = merge(
        arguments.datasets, arguments.out, to=arguments.to, link=arguments.link, progress=shows_progress(arguments)
    )
    if arguments.json:
        print_json({"kind": manifest.kind, "shards": len(manifest.shards), "totals": asdict(manifest.totals)})
        return 0
    counts = {"shard": len(manifest.shards), "document": manifest.totals.documents, "token": manifest.totals.tokens}
    print_line(", ".join(_count_text(number, noun) for noun, number in counts.items()))
    return 0


def _run_export(arguments: argparse.Namespace) -> int:
    for path in export_paths(arguments.out, arguments.to):
        refuse_existing(arguments, path)
    files = export(
        arguments.dataset, arguments.out, to=arguments.to, dtype=arguments.dtype, progress=shows_progress(arguments)
    )
    if arguments.json:
        print_json([file._asdict() for file in files])
        return 0
    for file in files:
        print_line(f"{file.bytes}  {escape_line_breaks(file.name)}")
    return 0
