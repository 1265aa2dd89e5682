"""Linear algebra: ops and functions of matrices with leading batch dimensions; `occelo_graph.linalg` is their
namespace.

The family is imported at its first use (`late_families`). Its rules (`occelo_rewrite.rules.linalg`), lowerings
(`occelo_link.loops.linalg`, `occelo_link.traced.linalg`) and inference of facts (`occelo_rewrite.assumptions.linalg`)
are imported with it. An op with neither lowering nor decomposition runs in Python.
"""

from occelo_graph.late_families import loaded

loaded("linalg")
