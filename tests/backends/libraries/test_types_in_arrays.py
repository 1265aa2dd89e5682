"""Values that consist of several arrays, in functions compiled by JAX and PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Op, op
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.types import Type
from occelo_graph.ops.control import ifelse
from occelo_link.traced.registry import traces_parts
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are

__all__ = ["graphs_of_pytorch_run_as_they_are"]


class RowsType(Type):
    """Some rows of a matrix: ``(values, numbers)``, a tuple of a matrix and a vector."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(data, tuple) and len(data) == 2:
            return data
        raise TypeError(f"Expected a matrix and a vector, got {data!r}")

    def parts(self) -> tuple[Any, ...]:
        return og.TensorType("float64", (None, 2)), og.TensorType("int64", (None,))

    def to_parts(self, value: Any) -> Sequence[Any]:
        return value

    def from_parts(self, parts: Sequence[Any]) -> Any:
        return tuple(parts)


rows = RowsType()


@op
class Scaled(Op):
    def infer(self, r: Any, factor: Any) -> Any:
        return r

    def evaluate(self, r: Any, factor: Any) -> Any:
        raise AssertionError("this is compiled")


@op
class Total(Op):
    """The sum of the rows, which only Python knows."""

    def infer(self, r: Any) -> Any:
        return og.TensorType("float64", (2,))

    def evaluate(self, r: Any) -> Any:
        return r[0].sum(0)


@op
class Twice(Op):
    """Only Python knows it; the lengths of its parts are not known before."""

    def infer(self, r: Any) -> Any:
        return r

    def evaluate(self, r: Any) -> Any:
        return ((np.vstack([r[0], r[0]]), np.tile(r[1], 2)),)


@traces_parts(Scaled)
def lower_scaled(tracer: Any, node: Apply, inputs: list[Any]) -> Sequence[Any]:
    (values, numbers), factor = inputs
    mul = tracer.arrays.scalars["mul"][1]
    return [(mul(tracer.array(values), tracer.array(factor)), numbers)]


def some(count: int) -> Any:
    rng = np.random.default_rng(count)
    return rng.normal(size=(count, 2)), rng.integers(0, 9, count)


def assert_same(found: Any, expected: Any) -> None:
    assert type(found) is tuple
    assert all(type(x) is np.ndarray for x in found)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y)


def test_parts_are_traced(backend: str) -> None:
    r, x, c = rows("r"), ot.dscalar("x"), ot.bscalar("c")
    constant = rows.make_constant(some(2))
    result = ifelse(c, Scaled()(r, x), ifelse(ot.gt(x, 0.0), Scaled()(constant, x), constant))
    state = SharedVariable(rows, some(4), name="state")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = oc.function(
            [r, x, c],
            [result, r, x * 2],
            updates=[(state, Scaled()(state, x))],
            mode=backend,
        )
        for k, (factor, condition) in enumerate([(2.0, 1), (2.0, 0), (-1.0, 0), (0.5, 1)]):
            given = some(2)
            found, same, twice = f(given, factor, condition)
            used = 1.0 if factor < 0 and not condition else factor
            assert_same(found, (some(2)[0] * used, some(2)[1]))
            assert_same(same, given)
            assert twice == 2 * factor
            if k < 2:
                np.testing.assert_allclose(state.get_value()[0], some(4)[0] * 2.0 ** (k + 1))
    assert f.vm.static == set()
    # what a shape may change in is not another function, nor a value
    assert len(f.vm._compiled) == 1


def test_results_of_python_come_back_in_parts(backend: str) -> None:
    r, x = rows("r"), ot.dscalar("x")
    f = oc.function([r, x], [Total()(Scaled()(r, x)) + x, Scaled()(Twice()(r), x)], mode=backend)
    with pytest.warns(UserWarning, match="runs in Python"):
        f(some(3), 1.0)
    for count in (3, 1, 0):
        given = some(count)
        total, twice = f(given, 2.0)
        np.testing.assert_allclose(total, given[0].sum(0) * 2 + 2)
        assert_same(twice, (np.vstack([given[0]] * 2) * 2, np.tile(given[1], 2)))


def test_functions_of_the_library_take_arrays_only(backend: str) -> None:
    if backend == "jax":
        from occelo_link import as_jax as convert
    else:
        from occelo_link import as_torch as convert
    r, x = rows("r"), ot.dscalar("x")
    f = oc.function([r, x], x * 2, mode=backend, on_unused_input="ignore")
    with pytest.raises(TypeError, match="arrays, and r is"):
        convert(f)
    g = oc.function([x], Scaled()(rows.make_constant(some(1)), x), mode=backend)
    with pytest.raises(TypeError, match="takes and gives arrays"):
        convert(g)


def test_functions_of_numba_take_arrays_only() -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    from occelo_link import as_numba

    x, state = ot.dscalar("x"), SharedVariable(rows, some(2), name="state")
    f = oc.function([x], [x * 2, ifelse(ot.gt(x, 0.0), state, state)], mode="numba")
    with pytest.raises(TypeError, match="arrays, and"):
        as_numba(f)
