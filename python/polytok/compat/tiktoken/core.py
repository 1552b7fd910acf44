"""tiktoken.core: the class ``Encoding``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ...errors import SpecialTokenError, TokenIdError
from ...options import Options
from . import _tiktoken

if TYPE_CHECKING:
    import re

    import numpy as np
    import numpy.typing as npt

    from ..._core import ResolvedOptions

__all__ = ["Encoding", "raise_disallowed_special_token"]

_NONE: frozenset[str] = frozenset()
_REJECT_ALL = Options(reject_special=True)


class Encoding:
    """tiktoken.Encoding: a vocabulary with its pattern and special tokens."""

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        self.name = name
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        self.max_token_value = max(max(mergeable_ranks.values()), max(special_tokens.values(), default=0))
        if explicit_n_vocab:
            assert len(mergeable_ranks) + len(special_tokens) == explicit_n_vocab
            assert self.max_token_value == explicit_n_vocab - 1
        self._special_token_values = set(special_tokens.values())
        self._core_bpe = _tiktoken.CoreBPE(mergeable_ranks, special_tokens, pat_str)
        self._engine = self._core_bpe._tokenizer
        # The methods of polytok.Tokenizer resolve options, which takes as long as encoding or decoding a few tokens.
        core = self._engine._core
        self._encode = core.encode
        self._encode_array = core.encode_array
        self._decode = core.decode
        self._decode_bytes = core.decode_bytes
        self._reject_all = self._engine._resolve_options(_REJECT_ALL, {})

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Encodes a text without special tokens."""
        if text.__class__ is not str:
            _check_text(text)
        return self._encode(text)

    def encode(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | Set[str] = _NONE,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[int]:
        """Encodes a text. Raises `ValueError` if it contains a special token that is disallowed."""
        if text.__class__ is str:
            if disallowed_special == "all":
                if allowed_special == "all":
                    return self._encode(text, self._recognize_all)
                if allowed_special == _NONE:
                    # The engine refuses all special tokens on its way, so the text is not searched for them before.
                    try:
                        return self._encode(text, self._reject_all)
                    except SpecialTokenError:
                        pass
            elif disallowed_special == () and allowed_special == _NONE:
                return self._encode(text)
        return self._core_bpe.encode(text, self._checked_special(text, allowed_special, disallowed_special))

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | Set[str] = _NONE,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> npt.NDArray[np.uint32]:
        """Encodes a text to a numpy array of uint32."""
        if text.__class__ is str and allowed_special == _NONE and text.isascii():
            if disallowed_special == ():
                return _tiktoken.buffer_of(self._encode_array(text))
            if disallowed_special == "all":
                try:
                    return _tiktoken.buffer_of(self._encode_array(text, self._reject_all))
                except SpecialTokenError:
                    pass
        allowed = self._checked_special(text, allowed_special, disallowed_special)
        return self._core_bpe.encode_to_tiktoken_buffer(text, allowed)

    @cached_property
    def _recognize_all(self) -> ResolvedOptions | None:
        return self._engine._resolve_options(self._core_bpe._options_of(self.special_tokens_set), {})

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encodes texts in parallel, without special tokens."""
        texts = list(text)
        _check_threads(num_threads)
        for one in texts:
            _check_text(one)
        return self._engine.encode_batch(texts, threads=num_threads).to_list()

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Literal["all"] | Set[str] = _NONE,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[list[int]]:
        """Encodes texts in parallel."""
        texts = list(text)
        _check_threads(num_threads)
        if allowed_special == _NONE and disallowed_special == "all" and all(one.__class__ is str for one in texts):
            try:
                return self._engine.encode_batch(texts, threads=num_threads, options=_REJECT_ALL).to_list()
            except SpecialTokenError:
                pass
        allowed, disallowed = self._special_sets(allowed_special, disallowed_special)
        for one in texts:
            _check_disallowed(one, disallowed)
            _check_text(one)
        options = self._core_bpe._options_of(allowed)
        return self._engine.encode_batch(texts, threads=num_threads, options=options).to_list()

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | Set[str] = _NONE,
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Encodes a text to the tokens that stay if it goes on, and sequences of tokens with which it can go on."""
        allowed = self._checked_special(text, allowed_special, disallowed_special)
        return self._core_bpe.encode_with_unstable(text, allowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Returns the token of a text or bytes; special tokens too. Raises `KeyError`."""
        if text_or_bytes.__class__ is bytes and (token := self._mergeable_ranks.get(text_or_bytes)) is not None:
            return token
        if isinstance(text_or_bytes, str):
            text_or_bytes = text_or_bytes.encode()
        return self._core_bpe.encode_single_token(text_or_bytes)

    # Decoding

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Decodes tokens to bytes."""
        if tokens.__class__ is list:
            try:
                return self._decode_bytes(tokens)
            except (TokenIdError, TypeError):
                pass  # CoreBPE raises tiktoken's errors
        return self._core_bpe.decode_bytes(tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Decodes tokens to text; ``errors`` is that of ``bytes.decode``."""
        if errors == "replace" and tokens.__class__ is list:
            try:
                return self._decode(tokens)
            except (TokenIdError, TypeError):
                pass  # CoreBPE raises tiktoken's errors
        return self._core_bpe.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Returns the bytes of a token; special tokens too. Raises `KeyError`."""
        if token.__class__ is int and (piece := self._piece_of(token)) is not None:
            return piece
        return self._core_bpe.decode_single_token_bytes(token)

    @cached_property
    def _piece_of(self) -> Callable[[int], bytes | None]:
        return self._core_bpe._all_bytes.get

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Returns the bytes of each token."""
        return list(map(self.decode_single_token_bytes, tokens))

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Decodes tokens to text, and returns the character in which each token begins.

        Raises `UnicodeDecodeError` if the bytes are not UTF-8.
        """
        tokens = list(tokens)
        try:
            data = self._decode_bytes(tokens)
        except (TokenIdError, TypeError):
            data = b"".join(self.decode_tokens_bytes(tokens))  # raises tiktoken's errors
        characters = self._characters
        offsets = list(accumulate(map(characters.__getitem__, tokens), initial=0))
        offsets.pop()
        if not characters.continuing.isdisjoint(tokens):
            for place, token in enumerate(tokens):
                if token in characters.continuing:
                    offsets[place] = max(0, offsets[place] - 1)
        return data.decode(), offsets

    @cached_property
    def _characters(self) -> _Characters:
        return _Characters(self.decode_single_token_bytes)

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Decodes rows of tokens to texts."""
        _check_threads(num_threads)
        return list(map(partial(self.decode, errors=errors), batch))

    def decode_bytes_batch(self, batch: Sequence[Sequence[int]], *, num_threads: int = 8) -> list[bytes]:
        """Decodes rows of tokens to bytes."""
        _check_threads(num_threads)
        return list(map(self._core_bpe.decode_bytes, batch))

    # The vocabulary

    def token_byte_values(self) -> list[bytes]:
        """Returns the bytes of all tokens that are not special."""
        return self._core_bpe.token_byte_values()

    @property
    def eot_token(self) -> int:
        """The token ``<|endoftext|>``."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The texts of the special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Reports whether a token is special."""
        assert isinstance(token, int)
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """The highest token plus one."""
        return self.max_token_value + 1

    # Private, but used by other packages

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        if isinstance(text_or_bytes, str):
            text_or_bytes = text_or_bytes.encode()
        return self._core_bpe.encode_single_piece(text_or_bytes)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        import regex

        pieces = regex.findall(self._pat_str, text)
        return [token for piece in pieces for token in self._core_bpe.encode_single_piece(piece.encode())]

    def _encode_bytes(self, text: bytes) -> list[int]:
        return self._core_bpe._encode_bytes(text)

    def __getstate__(self) -> object:
        from . import registry

        if self is registry.ENCODINGS.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: Any) -> None:
        from . import registry

        if isinstance(value, str):
            self.__dict__ = registry.get_encoding(value).__dict__
        else:
            Encoding.__init__(self, **value)

    # Special tokens

    def _special_sets(self, allowed: Any, disallowed: Any) -> tuple[Any, frozenset[str]]:
        """Returns the special tokens to recognize and to refuse, as sets."""
        if isinstance(allowed, str) and allowed == "all":
            allowed = self.special_tokens_set
        if isinstance(disallowed, str) and disallowed == "all":
            disallowed = self.special_tokens_set - allowed
        return allowed, frozenset(disallowed)

    def _checked_special(self, text: str, allowed: Any, disallowed: Any) -> Any:
        """Returns the special tokens to recognize, or raises `ValueError` if the text contains a disallowed one."""
        allowed, disallowed_set = self._special_sets(allowed, disallowed)
        _check_disallowed(text, disallowed_set)
        return allowed


_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


class _Characters(dict[int, int]):
    """The number of characters that begin in each token; a token is added when it is looked up."""

    def __init__(self, bytes_of: Callable[[int], bytes]) -> None:
        super().__init__()
        self._bytes_of = bytes_of
        self.continuing: set[int] = set()
        """The tokens that begin inside a character."""

    def __missing__(self, token: int) -> int:
        piece = self._bytes_of(token)
        if 0x80 <= piece[0] < 0xC0:
            self.continuing.add(token)
        count = self[token] = len(piece.translate(None, _CONTINUATION_BYTES))
        return count


def _check_disallowed(text: Any, disallowed: frozenset[str]) -> None:
    if not disallowed:
        return
    if isinstance(text, str) and _common_start(disallowed) not in text:
        return
    if match := _special_token_regex(disallowed).search(text):
        raise_disallowed_special_token(match.group())


@lru_cache(maxsize=128)
def _common_start(tokens: frozenset[str]) -> str:
    """Returns the text with which all of them begin: a text without it has none of them."""
    first, last = min(tokens), max(tokens)
    size = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:size]


@lru_cache(maxsize=128)
def _special_token_regex(tokens: frozenset[str]) -> re.Pattern[str]:
    import re

    return re.compile(f"({'|'.join(map(re.escape, tokens))})")


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raises the `ValueError` of `Encoding.encode` for a special token."""
    raise ValueError(
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        f"To recognize it as a special token, pass `allowed_special={{{token!r}, ...}}`.\n"
        f"To encode it as ordinary text, pass `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`, "
        "or `disallowed_special=()` for all special tokens.\n"
    )


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{type(text).__name__!r} object is not an instance of 'str'")


def _check_threads(num_threads: int | None) -> None:
    if num_threads is not None and num_threads <= 0:
        raise ValueError("max_workers must be greater than 0")
