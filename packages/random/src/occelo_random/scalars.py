"""Scalar functions of draws: importing this module registers all of them, for graphs that are loaded from files."""

from occelo_random.ops import counts as counts
from occelo_random.ops import further as further
