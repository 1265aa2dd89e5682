"""Gradients: arguments, errors, conventions, both modes, Jacobians, barriers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.errors import GradientError
from occelo_graph.interpret import variable_eval


def value(variable: Any, **given: Any) -> Any:
    return variable_eval(variable, given)


def gradient_at(function: Any, *points: Any) -> Any:
    inputs = [ot.as_tensor_variable(np.asarray(p)).type() for p in points]
    found = og.grad(function(*inputs).sum(), list(inputs), disconnected_inputs="ignore")
    return og.evaluate(found, dict(zip(inputs, points, strict=True)))


def test_the_container_of_wrt_is_that_of_the_result() -> None:
    x, y = ot.dscalars("x", "y")
    cost = x * y
    assert isinstance(og.grad(cost, x), og.Variable)
    assert isinstance(og.grad(cost, [x, y]), list)
    assert isinstance(og.grad(cost, (x, y)), tuple)


def test_gradients_are_named() -> None:
    x = ot.dscalar("x")
    cost = x**2
    cost.name = "cost"
    assert og.grad(cost, x).name == "(dcost/dx)"
    assert og.grad(cost, x, add_names=False).name is None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: og.grad(ot.exp(x), x), TypeError, "must be a scalar"),
        (lambda x: og.grad(ot.zscalar("z"), x), TypeError, "must be real"),
        (
            lambda x: og.grad(x.sum(), ot.dscalar("other")),
            og.DisconnectedInputError,
            "does not depend on other",
        ),
        (lambda x: og.grad(x.sum(), "x"), TypeError, "taken by variables"),
        (lambda x: og.grad(None, x), ValueError, "a cost or known_grads"),
        (lambda x: og.grad(og.undefined_grad(x).sum(), x), og.NullTypeGradError, "undefined_grad"),
        (lambda x: og.pullback([x], x, []), ValueError, "as many cotangents"),
        (lambda x: og.pushforward(x, [x], []), ValueError, "as many tangents"),
        (lambda x: og.pushforward(x, x, ot.dscalar()), ValueError, "dimensions"),
        (lambda x: og.hessian_vector_product(x.sum(), [x], []), ValueError, "as many vectors"),
    ],
)
def test_mistakes(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(ot.dvector("x"))


def test_disconnected_inputs() -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    cost = x.sum()
    with pytest.warns(UserWarning, match="does not depend on y"):
        og.grad(cost, y, disconnected_inputs="warn")
    np.testing.assert_array_equal(
        og.evaluate(og.grad(cost, y, disconnected_inputs="ignore"), {y: [1.0, 2.0]}), [0.0, 0.0]
    )
    assert og.grad(cost, y, disconnected_inputs="ignore", return_disconnected="none") is None
    made = og.grad(cost, y, disconnected_inputs="ignore", return_disconnected="disconnected")
    assert isinstance(made.type, og.DisconnectedType)
    with pytest.raises(ValueError, match="return_disconnected is"):
        og.grad(cost, y, disconnected_inputs="ignore", return_disconnected="odd")
    with pytest.raises(ValueError, match="disconnected_inputs is"):
        og.grad(cost, y, disconnected_inputs="odd")
    # a shape connects nothing, a rounded value connects with a derivative of 0
    with pytest.raises(og.DisconnectedInputError):
        og.grad(y.shape[0] * cost, y)
    np.testing.assert_array_equal(og.evaluate(og.grad(ot.floor(y).sum(), y), {y: [1.5]}), [0.0])


def test_null_gradients_can_be_returned() -> None:
    x = ot.dscalar("x")
    found = og.grad(og.undefined_grad(x) * 2, x, null_gradients="return")
    assert isinstance(found.type, og.NullType)


def test_known_grads_and_consider_constant() -> None:
    x, y = ot.dscalars("x", "y")
    z = x * y
    found = og.grad(None, [x, y], known_grads={z: ot.constant(3.0)})
    assert [float(v) for v in og.evaluate(found, {x: 2.0, y: 5.0})] == [15.0, 6.0]
    w = ot.exp(x)
    through = og.grad(w * x, x, consider_constant=[w])
    assert value(through, x=0.0) == 1.0
    end, start = og.subgraph_grad([y], [w], cost=w * y)
    assert value(end[0], x=0.0) == 1.0
    assert value(start[0], y=4.0) == 4.0
    # by a variable that counts as constant itself, the gradient is what reaches it
    of_w, of_x = og.grad(w * x, [w, x], consider_constant=[w])
    assert value(of_w, x=3.0) == 3.0
    assert value(of_x, x=0.0) == 1.0
    assert value(og.grad(x * y, x, consider_constant=[x]), y=4.0) == 4.0


def test_the_gradient_of_a_graph_in_parts_is_that_of_the_whole() -> None:
    """Part by part, each starting with what the one after it ended with."""
    x, t = ot.dvector("x"), ot.dvector("t")
    w1, w2, w3 = (ot.dmatrix(name) for name in ("w1", "w2", "w3"))
    first = ot.tanh(ot.dot(x, w1))
    second = ot.tanh(ot.dot(first, w2))
    last = ot.dot(second, w3)
    costs = [((last - t) ** 2).sum() + w3.sum() ** 2, (w2**2).sum(), (w1**2).sum() + first[0]]
    params, ends = [[w3], [w2], [w1]], [[second], [first], [x]]
    found: list[Any] = []
    following: Any = None
    for wrt, end, cost in zip(params, ends, costs, strict=True):
        of_wrt, of_end = og.subgraph_grad(wrt=wrt, end=end, start=following, cost=cost)
        following = dict(zip(end, of_end, strict=True))
        found += of_wrt
    whole = costs[0] + costs[1] + costs[2]
    expected = og.grad(whole, [w3, w2, w1, x])
    rng = np.random.default_rng(5)
    at: dict[Any, Any] = {x: rng.normal(size=2), t: rng.normal(size=3)}
    at |= {w1: rng.normal(size=(2, 4)), w2: rng.normal(size=(4, 5)), w3: rng.normal(size=(5, 3))}
    both = og.evaluate([*found, following[x], *expected], at)
    for mine, wanted in zip(both[:4], both[4:], strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-12)


def test_the_parts_of_a_gradient_by_subgraph() -> None:
    x, y = ot.dscalars("x", "y")
    a = x * y
    start = {ot.exp(a): ot.constant(2.0)}
    of_wrt, of_end, of_start, of_cost = og.subgraph_grad(
        [y], [a], start={v: g for v, g in start.items()}, cost=a * y, details=True
    )
    given = {x: 0.5, y: 3.0}
    assert [float(v) for v in og.evaluate(of_cost, given)] == [1.5, 3.0]
    np.testing.assert_allclose(og.evaluate(of_start, given), [0.0, 2 * np.exp(1.5)])
    np.testing.assert_allclose(og.evaluate([*of_wrt, *of_end], given), [1.5, 3 + 2 * np.exp(1.5)])
    assert og.subgraph_grad([y], [a], cost=a * y, details=True)[2] is None
    assert og.subgraph_grad([y], [a], start=start, details=True)[3] is None


@pytest.mark.parametrize("container", [list, tuple])
def test_derivatives_come_in_the_container_that_they_are_asked_for_in(container: Any) -> None:
    v, w = ot.dvectors("v", "w")
    cost = (v * v * w).sum()
    asked, points = container([v]), container([w])
    for found in (
        og.grad(cost, asked),
        og.pullback(v * w, asked, w),
        og.jacobian(v * w, asked),
        og.jacobian(cost, asked),
        og.hessian(cost, asked),
        og.hessian_vector_product(cost, asked, points),
        og.pushforward(container([v * w]), v, w),
        og.vectorize_graph(container([v * w]), {v: ot.dmatrix()}),
    ):
        assert type(found) is container
        assert len(found) == 1
    assert isinstance(og.jacobian(v * w, v), og.Variable)
    assert isinstance(og.hessian(cost, v), og.Variable)


def test_integer_variables_get_float_gradients() -> None:
    n = ot.lscalar("n")
    found = og.grad(n * 1.5, n)
    assert found.dtype == "float64"
    assert value(found) == 1.5
    assert value(og.grad((n * 2).astype("float64"), n)) == 0.0


@pytest.mark.parametrize(
    ("function", "points", "expected"),
    [
        (lambda x: abs(x), [0.0], [0.0]),
        (lambda x: ot.sqrt(x), [0.0], [np.inf]),
        (lambda x: x**0, [0.0], [0.0]),
        (lambda x: x**2, [0.0], [0.0]),
        (lambda x: ot.max(x), [np.array([1.0, 3.0, 3.0])], [[0.0, 0.5, 0.5]]),
        (lambda x: ot.min(x), [np.array([1.0, 1.0, 3.0])], [[0.5, 0.5, 0.0]]),
        (lambda x, y: ot.maximum(x, y), [2.0, 2.0], [0.5, 0.5]),
        (lambda x: ot.clip(x, 0.0, 1.0), [np.array([-1.0, 0.0, 1.0, 2.0])], [[0.0, 1.0, 1.0, 0.0]]),
        (lambda x: ot.prod(x), [np.array([0.0, 2.0, 3.0])], [[6.0, 0.0, 0.0]]),
        (lambda x: ot.prod(x), [np.array([0.0, 0.0, 3.0])], [[0.0, 0.0, 0.0]]),
        (lambda x: ot.switch(x > 0, ot.sqrt(ot.switch(x > 0, x, 1.0)), 0.0), [-1.0], [0.0]),
        (lambda x, y: x**y, [0.0, 2.0], [0.0, 0.0]),
    ],
)
def test_conventions_at_special_points(function: Any, points: Any, expected: Any) -> None:
    for found, wanted in zip(gradient_at(function, *points), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_second_derivatives_of_products_are_right_at_zeros() -> None:
    x = ot.dvector("x")
    point = {x: np.array([0.0, 0.0, 3.0])}
    expected = [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(og.evaluate(og.hessian(ot.prod(x), x), point), expected)
    np.testing.assert_allclose(og.evaluate(og.hessian(ot.cumprod(x)[2], x), point), expected)


COMPLEX = [
    lambda z: ot.exp(z),
    lambda z: z * z * 2.0,
    lambda z: 1 / z,
    lambda z: ot.sin(z) * ot.conj(z),
    lambda z: ot.real(z) * ot.imag(z) + 0 * ot.real(z),
    lambda z: ot.complex(ot.abs(z), ot.angle(z)),
    lambda z: ot.dot(z, ot.conj(z)) * z,
    lambda z: ot.cumprod(z),
    lambda z: ot.prod(z) * z,
    lambda z: (z * 3.0).astype("complex128") ** 2,
]


@pytest.mark.parametrize("function", COMPLEX)
def test_complex_gradients_are_those_by_real_and_imaginary_parts(function: Any) -> None:
    def cost_of(z: Any) -> Any:
        out = function(z)
        return (ot.real(out) * np.array([1.0, 2.0]) + ot.imag(out) * np.array([0.5, -1.0])).sum()

    z = ot.zvector("z")
    point = np.array([1.0 + 0.5j, -0.7 + 1.2j])
    found = og.evaluate(og.grad(cost_of(z), z), {z: point})

    def real_cost(re: Any, im: Any) -> Any:
        return og.evaluate(cost_of(z), {z: re + 1j * im})

    by_re, by_im = og.numeric_grad(real_cost, [point.real, point.imag])
    np.testing.assert_allclose(found, by_re + 1j * by_im, rtol=1e-5, atol=1e-6)


def test_jacobian_of_known_and_unknown_lengths() -> None:
    a = np.arange(6.0).reshape(2, 3)
    for x in (ot.dvector("x"), ot.tensor("x", dtype="float64", shape=(3,))):
        y = ot.tanh(ot.dot(ot.constant(a), x))
        found = og.evaluate(og.jacobian(y, x), {x: [0.1, 0.2, 0.3]})
        t = np.tanh(a @ [0.1, 0.2, 0.3])
        np.testing.assert_allclose(found, (1 - t**2)[:, None] * a)
    m = ot.dmatrix("m")
    full = og.evaluate(og.jacobian(m.T * 2, m), {m: np.ones((2, 3))})
    assert full.shape == (3, 2, 2, 3)
    assert full[2, 1, 1, 2] == 2
    both = og.jacobian(m[0] * 2, [m])
    assert isinstance(both, list)
    linear = og.evaluate(og.jacobian(x * 1.0, x), {x: [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(linear, np.eye(3))


def test_hessian_and_its_product_with_a_vector() -> None:
    x = ot.dvector("x")
    cost = (x**3).sum() + x[0] * x[1]
    point = {x: np.array([1.0, 2.0, 3.0])}
    h = og.evaluate(og.hessian(cost, x), point)
    expected = np.diag([6.0, 12.0, 18.0])
    expected[0, 1] = expected[1, 0] = 1
    np.testing.assert_allclose(h, expected)
    v = np.array([1.0, -1.0, 0.5])
    product = og.evaluate(og.hessian_vector_product(cost, x, ot.constant(v)), point)
    np.testing.assert_allclose(product, expected @ v)
    assert isinstance(og.hessian(cost, [x]), list)


def test_products_with_a_jacobian_need_no_value_that_only_a_check_reads() -> None:
    x, y, w, v = ot.dvector("x"), ot.dvector("y"), ot.dmatrix("w"), ot.dvector("v")
    ones, twos = np.ones(3), np.full(2, 2.0)
    by_w = og.Lop(ot.dot(x, w), w, v)
    np.testing.assert_array_equal(og.evaluate(by_w, {x: twos, v: ones}), np.outer(twos, ones))
    np.testing.assert_array_equal(og.evaluate(og.Lop(x * y, y, v), {x: ones, v: ones}), ones)
    # with a value, its shape is compared
    with pytest.raises(ValueError, match="shape"):
        og.evaluate(by_w, {x: twos, v: ones, w: np.ones((4, 3))})
    # a value that the result needs, and a check of the user
    with pytest.raises(og.MissingInputError, match="no value for y"):
        og.evaluate(og.Lop(x * y, x, v), {x: ones, v: ones})
    with pytest.raises(og.MissingInputError, match="no value for y"):
        og.evaluate(ot.specify_shape(x, y.shape), {x: ones})


def test_pushforward_is_the_jacobian_times_a_vector() -> None:
    x = ot.dvector("x")
    y = ot.sin(x) * x[0]
    t = ot.constant([1.0, 2.0])
    point = {x: [0.3, 0.4]}
    expected = og.evaluate(og.jacobian(y, x), point) @ [1.0, 2.0]
    for own in (True, False):
        found = og.pushforward(y, x, t, use_op_pushforward=own)
        np.testing.assert_allclose(og.evaluate(found, point), expected)
    np.testing.assert_allclose(og.evaluate(og.Rop(y, x, t), point), expected)
    np.testing.assert_allclose(
        og.evaluate(og.Lop(y, x, t), point), [1.0, 2.0] @ og.evaluate(og.jacobian(y, x), point)
    )
    z = ot.dvector("z")
    with pytest.raises(og.DisconnectedInputError):
        og.pushforward(z, x, t)
    with pytest.warns(UserWarning, match="z .*does not depend on the variables with tangents"):
        assert og.pushforward(z, x, t, "warn", return_disconnected="none") is None
    with pytest.raises(ValueError, match="disconnected_outputs is raise, warn or ignore"):
        og.pushforward(z, x, t, "odd")


def test_barriers() -> None:
    x = ot.dvector("x")
    point = {x: [1.0, -3.0]}

    def through(function: Any) -> Any:
        return og.evaluate(og.grad((function(x) * x).sum(), x), point)

    np.testing.assert_array_equal(through(og.zero_grad), [1.0, -3.0])
    np.testing.assert_array_equal(through(og.disconnected_grad), [1.0, -3.0])
    np.testing.assert_array_equal(through(lambda v: og.grad_clip(v, -1, 1)), [2.0, -4.0])
    np.testing.assert_array_equal(through(lambda v: og.grad_scale(v, 3)), [4.0, -12.0])
    with pytest.raises(og.DisconnectedInputError):
        og.grad(og.disconnected_grad(x).sum(), x)
    np.testing.assert_array_equal(og.evaluate(og.grad(og.zero_grad(x).sum(), x), point), [0.0, 0.0])


def test_a_gradient_that_is_wrong_is_found() -> None:
    class Wrong(og.Op):
        __props__ = ()

        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return x * x

        def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
            return [cotangents[0] * inputs[0]]

    with pytest.raises(GradientError, match="gradient with respect to input 0 at"):
        og.verify_grad(Wrong(), [np.ones(3)])
    with pytest.raises(TypeError, match="floating-point"):
        og.verify_grad(ot.exp, [np.ones(3, "int64")])


def test_ifelse_differentiates_the_branch_that_is_taken() -> None:
    x, c = ot.dscalar("x"), ot.dscalar("c")
    found = og.grad(ot.ifelse(c > 0, x**2, ot.log(x)), x)
    assert value(found, x=-3.0, c=1.0) == -6.0
    assert value(found, x=2.0, c=-1.0) == 0.5


def test_clip_to_an_empty_interval_passes_on_what_its_upper_bound_asks() -> None:
    """As `numpy.clip` gives the upper bound there, the derivative is that of the bound alone."""
    arguments = ot.dscalars("x", "low", "high")
    gradients = og.grad(ot.clip(*arguments), list(arguments))
    for values in (
        (1.0, 5.0, 2.0),
        (3.0, 5.0, 2.0),
        (7.0, 5.0, 2.0),
        (0.0, 1.0, 2.0),
        (1.5, 1.0, 2.0),
    ):
        found = og.evaluate(gradients, dict(zip(arguments, values, strict=True)))
        step = 1e-6
        for i, one in enumerate(found):
            moved = [v + step * (i == k) for k, v in enumerate(values)]
            expected = (np.clip(*moved) - np.clip(*values)) / step
            np.testing.assert_allclose(one, expected, atol=1e-6)
