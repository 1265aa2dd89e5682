"""Functions of matrices and matrix equations that have no lowering to loops, so that compiled code calls Python.

This module only registers the reason for each op in `loops.python_only`, where tests look it up.
"""

from __future__ import annotations

from occelo_graph.ops.linalg.riccati import ContinuousRiccati, DiscreteRiccati
from occelo_graph.ops.linalg.sylvester import DiscreteLyapunov
from occelo_link.loops.python_only import leave_to_python

__all__: list[str] = []

for _op_class in (ContinuousRiccati, DiscreteRiccati):
    leave_to_python(_op_class, "SciPy solves it by QZ decompositions, which have no loops")
leave_to_python(DiscreteLyapunov, "the method depends on a length that is known only when it runs")
