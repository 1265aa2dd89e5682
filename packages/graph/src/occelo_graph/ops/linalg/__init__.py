"""Linear algebra: ops and functions of matrices, over leading batch dimensions; `occelo_graph.linalg` is their namespace.

The family is imported at its first use (`late_families`), and its rules (`occelo_rewrite.rules.linalg`) and lowerings
(`occelo_link.loops.linalg`, `occelo_link.traced.linalg`) with it; `occelo_rewrite.assumptions.linalg` infers facts. An op with
neither lowering nor decomposition runs in Python.
"""

from occelo_graph.late_families import loaded

loaded("linalg")
