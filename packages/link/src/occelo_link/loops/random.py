"""Random numbers that NumPy's generators draw: the reasons why these ops have no lowering.

Draws by keys need no lowering here, since they are computed by elementwise ops.

This module is imported at the same time as the ops of random numbers: `loops.build` registers an import of it.
"""

from __future__ import annotations

from occelo_graph.ops.random.choosing import SortedOrder
from occelo_graph.ops.random.generators import DefaultGenerator
from occelo_graph.ops.random.random_variable import RandomVariable
from occelo_link.loops.python_only import leave_to_python

leave_to_python(DefaultGenerator, "NumPy makes its generator from the seed")
leave_to_python(RandomVariable, "NumPy's own generator draws, so that the numbers are NumPy's")
leave_to_python(SortedOrder, "NumPy sorts")
