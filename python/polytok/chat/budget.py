"""Counts what a template does, and stops one that does too much. No signals, no threads: every loop, call and text
that grows adds to a counter."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from ..checks import shown
from ..errors import ArgumentError, ChatTemplateError
from ..keywords import keyword
from ..records import dataclass

_MAX_NUMBER_BITS = 4096
_MAX_PRODUCT = 1_000_000_000
STEPS_OF_TEXT = 16
"""The steps of an operation that builds many texts, such as ``split``, for each of them."""


@dataclass(frozen=True)
class Limits:
    """How much a chat template can do before rendering is stopped with a `ChatTemplateError`.

    ``steps`` limits the work: an iteration of a loop and a call of a macro have steps for each expression in them,
    other calls have 16, and a filter has one for each item that it reads. ``characters`` limits the texts that the
    template builds, each intermediate text included. Both grow by 16 for each character of the conversation, and by
    the product of its characters and messages (at most a billion), because some templates copy the text so far for
    each message. So a long conversation does not need higher limits.

    >>> from polytok.chat import Limits
    >>> Limits(steps=1000)
    Limits(steps=1000, characters=10000000)
    """

    steps: int = 10_000_000
    characters: int = 10_000_000

    def __post_init__(self) -> None:
        for name in ("steps", "characters"):
            value: Any = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is not a positive whole number")


class Budget:
    """The remaining steps and characters while one template is rendered."""

    __slots__ = ("characters", "limits", "steps")

    def __init__(self, limits: Limits, input_characters: int, messages: int) -> None:
        growth = 16 * input_characters + min(messages * input_characters, _MAX_PRODUCT)
        self.limits = limits
        self.steps = limits.steps + growth
        self.characters = limits.characters + growth


_BUDGET: ContextVar[Budget] = ContextVar("polytok_chat_budget")


class spending:  # a context manager, which is called like a function
    """Sets the budget of everything that this thread renders within the block."""

    __slots__ = ("_budget", "_token")

    def __init__(self, limits: Limits, input_characters: int = 0, messages: int = 0) -> None:
        self._budget = Budget(limits, input_characters, messages)

    def __enter__(self) -> Budget:
        self._token = _BUDGET.set(self._budget)
        return self._budget

    def __exit__(self, *_: object) -> None:
        _BUDGET.reset(self._token)


def step(count: int) -> bool:
    """Counts the steps of a loop's iteration. Returns True, so that it can stand in a condition."""
    budget = _BUDGET.get(None)
    if budget is not None:
        budget.steps -= count
        if budget.steps < 0:
            spend_steps(0)  # raises
    return True


def spend_steps(count: int) -> None:
    """Counts steps of the template."""
    budget = _BUDGET.get(None)
    if budget is not None:
        budget.steps -= count
        if budget.steps < 0:
            raise ChatTemplateError(
                f"the chat template takes more than {budget.limits.steps} steps; if it is not at fault, pass "
                "limits=polytok.chat.Limits(steps=...)"
            )


def weigh(value: Any) -> Any:
    """Counts the work of comparing a value, and returns the value."""
    if isinstance(value, str):
        spend_steps(len(value) // 64)
    elif isinstance(value, (list, tuple, dict)):
        spend_items(value)
    return value


def sliced(value: Any) -> Any:
    """Counts the items of a slice, and returns it. Texts count their characters themselves."""
    if isinstance(value, (list, tuple)):
        spend_steps(len(value))
    return value


def spend_items(value: Any, *, writes: bool = False) -> None:
    """Counts the items of a value at any depth, because a small program can build lists that contain one another
    millions of times. ``writes`` counts the characters of its texts too, for a conversion to text."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            spend_steps(2 + len(item) // 64)
            if writes:
                spend_characters(len(item))
        elif isinstance(item, dict):
            spend_steps(4 * len(item))
            pending += [*item, *item.values()]
        elif isinstance(item, (list, tuple)):
            spend_steps(2 * len(item) + 2)
            pending += item


def spend_characters(count: int) -> None:
    """Counts characters of a text before the text is built."""
    budget = _BUDGET.get(None)
    if budget is not None:
        budget.characters -= count
        if budget.characters < 0:
            raise ChatTemplateError(
                f"the chat template builds more than {budget.limits.characters} characters; if it is not at fault, "
                "pass limits=polytok.chat.Limits(characters=...)"
            )


def check_number(bits: int) -> None:
    """Refuses an operation whose result is a number of more than 4096 bits."""
    if bits > _MAX_NUMBER_BITS:
        raise ChatTemplateError(f"the chat template computes a number of more than {_MAX_NUMBER_BITS} bits")
