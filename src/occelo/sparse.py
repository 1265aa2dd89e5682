"""Sparse matrices, with the names of PyTensor's module of this name.

The names come from `occelo_sparse.functions`.

>>> import numpy as np, occelo as oc, occelo.tensor as ot
>>> from scipy import sparse
>>> A, x = oc.sparse.csr_matrix("A"), ot.dvector("x")
>>> oc.function([A, x], A @ x)(sparse.eye(3, format="csr"), [1.0, 2.0, 3.0])
array([1., 2., 3.])
"""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_sparse.functions import *  # noqa: F403  # all of its names

__path__: list[str] = []  # PyTensor has modules below this one, which `occelo.places` makes

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
