"""Ops of families as models of ONNX, run by onnxruntime, beside NumPy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_random import functions as random
from occelo_sorting import functions as sorting

pytest.importorskip("onnx", reason="onnx is not installed")
ort: Any = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
to_onnx: Any = importlib.import_module("occelo_export").to_onnx


def run(model: Any, *values: Any) -> list[Any]:
    """The results of a model for the values of its inputs, in order."""
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    found: list[Any] = session.run(None, dict(zip(names, map(np.asarray, values), strict=True)))
    return found


def compare(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    expected = np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searching(side: str) -> None:
    row = np.array([-1.0, 0.5, 0.5, 2.0, np.nan, np.nan])
    queries = np.array([[-3.0, 0.5, np.nan], [2.0, 7.0, 0.6]])
    a, q = ot.dvector("a"), ot.dmatrix("q")
    model = to_onnx(sorting.searchsorted(a, q, side=side), [a, q])
    for length in (0, 1, 4, 6):
        (found,) = run(model, row[:length], queries)
        compare(found, np.searchsorted(row[:length], queries, side=side))


def test_draws_by_keys_are_the_same() -> None:
    """They need quotients and choices of uint64, for which onnxruntime has no `Where`."""
    key = ot.tensor("key", dtype="uint64", shape=(4,))
    value = np.array([3, 2**63 + 5, 1, 7], "uint64")
    draws = random.uniform(key, size=(5,))
    (found,) = run(to_onnx(draws, [key]), value)
    compare(found, oc.function([key], draws, "py")(value), 1e-15)


def test_determinants_of_single_precision() -> None:
    x = ot.tensor("x", dtype="float32", shape=(None, None, None))
    model = to_onnx(linalg.det(x), [x])
    for n in (1, 3):
        value = np.random.default_rng(n).normal(size=(2, n, n)).astype("float32")
        compare(run(model, value)[0], np.linalg.det(value), 1e-5)
