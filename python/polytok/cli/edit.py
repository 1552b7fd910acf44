"""``polytok edit``: removes and adds entries of a vocabulary."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import editing, lists
from ..conversion import beside, write
from ..conversion.base import first_items
from ..editing.edit import Edit, Removal, edit
from ..editing.proof import Proof
from ..errors import ArgumentError
from ..reach import Usage
from ..spec import Spec
from ..tokenizer import Tokenizer
from ..utf8 import text_or_bytes
from .inputs import add_input_options, input_names
from .json_output import add_json_option, print_json
from .models import (
    add_model_argument,
    add_model_options,
    load_tokenizer,
    model_name,
    positional_arguments,
    refuse_second_model,
)
from .options import add_verb_parser, binary_stdout
from .outputs import NewFile, add_output_options, check_outputs, chosen_format, save_files
from .parsers import parse_count
from .style import escape_line_breaks, piece_to_json, shorten_list
from .texts import named_texts
from .usage import advice_lines, usage_to_json

_EXAMPLES = """\
  polytok edit rwkv_vocab.txt -o faces.txt --add-emoji --add-kaomoji --make-room chat.txt
  polytok edit rwkv_vocab.txt -o ja.txt --remove-english --remove-code --add-japanese 8000 novels.txt
  polytok edit rwkv_vocab.txt -o own.txt --remove unwanted.txt --add mine.txt --ids compact --id-map map.json
  polytok edit llama.model -o ja.model --add mine.txt --pad-to-multiple 64 --id-map map.npz --prove novels.txt
  polytok edit tokenizer.json -o small.json --keep-script Latin --ids compact --id-map map.json
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``edit`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "edit", "remove and add entries of a vocabulary", _EXAMPLES)
    add_model_argument(parser)
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    add_model_options(parser)
    add_output_options(parser, is_required=True)
    _add_removal_options(
        parser.add_argument_group("entries to remove (never those without which a byte or character would be unknown)")
    )
    _add_addition_options(parser.add_argument_group("entries to add"))
    parser.add_argument(
        "--ids",
        choices=["reuse", "compact"],
        default="reuse",
        help="reuse: remaining entries keep their ids, added entries get free ids; compact: all entries get new ids",
    )
    parser.add_argument(
        "--pad-to-multiple",
        type=parse_count,
        default=1,
        metavar="N",
        help="add reserved entries, which are never in a text, until the number of ids is a multiple of N",
    )
    parser.add_argument(
        "--id-map", metavar="FILE", help="write the new id of each entry, as JSON, or as arrays if FILE ends with .npz"
    )
    parser.add_argument(
        "--prove",
        action="append",
        default=[],
        metavar="INPUT",
        help="compare both vocabularies on texts: which have other tokens, and how many tokens (can be repeated)",
    )
    add_json_option(parser)
    parser.add_argument("--dry-run", action="store_true", help="report the changes, but write nothing")
    parser.set_defaults(run=run)


def _add_removal_options(group: Any) -> None:
    group.add_argument(
        "--remove", action="append", default=[], metavar="FILE", help="the entries listed in FILE, one a line"
    )
    group.add_argument("--remove-entry", action="append", default=[], metavar="TEXT", help="the entry TEXT")
    group.add_argument(
        "--remove-regex", action="append", default=[], metavar="REGEX", help="entries that match a Python regex"
    )
    group.add_argument(
        "--remove-script", action="append", default=[], metavar="NAME", help="entries of a script, for example Latin"
    )
    group.add_argument(
        "--keep-script",
        action="append",
        default=[],
        metavar="NAME",
        help="entries with letters of other scripts than NAME; with several NAMEs, of scripts that none of them is",
    )
    group.add_argument("--remove-english", action="store_true", help="words of ASCII letters")
    group.add_argument("--remove-code", action="store_true", help="entries typical of program code")
    group.add_argument(
        "--remove-least-used", "--least-used", type=parse_count, metavar="N", help="the N entries rarest in the inputs"
    )
    group.add_argument(
        "--unused-in",
        action="append",
        default=[],
        metavar="INPUT",
        help="the entries that the texts of INPUT never use (can be repeated)",
    )
    group.add_argument(
        "--needed",
        choices=["refuse", "keep", "remove"],
        help="entries to remove that merges of other entries need: an error, keep them, or remove the others too; by "
        "default an error for those that are listed, and kept for all others",
    )
    group.add_argument(
        "--make-room",
        action="store_true",
        help="the entries rarest in the inputs, as many as the entries to add need ids; ids have 16 bits, so RWKV's "
        "own vocabulary has 6 free ids",
    )


def _add_addition_options(group: Any) -> None:
    group.add_argument(
        "--add", action="append", default=[], metavar="FILE", help="the entries listed in FILE, one a line"
    )
    group.add_argument("--add-entry", action="append", default=[], metavar="TEXT", help="the entry TEXT")
    group.add_argument(
        "--add-special-tokens",
        action="append",
        default=[],
        metavar="TEXT",
        help="the special token TEXT (can be repeated)",
    )
    group.add_argument(
        "--add-symbols",
        action="append",
        default=[],
        metavar="FILE",
        help="the entries listed in FILE, which are not parts of words, and the variants with a space before them that "
        "they need to be used after a space; emoji and kaomoji get these variants too",
    )
    group.add_argument(
        "--add-emoji",
        nargs="?",
        const="all",
        choices=["all", "basic"],
        help="the emoji of Unicode; basic: without skin tones",
    )
    group.add_argument("--add-kaomoji", action="store_true", help="a hundred faces drawn with characters")
    group.add_argument(
        "--add-japanese",
        type=parse_count,
        metavar="N",
        help="the N most frequent Japanese words of 2 or 3 characters in the inputs",
    )


def run(arguments: argparse.Namespace) -> int:
    """Edits the vocabulary, writes the result and prints a report. Returns exit code 0."""
    refuse_second_model(arguments)
    arguments.inputs = positional_arguments(arguments, "inputs")
    _check_inputs(arguments)
    target = Path(arguments.out)
    if not arguments.dry_run:
        check_outputs(arguments, [target, arguments.id_map])
    tokenizer = load_tokenizer(arguments)
    result = edit(
        tokenizer,
        remove=_requested_removals(arguments, tokenizer),
        add=_requested_additions(arguments),
        add_symbols=_requested_symbols(arguments),
        add_special_tokens=arguments.add_special_tokens,
        needed=arguments.needed,
        make_room=_texts(arguments) if arguments.make_room else None,
        ids=arguments.ids,
        pad_to_multiple=arguments.pad_to_multiple,
    )
    proof = result.prove(_texts_of(arguments, arguments.prove)) if arguments.prove else None
    format = chosen_format(arguments, target, tokenizer.spec.origin.format)
    written_file = beside(write(result.tokenizer.spec, format), target, format)
    if not arguments.dry_run:
        files = [NewFile(target, written_file.data, written_file.companions)]
        if arguments.id_map is not None:
            files.append(NewFile(Path(arguments.id_map), _id_map(result, arguments.id_map), {}))
        save_files(arguments, files)
    if arguments.json:
        facts = {"path": str(target), "format": format, "written": not arguments.dry_run, "summary": result.summary}
        usage = list(map(usage_to_json, result.usage))
        changes = changes_to_json(result)
        kept = changes.pop("kept")
        moved = {old_id: id for old_id, id in kept.items() if int(old_id) != id}
        proof_value = None if proof is None else _proof_to_json(proof)
        losses = list(written_file.losses)
        print_json({**facts, "moved": moved, **changes, "usage": usage, "proof": proof_value, "losses": losses})
        return 0
    heading = f"{model_name(arguments)} to {target}" + (": not written" if arguments.dry_run else "")
    report = "\n".join(
        [
            heading,
            result.summary,
            *_entry_lines(result),
            *_usage_lines(tokenizer.spec, result.usage),
            *([] if proof is None else str(proof).splitlines()),
            *(f"lost: {loss}" for loss in shorten_list(written_file.losses)),
        ]
    )
    binary_stdout().write(f"{report}\n".encode(errors="surrogateescape"))
    return 0


def _id_map(result: Edit, name: str) -> bytes:
    """Returns the map of ids as a file: arrays for a name that ends with ``.npz``, else JSON."""
    if not name.endswith(".npz"):
        return f"{json.dumps(changes_to_json(result), ensure_ascii=False)}\n".encode()
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, **result.id_arrays())  # type: ignore[arg-type, unused-ignore]
    return buffer.getvalue()


def _entry_lines(result: Edit) -> Iterator[str]:
    """Yields what the summary only counts: intermediate entries, selected entries that stay, new special tokens."""
    for pieces, text in (
        (result.intermediates, "added because merges need them"),
        (result.needed, "not removed because merges need them"),
    ):
        if pieces:
            yield escape_line_breaks(f"{text}: {first_items(map(text_or_bytes, pieces))}")
    for special_text, id in result.special_tokens.items():
        yield escape_line_breaks(f"the special token {special_text} has the id {id}")


def _check_inputs(arguments: argparse.Namespace) -> None:
    """Raises `ArgumentError` if texts are missing, or if no option uses the texts."""
    needs_texts = arguments.make_room or (arguments.remove_least_used, arguments.add_japanese) != (None, None)
    if needs_texts != bool(arguments.text or input_names(arguments)):
        raise ArgumentError(
            "--make-room, --remove-least-used and --add-japanese need texts to count in, and no other option uses "
            "texts: add or remove inputs"
        )


def _usage_lines(spec: Spec, usage_in_contexts: Sequence[Usage]) -> Iterator[str]:
    """Yields a line for each context in which some of the entries to add are not one token, else a single line."""
    if not usage_in_contexts[0].examined:
        return
    incomplete_usage = [usage for usage in usage_in_contexts if usage.unused]
    if not incomplete_usage:
        yield "each entry to add is one token at the start of a text, after a letter, a space and a line feed"
    yield from (escape_line_breaks(str(usage)) for usage in incomplete_usage)
    yield from advice_lines(spec, incomplete_usage)


def changes_to_json(result: Edit) -> dict[str, Any]:
    """Returns the changes of ids as a JSON value: entries that were kept, removed, added or already present."""
    return {
        "kept": {str(old_id): new_id for old_id, new_id in result.kept.items()},
        "removed": {str(old_id): piece_to_json(piece) for old_id, piece in result.removed.items()},
        "added": [
            {"id": entry.id, "piece": piece_to_json(entry.piece), "was": list(entry.was)} for entry in result.added
        ],
        "present": [piece_to_json(piece) for piece in result.present],
        "replaced": {str(old_id): list(ids) for old_id, ids in result.replaced.items()},
        "intermediates": list(map(piece_to_json, result.intermediates)),
        "needed": list(map(piece_to_json, result.needed)),
        "special_tokens": dict(result.special_tokens),
        "reserved": list(result.reserved),
        "size": result.tokenizer.vocab_size,
    }


def _proof_to_json(proof: Proof) -> dict[str, Any]:
    """Returns the comparison on texts as a JSON value."""
    names = [name for name in Proof.__match_args__ if name != "examples"]
    values: dict[str, Any] = {name: getattr(proof, name) for name in names}
    examples = [
        {
            "index": example.index,
            "text": piece_to_json(example.text.encode() if isinstance(example.text, str) else bytes(example.text)),
            "before": list(map(piece_to_json, example.before)),
            "after": list(map(piece_to_json, example.after)),
        }
        for example in proof.examples
    ]
    numbers = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {**numbers, "examples": examples}


def _requested_removals(arguments: argparse.Namespace, tokenizer: Tokenizer) -> Iterator[Removal]:
    yield from map(Path, arguments.remove)
    yield from (_argument_as_bytes(text) for text in arguments.remove_entry)
    yield from map(editing.matching, arguments.remove_regex)
    yield from map(editing.script, arguments.remove_script)
    if arguments.remove_english:
        yield editing.ENGLISH
    if arguments.remove_code:
        yield editing.CODE
    if arguments.keep_script:
        yield editing.other_scripts(*arguments.keep_script)
    if arguments.remove_least_used is not None:
        yield editing.among(editing.least_used(tokenizer, _texts(arguments), arguments.remove_least_used))
    if arguments.unused_in:
        yield editing.among(editing.unused(tokenizer, _texts_of(arguments, arguments.unused_in)))


def _requested_additions(arguments: argparse.Namespace) -> Iterator[lists.Entry]:
    yield from map(Path, arguments.add)
    yield from (_argument_as_bytes(text) for text in arguments.add_entry)
    if arguments.add_japanese is not None:
        yield from (word for word, _ in editing.japanese_words(_texts(arguments), arguments.add_japanese))


def _requested_symbols(arguments: argparse.Namespace) -> Iterator[lists.Entry]:
    yield from map(Path, arguments.add_symbols)
    if arguments.add_emoji:
        yield from lists.emoji(arguments.add_emoji)
    if arguments.add_kaomoji:
        yield from lists.kaomoji()


def _texts(arguments: argparse.Namespace) -> Iterator[bytes]:
    """Yields the texts to count in. A text file that is a single text is yielded in lines, to limit memory."""
    is_whole_file = not arguments.lines and arguments.separator is None
    arguments.lines = arguments.lines or is_whole_file
    line_end = b"\n" if is_whole_file else b""
    return (text + line_end for _, batch in named_texts(arguments) for text in batch)


def _texts_of(arguments: argparse.Namespace, names: list[str]) -> Iterator[bytes]:
    """Yields the texts of other inputs, read with the same options."""
    return _texts(argparse.Namespace(**{**vars(arguments), "inputs": names, "text": [], "files_from": None}))


def _argument_as_bytes(text: str) -> bytes:
    """Returns the bytes of a command-line argument, even if the bytes are not UTF-8."""
    return text.encode(errors="surrogateescape")
