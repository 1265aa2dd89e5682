"""Python numbers take their dtype from the tensors beside them, in every function of several values, as in NumPy 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_testing.arguments.python_numbers import Function, check_weak

DTYPES = ["float64", "float32", "float16", "int8", "bool", "complex64"]
NUMBERS: list[Any] = [1, 1.5, 2j]
YES = ot.constant(np.True_)


def _common(x: Any, k: Any) -> Any:
    """The dtype that tensors and a number have in common."""
    return np.where(True, x, k)


FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "add": (ot.add, np.add),
    "sub": (ot.sub, np.subtract),
    "mul": (ot.mul, np.multiply),
    "true_div": (ot.true_div, np.true_divide),
    "floor_div": (ot.floor_div, np.floor_divide),
    "mod": (ot.mod, np.mod),
    "divmod": (lambda x, k: ot.divmod(x, k)[1], lambda x, k: np.divmod(x, k)[1]),
    "power": (ot.power, np.power),
    "arctan2": (ot.arctan2, np.arctan2),
    "logaddexp": (ot.logaddexp, np.logaddexp),
    "maximum": (ot.maximum, np.maximum),
    "minimum": (ot.minimum, np.minimum),
    "largest": (ot.largest, np.maximum),
    "smallest": (ot.smallest, np.minimum),
    "clip": (lambda x, k: ot.clip(x, k, k), lambda x, k: np.clip(x, k, k)),
    "eq": (ot.eq, np.equal),
    "isclose": (ot.isclose, np.isclose),
    "outer": (ot.outer, np.outer),
    "dot": (ot.dot, np.dot),
    "tensordot": (lambda x, k: ot.tensordot(x, k, 0), lambda x, k: np.tensordot(x, k, 0)),
    "where": (lambda x, k: ot.where(YES, x, k), lambda x, k: np.where(True, x, k)),
    "where, first": (lambda x, k: ot.where(YES, k, x), lambda x, k: np.where(True, k, x)),
    "switch": (lambda x, k: ot.switch(YES, x, k), lambda x, k: np.where(True, x, k)),
    "second": (ot.second, _common),
    "fill": (ot.fill, _common),
    "full_like": (ot.full_like, np.full_like),
    "arange": (lambda x, k: ot.arange(x[0], k), lambda x, k: np.arange(x[0], k)),
    # NumPy makes an array of a list, in which numbers are not weak
    "stack": (lambda x, k: ot.stack([x[0], k]), _common),
    "make_vector": (lambda x, k: ot.make_vector(k, x[0]), _common),
    "as_tensor": (lambda x, k: ot.as_tensor([[x[0], k], [k, x[1]]]), _common),
    "rows of numbers": (lambda x, k: ot.as_tensor([[x[0], x[0]], [k, 1]]), _common),
    "stacklists": (lambda x, k: ot.stacklists([[x[0], k], [k, k]]), _common),
    "concatenate": (lambda x, k: ot.concatenate([x, ot.stack([x[0], k])]), _common),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_numbers_are_weak_as_in_numpy(name: str, dtype: str, number: Any) -> None:
    # NumPy drops imaginary parts with a warning, and its ranges may be complex
    drops = name == "full_like" and dtype != "complex64" and number == 2j
    refused = drops or (name == "arange" and (dtype == "complex64" or number == 2j))
    check_weak(*FUNCTIONS[name], dtype, number, refused, valued=name != "arange")


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ndim", [0, 1, 2])
def test_a_number_beside_a_tensor_in_ifelse(dtype: str, number: Any, ndim: int) -> None:
    """The number gets the dtype and the shape of the tensor, if NumPy gives both that dtype."""
    x = ot.tensor("x", dtype=dtype, shape=(None,) * ndim)
    array = np.ones((3,) * ndim, dtype)
    if np.result_type(array, number) != dtype:
        with pytest.raises(TypeError, match="differ in type"):
            ot.ifelse(YES, x, number)
        return
    condition = ot.scalar("condition", dtype="bool")
    results = [
        ot.ifelse(condition, x, number),
        ot.ifelse(condition, number, x),
        ot.ifelse(condition, [x, number], [number, x])[0],
    ]
    assert all(r.type.dtype == dtype and r.type.ndim == ndim for r in results)
    for given in (True, False):
        found = og.evaluate(results, {x: array, condition: np.array(given)})
        filled = np.full_like(array, number)
        for value, wanted in zip(
            found, [[filled, array, filled], [array, filled, array]][given], strict=True
        ):
            np.testing.assert_array_equal(value, wanted)
    if dtype == "float64":
        of_x = og.grad(ot.sum(results[0]), x)
        (found,) = og.evaluate([of_x], {x: array, condition: np.array(False)})
        np.testing.assert_array_equal(found, np.zeros_like(array))


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_number_that_is_written_gets_the_dtype_of_the_tensor(dtype: str, number: Any) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None,))
    fits = np.result_type(np.dtype(dtype), number) == dtype
    for write in (ot.set_subtensor, ot.inc_subtensor):
        if fits or (dtype == "bool" and number == 1):
            assert write(x[:2], number).dtype == dtype
        else:
            with pytest.raises(TypeError, match="without losing precision"):
                write(x[:2], number)
