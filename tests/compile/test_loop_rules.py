"""Rules of loops in whole functions: what they leave out still fails, and what a call does not need does not run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
from occelo_graph import grad
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


def test_what_may_fail_does_not_run_for_a_loop_without_a_step(mode: str) -> None:
    """In each case a part of the step depends on no state and no element, so it is computed once, before the loop."""
    a, x, n = ot.dmatrix("a"), ot.dvector("x"), ot.lscalar("n")

    def inner(s: Any) -> Any:
        return loop(lambda t: (t + ot.linalg.inv(a)[0, 0], None), s, length=n)[0]

    cases = [
        loop(lambda s, e: (s + e * x.max(), s), np.float64(0.0), x),
        loop(lambda s, e: (s + ifelse(e > 1.0, x[1], x.sum()) * x[0], s), np.float64(0.0), x),
        loop(lambda s: (ot.linalg.inv(a) @ s, s), ot.ones_like(a[0]), length=n),
        loop(lambda s: (inner(s), s), np.float64(1.0), length=n),
    ]
    slopes = [grad(cases[1][0], x), grad(cases[2][0].sum(), a)]
    f = oc.function([a, x, n], [*(r for case in cases for r in case), *slopes], mode=mode)
    m, v = np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([1.0, 2.0])
    found = f(m, v, 2)
    inverse = np.linalg.inv(m)
    second = [np.ones(2), inverse @ np.ones(2)]
    wanted = [6.0, [0.0, 2.0], 5.0, [0.0, 3.0], inverse @ second[1], second]
    wanted += [1.0 + 4 * inverse[0, 0], [1.0, 1.0 + 2 * inverse[0, 0]]]
    # the sum and the second element, times the first one
    wanted += [[6.0, 2.0]]
    for one, other in zip(found, wanted, strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    back = [inverse.T @ np.ones(2), inverse.T @ inverse.T @ np.ones(2)]
    np.testing.assert_allclose(
        found[-1], -np.outer(back[0], inverse @ second[1]) - np.outer(back[1], second[1])
    )
    with np.errstate(all="ignore"):
        none = f(np.zeros((2, 2)), np.zeros(0), 0)
    empty = [0.0, [], 0.0, [], [1.0, 1.0], np.zeros((0, 2)), 1.0, [], [], np.zeros((2, 2))]
    for one, other in zip(none, empty, strict=True):
        np.testing.assert_array_equal(one, other, strict=False)
        assert np.shape(one) == np.shape(other)
    with pytest.raises(np.linalg.LinAlgError):
        f(np.zeros((2, 2)), np.zeros(0), 1)


def test_what_a_step_reads_from_before_the_loop_is_taken_as_it_is() -> None:
    """Only what the step makes is searched for what can be computed once."""
    x = ot.dvector("x")
    far = x
    for _ in range(5):
        far = ot.linalg.inv(far[:, None] * far + ot.eye(3))[0]
    final, _ = loop(lambda s, e: (s + e * far.sum(), None), np.float64(0.0), x)
    (total,) = [v for v in final.owner.inputs if v.owner is not None and v.owner.inputs[0] is far]
    assert final.owner.inputs[-1] is total
