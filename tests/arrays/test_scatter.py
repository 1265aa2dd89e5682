"""Tests of ``x.at[key]``: maxima, minima and products at repeated positions, compared with NumPy's ``ufunc.at``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_arrays.ops.parts.scatter import Scatter
from occelo_graph import tensor as ot

UFUNCS: dict[str, Any] = {
    "max": np.maximum,
    "min": np.minimum,
    "multiply": np.multiply,
    "add": np.add,
}
RNG = np.random.default_rng(7)
X = RNG.normal(size=(4, 3))
X[X < -0.9] = 0.0
KEYS: list[tuple[Any, tuple[int, ...]]] = [
    (np.array([2, 0, 2, -1, 2]), (5, 3)),
    (np.array([2, 0, 2, -1, 2]), (5, 1)),
    (np.array([[1, 1], [0, -4]]), (3,)),
    (np.array([], "int64"), (0, 3)),
    (np.array([3]), ()),
    (np.array([3, 3], "uint8"), (2, 3)),
    ((slice(None), np.array([1, 1, 0])), (4, 3)),
    ((slice(None, None, -2), np.array([1, 1, 0])), (2, 3)),
    ((np.array([0, 0, 3]), np.array([1, 1, -1])), (3,)),
    ((np.array([[0], [0]]), np.array([1, 1, -1])), (2, 3)),
    ((None, np.array([0, 0])), (2, 3)),
    ((2, np.array([0, 0])), (2,)),
    (X > 0, ()),
    ((np.array([True, False, True, True]), 1), (3,)),
    (slice(None, None, -1), (4, 3)),
    ((1, 2), ()),
]


def _at(ufunc: Any, x: Any, key: Any, y: Any) -> Any:
    x = x.copy()
    ufunc.at(x, key, np.broadcast_to(y, x[key].shape).copy())
    return x


@pytest.mark.parametrize("mode", ["vm", "native", "jax"])
def test_all_values_at_a_position_are_combined(mode: str) -> None:
    x = ot.dmatrix("x")
    values = [RNG.normal(size=shape) for _, shape in KEYS]
    pairs = list(zip(KEYS, values, strict=True))
    if mode == "jax":
        pairs = pairs[::3]
    made = [getattr(x.at[key], name)(y) for name in UFUNCS for (key, _), y in pairs]
    expected = [_at(ufunc, X, key, y) for ufunc in UFUNCS.values() for (key, _), y in pairs]
    for found, wanted in zip(oc.function([x], made, mode=mode)(X), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("mode", ["vm", "native", "jax"])
def test_positions_and_values_of_unknown_lengths(mode: str) -> None:
    x, y, i = ot.dvector("x"), ot.dvector("y"), ot.lvector("i")
    f = oc.function([x, i, y], [getattr(x.at[i], name)(y) for name in UFUNCS], mode=mode)
    for places in ([2, 0, 2, -3], [1], []):
        given = np.arange(len(places)) - 1.5
        for found, ufunc in zip(f(X[0], places, given), UFUNCS.values(), strict=True):
            wanted = _at(ufunc, X[0], np.array(places, "int64"), given)
            np.testing.assert_allclose(found, wanted)
    for outside in ([3], [-4], [0, 3]):
        with pytest.raises(IndexError):
            f(X[0], outside, np.ones(len(outside)))
    with pytest.raises(ValueError, match=r"length|shape|broadcast"):
        f(X[0], [0, 1, 2], [1.0, 2.0])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64"])
def test_other_dtypes(dtype: str) -> None:
    x, i = ot.tensor("x", dtype=dtype, shape=(None,)), np.array([1, 0, 1])
    a, b = (np.array(v).astype(dtype) for v in ([3, 0, 250], [1, 200, 2]))
    names = ["multiply"] if dtype == "complex64" else ["max", "min", "multiply"]
    f = oc.function([x], [getattr(x.at[i], name)(b) for name in names], mode="native")
    for found, name in zip(f(a), names, strict=True):
        np.testing.assert_array_equal(found, _at(UFUNCS[name], a, i, b), strict=True)


def test_nan_wins_without_a_warning() -> None:
    x = ot.dvector("x")
    made = [x.at[[0, 0, 1]].max(np.array([1.0, np.nan, 2.0])), x.at[[0, 1]].min(5.0)]
    for mode in ("vm", "native"):
        largest, least = oc.function([x], made, mode=mode)([0.0, np.nan])
        np.testing.assert_array_equal(largest, [np.nan, np.nan])
        np.testing.assert_array_equal(least, [0.0, np.nan])


@pytest.mark.parametrize("name", ["max", "min", "multiply", "divide", "power", "add", "subtract"])
def test_gradients(name: str) -> None:
    i = np.array([2, 0, 2, -1, 2])
    y = RNG.uniform(0.5, 2.0, size=(5, 3))

    def run(x: Any, y: Any) -> Any:
        return getattr(x.at[i], name)(y) + getattr(x.at[:, [0, 0]], name)(y[:4, :2])

    og.verify_grad(run, [RNG.uniform(0.5, 2.0, size=(4, 3)), y], rng=np.random.default_rng(1))


def test_equal_elements_share_the_derivative() -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    f = oc.function([x, y], og.grad(x.at[[0, 0, 1, 1]].max(y).sum(), [x, y]))
    of_x, of_y = f([2.0, 1.0], [2.0, 2.0, 3.0, 0.0])
    np.testing.assert_allclose(of_x, [1 / 3, 0.0])
    np.testing.assert_allclose(of_y, [1 / 3, 1 / 3, 1.0, 0.0])


def test_derivatives_of_products_with_zeros() -> None:
    i = np.array([0, 0, 1, 1, 2, 2])
    x = np.array([2.0, 3.0, 0.0])
    y = np.array([0.0, 5.0, 0.0, 0.0, 4.0, 0.5])
    a, b = ot.dvector("x"), ot.dvector("y")
    of_x, of_y = oc.function([a, b], og.grad(a.at[i].multiply(b).sum(), [a, b]))(x, y)
    np.testing.assert_allclose(of_x, [0.0, 0.0, 2.0])
    # the product of all factors at the position but one
    np.testing.assert_allclose(of_y, [10.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_derivatives_of_complex_products() -> None:
    z = ot.zvector("z")
    value = np.array([1.0 + 2j, 3.0 - 1j])
    cost = abs(z.at[[0, 0]].mul(z)).sum()
    (found,) = oc.function([z], [og.grad(cost, z)], mode="vm")(value)
    # |z0 z0 z1| + |z1|
    for part, step in ((0, 1e-6), (1, 1e-6j)):
        for k in range(2):
            near = [value + s * step * (np.arange(2) == k) for s in (1, -1)]
            up, down = (abs(v[0] * v[0] * v[1]) + abs(v[1]) for v in near)
            slope = (up - down) / 2e-6
            got = found[k].imag if part else found[k].real
            assert np.isclose(got, slope, rtol=1e-6)


@pytest.mark.parametrize("name", ["max", "multiply"])
def test_batches(name: str) -> None:
    x, y, i = ot.dvector("x"), ot.dvector("y"), ot.lvector("i")
    places, values = RNG.integers(-3, 3, size=(4, 5)), RNG.normal(size=(4, 5))
    whole = getattr(x.at[i], name)(y)
    for batched in ((True, True, True), (True, True, False), (False, False, True)):
        given = [v if b else v[0] for v, b in zip((X, values, places), batched, strict=True)]
        new = [
            v.type.clone(shape=(None, None))() if b else v
            for v, b in zip((x, y, i), batched, strict=True)
        ]
        replaced = og.vectorize_graph(whole, dict(zip((x, y, i), new, strict=True)))
        found = oc.function(new, replaced)(*given)
        rows = [
            _at(UFUNCS[name], a, k, b)
            for a, b, k in zip(
                *(v if b else [v] * 4 for v, b in zip(given, batched, strict=True)), strict=True
            )
        ]
        np.testing.assert_allclose(found, rows)
    f = oc.function([x, y, new[2]], replaced)
    with pytest.raises(IndexError, match="out of bounds"):
        f(X[0], values[0], places + 3)


def test_other_methods() -> None:
    x = ot.dvector("x")
    part = x.at[[0, 0, 2]]
    value = np.array([8.0, 3.0, 5.0])
    cases: list[tuple[Any, Any]] = [
        (part.get(), [8.0, 8.0, 5.0]),
        (part.set([1.0, 2.0, 3.0]), [2.0, 3.0, 3.0]),
        (part.subtract([1.0, 2.0, 3.0]), [5.0, 3.0, 2.0]),
        (part.divide(2.0), [2.0, 3.0, 2.5]),
        (part.power(2.0), [4096.0, 3.0, 25.0]),
        (part.mul(2.0), [32.0, 3.0, 10.0]),
        (x[[0, 0, 2]].inc([1.0, 2.0, 3.0], ignore_duplicates=True), [10.0, 3.0, 8.0]),
        (ot.inc_subtensor(x[1:], 1.0, ignore_duplicates=True), [8.0, 4.0, 6.0]),
        (x[[0, 0, 2]].max(0), 8.0),
    ]
    found = oc.function([x], [made for made, _ in cases])(value)
    for got, (_, wanted) in zip(found, cases, strict=True):
        np.testing.assert_allclose(got, wanted)


def test_subtracting_numbers_and_narrower_or_unsigned_integers() -> None:
    x32, n, u = ot.fvector("x32"), ot.lvector("n"), ot.vector("u", dtype="uint8")
    least = ot.scalar("least", dtype="int8")
    outputs = [
        x32.at[[0]].subtract(2),
        x32.at[[0]].subtract(np.array([True])),
        n.at[[0]].subtract(least),
        n.at[[0]].subtract(u),
        u.at[[0, 0]].subtract([2, 255]),
    ]
    f = oc.function([x32, n, u, least], outputs)
    found = f([1.0], [1], np.array([1], "uint8"), np.int8(-128))
    for got, wanted, v in zip(found, [-1.0, 0.0, 129, 0, 0], [x32, x32, n, n, u], strict=True):
        assert got.tolist() == [wanted]
        assert got.dtype == v.dtype


def test_mistakes() -> None:
    x, k = ot.dvector("x"), ot.ivector("k")
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: x.at[[0]].max(np.ones((2, 2))), ValueError, "to a part of 1 dimensions"),
        (lambda: x.at[[0, 1]].max(np.ones(3)), ValueError, "broadcast"),
        (lambda: k.at[[0]].max(1.5), TypeError, "float64 into int32"),
        (lambda: ot.zvector().at[[0]].max(1.0), TypeError, "have no order"),
        (lambda: Scatter("prod")(x, x, x), TypeError, "array of integers"),
        (lambda: Scatter("prod")(x, k, k), TypeError, "float64 with int32"),
        (lambda: x.at[0.5].get(), TypeError, "must be an integer, got 0.5"),
    ]
    for call, error, text in cases:
        with pytest.raises(error, match=text):
            call()


def test_it_overwrites_memory_that_nobody_needs() -> None:
    x = ot.dvector("x")
    f = oc.function([x], (x * 2).at[[0, 0]].max(np.array([1.0, 7.0])), mode="vm")
    ops = [node.op for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scatter)]
    assert [op.inplace for op in ops] == [True]
    value = np.array([1.0, 2.0])
    np.testing.assert_allclose(f(value), [7.0, 4.0])
    np.testing.assert_allclose(value, [1.0, 2.0])
