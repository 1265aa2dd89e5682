"""`polydiv`, `polyfit` and `roots` beside NumPy's, with gradients and batches."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor
from occelo_signal import numpy_functions

np: Any = numpy
ot: Any = SimpleNamespace(**vars(tensor) | vars(numpy_functions))


def _fit(v: Any) -> Any:
    return ot.polyfit(X, v, 2)


GENERATOR = np.random.default_rng(5)
X, W = GENERATOR.normal(size=7), GENERATOR.uniform(0.5, 1.5, 7)
Y = GENERATOR.normal(size=(7, 2))


def _symbolic(value: Any, static: bool) -> Any:
    return ot.tensor(dtype=value.dtype, shape=value.shape if static else (None,) * value.ndim)


@pytest.mark.parametrize("static", [True, False])
def test_fits_are_those_of_numpy(static: bool) -> None:
    options: list[dict[str, Any]] = [{}, {"full": True}, {"cov": True}, {"cov": "unscaled"}]
    for y, more, w, deg in itertools.product(
        (Y, Y[:, 0], (Y * 9).astype("int64"), Y[:, :1]), options, (None, W), (0, 2)
    ):
        variables = [_symbolic(v, static) for v in (X, y)]
        values = dict(zip(variables, (X, y), strict=True))
        made: Any = ot.polyfit(*variables, deg, w=w, **more)
        expected: Any = np.polyfit(X, y, deg, w=w, **more)
        if not more:
            made, expected = [made], [expected]
        for ours, theirs in zip(made, expected, strict=True):
            found = og.evaluate(ours, values)
            np.testing.assert_allclose(found, theirs, rtol=1e-9, atol=1e-12)
    exact = ot.polyfit(np.arange(3), np.array([1.0, 2, 5]), 2).eval()
    np.testing.assert_allclose(exact, [1, 0, 1], atol=1e-13)
    with pytest.warns(np.exceptions.RankWarning):  # two points decide no parabola
        expected = np.polyfit([1.0, 2], [1.0, 4], 2)
    np.testing.assert_allclose(
        ot.polyfit(np.array([1.0, 2]), np.array([1.0, 4]), 2).eval(), expected
    )


def test_mistakes_of_fits() -> None:
    v, m, n = ot.dvector("v"), ot.dmatrix("m"), ot.tensor("n", dtype="float64", shape=(3,))
    for arguments, options, error in (
        ((v, v, -1), {}, ValueError),
        ((m, v, 1), {}, TypeError),
        ((v, ot.dtensor3(), 1), {}, TypeError),
        ((n, np.ones(4), 1), {}, ValueError),
        ((np.ones(0), np.ones(0), 1), {}, TypeError),
        ((v, v, 1), {"w": m}, TypeError),
        ((n, n, 1), {"w": np.ones(2)}, ValueError),
        ((n, n, 2), {"cov": True}, ValueError),
    ):
        with pytest.raises(error, match="polyfit"):
            ot.polyfit(*arguments, **options)
    with pytest.raises(ValueError, match="roots"):
        ot.roots(m)


COEFFICIENTS: list[Any] = [
    *map(np.array, ([1.0, -3, 2], [2.0], [0.0], [1, 5, 7], [2j, 1], [3.0, 0, 0, 1], [1e-9, 1.0], [1, np.nan, 2, 1], [0.0, 0.0, 0.0])),
    *(GENERATOR.normal(size=n).astype(d) for n, d in ((6, "float32"), (2, "float64"), (80, "float64"))),
    np.array([True, False, True]),
]  # fmt: skip


@pytest.mark.parametrize("static", [True, False])
def test_quotients_are_those_of_numpy(static: bool) -> None:
    for first, second in itertools.product(COEFFICIENTS, COEFFICIENTS):
        if abs(second[0]) < 1e-6 or (len(first) == 80 and abs(second[0]) < 1):
            continue  # NumPy divides by 0, or the quotient grows beyond all digits
        if np.isnan(first).any() and not static:
            continue  # NaN spreads in the triangular system
        values = {_symbolic(v, static): v for v in (first, second)}
        found = og.evaluate(list(ot.polydiv(*values)), values)
        with np.errstate(invalid="ignore"):
            expected = np.polydiv(first, second)
        single = {"float32", "complex64"} & {v.dtype.name for v in expected}
        size = np.nanmax(np.abs(np.append(expected[0], 1.0)))
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.dtype == theirs.dtype
            if single:  # of leading zeros, rounding leaves more than NumPy's bound
                width = max(len(ours), len(theirs))
                ours, theirs = (np.pad(v, (width - len(v), 0)) for v in (ours, theirs))
            np.testing.assert_allclose(
                ours,
                theirs,
                rtol=1e-5 if single else 1e-11,
                atol=size * (1e-6 if single else 1e-12),
            )
    x, y = ot.dvectors(2)
    with pytest.raises(ValueError, match="v of polydiv must not be empty"):
        og.evaluate(ot.polydiv(x, y)[0], {x: [1.0], y: np.zeros(0)})
    with pytest.raises(ValueError, match="v of polydiv must not be empty"):
        ot.polydiv([1.0], [])


def _remainder(u: Any, v: Any) -> Any:
    return ot.polydiv(u, v)[1]


def test_quotients_have_gradients() -> None:
    u, v = GENERATOR.normal(size=5), np.array([2.0, 0.3, -0.7])
    slopes: list[Any] = []
    for static in (True, False):
        x, y = _symbolic(u, static), _symbolic(v, static)
        cost = sum((ot.sin(part) * ot.arange(part.shape[0])).sum() for part in ot.polydiv(x, y))
        slopes.append(oc.function([x, y], og.grad(cost, [x, y]))(u, v))
        og.verify_grad(_remainder, [u, v])
    for ours, theirs in zip(*slopes, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("static", [True, False])
def test_roots_are_those_of_numpy(static: bool) -> None:
    for row in (
        [1.0, -3, 2], [0, 0, 1, 2], [1, 2, 0, 0], [0, 0], [], [5.0], [0, 3.0, 0], [1, 2, 3], [1, -6, 11, -6, 0], [1j, 2, 0, 1],
    ):  # fmt: skip
        value = np.array(row)
        x = _symbolic(value, static)
        found = og.evaluate(ot.roots(x), {x: value})
        expected = np.roots(value)
        assert found.shape == expected.shape
        assert found.dtype == "complex128"
        np.testing.assert_allclose(
            np.sort_complex(found), np.sort_complex(expected), rtol=1e-10, atol=1e-12
        )
        if static and len(row) > 1 and row[0]:
            whole = ot.roots(x, strip_zeros=False)
            assert whole.type.shape == (len(row) - 1,)
            found = np.sort_complex(og.evaluate(whole, {x: value}))
            np.testing.assert_allclose(found, np.sort_complex(expected), rtol=1e-7, atol=1e-7)
    none = ot.roots(np.array([0.0, 1, 2]), strip_zeros=False).eval()
    assert np.isnan(none).all()


def test_compiled_with_gradients_and_batches() -> None:
    x, y, p = ot.dvector("x"), ot.dmatrix("y"), ot.dvector("p")
    fitted = ot.polyfit(x, y, 2)
    product = ot.prod(ot.roots(p)).real  # (-1)^n p[n] / p[0]
    f = oc.function([x, y, p], [fitted, product, *og.grad(product, [p])])
    coefficients, value, slope = f(X, Y, [2.0, 1.0, -3.0, 4.0])
    np.testing.assert_allclose(coefficients, np.polyfit(X, Y, 2), rtol=1e-9)
    np.testing.assert_allclose(value, -2)
    np.testing.assert_allclose(slope, [1, 0, 0, -0.5], atol=1e-12)
    rows = GENERATOR.normal(size=(3, 7))
    batched = ot.vectorize(_fit, "(n)->(k)")(rows)
    np.testing.assert_allclose(batched.eval(), [np.polyfit(X, row, 2) for row in rows], rtol=1e-9)
