"""Python numbers take their dtype from the tensors beside them, as in NumPy 2, in functions of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from occelo_arrays import functions as arrays
from occelo_testing.arguments.python_numbers import Function, check_weak

DTYPES = ["float64", "float32", "float16", "int8", "bool", "complex64"]
NUMBERS: list[Any] = [1, 1.5, 2j]

FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "choose": (lambda x, k: arrays.choose([0, 1], [x[:2], k]), lambda x, k: np.choose([0, 1], [x[:2], k])),
    "linspace": (lambda x, k: arrays.linspace(x[0], k, 3), lambda x, k: np.linspace(x[0], k, 3)),
    "logspace": (lambda x, k: arrays.logspace(k, x[0], 3), lambda x, k: np.logspace(k, x[0], 3)),
    "geomspace": (lambda x, k: arrays.geomspace(x[0], k, 3), lambda x, k: np.geomspace(x[0], k, 3)),
    "pad": (
        lambda x, k: arrays.pad(x, 1, constant_values=k),
        lambda x, k: np.pad(x, 1, constant_values=k),
    ),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_numbers_are_weak_as_in_numpy(name: str, dtype: str, number: Any) -> None:
    # NumPy drops imaginary parts with a warning
    refused = name == "pad" and dtype != "complex64" and number == 2j
    check_weak(*FUNCTIONS[name], dtype, number, refused)
