"""Traits that ops and scalar ops declare, and the behaviour where they do not."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
import occelo_graph.tensor as ot
from occelo_graph.interpret import run_node
from occelo_graph.ir.traits import EVERY, FIRST, Traits
from occelo_graph.ops.control.identities import SameType
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise import scalar
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction, inexact
from occelo_graph.ops.elemwise.signatures import ScalarTraits
from occelo_graph.ops.index.subtensor import AdvancedIncSubtensor, IncSubtensor, Subtensor
from occelo_graph.ops.reduce import CAReduce, CumOp, LinearRecurrence
from occelo_testing import checks
from occelo_testing.examples import EXAMPLES, SCALAR_FUNCTIONS

TABLE = {name: ScalarFunction(name) for name in sorted(SCALAR_FUNCTIONS)}


def _takes_complex(row: ScalarFunction) -> bool:
    try:
        row.output_dtypes(["complex128"] * (row.nin or 2))
    except TypeError:
        return False
    return True


def _points(row: ScalarFunction, dtype: str) -> list[Any]:
    rng = np.random.default_rng(len(row.name))
    real = [rng.uniform(0.2, 0.8, 4) for _ in range(row.nin or 3)]
    if dtype == "float64":
        return real
    return [x + 1j * rng.uniform(0.2, 0.8, 4) for x in real]


COMPLEX = [row for row in TABLE.values() if _takes_complex(row)]


@pytest.mark.parametrize("row", COMPLEX, ids=str)
def test_functions_of_complex_numbers_say_whether_they_are_holomorphic(
    row: ScalarFunction,
) -> None:
    """What is declared is true: the difference quotients along 1 and along i are the same, if that is so."""
    assert row.holomorphic is not None
    if row.name in ("switch", "second"):  # their conditions and models are not differentiated
        return
    points = _points(row, "complex128")
    for i in range(len(points)):
        quotients: list[Any] = []
        for step in (1e-6, 1e-6j):
            up, down = list(points), list(points)
            up[i], down[i] = points[i] + step, points[i] - step
            change = np.subtract(row.evaluate(*up), row.evaluate(*down), dtype="complex128")
            quotients.append(change / (2 * step))
        if row.holomorphic:
            np.testing.assert_allclose(quotients[0], quotients[1], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("row", COMPLEX, ids=str)
def test_tangents_of_complex_numbers_are_right_or_refused(row: ScalarFunction) -> None:
    points = _points(row, "complex128")
    rng = np.random.default_rng(7)
    directions = [rng.normal(size=4) + 1j * rng.normal(size=4) for _ in points]
    inputs = [ot.zvector() for _ in points]
    tangents = [ot.zvector() for _ in points]
    if row.name in ("switch", "second"):
        # what decides, or gives a shape alone, stays where it is
        directions[0] = np.zeros(4)
    out: Any = Elemwise(row)(*inputs)
    if not row.holomorphic and row.complex_pullback is None and out.dtype != "bool":
        with pytest.raises(NotImplementedError, match=row.name):
            og.pushforward([out], inputs, tangents)
        return
    made = og.pushforward([out], inputs, tangents)
    made = made[0] if isinstance(made, list | tuple) else made
    given = dict(zip([*inputs, *tangents], [*points, *directions], strict=True))
    found = made.eval(given, on_unused_input="ignore")
    h = 1e-6
    above, below = (
        row.evaluate(*(p + s * d for p, d in zip(points, directions, strict=True))) for s in (h, -h)
    )
    expected = np.zeros(4) if above.dtype == "bool" else (above - below) / (2 * h)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("row", [r for r in TABLE.values() if r.sign or r.keeps_sign], ids=str)
def test_signs_that_functions_declare_are_true(row: ScalarFunction) -> None:
    special = np.array([-np.inf, -3.0, -1.0, -1e-300, -0.0, 0.0, 1e-300, 0.5, 1.0, 700.0, np.inf])
    grids = np.meshgrid(*[special] * (row.nin or 2))
    with np.errstate(all="ignore"):
        found = np.asarray(row.evaluate(*grids))
    everywhere = ~np.isnan(found)

    def holds(sign: str, x: Any, where: Any) -> bool:
        given = x[where & ~np.isnan(x)]
        return not np.any(np.signbit(given)) if sign == "unsigned" else bool(np.all(given >= 0))

    if row.sign is not None:
        assert holds(row.sign, found, everywhere)
    for sign in row.keeps_sign:
        clear = [~np.signbit(g) if sign == "unsigned" else g >= 0 for g in grids]
        assert holds(sign, found, everywhere & np.all(clear, axis=0))


MONOTONE = [row for row in TABLE.values() if row.monotone]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("row", MONOTONE, ids=str)
def test_functions_that_declare_it_are_monotone(row: ScalarFunction, dtype: str) -> None:
    """Over all floats, but for the last digit; NaN alone gives NaN."""
    info = np.finfo(dtype)
    sizes = np.exp2(np.linspace(info.minexp, info.maxexp - 0.01, 300))
    around = np.linspace(0, 120, 2000)
    positive = np.unique(np.concatenate([[0.0, np.inf], sizes, around]).astype(dtype))
    points = np.concatenate([-positive[::-1], positive])
    with np.errstate(all="ignore"):
        found = row.evaluate(points).astype("float64")
        assert np.isnan(row.evaluate(np.array([np.nan], dtype))).all()
    assert not np.isnan(found).any()
    ordered = found if row.monotone == "increasing" else found[::-1]
    left, right = ordered[:-1], ordered[1:]
    with np.errstate(invalid="ignore"):
        assert ((left <= right) | (left - right <= 4 * float(info.eps) * np.abs(right))).all()


def test_what_is_monotone_says_so() -> None:
    """The other functions of one real number have a domain that ends, or turn somewhere."""
    names = {row.name for row in MONOTONE} | {"angle", "real", "imag", "conj"}  # of complex numbers
    points = np.array([-np.inf, -1e300, -9.3, -1.2, -0.3, 0.0, 0.2, 1.1, 7.7, 1e300, np.inf])
    of_one = [r for r in TABLE.values() if r.nin == 1 and not r.moves and r.name not in names]
    for row in of_one:
        if row.name in ("invert", "bitwise_count") or row.output_dtypes(["float64"])[0] == "bool":
            continue  # of integers, or a truth value
        with np.errstate(all="ignore"):
            found = row.evaluate(points)
        rises, falls = found[1:] >= found[:-1], found[1:] <= found[:-1]
        assert np.isnan(found).any() or not (rises.all() or falls.all()), row


@pytest.fixture
def own() -> Iterator[Any]:
    """Functions of a user's, which are forgotten again."""
    before = dict(scalar._table)
    yield lambda name, **options: elementwise(
        name, 1, inexact, np.cbrt, [lambda ct, x, out: ct / (3 * out * out)], **options
    )
    scalar._table.clear()
    scalar._table.update(before)


@pytest.mark.parametrize("derive", ["pullback", "pushforward"])
def test_a_complex_derivative_that_nobody_declared_is_refused(own: Any, derive: str) -> None:
    function = own("undeclared")
    z = ot.zvector("z")
    out = function(z)
    cost = ot.real(out).sum()
    with pytest.raises(NotImplementedError, match=r"undeclared .*trait holomorphic"):
        og.grad(cost, z) if derive == "pullback" else og.pushforward(out, z, ot.zvector())
    x = ot.dvector("x")
    found = og.grad(function(x).sum(), x).eval({x: np.array([8.0])})
    np.testing.assert_allclose(found, [1 / 12])
    assert og.grad(ot.real(own("declared", holomorphic=True)(z)).sum(), z).type == z.type


def test_what_is_not_declared_says_nothing() -> None:
    class Own(og.Op):
        def infer(self, x: Any) -> Any:
            return x

    op = Own()
    node = op.make_node(ot.dvector())
    assert (op.moves, op.numbers(), op.of_shapes, op.reads_once, op.arithmetic) == (
        None,
        None,
        False,
        False,
        False,
    )
    assert not op.static_inputs(node)
    assert not op.knows_integers


def test_a_subclass_that_computes_something_else_has_none_of_the_traits() -> None:
    @og.op
    class Doubled(Alloc):
        def evaluate(self, value: Any, *lengths: Any) -> Any:
            return 2 * super().evaluate(value, *lengths)

    @og.op
    class Same(Alloc):
        def __str__(self) -> str:
            return "Same"

    @og.op
    class Copied(SameType):
        def evaluate(self, x: Any) -> Any:
            return np.array(x)

    @og.op
    class Declared(Alloc):
        moves = EVERY

        def evaluate(self, value: Any, *lengths: Any) -> Any:
            return super().evaluate(value, *lengths)

    @og.op
    class Squares(CAReduce):
        def evaluate(self, x: Any) -> Any:
            return super().evaluate(x * x)

    assert (Alloc((2,)).moves, Same((2,)).moves) == (FIRST, FIRST)
    assert Doubled((2,)).moves is None
    assert Doubled((2,)).static_inputs.__func__ is Traits.static_inputs
    assert Copied().moves == FIRST
    assert Declared((2,)).moves == EVERY
    added = CAReduce(TABLE["add"], (0,))
    assert added.numbers() == FIRST
    assert added.reads_once
    own_sum = Squares(TABLE["add"], (0,))
    assert own_sum.numbers() is None
    assert not own_sum.reads_once


def test_type_checkers_know_all_options_of_elementwise() -> None:
    fields = {field.name for field in dataclasses.fields(ScalarFunction)}
    positional = {"name", "arity", "rule", "function", "partials", "doc"}
    assert set(ScalarTraits.__annotations__) == fields - positional
    named = set(inspect.signature(elementwise).parameters) - {"options"}
    assert named == positional - {"arity"} | {"nin"}


def test_traits_that_depend_on_parameters() -> None:
    assert CAReduce(TABLE["mul"], (0,)).numbers() is None
    assert (CumOp(0, "add").numbers(), CumOp(0, "mul").numbers()) == (FIRST, None)
    for cls in (IncSubtensor, AdvancedIncSubtensor):
        written = cls((slice(None),), True, False)
        added = cls((slice(None),), False, False)
        assert (written.moves, added.moves) == (slice(0, 2), None)
        assert written.numbers() == added.numbers() == slice(0, 2)


def _nodes_of_examples() -> dict[type, list[Any]]:
    found: dict[type, list[Any]] = {}
    for example in EXAMPLES:
        inputs, output = checks.symbolic(example)
        given = dict(zip(inputs, example.arguments, strict=True))
        nodes = og.toposort(output if isinstance(output, list | tuple) else [output])
        for node in nodes:
            found.setdefault(type(node.op), []).append((node, given))
    return found


def _has_linear_floats(node: Any) -> bool:
    groups = [node.inputs[group] for group in node.op.linear_in(node)]
    return any(v.type.dtype == "float64" for group in groups for v in group)


LINEAR = {
    cls: pairs
    for cls, every in _nodes_of_examples().items()
    if (pairs := [(node, given) for node, given in every if _has_linear_floats(node)])
}


@pytest.mark.parametrize("cls", LINEAR, ids=lambda c: c.__name__)
def test_ops_are_linear_in_the_inputs_of_each_group_that_they_declare(cls: type) -> None:
    tried = 0
    rng = np.random.default_rng(11)
    for node, given in LINEAR[cls][:: 1 if len(LINEAR[cls]) < 60 else 7]:
        for group in node.op.linear_in(node):
            places = range(len(node.inputs))[group]
            variables = [node.inputs[i] for i in places]
            if not any(v.type.dtype == "float64" for v in variables):
                continue
            if node.op.destroy_map or any(v.type.dtype.startswith("c") for v in node.inputs):
                continue
            with np.errstate(all="ignore"):
                values = og.evaluate(list(node.inputs), given)
            one, two, sum_of_both = list(values), list(values), list(values)
            for i in places:
                if node.inputs[i].type.dtype == "float64":
                    one[i], two[i] = rng.normal(size=(2, *values[i].shape))
                else:  # only 0 is twice itself
                    one[i] = two[i] = np.zeros_like(values[i])
                sum_of_both[i] = np.asarray(2.5 * one[i] - two[i], values[i].dtype)
            found = [np.asarray(run_node(node, v)[0]) for v in (one, two, sum_of_both)]
            np.testing.assert_allclose(
                found[2], 2.5 * found[0] - found[1], rtol=1e-9, atol=1e-9, err_msg=str(node)
            )
            tried += 1
    assert tried


LINEAR_CLASSES = (
    "AdvancedIncSubtensor AdvancedSubtensor Alloc AllocDiag CAReduce CumOp DimShuffle Dot Elemwise "
    "ExtractDiag IfElse IncSubtensor Join LinearRecurrence MakeVector MatMul Repeat Reshape "
    "SpecifyShape Subtensor"
)


def test_the_linear_ops_say_so() -> None:
    assert set(LINEAR_CLASSES.split()) <= {c.__name__ for c in LINEAR}


def test_a_tangent_goes_through_a_linear_op_by_the_op_itself() -> None:
    x, y, dx, dy = ot.dmatrices(4)
    for out in (ot.join(0, x, y), ot.dot(x, y), ot.set_subtensor(x[:1], y[:1]), x @ y):
        pushed = og.pushforward(out, [x, y], [dx, dy])
        made = {type(n.op) for n in og.toposort([pushed])}
        assert type(out.owner.op) in made
        given = dict(
            zip([x, y, dx, dy], np.random.default_rng(4).normal(size=(4, 3, 3)), strict=True)
        )
        expected = og.pushforward(out, [x, y], [dx, dy], use_op_pushforward=False)
        np.testing.assert_allclose(
            pushed.eval(given), expected.eval(given, on_unused_input="ignore"), rtol=1e-12
        )
    a, b, db = ot.dvectors(3)
    out = LinearRecurrence(0)(a, b)
    pushed = og.pushforward(out, b, db)
    # one more for the lengths
    assert sum(isinstance(n.op, LinearRecurrence) for n in og.toposort([pushed])) == 2


def test_an_identity_that_changes_gradients_is_not_linear() -> None:
    x, dx = ot.dvectors(2)
    scaled = og.grad_scale(x, 3.0)
    assert not scaled.owner.op.linear_in(scaled.owner)
    found = og.pushforward(scaled, x, dx).eval(
        {dx: np.ones(2), x: np.ones(2)}, on_unused_input="ignore"
    )
    np.testing.assert_array_equal(found, [3.0, 3.0])


def test_static_inputs_are_masks_and_parts_of_slices() -> None:
    x, i, mask = ot.dtensor3(), ot.iscalar(), ot.bvector().astype("bool")
    node = x[i, i : i + 1].owner
    assert isinstance(node.op, Subtensor)
    assert [node.inputs[k] for k in node.op.static_inputs(node)] == node.inputs[2:]
    node = x[mask].owner
    assert [node.inputs[k].type.dtype for k in node.op.static_inputs(node)] == ["bool"]
    node = ot.set_subtensor(x[:i, 2], 1.0).owner
    assert list(node.op.static_inputs(node)) == [2]


@pytest.mark.parametrize("arity", [1, None])
def test_derivatives_that_nobody_declared_are_refused_not_zero(own: Any, arity: int | None) -> None:
    function = elementwise("without", arity, inexact, np.cbrt if arity else np.hypot)
    x = ot.dvector("x")
    out = function(x) if arity else function(x, x)
    for derive in (lambda: og.grad(out.sum(), x), lambda: og.pushforward(out, x, x)):
        with pytest.raises(NotImplementedError, match=r"without .*declare partials"):
            derive()
    zero = elementwise("constant_in_steps", 1, inexact, np.floor, [None])
    np.testing.assert_array_equal(og.grad(zero(x).sum(), x).eval({x: np.ones(2)}), [0.0, 0.0])


def test_functions_of_floats_declare_their_derivatives() -> None:
    for row in TABLE.values():
        try:
            out = row.output_dtypes(["float64"] * (row.nin or 2))[0]
        except TypeError:
            continue
        if out == "float64":
            assert len(row.derivatives(row.nin or 2)) == (row.nin or 2), row
