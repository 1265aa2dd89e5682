"""Equations and determinants, which SuperLU computes in Python."""

from __future__ import annotations

from occelo_link.loops.python_only import leave_to_python
from occelo_sparse.ops.determinants import InverseAtPlaces, SparseSLogDet
from occelo_sparse.ops.solving import SparseSolve

for _each in (InverseAtPlaces, SparseSLogDet, SparseSolve):
    leave_to_python(_each, "SciPy calls SuperLU, which has no functions for other languages there")
