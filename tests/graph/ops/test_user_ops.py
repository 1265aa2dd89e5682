"""Ops that users write: messages when a decorator, its parentheses or an instance is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

import occelo_graph as og
import occelo_printing as occelo_printing  # messages show formulas
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Op, op
from occelo_graph.ir.types import generic
from occelo_graph.ops.control.identities import DeepCopyOp, ViewOp
from occelo_graph.ops.control.python_function import as_op, wrap_py


class Scaled(Op):
    """Without its decorator."""

    factor: float

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x * self.factor


class ScaledByDefault(Scaled):
    power: int = 2
    shift: float = 0.0
    shown: ClassVar[bool] = True


class Plain(Op):
    pure: bool = True

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x + 1


class WithConstructor(Plain):
    factor: float

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor


def decorated(decorate: Any) -> Any:
    class Shifted(Op):
        by: float

        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return x + self.by

    return decorate(Shifted)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Scaled(2.0), "Scaled has the field factor but is not decorated: write @op"),
        (lambda: Scaled(factor=2.0), "field factor but is not decorated"),
        (lambda: ScaledByDefault(), "fields power, shift but is not decorated"),
        (lambda: Plain(ot.dvector()), r"write Plain\(\)\(...\)"),
        (lambda: Plain(2.0), "Plain takes no parameters"),
        (lambda: op(lambda x: x), "@op is for subclasses of Op"),
        (lambda: op(dict), "@op is for subclasses of Op"),
        (lambda: op()(int), "@op is for subclasses of Op"),
        (lambda: wrap_py(lambda x: x), r"@wrap_py\(\[dvector\], \[dscalar\]\)"),
        (lambda: as_op([ot.dvector]), "by the types of its inputs and outputs"),
        (lambda: wrap_py([ot.dvector], [3]), "otypes of a wrapped function must be types"),
        (lambda: wrap_py(["dvector"], [ot.dvector]), "itypes of a wrapped function must be"),
        (lambda: wrap_py([ot.exp], [ot.dvector]), "itypes of a wrapped function must be"),
        (
            lambda: type("Odd", (Op,), {"itypes": [ot.dvector, "x"], "otypes": [ot.dvector]}),
            "The itypes of Odd must be types",
        ),
    ],
)
def test_mistakes(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_ops_without_fields_and_with_constructors_need_no_decorator() -> None:
    x = ot.dvector("x")
    np.testing.assert_array_equal(og.evaluate(Plain()(x), {x: [1.0]}), [2.0])
    assert WithConstructor(3.0).factor == 3.0
    for decorate in (op, op()):
        made = decorated(decorate)(2.5)
        np.testing.assert_array_equal(og.evaluate(made(x), {x: [1.0]}), [3.5])
        assert made == type(made)(2.5)


class Doubled(Op):
    """The older protocol, its types told by what makes variables of them."""

    itypes = [ot.dmatrix]  # type: ignore[list-item]
    otypes = [ot.dmatrix]  # type: ignore[list-item]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = 2 * inputs[0]


@pytest.mark.parametrize("given", [ot.dmatrix, ot.dmatrix().type])
def test_types_may_be_told_by_what_makes_variables(given: Any) -> None:
    x = ot.dmatrix("x")
    wrapped = wrap_py([given], given)(lambda a: 2 * a)
    for made in (Doubled()(x), wrapped(x)):
        assert made.type == x.type
        np.testing.assert_array_equal(og.evaluate(made, {x: np.eye(2)}), 2 * np.eye(2))
    with pytest.raises(TypeError, match="Wrong input types for Doubled"):
        Doubled()(ot.fmatrix())


@pytest.mark.parametrize("value", [(1, 2), (), (3,), [(4,)], None])
def test_values_that_are_tuples_pass_through(value: Any) -> None:
    x = generic("x")
    for copied in (DeepCopyOp()(x), ViewOp()(x), DeepCopyOp()(ViewOp()(x))):
        assert og.evaluate(copied, {x: value}) == value


def test_a_wrong_gradient_names_the_ops() -> None:
    class Wrong(Plain):
        def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
            return [2 * cotangents[0]]

    for function, name in ((Wrong(), "Wrong"), (lambda x: ot.exp(Wrong()(x)), "Wrong, exp")):
        with pytest.raises(
            og.GradientError, match=f"applies {name}:\nThe gradient with respect to input 0"
        ):
            og.verify_grad(function, [np.ones(3)])


LEFT: dict[str, tuple[Callable[[list[Any], Any], Any], str]] = {
    "nothing": (
        lambda storage, x: None,
        r"Storing must set output_storage\[0\]\[0\], and left it None",
    ),
    "the cell replaced": (
        lambda storage, x: storage.__setitem__(0, x),
        r"Storing must set output_storage\[0\]\[0\], and replaced output_storage\[0\]",
    ),
    "a scalar": (
        lambda storage, x: storage[0].__setitem__(0, x.sum()),
        r"(?s)Storing set output_storage\[0\]\[0\].*\nWrong number of dimensions: expected 1, got 0",
    ),
}


@pytest.mark.parametrize("left", LEFT)
def test_what_perform_left_is_named(left: str) -> None:
    store, cause = LEFT[left]

    class Storing(Op):
        def make_node(self, *inputs: Any) -> Apply:
            return Apply(self, list(inputs), [inputs[0].type()])

        def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
            store(output_storage, inputs[0])

    x = ot.dvector("x")
    with pytest.raises(og.WrongResultError, match=cause):
        og.evaluate(Storing()(x), {x: np.ones(2)})


def test_make_node_must_give_a_node() -> None:
    class Listing(Op):
        def make_node(self, *inputs: Any) -> Any:
            return [inputs[0]]

    with pytest.raises(
        TypeError,
        match=r"make_node of Listing must return an Apply, and gave \[<x: float64 \(\?,\)>\](?m:$)",
    ):
        Listing()(ot.dvector("x"))


def test_arguments_of_another_type_are_named() -> None:
    with pytest.raises(TypeError, match=r"got float64 \(\?,\); the arguments are mine \(float64"):
        Doubled()(ot.dvector("mine"))


# where things went wrong


class Made(Op):
    """Of the older protocol, with nodes of its own making."""

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        x = ot.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] * 2.0


@wrap_py([ot.dvector], [ot.dvector])
def doubled(x: Any) -> Any:
    return 2.0 * x


v = ot.dvector("v")


def test_the_line_of_a_node_is_the_one_that_applies_the_op() -> None:
    out = Made()(v)  # this line
    assert out.source is not None
    assert out.owner is not None
    assert out.owner.source is not None
    assert out.source.text.endswith("# this line")
    assert out.owner.source.text.endswith("# this line")


@pytest.mark.parametrize("apply", [doubled, Made()])
@pytest.mark.parametrize(
    ("doing", "derive"),
    [
        ("differentiating", lambda out: og.grad(out.sum(), v)),
        ("differentiating", lambda out: og.pushforward(out, v, v)),
    ],
)
def test_what_an_op_lacks_names_the_op_and_the_line(
    apply: Any, doing: str, derive: Callable[[Any], Any]
) -> None:
    out = apply(v)  # this line
    with pytest.raises(NotImplementedError) as caught:
        derive(out)
    first, line, last = str(caught.value).splitlines()
    assert first.startswith(f"While {doing} {apply}, made at {__file__}:")
    assert line.strip() == "out = apply(v)  # this line"
    assert str(apply) in last


def test_a_batching_rule_that_fails_names_the_op_and_the_line() -> None:
    class Alone(Made):
        def batch(self, node: Any, inputs: Any, batch_ndims: Any) -> Any:
            raise NotImplementedError("one at a time")

    out = Alone()(v)  # this line
    with pytest.raises(NotImplementedError) as caught:
        og.vectorize_graph(out, {v: ot.dmatrix()})
    first, line, last = str(caught.value).splitlines()
    assert first.startswith(f"While vectorizing Alone, made at {__file__}:")
    assert line.strip() == "out = Alone()(v)  # this line"
    assert last == "one at a time"


def test_errors_of_own_gradients_name_the_op_and_the_line() -> None:
    class Faulty(Made):
        def grad(self, inputs: Any, cotangents: Any) -> Any:
            raise KeyError("lost")

    with pytest.raises(KeyError) as caught:
        og.grad(Faulty()(v).sum(), v)
    assert "While differentiating Faulty, made at" in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    "rule",
    [
        lambda node, shapes: shapes,
        lambda fgraph, node, shapes: shapes,
        lambda node, shapes, more=None: shapes,
    ],
)
def test_rules_of_shapes_may_take_a_graph_first(rule: Callable[..., Any]) -> None:
    called = wrap_py([ot.dvector], [ot.dvector], infer_shape=rule)(np.negative)
    assert called.shapes(called(v).owner, [(3,)]) == [(3,)]


@pytest.mark.parametrize("shapes", [[], [(1, 2)], [(3,), (3,)]])
def test_wrong_shapes_of_rules_are_told(shapes: Any) -> None:
    called = wrap_py([ot.dvector], [ot.dvector], infer_shape=lambda node, given: shapes)(np.sin)
    with pytest.raises(ValueError, match="infer_shape of FromFunctionOp"):
        called.shapes(called(v).owner, [(3,)])


TOLD: list[tuple[Callable[[], Any], str]] = [
    (lambda: bool(v > 0), "v > 0.0"),
    (lambda: float(ot.exp(v).sum()), "sum(exp(v), axis=0)"),
    (lambda: list(2 * v), "2.0 * v"),
    (lambda: len(v + 1), "v + 1.0"),
    (lambda: 3 in (v + 1), "v + 1.0"),
    (lambda: np.asarray(v + 1), "v + 1.0"),
    (lambda: bool(v), "v"),
]


@pytest.mark.parametrize(("use", "formula"), TOLD)
def test_a_value_that_is_not_known_is_told_as_it_was_written(
    use: Callable[[], Any], formula: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        use()
    assert formula in str(caught.value)
    assert (f"(made at {__file__}:" in str(caught.value)) == (formula != "v")
