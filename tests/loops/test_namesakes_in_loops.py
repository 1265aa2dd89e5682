"""Ops of the same name within bodies of loops: each loop runs the one that it was made with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import elementwise
from occelo_graph.ops.elemwise.scalar import inexact
from occelo_testing.looping import again

pytestmark = pytest.mark.filterwarnings("ignore:.*(cache|runs in Python)")


def op_of(factor: float) -> Any:
    @og.op
    class Multiplied(og.Op):
        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return factor * x

    return Multiplied()


def function_of(factor: float) -> Any:
    def multiplied(x: Any) -> Any:
        return factor * x

    return elementwise("of_loops", 1, inexact, multiplied, formula=multiplied)


@pytest.mark.parametrize("make", [op_of, function_of])
def test_bodies_of_loops_are_not_taken_for_each_other(make: Any, mode: str) -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")

    def powers(function: Any) -> Any:
        return again(n, [x], lambda state: [function(state)])[0]

    value = np.array([1.0, -2.0, 3.0])
    f = oc.function([n, x], [powers(make(k)) for k in (2.0, 5.0, 2.0)], mode=mode)
    for found, factor in zip(f(2, value), (4.0, 25.0, 4.0), strict=True):
        np.testing.assert_array_equal(found, value * factor)
