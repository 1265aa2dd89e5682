"""Random numbers: keys, draws by keys, and the generators of NumPy; `occelo_graph.random` is their namespace.

The family is imported at its first use (`late_families`). Draws by keys consist of elementwise functions, so they need
no lowerings of their own. Only random orders (`choosing`) are found in Python, by sorting.
"""

from occelo_graph.late_families import loaded

loaded("random")
