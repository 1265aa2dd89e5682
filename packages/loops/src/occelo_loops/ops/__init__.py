"""Loops in graphs: the ops `Scan` and `Iterate`, and the functions for users that make loops.

Users call `loop`, `scan` and similar functions from `occelo`. These make nodes of the op `Scan`: a body that runs once
for each step, with values carried from step to step, sequences that steps read, and traces that keep values of all
steps. Before linking, each `Scan` is expanded to the simpler op `Iterate` (`expansion`), which only has a body and
carried values. Linkers run `Iterate`.
"""

from occelo_loops.family import FAMILY

FAMILY.register()
