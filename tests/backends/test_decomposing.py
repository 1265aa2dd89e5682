"""Ops that only say what they are as simpler ops, on every backend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import Op, TensorType, op
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link.capabilities import BACKENDS, is_installed, supports


@pytest.fixture(scope="module", autouse=True)
def graphs_of_pytorch_run_as_they_are() -> Iterator[None]:
    config.pytorch__compile = False
    yield
    del config.pytorch__compile


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
