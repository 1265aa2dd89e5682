"""Ops with an inner graph that a mode does not expand: every linker runs them as regions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_compile import Mode, function
from occelo_graph import Op, op
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph

pytestmark = pytest.mark.filterwarnings("ignore:.*runs in Python")


@op
class Doubled(Op):
    """What only Python knows."""

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        CALLS.append(1)
        return x * 2


CALLS: list[int] = []
X = np.random.default_rng(0).normal(size=(3, 4))


def kept(mode: str) -> Mode:
    return Mode(mode, "fast_run").excluding("expand_graphs")


def is_there(f: Any) -> bool:
    return any(isinstance(n.op, OpFromGraph) for n in f.maker.fgraph.toposort())


def test_an_inner_graph_runs_where_it_is(mode: str) -> None:
    a, b, n = ot.dmatrix("a"), ot.dvector("b"), ot.lscalar("n")
    made = OpFromGraph([a, b, n], [ot.tanh(a) @ b * n, ot.ifelse(n > 0, a.sum(axis=0), b)])
    x, v, k = ot.dmatrix("x"), ot.dvector("v"), ot.lscalar("k")
    y, z = made(x, v, k)
    again, _ = made(x + 1.0, z, k)
    f = function([x, v, k], [y, z, again, x * 3.0], mode=kept(mode))
    assert is_there(f)
    for count in (0, 2):
        value = np.arange(4.0)
        branch = X.sum(axis=0) if count else value
        expected = [np.tanh(X) @ value * count, branch, np.tanh(X + 1.0) @ branch * count, X * 3.0]
        for one, other in zip(f(X, value, count), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "complex64", "complex128", "int32", "bool"]
)
def test_an_inner_graph_of_any_dtype(mode: str, dtype: str) -> None:
    a = ot.vector("a", dtype=dtype)
    made = OpFromGraph([a], [a[::-1] | a if dtype == "bool" else a[::-1] * a])
    x = ot.vector("x", dtype=dtype)
    f = function([x], made(x), mode=kept(mode))
    value = np.array([1, 0, 3, 2]).astype(dtype)
    found = f(value)
    assert (found.dtype, is_there(f)) == (value.dtype, True)
    np.testing.assert_array_equal(
        found, value[::-1] | value if dtype == "bool" else value[::-1] * value
    )


def test_graphs_within_graphs_and_their_derivatives(mode: str) -> None:
    a = ot.dvector("a")
    inner = OpFromGraph([a], [ot.sin(a) * 2.0])
    outer = OpFromGraph([a], [(inner(a) + inner(a * a)).sum()])
    x = ot.dvector("x")
    f = function([x], og.grad(outer(x), x), mode=kept(mode))
    assert is_there(f)
    value = np.linspace(0.1, 1.0, 5)
    expected = 2.0 * np.cos(value) + 4.0 * value * np.cos(value * value)
    np.testing.assert_allclose(f(value), expected, rtol=1e-12)


def test_what_only_python_knows_in_a_branch_of_an_inner_graph(mode: str) -> None:
    if mode in ("jax", "pytorch"):
        pytest.skip("libraries that trace call the op to learn the shapes of its results")
    a, c = ot.dvector("a"), ot.lscalar("c")
    made = OpFromGraph([a, c], [ot.ifelse(c > 0, Doubled()(a), a)])
    x, k = ot.dvector("x"), ot.lscalar("k")
    f = function([x, k], made(x, k) + 1.0, mode=kept(mode))
    CALLS.clear()
    np.testing.assert_array_equal(f(X[0], 0), X[0] + 1.0)
    assert not CALLS
    np.testing.assert_array_equal(f(X[0], 1), X[0] * 2 + 1.0)
    assert len(CALLS) == 1


def test_an_error_within_an_inner_graph(mode: str) -> None:
    a, b = ot.dvector("a"), ot.dvector("b")
    made = OpFromGraph([a, b], [a + b])
    x, y = ot.dvector("x"), ot.dvector("y")
    f = function([x, y], made(x, y), mode=kept(mode))
    with pytest.raises(ValueError, match="Input dimension mismatch"):
        f(np.ones(2), np.ones(3))


def test_deep_nests_of_graphs_are_opened_at_once() -> None:
    """Each level is computed once, although the derivatives of each level compute the levels below again."""
    depth = 700
    x = ot.dvector("x")
    made: Any = None
    for _ in range(depth):
        v = ot.dvector()
        made = OpFromGraph([v], [ot.sin(v if made is None else made(v)) * 1.5])
    y = made(x)
    f = function([x], [y, og.grad(y.sum(), x)], mode=Mode("py", "fast_run"))
    assert sum("cos" in str(n.op) for n in f.maker.fgraph.toposort()) <= depth
    expected, slope = np.array([0.3, 0.7]), np.ones(2)
    for _ in range(depth):
        slope = 1.5 * np.cos(expected) * slope
        expected = 1.5 * np.sin(expected)
    found = f(np.array([0.3, 0.7]))
    np.testing.assert_allclose(found[0], expected)
    np.testing.assert_allclose(found[1], slope)


def test_an_opened_nest_keeps_what_is_not_to_be_inlined() -> None:
    v = ot.dvector()
    kept_inside = OpFromGraph([v], [ot.sin(v)])
    inline_inside = OpFromGraph([v], [ot.cos(v)], inline=True)
    outer = OpFromGraph([v], [kept_inside(v) + inline_inside(v) + kept_inside(v)], inline=True)
    x = ot.dvector("x")
    f = function([x], outer(x), mode=kept("py"))
    left = [n.op for n in f.maker.fgraph.toposort() if isinstance(n.op, OpFromGraph)]
    assert left == [kept_inside]
    np.testing.assert_allclose(f(X[0]), 2 * np.sin(X[0]) + np.cos(X[0]))


def test_shared_variables_of_an_inner_graph_are_updated(mode: str) -> None:
    w = og.shared(np.ones(4), "w")
    x = ot.dvector("x")
    made = OpFromGraph([x], [(x * w).sum()])
    f = function([x], made(x), updates=[(w, w - og.grad(made(x), w))], mode=kept(mode))
    assert f(np.arange(4.0)) == 6
    assert f(np.arange(4.0)) == 6 - 14
    np.testing.assert_array_equal(w.get_value(), 1 - 2 * np.arange(4.0))
