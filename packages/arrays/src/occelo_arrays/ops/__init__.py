"""Functions that are graphs of ops of the graph package, and elementwise functions of numbers."""

from occelo_arrays.family import FAMILY

FAMILY.register()
