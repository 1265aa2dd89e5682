"""A gradient has the shape of its variable, or raises what the forward graph raises.

Derivatives are compared with complex steps in NumPy, second derivatives with differences of those, at dynamic lengths
0, 1 and 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_compile import Mode, function, shared
from occelo_graph import tensor as ot

Cost = Callable[[Any, Any], Any]
Fits = Callable[[int, int], bool]


def alike(n: int, m: int) -> bool:
    return n == m


def always(n: int, m: int) -> bool:
    return True


def shifted(x: Any) -> Any:
    return np.exp(x - np.max(x.real, initial=0.0))


def written(x: Any, y: Any) -> Any:
    result = x.copy()
    result[: len(y)] += y
    return result


CASES: dict[str, tuple[Cost, Cost, Fits]] = {
    "add": (lambda x, y: (x + y).sum(), lambda x, y: (x + y).sum(), alike),
    "sub": (lambda x, y: (x - y).sum(), lambda x, y: (x - y).sum(), alike),
    "mul": (lambda x, y: (x * y).sum(), lambda x, y: (x * y).sum(), alike),
    "div": (lambda x, y: (y / (x + 4.0)).sum(), lambda x, y: (y / (x + 4.0)).sum(), alike),
    "many": (
        lambda x, y: (x + y + ot.exp(x) + x * y * y).sum(),
        lambda x, y: (x + y + np.exp(x) + x * y * y).sum(),
        alike,
    ),
    "twice": (
        lambda x, y: ((x * y) ** 2 + x * y).sum(),
        lambda x, y: ((x * y) ** 2 + x * y).sum(),
        alike,
    ),
    "switch": (
        lambda x, y: ot.switch(ot.lt(x, 0.3), x * x, y).sum(),
        lambda x, y: np.where(x.real < 0.3, x * x, y).sum(),
        alike,
    ),
    "dot": (lambda x, y: ot.dot(x, y), lambda x, y: np.dot(x, y), alike),
    "matrix": (
        lambda x, y: (ot.outer(x, y).dot(y) * x).sum(),
        lambda x, y: (np.outer(x, y).dot(y) * x).sum(),
        always,
    ),
    "rows": (
        lambda x, y: (ot.outer(y, y) + x).sum(),
        lambda x, y: (np.outer(y, y) + x).sum(),
        alike,
    ),
    "softmax": (
        lambda x, y: (ot.softmax(x) * y).sum(),
        lambda x, y: (shifted(x) / shifted(x).sum() * y).sum() if len(x) else 0.0,
        alike,
    ),
    "reduced": (
        lambda x, y: (x * y.sum()).sum() + ot.prod(x) * ot.sum(y * y),
        lambda x, y: (x * y.sum()).sum() + np.prod(x) * np.sum(y * y),
        always,
    ),
    "running": (
        lambda x, y: (ot.cumsum(x) * ot.cumprod(y)).sum(),
        lambda x, y: (np.cumsum(x) * np.cumprod(y)).sum(),
        alike,
    ),
    "joined": (
        lambda x, y: (ot.join(0, x, y) * ot.join(0, y, x)).sum(),
        lambda x, y: (np.concatenate([x, y]) * np.concatenate([y, x])).sum(),
        always,
    ),
    "joined and added": (
        lambda x, y: (ot.join(0, x, y) + ot.join(0, y, y)).sum(),
        lambda x, y: (np.concatenate([x, y]) + np.concatenate([y, y])).sum(),
        alike,
    ),
    "read": (
        lambda x, y: (x[::-1] * y).sum() + (y[:1] * y[:1]).sum(),
        lambda x, y: (x[::-1] * y).sum() + (y[:1] * y[:1]).sum(),
        alike,
    ),
    "written": (
        lambda x, y: (x[: y.shape[0]].inc(y) * x).sum(),
        lambda x, y: (written(x, y) * x).sum(),
        lambda n, m: m <= n,
    ),
    "reshaped": (
        lambda x, y: (x.reshape((1, -1)) * y.reshape((1, y.shape[0]))).sum(),
        lambda x, y: (x * y).sum(),
        alike,
    ),
}
LENGTHS = [(0, 0), (1, 1), (3, 3), (3, 1), (1, 3), (0, 1), (1, 0), (3, 0)]


def vectors() -> tuple[Any, Any]:
    return ot.dvector("x"), ot.dvector("y")


def points(n: int, m: int) -> tuple[Any, Any]:
    return np.linspace(-0.7, 0.9, n) + 0.05, np.linspace(0.4, -1.3, m)


def by_complex_steps(cost: Cost, at: Any, i: int) -> Any:
    step = 1e-200
    result = np.zeros(at[i].shape)
    for k in range(len(result)):
        moved = [a.astype(complex) for a in at]
        moved[i][k] += step * 1j
        result[k] = np.imag(cost(*moved)) / step
    return result


def mixed(cost: Cost, at: Any) -> Any:
    """The gradient with respect to y of the sum of the gradient with respect to x."""
    step = 1e-6
    result = np.zeros(at[1].shape)
    for k in range(len(result)):
        ends: list[Any] = []
        for sign in (1, -1):
            moved = [a.copy() for a in at]
            moved[1][k] += sign * step
            ends.append(by_complex_steps(cost, moved, 0).sum())
        result[k] = (ends[0] - ends[1]) / (2 * step)
    return result


@pytest.mark.parametrize("optimizer", ["fast_run", "fast_compile", "strict"])
@pytest.mark.parametrize("name", CASES)
def test_gradients_have_the_shapes_of_their_variables(name: str, optimizer: str) -> None:
    cost, reference, fits = CASES[name]
    x, y = vectors()
    whole = cost(x, y)
    of_x, of_y = og.grad(whole, [x, y])
    second = og.grad(of_x.sum(), y, disconnected_inputs="ignore")
    mode = Mode("vm", optimizer)
    wanted = {"x": [of_x], "y": [of_y], "all": [whole, of_x, of_y], "second": [second]}
    compiled = {
        key: function([x, y], outputs, mode=mode, on_unused_input="ignore")
        for key, outputs in wanted.items()
    }
    for n, m in LENGTHS:
        at = points(n, m)
        right = fits(n, m)
        expected: dict[str, list[Any]] = {"x": [at[0]], "y": [at[1]], "second": [at[1]]}
        expected["all"] = [np.zeros(()), *at]
        if right:
            first = [by_complex_steps(reference, at, i) for i in (0, 1)]
            expected = {"x": [first[0]], "y": [first[1]], "second": [mixed(reference, at)]}
            expected["all"] = [np.real(np.asarray(reference(*at))), *first]
        for key, f in compiled.items():
            try:
                results = f(*at)
            except ValueError:
                assert not right, (key, n, m)
                continue
            for result, value in zip(results, expected[key], strict=True):
                assert result.shape == np.shape(value), (key, n, m)
                if right:
                    np.testing.assert_allclose(result, value, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["add", "mul", "twice"])
def test_the_error_is_that_of_the_forward_graph(name: str, mode: str) -> None:
    x, y = vectors()
    whole = CASES[name][0](x, y)
    at = points(3, 1)
    messages: list[str] = []
    for output in (whole, og.grad(whole, y)):
        f = function([x, y], output, mode=mode)
        with pytest.raises(ValueError, match="mismatch in dimension") as raised:
            f(*at)
        messages.append(str(raised.value).splitlines()[-1])
        fine = function([x, y], og.grad(whole, y), mode=mode)
        expected = by_complex_steps(CASES[name][1], points(3, 3), 1)
        np.testing.assert_allclose(fine(*points(3, 3)), expected, atol=1e-12)
    assert messages[0] == messages[1]


def test_a_tangent_has_the_shape_of_what_it_belongs_to(mode: str) -> None:
    x, y = vectors()
    t = ot.dvector("t")
    f = function([x, y, t], og.pushforward(x + y, y, t), mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0], [3.0, 4.0], [5.0, 6.0]), [5.0, 6.0])
    for wrong in (([1.0, 2.0], [3.0, 4.0], [5.0]), ([1.0, 2.0], [3.0], [5.0])):
        with pytest.raises(ValueError, match=r"must be|mismatch"):
            f(*wrong)


def test_an_update_by_a_gradient_checks_lengths_itself() -> None:
    """What is added to the variable needs no check of its own."""
    w = shared(np.zeros(3), name="w")
    X, y = ot.dmatrix("X"), ot.dvector("y")
    cost = ((ot.dot(X, w) - y) ** 2).sum()
    f = function([X, y], cost, updates={w: w - 0.1 * og.grad(cost, w)})
    ops = [str(node.op) for node in f.maker.fgraph.toposort()]
    assert not any(op.startswith("SpecifyShape") for op in ops)
    with pytest.raises(ValueError, match=r"shapes|dimension"):
        f(np.ones((2, 4)), np.ones(2))
    np.testing.assert_array_equal(w.get_value(), np.zeros(3))
    f(np.eye(3), np.ones(3))
    np.testing.assert_allclose(w.get_value(), [0.2, 0.2, 0.2])


@pytest.mark.parametrize("derivative", [og.Lop, og.pullback])
def test_a_product_with_a_jacobian_needs_no_value_of_what_gives_only_its_shape(
    derivative: Any, mode: str
) -> None:
    """Without W there is nothing to compare the shape with, and the product is the same."""
    W, v, x = ot.dmatrix("W"), ot.dvector("v"), ot.dvector("x")
    product = derivative(ot.dot(x, W), W, v)
    for n, m in ((2, 2), (0, 3), (1, 1)):
        a, b = np.arange(n) + 2.0, np.arange(m) - 1.0
        np.testing.assert_array_equal(function([v, x], product, mode=mode)(b, a), np.outer(a, b))
    checked = function([v, x, W], product, mode=mode)
    with pytest.raises(ValueError, match=r"the gradient with respect to W"):
        checked([0.0, 1.0], [2.0, 2.0], np.ones((2, 3)))
    state = shared(np.zeros((2, 2)))
    function([v, x], updates={state: state + 2 * product}, mode=mode)([0.0, 1.0], [2.0, 3.0])
    np.testing.assert_array_equal(state.get_value(), [[0, 4], [0, 6]])


def test_what_else_is_needed_is_missed() -> None:
    W, v, x = ot.dmatrix("W"), ot.dvector("v"), ot.dvector("x")
    product = og.Lop(ot.dot(x, W), W, v)
    for output in (
        product + W,
        og.grad(ot.exp(W).sum() * v[0], W),
        ot.specify_shape(v, W.shape[:1]),
    ):
        with pytest.raises(og.MissingInputError, match=r"W .* is needed but is not an input"):
            function([v, x], output, on_unused_input="ignore")
    with pytest.raises(og.MissingInputError, match=r"x .* is needed"):
        function([v], product)
    second = og.pullback(og.pullback(ot.dot(x, W), W, v), v, W * 1.0)  # reads the value of W
    with pytest.raises(og.MissingInputError, match="W"):
        function([v, x], second, on_unused_input="ignore")
    lengths = og.pushforward(v * 2, v, x)  # of a tangent, too
    np.testing.assert_array_equal(function([x], lengths)([1.0, 2.0]), [2.0, 4.0])
