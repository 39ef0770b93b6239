"""`@frozen` makes the same classes as `@dataclass(frozen=True, slots=True)`."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Generic, TypeVar

import pytest

from kindly.frozen import frozen

T = TypeVar("T")


@frozen
class Point:
    """A point."""

    x: int
    y: int = 0
    tags: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict, hash=False)
    secret: str = field(default="hidden", repr=False)
    seen: int = field(default=0, compare=False)
    kind: str = field(default="point", init=False)


@dataclass(frozen=True, slots=True)
class Standard:
    """The same with the standard library."""

    x: int
    y: int = 0
    tags: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict, hash=False)
    secret: str = field(default="hidden", repr=False)
    seen: int = field(default=0, compare=False)
    kind: str = field(default="point", init=False)


@frozen
class Named(Point):
    """A point with a name."""

    name: str = "p"


@frozen
class Box(Generic[T]):
    """One value."""

    value: T


@frozen
class Empty:
    """Nothing."""


@frozen
class Folded:
    """A text that equals itself in any case."""

    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Folded) and other.text.lower() == self.text.lower()

    def __repr__(self) -> str:
        return f"<{self.text}>"


def test_fields_and_signature_are_those_of_a_dataclass() -> None:
    def facts(cls: type) -> object:
        parameters = inspect.signature(cls).parameters.values()
        shape = [(one.name, one.kind) for one in parameters]
        parts = [(one.name, one.default, one.init) for one in fields(cls)]
        return shape, parts, cls.__slots__, cls.__match_args__  # type: ignore[attr-defined]

    assert facts(Point) == facts(Standard)


def test_representation_equality_and_hash_are_those_of_a_dataclass() -> None:
    ours, theirs = Point(1, tags=("a",), secret="s"), Standard(1, tags=("a",), secret="s")
    assert repr(ours) == repr(theirs).replace("Standard", "Point")
    assert hash(ours) == hash(theirs)
    assert ours == Point(1, tags=("a",), secret="s", seen=7)
    assert ours != Point(1, tags=("b",), secret="s")
    assert ours != theirs  # type: ignore[comparison-overlap]
    assert Named(1) != Point(1)
    assert (Box(1), Empty()) == (Box(1), Empty())
    assert len({Box(1), Box(1), Box(2), Empty(), Empty()}) == 3


def test_nothing_can_be_changed() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    with pytest.raises(AttributeError):
        point.other = 2  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_it_is_replaced_copied_and_pickled_like_a_dataclass() -> None:
    point = Point(1, notes={"a": "b"})
    assert replace(point, x=2) == Point(2, notes={"a": "b"})
    assert asdict(point)["notes"] == {"a": "b"}
    copies = (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point)))  # noqa: S301 - our own
    assert copies == (point, point, point)
    assert Point(1).notes is not Point(1).notes


def test_arguments_are_checked_by_name() -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'kind'"):
        Point(1, kind="other")  # type: ignore[call-arg]


def test_own_methods_stay() -> None:
    assert Folded("A") == Folded("a")
    assert repr(Folded("A")) == "<A>"
    assert hash(Folded("A")) == hash(Folded("A"))


def test_a_value_that_contains_itself_is_shown() -> None:
    parts: list[object] = []
    box = Box(parts)
    parts.append(box)
    assert repr(box) == "Box(value=[...])"
