"""Compares the data classes of a Spec with the classes that the module `dataclasses` creates for the same fields."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from typing import Any, ClassVar

import pytest

from polytok import records, spec
from polytok.records import dataclass, field, replace

CLASSES = [value for value in vars(spec).values() if records.is_record(value)]


@dataclass(frozen=True, slots=True)
class Point:
    """A class with every kind of field."""

    kind: ClassVar[str] = "point"
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is negative")


Original: Any = records._original(Point)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_class_has_the_fields_of_a_dataclass(cls: Any) -> None:
    original = records._original(cls)
    assert dataclasses.is_dataclass(cls)
    assert [field.name for field in dataclasses.fields(cls)] == [field.name for field in dataclasses.fields(original)]
    assert inspect.signature(cls) == inspect.signature(original)
    assert cls.__match_args__ == original.__match_args__
    assert cls.__dataclass_fields__ is cls.__dataclass_fields__, "creating the fields again takes a millisecond"
    assert cls.__dataclass_params__.frozen and cls.__module__ == original.__module__
    assert cls.__doc__ and cls.__qualname__ == original.__name__


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if not inspect.signature(cls).parameters])
def test_classes_without_fields_are_equal_and_hashed(cls: Any) -> None:
    assert cls() == cls() and hash(cls()) == hash(cls()) and repr(cls()) == f"{cls.__name__}()"


@pytest.mark.parametrize(
    ("args", "keywords"),
    [((1,), {}), ((1, 3), {"tags": ["a"]}), ((), {"x": 1}), ((1, 2, []), {}), ((), {"x": 5, "y": 0})],
)
def test_an_object_is_equal_to_that_of_a_dataclass(args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    point, original = Point(*args, **keywords), Original(*args, **keywords)
    assert repr(point) == repr(original)
    assert dataclasses.asdict(point) == dataclasses.asdict(original)
    assert point == Point(*args, **keywords) and point != original and point != Point(9)
    assert replace(point, y=7) == dataclasses.replace(point, y=7) == Point(point.x, 7, point.tags)
    assert pickle.loads(pickle.dumps(point)) == copy.copy(point) == copy.deepcopy(point) == point
    assert point.kind == "point" and not hasattr(point, "__dict__")


@pytest.mark.parametrize(
    ("args", "keywords"),
    [((), {}), ((), {"y": 1}), ((1, 2, [], 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((1,), {"kind": "a"})],
)
def test_wrong_arguments_are_refused_as_by_a_dataclass(args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    for cls in (Point, Original):
        with pytest.raises(TypeError):
            cls(*args, **keywords)


def test_objects_are_frozen_checked_and_hashed() -> None:
    point = Point(1)
    for name in ("x", "new"):
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            setattr(point, name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            delattr(point, name)
    with pytest.raises(ValueError, match="negative"):
        Point(-1)
    assert Point(1).tags is not Point(1).tags
    assert hash(spec.Strip()) == hash(spec.Strip(True, True)) != hash(spec.Strip(False))
    with pytest.raises(TypeError, match="unhashable"):
        hash(point)


def test_loading_does_not_import_dataclasses() -> None:
    code = "import polytok, sys; polytok.load('default'); print('dataclasses' in sys.modules, 'inspect' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout == "False False\n"
