"""The cheap base gives what `typing.NamedTuple` gives."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing

import pytest

from compatlock.model.named_tuple import NamedTuple
from compatlock.model.waiver import Waiver


class Ours(NamedTuple):
    """A point."""

    x: int
    y: int = 2
    label: str = ""

    @property
    def total(self) -> int:
        return self.x + self.y

    @classmethod
    def origin(cls) -> Ours:
        return cls(0, 0)

    def __str__(self) -> str:
        return f"at {self.x}"


class Theirs(typing.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    label: str = ""

    @property
    def total(self) -> int:
        return self.x + self.y

    @classmethod
    def origin(cls) -> Theirs:
        return cls(0, 0)

    def __str__(self) -> str:
        return f"at {self.x}"


def test_what_a_class_has_is_the_same() -> None:
    for name in ("_fields", "_field_defaults", "__doc__", "__module__", "__match_args__"):
        assert getattr(Ours, name, None) == getattr(Theirs, name, None), name
    assert Ours.__mro__[-2:] == Theirs.__mro__[-2:] == (tuple, object)
    assert list(inspect.signature(Ours).parameters) == list(inspect.signature(Theirs).parameters)
    label = inspect.signature(Ours).parameters["label"]
    assert (label.annotation, label.default) == ("str", "")
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)


def test_values_behave_the_same() -> None:
    ours, theirs = Ours(1, label="a"), Theirs(1, label="a")
    assert tuple(ours) == tuple(theirs)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert (str(ours), ours.total, Ours.origin()) == ("at 1", 3, Ours(0, 0))
    assert ours._replace(y=5) == Ours(1, 5, "a")
    assert ours._asdict() == theirs._asdict()
    assert sorted([Ours(2), Ours(1)]) == [Ours(1), Ours(2)]
    assert copy.copy(ours) == pickle.loads(pickle.dumps(ours)) == ours
    assert hash(ours) == hash(theirs)


def test_fields_cannot_be_set_and_have_to_be_given() -> None:
    with pytest.raises(AttributeError):
        Ours(1).x = 2  # type: ignore[misc]
    for _ in range(2):  # The first of them makes the constructor.
        with pytest.raises(TypeError, match="missing"):
            Ours()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected"):
        Ours(1, z=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'z'"):
        Ours(1)._replace(z=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="3 arguments, got 1"):
        Ours._make([1])


def test_a_class_that_is_called_often_stays_the_same() -> None:
    class Point(NamedTuple):
        x: int
        y: int = 2

    made = [(Point(n), Point(n, 3), Point(x=n), Point(y=n, x=1)) for n in range(40)]
    assert made == [((n, 2), (n, 3), (n, 2), (1, n)) for n in range(40)]
    assert {type(point) for points in made for point in points} == {Point}


@pytest.mark.parametrize("calls", [0, 40])
def test_wrong_calls(calls: int) -> None:
    class Point(NamedTuple):
        x: int
        y: int = 2

    for _ in range(calls):
        Point(1)
    with pytest.raises(TypeError, match="multiple values"):
        Point(1, x=2)  # type: ignore[misc]
    with pytest.raises(TypeError, match="positional argument"):
        Point(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing"):
        Point(y=1)  # type: ignore[call-arg]
    assert Point(1) == (1, 2)


def test_a_field_without_default_after_one_with_is_an_error() -> None:
    with pytest.raises(TypeError, match="non-default"):
        exec(  # A type checker would not let it pass either.
            "class Wrong(NamedTuple):\n    a: int = 1\n    b: int",
            {"NamedTuple": NamedTuple, "__name__": "wrong"},
        )


def test_the_values_of_the_model_are_made_of_it() -> None:
    assert type(Waiver) is type
    assert issubclass(Waiver, tuple)


def test_no_name_of_a_field_is_in_the_way() -> None:
    class Names(NamedTuple):
        new: str
        cls: str
        tuple: str
        self: str

    assert Names("1", "2", "3", "4")._replace(cls="5") == ("1", "5", "3", "4")


def test_a_name_with_an_underscore_before_it_is_an_error() -> None:
    with pytest.raises(ValueError, match="underscore"):
        exec(
            "class Wrong(NamedTuple):\n    _a: int",
            {"NamedTuple": NamedTuple, "__name__": "wrong"},
        )
