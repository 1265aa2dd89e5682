"""Rules of loops in whole functions: what they leave out still fails, and what a call does not need does not run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.looping.loops import loop
from occelo_graph.ops.control.branches import ifelse
from occelo_graph.ops.control.python_function import as_op

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(jax|pytorch|cache|runs in Python|will be static)"
)
Array = npt.NDArray[Any]


def test_loops_in_different_branches_run_only_where_they_are_needed() -> None:
    calls: list[float] = []

    @as_op(itypes=[ot.dscalar], otypes=[ot.dscalar])
    def counted(value: Array) -> Array:
        calls.append(float(value))
        return value * 2.0

    one, two, x = ot.bscalar("one"), ot.bscalar("two"), ot.dvector("x")

    def total(keep: Any) -> Any:
        return loop(lambda s, e: (counted(s) + e, keep(s)), np.float64(1.0), x, length=x.shape[0])[
            1
        ].sum()

    both = ifelse(one, total(ot.exp), x.sum()) + ifelse(two, total(ot.sin), x.sum())
    for mode in ("native", "vm"):
        f = oc.function([one, two, x], both, mode=mode)
        for first in (0, 1):
            for second in (0, 1):
                calls.clear()
                f(first, second, [0.1, 0.2, 0.3])
                # the last value that is carried is not read
                assert len(calls) in ((first + second) * 2, (first + second) * 3)
    g = oc.function([x], total(ot.exp) + total(ot.sin), mode="vm")
    calls.clear()
    g([0.1, 0.2, 0.3])
    assert len(calls) == 3


def test_a_sequence_that_is_not_read_must_be_long_enough(mode: str) -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    kept = loop(lambda s, e: (s + e[0], (s, e[1])), np.float64(0.0), (x, y), length=x.shape[0])[1]
    f = oc.function([x, y], kept[0], mode=mode)
    assert f([1.0, 2.0], [1.0, 2.0, 3.0]).tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="2 steps, but its sequence 1 has only 1 elements"):
        f([1.0, 2.0], [1.0])
