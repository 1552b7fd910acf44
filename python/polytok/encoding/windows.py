"""Truncation: the number of tokens that each text keeps, and the windows of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import ArgumentError, EncodeError
from ..lengths import Strategy, Truncation


def windows_of_texts(
    lengths: Sequence[int], truncation: Truncation, template_length: int
) -> list[list[tuple[int, int]]]:
    """Returns the windows of each text as ranges of tokens. The first window is kept, and the others overflow."""
    available_length = truncation.max_length - template_length
    if available_length < 0:
        raise ArgumentError(
            f"max_length={truncation.max_length} is too small: the template alone has {template_length} tokens"
        )
    return [
        list(_windows_of_text(length, kept_length, truncation))
        for length, kept_length in zip(
            lengths, tokens_to_keep(lengths, available_length, truncation.strategy), strict=True
        )
    ]


def tokens_to_keep(lengths: Sequence[int], available_length: int, strategy: Strategy) -> list[int]:
    """Returns the number of tokens to keep of each text."""
    excess_tokens = sum(lengths) - available_length
    if available_length == 0:
        return [0] * len(lengths)
    if excess_tokens <= 0:
        return list(lengths)
    if strategy == "longest_first":
        return [available_length] if len(lengths) == 1 else _balanced_lengths(lengths[0], lengths[1], available_length)
    if strategy == "only_second" and len(lengths) == 1:
        raise EncodeError("Truncation error: Second sequence not provided")
    shortened_index = int(strategy == "only_second")
    if lengths[shortened_index] <= excess_tokens:
        raise EncodeError("Truncation error: Sequence to truncate too short to respect the provided max_length")
    return [length - excess_tokens if i == shortened_index else length for i, length in enumerate(lengths)]


def _balanced_lengths(first: int, second: int, available_length: int) -> list[int]:
    """Returns the lengths to which two texts are shortened. At first only the longer text is shortened, at most to the
    length of the shorter text. If both together are still too long, each gets half of the available length.
    """
    shorter_length = min(first, second)
    longer_length = (
        shorter_length if shorter_length > available_length else max(shorter_length, available_length - shorter_length)
    )
    if shorter_length + longer_length > available_length:
        shorter_length, longer_length = available_length // 2, available_length // 2 + available_length % 2
    return [longer_length, shorter_length] if first > second else [shorter_length, longer_length]


def _windows_of_text(length: int, kept_length: int, truncation: Truncation) -> Iterator[tuple[int, int]]:
    """Yields the windows of a text, which have ``kept_length`` tokens; adjacent windows share ``stride`` tokens."""
    if kept_length >= length:
        yield 0, length
        return
    if kept_length == 0:
        yield 0, 0
        yield 0, length
        return
    if truncation.stride >= kept_length:
        raise ArgumentError(
            f"stride is {truncation.stride}, but must be less than {kept_length}, the number of tokens that a "
            "text keeps"
        )
    step = kept_length - truncation.stride
    for at in range(0, length, step):
        start, stop = at, min(at + kept_length, length)
        yield (start, stop) if truncation.direction == "right" else (length - stop, length - start)
        if stop == length:
            return
