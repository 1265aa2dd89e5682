"""The types and ops of sparse matrices, and functions that are graphs of them."""

from occelo_sparse.family import FAMILY

FAMILY.register()

from occelo_sparse.ops import variable as variable  # noqa: E402  # types find the class of their variables
