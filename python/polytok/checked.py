"""The decorator `checked`, which checks the arguments of public functions that are not called for each text or id."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

from .checks import flag, instance, iterable, path, piece_or_id, real, shown, texts, whole_number
from .checks import keywords as check_keywords
from .errors import ArgumentError
from .keywords import keyword
from .suggestions import did_you_mean_keyword

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Class = TypeVar("Class")
Check: TypeAlias = Callable[[str, Any], object]


def checked(**own_checks: Check | type) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Returns a decorator that checks the arguments of a function before the function runs.

    A parameter has the same meaning in all functions (docs/conventions.md), so one table has the check for each name.
    ``own_checks`` has those for the other names of a function: functions, or the classes of the values. A value that is
    the default is not checked. Functions that are called for each text or id check their arguments themselves, because
    this decorator takes about a microsecond.

    >>> @checked(text=texts)
    ... def count(text, overwrite=False): ...
    >>> count(["a"], overwrite="yes")
    Traceback (most recent call last):
        ...
    polytok.errors.ArgumentError: overwrite='yes' is neither True nor False
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        names, defaults = _signature(function)
        accepted_names = names[1:] if names[:1] == ("self",) else names
        name_set = frozenset(accepted_names)
        checks = {name: _CHECKS[name] for name in names if name in _CHECKS}
        for name, check in own_checks.items():
            checks[name] = _instance_check(check) if isinstance(check, type) else check

        name_in_errors = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
        required_keywords = [name for name in names[function.__code__.co_argcount :] if name not in defaults]
        accepts_others = bool(function.__code__.co_flags & _HAS_VAR_KEYWORDS)  # such functions check them themselves

        @wraps(function)
        def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            if keywords and not accepts_others and not name_set.issuperset(keywords):
                check_keywords(name_in_errors, keywords, accepted_names)
            for name in required_keywords:
                if name not in keywords:
                    _suggest_keyword(name_in_errors, name, keywords)
            for name, value in (*zip(names, arguments, strict=False), *keywords.items()):
                if name in checks and value is not defaults.get(name, _NO_DEFAULT):
                    checks[name](name, value)
            return function(*arguments, **keywords)

        return call

    return decorate


def checked_fields(cls: type[Class]) -> type[Class]:
    """Decorates a class of options, so that it refuses an unknown field and says which fields it has.

    >>> from dataclasses import dataclass
    >>> @checked_fields
    ... @dataclass
    ... class Shares:
    ...     weight: int = 1
    >>> Shares(wieght=2)
    Traceback (most recent call last):
        ...
    TypeError: Shares() has no keyword argument 'wieght'; did you mean 'weight'?
    """
    create: Any = cls.__init__
    names = _signature(create)[0][1:]

    @wraps(create)
    def initialize(self: Any, *values: Any, **fields: Any) -> None:
        check_keywords(cls.__name__, fields, names)
        create(self, *values, **fields)

    cls.__init__ = initialize  # type: ignore[method-assign]
    return cls


def keyword_names(function: Callable[..., object]) -> tuple[str, ...]:
    """Returns the names of the parameters of a function that `checked` decorates.

    >>> keyword_names(checked()(lambda inputs, workers=1: None))
    ('inputs', 'workers')
    """
    return _signature(function.__wrapped__)[0]  # type: ignore[attr-defined]


def _signature(function: Any) -> tuple[tuple[str, ...], dict[str, object]]:
    """Returns the names of the parameters, and the defaults. Importing the module `inspect` for this would be slow."""
    code = function.__code__
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = function.__defaults__ or ()
    positional_defaults = dict(zip(names[code.co_argcount - len(values) : code.co_argcount], values, strict=True))
    return names, positional_defaults | (function.__kwdefaults__ or {})


def _suggest_keyword(function: str, missing_name: str, given_names: Iterable[str]) -> None:
    """Raises `TypeError` if one of the given keywords is probably a missing keyword; otherwise, the call raises it."""
    for name in given_names:
        if advice := did_you_mean_keyword(name, [missing_name]):
            raise TypeError(f"{function}() has no keyword argument {name!r}{advice}")


def _instance_check(cls: type) -> Check:
    return lambda name, value: instance(name, value, cls, f"polytok.{cls.__name__}")


def _progress(name: str, value: Any) -> None:
    if not isinstance(value, bool) and not callable(value):
        raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is neither True, False nor a function")


def _text_file(name: str, value: Any) -> None:
    if not hasattr(value, "write"):
        raise TypeError(f"{name}={shown(value)} is not a file that is open for writing text")


def _name(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is not a str")


def _special_tokens(name: str, value: Any) -> None:
    if not isinstance(value, (str, Mapping)):  # the functions themselves refuse a single text
        texts(name, value, "special tokens")


def _inputs(name: str, value: Any) -> None:
    is_counts = hasattr(value, "words")  # a polytok.Counts, which train accepts
    if not is_counts and not hasattr(value, "read") and not isinstance(value, os.PathLike):
        iterable(name, value, "paths or texts")


def _tokenizer(name: str, value: Any) -> None:
    is_model = isinstance(value, (str, bytes, bytearray, memoryview, os.PathLike)) or hasattr(value, "read")
    if not is_model and not hasattr(value, "fingerprint"):
        raise TypeError(f"{name}={shown(value)} is neither a polytok.Tokenizer nor a path or name to load")


def _entries(name: str, value: Any) -> None:
    if not isinstance(value, (str, bytes, os.PathLike)):
        iterable(name, value, "entries, files and selectors")


def _state(name: str, value: Any) -> None:
    if not isinstance(value, Mapping) or not value.keys() >= {"position", "mixture"}:
        raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is not a state that state_dict() returned")


_NO_DEFAULT = object()
_HAS_VAR_KEYWORDS = 8  # inspect.CO_VARKEYWORDS
_CHECKS: Mapping[str, Check] = {
    **dict.fromkeys(("out", "dataset", "folder", "cache_dir"), path),
    **dict.fromkeys(("overwrite", "documents", "link"), flag),
    **dict.fromkeys(("dtype", "format", "name", "pattern", "pre_tokenizer", "sentencepiece_version", "to"), _name),
    **dict.fromkeys(("index", "document", "position", "start", "stop", "number", "count", "length"), whole_number),
    **dict.fromkeys(("stride", "shard_size", "threads", "workers"), whole_number),
    **dict.fromkeys(("word", "token", "char", "sequence"), whole_number),
    **dict.fromkeys(("add", "add_symbols", "remove"), _entries),
    "epochs": real,
    "indices": lambda name, value: iterable(name, value, "indices"),
    "inputs": _inputs,
    "json_log": _text_file,
    "pad": piece_or_id,
    "progress": _progress,
    "special_tokens": _special_tokens,
    "state": _state,
    "tokenizer": _tokenizer,
    "against": _tokenizer,
}
