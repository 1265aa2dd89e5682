"""Second derivatives of batches of loops that end at other steps: in every order, against one element after the other."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import grad, hessian, pushforward
from occelo_graph import tensor as ot
from occelo_loops.ops.building.loops import loop, while_loop

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*runs in Python", "ignore:Shapes in the graph", "ignore:.*script_method"
)

s, w, k = ot.dscalar("s"), ot.dscalar("w"), ot.lscalar("k")
x, many, counts = ot.dvector("x"), ot.dvector("many"), ot.lvector("counts")
xs, ws = ot.dmatrix("xs"), ot.dvector("ws")
X = np.linspace(0.5, 1.5, 12)
ONE = ot.constant(1.0)
vector = og.vectorize_graph


def doubled(reverse: bool = False) -> tuple[Any, Any]:
    return loop(
        lambda v, e: (v * 2 + ot.sin(w * v) * e, v * e),
        s,
        x,
        until=lambda v: v > 100,
        reverse=reverse,
    )


def rows() -> tuple[Any, Any]:
    start = ot.stack([s, w])
    return loop(
        lambda v: (v * 2 + ot.sin(w * v)[::-1], v), start, length=12, until=lambda v: v[0] > 100
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
    back, kept_back = doubled(reverse=True)
    return {
        "functions": final + (trace**2).sum() * ot.sin(final) + (trace * final).mean(),
        "rows": (matrix * last).sum() + ot.exp(-(matrix.sum(axis=1) ** 2)).sum(),
        "backward": back + ot.sin(kept_back).sum() * w,
        "single rows": trace[-1] * trace[0] + matrix[-1, 0] * (trace**2).sum(),
        "running sums": ot.cumsum(trace**2)[-1] * final,
        "largest": trace.max() ** 2 + ot.log(matrix.max(axis=0)).sum(),
        "not defined after the end": end + logs.sum(),
    }


def ones(variable: Any) -> Any:
    return ot.ones_like(variable)


Way = Callable[[Any], Any]
WAYS: dict[str, Way] = {
    "batch, reverse, reverse": lambda c: grad(
        grad(vector(c, {s: many}).sum(), many).sum(), [many, w]
    ),
    "reverse, batch, reverse": lambda c: grad(vector(grad(c, s), {s: many}).sum(), [many, w]),
    "reverse, reverse, batch": lambda c: vector(grad(grad(c, s), [s, w]), {s: many}),
    "batch, reverse, forward": lambda c: [
        pushforward(v, many, ones(many)) for v in grad(vector(c, {s: many}).sum(), [many, w])
    ],
    "reverse, batch, forward": lambda c: [
        pushforward(v, many, ones(many)) for v in vector(grad(c, [s, w]), {s: many})
    ],
    "reverse, forward, batch": lambda c: vector(
        [pushforward(v, s, ONE) for v in grad(c, [s, w])], {s: many}
    ),
    "batch, forward, reverse": lambda c: grad(
        pushforward(vector(c, {s: many}), many, ones(many)).sum(), [many, w]
    ),
    "forward, batch, reverse": lambda c: grad(
        vector(pushforward(c, s, ONE), {s: many}).sum(), [many, w]
    ),
    "forward, reverse, batch": lambda c: vector(grad(pushforward(c, s, ONE), [s, w]), {s: many}),
    "forward, forward, batch": lambda c: vector(
        [pushforward(pushforward(c, s, ONE), s, ONE)], {s: many}
    ),
    "Hessian of the batch": lambda c: [hessian(vector(c, {s: many}).sum(), many).diagonal()],
}


REFUSED = {
    "running sums": "-1",  # kept values in reverse order
}
"""What a batch of gradients refuses, where the batch of the loop itself can be differentiated; and a part of the message."""

OF_ONE_LENGTH = {
    "backward": "has other lengths for some elements",  # the elements of x after the end are cut off
}
"""Which batches of gradients take only loops that end at the same step, and a part of the message for others."""

STARTS = {
    "all ends": [1.0, 3.0, 200.0, 0.01, 50.0, 1e-3],
    "the same step": [3.0, 3.1, 3.2],
    "one": [3.0],
    "none": [],
}


def check(cost: Any, ways: list[str], mode: str, refused: str | None = None) -> None:
    one = oc.function([s, w, x], grad(grad(cost, s), [s, w]), mode="py", on_unused_input="ignore")
    outputs = [v for name in ways for v in WAYS[name](cost)]
    f = oc.function([many, w, x], outputs, mode=mode, on_unused_input="ignore")
    for kind, starts in STARTS.items():
        if kind == "all ends" and refused is not None:
            with pytest.raises(ValueError, match=refused):
                f(starts, 0.5, X)
            continue
        alone = np.array([one(v, 0.5, X) for v in starts]).reshape(-1, 2).T
        # mixed derivatives with the shared weight are summed over the batch if that was differentiated last
        for found in f(starts, 0.5, X):
            assert np.isfinite(found).all()
            wanted = alone[1].sum() if np.ndim(found) == 0 else alone
            if np.ndim(found):
                assert found.shape == (len(starts),)
                close = [np.allclose(found, v, rtol=1e-8, atol=1e-10) for v in wanted]
                assert any(close)
            else:
                np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", list(costs()))
@pytest.mark.parametrize("way", list(WAYS))
def test_every_order(name: str, way: str) -> None:
    last = not way.startswith(("batch", "Hessian", "forward, batch", "forward, f"))
    if name in REFUSED and last:
        # the gradient reads kept values in a way that batches of loops with ends of their own refuse
        with pytest.raises(NotImplementedError, match=REFUSED[name]):
            WAYS[way](costs()[name])
        return
    check(costs()[name], [way], "py", OF_ONE_LENGTH.get(name) if last else None)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["rows", "single rows"])
def test_every_backend(name: str, mode: str) -> None:
    check(costs()[name], ["reverse, reverse, batch"], mode)


def by_hand(start: complex, weight: complex, elements: Any) -> complex:
    """The cost of `test_finite_differences`, in Python, for complex numbers too."""
    value, total = start, 0.0 + 0.0j
    for e in elements:
        total = total + (value * e) ** 2
        value = value * 2 + np.sin(weight * value) * e
        if value.real > 100:
            break
    return total * 1e-4 + value


def test_finite_differences(mode: str) -> None:
    final, trace = doubled()
    cost = (trace**2).sum() * 1e-4 + final
    f = oc.function([many, w, x], vector(grad(grad(cost, s), [s, w]), {s: many}), mode=mode)
    starts = [1.0, 3.0, 200.0, 0.01, 50.0]
    own, mixed = f(starts, 0.5, X)
    h = 1e-7
    for i, v in enumerate(starts):
        slopes = [by_hand(v + d + 1e-30j, 0.5, X).imag / 1e-30 for d in (-h, h)]
        np.testing.assert_allclose(own[i], (slopes[1] - slopes[0]) / (2 * h), rtol=1e-5)
        slopes = [by_hand(v + 1e-30j, 0.5 + d, X).imag / 1e-30 for d in (-h, h)]
        np.testing.assert_allclose(mixed[i], (slopes[1] - slopes[0]) / (2 * h), rtol=1e-5)


@pytest.mark.measured(
    0
)  # rewriting takes most of the time, and three times as long if it is measured
def test_third_derivatives() -> None:
    cost = costs()["rows"]
    third = grad(grad(grad(cost, s), s), s)
    one = oc.function([s, w], third, mode="py")
    starts = [1.0, 200.0, 0.01] if THOROUGH else [1.0, 0.01]
    wanted = [one(v, 0.5) for v in starts]
    mixed = grad(vector(grad(grad(cost, s), s), {s: many}).sum(), many)
    for out in (vector(third, {s: many}), mixed):
        found = oc.function([many, w], out, mode="py")(starts, 0.5)
        np.testing.assert_allclose(found, wanted, rtol=1e-8)


# what no element reads


NAN = np.nan


def test_series_filled_up_with_nan(mode: str) -> None:
    """Elements of sequences after the end of a series are not defined, and neither are their derivatives."""
    final, trace = loop(lambda v, e: (v * w + ot.sin(e * v), v * e), s, x, length=k)
    cost = final + (trace**2).sum()
    wrt = [s, w, x]
    slopes = [*grad(cost, wrt), *grad(grad(cost, w), wrt)]
    one = oc.function([s, w, x, k], slopes, mode="py")
    series = np.array([[1.0, 2.0, 3.0, NAN], [NAN] * 4, [0.1, 0.1, 0.2, 0.3], [5.0, NAN, NAN, NAN]])
    lengths = [3, 0, 4, 1]
    alone = [one(1.0, 1.1, r, c) for r, c in zip(series, lengths, strict=True)]
    batch = vector(cost, {x: xs, k: counts})
    first: list[Any] = grad(batch.sum(), [s, w, xs])
    second: list[Any] = grad(first[1], [s, w, xs])
    f = oc.function(
        [s, w, xs, counts],
        [*first, *second, *vector(slopes, {x: xs, k: counts})],
        mode=mode,
    )
    found = f(1.0, 1.1, series, lengths)
    for i in range(6):
        wanted = [v[i] for v in alone]
        np.testing.assert_allclose(found[6 + i], wanted, rtol=1e-9)
        summed = wanted if i in (2, 5) else np.sum(wanted)
        np.testing.assert_allclose(found[i], summed, rtol=1e-9)
    for each in f(1.0, 1.1, np.full((2, 4), NAN), [0, 0]):
        assert np.isfinite(each).all()


def test_elements_without_a_step(mode: str) -> None:
    """A step is not defined for the start of an element that takes none."""
    end = while_loop(lambda v: v > 1.0, lambda v: v - ot.log(v) / w, s, max_steps=10)
    one = oc.function([s, w], [*grad(end, [s, w]), *grad(grad(end, w), [s, w])], mode="py")
    batch = vector(end, {s: many, w: ws})
    first: list[Any] = grad(batch.sum(), [many, ws])
    f = oc.function([many, ws], [*first, *grad(first[1].sum(), [many, ws])], mode=mode)
    for starts, weights in (
        ([5.0, -1.0, 0.5, 0.0, 3.0], [1.1, 0.0, 1.0, 0.0, 2.0]),
        ([-1.0, 0.0], [0.0, 0.0]),
        ([2.0], [1.5]),
        ([], []),
    ):
        alone = np.array([one(*pair) for pair in zip(starts, weights, strict=True)])
        for i, found in enumerate(f(starts, weights)):
            np.testing.assert_allclose(found, alone.reshape(-1, 4)[:, i], rtol=1e-10)


def test_shared_sequence_that_later_steps_cannot_use() -> None:
    """A step with the start of one element and a later element of the sequence is not defined."""
    final, trace = loop(lambda v, e: (v + w + ot.sqrt(v - e), v * e), s, x, until=lambda v: v > 8.0)
    cost = final + (trace**2).sum()
    values = np.array([0.5, 2.0, 3.0, 4.0, 5.0, 6.0])
    slopes = [*grad(cost, [s, w]), *grad(grad(cost, w), [s, w])]
    one = oc.function([s, w, x], slopes, mode="py")
    f = oc.function([many, w, x], vector(slopes, {s: many}), mode="native")
    batch: list[Any] = grad(vector(cost, {s: many}).sum(), [many, w])
    g = oc.function([many, w, x], [*batch, *grad(batch[1], [many, w])], mode="native")
    starts = [1.0, 7.5, 0.6, 6.9]
    alone = np.array([one(v, 0.3, values) for v in starts]).T
    np.testing.assert_allclose(f(starts, 0.3, values), alone, rtol=1e-10)
    for i, found in enumerate(g(starts, 0.3, values)):
        np.testing.assert_allclose(found, alone[i] if i % 2 == 0 else alone[i].sum(), rtol=1e-10)


# what reads rows


def test_derivatives_of_sequences_and_single_rows(mode: str) -> None:
    final, trace = doubled()
    _, kept_back = doubled(reverse=True)
    outs = [
        grad(final, x),
        grad(trace[-1] * final, x),
        grad(grad(final, s), x),
        trace[k] + trace[0] ** 2,
        trace.max() - trace.min(),
        (kept_back * ot.cumsum(kept_back)).sum(),
        (ot.cumsum(trace) * trace).sum(),
        ot.cumprod(ot.tanh(trace))[-1],
    ]
    one = oc.function([s, w, x, k], outs, mode="py")
    f = oc.function([many, w, x, k], vector(outs, {s: many}), mode=mode)
    starts = [1.0, 3.0, 40.0, 0.01]
    for at in (1, -1, -2):
        alone = [one(v, 0.5, X, at) for v in starts]
        for i, found in enumerate(f(starts, 0.5, X, at)):
            np.testing.assert_allclose(found, np.array([v[i] for v in alone]), rtol=1e-9)
    with pytest.raises(IndexError, match="a row that a loop of the batch does not have"):
        f([1.0, 200.0], 0.5, X, 1)


def test_no_row_and_different_numbers_of_rows() -> None:
    trace = loop(lambda v: (v * 0.5, v), s, length=k)[1]
    other = loop(lambda v: (v + w, v), s, length=k)[1]
    f = oc.function([s, counts], vector(trace.max(), {k: counts}), mode="py")
    np.testing.assert_allclose(f(3.0, [1, 2]), [3.0, 3.0])
    with pytest.raises(ValueError, match="a loop of the batch takes no step"):
        f(3.0, [1, 0])
    stopped = loop(lambda v: (v * 2, v), s, length=12, until=lambda v: v > 100)[1]
    g = oc.function(
        [many, w, counts],
        vector((trace * other).sum(), {s: many, k: counts}),
        mode="py",
    )
    np.testing.assert_allclose(g([3.0, 1.0], 1.0, [2, 3]), [15.0, 1 + 1.0 + 0.75])
    h = oc.function(
        [many, counts], vector((trace * stopped).sum(), {s: many, k: counts}), mode="py"
    )
    np.testing.assert_allclose(h([60.0, 30.0], [1, 2]), [3600.0, 30 * 30 + 15 * 60])
    with pytest.raises(ValueError, match="loops with different numbers of steps"):
        h([60.0, 30.0], [1, 1])
