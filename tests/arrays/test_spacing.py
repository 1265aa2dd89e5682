"""Spaced numbers, grids, and positions in flattened tensors, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_graph.config import config

n = ot.lscalar("n")
KEYS: list[Any] = [
    np.s_[0:1:0.1],
    np.s_[0:3],
    np.s_[:3],
    np.s_[3:0:-1],
    np.s_[0:1:3j],
    np.s_[0:3,],
    np.s_[0:3, 0:2],
    np.s_[0:3, 0:2:0.5],
    np.s_[0:1:3j, 0:2],
    np.s_[0:4:0.3, 1:2:0.25, 5:7],
    np.s_[2:2, 0:3],
]


@pytest.mark.parametrize("key", KEYS)
def test_grids(key: Any) -> None:
    grid, wanted = arrays.mgrid[key], np.mgrid[key]
    found = og.evaluate(grid)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=1e-15, atol=1e-15)
    made, parts = arrays.ogrid[key], np.ogrid[key]
    assert isinstance(made, tuple) == isinstance(parts, tuple)
    for v, part in zip(made, parts, strict=True) if isinstance(parts, tuple) else [(made, parts)]:
        found = og.evaluate(v)
        assert found.shape == part.shape
        np.testing.assert_allclose(found, part, rtol=1e-15, atol=1e-15)


def test_grids_of_lengths_that_are_not_known() -> None:
    rows, columns = arrays.mgrid[0:n, 1:3]
    found = og.evaluate([rows, columns], {n: np.array(2)})
    for a, b in zip(found, np.mgrid[0:2, 1:3], strict=True):
        np.testing.assert_array_equal(a, b)
    for key in (5, np.s_[1:], np.s_[0:2, 1]):
        with pytest.raises(TypeError, match="grid"):
            arrays.mgrid[key]


def test_spaced_integers_are_of_floatx() -> None:
    for dtype in ("float32", "float64"):
        with config.change_flags(floatX=dtype):
            assert arrays.linspace(0, 1).dtype == dtype


def test_a_number_of_samples_may_be_replaced() -> None:
    lengths, other = ot.lvector("lengths"), ot.lvector("other")
    made = og.clone_replace(arrays.linspace(0, 1, lengths[1]), {lengths: other})
    for count in (0, 1, 5):
        found = og.evaluate(made, {other: np.array([2, count])})
        np.testing.assert_allclose(found, np.linspace(0, 1, count), rtol=1e-15)


LEAST, MOST = -(2**63), 2**63 - 1
V = np.arange(5.0)
ROWS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, int], Any]]] = {
    "choose": (lambda x, k: arrays.choose(k, [x, x + 1]), lambda x, k: np.choose(k, [x, x + 1])),
    "unravel_index": (
        lambda x, k: ot.stack(arrays.unravel_index(k, (3, 4))),
        lambda x, k: np.stack(np.unravel_index(k, (3, 4))),
    ),
    "ravel_multi_index": (
        lambda x, k: arrays.ravel_multi_index((k, 1), (3, 4)),
        lambda x, k: np.ravel_multi_index((k, 1), (3, 4)),
    ),
    "ravel_multi_index, clip": (
        lambda x, k: arrays.ravel_multi_index((k, 1), (3, 4), mode="clip"),
        lambda x, k: np.ravel_multi_index((k, 1), (3, 4), mode="clip"),
    ),
    "ravel_multi_index, wrap": (
        lambda x, k: arrays.ravel_multi_index((k, 1), (3, 4), mode="wrap"),
        lambda x, k: k % 3 * 4 + 1,
    ),
    "linspace": (
        lambda x, k: arrays.linspace(0.0, 1.0, k),
        lambda x, k: np.linspace(0.0, 1.0, k if k < 2**62 else -1),
    ),
    "pad": (
        lambda x, k: arrays.pad(x, (k, 0)),
        lambda x, k: np.pad(x, (k, 0)) if k < 2**62 else np.zeros(-1),
    ),
}


def _outcome(computed: Callable[[], Any]) -> Any:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(computed())
        except (IndexError, ValueError, OverflowError, MemoryError) as error:
            # a size that is too large is one of three errors in NumPy
            return ValueError if isinstance(error, MemoryError | OverflowError) else type(error)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["native", "py"])
@pytest.mark.parametrize("name", ROWS)
def test_an_integer_at_an_end_of_int64(name: str, mode: str) -> None:
    build, reference = ROWS[name]
    x, k = ot.dvector("x"), ot.lscalar("k")
    late = function([x, k], build(x, k), mode=mode, on_unused_input="ignore")
    for end in (LEAST, LEAST + 1, -1, 0, 1, MOST - 1, MOST):
        expected = _outcome(lambda end=end: reference(V, end))
        found = _outcome(lambda end=end: late(V, end))
        if isinstance(expected, type) or isinstance(found, type):
            assert found is expected, (end, found, expected)
        else:
            np.testing.assert_array_equal(found, expected, err_msg=str(end))


@pytest.mark.parametrize("mode", ["native", "vm"])
def test_positions_out_of_range_are_told(mode: str) -> None:
    rows = ot.lvector("rows")
    for outputs, message in (
        (arrays.unravel_index(rows, (2, 3)), "A position is out of range for the shape (2, 3)"),
        ([arrays.choose(rows, [1.0, 2.0])], "A number of a choice is negative or too large"),
    ):
        f = function([rows], list(outputs), mode=mode)
        with pytest.raises(ValueError, match=r"A posi|A num") as caught:
            f(np.array([0, 7]))
        assert str(caught.value).splitlines()[-1].startswith(message)
