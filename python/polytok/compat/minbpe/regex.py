"""minbpe.regex: merges within the matches of a pattern, and special tokens."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from .base import Tokenizer, get_stats, merge

__all__ = [
    "GPT2_SPLIT_PATTERN",
    "GPT4_SPLIT_PATTERN",
    "RegexTokenizer",
    "Tokenizer",
    "get_stats",
    "merge",
]

GPT2_SPLIT_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT4_SPLIT_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)

# Escapes and sets have no groups; "(" begins a capturing group, except before "?" without a name.
_GROUP = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<group>\((?!\?)|\(\?P?<(?![=!]))", re.DOTALL)


class RegexTokenizer(Tokenizer):
    """minbpe.RegexTokenizer.

    As in minbpe, `load` reads the pattern of a file to ``pattern``, but texts are split by the pattern that the
    tokenizer was created with.
    """

    def __init__(self, pattern: str | None = None) -> None:
        super().__init__()
        self.pattern = GPT4_SPLIT_PATTERN if pattern is None else pattern
        self._split_pattern = self.pattern
        if any(match["group"] for match in _GROUP.finditer(self.pattern)):
            raise ValueError(
                "the pattern has a capturing group, of which minbpe would encode only the group's text: write (?:...)"
            )
        self.special_tokens = {}
        self.inverse_special_tokens: dict[int, str] = {}
        self._engine(self._split_pattern)

    @property
    def compiled_pattern(self) -> Any:
        """The pattern that splits texts, compiled by the package regex."""
        import regex

        return regex.compile(self._split_pattern)

    @compiled_pattern.setter
    def compiled_pattern(self, compiled: Any) -> None:
        self._split_pattern = compiled.pattern

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Learns ``vocab_size - 256`` merges. Raises ValueError if the text has fewer pairs."""
        self._learn(text, vocab_size, verbose, self._split_pattern)

    def register_special_tokens(self, special_tokens: dict[str, int]) -> None:
        """Sets the special tokens and their ids."""
        self.special_tokens = special_tokens
        self.inverse_special_tokens = {idx: text for text, idx in special_tokens.items()}

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids. Raises ValueError for an unknown id."""
        vocab, special = self.vocab, self.inverse_special_tokens
        parts: list[bytes] = []
        for idx in ids:
            if (piece := vocab.get(idx)) is not None:
                parts.append(piece)
            elif idx in special:
                parts.append(special[idx].encode("utf-8"))
            else:
                raise ValueError(f"invalid token id: {idx}")
        return b"".join(parts).decode("utf-8", errors="replace")

    def encode_ordinary(self, text: str) -> list[int]:
        """Returns the ids of a text in which no special token is recognised."""
        return self._encode_plain(text, self._split_pattern)

    def encode(self, text: str, allowed_special: str | Collection[str] = "none_raise") -> list[int]:
        """Returns the ids of a text.

        ``allowed_special`` is ``"all"``, ``"none"``, a set of special tokens, or ``"none_raise"``, with which a special
        token in the text is an AssertionError.
        """
        special: dict[str, int] = {}
        if isinstance(allowed_special, set):
            special = {token: idx for token, idx in self.special_tokens.items() if token in allowed_special}
        elif allowed_special == "all":
            special = self.special_tokens
        elif allowed_special == "none_raise":
            for token in self.special_tokens:
                if token in text:
                    raise AssertionError(f"the text contains the special token {token!r}: see allowed_special")
        elif allowed_special != "none":
            raise ValueError(f"allowed_special={allowed_special} not understood")
        if not special:
            return self.encode_ordinary(text)
        ids: list[int] = []
        for part in re.split("(" + "|".join(map(re.escape, special)) + ")", text):
            if part in special:
                ids.append(special[part])
            else:
                ids += self.encode_ordinary(part)
        return ids
