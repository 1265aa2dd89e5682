"""The ops of optimization, and functions that are graphs of them."""

from occelo_optimize.family import FAMILY

FAMILY.register()
