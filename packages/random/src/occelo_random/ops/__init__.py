"""Random numbers: draws that are functions of a key, and draws with NumPy's generators.

Users call the functions from `occelo.tensor.random`, which is the module `occelo_random.functions`. Draws by keys are
composed of elementwise functions, so most need no lowerings of their own. Random orders (`choosing`) are computed by
NumPy, which sorts random numbers.
"""

from occelo_random.family import FAMILY

FAMILY.register()
