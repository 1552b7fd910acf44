"""Tests that names of other packages are errors with polytok's own names."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest

import polytok
from polytok.foreign_names import OWN_NAMES
from polytok.tokenizer import Tokenizer

TOKENIZER = polytok.load("default")


@pytest.mark.parametrize("name", OWN_NAMES)
def test_every_name_has_a_name_that_exists(name: str) -> None:
    message = re.escape(f"Tokenizer has no {name!r}; use {OWN_NAMES[name]}")
    for owner in (TOKENIZER, Tokenizer):
        with pytest.raises(AttributeError, match=f"^{message}$"):
            getattr(owner, name)
        assert not hasattr(owner, name)
    own_name = OWN_NAMES[name]
    assert hasattr(polytok, own_name.removeprefix("polytok.")) if "." in own_name else hasattr(TOKENIZER, own_name)


def test_other_attributes_are_unchanged() -> None:
    with pytest.raises(AttributeError, match="'Tokenizer' object has no attribute 'colour'"):
        getattr(TOKENIZER, "colour")  # noqa: B009
    assert not OWN_NAMES.keys() & set(dir(TOKENIZER)) and "piece_to_id" in dir(TOKENIZER)
    assert not OWN_NAMES.keys() & {name for name, _ in inspect.getmembers(TOKENIZER)}
    assert pickle.loads(pickle.dumps(TOKENIZER)).encode("a") == [97]


def test_a_module_that_is_called() -> None:
    with pytest.raises(TypeError, match=r"polytok.convert is a module: call polytok.convert.convert\(.*\.save\("):
        polytok.convert("a.model", "b.json")  # type: ignore[operator]
