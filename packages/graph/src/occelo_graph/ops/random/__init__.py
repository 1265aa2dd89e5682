"""Random numbers: draws that are functions of a key, and draws with NumPy's generators.

Users call the functions from `occelo_graph.random`, which `occelo.tensor` has as `random`. The family is imported at
its first use (`late_families`). Draws by keys are composed of elementwise functions, so most need no lowerings of their
own. Random orders (`choosing`) are computed in Python, by sorting.
"""

from occelo_graph.late_families import loaded

loaded("random")
