"""The ops that sort and search, and functions that are graphs of them."""

from occelo_sorting.family import FAMILY

FAMILY.register()
