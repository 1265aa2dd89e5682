"""Functions of ``numpy.linalg`` applied to variables."""

from __future__ import annotations

import numpy as np

import occelo_graph as og
import occelo_linalg  # noqa: F401  NumPy's functions find the family's once it is imported
from occelo_graph import tensor as ot


def test_every_function_of_numpy_linalg_takes_variables() -> None:
    a, b, c = ot.dmatrix("a"), ot.dvector("b"), ot.dtensor4("c")
    others = {
        "cross": (b, b), "lstsq": (a, b), "matmul": (a, a), "matrix_power": (a, 2),
        "multi_dot": ([a, a, b],), "outer": (b, b), "solve": (a, b), "tensordot": (a, a),
        "tensorinv": (c,), "tensorsolve": (a, b), "vecdot": (a, b),
    }  # fmt: skip
    for name in np.linalg.__all__:
        function = getattr(np.linalg, name)
        if not isinstance(function, type):
            made = function(*others.get(name, (a,)))
            listed = made if isinstance(made, tuple) else (made,)
            assert all(isinstance(v, og.Variable) for v in listed), name
