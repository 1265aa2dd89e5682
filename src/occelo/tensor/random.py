"""Random numbers by keys: the same bits on every backend.

The names come from `occelo_graph.random`.
"""

from occelo_graph.random import *
