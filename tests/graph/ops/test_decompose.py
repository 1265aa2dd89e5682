"""Decompositions of the ops of this package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from occelo_graph import Op, TensorType, grad, op, verify_grad
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.interpret import evaluate
from occelo_graph.ir.decomposing import decomposed_kernel, decomposition
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction, promoted
from occelo_testing.examples import SCALAR_FUNCTIONS

FORMULAS = sorted(n for n in SCALAR_FUNCTIONS if ScalarFunction(n).formula is not None)
CANCELLING = {
    "logaddexp2": "-0.3 and the rounded 0.284 are added: NumPy itself is 5e-7 off in float32"
}
"""Formulas whose last step cancels, at terms below 1: half a unit of 1 more is allowed."""
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1e-20, -1e-20, 1e-3, -0.3, 0.64, 0.31, 37.0]
REALS += [-37.0, 709.0, -745.0, 1e300, -1e300, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool"])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_is_right_at_special_values(name: str, dtype: str) -> None:
    row = ScalarFunction(name)
    if name in ("tri_gamma", "kn", "logit"):
        pytest.importorskip("scipy")
    values = np.array(REALS, "float64")
    if dtype == "float32":
        values = np.clip(values, -1e38, 1e38) * np.where(np.isinf(values), np.inf, 1)
    if dtype in ("int8", "bool"):
        values = np.array([0, 1, -1, 2, 5, -7, 127, -128])
    values = values.astype(dtype)
    grids = np.meshgrid(*[values] * (row.nin or 2), indexing="ij")
    arrays = [g.reshape(-1) for g in grids][: row.nin]
    if name == "kn":  # orders are whole and small
        whole = np.isin(arrays[0], [0, 1, -1, 2, 5])
        arrays = [a[whole] for a in arrays]
    inputs = [ot.tensor(dtype=dtype, shape=(None,)) for _ in arrays]
    try:
        node = Elemwise(row).make_node(*inputs)
    except TypeError:
        return  # the function has no such dtype
    kernel = decomposed_kernel(node)
    assert kernel is not None
    with np.errstate(all="ignore"):
        expected, found = node.op.kernel(node)(*arrays)[0], kernel(*arrays)[0]
    assert found.dtype == expected.dtype
    digits = {"float64": 1e-14, "float32": 1e-6, "float16": 2e-3}.get(expected.dtype.name, 0.0)
    size = np.finfo(expected.dtype).eps / 2 if name in CANCELLING and digits else 0.0
    np.testing.assert_allclose(found, expected, rtol=digits, atol=size)
    if expected.dtype.kind == "f":
        zero = expected == 0
        assert np.array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


def test_a_result_is_never_the_memory_of_an_input() -> None:
    x = ot.lvector("x")
    node = ot.trunc(x).owner
    data = np.arange(3)
    assert not np.shares_memory(decomposed_kernel(node)(data)[0], data)


def test_a_graph_with_branches_as_one_op_is_no_expression() -> None:
    x = ot.dvector("x")
    plain = OpFromGraph([x], [x + 1])(x)
    assert decomposition(plain.owner) is not None
    lazy = OpFromGraph([x], [ot.ifelse(x.sum() > 0, x, -x)])(x)
    assert decomposition(lazy.owner) is None


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (3, 4)])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_softmax_of_no_elements_and_of_infinities(shape: Any, axis: Any) -> None:
    data = np.random.default_rng(0).normal(size=shape)
    if data.size:
        data[0], data[1, :2], data[2, 3] = -np.inf, np.inf, np.nan
    x = ot.dmatrix("x")
    for out in (ot.softmax(x, axis), ot.log_softmax(x, axis), ot.logsumexp(x, axis)):
        node = out.owner
        with np.errstate(all="ignore"):
            expected = node.op.kernel(node)(data)[0]
            np.testing.assert_allclose(decomposed_kernel(node)(data)[0], expected, rtol=1e-13)


TIMES: Any = ot.elementwise(
    "exp_times_for_test",
    2,
    promoted,
    None,
    [lambda ct, x, y, out: ct * out, lambda ct, x, y, out: ct * ot.exp(x)],
    formula=lambda x, y: None if x.dtype == "complex128" else ot.exp(x) * y,
)


@pytest.mark.parametrize("dtype", ["float64", "float16", "float32"])
@pytest.mark.parametrize("shapes", [((2, 3), (3,)), ((0, 3), (3,)), ((), ()), ((2, 1), (1, 1))])
def test_a_formula_is_enough(dtype: str, shapes: Any) -> None:
    x, y = (ot.tensor(dtype=dtype, shape=tuple(1 if n == 1 else None for n in s)) for s in shapes)
    p, q = (np.linspace(-1, 1, int(np.prod(s))).reshape(s).astype(dtype) for s in shapes)
    found = evaluate(TIMES(x, y), {x: p, y: q})
    assert (found.shape, found.dtype) == (np.broadcast_shapes(*shapes), dtype)
    np.testing.assert_array_equal(found, np.exp(p) * q)


def test_without_numpy_code_a_formula_must_hold() -> None:
    with pytest.raises(TypeError, match="nothing_for_test has neither NumPy code nor a formula"):
        ot.elementwise("nothing_for_test", 1, promoted, None)
    z = ot.zvector("z")
    with pytest.raises(TypeError, match="no NumPy code, and no formula for complex128, complex128"):
        evaluate(TIMES(z, z), {z: np.ones(2, complex)})


@op
class Scaled(Op):
    """x less its mean, times y, and y times 2."""

    def infer(self, x: TensorType, y: TensorType) -> tuple[TensorType, TensorType]:
        return x, y

    def decompose(self, x: Any, y: Any) -> Any:
        return [(x - ot.mean(x)) * y, y * 2]


def test_an_op_without_pullback_is_differentiated_by_its_decomposition() -> None:
    x, n = ot.dvector("x"), ot.iscalar("n")
    a, b = Scaled()(x, ot.exp(x))  # one input depends on the other
    again, _ = Scaled()(a, x * n)
    cost = (again**2).sum() + (b * x).sum() + Scaled()(x, x)[1].sum()
    m = (x - x.mean()) * ot.exp(x)
    plain = (((m - m.mean()) * (x * n)) ** 2).sum() + (2 * ot.exp(x) * x).sum() + 2 * x.sum()
    slope = grad(cost, x)
    for found, expected in (
        (slope, grad(plain, x)),
        (grad(slope[0], x), grad(grad(plain, x)[0], x)),
    ):
        for value in ([], [1.5], [0.3, -1.2, 2.0]):
            if found is not slope and not value:
                continue  # has no first element
            given = {x: np.array(value), n: np.int32(3)}
            np.testing.assert_allclose(
                evaluate(found, given), evaluate(expected, given), rtol=1e-12, atol=1e-12
            )
    verify_grad(
        lambda u, v: Scaled()(u, v)[0], [np.array([0.3, -1.2, 2.0]), np.array([1.0, 2.0, -0.5])]
    )
    integers, floats = ot.ivector("i"), ot.dvector("f")
    assert grad(Scaled()(floats, floats)[1].sum(), floats, disconnected_inputs="raise") is not None
    mixed = Scaled()(floats, ot.cast(integers, "float64"))[0]
    np.testing.assert_allclose(
        evaluate(
            grad(mixed[0], floats),
            {floats: np.array([1.0, 2.0]), integers: np.array([4, 5], "int32")},
        ),
        [2.0, -2.0],
    )


@op
class Telling(Op):
    pure = False

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x


@op
class TellingTwice(Op):
    def infer(self, x: Any) -> Any:
        return x

    def decompose(self, x: Any) -> Any:
        return [Telling()(Telling()(x))]


def test_no_decomposition_has_effects() -> None:
    """They would happen again whenever a backend computes the expression twice, or replays it."""
    x = ot.dvector("x")
    with pytest.raises(TypeError, match="decompose of TellingTwice may use neither lazy ops, nor"):
        decomposition(TellingTwice()(x).owner)
    assert OpFromGraph([x], [Telling()(x)]).decompose(x) is None
