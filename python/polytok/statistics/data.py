"""The figures of vocabularies and of texts: `Stats`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .scripts import UNICODE, UNSPACED

SCHEMA = 1
"""The version of the fields of `Stats.to_json`."""


@dataclass(frozen=True, slots=True)
class TextGroup:
    """The texts of a group, such as those of a language.

    ``characters`` counts the characters of UTF-8, and ``words`` what white space separates. ``scripts`` has the number
    of letters and marks of each script, the most frequent first.
    """

    name: str
    texts: int
    bytes: int
    characters: int
    words: int
    scripts: Mapping[str, int]

    @property
    def has_spaced_words(self) -> bool:
        """True unless most letters belong to scripts that are written without spaces, such as Han and Thai."""
        unspaced = sum(count for script, count in self.scripts.items() if script in UNSPACED)
        return unspaced * 2 <= sum(self.scripts.values())


@dataclass(frozen=True, slots=True)
class TokenStats:
    """The tokens of a group of texts by one tokenizer.

    * ``bytes_per_token``, ``characters_per_token``: None for a group without tokens.
    * ``tokens_per_word``: None also for texts in scripts that are written without spaces between words.
    * ``parity``: the number of tokens as a multiple of that of the baseline; None unless the groups are aligned.
    * ``unknown_tokens``, ``unknown_bytes``: the tokens for unknown text, and the bytes of this text.
    * ``fallback_tokens``, ``fallback_bytes``: the tokens that are byte pieces or parts of characters, and their bytes.
    * ``used_entries``: the number of different ids.
    * ``scripts``: the number of tokens by script.
    """

    name: str
    tokens: int
    bytes_per_token: float | None
    characters_per_token: float | None
    tokens_per_word: float | None
    parity: float | None
    unknown_tokens: int
    unknown_bytes: int
    fallback_tokens: int
    fallback_bytes: int
    used_entries: int
    scripts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ModelStats:
    """A vocabulary, and the tokens of all groups by it.

    * ``entries``: the number of entries, special tokens included; ``special`` the number of special tokens.
    * ``duplicates``: entries with the text of an earlier entry. ``unreachable``: entries that the model provably never
      produces (the finding ``unreachable-entry`` of the doctor). ``never_used``: entries that no text uses, without
      special tokens; None without texts.
    * ``kinds``: the number of entries of each kind. ``scripts``: the number of entries by script.
    * ``lengths``: the number of entries by the number of their bytes, from 0 on; ``token_lengths`` that of tokens.
      Special and unknown tokens stand for no bytes.
    * ``zipf``: pairs of a rank and the number of tokens of the entry with this rank: 1, 2, 3, ..., then fewer and fewer
      ranks, and the last one.
    * ``groups``: the tokens of each group; ``total``: those of all groups together, without parity; its
      ``tokens_per_word`` is that of the groups that have one.
    """

    name: str
    entries: int
    special: int
    duplicates: int
    unreachable: int
    never_used: int | None
    kinds: Mapping[str, int]
    scripts: Mapping[str, int]
    lengths: tuple[int, ...]
    token_lengths: tuple[int, ...]
    zipf: tuple[tuple[int, int], ...]
    groups: tuple[TokenStats, ...]
    total: TokenStats


@dataclass(frozen=True, slots=True)
class Stats:
    """The figures of vocabularies side by side, on groups of texts: the result of `polytok.stats`.

    ``baseline`` is the name of the group whose tokens are 1 in `TokenStats.parity`; None unless the groups are aligned.
    ``unicode`` is the Unicode version of the scripts.
    """

    models: tuple[ModelStats, ...]
    groups: tuple[TextGroup, ...]
    baseline: str | None = None
    unicode: str = UNICODE

    def to_json(self) -> dict[str, Any]:
        """Returns all figures as a JSON value, with the version of its fields as ``schema``.

        Mappings from names, such as those of scripts, are lists of objects with ``name`` and ``count``.
        """
        return {"schema": SCHEMA, **_json_value(asdict(self))}

    def to_markdown(self) -> str:
        """Returns the figures as tables of Markdown."""
        from .tables import markdown, tables_of

        return markdown(tables_of(self))

    def to_html(self) -> str:
        """Returns a self-contained HTML page with plots and tables, which loads nothing."""
        from .report import html_report

        return html_report(self)


_COUNTS = frozenset({"kinds", "scripts"})


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: (_counts if name in _COUNTS else _json_value)(item) for name, item in value.items()}
    return list(map(_json_value, value)) if isinstance(value, list | tuple) else value


def _counts(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "count": count} for name, count in counts.items()]
