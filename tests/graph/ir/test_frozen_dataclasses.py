"""Classes made by `frozen_dataclass` and `mutable_dataclass` behave as those of `dataclasses.dataclass`."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar

import pytest

from occelo_graph import Op, op
from occelo_graph.frozen_dataclasses import frozen_dataclass, mutable_dataclass


def _declared(decorate: Any) -> dict[str, Any]:
    """The same classes, made by either decorator."""

    @decorate
    class Empty:
        """Nothing."""

    @decorate
    class Point:
        """Every kind of field."""

        count: ClassVar[int] = 7
        x: int
        y: float = 2.0
        names: list[str] = field(default_factory=lambda: ["a"], compare=False)
        hidden: int = field(default=4, repr=False)
        fixed: int = field(default=5, init=False)
        sign: int = field(kw_only=True, default=1)
        norm: float = field(init=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "norm", abs(self.x) * self.sign)

    @decorate
    class Further(Point):
        """A field more, and another default."""

        y: float = 3.0
        z: int = 0

    @decorate
    class Own:
        """Methods of its own."""

        x: int

        def __init__(self, x: int) -> None:
            object.__setattr__(self, "x", x + 1)

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "Own"

    return {c.__name__: c for c in (Empty, Point, Further, Own)}


OURS = _declared(frozen_dataclass)
THEIRS = _declared(dataclass(frozen=True))
MUTABLE = _declared(mutable_dataclass)
THEIR_MUTABLE = _declared(dataclass)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Empty", (), {}),
    ("Empty", (1,), {}),
    ("Point", (1,), {}),
    ("Point", (1, 5.0, ["b"], 3), {"sign": -1}),
    ("Point", (), {}),
    ("Point", (1,), {"fixed": 2}),
    ("Point", (1, 2.0, [], 4, -1), {}),
    ("Further", (1,), {"z": 2}),
    ("Further", (1, 2.0), {}),
    ("Own", (1,), {}),
]


def _outcome(make: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    try:
        made = make(*args, **options)
    except TypeError as error:
        return str(error)
    return repr(made), dataclasses.asdict(made), vars(made), made == make(*args, **options)


@pytest.mark.parametrize(("name", "args", "options"), CALLS)
def test_constructors_equality_and_repr_are_those_of_dataclasses(
    name: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    assert _outcome(OURS[name], args, options) == _outcome(THEIRS[name], args, options)
    assert _outcome(MUTABLE[name], args, options) == _outcome(THEIR_MUTABLE[name], args, options)


def test_fields_of_a_mutable_class_may_be_set_and_it_has_no_hash() -> None:
    for kinds in (MUTABLE, THEIR_MUTABLE):
        point = kinds["Point"](1)
        assert point.names is not kinds["Point"](1).names
        point.x, point.other = 3, 4
        assert point == kinds["Point"](3)
        assert point != kinds["Further"](3)
        assert dataclasses.replace(kinds["Further"](1), z=5) == kinds["Further"](1, z=5)
        del point.y
        assert point.y == 2.0
        with pytest.raises(TypeError, match="unhashable"):
            hash(point)
    unequal = mutable_dataclass(eq=False, repr=False)(type("Unequal", (), {}))
    first, second = unequal(), unequal()
    assert len({first, second}) == 2
    assert repr(unequal()).startswith("<")


def test_hashes_follow_the_compared_fields() -> None:
    point = OURS["Point"]
    assert point(1, names=["b"]) == point(1)
    assert point(1) != point(2)
    assert hash(point(1, names=["b"])) == hash(point(1))
    assert point(1) != THEIRS["Point"](1)
    assert point(1) != OURS["Further"](1, 2.0)
    for name in OURS:
        assert (OURS[name].__hash__ is None) == (THEIRS[name].__hash__ is None)


@pytest.mark.parametrize("attribute", ["x", "other"])
@pytest.mark.parametrize("name", ["Point", "Further"])
def test_attributes_cannot_be_set_or_deleted(name: str, attribute: str) -> None:
    texts: list[tuple[str, str]] = []
    for kinds in (OURS, THEIRS):
        made = kinds[name](1)
        with pytest.raises(dataclasses.FrozenInstanceError) as on_set:
            setattr(made, attribute, 2)
        with pytest.raises(dataclasses.FrozenInstanceError) as on_delete:
            delattr(made, attribute)
        texts.append((str(on_set.value), str(on_delete.value)))
    assert texts[0] == texts[1]


def test_a_plain_subclass_may_have_further_attributes() -> None:
    for kinds in (OURS, THEIRS):
        made: Any = type("Plain", (kinds["Point"],), {})(1)
        made.other = 2
        assert made.other == 2
        del made.other
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.x = 2


def test_a_default_comes_after_all_without_and_no_parameter_is_only_for_the_constructor() -> None:
    with pytest.raises(TypeError, match="non-default argument 'b' follows default argument"):
        frozen_dataclass(type("Wrong", (), {"a": 1, "__annotations__": {"a": int, "b": int}}))

    with pytest.raises(TypeError, match="has an InitVar"):

        @frozen_dataclass
        class Init:
            """A parameter that is no field."""

            a: InitVar[int]


@op
class Scaled(Op):
    """An op with a field."""

    factor: int = 2


def test_ops_are_frozen_copied_and_pickled() -> None:
    scaled: Any = Scaled(3)
    assert dataclasses.replace(scaled, factor=4) == Scaled(4) != scaled
    assert copy.deepcopy(scaled) == pickle.loads(pickle.dumps(scaled)) == scaled
    with pytest.raises(dataclasses.FrozenInstanceError):
        scaled.factor = 5


def test_fields_may_be_named_like_those_that_stand_for_them() -> None:
    @frozen_dataclass
    class Swapped:
        """Two fields with each other's numbers, and a default that is the name of one."""

        field1: int
        field0: str = "field1"
        field2: list[int] = dataclasses.field(default_factory=lambda: [1])

    # a subclass has the ``__init__`` of its base, also if it looks it up first
    further: Any = type("Further", (Swapped,), {})
    assert list(inspect.signature(further).parameters) == ["field1", "field0", "field2"]
    assert further.__init__ is Swapped.__init__ is vars(Swapped)["__init__"]
    assert further(5).field1 == 5
    made = Swapped(3)
    assert (made.field1, made.field0, made.field2) == (3, "field1", [1])
    assert Swapped(field0="other", field1=4).field0 == "other"


def test_messages_name_the_fields() -> None:
    @frozen_dataclass
    class Point:
        """A point."""

        first: int
        second: int

    make: Any = Point
    with pytest.raises(TypeError, match="'second'"):
        make(1)
    with pytest.raises(TypeError, match="'third'"):
        make(1, 2, third=3)
    with pytest.raises(TypeError, match="'first'"):
        make(1, 2, first=3)
