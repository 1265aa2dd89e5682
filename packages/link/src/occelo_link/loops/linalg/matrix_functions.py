"""Functions of matrices and matrix equations that have no loops: the linkers of loop programs call their NumPy code.

`loops.python_only` keeps the reasons, which tests ask for.
"""

from __future__ import annotations

from occelo_graph.ops.linalg.matrix_functions import Expm, Logm, Sqrtm
from occelo_graph.ops.linalg.riccati import ContinuousRiccati, DiscreteRiccati
from occelo_graph.ops.linalg.sylvester import DiscreteLyapunov, Sylvester
from occelo_link.loops.python_only import leave_to_python

__all__: list[str] = []

for _op_class in (Expm, Logm, Sqrtm):
    leave_to_python(
        _op_class,
        "SciPy scales the matrix, and takes roots or squares of it, as often as its norm requires",
    )
for _op_class in (Sylvester, DiscreteLyapunov, ContinuousRiccati, DiscreteRiccati):
    leave_to_python(_op_class, "SciPy solves it by Schur or QZ decompositions, which have no loops")
