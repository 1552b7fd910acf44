"""Edits a vocabulary of any family: removes and adds entries, and reports the old and new ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import chain
from operator import itemgetter

from ..checked import checked
from ..checks import iterable, number, one_of
from ..checks import texts as check_texts
from ..errors import ArgumentError, PieceError
from ..keywords import keyword
from ..lists import Entry, collect_entries
from ..loading import AnyTokenizer, as_tokenizer
from ..reach import needed_variants, usages, words_of
from ..records import replace
from ..spec import Longest, Spec
from ..tokenizer import Tokenizer
from ..utf8 import is_utf8
from ..values import Text
from .assembly import assembled
from .families import Family, family_of
from .longest import edit_longest
from .numbering import IdPlan, NewTexts, Numbering
from .numbering import number as number_entries
from .request import NeededPlan, Removal, Request, checked_removals, selected_among
from .result import Added, Edit
from .rows import Rows, shown_entry

__all__ = ["Added", "Edit", "IdPlan", "NeededPlan", "Removal", "edit"]


@checked(
    make_room=lambda name, value: iterable(name, value, "texts"),
    pad_to_multiple=lambda name, value: number(name, value, least=1, most=2**20),
    needed=lambda name, value: one_of(name, value, ("refuse", "keep", "remove")),
)
def edit(
    tokenizer: AnyTokenizer,
    *,
    remove: Iterable[Removal] = (),
    add: Entry | Iterable[Entry] = (),
    add_symbols: Entry | Iterable[Entry] = (),
    add_special_tokens: Iterable[str] = (),
    needed: NeededPlan | None = None,
    make_room: Iterable[Text] | None = None,
    ids: IdPlan = "reuse",
    pad_to_multiple: int = 1,
) -> Edit:
    """Removes entries from a vocabulary of any family and adds entries.

    ``tokenizer`` is a `polytok.Tokenizer`, or what `polytok.load` accepts. ``remove`` lists entries (texts or bytes),
    paths of files that list entries, and selectors such as those in `polytok.editing`: ``ENGLISH``, ``CODE``,
    ``script("Latin")``, ``other_scripts("Latin")``, ``matching(r"^[0-9]+$")``. Special tokens, unknown and byte pieces
    stay, and so do the entries without which a byte or character would be unknown. ``add`` lists entries and paths of
    files that list entries. An entry that is both removed and added stays.

    A new entry of BPE gets merges after all others, and the intermediate entries that these need; a new entry of
    Unigram gets a score with which it is taken over its old segmentation. Merges of entries that stay can need an entry
    to remove. ``needed`` says what happens to it: ``"refuse"`` is an error, ``"keep"`` keeps it, and ``"remove"``
    removes the entries that need it, too. By default, such entries that ``remove`` lists are an error, and those that a
    selector selects are kept.

    ``add_symbols`` lists entries that are not parts of words, such as emoji and kaomoji. If such an entry would not be
    used after a space, because another token such as `` (`` is taken there, the variant with a space before it is added
    too. The same holds for a line feed. ``add_special_tokens`` lists texts of new special tokens.

    With ``ids="reuse"``, each remaining entry keeps its id, and added entries get the lowest free ids, which are ids
    that were removed, reserved or never used; where ids order the merges, those after all other entries. With
    ``ids="compact"``, all entries get new ids: those of longest match from 1 on in the order of RWKV World, by length
    and then by bytes, while special tokens keep their ids; all others in their order, and new entries at the end. If
    a format has no gaps in its ids, reserved entries fill them. Reserved entries are never in a text. They also pad the
    vocabulary to a multiple of ``pad_to_multiple`` ids.

    Ids of longest match have 16 bits, so at most 65,535 ids are possible besides id 0. If the added entries need more
    ids than are free, ``make_room``, which is texts, removes the entries that occur least often in the texts, as many
    as necessary.

    Raises `ArgumentError` for an edit that the model or the format of the file cannot express, with the reason and what
    to do; `PieceError` if an entry to remove is missing.

    >>> import polytok
    >>> old = polytok.train(["to be or not to be"], kind="longest-match", vocab_size=259, min_count=2)
    >>> result = polytok.edit(old, remove=[" be"], add=["not"])
    >>> result.added
    (Added(piece=b'not', id=258, was=(111, 112, 117)),)
    >>> result.summary
    '1 entry removed, 1 added, 0 ids changed: ids up to 258'
    >>> result = polytok.edit("default", add=["tokenizer"])
    >>> [(entry.piece, entry.id) for entry in result.added]
    [(b'tokenizer', 32768)]
    """
    tokenizer = as_tokenizer(tokenizer)
    if ids not in ("reuse", "compact"):
        raise ArgumentError(f'unknown {keyword("ids", ids)}: choose "reuse" or "compact"')
    request = Request(
        removals=checked_removals(remove),
        words=collect_entries(add),
        symbols=collect_entries(add_symbols),
        special=_special_texts(add_special_tokens),
        needed=needed,
        plan=ids,
        multiple=pad_to_multiple,
    )
    if isinstance(tokenizer.spec.model, Longest):
        return edit_longest(tokenizer, request, make_room)
    if make_room is not None:
        raise ArgumentError(
            f"{keyword('make_room')} is for vocabularies whose ids have 16 bits, and this one has no limit: remove "
            "entries with editing.least_used(tokenizer, texts, count), which is --least-used"
        )
    return _edit_family(tokenizer, request)


def _special_texts(add_special_tokens: Iterable[str]) -> list[str]:
    """Returns the texts of special tokens to add, without duplicates."""
    special = check_texts("add_special_tokens", add_special_tokens, "special tokens")
    return list(dict.fromkeys(text.decode() if isinstance(text, bytes) else text for text in special))


def _edit_family(tokenizer: Tokenizer, request: Request) -> Edit:
    """Edits a vocabulary of any model except longest match."""
    edited, family = _edited(tokenizer, request, ())
    requested = list(map(family.piece_of, (*request.words, *request.symbols)))
    symbol_texts = [family.text_of(family.piece_of(entry)) for entry in request.symbols]
    if variants := needed_variants(edited.tokenizer, symbol_texts):
        edited, _ = _edited(tokenizer, request, collect_entries(variants))
        # A split pattern can prevent that a variant is used.
        if useless_variants := variants & needed_variants(edited.tokenizer, symbol_texts):
            edited, _ = _edited(tokenizer, request, collect_entries(variants - useless_variants))
    _check_reserved(edited, family.rows)
    texts = [family.text_of(piece) for piece in requested if family.is_word(piece)]
    words = words_of(texts) - set(symbol_texts)
    return replace(edited, usage=usages(edited.tokenizer, collect_entries(texts), words=words))


def _edited(tokenizer: Tokenizer, request: Request, variants: Sequence[bytes]) -> tuple[Edit, Family]:
    """Returns the edited vocabulary, without the report of usage, and its family."""
    spec, special = _with_named_special_tokens(tokenizer.spec, request.special)
    rows = Rows(spec)
    rows.renamed_special_tokens = spec is not tokenizer.spec and spec.special != tokenizer.spec.special
    family = family_of(rows)
    requested = list(dict.fromkeys(map(family.piece_of, (*request.words, *request.symbols, *variants))))
    removed_ids, needed_ids = _removed_ids(rows, family, request, requested)
    new_special = _new_special_texts(rows, special)
    family.begin(removed_ids)
    _add_entries(rows, family, requested, removed_ids)
    new = NewTexts(list(family.new_entries), new_special, request.multiple)
    numbering = number_entries(rows, removed_ids, new, request.plan)
    new_spec = assembled(rows, family, numbering)
    edited = _result(tokenizer, family, numbering, new_spec)
    piece_of_id = {row.id: row.piece for row in rows.rows}
    requested_set = set(requested)
    return replace(
        edited,
        present=tuple(piece for piece in requested if piece in rows.all_ids),
        intermediates=tuple(piece for piece in numbering.pieces if piece not in requested_set),
        needed=tuple(piece_of_id[id] for id in sorted(needed_ids)),
    ), family


def _result(tokenizer: Tokenizer, family: Family, numbering: Numbering, new_spec: Spec) -> Edit:
    """Returns the edited vocabulary with the map of ids."""
    spec = family.spec
    removed = {row.id: row.piece for row in sorted(family.rows.rows, key=itemgetter(1)) if row.id not in numbering.kept}
    was = family.spell(spec, list(numbering.pieces))
    old_texts = {token.text for token in tokenizer.spec.special}
    named_tokens = (token for token in spec.special if token.text not in old_texts)
    return Edit(
        tokenizer=Tokenizer(new_spec),
        kept=numbering.kept,
        removed=removed,
        added=(
            *(Added(piece, id, old_ids) for (piece, id), old_ids in zip(numbering.pieces.items(), was, strict=True)),
            *(Added(text.encode(), id, ()) for text, id in numbering.special.items()),
        ),
        present=(),
        source=tokenizer,
        replaced=dict(zip(removed, family.spell(new_spec, list(removed.values())), strict=True)),
        special_tokens={**{token.text: numbering.kept[token.id] for token in named_tokens}, **numbering.special},
        reserved=tuple(numbering.reserved),
    )


# Removal


def _removed_ids(rows: Rows, family: Family, request: Request, requested: Sequence[bytes]) -> tuple[set[int], set[int]]:
    """Returns the ids to remove, and those of selected entries that stay because merges need them."""
    listed: set[int] = set()
    selected: set[int] = set()
    kept = {rows.entries[piece] for piece in requested if piece in rows.entries}
    for removal in request.removals:
        if callable(removal):
            candidates = [piece for piece in rows.entries if not family.covers_a_character(piece)]
            texts = [family.text_of(piece) for piece in candidates]
            selected |= {rows.entries[piece] for piece in selected_among(candidates, texts, removal)}
        else:
            listed |= {_id_to_remove(rows, family, entry) for entry in collect_entries([removal])}
    removed_ids = (listed | selected) - kept
    needed_ids: set[int] = set()
    while lost := family.lost_entries(removed_ids):
        if request.needed == "remove":
            if refused := set(lost) & (rows.fixed_ids | kept):
                raise _needed_error(rows, {id: lost[id] for id in refused})
            removed_ids |= set(lost)
            continue
        parts = set(chain.from_iterable(lost.values()))
        refused = listed & parts if request.needed is None else parts if request.needed == "refuse" else set()
        if refused:
            raise _needed_error(rows, {id: needs for id, needs in lost.items() if needs & refused})
        needed_ids |= parts & removed_ids
        removed_ids -= parts
    return removed_ids, needed_ids


def _id_to_remove(rows: Rows, family: Family, entry: bytes) -> int:
    piece = entry if entry in rows.all_ids else family.piece_of(entry)
    if piece not in rows.all_ids:
        raise PieceError(f"cannot remove {shown_entry(entry)}: it is not an entry of the vocabulary")
    if piece not in rows.entries:
        raise ArgumentError(
            f"cannot remove {shown_entry(entry)}: special tokens, unknown and byte pieces stay; only ordinary entries "
            "can be removed"
        )
    if family.covers_a_character(piece):
        raise ArgumentError(
            f"cannot remove {shown_entry(entry)}: texts with this byte or character could not be encoded without it; "
            "leave it out of the list"
        )
    return rows.entries[piece]


def _needed_error(rows: Rows, lost: dict[int, set[int]]) -> ArgumentError:
    """Returns the error for entries that cannot be removed because merges of entries that stay need them."""
    piece_of_id = {row.id: row.piece for row in rows.rows}
    id, needs = min(lost.items())
    part = shown_entry(piece_of_id[min(needs)]) if needs else "an entry"
    others = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    return ArgumentError(
        f"cannot remove {part}: the merges that build {shown_entry(piece_of_id[id])}{others} need it, and these "
        f"entries stay; remove them too ({keyword('needed', 'remove')}), or leave what they need in the vocabulary "
        f"({keyword('needed', 'keep')})"
    )


# Addition


def _add_entries(rows: Rows, family: Family, requested: Iterable[bytes], removed_ids: Set[int]) -> None:
    for piece in requested:
        if rows.all_ids.get(piece, -1) in rows.fixed_ids:
            raise ArgumentError(
                f"cannot add {shown_entry(piece)}: it is a special token or byte piece of the vocabulary, which cannot "
                "be an ordinary entry too; leave it out"
            )
        if piece not in rows.all_ids:
            family.check(piece)
        family.add(piece)


def _with_named_special_tokens(spec: Spec, special: Sequence[str]) -> tuple[Spec, list[str]]:
    """Gives new special tokens of tekken the ids of unnamed ones, because such a file numbers them first.

    Returns the special tokens that still need an id.
    """
    if spec.origin.format != "tekken":
        return spec, list(special)
    known_texts = {token.text for token in spec.special}
    remaining = [text for text in special if text not in known_texts]
    unnamed = [token for token in spec.special if token.text == f"<SPECIAL_{token.id}>"]
    text_of_id = {token.id: text for token, text in zip(unnamed, remaining, strict=False)}
    tokens = tuple(replace(token, text=text_of_id.get(token.id, token.text)) for token in spec.special)
    return replace(spec, special=tokens), remaining[len(text_of_id) :]


def _new_special_texts(rows: Rows, special: Sequence[str]) -> list[str]:
    """Returns the special tokens that the vocabulary lacks; raises `ArgumentError` for those it cannot contain."""
    known_texts = {token.text for token in rows.spec.special}
    known_texts |= {row.piece.decode(errors="replace") for row in rows.rows if row.id in rows.fixed_ids}
    new_texts = [text for text in special if text not in known_texts]
    for text in new_texts:
        if not text:
            raise ArgumentError(f"{keyword('add_special_tokens')}: a special token cannot be empty")
        if text.encode() in rows.all_ids:
            raise ArgumentError(
                f"cannot add the special token {text!r}: it is already an ordinary entry; choose another text, or "
                "remove the entry in an edit before"
            )
    if new_texts and rows.layout.format == "llama2c":
        raise ArgumentError("llama2.c has no special tokens besides its own: convert the file to another format first")
    return new_texts


def _check_reserved(edited: Edit, rows: Rows) -> None:
    """Raises `ArgumentError` if a text is encoded to a reserved entry."""
    reserved_ids = set(edited.reserved)
    texts = [rows.layout.reserved_piece(id) for id in edited.reserved]
    for text in texts:
        if not is_utf8(text):
            return  # not a text
        if reserved_ids.intersection(edited.tokenizer.encode(text)):
            raise ArgumentError(f"the vocabulary encodes the text {text.decode()!r} of a reserved entry to its id")
