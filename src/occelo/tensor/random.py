"""Random numbers that are computed from keys, with the same bits on every backend.

The names come from `occelo_graph.random`.
"""

from occelo_graph.random import *
