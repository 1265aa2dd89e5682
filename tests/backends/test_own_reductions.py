"""Reductions of users: values, derivatives and batches on every backend, by formulas or in Python."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import MethodNotDefined, grad, pushforward, vectorize_graph
from occelo_graph import tensor as ot
from occelo_graph.gradient.numeric import numeric_grad
from occelo_graph.ops.elemwise.op import elementwise
from occelo_graph.ops.elemwise.scalar import inexact, promoted
from occelo_graph.ops.reductions import reduction_of
from occelo_link.capabilities import BACKENDS, is_installed, supports
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are

__all__ = ["graphs_of_pytorch_run_as_they_are"]


def _of_resistors(x: Any, y: Any) -> Any:
    return x * y / (x + y)


_PARTIALS = [
    lambda ct, x, y, out: ct * ot.sqr(y / (x + y)),
    lambda ct, x, y, out: ct * ot.sqr(x / (x + y)),
]
log_add = ot.register_reduction(
    elementwise(
        "log_add",
        2,
        inexact,
        np.logaddexp,
        [
            lambda ct, x, y, out: ct * ot.exp(x - out),
            lambda ct, x, y, out: ct * ot.exp(y - out),
        ],
        formula=ot.logaddexp,
    ),
    -np.inf,
)
length = ot.register_reduction(
    elementwise(
        "length",
        2,
        inexact,
        np.hypot,
        [lambda ct, x, y, out: ct * x / out, lambda ct, x, y, out: ct * y / out],
        formula=lambda x, y: ot.sqrt(x * x + y * y),
    ),
    0.0,
)
parallel = ot.register_reduction(
    elementwise("in_parallel", 2, inexact, _of_resistors, _PARTIALS, formula=_of_resistors)
)
opaque = ot.register_reduction(
    elementwise("in_parallel_in_python", 2, inexact, _of_resistors, _PARTIALS), np.inf
)


def _reduced(function: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Element by element, in a loop."""
    kept = [i for i in range(x.ndim) if i not in axes]
    moved = x.transpose((*kept, *axes)).reshape((*(x.shape[i] for i in kept), -1))
    result = moved[..., 0]
    for k in range(1, moved.shape[-1]):
        result = function(result, moved[..., k])
    return result


def _running(function: Any, x: Any, axis: int) -> Any:
    parts = [_reduced(function, x.take(range(k + 1), axis), (axis,)) for k in range(x.shape[axis])]
    return np.stack(parts, axis)


CASES: dict[str, tuple[Any, Any]] = {
    "logaddexp": (log_add, np.logaddexp),
    "length": (length, np.hypot),
    "in_parallel": (parallel, _of_resistors),
    "in_parallel_in_python": (opaque, _of_resistors),
}
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
AXES = [(0,), (1,), (2,), (0, 2), (0, 1, 2)] if THOROUGH else [(0, 2)]


def backends() -> list[Any]:
    missing = {
        b: pytest.mark.skipif(not is_installed(b), reason=f"{b} is not installed") for b in BACKENDS
    }
    return [pytest.param(b, marks=missing[b]) for b in BACKENDS]


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:.*runs in Python")
@pytest.mark.parametrize("backend", backends())
@pytest.mark.parametrize("name", CASES)
def test_values_derivatives_and_batches(name: str, backend: str) -> None:
    own, function = CASES[name]
    random = np.random.default_rng(7)
    data = random.uniform(0.5, 2.0, (2, 3, 5))
    along = random.uniform(-1.0, 1.0, data.shape)
    x, t = ot.dtensor3("x"), ot.dtensor3("t")
    outputs: list[Any] = []
    expected: list[Any] = []
    # Numba takes seconds for the loops of native, which has all of them
    few = backend == "numba" and not THOROUGH
    for axes in AXES:
        y = own(x, axis=axes)
        outputs += [y, grad((y * y).sum(), x), pushforward([y], [x], [t])[0]]
        value = _reduced(function, data, axes)
        slopes = numeric_grad(lambda v, a=axes: (_reduced(function, v, a) ** 2).sum(), [data])[0]
        step = 1e-6
        change = _reduced(function, data + step * along, axes) - _reduced(
            function, data - step * along, axes
        )
        expected += [value, slopes, change / (2 * step)]
    for axis in range(3) if THOROUGH else (1,):
        y = own.running(x, axis=axis)
        outputs += [y, grad((y * y).sum(), x)]

        slopes = numeric_grad(lambda v, a=axis: (_running(function, v, a) ** 2).sum(), [data])[0]
        expected += [_running(function, data, axis), slopes]
    v = ot.dvector("v")
    batched = vectorize_graph([own(v), own.running(v)], {v: x})
    outputs += batched
    expected += [_reduced(function, data, (2,)), _running(function, data, 2)]
    if few:
        # a value, a slope and what is running
        outputs, expected = [outputs[k] for k in (0, 1, 3)], [expected[k] for k in (0, 1, 3)]
    compiled = name != "in_parallel_in_python"
    assert not compiled or not supports(backend, outputs)
    f = oc.function([x, t], outputs, mode=backend, on_unused_input="ignore")
    for found, wanted in zip(f(data, along), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore:.*runs in Python")
@pytest.mark.parametrize("backend", backends())
def test_no_elements_have_the_identity_or_are_an_error(backend: str) -> None:
    x = ot.dmatrix("x")
    empty = np.empty((2, 0))
    for own, wanted in ((log_add, -np.inf), (length, 0.0), (opaque, np.inf)):
        f = oc.function([x], [own(x, axis=1), own.running(x, axis=1)], mode=backend)
        assert f(empty)[0].tolist() == [wanted, wanted]
        assert f(empty)[1].shape == (2, 0)
        assert f(np.ones((0, 3)))[0].shape == (0,)
    f = oc.function([x], parallel(x, axis=1), mode=backend)
    with pytest.raises(ValueError, match="no in_parallel of no elements"):
        f(empty)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", backends())
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "uint64", "float32", "float64"]
)
def test_rows_of_ours_as_numpy_has_them(dtype: str, backend: str) -> None:
    """Also those that no function of the library gives: exclusive or, and running largest elements."""
    random = np.random.default_rng(3)
    data = random.integers(0, 2 if dtype == "bool" else 100, (3, 4)).astype(dtype)
    x = ot.tensor("x", dtype=dtype, shape=(None, None))
    rows = {"maximum": np.maximum, "minimum": np.minimum, "add": np.add, "mul": np.multiply}
    if not dtype.startswith("float"):
        rows |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    outputs, expected = [], []
    for name, ufunc in rows.items():
        own = ot.Reducer(reduction_of(name))
        wide = own.reduction.accumulates
        kind = np.add.reduce(np.zeros(1, dtype)).dtype if wide else np.dtype(dtype)
        outputs += [own(x, axis=0), own(x), own.running(x, axis=1)]
        expected += [
            ufunc.reduce(data, axis=0, dtype=kind),
            ufunc.reduce(data, axis=None, dtype=kind),
            ufunc.accumulate(data, axis=1, dtype=kind),
        ]
    f = oc.function([x], outputs, mode=backend)
    for found, wanted in zip(f(data), expected, strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_what_a_row_lacks_is_told_where_it_is_needed() -> None:
    x = ot.dvector("x")
    row = ot.sub.scalar_op
    with pytest.raises(MethodNotDefined, match="no reduction 'sub'"):
        ot.CAReduce(row, (0,))(x)
    with pytest.raises(MethodNotDefined, match="no reduction 'sub'"):
        ot.CumOp(0, "sub")(x)
    flat = ot.register_reduction(elementwise("of_two", 2, promoted, lambda a, b: a + b))
    y = flat(x)
    with pytest.raises(
        MethodNotDefined,
        match="of_two cannot be differentiated: it does not declare partials",
    ):
        grad(y, x)
    with pytest.raises(MethodNotDefined, match="of_two has no identity"):
        reduction_of("of_two").start("float64")
    with pytest.raises(MethodNotDefined, match="does not say what repeated elements make"):
        reduction_of("of_two").of_many(x, 3)
    with pytest.raises(ValueError, match="a reduction 'add' already"):
        ot.register_reduction(ot.add, 0)
    with pytest.raises(TypeError, match="takes 1"):
        ot.register_reduction(ot.exp, 0)
    with pytest.raises(TypeError, match="scalar function"):
        ot.register_reduction(np.add, 0)


@pytest.mark.parametrize("backend", ["jax", "pytorch"])
def test_a_negative_power_of_an_integer_is_an_error_in_formulas_too(backend: str) -> None:
    if not is_installed(backend):
        pytest.skip(f"the library of {backend} is not installed")
    power = elementwise(
        f"power_and_one_{backend}", 2, promoted, None, formula=lambda x, y: x**y + 1
    )
    x, y = ot.lvectors("x", "y")
    f = oc.function([x, y], power(x, y), mode=backend)
    np.testing.assert_array_equal(f([2, 3], [2, 0]), [5, 2])
    with pytest.raises(ValueError, match="negative integer powers"):
        f([2, 3], [2, -3])
