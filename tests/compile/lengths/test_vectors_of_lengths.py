"""Vectors of lengths, which are integers, as operands of float functions that rules rewrite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from occelo_compile import function
from occelo_graph import tensor as ot

FORMS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "quotient by a cosine": (lambda s, x: s / ot.cos(x), lambda s, x: s / np.cos(x)),
    "quotient by a sum": (lambda s, x: s / (s + ot.exp(x)), lambda s, x: s / (s + np.exp(x))),
    "sigmoid": (lambda s, x: 1 / (1 + ot.exp(-(s + x))), lambda s, x: 1 / (1 + np.exp(-(s + x)))),
    "logarithm": (lambda s, x: ot.log1p(ot.exp(s)) - x, lambda s, x: np.log1p(np.exp(s)) - x),
    "softmax": (
        lambda s, x: ot.exp(s) / ot.exp(s).sum() + x,
        lambda s, x: np.exp(s) / np.exp(s).sum() + x,
    ),
}


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_values(dtype: str) -> None:
    x = ot.TensorType(dtype, (3,)).make_variable("x")
    y = ot.TensorType("float64", (1, None, None)).make_variable("y")
    array, other = np.array([1, -2, 0], dtype), np.zeros((1, 0, 2))
    for symbolic, numpy in FORMS.values():
        made = function([x, y], symbolic(y.shape, x), mode="vm")
        expected = numpy(np.array(other.shape), array)
        np.testing.assert_allclose(made(array, other), expected, rtol=1e-12)
