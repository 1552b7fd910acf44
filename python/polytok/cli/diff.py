"""``polytok diff``: shows the differences between two tokenizers."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from ..differences import (
    Differences,
    EntryDifferences,
    MergeDifferences,
    ModeDifference,
    SpecialTokenDifferences,
    StepDifference,
    compare,
)
from ..errors import ArgumentError
from ..files import distinct_ends
from ..loading import load
from ..merge_list import Merge
from ..visible import visible_text
from ..vocab_table import VocabEntry
from .divergences import describe_divergence, divergence_to_json
from .inputs import add_input_options
from .json_output import add_json_option, print_json
from .options import add_verb_parser, binary_stdout
from .style import escape_line_breaks, piece_to_json, shorten_list
from .texts import requested_texts

_EXAMPLES = """\
  polytok diff tokenizer.json model.gguf
  polytok diff llama.model rwkv_vocab.txt --text "Hello  world" --text "x = 1"
  polytok diff llama.model default --lines texts.txt
  polytok diff tokenizer.json model.gguf --json | jq .steps
"""
_MAX_EXAMPLES = 5
_MAX_STEP_LENGTH = 240
_MODEL_HELP = "a tokenizer: a file, a folder or a name, as for -m in other verbs"

Item = TypeVar("Item")


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``diff`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "diff", "show the differences between two tokenizers", _EXAMPLES)
    parser.add_argument("left", metavar="A", help=_MODEL_HELP)
    parser.add_argument("right", metavar="B", help="another tokenizer")
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compares the tokenizers and prints the differences. Returns exit code 1 if ids differ, else 0."""
    names = arguments.left, arguments.right
    if "-" in names:
        raise ArgumentError("a tokenizer cannot be read from standard input: name its file")
    texts, places = requested_texts(arguments) or (None, [])
    differences = compare(load(names[0]), load(names[1]), texts)
    if arguments.json:
        print_json(_to_json(differences, places))
    else:
        left, right = distinct_ends(names)
        report = "\n".join(_report_lines(differences, left, right, places))
        binary_stdout().write(f"{report}\n".encode(errors="surrogateescape"))
    return int(not differences.same_ids)


# The report


def _report_lines(differences: Differences, left: str, right: str, places: list[str]) -> Iterator[str]:
    names = (escape_line_breaks(left), escape_line_breaks(right))
    yield from _entry_lines(differences.entries, *names)
    if differences.merges is not None:
        yield from _merge_lines(differences.merges, *names)
    yield from _special_lines(differences.special_tokens, *names)
    yield from _step_lines(differences.steps, *names)
    equal_count = differences.compared - len(differences.divergences)
    pieces = f", {differences.same_pieces} the same pieces" if differences.divergences else ""
    yield f"texts: {equal_count} of {differences.compared} have the same ids{pieces}"
    for what, mode in (("add_special", differences.with_template), ("special tokens", differences.with_special)):
        if mode:
            yield f"  with {what}, {mode.differing} of {mode.compared} get other ids, such as {_quoted(mode.text)}:"
            yield from (f"    {name}: {_ids_text(ids)}" for name, ids in zip(names, mode[3:], strict=True))
    yield from shorten_list(
        "\n".join(describe_divergence(divergence, left, right, places)) for divergence in differences.divergences
    )


def _entry_lines(entries: EntryDifferences, left: str, right: str) -> Iterator[str]:
    respelled = f", {entries.respelled:,} of them with U+2581 instead of a space" if entries.respelled else ""
    yield f"entries: {entries.shared:,} in both{respelled}"
    yield from _example_line(f"only in {left}", entries.only_left, _entry_text)
    yield from _example_line(f"only in {right}", entries.only_right, _entry_text)
    yield from _example_line(
        "with other ids", entries.moved, lambda entry: f"{visible_text(entry.piece)} {entry.left_id} → {entry.right_id}"
    )
    yield from _example_line(
        "of other kinds",
        entries.other_kinds,
        lambda entry: f"{visible_text(entry.piece)} {entry.left.name.lower()} → {entry.right.name.lower()}",
    )
    yield from _example_line(
        "with other scores",
        entries.other_scores,
        lambda entry: f"{visible_text(entry.piece)} {entry.left:g} → {entry.right:g}",
    )


def _merge_lines(merges: MergeDifferences, left: str, right: str) -> Iterator[str]:
    order = "" if merges.reordered else ", in the same order"
    yield f"merges: {merges.shared:,} in both{order if merges.shared else ''}"
    yield from _example_line(f"only in {left}", merges.only_left, _merge_text)
    yield from _example_line(f"only in {right}", merges.only_right, _merge_text)
    yield from _example_line(
        "in another place",
        merges.reordered,
        lambda merge: (
            f"{visible_text(merge.left_piece)} {visible_text(merge.right_piece)} {merge.left_rank} → {merge.right_rank}"
        ),
    )


def _special_lines(tokens: SpecialTokenDifferences, left: str, right: str) -> Iterator[str]:
    yield "special tokens: " + ("the same" if tokens.is_empty else "different")
    for name, ids in ((left, tokens.only_left), (right, tokens.only_right)):
        yield from _example_line(f"only in {name}", list(ids.items()), lambda item: f"{_quoted(item[0])} {item[1]}")
    yield from _example_line(
        "with other ids", tokens.moved, lambda token: f"{_quoted(token.text)} {token.left_id} → {token.right_id}"
    )
    yield from _example_line(
        "with other flags",
        tokens.other_flags,
        lambda token: f"{_quoted(token.text)} {'+'.join(token.left) or 'none'} → {'+'.join(token.right) or 'none'}",
    )
    yield from _example_line(
        "with other roles",
        tokens.roles,
        lambda role: f"{role.role} {_id_text(role.left_id)} → {_id_text(role.right_id)}",
    )


def _step_lines(steps: Sequence[StepDifference], left: str, right: str) -> Iterator[str]:
    yield "pipeline: " + ("different steps" if steps else "the same steps")
    width = max(len(left), len(right))
    for step in steps:
        yield f"  {step.stage}"
        for name, words in ((left, step.left), (right, step.right)):
            yield f"    {name:<{width}}  {'(nothing)' if words is None else _shortened(escape_line_breaks(words))}"


def _example_line(what: str, items: Sequence[Item], text_of: Callable[[Item], str]) -> Iterator[str]:
    """Yields a line with the number of items and the first ones, if there are any."""
    if items:
        more = ", ..." if len(items) > _MAX_EXAMPLES else ""
        yield f"  {len(items):,} {what}: {', '.join(map(text_of, items[:_MAX_EXAMPLES]))}{more}"


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_STEP_LENGTH else f"{text[:_MAX_STEP_LENGTH]}... (--json has all)"


def _entry_text(entry: VocabEntry) -> str:
    return f"{visible_text(entry.piece)} {entry.id}"


def _merge_text(merge: Merge) -> str:
    return f"{visible_text(merge.left)} {visible_text(merge.right)}"


def _quoted(text: str | bytes) -> str:
    return visible_text(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))


def _id_text(id: int | None) -> str:
    return "none" if id is None else str(id)


def _ids_text(ids: Sequence[int] | None) -> str:
    return "refuses it" if ids is None else " ".join(map(str, ids)) or "no ids"


# JSON


def _to_json(differences: Differences, places: list[str]) -> dict[str, Any]:
    entries, merges, tokens = differences.entries, differences.merges, differences.special_tokens
    return {
        "same_ids": differences.same_ids,
        "entries": {
            "shared": entries.shared,
            "respelled": entries.respelled,
            "only_left": list(map(_entry_to_json, entries.only_left)),
            "only_right": list(map(_entry_to_json, entries.only_right)),
            "moved": _rows(entries.moved),
            "other_kinds": _rows(entries.other_kinds),
            "other_scores": _rows(entries.other_scores),
        },
        "merges": None if merges is None else _merges_to_json(merges),
        "special_tokens": {
            "only_left": _tokens_to_json(tokens.only_left),
            "only_right": _tokens_to_json(tokens.only_right),
            "moved": _rows(tokens.moved),
            "other_flags": _rows(tokens.other_flags),
            "roles": _rows(tokens.roles),
        },
        "steps": _rows(differences.steps),
        "compared": differences.compared,
        "same_pieces": differences.same_pieces,
        "divergences": [divergence_to_json(divergence, places) for divergence in differences.divergences],
        "with_template": _mode_to_json(differences.with_template),
        "with_special": _mode_to_json(differences.with_special),
    }


def _rows(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Returns named tuples as objects, with pieces and kinds as texts."""
    return [{name: _value_to_json(value) for name, value in row._asdict().items()} for row in rows]


def _value_to_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return piece_to_json(value)
    return value.name.lower() if hasattr(value, "name") else value


def _entry_to_json(entry: VocabEntry) -> dict[str, Any]:
    return {"id": entry.id, "piece": piece_to_json(entry.piece), "kind": entry.kind.name.lower()}


def _merges_to_json(merges: MergeDifferences) -> dict[str, Any]:
    sides = {"only_left": merges.only_left, "only_right": merges.only_right}
    pairs = {
        name: [
            {"rank": merge.rank, "left_piece": piece_to_json(merge.left), "right_piece": piece_to_json(merge.right)}
            for merge in side
        ]
        for name, side in sides.items()
    }
    return {"shared": merges.shared, **pairs, "reordered": _rows(merges.reordered)}


def _tokens_to_json(ids: Any) -> list[dict[str, Any]]:
    return [{"text": text, "id": id} for text, id in ids.items()]


def _mode_to_json(mode: ModeDifference | None) -> dict[str, Any] | None:
    if mode is None:
        return None
    return _rows([mode])[0]
