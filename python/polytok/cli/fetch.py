"""``polytok fetch``: downloads published vocabularies, for machines without network and for the package tiktoken."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .. import named
from ..errors import ArgumentError
from ..model_names import vocabulary_of_model
from ..suggestions import did_you_mean
from .json_output import add_json_option, print_json
from .options import add_verb_parser

_EXAMPLES = """\
  polytok fetch cl100k_base o200k_base
  polytok fetch gpt-4o --cache-dir vocabularies
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``fetch`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "fetch", "download published vocabularies into a cache", _EXAMPLES)
    parser.add_argument("names", nargs="+", metavar="NAME", help="a vocabulary or a model of `polytok info --names`")
    parser.add_argument(
        "--cache-dir", metavar="DIR", help="the folder for fetched files; by default the one that tiktoken reads"
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Fetches the files of all names, each once. Returns exit code 0."""
    vocabularies = list(dict.fromkeys(map(_vocabulary, arguments.names)))
    folder = Path(arguments.cache_dir) if arguments.cache_dir else named.tiktoken_folder() or named.cache_folder()
    rows = [row for vocabulary in vocabularies for row in _fetch(vocabulary, folder)]
    if arguments.json:
        print_json(rows)
    else:
        for row in rows:
            print(f"{row['name']}: {row['path'] or 'comes with polytok'}{' (was there)' if row['kept'] else ''}")
    return 0


def _vocabulary(name: str) -> str:
    """Returns the vocabulary of a name, which can be that of a model."""
    vocabulary = name if name in ("default", *named.FILES) else vocabulary_of_model(name)
    if vocabulary is None:
        advice = did_you_mean(name, ("default", *named.FILES)) or "; `polytok info --names` lists the names"
        raise ArgumentError(f"no published vocabulary has the name {name!r}{advice}")
    return vocabulary


def _fetch(vocabulary: str, folder: Path) -> list[dict[str, Any]]:
    """Fetches the files of a vocabulary, and returns a row for each."""
    if vocabulary == "default":
        return [{"name": vocabulary, "path": None, "sha256": None, "kept": False}]
    return [
        {
            "name": vocabulary,
            "path": str(folder / file.key),
            "sha256": file.sha256,
            "kept": not named.fetch_for_tiktoken(file, vocabulary, folder),
        }
        for file in named.FILES[vocabulary]
    ]
