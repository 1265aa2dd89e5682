"""Tensors that no memory could hold: a MemoryError, also where the number of their bytes wraps around."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_graph import toposort
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.text import program_text

x, y, z = (ot.dvector(name) for name in "xyz")
n = 2**21


def _outer(a: Any, b: Any, c: Any) -> Any:
    return a[:, None, None] + b[None, :, None] + c[None, None, :]


CASES: dict[str, Any] = {
    "a result": _outer(x, y, z),
    "work": ot.exp(_outer(x, y, z).cumsum(axis=2)).cumsum(axis=0)[0, 0, 0],
    "work by one input": ot.exp(_outer(x, x, x).cumsum(axis=2)).cumsum(axis=0)[0, 0, 0],
    "a running sum": _outer(x, y, z).cumsum(axis=1).sum(),
}


@pytest.mark.parametrize("linker", ["native", "c", "numba"])
@pytest.mark.parametrize("case", CASES)
def test_tensors_of_vectors_that_are_larger_than_any_memory(case: str, linker: str) -> None:
    if linker == "numba":
        pytest.importorskip("numba", reason="Numba is not installed")
    f = function([x, y, z], CASES[case], mode=linker, on_unused_input="ignore")
    f(np.ones(2), np.ones(3), np.ones(4))
    with pytest.raises(MemoryError):
        f(np.ones(n), np.ones(n), np.ones(n))


i = ot.lscalar("i")
small = ot.bvector("small")


def _part(made: Any) -> Any:
    """A few elements of a tensor that is written to, so that the program needs memory for all of its elements."""
    return made[i, i].set(1)[i + 1 : i + 3, 0]


CONSTANTS: dict[str, Any] = {
    "constants": _part(ot.zeros((2**32, 2**32), dtype="int8")),
    "a constant and a length": _part(ot.zeros((2**40, small.shape[0]), dtype="int8")),
}


@pytest.mark.parametrize("linker", ["native", "c", "numba"])
@pytest.mark.parametrize("case", CONSTANTS)
def test_tensors_of_constant_lengths_that_are_larger_than_any_memory(
    case: str, linker: str
) -> None:
    if linker == "numba":
        pytest.importorskip("numba", reason="Numba is not installed")
    f = function([small, i], CONSTANTS[case], mode=linker, on_unused_input="ignore")
    with pytest.raises((MemoryError, ValueError)):
        f(np.zeros(2**24, "int8"), 0)


def test_a_length_that_occurs_twice_is_checked_beside_one_that_occurs_once() -> None:
    """That x times z elements are few says nothing of x times x times z."""
    few, many = (x[:, None] * z[None, :]).cumsum(axis=0), _outer(x, x, z).cumsum(axis=2)

    def checks(*made: Any) -> int:
        outputs = [ot.exp(each).cumsum(axis=0)[(0,) * each.type.ndim] for each in made]
        text = program_text(lower_graph([x, z], outputs, toposort(outputs)))
        return text.count(repr(2.0**59))

    assert checks(few) == checks(many) == 1
    assert checks(few, many) == 2
    assert checks(few, few + 1.0) == 1
