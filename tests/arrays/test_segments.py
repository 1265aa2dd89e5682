"""Tests of reductions of segments, compared with NumPy row by row, and with JAX's functions of the same names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

import occelo_compile as oc
import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot

SPECIAL: Any = scipy.special
IDS = np.array([0, 3, 0, -1, 1, 9, 3])
REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "segment_sum": (np.add, 0),
    "segment_prod": (np.multiply, 1),
    "segment_max": (np.maximum, None),
    "segment_min": (np.minimum, None),
}
DATA = np.random.default_rng(5).normal(size=(7, 2))


def _reduced(name: str, data: Any, ids: Any, count: int) -> Any:
    ufunc, empty = REDUCTIONS[name]
    if empty is None and data.dtype.kind in "iu":
        info = np.iinfo(data.dtype)
        empty = info.min if name == "segment_max" else info.max
    elif empty is None:
        empty = -np.inf if name == "segment_max" else np.inf
    result = np.full((count, *data.shape[1:]), empty, data.dtype)
    for k in range(count):
        if np.any(ids == k):
            result[k] = ufunc.reduce(data[ids == k], dtype=data.dtype)
    return result


@pytest.mark.parametrize("mode", ["vm", "native", "jax"])
def test_reductions(mode: str) -> None:
    data, ids = ot.dmatrix("data"), ot.lvector("ids")
    n = 5 if mode == "jax" else ot.lscalar("n")
    inputs = [data, ids] if mode == "jax" else [data, ids, n]
    f = oc.function(inputs, [getattr(arrays, name)(data, ids, n) for name in REDUCTIONS], mode=mode)
    for rows in (slice(None), slice(1), slice(0)):
        given = [DATA[rows], IDS[rows], 5][: len(inputs)]
        for found, name in zip(f(*given), REDUCTIONS, strict=True):
            np.testing.assert_allclose(found, _reduced(name, DATA[rows], IDS[rows], 5))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32"])
def test_the_number_of_segments_follows_from_the_ids(dtype: str) -> None:
    data, ids = ot.tensor("data", dtype=dtype, shape=(None,)), ot.ivector("ids")
    value, places = np.array([3, 1, 2, 5, 4, 1, 2]).astype(dtype), IDS.astype("int32")
    f = oc.function([data, ids], [getattr(arrays, name)(data, ids) for name in REDUCTIONS])
    for found, name in zip(f(value, places), REDUCTIONS, strict=True):
        np.testing.assert_array_equal(found, _reduced(name, value, IDS, 10), strict=True)
    assert [len(v) for v in f(value[:0], places[:0])] == [0, 0, 0, 0]


def test_they_are_those_of_jax() -> None:
    jax = pytest.importorskip("jax")
    for name in REDUCTIONS:
        data, ids = DATA.astype("float32"), IDS.astype("int32")
        found = getattr(arrays, name)(data, ids, 4).eval()
        np.testing.assert_allclose(found, getattr(jax.ops, name)(data, ids, 4), rtol=1e-6)


def test_logsumexp_and_softmax() -> None:
    data, ids = ot.dmatrix("data"), ot.lvector("ids")
    made = [arrays.segment_logsumexp(data, ids, 4), arrays.segment_softmax(data, ids, 4)]
    f = oc.function([data, ids], made)
    for scale in (1.0, 1e3):
        logs, shares = f(scale * DATA, IDS)
        for k in (0, 1, 3):
            rows = scale * DATA[k == IDS]
            np.testing.assert_allclose(logs[k], SPECIAL.logsumexp(rows, axis=0))
            np.testing.assert_allclose(shares[k == IDS], SPECIAL.softmax(rows, axis=0))
        assert (logs[2] == -np.inf).all()
        np.testing.assert_array_equal(shares[[3, 5]], 0.0)
    logs, shares = f(np.array([[-np.inf, np.inf], [0.0, 0.0]]), [0, 1])
    np.testing.assert_array_equal(logs[0], [-np.inf, np.inf])
    assert arrays.segment_softmax(np.array([1, 2]), [0, 0]).dtype == "float64"


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "logsumexp", "softmax"])
def test_gradients(name: str) -> None:
    def run(data: Any) -> Any:
        found = getattr(arrays, f"segment_{name}")(data, IDS, 4)
        return found if name == "softmax" else found[np.array([0, 1, 3])]

    og.verify_grad(run, [DATA], rng=np.random.default_rng(2))


def test_batches() -> None:
    data, ids = ot.dvector("data"), ot.lvector("ids")
    several, their_ids = ot.dmatrix("several"), ot.lmatrix("their_ids")
    made = [getattr(arrays, name)(data, ids, 3) for name in REDUCTIONS]
    new = og.vectorize_graph(made, {data: several, ids: their_ids})
    values, places = DATA.T, np.array([[0, 1, 1, 2, -1, 0, 0], [2, 2, 2, 2, 5, 1, 0]])
    for found, name in zip(
        oc.function([several, their_ids], new)(values, places), REDUCTIONS, strict=True
    ):
        rows = [_reduced(name, v, i, 3) for v, i in zip(values, places, strict=True)]
        np.testing.assert_allclose(found, rows)


def test_mistakes() -> None:
    for ids in (np.array([0.5]), np.array([[0]]), np.array([True])):
        with pytest.raises(TypeError, match="segment_ids must be a vector of integers"):
            arrays.segment_sum(np.ones(1), ids)
    with pytest.raises(ValueError, match="consist of rows"):
        arrays.segment_sum(1.0, [0])
    with pytest.raises(TypeError, match="segment_max takes real numbers"):
        arrays.segment_max(np.ones(2, complex), [0, 1])
    with pytest.raises(ValueError, match=r"length|shape|broadcast"):
        arrays.segment_sum(ot.dvector("d"), [0, 1]).eval({"d": np.ones(3)})
