"""The table of examples on the backends of other libraries, with known and unknown lengths."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph.config import config
from occelo_graph.tensors.type import TensorType
from occelo_graph.testing.example import Example
from occelo_graph.testing.examples import EXAMPLES

STEP = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 8


def tolerance(dtype: Any) -> float:
    """Relative, for results of other libraries' functions."""
    if dtype.itemsize <= 2:
        return 2e-3
    return 1e-4 if dtype.name in ("float32", "complex64") else 1e-8


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_gives_what_the_interpreter_gives(example: Example, any_backend: str) -> None:
    backend = any_backend
    if backend == "numba" and EXAMPLES.index(example) % STEP:
        pytest.skip("Numba takes half a second for each; thorough runs have all")
    # every third with lengths that are known when the graph is built
    known = sum(map(ord, str(example))) % 3 == 0
    arguments = [
        TensorType(a.dtype.name, [n if known or n == 1 else None for n in a.shape]).make_variable()
        for a in example.arguments
    ]
    output = example.function(*arguments)
    outputs = list(output) if isinstance(output, list | tuple) else [output]
    with warnings.catch_warnings(), config.change_flags(pytorch__compile=False):
        warnings.filterwarnings("ignore", "Shapes in the graph depend on values")
        warnings.filterwarnings("ignore", ".* it runs in Python")
        f = oc.function(arguments, outputs, mode=backend, on_unused_input="ignore")
        found = f(*example.arguments)
    expected = og.evaluate(outputs, dict(zip(arguments, example.arguments, strict=True)))
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        close = tolerance(b.dtype)
        np.testing.assert_allclose(a, b, rtol=close, atol=close * 1e-2)
