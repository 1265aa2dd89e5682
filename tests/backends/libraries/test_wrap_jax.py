"""`wrap_jax`: functions of JAX arrays in graphs, beside JAX's own results, derivatives and batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_link import wrap_jax

jax: Any = pytest.importorskip("jax")
jnp: Any = jax.numpy
W, X = np.arange(6.0).reshape(2, 3) / 5, np.array([0.1, 0.2, -0.3])
MODES = ("FAST_RUN", "jax", "vm")


@wrap_jax
def layer(params: Any, x: Any, scale: Any = 2) -> Any:
    """A layer."""
    return {"out": jnp.tanh(params["w"] @ x) * scale, "sum": x.sum()}


@wrap_jax(name="mine")
def running(x: Any) -> Any:
    return jnp.cumsum(x) * x[0]


@pytest.mark.parametrize("mode", MODES)
def test_values_and_gradients_of_trees(mode: str) -> None:
    w, x = ot.dmatrix("w"), ot.dvector("x")
    result = layer({"w": w}, x, scale=3)
    cost = (result["out"] ** 2).sum() + result["sum"]
    plain = ((ot.tanh(w @ x) * 3) ** 2).sum() + x.sum()
    f = function([w, x], [result["out"], cost, *og.grad(cost, [w, x])], mode=mode)
    g = function([w, x], [ot.tanh(w @ x) * 3, plain, *og.grad(plain, [w, x])])
    for found, expected in zip(f(W, X), g(W, X), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert layer.__doc__ == "A layer."


@pytest.mark.parametrize("mode", MODES)
def test_batches_and_second_derivatives(mode: str) -> None:
    x, m = ot.dvector("x"), ot.dmatrix("m")
    rows = np.arange(1.0, 7.0).reshape(2, 3)
    slope = og.grad((running(x) ** 2).sum(), x)
    curved = og.grad(slope.sum(), x)
    tangent = og.pushforward(running(x), x, ot.ones_like(x))
    made = [og.vectorize_graph(each, {x: m}) for each in (running(x), slope, curved, tangent)]
    with jax.enable_x64(True):
        cost = lambda v: ((jnp.cumsum(v) * v[0]) ** 2).sum()  # noqa: E731
        of_ones = lambda v: jax.jvp(lambda u: jnp.cumsum(u) * u[0], (v,), (jnp.ones(3),))[1]  # noqa: E731
        wanted = [
            np.cumsum(rows, 1) * rows[:, :1],
            jax.vmap(jax.grad(cost))(rows),
            jax.vmap(lambda v: jax.hessian(cost)(v).sum(0))(rows),
            jax.vmap(of_ones)(rows),
        ]
    for found, expected in zip(function([m], made, mode=mode)(rows), wanted, strict=True):
        np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-12)


def test_types_of_results_and_integers() -> None:
    assert running(ot.dvector()).type.shape == (None,)
    assert (
        running(ot.tensor(dtype="int32", shape=(4,))).type
        == ot.tensor(dtype="int32", shape=(4,)).type
    )
    assert str(running(ot.dvector()).owner.op) == "JaxFunction{mine}"
    x, n = ot.dvector("x"), ot.lvector("n")
    gathered = wrap_jax(lambda v, i: (v[i], i + 1))(x, n)
    assert [each.dtype for each in gathered] == ["float64", "int64"]
    slope = og.grad(gathered[0].sum(), x)
    values = {x: X, n: np.array([2, 2, 0])}
    np.testing.assert_array_equal(og.evaluate(slope, values), [1, 0, 2])
    np.testing.assert_array_equal(og.evaluate(gathered[1], values), [3, 3, 1])
    assert layer({"w": W}, X)["out"].type.shape == (2,)


def test_equal_calls_are_one_node() -> None:
    x = ot.dvector("x")
    f = function([x], [running(x), running(x) + 1])
    assert sum("mine" in str(node.op) for node in f.maker.fgraph.toposort()) == 1


class Scale:
    """A static argument, which is printed like others."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __repr__(self) -> str:
        return "Scale"


@wrap_jax
def _of_static(pair: Any, scale: Any = None) -> Any:
    chosen = (pair + pair)[-1] if isinstance(pair, list) else pair[0]
    return chosen if scale is None else chosen * getattr(scale, "factor", scale)


def test_calls_with_other_static_arguments_are_others() -> None:
    x, y = ot.dscalars("x", "y")
    pair = (x, y)
    calls = [
        _of_static([x, y]),
        _of_static(pair),
        _of_static(pair, Scale(2.0)),
        _of_static(pair, Scale(3.0)),
        1 / _of_static(pair, 0.0),
        1 / _of_static(pair, -0.0),
    ]
    assert function([x, y], calls)(1.0, 5.0) == [5, 1, 2, 3, np.inf, -np.inf]


def test_mistakes() -> None:
    with pytest.raises(TypeError, match="takes a function"):
        wrap_jax(3)
    w, x = ot.tensor("w", dtype="float64", shape=(2, 3)), ot.dvector("x")
    with pytest.raises(TypeError, match=r"JAX cannot trace layer .* specify_shape"):
        layer({"w": w}, ot.specify_shape(ot.concatenate([x, x]), (None,)))
    with pytest.raises(TypeError, match="JAX cannot trace"):
        layer({"w": w}, ot.tensor(dtype="float64", shape=(4,)))


def test_complex_gradients() -> None:
    z = ot.zvector("z")
    value = np.array([1 + 2j, 0.3 - 1j])
    theirs = wrap_jax(lambda z: z * z * (1 + 2j))(z)
    real = wrap_jax(lambda z: jnp.sum(jnp.abs(z) ** 2 * jnp.imag(z)))(z)
    ours = z * z * (1 + 2j)
    costs = [(ot.imag(v) + 3 * ot.real(v * v)).sum() for v in (theirs, ours)]
    costs += [real, ((z.real**2 + z.imag**2) * z.imag).sum()]
    found, expected, other, by_parts = og.evaluate([og.grad(c, z) for c in costs], {z: value})
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(other, by_parts, rtol=1e-12)
