"""Tests the dataclasses of polytok.spec: each step is exported and belongs to the type of its stage."""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import Any, get_args

import pytest

from polytok import spec
from polytok.spec import decode, model, normalize, split


@pytest.mark.parametrize(
    ("module", "types"),
    [
        (normalize, (normalize.NormalizeStep,)),
        (split, (split.SplitStep,)),
        (model, (model.Model,)),
        (decode, (decode.Decode, decode.DecodeStep)),
    ],
)
def test_each_class_with_a_kind_is_in_a_type_and_exported(module: ModuleType, types: tuple[Any, ...]) -> None:
    """Tests that type checks accept each step, and that a ``.ptok`` file can store the step."""
    own_classes = {value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__}
    steps = {value for value in own_classes if dataclasses.is_dataclass(value) and hasattr(value, "kind")}
    assert steps
    assert steps <= {step for type in types for step in get_args(type)}
    assert {step.__name__ for step in steps} <= set(spec.__all__)
