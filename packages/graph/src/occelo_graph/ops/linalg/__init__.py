"""Linear algebra: ops and functions of matrices. Matrices may have leading batch dimensions.

Users call the functions from `occelo.tensor.linalg`; `occelo_graph.linalg` is this namespace. The family is imported at
its first use (`late_families`). Its rules (`occelo_rewrite.rules.linalg`), lowerings (`occelo_link.loops.linalg`,
`occelo_link.traced.linalg`) and inference of facts (`occelo_rewrite.assumptions.linalg`) are imported with it. If an op
has no lowering and no decomposition, compiled code calls its NumPy code.
"""

from occelo_graph.late_families import loaded

loaded("linalg")
