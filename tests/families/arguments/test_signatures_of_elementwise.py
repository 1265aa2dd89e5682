"""Names of the inputs of elementwise functions of families, in ``inspect.signature``."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

from occelo_arrays import functions as arrays
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_special import functions as special


@pytest.mark.parametrize("family", [arrays, special])
def test_functions_have_as_many_parameters_as_inputs(family: ModuleType) -> None:
    functions = [f for f in vars(family).values() if isinstance(f, Elemwise)]
    assert functions
    for function in functions:
        if function.scalar_op.nin is not None:
            assert len(inspect.signature(function).parameters) == function.scalar_op.nin


def test_inputs_have_names() -> None:
    assert [*inspect.signature(arrays.gcd).parameters] == ["x", "y"]
    assert [*inspect.signature(special.betainc).parameters] == ["a", "b", "x"]
