"""``polytok stats``: measures vocabularies side by side, on groups of texts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..files import distinct_ends
from ..statistics import Stats, matplotlib_plots, svg
from ..statistics.measure import group_names, measure
from ..statistics.plots import DotPlot, LinePlot, plots_of
from ..statistics.tables import tables_of, terminal_lines
from ..values import Text
from .inputs import add_reading_options, input_names
from .json_output import add_json_option, print_json
from .models import add_model_options, load_tokenizers, refuse_texts_as_tokenizers
from .options import add_encoding_options, add_verb_parser, binary_stdout, encode_options
from .outputs import NewFile, add_overwrite_option, check_outputs, save_files
from .style import escape_line_breaks
from .texts import labelled_texts, labels_of_files, texts_of_files

_EXAMPLES = """\
  polytok stats llama.model tokenizer.json --on corpus/*.txt   a group for each file
  polytok stats llama.model tokenizer.json --on corpus --html report.html
  polytok stats llama.model --on corpus.jsonl --by meta.language --markdown
  polytok stats llama.model --on english.txt french.txt --lines --aligned   the same content in several languages
  polytok stats llama.model rwkv_vocab.txt   the vocabularies themselves
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``stats`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "stats", "measure vocabularies side by side, on groups of texts", _EXAMPLES)
    parser.add_argument("model", nargs="*", metavar="MODEL", help="tokenizers, as for -m")
    add_model_options(parser, has_several=True)
    parser.add_argument(
        "--on",
        nargs="+",
        action="extend",
        default=[],
        metavar="INPUT",
        help="the texts; each file, and each folder, is a group, such as a language; INPUT as in `polytok count`",
    )
    add_reading_options(parser, ["error", "replace", "skip", "keep"], "by default keep", has_text=True)
    parser.add_argument(
        "--by",
        default="input",
        metavar="input|file|folder|FIELD",
        help="what a group is: an input (the default), a file, a folder, or the texts with one value of a field",
    )
    parser.add_argument(
        "--aligned",
        action="store_true",
        help="the groups have the same content in several languages, text by text: compare their tokens",
    )
    parser.add_argument(
        "--baseline", metavar="GROUP", help="aligned groups are compared with GROUP; by default with the first one"
    )
    form_group = parser.add_mutually_exclusive_group()
    add_json_option(form_group)
    form_group.add_argument("--markdown", action="store_true", help="print tables of Markdown")
    parser.add_argument("--html", metavar="FILE", help="write a page with tables and plots, which loads nothing")
    parser.add_argument("--plots", metavar="DIR", help="write each plot to a folder")
    parser.add_argument(
        "--plots-format",
        choices=["svg", "png", "pdf"],
        default="svg",
        help="the format of --plots; png and pdf need pip install 'polytok[plots]'",
    )
    add_overwrite_option(parser)
    add_encoding_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measures the vocabularies and prints tables. Returns exit code 0."""
    refuse_texts_as_tokenizers(arguments.model)
    arguments.models, arguments.model = [*arguments.model, *arguments.models], None
    arguments.inputs = arguments.on
    check_outputs(arguments, [arguments.html])
    tokenizers = dict(load_tokenizers(arguments))  # a tokenizer that is named twice is measured once
    names = distinct_ends(list(tokenizers))
    stats = measure(
        dict(zip(names, tokenizers.values(), strict=True)),
        _batches(arguments),
        aligned=arguments.aligned,
        baseline=arguments.baseline,
        options=encode_options(arguments),
    )
    save_files(arguments, list(_files(arguments, stats)))
    if arguments.json:
        print_json(stats.to_json())
    else:
        lines = map(escape_line_breaks, terminal_lines(tables_of(stats)))
        text = stats.to_markdown() if arguments.markdown else "\n".join(lines)
        binary_stdout().write(f"{text.rstrip()}\n".encode(errors="surrogateescape"))
    return 0


def _batches(arguments: argparse.Namespace) -> Iterator[tuple[str, Sequence[Text]]]:
    """Yields the texts in batches with the short names of their groups; nothing if no texts are named."""
    if not arguments.text and not input_names(arguments):
        return
    if arguments.by not in ("input", "file", "folder"):
        yield from ((label, texts) for label, texts, _ in labelled_texts(arguments, arguments.by))
        return
    label_of_file = labels_of_files(arguments, arguments.by)
    labels = list(dict.fromkeys(label_of_file.values()))
    name_of_label = dict(zip(labels, group_names(labels), strict=True))
    for name, texts in texts_of_files(arguments, label_of_file):
        yield name_of_label[label_of_file[name]] if name in label_of_file else name, texts


def _files(arguments: argparse.Namespace, stats: Stats) -> Iterator[NewFile]:
    if arguments.html is not None:
        yield NewFile(Path(arguments.html), stats.to_html().encode(errors="surrogateescape"), {})
    if arguments.plots is not None:
        for plot in plots_of(stats):
            yield NewFile(Path(arguments.plots, f"{plot.name}.{arguments.plots_format}"), _drawn(plot, arguments), {})


def _drawn(plot: DotPlot | LinePlot, arguments: argparse.Namespace) -> bytes:
    if arguments.plots_format == "svg":
        return svg.draw(plot, has_style=True).encode(errors="surrogateescape")
    return matplotlib_plots.draw(plot, arguments.plots_format)
