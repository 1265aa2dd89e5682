"""Ops that define only a decomposition, on every backend."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import Op, TensorType, op
from occelo_graph import tensor as ot
from occelo_link import without_lowering
from occelo_link.capabilities import BACKENDS, is_installed, supports
from occelo_testing.examples import EXAMPLES
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are
from occelo_testing.loop_programs import agree_by_decompositions

__all__ = ["graphs_of_pytorch_run_as_they_are"]

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


@pytest.mark.measured(0)
# first in the file: of the tests with each slow compiler the checks take the first
@pytest.mark.filterwarnings("ignore:.*(runs in Python|static|depend on values)")
@pytest.mark.parametrize("backend", ["numba", "jax", "pytorch"])
def test_examples_by_what_their_ops_consist_of(backend: str) -> None:
    if not is_installed(backend):
        pytest.skip(f"no {backend}")
    # each example is compiled for its own shapes; Numba prints the loops of native, which runs them all
    families = sorted({e.family for e in EXAMPLES})
    if backend == "numba" and not THOROUGH:
        families = ["control", "reduce"]
    # distributions are large graphs; PyTorch takes half a minute for them
    steps = {} if THOROUGH else dict.fromkeys(families, 3) | {"random": 40, "linalg": 12}
    # to Numba a function of all examples takes an hour, and gigabytes of memory
    at_once = 20 if backend == "numba" else None
    found = sum(
        agree_by_decompositions(backend, f, THOROUGH, at_once, steps.get(f, 1)) for f in families
    )
    assert found > (300 if THOROUGH else {"numba": 2, "jax": 20, "pytorch": 20}[backend])


@op
class Standardized(Op):
    """x less its mean along the last axis, and how far the elements are off it."""

    by: float = 1.0

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType]:
        return x, TensorType(x.dtype, x.shape[:-1])

    def decompose(self, x: Any) -> Any:
        less = x - ot.mean(x, axis=-1, keepdims=True)
        return [self.by * less, ot.sqrt(ot.sum(less * less, axis=-1))]


class Doubled(Standardized):
    """Computes something else than what it has from its base."""

    def evaluate(self, x: Any) -> Any:
        return 2 * x, x.sum(-1)


@pytest.mark.filterwarnings("ignore:.*runs in Python")
@pytest.mark.parametrize(
    "backend",
    [
        pytest.param(b, marks=pytest.mark.skipif(not is_installed(b), reason=f"no {b}"))
        for b in BACKENDS
    ],
)
def test_an_op_without_a_lowering_runs_by_what_it_consists_of(backend: str) -> None:
    x = ot.dmatrix("x")
    first, size = Standardized(2.0)(x)
    again, _ = Standardized(2.0)(first)
    assert not supports(backend, [again, size])
    f = oc.function([x], [first, size, again], mode=backend)
    for shape in ((2, 3), (1, 1), (4, 5)):
        data = np.random.default_rng(2).normal(size=shape)
        less = data - data.mean(-1, keepdims=True)
        expected = [2 * less, np.sqrt((less * less).sum(-1)), 4 * less]
        for found, wanted in zip(f(data), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    own = oc.function([x], Doubled()(x)[0], mode=backend)
    assert own([[1.0, 2.0]]).tolist() == [[2.0, 4.0]]


def test_a_decomposition_of_other_types_is_an_error() -> None:
    class Wrong(Standardized):
        def decompose(self, x: Any) -> Any:
            return [x, x]

    with pytest.raises(TypeError, match="decompose of Wrong"):
        Wrong()(ot.dmatrix("x"))[0].eval({"x": [[1.0]]})


@pytest.mark.parametrize("backend", ["jax", "pytorch"])
def test_what_is_traced_later_is_without_the_lowering_too(backend: str) -> None:
    if not is_installed(backend):
        pytest.skip(f"no {backend}")
    from occelo_link.traced.registry import find_lowering, traces

    x = ot.dvector("x")
    out = Standardized(3.0)(ot.stack([x, x]))[1]

    @traces(Standardized)
    def wrong(tracer: Any, node: Any, inputs: Any) -> Any:
        raise AssertionError("this is turned off")

    try:
        with without_lowering(Standardized):
            assert find_lowering(out.owner) is None
            f = oc.function([x], out, mode=backend)
        for size in (3, 4):  # traced by the call, outside of the block
            data = np.arange(float(size))
            expected = np.sqrt(((data - data.mean()) ** 2).sum()) * np.ones(2)
            np.testing.assert_allclose(f(data), expected)
        assert find_lowering(out.owner) is wrong
    finally:
        from occelo_link.traced import registry

        del registry._lowerings._entries[Standardized]


@pytest.mark.parametrize("backend", ["jax", "pytorch"])
def test_softmax_of_no_elements_and_of_infinities(backend: str) -> None:
    if not is_installed(backend):
        pytest.skip(f"no {backend}")
    x = ot.dmatrix("x")
    for axis in (0, 1, None):
        soft, logs, total = ot.softmax(x, axis), ot.log_softmax(x, axis), ot.logsumexp(x, axis)
        f = oc.function([x], [soft, logs, total], mode=backend)
        for data in (np.zeros((0, 2)), np.zeros((2, 0)), SPECIAL):
            with np.errstate(all="ignore"):
                expected = [v.owner.op.evaluate(data) for v in (soft, logs, total)]
            for found, wanted in zip(f(data), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-12)


SPECIAL = np.array(
    [
        [-np.inf, -np.inf, -np.inf],
        [np.inf, 1.0, np.inf],
        [np.nan, 1.0, 2.0],
        [-np.inf, 800.0, 801.0],
    ]
)
