"""Records why some ops of random numbers have no lowering to loops: those that draw with NumPy's generators, and
`SortedOrder`.

Random orders and choices by keys use `SortedOrder`. All other draws by keys consist of ops of other families, most of
them elementwise, so they need no lowering here. `loops.build` imports this module when the ops of random numbers are
imported.
"""

from __future__ import annotations

from occelo_link.loops.python_only import leave_to_python
from occelo_random.ops.choosing import SortedOrder
from occelo_random.ops.generators import DefaultGenerator
from occelo_random.ops.random_variable import RandomVariable

leave_to_python(DefaultGenerator, "NumPy makes its generator from the seed")
leave_to_python(RandomVariable, "NumPy's own generator draws, so that the numbers are NumPy's")
leave_to_python(SortedOrder, "NumPy sorts")
