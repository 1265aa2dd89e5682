"""Reductions of tensors without elements, and along axes of length 0: results and errors are the interpreter's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_link.capabilities import is_installed

FUNCTIONS = ("max", "min", "argmax", "argmin", "sum", "any")
SHAPES = ((0, 0, 0), (0, 2, 1), (2, 0, 1), (0, 0, 2), (2, 1, 0))
SLOW = ("c", "numba", "jax", "pytorch")
CASES = [(name, "native") for name in FUNCTIONS] + list(itertools.product(("max", "argmin"), SLOW))


def outcome(call: Callable[..., Any], *args: Any) -> tuple[str, Any]:
    """The result of a call, or the error: its class and what NumPy says."""
    try:
        result = np.asarray(call(*args))
    except ValueError as error:
        return "error", str(error).split("zero-size")[-1].split("attempt")[-1].split("\n")[0]
    return f"{result.dtype} {result.shape}", result.tolist()


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_reductions_without_elements(name: str, mode: str) -> None:
    if mode in ("numba", "jax", "pytorch") and not is_installed(mode):
        pytest.skip(f"{mode} is not installed")
    x = ot.dtensor3("x")
    for axis in (None, 0, 2) if name.startswith("arg") else (None, 0, (0, 2)):
        made = getattr(ot, name)(x, axis=axis)
        call = function([x], made, mode=mode)
        for shape in SHAPES:
            value = np.zeros(shape)
            right = outcome(og.evaluate, made, {x: value})
            assert outcome(call, value) == right, (name, axis, shape)
            numpys = outcome(getattr(np, name), value, axis)
            assert (numpys[0] == "error") == (right[0] == "error"), (name, axis, shape)
