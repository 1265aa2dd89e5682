"""DebugMode, NanGuardMode, MonitorMode and profiles with the linkers to other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_compile.debugging.errors import BadThunkOutput
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_link.capabilities import is_installed
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are

__all__ = ["graphs_of_pytorch_run_as_they_are"]


@pytest.fixture(params=["numba", "jax", "pytorch"])
def linker(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if not is_installed(name):
        pytest.skip(f"the library of {name} is not installed")
    return name


def step(mode: Any, **options: Any) -> tuple[Any, Any]:
    """A training step and its weights."""
    x = ot.dmatrix("x")
    w = oc.shared(np.array([1.0, -2.0]), "w")
    cost = ot.log(1 + ot.exp(x @ w)).sum()
    return oc.function([x], cost, updates={w: w - 0.1 * grad(cost, w)}, mode=mode, **options), w


DATA = np.array([[0.5, 1.0], [2.0, -1.0], [0.0, 3.0]])


def test_debug_mode(linker: str) -> None:
    (f, w), (g, v) = step(oc.DebugMode(linker=linker)), step("vm")
    for _ in range(3):
        found = f(DATA)
        assert type(found) is np.ndarray
        np.testing.assert_allclose(found, g(DATA))
    np.testing.assert_allclose(w.get_value(), v.get_value())


def test_nan_guard_and_monitor(linker: str) -> None:
    x = ot.dvector("x")
    total = oc.shared(0.0, "total")
    f = oc.function([x], ot.log(x), updates={total: total + 1}, mode=oc.NanGuardMode(linker=linker))
    assert type(f([1.0])) is np.ndarray
    assert f([1.0]) == [0.0]
    with pytest.raises(AssertionError, match=r"found NaN in log\.out"):
        f([-1.0])
    assert total.get_value() == 2.0
    seen: list[str] = []
    mode = oc.MonitorMode(post_func=lambda g, i, n, t: seen.append(str(n.op)), linker=linker)
    assert oc.function([x], ot.exp(x).sum(), mode=mode)([0.0]) == 1.0
    assert seen[0] == "exp"


def test_profiles(linker: str) -> None:
    (f, w), (g, v) = step(linker, profile=True), step("vm")
    for _ in range(30):
        np.testing.assert_allclose(f(DATA), g(DATA))
    np.testing.assert_allclose(w.get_value(), v.get_value())
    assert f.profile.calls == 30
    assert any(cost.op.startswith("Dot") for cost in f.profile.costs())
    x = ot.dvector("x")
    quick = oc.function([x], ot.exp(x) * 2, mode=linker, profile=True)
    for _ in range(30):
        assert type(quick(np.zeros(2))) is np.ndarray
    assert quick.profile.calls == 30


def test_simple_calls_read_shared_values_anew(linker: str) -> None:
    x = ot.dvector("x")
    w = oc.shared(np.array([1.0, 2.0]), "w")
    f = oc.function([x], x * w, mode=linker)
    for value in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0]):
        w.set_value(np.array(value))
        np.testing.assert_array_equal(f(np.ones(2)), value)
    w.set_value(np.arange(4.0)[::2])
    np.testing.assert_array_equal(f(np.ones(2)), [0.0, 2.0])
    w.set_value(np.ones(3))
    with pytest.raises(ValueError, match="dimension mismatch"):
        f(np.ones(2))


def test_simple_calls_and_all_others_give_the_same(linker: str) -> None:
    x, y = ot.dvector("x"), ot.tensor("y", dtype="float64", shape=(2,))
    f = oc.function([x, y], [x + y, x * 2], mode=linker)
    arrays = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    expected = [[4.0, 6.0], [2.0, 4.0]]
    calls: list[Any] = [
        lambda: f(*arrays),
        lambda: f([1.0, 2.0], arrays[1]),
        lambda: f(y=arrays[1], x=arrays[0]),
        lambda: f(arrays[0][::-1][::-1], arrays[1].astype("float32")),
        lambda: f(np.array([2.0, 1.0])[::-1], arrays[1]),
    ]
    for call in calls * 2:
        found = call()
        assert [a.tolist() for a in found] == expected
        for a in found:
            a[...] = 0.0  # what is handed out is the caller's
    with pytest.raises(TypeError, match="Wrong shape"):
        f(arrays[0], np.ones(3))
    with pytest.raises(ValueError, match="dimension mismatch"):
        f(np.ones(3), arrays[1])
    with pytest.raises(TypeError, match="takes 2 arguments, got 3"):
        f(*arrays, arrays[0])
    assert [a.tolist() for a in f(*arrays)] == expected


def test_debug_mode_stops_at_the_first_node_that_the_library_computes_otherwise(
    linker: str,
) -> None:
    if linker == "numba":
        pytest.skip("Numba has the lowerings of `native`, with which this is tested")
    from occelo_link.traced.registry import traces

    class Tripled(og.Op):
        __props__ = ()

        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return 3.0 * x

    @traces(Tripled)
    def doubled(tracer: Any, node: Any, inputs: Any) -> Any:
        (x,) = inputs
        return [tracer.arrays.scalars["add"][1](x, x)]

    x = ot.dvector("x")
    f = oc.function([x], ot.exp(Tripled()(x)) + 1, mode=oc.DebugMode(linker=linker))
    with pytest.raises(BadThunkOutput, match=f"Tripled differs between Python and {linker}"):
        f([1.0, 2.0])
