"""Linear algebra: ops and functions of matrices, over leading batch dimensions; `occelo_graph.linalg` is their namespace."""

from occelo_graph.late_families import loaded

loaded("linalg")
