"""Loops in graphs: the ops `Scan` and `Iterate`, and the functions that make them.

Users and rules see the op `Scan`: a body that runs once for each step, values carried from step to step, sequences that
are read, and traces that are kept. Linkers run the op `Iterate`: a body with carried values only. Each `Scan` is
expanded to an `Iterate` before it is linked (`expansion`).

The family is imported at its first use (`late_families`), together with its rules (`occelo_rewrite.rules.looping`).
Users find its functions in `occelo`.
"""

from occelo_graph.late_families import loaded

loaded("looping")
