"""Loops in graphs: the ops `Scan` and `Iterate`, and the functions that make them.

`Scan` is what users and rules see: a body that runs once for each step, values carried from step to step, sequences
that are read, and traces that are kept. `Iterate` is what linkers run: a body with carried values only. A `Scan` is expanded to a
`Iterate` before it is linked (`expansion`).

The family is imported at its first use (`late_families`), and its rules (`occelo_rewrite.rules.looping`) with it. Users find
its functions in `occelo`.
"""

from occelo_graph.late_families import loaded

loaded("looping")
