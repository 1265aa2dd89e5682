"""Loops that end at other steps for each element of a batch: values and gradients, against one element after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_loops.ops.building.loops import loop

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*runs in Python", "ignore:Shapes in the graph", "ignore:.*script_method"
)

s, w, k = ot.dscalar("s"), ot.dscalar("w"), ot.lscalar("k")
x, many, counts = ot.dvector("x"), ot.dvector("many"), ot.lvector("counts")
X = np.linspace(0.5, 1.5, 20)
STARTS = np.array([1.0, 3.0, 200.0, 0.01, 50.0])


def doubled() -> tuple[Any, Any]:
    return loop(lambda v, e: (v * 2 + ot.sin(w * v) * e, v * e), s, x, until=lambda v: v > 100)


def rows() -> tuple[Any, Any]:
    start = ot.stack([s, w])
    return loop(
        lambda v: (v * 2 + ot.sin(w * v)[::-1], v), start, length=20, until=lambda v: v[0] > 100
    )


def limited() -> tuple[Any, Any]:
    """After the last step another one is not defined."""
    return loop(
        lambda v: (v + ot.sqrt(210.0 - v) * w, ot.log(201.0 - v)),
        s,
        length=50,
        until=lambda v: v > 201,
    )


def costs() -> dict[str, Any]:
    final, trace = doubled()
    last, matrix = rows()
    end, logs = limited()
    return {
        "final": final,
        "sum": trace.sum(),
        "sums of functions": final + (trace**2).sum() * ot.sin(final) + (trace * final).mean(),
        "product and truth": ot.cos(trace).sum() + ot.switch((trace > 150).any(), 2.0, w),
        "rows": (matrix * last).sum() + ot.exp(-(matrix.sum(axis=1) ** 2)).sum(),
        "not defined after the end": end + logs.sum(),
    }


@pytest.mark.parametrize("mode", ["native", "jax", "py"])
@pytest.mark.parametrize("name", list(costs()))
def test_gradients_in_both_orders(name: str, mode: str) -> None:
    pytest.importorskip("jax" if mode == "jax" else "numpy")
    cost = costs()[name]
    wrt = [s, w]
    one = oc.function([s, w, x], [cost, *grad(cost, wrt)], mode="py", on_unused_input="ignore")
    alone = [one(v, 0.5, X) for v in STARTS]
    assert len({float(v[0]) for v in alone}) == len(STARTS)
    after = og.vectorize_graph([cost, *grad(cost, wrt)], {s: many})
    batch = og.vectorize_graph(cost, {s: many})
    before = [batch, *grad(batch.sum(), [many, w])]
    f = oc.function([many, w, x], [*after, *before], mode=mode, on_unused_input="ignore")
    found = f(STARTS, 0.5, X)
    for position in range(3):
        wanted = [v[position] for v in alone]
        np.testing.assert_allclose(found[position], wanted, rtol=1e-10)
    np.testing.assert_allclose(found[3], [v[0] for v in alone], rtol=1e-10)
    np.testing.assert_allclose(found[4], [v[1] for v in alone], rtol=1e-10)
    np.testing.assert_allclose(found[5], sum(v[2] for v in alone), rtol=1e-10)
    for value in ([], [3.0]):
        short = f(value, 0.5, X)
        assert short[0].shape == short[1].shape == short[2].shape == (len(value),)
        np.testing.assert_allclose(short[1], [one(v, 0.5, X)[1] for v in value], rtol=1e-10)


def test_numbers_of_steps_of_each_element() -> None:
    final, trace = loop(lambda v, e: (v * 0.9 + ot.sin(w * v) * e, v * e), s, x, length=k)
    cost = final + (trace**2).sum()
    one = oc.function([s, w, x, k], [cost, *grad(cost, [s, w])], mode="py")
    f = oc.function(
        [s, w, x, counts],
        og.vectorize_graph([cost, *grad(cost, [s, w])], {k: counts}),
        mode="native",
    )
    for given in ([4, 0, 20, 1], [0], [0, 0]):
        found = f(1.0, 0.5, X, given)
        for i, count in enumerate(given):
            np.testing.assert_allclose([v[i] for v in found], one(1.0, 0.5, X, count), rtol=1e-12)
    with pytest.raises(ValueError, match="negative"):
        f(1.0, 0.5, X, [3, -1])


def test_batches_of_several_dimensions() -> None:
    final, trace = doubled()
    slope = grad(ot.sin(final) + trace.sum(), s)
    one = oc.function([s, w, x], slope, mode="py")
    table = ot.dmatrix("table")
    f = oc.function([table, w, x], og.vectorize_graph(slope, {s: table}), mode="native")
    value = np.array([[1.0, 300.0, 7.0], [0.02, 3.0, 40.0]])
    wanted = [[one(v, 0.5, X) for v in row] for row in value]
    np.testing.assert_allclose(f(value, 0.5, X), wanted, rtol=1e-9)


def test_what_needs_rows_of_one_number_is_refused() -> None:
    final, trace = doubled()
    for out in (
        trace,
        trace[::2],
        trace + x,
        trace.reshape((-1, 1)),
        ot.broadcast_to(trace, (4,)),
        ot.broadcast_to(trace, (2, 4)),
        grad(ot.cumprod(trace)[-1], s),
    ):
        with pytest.raises(NotImplementedError, match="elements end at different steps"):
            og.vectorize_graph(out, {s: many})
    # of the batch, all derivatives are there
    batch = og.vectorize_graph(final, {s: many})
    f = oc.function([many, w, x], grad(batch.sum(), x), mode="py")
    one = oc.function([s, w, x], grad(final, x), mode="py")
    wanted = sum(one(v, 0.5, X) for v in STARTS)
    np.testing.assert_allclose(f(STARTS, 0.5, X), wanted, rtol=1e-12)
