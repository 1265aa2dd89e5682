"""Numbers of Python beside tensors: they are weak, as in NumPy 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot

Function = Callable[[Any, Any], Any]


def check_weak(
    ours: Function, numpys: Function, dtype: str, number: Any, refused: bool, valued: bool = True
) -> None:
    """Compare the dtype of ``ours`` of a vector and a number with that of NumPy's function, and errors with its errors.

    What is ``refused`` is an error although NumPy computes it; with ``valued`` the value has that dtype, too.
    """
    array = np.ones(3, dtype)
    x = ot.tensor("x", dtype=dtype, shape=(None,))
    try:
        expected = np.asarray(numpys(array, number)).dtype
    except TypeError:
        with pytest.raises(TypeError):
            ours(x, number)
        return
    if refused:
        with pytest.raises(TypeError, match=r"complex|real"):
            ours(x, number)
        return
    output = ours(x, number)
    assert output.dtype == expected
    if valued and dtype != "complex64" and number != 2j:
        (value,) = og.evaluate([output], {x: array})
        assert value.dtype == expected
