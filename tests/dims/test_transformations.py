# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
"""Loops, branches, batches, Jacobians and Hessians of tensors with names, beside NumPy in a loop of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_dims as xtensor_functions
import occelo_graph as og
from occelo_dims import (
    as_xtensor,
    hessian,
    ifelse,
    jacobian,
    xtensor,
)
from occelo_graph import tensor as ot
from occelo_testing.beside_xarray import evaluated

untyped: Any = xtensor_functions
"""Without types, since lambdas have none and some calls are wrong."""
X = np.arange(6.0).reshape(2, 3) + 1
W = np.array([2.0, -1.0, 0.5])


def test_scan_along_a_dimension_that_is_not_the_first() -> None:
    x, s = xtensor("x", dims=("city", "day")), xtensor("s", dims="city")
    states, doubled = untyped.scan(
        lambda row, state: (state + row, 2 * row), x, [s, None], dim="day"
    )
    assert states.dims == doubled.dims == ("day", "city")
    start = np.array([10.0, 20.0])
    np.testing.assert_allclose(
        evaluated(states, {x: X, s: start}), (start[:, None] + X.cumsum(1)).T
    )
    np.testing.assert_allclose(evaluated(doubled, {x: X, s: start}), 2 * X.T)
    slope = og.grad(states.sum(), x)
    assert slope.dims == ("city", "day")
    np.testing.assert_allclose(
        slope.eval({x: X, s: start}), np.broadcast_to([3.0, 2.0, 1.0], (2, 3))
    )


def test_scan_with_taps_and_states_in_another_order() -> None:
    x = xtensor("x", dims=("a", "t"))
    start = as_xtensor(np.array([[1.0, 2.0], [3.0, 4.0]]), ("a", "t"))  # two earlier states
    found = untyped.scan(
        lambda before, now, two, one: one + two + now - before,
        {"input": x, "taps": [-1, 0]},
        {"initial": start, "taps": [-2, -1]},
        dim="t",
    )
    value = X.copy()
    two, one = np.array([1.0, 3.0]), np.array([2.0, 4.0])
    expected: list[Any] = []
    for k in (1, 2):
        two, one = one, one + two + value[:, k] - value[:, k - 1]
        expected.append(one)
    np.testing.assert_allclose(evaluated(found, {x: value}), expected)
    m = xtensor("m", dims=("a", "b"))
    turned = untyped.scan(lambda state: state.T + 1, outputs_info=m, n_steps=3, dim="n")
    assert turned.dims == ("n", "a", "b")
    np.testing.assert_allclose(evaluated(turned, {m: X}), [X + 1, X + 2, X + 3])


def test_loop_keeps_trees() -> None:
    x, s = xtensor("x", dims=("city", "day")), xtensor("s", dims="city")

    def step(state: Any, row: Any) -> Any:
        following = {"total": state["total"] + row, "n": state["n"] + 1}
        return following, {"row": row * state["n"]}

    final, kept = untyped.loop(step, {"total": s, "n": as_xtensor(0.0)}, x, dim="day")
    assert final["total"].dims == ("city",)
    assert kept["row"].dims == ("day", "city")
    values = {x: X, s: np.zeros(2)}
    np.testing.assert_allclose(evaluated(final["total"], values), X.sum(1))
    np.testing.assert_allclose(evaluated(kept["row"], values), (X * [0, 1, 2]).T)


def test_other_loops_and_branches() -> None:
    x = xtensor("x", dims=("a", "b"))
    made = untyped.fori_loop(0, 3, lambda i, c: (c * 2 + i).transpose("b", "a"), x)
    assert made.dims == ("a", "b")
    np.testing.assert_allclose(evaluated(made, {x: X}), 8 * X + 4)
    grown = untyped.while_loop(lambda c: c.sum() < 100, lambda c: c * 2, x)
    np.testing.assert_allclose(evaluated(grown, {x: X}), 8 * X)
    chosen = ifelse(x.sum() > 0, x, x.T * 2)
    assert chosen.dims == ("a", "b")
    np.testing.assert_allclose(evaluated(chosen, {x: X}), X)
    np.testing.assert_allclose(evaluated(chosen, {x: -X}), -2 * X)


def test_batches_of_a_function() -> None:
    x, w = xtensor("x", dims=("a", "b")), xtensor("w", dims="b")
    made = untyped.vmap(lambda row, w: {"y": row * w, "w": w}, "a")(x, w)
    assert made["y"].dims == made["w"].dims == ("a", "b")
    np.testing.assert_allclose(evaluated(made["y"], {x: X, w: W}), X * W)
    np.testing.assert_allclose(evaluated(made["w"], {x: X, w: W}), [W, W])
    turned = untyped.vmap(lambda column: column / column.sum(), "b")(x)
    assert turned.dims == ("b", "a")
    np.testing.assert_allclose(evaluated(turned, {x: X}), (X / X.sum(0)).T)


def test_jacobians_and_hessians() -> None:
    x, w = xtensor("x", dims=("a", "b")), xtensor("w", dims="b")
    y = (x * w**2).sum("a")
    found = jacobian(y, {"x": x, "w": w})
    assert found["w"].dims == ("b", "b_2")
    assert found["x"].dims == ("b", "a", "b_2")
    values = {x: X, w: W}
    np.testing.assert_allclose(evaluated(found["w"], values), np.diag(2 * X.sum(0) * W))
    expected = np.zeros((3, 2, 3))
    for k in range(3):
        expected[k, :, k] = W[k] ** 2
    np.testing.assert_allclose(evaluated(found["x"], values), expected)
    cost = (x.sum("a") * w**3).sum()
    second = hessian(cost, w, suffix="'")
    assert second.dims == ("b", "b'")
    np.testing.assert_allclose(evaluated(second, values), np.diag(6 * X.sum(0) * W))
    mixed = hessian(cost, [w, x], mixed=True)
    assert mixed[0][1].dims == ("b", "a", "b_2")
    assert mixed[1][0].dims == ("a", "b", "b_2")
    np.testing.assert_allclose(
        evaluated(mixed[1][0], values), np.broadcast_to(np.diag(3 * W**2), (2, 3, 3))
    )


X_, W_ = xtensor("x", dims=("a", "b")), xtensor("w", dims="b")
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "scan without the dimension": (lambda: untyped.scan(lambda r: r, X_, dim="t"), ValueError, r"scan: x \(float64, a: \?, b: \?\) has no dimension 't'"),
    "an output of other dims": (lambda: untyped.scan(lambda r, s: s + r, X_, W_, dim="b"), ValueError, r"scan: output 0 of a step is .*, and its initial value has \('b',\)"),
    "loop without the dimension": (lambda: untyped.loop(lambda s, r: (s, r), W_, X_, dim="t"), ValueError, "loop: x .* has no dimension 't'"),
    "a state of other dims": (lambda: untyped.fori_loop(0, 2, lambda i, s: s * X_, W_), ValueError, r"The state after a step has the dims \('b', 'a'\), not \('b',\)"),
    "branches": (lambda: ifelse(True, X_, W_), ValueError, r"else_branch has the dims \('b',\), not \('a', 'b'\)"),
    "vmap without the dimension": (lambda: untyped.vmap(lambda v: v, "t")(X_), ValueError, "vmap: no argument has the dimension 't'"),
    "vmap of its own dimension": (lambda: untyped.vmap(lambda v: v + X_, "a")(X_), ValueError, "a dimension 'a' of its own"),
    "vmap of no function": (lambda: untyped.vmap(X_, "a"), TypeError, "fun of vmap is a Python function"),
    "hessian of no scalar": (lambda: hessian(X_, X_), TypeError, "hessian needs a scalar cost, got x"),
    "jacobian without names": (lambda: jacobian(W_, ot.dvector("v")), TypeError, "jacobian: the dimensions of wrt have no names"),
    "a suffix that is no other": (lambda: jacobian(2 * W_, W_, suffix=""), ValueError, "must differ"),
    "the jacobian of tensors": (lambda: og.jacobian(2 * W_, W_), TypeError, "names are not known; jacobian, hessian"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(case: str) -> None:
    call, error, text = WRONG[case]
    with pytest.raises(error, match=text):
        call()
