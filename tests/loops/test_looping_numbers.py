"""Numbers of Python as initial values of loops take the dtype that the steps return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building.classic import foldl, scan
from occelo_loops.ops.building.loops import fori_loop, loop, while_loop


@pytest.mark.parametrize("number", [1, 300, 0.5, 1 + 2j], ids=str)
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int64", "uint8", "float32", "float64", "complex64"]
)
def test_a_number_follows_the_elements(number: Any, dtype: str) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None,))
    least = {int: "int8", float: "float16", complex: "complex64"}[type(number)]
    kinds = "biufc"
    fits = type(number) is not int or dtype not in ("int8", "uint8") or number <= 100
    if kinds.index(np.dtype(least).kind) > kinds.index(np.dtype(dtype).kind) or not fits:
        with pytest.raises(TypeError, match="must keep its dtype"):
            loop(lambda s, e: (e, s), number, x)
        return
    final, trace = loop(lambda s, e: (e, s), number, x)
    assert final.dtype == trace.dtype == dtype
    given = np.array([1, 0, 1], dtype)
    np.testing.assert_array_equal(trace.eval({x: given}), [number, 1, 0])


@pytest.mark.parametrize(
    ("step", "number", "dtype", "wanted"),
    [
        (lambda s: s + 1, 0, "int64", 1003),
        (lambda s: s * 1.001, 1.0, "float64", 1.001**1003),
        (lambda s: s + 0.5, 0, "float64", 501.5),
        (lambda s: s * 1j, 1 + 0j, "complex128", -1j),
        (lambda s: 7, 0, "int64", 7),
        (lambda s: 0.25, 1, "float64", 0.25),
    ],
)
def test_a_number_that_follows_nothing_has_the_default_dtype(
    step: Any, number: Any, dtype: str, wanted: Any
) -> None:
    final, _ = loop(lambda s: (step(s), None), number, length=1003)
    assert final.dtype == dtype
    np.testing.assert_allclose(final.eval(), wanted)


def test_numbers_in_all_forms() -> None:
    x = ot.fvector("x")
    given = {x: np.array([1, 2, 3], "float32")}
    total = foldl(lambda e, s: s + e, x, 0, return_updates=False)
    sums = scan(lambda e, s: s + e, x, 1.0, return_updates=False)
    fibonacci = scan(
        lambda a, b, e: a + b + e,
        outputs_info={"initial": [0, 1], "taps": [-2, -1]},
        non_sequences=[x[0]],
        n_steps=4,
        return_updates=False,
    )
    power = fori_loop(0, 3, lambda i, s: s * x[1], 1)
    grown = while_loop(lambda s: s < 20, lambda s: s * x[2], 1.0)
    nested = loop(lambda s, e: (loop(lambda t: (t + e, None), s, length=2)[0], None), 0.0, x)[0]
    for variable, wanted, dtype in (
        (total, 6, "float32"),
        (sums, [2, 4, 7], "float32"),
        (fibonacci, [2, 4, 7, 12], "float32"),
        (power, 8, "float32"),
        (grown, 27, "float32"),
    ):
        assert variable.dtype == dtype
        np.testing.assert_array_equal(variable.eval(given), wanted)
    np.testing.assert_array_equal(nested.eval(given), 12)
    arrays = loop(lambda s, e: (s + e, None), np.float64(0.0), x)[0]
    assert arrays.dtype == "float64"  # which NumPy's scalars keep


def test_gradients_by_a_number_that_was_adapted() -> None:
    x = ot.dvector("x")
    final = loop(lambda s, e: (s * 0.5 + e**2, None), 0, x)[0]
    np.testing.assert_allclose(
        og.grad(final, x).eval({x: np.arange(3.0)}), 2 * np.arange(3.0) * [0.25, 0.5, 1]
    )


def test_a_number_may_change_places_with_a_variable() -> None:
    """While the dtype of the number is not known, the variable seems to change its dtype."""
    a = ot.dscalar("a")
    (u, v), _ = loop(lambda s: ((s[1], s[0] * 1.5), None), (a, 1.0), length=1001)
    assert u.dtype == v.dtype == "float64"
    given = 0.5
    one, other = given, 1.0
    for _ in range(1001):
        one, other = other, one * 1.5
    np.testing.assert_allclose([u.eval({a: given}), v.eval({a: given})], [one, other])
    (u, v), _ = loop(lambda s: ((s[1], s[1] * 2), None), (a, 1.0), length=10)
    assert u.dtype == v.dtype == "float64"
    np.testing.assert_array_equal([u.eval({a: given}), v.eval({a: given})], [2.0**9, 2.0**10])
