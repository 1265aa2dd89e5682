"""Indices whose slices or masks differ for each element of a batch, against NumPy in a loop over the batch.

What they select must have equal lengths, or there is an error when the graph runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot

LO, HI, K = ot.lscalar("i"), ot.lscalar("j"), ot.lscalar("k")
X, V = ot.dmatrix("x"), ot.dvector("v")
M = ot.tensor("m", dtype="bool", shape=(None,))
B = ot.tensor("b", dtype="bool", shape=(None, None))
ALL = [LO, HI, K, X, V, M, B]
LIBRARIES = {"jax": "jax", "pytorch": "torch", "numba": "numba", "c": "ziglang"}

RNG = np.random.default_rng(0)
VALUES: dict[Any, Any] = {
    LO: np.array([0, 1, -4, 2]),
    HI: np.array([2, 3, -2, 4]),
    K: np.array([1, 0, 3, -1]),
    X: RNG.normal(size=(4, 5, 5)),
    V: RNG.normal(size=(4, 2)),
    M: np.array([[1, 0, 1, 0, 0], [0, 0, 0, 1, 1], [0, 1, 1, 0, 0], [1, 0, 0, 0, 1]], "bool"),
    B: np.array([RNG.permutation(25).reshape(5, 5) < 2 for _ in range(4)]),
}


def written(key: Callable[..., Any], increment: bool) -> Callable[..., Any]:
    """NumPy's counterpart of setting or incrementing a part."""

    def write(i: Any, j: Any, k: Any, x: Any, v: Any, m: Any, b: Any) -> Any:
        made = x.copy()
        at = key(i, j, k, x, v, m, b)
        value = v[:, None] if made[at].ndim == 2 else v
        made[at] = made[at] + value if increment else value
        return made

    return write


KEYS: dict[str, Callable[..., Any]] = {
    "slice": lambda i, j, k, x, v, m, b: np.s_[i:j],
    "start": lambda i, j, k, x, v, m, b: np.s_[(k + 9) // 8 + 2 :],
    "stop": lambda i, j, k, x, v, m, b: np.s_[: j - i],
    "second axis": lambda i, j, k, x, v, m, b: np.s_[:2, i:j],
    "both axes": lambda i, j, k, x, v, m, b: np.s_[i:j, i:j],
    "step": lambda i, j, k, x, v, m, b: np.s_[:2, i % 2 : i % 2 + 4 : 2],
    "own step": lambda i, j, k, x, v, m, b: np.s_[2 : 2 + 2 * (2 * (i % 2) - 1) : 2 * (i % 2) - 1],
    "backward": lambda i, j, k, x, v, m, b: np.s_[i % 2 + 3 : i % 2 + 1 : -1],
    "row and slice": lambda i, j, k, x, v, m, b: np.s_[k, i:j],
    "slice and column": lambda i, j, k, x, v, m, b: np.s_[i:j, k],
    "slice and positions": lambda i, j, k, x, v, m, b: np.s_[i:j, [0, 2, 2]],
    "beyond the end": lambda i, j, k, x, v, m, b: np.s_[3 : i % 2 + 5],
    "mask": lambda i, j, k, x, v, m, b: np.s_[m],
    "mask of columns": lambda i, j, k, x, v, m, b: np.s_[:2, m],
    "mask of a matrix": lambda i, j, k, x, v, m, b: np.s_[b],
    "row and mask": lambda i, j, k, x, v, m, b: np.s_[k, m],
    "mask and slice": lambda i, j, k, x, v, m, b: np.s_[m, i:j],
    "mask and positions": lambda i, j, k, x, v, m, b: np.s_[m, [0, 2]],
    "nothing": lambda i, j, k, x, v, m, b: np.s_[j:i],
}
NOT_WRITTEN = {("nothing", "set"), ("nothing", "increment"), ("slice and positions", "increment")}
"""Where the value does not fit, or NumPy adds only one value at a position that occurs twice."""


def case(name: str, way: str) -> tuple[Any, Callable[..., Any]]:
    """The graph for one element, and what computes it in NumPy."""
    key = KEYS[name]
    part: Any = X[key(*ALL)]
    if way == "read":
        return part, lambda *element: element[3][key(*element)]
    value: Any = V[:, None] if part.ndim == 2 else V
    made = part.inc(value) if way == "increment" else part.set(value)
    return made, written(key, way == "increment")


@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
@pytest.mark.sampled(24)
@pytest.mark.parametrize("mode", ["py", "native", "vm", *LIBRARIES])
@pytest.mark.parametrize(
    ("name", "way"),
    [
        (name, way)
        for name in KEYS
        for way in ("read", "set", "increment")
        if (name, way) not in NOT_WRITTEN
    ],
)
def test_each_element_has_a_part_of_its_own(name: str, way: str, mode: str) -> None:
    if mode in LIBRARIES:
        pytest.importorskip(LIBRARIES[mode])
    out, numpys = case(name, way)
    # one tensor for the whole batch, a tensor for each element, and both with the gradient
    many = {v: v.type.clone(shape=(None, *v.type.shape)).make_variable() for v in ALL}
    shared = og.vectorize_graph(out, {v: many[v] for v in ALL if v is not X})
    batch = og.vectorize_graph(out, many)
    weights = ot.sqrt(1.0 + ot.arange(batch.size)).reshape(batch.shape)
    gradient = og.grad((batch * weights).sum(), many[X])
    f = oc.function(
        [X, *many.values()], [shared, batch, gradient], mode=mode, on_unused_input="ignore"
    )
    one = oc.function([*ALL, wr := ot.TensorType("float64", (None,) * out.ndim)("w")], og.grad((out * wr).sum(), X), mode="py", on_unused_input="ignore")  # fmt: skip
    for count in (4, 1):
        values = [VALUES[v][:count] for v in ALL]
        alone = VALUES[X][3]
        got = f(alone, *values)
        elements = list(zip(*values, strict=True))
        wanted = np.array([numpys(*e) for e in elements])
        with_one = np.array([numpys(*e[:3], alone, *e[4:]) for e in elements])
        np.testing.assert_allclose(got[0], with_one, rtol=1e-14)
        np.testing.assert_allclose(got[1], wanted, rtol=1e-14)
        sizes = np.sqrt(1.0 + np.arange(wanted.size)).reshape(wanted.shape)
        slopes = [one(*e, w) for e, w in zip(elements, sizes, strict=True)]
        np.testing.assert_allclose(got[2], np.array(slopes), rtol=1e-13)


@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("name", ["slice", "own step", "mask", "mask of a matrix"])
def test_no_elements(name: str, mode: str) -> None:
    many = {v: v.type.clone(shape=(None, *v.type.shape)).make_variable() for v in ALL}
    f = oc.function([*many.values()], og.vectorize_graph(case(name, "read")[0], many), mode=mode, on_unused_input="ignore")  # fmt: skip
    assert f(*[VALUES[v][:0] for v in ALL]).shape[0] == 0


@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
@pytest.mark.sampled(8)
@pytest.mark.parametrize("mode", ["py", "native", "jax", "pytorch"])
@pytest.mark.parametrize("way", ["read", "set"])
@pytest.mark.parametrize("name", ["slice", "stop", "mask", "row and mask"])
def test_other_lengths_raise(name: str, way: str, mode: str) -> None:
    if mode in LIBRARIES:
        pytest.importorskip(LIBRARIES[mode])
    many = {v: v.type.clone(shape=(None, *v.type.shape)).make_variable() for v in ALL}
    f = oc.function([*many.values()], og.vectorize_graph(case(name, way)[0], many), mode=mode, on_unused_input="ignore")  # fmt: skip
    values = dict(VALUES) | {HI: np.array([2, 3, -2, 3]), M: np.arange(20).reshape(4, 5) % 3 == 0}
    with pytest.raises(ValueError, match=r"Subtensor.* has other lengths for some elements"):
        f(*[values[v] for v in ALL])


def test_a_step_of_zero_and_a_mask_that_does_not_fit_raise() -> None:
    steps = ot.lvector("steps")
    f = oc.function([X, steps], og.vectorize_graph(X[::K], {K: steps}), mode="py")
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        f(np.ones((3, 3)), [1, 0])
    masks = ot.tensor("masks", dtype="bool", shape=(None, None))
    f = oc.function([X, masks], og.vectorize_graph(X[M], {M: masks}), mode="py")
    with pytest.raises(IndexError, match="does not fit the dimensions from 0 on"):
        f(np.ones((3, 3)), np.ones((2, 4), "bool"))


def test_two_dimensions_of_batches_broadcast() -> None:
    starts, ends = ot.lmatrix("starts"), ot.lvector("ends")
    out = og.vectorize_graph(X[LO:HI], {LO: starts, HI: ends})
    f = oc.function([X, starts, ends], out, mode="native")
    x = VALUES[X][0]
    i, j = np.array([[0, 1, 2], [-5, -4, -3]]), np.array([2, 3, 4])
    expected = [[x[a:b] for a, b in zip(row, j, strict=True)] for row in i]
    np.testing.assert_array_equal(f(x, i, j), expected)
